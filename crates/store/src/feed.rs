//! The change feed invalidates the cache of this node and notifies its subscribers, whichever node made
//! the change.
//!
//! SQLite: before every cached read, `PRAGMA data_version` shows if a connection other than that of sessions
//! wrote, and the history shows what. PostgreSQL: every write sends a notification; while the listening
//! connection is down, nothing cached is trusted.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use persona::{Kind, Name};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, broadcast};

use crate::{Error, Result};
use database::{Engine, Listening, Parameter, Postgres, Sqlite};

/// The number of changes that a slow subscriber may lag before it gets "everything" instead.
const BACKLOG: usize = 1_024;
/// The interval at which a SQLite file is checked for changes of other processes, if there are subscribers.
const SQLITE_POLL: Duration = Duration::from_millis(500);
/// The pause before listening again after the connection was lost.
const RECONNECT: Duration = Duration::from_millis(200);
/// PostgreSQL refuses longer notifications. A write with more changes sends "everything" instead.
const PAYLOAD_BYTES: usize = 7_900;
const CHANNEL: &str = "masque_library";

/// A change of the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    Entity {
        kind: Kind,
        name: Name,
        /// True if lists changed too: it was created, deleted or renamed.
        listed: bool,
    },
    /// Too many changes to list, or unknown ones.
    Everything,
}

#[derive(Debug)]
pub(crate) struct Feed {
    sender: broadcast::Sender<Change>,
    /// Counts changes. Data that was cached under another generation is out of date.
    generation: AtomicU64,
    /// True while changes of other nodes are known to arrive here.
    trusted: AtomicBool,
    /// The data version that the watching connection last saw; SQLite only.
    seen_version: Mutex<Option<i64>>,
    /// The newest revision that was announced; SQLite only.
    announced: AtomicI64,
    wake: Notify,
    /// Ends the task that listens, whose connection shows other nodes that this one lives; PostgreSQL only.
    closing: Arc<Notify>,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
            generation: AtomicU64::new(0),
            trusted: AtomicBool::new(false),
            seen_version: Mutex::new(None),
            announced: AtomicI64::new(0),
            wake: Notify::new(),
            closing: Arc::default(),
        }
    }

    /// Called once the library is closed.
    pub(crate) fn close(&self) {
        self.closing.notify_one();
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.sender.subscribe()
    }

    fn bump(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// The generation under which data read from now on may be cached, or cached data may be served. `None`
    /// while changes of other nodes might go unnoticed.
    pub(crate) fn generation(&self, engine: &Engine) -> Result<Option<u64>> {
        match engine {
            // The connection is in use: read past the cache.
            Engine::Sqlite(sqlite) if !self.check_version(sqlite)? => return Ok(None),
            Engine::Sqlite(_) => {}
            Engine::Postgres(_) if !self.trusted.load(Ordering::SeqCst) => return Ok(None),
            Engine::Postgres(_) => {}
        }
        Ok(Some(self.generation.load(Ordering::SeqCst)))
    }

    /// Notices writes of other connections. False if the connection is in use.
    fn check_version(&self, sqlite: &Sqlite) -> Result<bool> {
        // The lock keeps results in the order of the checks.
        let mut seen = self.seen_version.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(version) = sqlite.sessions.data_version()? else { return Ok(false) };
        if *seen != Some(version) {
            *seen = Some(version);
            self.bump();
            self.wake.notify_one();
        }
        Ok(true)
    }

    /// Called after a commit on this node. Nothing that was cached before is served again. `state` are the
    /// changes without a revision.
    pub(crate) fn committed(&self, engine: &Engine, state: Vec<Change>) {
        self.bump();
        match engine {
            Engine::Sqlite(_) => {
                for change in state {
                    let _ = self.sender.send(change);
                }
                self.wake.notify_one();
            }
            // The notification comes back to this node too, and reaches its subscribers.
            Engine::Postgres(_) => {}
        }
    }

    /// Called after a change outside of any database, such as one of a file.
    pub(crate) fn changed_here(&self, changes: Vec<Change>) {
        self.bump();
        if changes.len() > BACKLOG / 2 {
            self.announce(vec![Change::Everything]);
        } else {
            self.announce(changes);
        }
    }

    fn announce(&self, changes: Vec<Change>) {
        for change in changes {
            // Sending fails without subscribers, which is fine.
            let _ = self.sender.send(change);
        }
    }
}

/// Starts the task that receives changes from elsewhere. It ends when the feed is dropped.
pub(crate) async fn start(feed: &Arc<Feed>, engine: &Engine) -> Result<()> {
    match engine {
        Engine::Sqlite(sqlite) => {
            feed.announced.store(newest_revision(engine).await?, Ordering::SeqCst);
            feed.check_version(sqlite)?;
            tokio::spawn(poll(Arc::downgrade(feed), engine.clone()));
        }
        Engine::Postgres(postgres) => {
            let first = postgres.listen(&channel(postgres)).await?;
            feed.trusted.store(true, Ordering::SeqCst);
            let (closing, weak, postgres) =
                (Arc::clone(&feed.closing), Arc::downgrade(feed), postgres.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = closing.notified() => {}
                    () = follow(weak, postgres, first) => {}
                }
            });
        }
    }
    Ok(())
}

async fn newest_revision(engine: &Engine) -> Result<i64> {
    let newest = engine.number("SELECT coalesce(max(id), 0) FROM agent_revisions".to_owned(), &[]).await?;
    Ok(newest.unwrap_or(0))
}

/// SQLite: announces the revisions that were not announced yet.
async fn poll(feed: Weak<Feed>, engine: Engine) {
    let mut passed = 0;
    loop {
        let Some(strong) = feed.upgrade().filter(|_| !engine.is_closed()) else { return };
        let looked = if strong.sender.receiver_count() > 0 {
            announce_new(&strong, &engine).await
        } else {
            pass_over(&strong, &engine, &mut passed).await
        };
        // A library may be closed while it is checked.
        if matches!(&looked, Err(Error::Database(database::Error::Closed))) {
            return;
        }
        if let Err(error) = looked {
            tracing::warn!(%error, "changes could not be read; they are read again later");
        }
        let _ = tokio::time::timeout(SQLITE_POLL, strong.wake.notified()).await;
    }
}

/// Skips changes while there are no subscribers: a later one gets only later changes.
async fn pass_over(feed: &Feed, engine: &Engine, passed: &mut u64) -> Result<()> {
    let Some(generation) = feed.generation(engine)?.filter(|now| now != passed) else {
        return Ok(());
    };
    let newest = newest_revision(engine).await?;
    // A subscriber that arrived in between must get the changes since.
    if feed.sender.receiver_count() == 0 {
        feed.announced.store(newest, Ordering::SeqCst);
        *passed = generation;
    }
    Ok(())
}

async fn announce_new(feed: &Feed, engine: &Engine) -> Result<()> {
    let Engine::Sqlite(sqlite) = engine else {
        return Ok(());
    };
    feed.check_version(sqlite)?;
    let last = feed.announced.load(Ordering::SeqCst);
    let sql = "SELECT json_object('id', id, 'kind', kind, 'name', name, 'listed', json(iif(action IN ('create', 'delete', 'rename'), 'true', 'false')), \
               'old_name', iif(action = 'rename', (SELECT o.name FROM agent_revisions o WHERE o.guid = r.guid AND o.revision < r.revision ORDER BY o.revision DESC LIMIT 1), NULL)) \
               FROM agent_revisions r WHERE id > $1 AND scope = 'shared' ORDER BY id LIMIT 1000";
    #[derive(Deserialize)]
    struct Row {
        id: i64,
        kind: Kind,
        name: Name,
        listed: bool,
        old_name: Option<Name>,
    }
    let rows = engine.texts(sql.to_owned(), &[Parameter::Int(last)]).await?;
    for row in rows {
        let Row { id, kind, name, listed, old_name } = serde_json::from_str(&row)?;
        feed.announced.store(id, Ordering::SeqCst);
        // Subscribers of the old name must read again.
        feed.announce(old_name.into_iter().map(|name| Change::Entity { kind, name, listed }).collect());
        feed.announce(vec![Change::Entity { kind, name, listed }]);
    }
    Ok(())
}

/// The notification that a write on PostgreSQL sends to every node.
pub(crate) fn payload(changes: &[Change]) -> Result<String> {
    let text = serde_json::to_string(changes)?;
    if text.len() <= PAYLOAD_BYTES {
        return Ok(text);
    }
    Ok(serde_json::to_string(&[Change::Everything])?)
}

/// The channel of a library, apart from those of other schemas in the same database.
pub(crate) fn channel(postgres: &Postgres) -> String {
    postgres.schema.own(CHANNEL)
}

/// PostgreSQL: forwards notifications. Without a connection, the cache is not trusted.
async fn follow(feed: Weak<Feed>, postgres: Postgres, first: Listening) {
    let mut listening = Some(first);
    loop {
        if let Some(mut current) = listening.take() {
            let ended = hear(&feed, &mut current).await;
            let Some(strong) = feed.upgrade() else { return };
            strong.trusted.store(false, Ordering::SeqCst);
            strong.bump();
            if let Err(error) = ended {
                tracing::warn!(%error, "the connection that brings changes was lost; reading past the cache until it is back");
            }
        }
        if postgres.readers.is_closed() {
            return;
        }
        match postgres.listen(&channel(&postgres)).await {
            Ok(new) => {
                let Some(strong) = feed.upgrade() else { return };
                strong.bump();
                strong.trusted.store(true, Ordering::SeqCst);
                strong.announce(vec![Change::Everything]);
                listening = Some(new);
            }
            Err(error) => {
                tracing::debug!(%error, "listening again failed");
                tokio::time::sleep(RECONNECT).await;
            }
        }
        if feed.strong_count() == 0 {
            return;
        }
    }
}

/// Forwards notifications until the connection is lost or the feed is dropped.
async fn hear(feed: &Weak<Feed>, listening: &mut Listening) -> database::Result<()> {
    loop {
        let notification = listening.next().await?;
        let Some(strong) = feed.upgrade() else { return Ok(()) };
        if let Some(payload) = notification {
            strong.bump();
            let changes = serde_json::from_str(&payload);
            strong.announce(changes.unwrap_or_else(|_| vec![Change::Everything]));
        }
    }
}
