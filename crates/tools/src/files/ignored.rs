//! Ignore rules, read through the root's own handle.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::root::{open_regular, shown};
use crate::limits;

/// The rules of one directory, for everything below it.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    base: PathBuf,
    rules: Gitignore,
}

/// In one directory the later file wins.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

impl Layer {
    /// The rules of `dir`, which is at `base`, if it has any.
    pub(crate) fn of(dir: &Dir, base: &Path) -> Option<Self> {
        let at_top = base.as_os_str().is_empty().then_some(".git/info/exclude");
        let texts = at_top.into_iter().chain(FILES).filter_map(|name| {
            let (file, _) = open_regular(dir, Path::new(name)).ok()?;
            text(file).ok()
        });
        Self::from_texts(base, texts)
    }

    /// Rules of the user's own git, and of the directories above a root that is a part of a repository.
    pub(crate) fn above(root: &Path) -> Vec<Self> {
        let mut layers = vec![Self { base: root.to_owned(), rules: Gitignore::global().0 }];
        if root.join(".git").exists() {
            return layers;
        }
        let Some(repository) = root.ancestors().skip(1).find(|above| above.join(".git").exists()) else {
            return layers;
        };
        let between: Vec<&Path> =
            root.ancestors().skip(1).take_while(|above| above.starts_with(repository)).collect();
        for above in between.into_iter().rev() {
            let texts = FILES.iter().filter_map(|name| {
                let path = above.join(name);
                if !path.symlink_metadata().ok()?.is_file() {
                    return None;
                }
                text(std::fs::File::open(path).ok()?).ok()
            });
            layers.extend(Self::from_texts(above, texts));
        }
        layers
    }

    fn from_texts(base: &Path, texts: impl Iterator<Item = String>) -> Option<Self> {
        let mut builder = GitignoreBuilder::new(".");
        let mut any = false;
        for text in texts {
            any = true;
            for line in text.trim_start_matches('\u{FEFF}').lines() {
                // An invalid line is skipped, as git does.
                let _ = builder.add_line(None, line);
            }
        }
        if !any {
            return None;
        }
        let rules = builder.build().ok()?;
        Some(Self { base: base.to_owned(), rules })
    }

    fn matched(&self, path: &Path, is_dir: bool) -> Match<()> {
        match path.strip_prefix(&self.base) {
            Ok(below) => self.rules.matched(below, is_dir).map(|_| ()),
            Err(_) => Match::None,
        }
    }
}

fn text(file: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(limits::IGNORE_RULES_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// True if the innermost rule that matches `path` hides it. `layers` are outermost first.
pub(crate) fn is_ignored(layers: &[Layer], path: &Path, is_dir: bool) -> Option<bool> {
    layers.iter().rev().find_map(|layer| match layer.matched(path, is_dir) {
        Match::None => None,
        Match::Ignore(()) => Some(true),
        Match::Whitelist(()) => Some(false),
    })
}

pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}

/// A repository's own store.
pub(crate) fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

/// True if a path leads into a repository's own store.
pub(crate) fn is_in_git(path: &Path) -> bool {
    path.components().any(|part| is_git(part.as_os_str()))
}

/// A repository's own store is neither listed nor searched, named or not.
pub(crate) fn refuse_git(path: &Path) -> Result<(), String> {
    if is_in_git(path) {
        return Err(format!("{} belongs to git; leave it to git itself", shown(path)));
    }
    Ok(())
}
