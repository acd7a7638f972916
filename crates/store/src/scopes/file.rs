//! A personas.toml as a scope: what is in force of it, and reading it again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use persona::{Kind, Name, Scope};

use super::Scopes;
use crate::files::{Document, Entry, Level, Problem, disk, document};
use crate::read::{Listed, Listings};
use crate::{Change, Error, Result};

/// How often a file that changes while it is read is read again before it counts as busy.
const TURNS: usize = 20;

/// One scope's file.
#[derive(Debug)]
pub(crate) struct ScopeFile {
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    /// The canonical path: what its history and state are filed under.
    pub(crate) origin: String,
    current: RwLock<Arc<Snapshot>>,
    /// Held while the file is read again or written.
    pub(crate) busy: Arc<tokio::sync::Mutex<()>>,
}

/// What is in force of a file. Where the file, or an entry of it, has a mistake, that is what
/// was good before.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) document: Document,
    /// Why the file as a whole cannot be read.
    pub(crate) broken: Option<Problem>,
    /// Whether it was read at all yet.
    read: bool,
    listings: OnceLock<Vec<Arc<Listed>>>,
}

impl Snapshot {
    pub(crate) fn new(document: Document, broken: Option<Problem>) -> Self {
        Self { document, broken, read: true, listings: OnceLock::new() }
    }

    /// Whether this is what reading the text would give. What includes other files, or has an
    /// older state of a bad entry in it, is read again.
    fn is_of(&self, text: &str) -> bool {
        self.read
            && self.broken.is_none()
            && self.document.included.is_empty()
            && self.document.problems.is_empty()
            && self.document.is_of(text)
    }

    pub(crate) fn find(&self, kind: Kind, name: &Name) -> Option<Arc<Entry>> {
        self.document.entries.get(&kind)?.get(name).cloned()
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        let all = self.broken.iter().chain(&self.document.problems);
        let (mut errors, warnings): (Vec<Problem>, Vec<Problem>) =
            all.cloned().partition(|problem| problem.level == Level::Error);
        errors.extend(warnings);
        errors
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.broken.is_some() || self.document.problems.iter().any(|problem| problem.level == Level::Error)
    }

    /// The entries as lists show them; their words are split on first use.
    pub(crate) fn listed(&self, scope: Scope) -> &[Arc<Listed>] {
        self.listings.get_or_init(|| {
            let entries = self.document.entries.values().flat_map(BTreeMap::values);
            entries.map(|entry| Arc::new(Listed::new(&entry.entity, scope, None))).collect()
        })
    }
}

/// What reading a file brought.
enum Read {
    Missing,
    /// The text that is in force already.
    Same(String),
    Good {
        text: String,
        document: Box<Document>,
    },
    Broken(Problem),
}

/// Reads a file on a thread where waiting is no harm.
async fn read(path: &Path, old: &Arc<Snapshot>) -> Result<Read> {
    let (path, old) = (path.to_owned(), old.clone());
    let read = tokio::task::spawn_blocking(move || {
        let bytes = match disk::read_bytes(&path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Read::Missing,
            Err(error) => return Read::Broken(unreadable(&path, &error)),
        };
        let text = match document::text_of(&path, bytes) {
            Ok(text) => text,
            Err(problem) => return Read::Broken(problem),
        };
        if old.is_of(&text) {
            return Read::Same(text);
        }
        match document::read(&path, &text) {
            Ok(document) => Read::Good { text, document: Box::new(document) },
            Err(problem) => Read::Broken(problem),
        }
    });
    read.await.map_err(|error| Error::Invalid(format!("reading the file was interrupted: {error}")))
}

/// A file that cannot be read at all is told like one with a mistake: whatever stands elsewhere must
/// not be out of reach because of it.
fn unreadable(path: &Path, error: &Error) -> Problem {
    let said = error.to_string();
    let message = said.strip_prefix(&*path.to_string_lossy()).unwrap_or(&said);
    Problem::of_file(path, message.trim_start_matches([':', ' ']), None)
}

/// Whether a document is what reading its file gives now.
pub(crate) async fn is_still(path: &Path, document: &Document) -> Result<bool> {
    let (path, hash) = (path.to_owned(), document.hash.clone());
    let (alone, fingerprint) = (document.included.is_empty(), document.fingerprint);
    let read = tokio::task::spawn_blocking(move || {
        let Ok(text) = String::from_utf8(disk::read_bytes(&path)?.unwrap_or_default()) else {
            return Ok(false);
        };
        if alone || document::fingerprint(&text) != fingerprint {
            return Ok(document::fingerprint(&text) == fingerprint);
        }
        Ok(document::read(&path, &text).is_ok_and(|now| now.hash == hash))
    });
    read.await.map_err(|error| Error::Invalid(format!("reading the file was interrupted: {error}")))?
}

impl ScopeFile {
    pub(crate) fn new(scope: Scope, path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let canonical = absolute.canonicalize().unwrap_or_else(|_| {
            // A file that is not there yet is filed under its directory's canonical path.
            let directory = absolute.parent().and_then(|parent| parent.canonicalize().ok());
            match (directory, absolute.file_name()) {
                (Some(directory), Some(name)) => directory.join(name),
                _ => absolute.clone(),
            }
        });
        let nothing = Snapshot { read: false, ..Snapshot::new(Document::empty(&absolute), None) };
        Self {
            scope,
            path: absolute,
            origin: canonical.to_string_lossy().into_owned(),
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

    /// Puts a snapshot into force; returns what is different now.
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
    /// Reads a file again and puts it into force.
    pub(crate) async fn reload(&self, file: &ScopeFile) -> Result<()> {
        let _busy = file.busy.lock().await;
        self.reload_held(file).await.map(drop)
    }

    /// The same while the file is held already. Returns its text, where it has one that is good.
    pub(crate) async fn reload_held(&self, file: &ScopeFile) -> Result<Option<String>> {
        for _ in 0..TURNS {
            if let Some(text) = self.reload_once(file).await? {
                return Ok(text);
            }
        }
        Err(Error::FileBusy { path: file.path.display().to_string() })
    }

    /// Reads a file once; none where it changed before it was recorded.
    async fn reload_once(&self, file: &ScopeFile) -> Result<Option<Option<String>>> {
        let old = file.current();
        let (text, mut document) = match read(&file.path, &old).await? {
            Read::Same(text) => return Ok(Some(Some(text))),
            Read::Good { text, document } => (Some(text), *document),
            Read::Missing => (None, Document::empty(&file.path)),
            Read::Broken(problem) => {
                let document = if old.read { old.document.clone() } else { self.last_good(file).await };
                let changed = old.broken.as_ref() != Some(&problem);
                let changes = file.publish(Snapshot::new(document, Some(problem)));
                if changed {
                    self.announce(if changes.is_empty() { vec![Change::Everything] } else { changes });
                }
                return Ok(Some(None));
            }
        };
        if old.read && old.broken.is_none() && old.document.hash == document.hash {
            return Ok(Some(text));
        }
        self.keep_last_good(file, &old, &mut document).await;
        match self.record_seen(file, &document).await {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                tracing::warn!(%error, path = %file.path.display(), "what changed in the file is not in its history");
            }
        }
        let mended = old.broken.is_some() || old.document.problems != document.problems;
        let changes = file.publish(Snapshot::new(document, None));
        if old.read {
            let nothing_but_problems = changes.is_empty() && mended;
            self.announce(if nothing_but_problems { vec![Change::Everything] } else { changes });
        }
        Ok(Some(text))
    }

    /// An entry with a mistake stays in force as it was when it was last good.
    async fn keep_last_good(&self, file: &ScopeFile, old: &Snapshot, document: &mut Document) {
        let bad: Vec<(Kind, Name)> = document
            .problems
            .iter()
            .filter(|problem| problem.level == Level::Error)
            .filter_map(|problem| problem.entry.as_ref())
            .filter_map(|(kind, name)| Some((*kind, Name::parse(name).ok()?)))
            .collect();
        if bad.is_empty() {
            return;
        }
        let recorded = if old.read { Document::empty(&file.path) } else { self.last_good(file).await };
        let before = if old.read { &old.document } else { &recorded };
        for (kind, name) in bad {
            if let Some(entry) = before.entries.get(&kind).and_then(|entries| entries.get(&name)) {
                document.entries.entry(kind).or_default().insert(name, entry.clone());
            }
        }
    }

    /// The entries of all files as lists show them: each name as its strongest file has it. Put
    /// together once for as long as no file changes.
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
