//! An open library.

use std::path::Path;
use std::sync::Arc;

use persona::Kind;
use tokio::sync::broadcast;

use crate::cache::Cache;
use crate::feed::{self, Change, Feed};
use crate::usage::{self, RecentUses};
use database::{Engine, Location};

use crate::{Result, documents};

/// An open library; clones share it.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    location: Location,
    engine: Engine,
    feed: Arc<Feed>,
    cache: Cache,
    usage: Arc<RecentUses>,
}

/// Facts about a database.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    pub engine: &'static str,
    /// Without a password.
    pub location: String,
    pub schema_version: i64,
    /// The PostgreSQL schema of its tables.
    pub schema: Option<String>,
    pub bytes: Option<u64>,
    pub counts: Vec<(Kind, i64)>,
    pub journal_mode: Option<String>,
    pub server_version: Option<String>,
}

impl Store {
    /// Opens a library and updates its schema. Creates a missing SQLite file if `create` is set.
    pub async fn open(location: Location, create: bool) -> Result<Self> {
        let engine = Engine::open(&location, create).await?;
        let location = engine.located(location);
        database::migrate(&engine).await?;
        let feed = Arc::new(Feed::new());
        feed::start(&feed, &engine).await?;
        let usage = usage::start(&engine);
        Ok(Self(Arc::new(Inner { location, engine, feed, cache: Cache::new(), usage })))
    }

    /// Writes pending data and closes all connections.
    pub async fn close(&self) {
        if let Err(error) = self.0.usage.flush(&self.0.engine).await {
            tracing::debug!(%error, "usage was not kept");
        }
        self.0.engine.close().await;
        self.0.feed.close();
    }

    /// The connections, for tables beside the library.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// True if the database is a file that cannot be written. Reads work; writes fail.
    pub fn is_read_only(&self) -> bool {
        self.0.engine.is_read_only()
    }

    pub(crate) fn feed(&self) -> &Feed {
        &self.0.feed
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.0.cache
    }

    pub fn location(&self) -> &Location {
        &self.0.location
    }

    pub fn usage(&self) -> &RecentUses {
        &self.0.usage
    }

    /// Announces changes outside of any database, such as those of a file.
    pub fn announce(&self, changes: Vec<Change>) {
        self.0.feed.changed_here(changes);
    }

    /// Changes from this node, other processes and other nodes.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.0.feed.subscribe()
    }

    /// Fails if the database does not answer.
    pub async fn ping(&self) -> Result<()> {
        self.engine().number("SELECT CAST(1 AS bigint)".to_owned(), &[]).await?;
        Ok(())
    }

    pub async fn info(&self) -> Result<DatabaseInfo> {
        let engine = self.engine();
        let mut counts = Vec::new();
        for kind in Kind::ALL {
            let table = documents::table(*kind);
            let count = engine.number(format!("SELECT count(*) FROM {table}"), &[]).await?;
            counts.push((*kind, count.unwrap_or(0)));
        }
        let (bytes, journal_mode, server_version) = match self.location() {
            Location::Sqlite(path) => {
                let mode = engine.text("PRAGMA journal_mode", &[]).await?;
                (sqlite_bytes(path), mode, engine.text("SELECT sqlite_version()", &[]).await?)
            }
            Location::Postgres(_) => {
                let size =
                    engine.number("SELECT pg_database_size(current_database())".to_owned(), &[]).await?;
                let version = engine.text("SHOW server_version", &[]).await?;
                (size.and_then(|size| u64::try_from(size).ok()), None, version)
            }
        };
        Ok(DatabaseInfo {
            engine: self.location().engine(),
            location: self.location().to_string(),
            schema_version: database::NEWEST,
            schema: match engine {
                Engine::Postgres(postgres) => Some(postgres.schema.to_string()),
                Engine::Sqlite(_) => None,
            },
            bytes,
            counts,
            journal_mode,
            server_version,
        })
    }
}

/// The file and its write-ahead log.
fn sqlite_bytes(path: &Path) -> Option<u64> {
    let log = path.with_file_name(format!("{}-wal", path.file_name()?.to_string_lossy()));
    let length = |path: &Path| std::fs::metadata(path).map(|data| data.len());
    Some(length(path).ok()? + length(&log).unwrap_or(0))
}
