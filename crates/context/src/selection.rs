//! The choice of files: which, and the most that is shown of each.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use persona::{ContextEntry, ContextView};

use crate::stamp::Stamp;
use crate::walk::{Found, Listing};
use crate::{LeftOut, Note, Project, Reason, View, limits, walk};

/// A file of the request, before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
    /// The most that is shown of it.
    pub(crate) ceiling: View,
    pub(crate) pick: Pick,
}

/// The reason for a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pick {
    Focus,
    Entry(usize),
    Project,
}

/// The files of a request, by path.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) chosen: Vec<Chosen>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) notes: Vec<Note>,
}

/// Chooses the files. Of the entries that match a file, the last one decides; focus files come in full,
/// whatever the entries say.
pub(crate) fn select(project: &Project, entries: Option<&[ContextEntry]>, focus: &[String]) -> Selection {
    let mut notes = Vec::new();
    let patterns = entries.map(|entries| Patterns::new(project, entries, &mut notes));
    let with_hidden = patterns.as_ref().is_some_and(Patterns::name_hidden);
    let listing = walk::list(project, with_hidden);
    if listing.is_truncated {
        notes.push(Note::WalkTruncated { limit: limits::WALK_FILES });
    }
    let mut choice = Choice { project, files: BTreeMap::new(), left_out: BTreeMap::new(), notes };
    match &patterns {
        None => choice.whole_project(listing),
        Some(patterns) => choice.by_entries(listing, patterns),
    }
    choice.focus(focus);
    choice.finish()
}

/// The entries of a preset, ready to match.
struct Patterns<'a> {
    entries: &'a [ContextEntry],
    /// One pattern per valid entry, paths as patterns without wildcards.
    set: GlobSet,
    /// The entry of each pattern of the set.
    numbers: Vec<usize>,
    /// The plain paths of entries with `path`.
    paths: Vec<Option<String>>,
}

impl<'a> Patterns<'a> {
    fn new(project: &Project, entries: &'a [ContextEntry], notes: &mut Vec<Note>) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut numbers = Vec::new();
        let mut paths = Vec::with_capacity(entries.len());
        for (number, entry) in entries.iter().enumerate() {
            let path =
                entry.path.as_deref().map(|path| project.relative(path).unwrap_or_else(|| path.to_owned()));
            let pattern = match (&path, &entry.glob) {
                (Some(path), _) => globset::escape(path),
                (None, Some(glob)) => below(glob),
                (None, None) => String::new(),
            };
            match GlobBuilder::new(&pattern).literal_separator(true).build() {
                Ok(glob) => {
                    builder.add(glob);
                    numbers.push(number);
                }
                Err(error) => notes.push(Note::InvalidGlob {
                    entry: number,
                    glob: pattern,
                    message: error.kind().to_string(),
                }),
            }
            paths.push(path);
        }
        let set = builder.build().unwrap_or_else(|error| {
            // Each glob is valid; together they are too large to compile.
            notes.push(Note::InvalidGlob { entry: 0, glob: "*".to_owned(), message: error.to_string() });
            numbers.clear();
            GlobSet::empty()
        });
        Self { entries, set, numbers, paths }
    }

    /// True if an entry with a glob names hidden files.
    fn name_hidden(&self) -> bool {
        self.entries.iter().any(|entry| names_hidden(entry) && entry.view != ContextView::None)
    }
}

/// A glob without `./`; a directory means its content.
fn below(glob: &str) -> String {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    if glob.ends_with('/') { format!("{glob}**") } else { glob.to_owned() }
}

fn names_hidden(entry: &ContextEntry) -> bool {
    let glob = entry.glob.as_deref().unwrap_or_default();
    glob.strip_prefix("./").unwrap_or(glob).split(['/', '{', ',']).any(|part| part.starts_with('.'))
}

struct Choice<'a> {
    project: &'a Project,
    files: BTreeMap<String, Chosen>,
    left_out: BTreeMap<String, Reason>,
    notes: Vec<Note>,
}

impl Choice<'_> {
    fn whole_project(&mut self, listing: Listing) {
        for found in listing.files {
            self.add(found, View::Full, Pick::Project);
        }
        self.left_out.extend(listing.skipped.into_iter().map(|left| (left.path, left.reason)));
    }

    fn by_entries(&mut self, listing: Listing, patterns: &Patterns<'_>) {
        let mut matched = vec![false; patterns.entries.len()];
        let mut decide = |path: &str, is_hidden: bool| {
            let mut last = None;
            for at in patterns.set.matches(path) {
                let Some(number) = patterns.numbers.get(at).copied() else { continue };
                let entry = &patterns.entries[number];
                if is_hidden && entry.path.is_none() && !names_hidden(entry) {
                    continue;
                }
                matched[number] = true;
                last = last.max(Some(number));
            }
            last
        };
        for found in listing.files {
            let Some(number) = decide(&found.path, found.is_hidden) else { continue };
            self.add_for(found, patterns, number);
        }
        for left in listing.skipped {
            let Some(number) = decide(&left.path, false) else { continue };
            if patterns.entries[number].view != ContextView::None {
                self.left_out.insert(left.path, left.reason);
            }
        }
        self.named_paths(patterns, &mut matched);
        for (number, entry) in patterns.entries.iter().enumerate() {
            let is_valid = patterns.numbers.contains(&number);
            if is_valid && !matched[number] && entry.view != ContextView::None {
                let pattern = entry.path.as_ref().or(entry.glob.as_ref()).cloned().unwrap_or_default();
                self.notes.push(Note::NoMatch { entry: number, pattern });
            }
        }
    }

    /// Adds files that an entry names by path and the walk did not list: hidden or ignored ones, links.
    fn named_paths(&mut self, patterns: &Patterns<'_>, matched: &mut [bool]) {
        for (number, path) in patterns.paths.iter().enumerate() {
            let Some(path) = path else { continue };
            if self.files.contains_key(path) {
                continue;
            }
            let Some(view) = View::of_entry(patterns.entries[number].view) else { continue };
            // A later entry may have the last word about it.
            let last = patterns.set.matches(path).into_iter().filter_map(|at| patterns.numbers.get(at)).max();
            if last != Some(&number) {
                continue;
            }
            match self.project.resolve(path) {
                Ok(found) => {
                    matched[number] = true;
                    self.left_out.remove(path);
                    // A link to a file that an entry selects by its own path adds nothing.
                    if !self.files.contains_key(&found.path) {
                        self.left_out.remove(&found.path);
                        self.add(found, view, Pick::Entry(number));
                    }
                }
                Err(Reason::Missing) => {}
                Err(reason) => {
                    matched[number] = true;
                    self.left_out.insert(path.clone(), reason);
                }
            }
        }
    }

    fn add_for(&mut self, found: Found, patterns: &Patterns<'_>, number: usize) {
        match View::of_entry(patterns.entries[number].view) {
            Some(view) => self.add(found, view, Pick::Entry(number)),
            None => {
                self.left_out.insert(found.path, Reason::Excluded);
            }
        }
    }

    fn add(&mut self, found: Found, ceiling: View, pick: Pick) {
        if self.project.is_secret(&found.path) {
            self.left_out.insert(found.path, Reason::Secret);
            return;
        }
        let chosen = Chosen { path: found.path.clone(), stamp: found.stamp, ceiling, pick };
        self.files.insert(found.path, chosen);
    }

    fn focus(&mut self, focus: &[String]) {
        if focus.len() > limits::FOCUS_FILES {
            self.notes.push(Note::FocusTruncated { limit: limits::FOCUS_FILES });
        }
        for given in focus.iter().take(limits::FOCUS_FILES) {
            let resolved = self.project.relative(given).ok_or(Reason::Outside);
            match resolved.and_then(|path| self.project.resolve(&path)) {
                Ok(found) => {
                    self.left_out.remove(&found.path);
                    self.add(found, View::Full, Pick::Focus);
                }
                Err(reason) => {
                    self.notes.push(Note::FocusLeftOut { path: given.clone(), reason });
                }
            }
        }
    }

    fn finish(self) -> Selection {
        let left_out = self.left_out.into_iter().map(|(path, reason)| LeftOut { path, reason }).collect();
        Selection { chosen: self.files.into_values().collect(), left_out, notes: self.notes }
    }
}
