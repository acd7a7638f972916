//! Ignore rules, read beneath the project's own handle.

use std::io::Read;
use std::path::Path;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{Project, limits};

/// Names of files with rules. In one directory the later file wins.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The rules in force while a walk is in a directory.
#[derive(Debug)]
pub(super) struct Rules {
    /// Outermost first. The length is that of the directory's path in bytes, its slash included.
    layers: Vec<(usize, Gitignore)>,
    /// Rules of the user's git and of the directories above the root, with the root's path below each.
    above: Vec<(String, Gitignore)>,
}

impl Rules {
    /// The rules from outside of the root.
    pub(super) fn of(project: &Project) -> Self {
        let mut above = vec![(String::new(), Gitignore::global().0)];
        let root = project.root();
        if !root.join(".git").exists()
            && let Some(repository) = root.ancestors().skip(1).find(|above| above.join(".git").exists())
        {
            let between: Vec<&Path> =
                root.ancestors().skip(1).take_while(|path| path.starts_with(repository)).collect();
            for path in between.into_iter().rev() {
                let texts = FILES.iter().filter_map(|name| plain_text(&path.join(name)));
                let Some(rules) = parse(texts) else { continue };
                let Ok(below) = root.strip_prefix(path) else { continue };
                above.push((format!("{}/", below.to_string_lossy()), rules));
            }
        }
        above.retain(|(_, rules)| !rules.is_empty());
        Self { layers: Vec::new(), above }
    }

    /// Adds the rules of a directory. False if it has none.
    pub(super) fn push(&mut self, dir: &Dir, path: &str) -> bool {
        let exclude = path.is_empty().then_some(".git/info/exclude");
        let texts = exclude.into_iter().chain(FILES).filter_map(|name| {
            // The first check avoids opening a pipe or a device.
            let is_file = dir.symlink_metadata(name).is_ok_and(|metadata| metadata.is_file());
            is_file.then(|| text(dir.open(name).ok()?)).flatten()
        });
        let Some(rules) = parse(texts) else { return false };
        self.layers.push((if path.is_empty() { 0 } else { path.len() + 1 }, rules));
        true
    }

    pub(super) fn pop(&mut self) {
        self.layers.pop();
    }

    /// The answer of the innermost rule that matches. `None` if no rule does.
    pub(super) fn hides(&self, path: &str, is_dir: bool) -> Option<bool> {
        let inside = self
            .layers
            .iter()
            .rev()
            .find_map(|(base, rules)| decided(&rules.matched(&path[*base..], is_dir)));
        inside.or_else(|| {
            self.above
                .iter()
                .rev()
                .find_map(|(base, rules)| decided(&rules.matched(format!("{base}{path}"), is_dir)))
        })
    }
}

fn decided<T>(found: &Match<T>) -> Option<bool> {
    match found {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

fn parse(texts: impl Iterator<Item = String>) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    for text in texts {
        for line in text.trim_start_matches('\u{FEFF}').lines() {
            // An invalid line is skipped, as git does.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

fn plain_text(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    text(std::fs::File::open(path).ok()?)
}

fn text(file: impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(limits::IGNORE_RULES_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
