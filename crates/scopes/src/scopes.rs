//! All scopes of a library: the database with its shared and builtin entities, and above it the
//! personas.toml files of the user and the project.
//!
//! The content of files is held in memory. Its history and state are in a local SQLite file, never in a
//! team's database.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use persona::{Kind, Name, Scope};
use tokio::sync::broadcast;

use crate::guard::Guard;
use crate::proposal::Proposal;
use crate::write::{FileWrite, Write};
use database::Location;
use files::{Lock, Problem, Watcher, canonical, disk};
use store::HistoryKey;
use store::{Attribution, Change, Store};
use store::{Listings, LockOwner, Owner};

use crate::{Error, Result};

mod file;
pub(crate) use file::{ScopeFile, Snapshot};
mod reload;
pub(crate) use reload::is_current;
mod entities;
mod load;
pub use load::{Draft, DraftCatalog, Overrides};
mod heirs;
pub use heirs::Heir;
mod past;
pub use past::PieceKey;
mod editing;
mod record;
pub(crate) use record::{Recorded, put_origin};

/// The pause before another attempt to record a change.
const RECORD_AGAIN: Duration = Duration::from_secs(5);

/// The files of a library, and the permission to write them.
#[derive(Debug, Clone)]
pub struct FileScopes {
    /// The user's personas.toml.
    pub global: Option<PathBuf>,
    /// The project's personas.toml.
    pub project: Option<PathBuf>,
    /// The local database, with the files' history and state.
    pub local: Location,
    /// The directory of locks against other processes.
    pub locks: PathBuf,
    /// True if the files may be written.
    pub writable: bool,
}

/// An open library over all its scopes. Clones share it.
#[derive(Debug, Clone)]
pub struct Scopes(Arc<Inner>, Option<Arc<Proposal>>, Option<Arc<Guard>>);

#[derive(Debug)]
struct Inner {
    database: Store,
    /// The same store as `database` if that is the local one.
    local: Store,
    local_is_database: bool,
    /// Weakest first.
    files: Vec<Arc<ScopeFile>>,
    locks: PathBuf,
    writable: bool,
    watcher: OnceLock<Watcher>,
    /// True while a change waits to be recorded again.
    waiting: AtomicBool,
    /// The last list, and the snapshots it was made from.
    listings: Mutex<Option<CachedListings>>,
}

type CachedListings = (Vec<(Scope, Arc<Snapshot>)>, Arc<Listings>);

impl Scopes {
    /// A library without files.
    pub fn of_database(database: Store) -> Self {
        let inner = Inner {
            local: database.clone(),
            database,
            local_is_database: true,
            files: Vec::new(),
            locks: PathBuf::new(),
            writable: false,
            watcher: OnceLock::new(),
            waiting: AtomicBool::new(false),
            listings: Mutex::default(),
        };
        Self(Arc::new(inner), None, None)
    }

    /// The same library, where writes only propose: each is tried and rolled back, and its changes join the
    /// proposal. Reads of single definitions see them; lists, searches and loaded personas do not.
    #[must_use]
    pub fn proposing(&self, proposal: Arc<Proposal>) -> Self {
        Self(Arc::clone(&self.0), Some(proposal), self.2.clone())
    }

    /// The same library, where writes respect locks, and ask before some changes.
    #[must_use]
    pub fn guarded(&self, guard: Arc<Guard>) -> Self {
        Self(Arc::clone(&self.0), self.1.clone(), Some(guard))
    }

    /// The same library, for everyone.
    fn plain(&self) -> Self {
        Self(Arc::clone(&self.0), None, None)
    }

    pub(crate) fn proposal(&self) -> Option<&Arc<Proposal>> {
        self.1.as_ref()
    }

    /// Opens a library with files, and reads them.
    pub async fn open(database: Store, files: FileScopes) -> Result<Self> {
        let FileScopes { global, project, local, locks, writable } = files;
        let local_is_database = same_file(database.location(), &local);
        let local = if local_is_database { database.clone() } else { Store::open(local, true).await? };
        let named = [(Scope::Global, global), (Scope::Project, project)];
        let mut opened: Vec<Arc<ScopeFile>> = Vec::new();
        for (scope, path) in named {
            let Some(file) = path.map(|path| ScopeFile::new(scope, &path)) else { continue };
            // A project in the user's configuration directory, or in the target of a link there, would be
            // the same file twice.
            if !opened.iter().any(|known| canonical(&known.path) == canonical(&file.path)) {
                opened.push(Arc::new(file));
            }
        }
        let inner = Inner {
            database,
            local,
            local_is_database,
            files: opened,
            locks,
            writable,
            watcher: OnceLock::new(),
            waiting: AtomicBool::new(false),
            listings: Mutex::default(),
        };
        let scopes = Self(Arc::new(inner), None, None);
        // The user's file first: the project's may refer to it.
        for file in &scopes.0.files {
            scopes.reload(file).await?;
        }
        if writable {
            scopes.clear_leftovers().await;
        }
        Ok(scopes)
    }

    /// Removes temporary files that killed processes left beside the files and the texts that they include.
    /// A file that another process writes now is left alone.
    async fn clear_leftovers(&self) {
        for file in &self.0.files {
            let (locks, origin, paths) = (self.0.locks.clone(), file.origin.clone(), file.watched());
            let cleared = tokio::task::spawn_blocking(move || {
                if let Some(leftovers) = disk::Leftovers::find(paths)
                    && let Ok(_lock) = Lock::acquire(&locks, &origin, Duration::ZERO)
                {
                    leftovers.clear();
                }
            });
            let _ = cleared.await;
        }
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
            let scopes = Self(inner, None, None);
            runtime.spawn(async move { scopes.reload_all().await });
        };
        let _ = self.0.watcher.set(Watcher::start(self.watched(), changed));
        // A program that was writing the file when it was opened may have stopped before watching began.
        if self.0.files.iter().any(|file| file.current().is_from_history) {
            let scopes = self.clone();
            tokio::spawn(async move { scopes.reload_all().await });
        }
        self.record_later();
    }

    /// Tries again to record changes: the database may have been busy, or full.
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
            Self(inner, None, None).reload_all().await;
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

    /// Updates the watched paths: files may include other files than before.
    fn watch_again(&self) {
        if let Some(watcher) = self.0.watcher.get() {
            watcher.set(self.watched());
        }
    }

    fn watched(&self) -> Vec<PathBuf> {
        self.0.files.iter().flat_map(|file| file.watched()).collect()
    }

    /// The way in which the files are followed. `None` if they are not.
    pub fn watching(&self) -> Option<files::WatchMode> {
        self.0.watcher.get().map(Watcher::mode)
    }

    /// The database file that cannot be written, if there is one: of the shared scope, or of the history of
    /// files.
    pub fn read_only(&self) -> Option<&Location> {
        let stores = [&self.0.database, &self.0.local];
        stores.into_iter().find(|store| store.is_read_only()).map(Store::location)
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

    /// Writes pending state and closes all connections.
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

    /// Changes of every scope, by this or another process.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.0.database.changes()
    }

    /// The current problems of the files: errors, then warnings.
    pub fn problems(&self) -> Vec<Problem> {
        self.0.files.iter().flat_map(|file| file.current().problems()).collect()
    }

    /// The number of entries in all files.
    pub fn file_entries(&self) -> usize {
        let snapshots = self.0.files.iter().map(|file| file.current());
        snapshots.map(|snapshot| snapshot.document.entries.values().map(BTreeMap::len).sum::<usize>()).sum()
    }

    /// True if a file has an error that keeps some of it from taking effect.
    pub fn has_errors(&self) -> bool {
        self.0.files.iter().any(|file| file.current().has_errors())
    }

    /// The current text of a scope's file, to find places in it.
    pub fn text(&self, scope: Scope) -> Option<String> {
        std::fs::read_to_string(self.path(scope)?).ok()
    }

    /// The files that definitions take their texts from.
    pub fn included(&self) -> Vec<PathBuf> {
        self.0.files.iter().flat_map(|file| file.current().document.included.clone()).collect()
    }

    /// True if the version of a scope's file in force was read from this text.
    pub fn is_in_force(&self, scope: Scope, text: &str) -> bool {
        self.file(scope).is_some_and(|file| file.current().document.is_of(text))
    }

    /// Opens a write to one scope. State can be changed even if files cannot be written: it is stored beside
    /// them.
    pub async fn write(&self, scope: Scope, attribution: Attribution) -> Result<Write> {
        if scope == Scope::Builtin {
            return Err(Error::Builtin);
        }
        let write: Write = match self.file(scope) {
            Some(file) => FileWrite::begin(self.plain(), file.clone(), attribution).await?.into(),
            None if scope == Scope::Shared => self.0.database.write(attribution).await?.into(),
            None => return Err(Error::NotOpen { scope }),
        };
        let write = match &self.2 {
            Some(guard) => write.guarded(self.plain(), Arc::clone(guard)),
            None => write,
        };
        match self.proposal() {
            Some(proposal) => write.try_out(Arc::clone(proposal)).await,
            None => Ok(write),
        }
    }

    /// Fails if files cannot be written.
    pub(crate) fn check_writable(&self, file: &ScopeFile) -> Result<()> {
        if self.0.writable {
            return Ok(());
        }
        Err(Error::ReadOnly { path: file.path.display().to_string(), scope: file.scope })
    }

    /// The store with a scope's history, and the scope's place in it.
    pub(crate) fn history_key(&self, scope: Scope) -> Result<(&Store, HistoryKey<'_>)> {
        match (scope, self.file(scope)) {
            (Scope::Shared, _) => Ok((&self.0.database, HistoryKey::SHARED)),
            (Scope::Builtin, _) => Err(Error::NoHistory),
            (_, Some(file)) => Ok((&self.0.local, HistoryKey { scope, origin: &file.origin })),
            (_, None) => Err(Error::NotOpen { scope }),
        }
    }

    /// Stores a persona's compiled text beside its state.
    pub async fn store_compiled(
        &self,
        scope: Scope,
        name: &Name,
        text: &persona::CompiledText,
    ) -> Result<persona::Compiled> {
        let (store, owner) = self.state_of(scope, name);
        if store.is_read_only() {
            let persona::CompiledText { summary, detail, fingerprint } = text.clone();
            return Ok(persona::Compiled { summary, detail, at: database::now(), fingerprint });
        }
        let compiled = store.store_compiled(owner, text).await?;
        if !self.0.local_is_database && scope.is_file() {
            self.announce(vec![Change::Entity { kind: Kind::Persona, name: name.clone(), listed: false }]);
        }
        Ok(compiled)
    }

    /// The store with a persona's state, and the owner of the state there.
    pub(crate) fn state_of<'a>(&'a self, scope: Scope, name: &'a Name) -> (&'a Store, Owner<'a>) {
        let (store, origin) = match self.file(scope) {
            Some(file) => (&self.0.local, file.origin.as_str()),
            None => (&self.0.database, ""),
        };
        (store, Owner { scope, origin, name })
    }

    /// The store with an entity's locks, and the owner of the locks there.
    pub(crate) fn locks_of<'a>(
        &'a self,
        scope: Scope,
        kind: Kind,
        name: &'a Name,
    ) -> (&'a Store, LockOwner<'a>) {
        let (store, Owner { origin, .. }) = self.state_of(scope, name);
        (store, LockOwner { scope, origin, kind, name })
    }

    /// Announces changes that the database does not know of.
    pub(crate) fn announce(&self, changes: Vec<Change>) {
        self.0.database.announce(changes);
    }
}

fn same_file(one: &Location, other: &Location) -> bool {
    let (Location::Sqlite(one), Location::Sqlite(other)) = (one, other) else { return false };
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
