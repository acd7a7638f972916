//! Changes entries of a personas.toml without touching any other byte.
//!
//! The editor finds an entry's own headers and lines, and splices in only the values that differ.
//! Comments, blank lines, order, line endings and unknown keys stay as they are. The result is read back
//! before it is returned.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use persona::{AnyEntity, AsReport, Code, Invalid, Kind, Name, Remedy, Subject, limits};

use super::document::{self, Document, FileEntry, Overlay};

mod bracket;
mod change;
mod field_value;
mod names;
mod outline;
mod plan;
mod render;
mod splice;
mod syntax;
mod tree;

use outline::{is_blank, line_start};
use plan::{Plan, plan};
use render::Newline;
use splice::splice;

/// One change of one entry.
#[derive(Debug, Clone, Copy)]
pub enum Edit<'a> {
    /// Makes the entry of this kind and name what is given, new or not.
    Put { entity: &'a AnyEntity },
    /// Removes an entry, if it exists.
    Remove { kind: Kind, name: &'a Name },
    /// Gives an entry another key; what refers to it is left to the caller.
    Rename { kind: Kind, old: &'a Name, new: &'a Name },
}

/// The outcome of edits.
#[derive(Debug, Clone)]
pub struct Edited {
    pub text: String,
    /// Included files whose text changed, relative to [`document::directory_of`] the file.
    pub files: Vec<(PathBuf, String)>,
    /// The new text, read. `None` if the file has problems, whose places may have moved, or includes others:
    /// then the caller reads it after writing it.
    pub document: Option<Document>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("the file is not the one that was read")]
    Stale,
    #[error("the file is not valid TOML")]
    NotToml,
    #[error("{} {name:?} already exists", kind.spoken())]
    Exists { kind: Kind, name: Name },
    #[error("the file has no {} {name:?}", kind.spoken())]
    Missing { kind: Kind, name: Name },
    #[error("{} {name:?} cannot be written: {invalid}", kind.spoken())]
    Invalid { kind: Kind, name: Name, invalid: Invalid },
    #[error("{} {name:?} cannot be changed without touching its neighbours", kind.spoken())]
    ByHand { kind: Kind, name: Name },
    #[error("the file would have more than {} bytes", limits::FILE_BYTES)]
    TooLarge,
}

impl AsReport for EditError {
    fn code(&self) -> Code {
        match self {
            Self::Stale => Code::FileChanged,
            Self::NotToml => Code::NotToml,
            Self::Exists { .. } => Code::AlreadyExists,
            Self::Missing { .. } => Code::NotFound,
            Self::Invalid { .. } => Code::InvalidField,
            Self::ByHand { .. } => Code::NotEditable,
            Self::TooLarge => Code::FileTooLarge,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Exists { kind, name } | Self::Missing { kind, name } | Self::ByHand { kind, name } => {
                Subject::entity(*kind, name.as_str())
            }
            Self::Invalid { kind, name, invalid } => {
                Subject::entity(*kind, name.as_str()).at_field(&invalid.field)
            }
            Self::Stale | Self::NotToml | Self::TooLarge => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Stale => vec![Remedy::Repeat],
            Self::NotToml => vec![Remedy::FixFile],
            Self::Exists { .. } => vec![Remedy::OtherName],
            Self::ByHand { kind, name } => {
                vec![Remedy::EditByHand { table: format!("{}.{name}", kind.table()) }]
            }
            Self::TooLarge => vec![Remedy::SplitFile],
            Self::Missing { .. } | Self::Invalid { .. } => Vec::new(),
        }
    }
}

type Result<T> = std::result::Result<T, EditError>;
type Id = (Kind, Name);

/// Applies edits, one after the other, to the text that `current` was read from.
pub fn apply(text: &str, edits: &[Edit<'_>], current: &Document) -> Result<Edited> {
    if document::fingerprint(text) != current.fingerprint {
        return Err(EditError::Stale);
    }
    let mut batch =
        Batch { current, text: text.to_owned(), changed: BTreeMap::new(), files: BTreeMap::new() };
    let mut rest = edits;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(distinct(rest));
        match batch.run(now) {
            // Changes inside one inline table overlap; one at a time they do not.
            Err(EditError::ByHand { .. }) if now.len() > 1 => {
                now.iter().try_for_each(|edit| batch.run(std::slice::from_ref(edit)))?;
            }
            other => other?,
        }
        rest = later;
    }
    batch.finish()
}

/// The number of leading edits that are about different entries.
fn distinct(edits: &[Edit<'_>]) -> usize {
    let mut seen: BTreeSet<(Kind, &str)> = BTreeSet::new();
    let fresh = edits.iter().take_while(|edit| match edit {
        Edit::Put { entity } => seen.insert((entity.kind(), entity.name().as_str())),
        Edit::Remove { kind, name } => seen.insert((*kind, name.as_str())),
        Edit::Rename { kind, old, new } => {
            seen.insert((*kind, old.as_str())) & seen.insert((*kind, new.as_str()))
        }
    });
    fresh.count().max(1)
}

/// The state between groups of edits.
struct Batch<'a> {
    current: &'a Document,
    text: String,
    /// Entries that no longer match `current`.
    changed: BTreeMap<Id, Now>,
    files: BTreeMap<PathBuf, String>,
}

/// The current state of an entry.
#[derive(Debug, Clone)]
enum Now {
    Gone,
    /// There, but with a mistake that it already had.
    Broken,
    Is(Arc<FileEntry>),
}

impl Now {
    fn entry(&self) -> Option<&Arc<FileEntry>> {
        match self {
            Self::Is(entry) => Some(entry),
            _ => None,
        }
    }
}

impl Batch<'_> {
    fn entry(&self, kind: Kind, name: &Name) -> Option<Arc<FileEntry>> {
        match self.changed.get(&(kind, name.clone())) {
            Some(Now::Is(entry)) => Some(Arc::clone(entry)),
            Some(_) => None,
            None => self.current.get(kind, name.as_str()).cloned(),
        }
    }

    /// True if the text has the entry, readable or not.
    fn has(&self, kind: Kind, name: &Name) -> bool {
        match self.changed.get(&(kind, name.clone())) {
            Some(now) => !matches!(now, Now::Gone),
            None => self.current.has(kind, name.as_str()),
        }
    }

    /// Runs edits that are all about different entries.
    fn run(&mut self, edits: &[Edit<'_>]) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        let (text, done) = match plan(self, &text, edits).and_then(|plan| self.carry_out(&text, plan)) {
            Ok(changed) => (changed, Ok(())),
            Err(error) => (text, Err(error)),
        };
        self.text = text;
        done
    }

    fn carry_out(&mut self, text: &str, plan: Plan) -> Result<String> {
        let by_hand = |plan: &Plan| match plan.changed.first() {
            Some(((kind, name), _)) => EditError::ByHand { kind: *kind, name: name.clone() },
            None => EditError::NotToml,
        };
        let mut changed = splice(text, 0..text.len(), &plan.splices).ok_or_else(|| by_hand(&plan))?;
        for entry in &plan.appended {
            append(&mut changed, entry, Newline::of(text));
        }
        if changed.len() > limits::FILE_BYTES {
            return Err(EditError::TooLarge);
        }
        let before = (self.changed.clone(), self.files.clone());
        self.changed.extend(plan.changed.iter().cloned());
        self.files.extend(plan.files.iter().cloned());
        let whole = plan.read_all.is_none() || self.reads_back(&changed, &plan.overlay);
        if let Some((kind, name)) = plan.read_all.filter(|_| !whole) {
            (self.changed, self.files) = before;
            return Err(EditError::ByHand { kind, name });
        }
        Ok(changed)
    }

    /// True if a text reads back to what the edits intend, and is otherwise unchanged.
    fn reads_back(&self, text: &str, overlay: &Overlay) -> bool {
        let mut overlay = overlay.clone();
        overlay.extend(self.files.iter().map(|(path, text)| (path.clone(), text.clone())));
        let Ok(read) = document::read_over(&self.current.path, text, overlay) else { return false };
        let id = |entry: &FileEntry| (entry.entity.kind(), entry.entity.name().clone());
        // A mistake may be gone with the name that it was in.
        let was_broken = |entry: &&Arc<FileEntry>| matches!(self.changed.get(&id(entry)), Some(Now::Broken));
        let is_meant = |entry: Arc<FileEntry>| {
            let (kind, name) = id(&entry);
            read.get(kind, name.as_str()) == Some(&entry)
        };
        read.all().filter(|entry| !was_broken(entry)).count() == self.entries().count()
            && self.entries().all(is_meant)
    }

    /// All entries as they are meant to be.
    fn entries(&self) -> impl Iterator<Item = Arc<FileEntry>> {
        let kept = self
            .current
            .all()
            .filter(|entry| !self.changed.contains_key(&(entry.entity.kind(), entry.entity.name().clone())));
        kept.cloned().chain(self.changed.values().filter_map(Now::entry).cloned())
    }

    fn finish(self) -> Result<Edited> {
        // Every way of changing an entry has been read back by itself; this is for the tests.
        debug_assert!(
            self.text.len() > CHECKED_BYTES
                || !self.current.included.is_empty()
                || self.reads_back(&self.text, &Overlay::new()),
            "an edit changed more or less than it should:\n{}",
            self.text
        );
        let unmoved = self.current.problems.is_empty() && self.current.included.is_empty();
        let document = unmoved.then(|| {
            let mut document = self.current.clone();
            for ((kind, name), entry) in &self.changed {
                let entries = document.entries.entry(*kind).or_default();
                match entry.entry() {
                    Some(entry) => entries.insert(name.clone(), Arc::clone(entry)),
                    None => entries.remove(name),
                };
            }
            document.entries.retain(|_, entries| !entries.is_empty());
            document.set_text(&self.text);
            document
        });
        Ok(Edited { text: self.text, files: self.files.into_iter().collect(), document })
    }
}

/// Texts up to this size are read back as a whole where assertions are on.
const CHECKED_BYTES: usize = 64 * 1024;

/// Puts an entry at the end of a text, below one blank line.
fn append(text: &mut String, entry: &str, newline: Newline) {
    let end = newline.as_str();
    if !text.is_empty() && text != "\u{feff}" {
        if !text.ends_with('\n') {
            text.push_str(end);
        }
        let last_line = &text[line_start(text, text.len() - 1)..];
        if !is_blank(last_line) {
            text.push_str(end);
        }
    }
    text.push_str(entry);
}
