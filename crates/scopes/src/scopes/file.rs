//! A personas.toml as a scope, and the snapshot of it in force.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use persona::{Kind, Name, Scope};

use super::Scopes;
use files::{Document, FileEntry, Problem, ProblemLevel, canonical};
use store::{Change, Listed, Listings};

/// The file of one scope.
#[derive(Debug)]
pub(crate) struct ScopeFile {
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    /// The key of its history and state: its name in its canonical directory. If the file itself is a link,
    /// giving it another target is a change like any other.
    pub(crate) origin: String,
    current: RwLock<Arc<Snapshot>>,
    /// Locked while the file is read again or written.
    pub(crate) busy: Arc<tokio::sync::Mutex<()>>,
}

/// The version of a file in force. If the file or an entry has an error, its last valid version.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) document: Document,
    /// The problem, if the file as a whole cannot be read.
    pub(crate) broken: Option<Problem>,
    /// True once it has been read.
    pub(super) read: bool,
    /// True if it comes from the history, because the file was being written.
    pub(super) is_from_history: bool,
    /// The reason why the history lacks some of it. The next read of the file tries again.
    pub(super) unrecorded: Option<Problem>,
    listings: OnceLock<Vec<Arc<Listed>>>,
}

impl Snapshot {
    pub(crate) fn new(document: Document, broken: Option<Problem>) -> Self {
        let listings = OnceLock::new();
        Self { document, broken, read: true, is_from_history: false, unrecorded: None, listings }
    }

    /// The version in the history, while the file is being written.
    pub(super) fn from_history(document: Document) -> Self {
        Self { is_from_history: true, ..Self::new(document, None) }
    }

    /// A version that the history does not have yet.
    pub(super) fn unrecorded(document: Document, why: Problem) -> Self {
        Self { unrecorded: Some(why), ..Self::new(document, None) }
    }

    /// True if reading the text would give this snapshot. A document that includes other files, or an older
    /// version of an entry with an error, is read again.
    pub(super) fn is_of(&self, text: &str) -> bool {
        self.is_good()
            && self.document.included.is_empty()
            && self.document.problems.is_empty()
            && self.document.is_of(text)
    }

    /// True if this is the file as read, and recorded.
    pub(super) fn is_good(&self) -> bool {
        self.read && self.broken.is_none() && !self.is_from_history && self.unrecorded.is_none()
    }

    pub(crate) fn find(&self, kind: Kind, name: &Name) -> Option<Arc<FileEntry>> {
        self.document.entries.get(&kind)?.get(name).cloned()
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        let all = self.file_problems().chain(&self.document.problems);
        let (mut errors, warnings): (Vec<Problem>, Vec<Problem>) =
            all.cloned().partition(|problem| problem.level == ProblemLevel::Error);
        errors.extend(warnings);
        errors
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.file_problems()
            .chain(&self.document.problems)
            .any(|problem| problem.level == ProblemLevel::Error)
    }

    /// The problems of the file as a whole.
    pub(super) fn file_problems(&self) -> impl Iterator<Item = &Problem> {
        self.broken.iter().chain(&self.unrecorded)
    }

    /// The entries as lists show them. Their search words are split on first use.
    pub(crate) fn listed(&self, scope: Scope) -> &[Arc<Listed>] {
        self.listings.get_or_init(|| {
            let entries = self.document.entries.values().flat_map(BTreeMap::values);
            entries.map(|entry| Arc::new(Listed::new(&entry.entity, scope, None))).collect()
        })
    }
}

impl ScopeFile {
    pub(crate) fn new(scope: Scope, path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let origin = match (absolute.parent(), absolute.file_name()) {
            (Some(directory), Some(name)) => canonical(directory).join(name),
            _ => absolute.clone(),
        };
        let nothing = Snapshot { read: false, ..Snapshot::new(Document::empty(&absolute), None) };
        Self {
            scope,
            origin: origin.to_string_lossy().into_owned(),
            path: absolute,
            current: RwLock::new(Arc::new(nothing)),
            busy: Arc::default(),
        }
    }

    pub(crate) fn current(&self) -> Arc<Snapshot> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.path.clone()];
        paths.extend(self.current().document.included.iter().cloned());
        paths
    }

    /// Puts a snapshot into force and returns the differences.
    pub(crate) fn publish(&self, new: Snapshot) -> Vec<Change> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let changes = differences(&current.document, &new.document);
        *current = Arc::new(new);
        changes
    }
}

fn differences(old: &Document, new: &Document) -> Vec<Change> {
    let mut changes = Vec::new();
    let none = BTreeMap::new();
    for kind in Kind::ALL {
        let old = old.entries.get(kind).unwrap_or(&none);
        let new = new.entries.get(kind).unwrap_or(&none);
        let change = |name: &Name, listed| Change::Entity { kind: *kind, name: name.clone(), listed };
        for (name, entry) in new {
            match old.get(name) {
                None => changes.push(change(name, true)),
                Some(known) if known.hash != entry.hash => changes.push(change(name, false)),
                Some(_) => {}
            }
        }
        changes.extend(old.keys().filter(|name| !new.contains_key(*name)).map(|name| change(name, true)));
    }
    changes
}

impl Scopes {
    /// The entries of all files as lists show them, each name from its strongest file. Cached until a file
    /// changes.
    pub(crate) fn listings(&self, only: Option<Scope>) -> Arc<Listings> {
        let files = self.0.files.iter().filter(|file| only.is_none_or(|only| only == file.scope));
        let current: Vec<(Scope, Arc<Snapshot>)> = files.map(|file| (file.scope, file.current())).collect();
        let same = |known: &[(Scope, Arc<Snapshot>)]| {
            known.len() == current.len()
                && known.iter().zip(&current).all(|((_, one), (_, other))| Arc::ptr_eq(one, other))
        };
        let mut cached = self.0.listings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, listings)) = &*cached
            && same(known)
        {
            return listings.clone();
        }
        let mut listings = Listings::default();
        for (scope, snapshot) in &current {
            snapshot.listed(*scope).iter().for_each(|listed| listings.add(listed.clone()));
        }
        let listings = Arc::new(listings);
        *cached = Some((current, listings.clone()));
        listings
    }
}
