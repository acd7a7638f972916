//! All scopes of a library: the database with what is shared and builtin, and above it the
//! personas.toml files of the user and the project.
//!
//! What stands in files is held in memory; its history and its state are in a local SQLite file,
//! never in a team's database.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use persona::{Kind, Name, Scope, Stored};
use tokio::sync::broadcast;

use crate::write::{FileWrite, Write};
use database::Location;
use files::{Problem, Watcher, canonical};
use store::Shelf;
use store::{Attribution, Change, Keep, Store};
use store::{Listings, Owner};

use crate::{Error, Result};

mod file;
pub(crate) use file::{ScopeFile, Snapshot};
mod reload;
pub(crate) use reload::is_still;
mod entities;
mod load;
pub use load::Overrides;
mod heirs;
pub use heirs::Heir;
mod past;
mod record;
pub(crate) use record::{Recorded, put_origin};

/// How long to wait before recording again what could not be recorded.
const RECORD_AGAIN: Duration = Duration::from_secs(5);

/// Which files a library has, and what may be done with them.
#[derive(Debug, Clone)]
pub struct FileScopes {
    /// The user's personas.toml.
    pub global: Option<PathBuf>,
    /// The project's personas.toml.
    pub project: Option<PathBuf>,
    /// The local database, where the files' history and state are kept.
    pub local: Location,
    /// Where locks against other processes are kept.
    pub locks: PathBuf,
    /// Whether the files may be written to.
    pub writable: bool,
}

/// An open library over all its scopes; clones share it.
#[derive(Debug, Clone)]
pub struct Scopes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    database: Store,
    /// The same store as `database` where that is the local one.
    local: Store,
    local_is_database: bool,
    /// Weakest first.
    files: Vec<Arc<ScopeFile>>,
    locks: PathBuf,
    writable: bool,
    watcher: OnceLock<Watcher>,
    /// Whether something waits to be recorded again.
    waiting: AtomicBool,
    /// What was listed last, and of which snapshots.
    listings: Mutex<Option<CachedListings>>,
}

type CachedListings = (Vec<(Scope, Arc<Snapshot>)>, Arc<Listings>);

impl Scopes {
    /// A library without files.
    pub fn of_database(database: Store) -> Self {
        Self(Arc::new(Inner {
            local: database.clone(),
            database,
            local_is_database: true,
            files: Vec::new(),
            locks: PathBuf::new(),
            writable: false,
            watcher: OnceLock::new(),
            waiting: AtomicBool::new(false),
            listings: Mutex::default(),
        }))
    }

    /// A library with files, which are read now.
    pub async fn open(database: Store, files: FileScopes) -> Result<Self> {
        let FileScopes { global, project, local, locks, writable } = files;
        let local_is_database = same_file(database.location(), &local);
        let local = if local_is_database { database.clone() } else { Store::open(local, true).await? };
        let named = [(Scope::Global, global), (Scope::Project, project)];
        let mut opened: Vec<Arc<ScopeFile>> = Vec::new();
        for (scope, path) in named {
            let Some(file) = path.map(|path| ScopeFile::new(scope, &path)) else { continue };
            // A project in the user's configuration directory, or in the one to which a link in there
            // leads, would be the same file twice.
            if !opened.iter().any(|known| canonical(&known.path) == canonical(&file.path)) {
                opened.push(Arc::new(file));
            }
        }
        let scopes = Self(Arc::new(Inner {
            database,
            local,
            local_is_database,
            files: opened,
            locks,
            writable,
            watcher: OnceLock::new(),
            waiting: AtomicBool::new(false),
            listings: Mutex::default(),
        }));
        // The user's file first: what the project's refers to may be there.
        for file in &scopes.0.files {
            scopes.reload(file).await?;
        }
        Ok(scopes)
    }

    /// Follows changes of the files from now on.
    pub fn watch(&self) {
        if self.0.files.is_empty() {
            return;
        }
        let weak = Arc::downgrade(&self.0);
        let runtime = tokio::runtime::Handle::current();
        let changed = move || {
            let Some(inner) = weak.upgrade() else { return };
            let scopes = Self(inner);
            runtime.spawn(async move { scopes.reload_all().await });
        };
        let _ = self.0.watcher.set(Watcher::start(self.watched(), changed));
        // Somebody was writing when it was opened, and may have stopped before it was followed.
        if self.0.files.iter().any(|file| file.current().stands_in) {
            let scopes = self.clone();
            tokio::spawn(async move { scopes.reload_all().await });
        }
        self.record_later();
    }

    /// Tries again to record what could not be recorded: the database may have been busy, or full.
    fn record_later(&self) {
        let is_unrecorded = self.0.files.iter().any(|file| file.current().unrecorded.is_some());
        if !is_unrecorded || self.0.watcher.get().is_none() || self.0.waiting.swap(true, Ordering::SeqCst) {
            return;
        }
        let weak = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(RECORD_AGAIN).await;
            let Some(inner) = weak.upgrade() else { return };
            inner.waiting.store(false, Ordering::SeqCst);
            Self(inner).reload_all().await;
        });
    }

    async fn reload_all(&self) {
        for file in &self.0.files {
            if let Err(error) = self.reload(file).await {
                tracing::warn!(%error, path = %file.path.display(), "the file could not be read again");
            }
        }
        self.watch_again();
        self.record_later();
    }

    /// Files may name other files than before.
    fn watch_again(&self) {
        if let Some(watcher) = self.0.watcher.get() {
            watcher.set(self.watched());
        }
    }

    fn watched(&self) -> Vec<PathBuf> {
        self.0.files.iter().flat_map(|file| file.watched()).collect()
    }

    /// How the files are followed; none where they are not.
    pub fn watching(&self) -> Option<files::Mode> {
        self.0.watcher.get().map(Watcher::mode)
    }

    pub fn database(&self) -> &Store {
        &self.0.database
    }

    pub(crate) fn local(&self) -> &Store {
        &self.0.local
    }

    pub(crate) fn locks(&self) -> &std::path::Path {
        &self.0.locks
    }

    /// Writes what is pending and closes all connections.
    pub async fn close(&self) {
        if !self.0.local_is_database {
            self.0.local.close().await;
        }
        self.0.database.close().await;
    }

    /// The path of a scope's file.
    pub fn path(&self, scope: Scope) -> Option<&std::path::Path> {
        self.file(scope).map(|file| file.path.as_path())
    }

    pub(crate) fn file(&self, scope: Scope) -> Option<&Arc<ScopeFile>> {
        self.0.files.iter().find(|file| file.scope == scope)
    }

    /// The files, strongest first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<ScopeFile>> {
        self.0.files.iter().rev()
    }

    /// Changes of every scope, by whomever.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.0.database.changes()
    }

    /// What is wrong with the files now: mistakes, then warnings.
    pub fn problems(&self) -> Vec<Problem> {
        self.0.files.iter().flat_map(|file| file.current().problems()).collect()
    }

    /// How many entries the files have together.
    pub fn file_entries(&self) -> usize {
        let snapshots = self.0.files.iter().map(|file| file.current());
        snapshots.map(|snapshot| snapshot.document.entries.values().map(BTreeMap::len).sum::<usize>()).sum()
    }

    /// Whether any file has a mistake that keeps something of it from taking effect.
    pub fn has_errors(&self) -> bool {
        self.0.files.iter().any(|file| file.current().has_errors())
    }

    /// The text of a scope's file as it is now, for places in it.
    pub fn text(&self, scope: Scope) -> Option<String> {
        std::fs::read_to_string(self.path(scope)?).ok()
    }

    /// Opens a change of one scope. Where files are not written to, what is state can be changed all
    /// the same: it is kept beside them.
    pub async fn write(&self, scope: Scope, attribution: Attribution) -> Result<Write> {
        if scope == Scope::Builtin {
            return Err(Error::Denied(
                "builtins are read-only; name another scope, and the builtin is copied there".to_owned(),
            ));
        }
        let Some(file) = self.file(scope) else {
            if scope == Scope::Shared {
                return Ok(self.0.database.write(attribution).await?.into());
            }
            return Err(Error::NotOpen { scope });
        };
        Ok(FileWrite::begin(self.clone(), file.clone(), attribution).await?.into())
    }

    /// Refuses where files are not to be written to.
    pub(crate) fn check_writable(&self, file: &ScopeFile) -> Result<()> {
        if self.0.writable {
            return Ok(());
        }
        Err(Error::Denied(format!(
            "{} is not written to from here: files are changed on the machine itself, over loopback or with the command line",
            file.path.display()
        )))
    }

    /// The store and the place in it where a scope's history is.
    pub(crate) fn shelf(&self, scope: Scope) -> Result<(&Store, Shelf<'_>)> {
        match (scope, self.file(scope)) {
            (Scope::Shared, _) => Ok((&self.0.database, Shelf::SHARED)),
            (Scope::Builtin, _) => {
                Err(Error::Invalid("builtins have no history: they change with Masque itself".to_owned()))
            }
            (_, Some(file)) => Ok((&self.0.local, Shelf { scope, origin: &file.origin })),
            (_, None) => Err(Error::NotOpen { scope }),
        }
    }

    /// Keeps a persona's compiled text where its state belongs.
    pub async fn keep_compiled(
        &self,
        scope: Scope,
        name: &Name,
        text: &persona::CompiledText,
    ) -> Result<persona::Compiled> {
        let (store, origin) = match self.file(scope) {
            Some(file) => (&self.0.local, file.origin.as_str()),
            None => (&self.0.database, ""),
        };
        let compiled = store.keep_compiled(Owner { scope, origin, name }, text).await?;
        if !self.0.local_is_database && scope.is_file() {
            self.announce(vec![Change::Entity { kind: Kind::Persona, name: name.clone(), listed: false }]);
        }
        Ok(compiled)
    }

    /// Tells subscribers of changes that the database does not know of.
    pub(crate) fn announce(&self, changes: Vec<Change>) {
        self.0.database.announce(changes);
    }
}

fn same_file(one: &Location, other: &Location) -> bool {
    let (Location::Sqlite(one), Location::Sqlite(other)) = (one, other) else { return false };
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// A definition of the strongest scope that has it, or of the one that is named.
impl Scopes {
    pub async fn get<T: Keep>(&self, name: &Name, scope: Option<Scope>) -> Result<Option<Stored<T>>> {
        for file in self.files().filter(|file| scope.is_none_or(|only| only == file.scope)) {
            let Some(entry) = file.current().find(T::KIND, name) else { continue };
            if let Ok(entity) = T::try_from(entry.entity.clone()) {
                let meta = self.file_meta(file, T::KIND, name).await?;
                return Ok(Some(Stored { entity, meta }));
            }
        }
        match scope {
            None => Ok(self.0.database.get(name).await?),
            Some(Scope::Shared) => Ok(self.0.database.get_shared(name).await?),
            Some(Scope::Builtin) => Ok(T::builtin(name)),
            Some(_) => Ok(None),
        }
    }
}
