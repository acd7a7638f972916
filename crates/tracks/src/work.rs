//! A change of tracks on either engine.

use database::{BuiltStatement, Dialect, Engine, NOTIFY, Parameter, Statement, Transaction};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::changes::channel;
use crate::{Result, Tracks};

/// An open change. Dropped without [`Work::commit`], it leaves no trace.
#[derive(Debug)]
pub(crate) struct Work(Transaction);

static HOLD: BuiltStatement = BuiltStatement::new(|| Statement::new(|dialect| track(dialect, "KEY SHARE")));
static LOCK: BuiltStatement =
    BuiltStatement::new(|| Statement::new(|dialect| track(dialect, "NO KEY UPDATE")));
static LOCK_TO_DELETE: BuiltStatement =
    BuiltStatement::new(|| Statement::new(|dialect| track(dialect, "UPDATE")));

fn track(dialect: Dialect, lock: &str) -> String {
    format!("SELECT last_seq FROM masque_tracks WHERE id = $1{}", locked(dialect, lock))
}

/// The end of a statement that locks the rows that it reads. A write to a SQLite file locks the whole file.
pub(crate) fn locked(dialect: Dialect, lock: &str) -> String {
    match dialect {
        Dialect::Sqlite => String::new(),
        Dialect::Postgres => format!(" FOR {lock}"),
    }
}

impl Work {
    pub(crate) async fn begin(tracks: &Tracks) -> Result<Self> {
        Ok(Self(tracks.engine().begin_without_sync().await?))
    }

    pub(crate) async fn commit(self) -> Result<()> {
        Ok(self.0.commit().await?)
    }

    /// Runs a statement and returns the number of rows.
    pub(crate) async fn run(&mut self, sql: &str, values: &[Parameter]) -> Result<u64> {
        Ok(self.0.run(sql, values).await?)
    }

    /// The number in the first row.
    pub(crate) async fn number(
        &mut self,
        statement: &Statement,
        values: &[Parameter],
    ) -> Result<Option<i64>> {
        Ok(self.0.number(statement.on(self.0.dialect()), values).await?)
    }

    /// Every row, each of which is JSON.
    pub(crate) async fn rows<T: DeserializeOwned>(
        &mut self,
        statement: &Statement,
        values: &[Parameter],
    ) -> Result<Vec<T>> {
        parsed(&self.0.texts(statement.on(self.0.dialect()), values).await?)
    }

    /// The first row, which is JSON.
    pub(crate) async fn row<T: DeserializeOwned>(
        &mut self,
        statement: &Statement,
        values: &[Parameter],
    ) -> Result<Option<T>> {
        Ok(self.rows(statement, values).await?.into_iter().next())
    }

    /// Keeps a track from being deleted until the change ends. False if it is missing. A change that locks
    /// more than one row holds the track first, so that it waits for a deletion instead of meeting it.
    pub(crate) async fn hold(&mut self, track: Uuid) -> Result<bool> {
        Ok(self.number(&HOLD, &[Parameter::Uuid(track)]).await?.is_some())
    }

    /// Locks a track's log until the change ends, and returns the number of its last event.
    pub(crate) async fn lock(&mut self, track: Uuid) -> Result<Option<i64>> {
        self.number(&LOCK, &[Parameter::Uuid(track)]).await
    }

    /// Locks everything of a track. False if it is missing.
    pub(crate) async fn lock_to_delete(&mut self, track: Uuid) -> Result<bool> {
        Ok(self.number(&LOCK_TO_DELETE, &[Parameter::Uuid(track)]).await?.is_some())
    }

    /// Tells the listeners of a track, once the change is committed.
    pub(crate) async fn announce(&mut self, tracks: &Tracks, track: Uuid) -> Result<()> {
        let Engine::Postgres(postgres) = tracks.engine() else { return Ok(()) };
        let values = [Parameter::Text(channel(postgres)), Parameter::Text(track.to_string())];
        self.run(NOTIFY, &values).await.map(drop)
    }
}

impl Tracks {
    /// Every row outside of a change, each of which is JSON. SQLite is read on the caller's thread.
    pub(crate) async fn rows<T: DeserializeOwned>(
        &self,
        statement: &Statement,
        values: &[Parameter],
    ) -> Result<Vec<T>> {
        parsed(&self.engine().written_texts(statement, values).await?)
    }
}

fn parsed<T: DeserializeOwned>(rows: &[String]) -> Result<Vec<T>> {
    Ok(rows.iter().map(|row| serde_json::from_str(row)).collect::<std::result::Result<_, _>>()?)
}
