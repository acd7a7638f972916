//! The files below a root.

mod rules;

use cap_std::fs::Dir;

use crate::project::is_git;
use crate::stamp::Stamp;
use crate::{LeftOut, Project, Reason, limits};
use rules::Rules;

/// A regular file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
    /// True if the file or a directory above it is hidden, and no ignore rule shows it.
    pub(crate) is_hidden: bool,
}

/// The answer of a walk, by path.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<Found>,
    pub(crate) skipped: Vec<LeftOut>,
    /// True if the project has more files than a walk lists.
    pub(crate) is_truncated: bool,
}

/// Lists the files that no ignore rule hides. Links are not followed, and no walk enters `.git`. Hidden
/// files are listed on request.
pub(crate) fn list(project: &Project, with_hidden: bool) -> Listing {
    let mut walk = Walk { with_hidden, rules: Rules::of(project), seen: 0, listing: Listing::default() };
    if let Ok(dir) = project.dir().open_dir(".") {
        walk.enter(&dir, "", 0, false);
    }
    let mut listing = walk.listing;
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    listing.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

struct Walk {
    with_hidden: bool,
    rules: Rules,
    seen: usize,
    listing: Listing,
}

impl Walk {
    /// Visits a directory in the order of names, so that a truncated walk always lists the same files.
    fn enter(&mut self, dir: &Dir, path: &str, depth: usize, is_hidden: bool) {
        let added = self.rules.push(dir, path);
        self.entries(dir, path, depth, is_hidden);
        if added {
            self.rules.pop();
        }
    }

    fn entries(&mut self, dir: &Dir, path: &str, depth: usize, is_hidden: bool) {
        let Ok(entries) = dir.entries() else {
            return self.skip(path.to_owned(), Reason::Unreadable { message: "the directory".to_owned() });
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            self.seen += 1;
            if self.seen > limits::WALK_ENTRIES {
                self.listing.is_truncated = true;
                break;
            }
            found.push((entry.file_name(), entry));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, entry) in found {
            if self.listing.files.len() >= limits::WALK_FILES {
                self.listing.is_truncated = true;
                return;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let Some(name) = name.to_str() else {
                self.skip(below(&name.to_string_lossy()), Reason::PathEncoding);
                continue;
            };
            let path = below(name);
            let Some(is_hidden) = self.is_listed(&path, name, kind.is_dir(), is_hidden) else { continue };
            if kind.is_dir() {
                if depth < limits::WALK_DEPTH
                    && let Ok(inner) = entry.open_dir()
                {
                    self.enter(&inner, &path, depth + 1, is_hidden);
                }
            } else if kind.is_file() {
                match entry.metadata() {
                    Ok(metadata) => {
                        self.listing.files.push(Found { path, stamp: Stamp::new(&metadata), is_hidden });
                    }
                    Err(error) => self.skip(path, Reason::Unreadable { message: error.to_string() }),
                }
            } else {
                self.skip(path, if kind.is_symlink() { Reason::Link } else { Reason::Special });
            }
        }
    }

    /// `None` for an entry that is left out, else true if it is hidden.
    fn is_listed(&self, path: &str, name: &str, is_dir: bool, above_is_hidden: bool) -> Option<bool> {
        if is_git(name) {
            return None;
        }
        match self.rules.hides(path, is_dir) {
            Some(true) => None,
            // A rule that shows a hidden file names it.
            Some(false) => Some(above_is_hidden),
            None => {
                let is_hidden = above_is_hidden || name.starts_with('.');
                (!is_hidden || self.with_hidden).then_some(is_hidden)
            }
        }
    }

    fn skip(&mut self, path: String, reason: Reason) {
        self.listing.skipped.push(LeftOut { path, reason });
    }
}
