//! A change of sessions on either engine.

use crate::{Result, Sessions};
use database::{Parameter, Statement, Transaction};

/// An open change. Dropped without [`Work::commit`], it leaves no trace.
#[derive(Debug)]
pub(super) struct Work(Transaction);

impl Work {
    pub(super) async fn begin(sessions: &Sessions) -> Result<Self> {
        Ok(Self(sessions.engine().begin_without_sync().await?))
    }

    pub(super) async fn commit(self) -> Result<()> {
        Ok(self.0.commit().await?)
    }

    /// Runs a statement and returns the number of rows.
    pub(super) async fn run(&mut self, sql: &str, values: &[Parameter]) -> Result<u64> {
        Ok(self.0.run(sql, values).await?)
    }

    /// The first column of every row.
    pub(super) async fn texts(&mut self, statement: &Statement, values: &[Parameter]) -> Result<Vec<String>> {
        Ok(self.0.texts(statement.on(self.0.dialect()), values).await?)
    }

    /// The first column of the first row.
    pub(super) async fn text(
        &mut self,
        statement: &Statement,
        values: &[Parameter],
    ) -> Result<Option<String>> {
        Ok(self.texts(statement, values).await?.into_iter().next())
    }
}

impl Sessions {
    /// The first column of every row, outside of a change. SQLite is read on the caller's thread.
    pub(super) async fn session_texts(
        &self,
        statement: &Statement,
        values: &[Parameter],
    ) -> Result<Vec<String>> {
        Ok(self.engine().written_texts(statement, values).await?)
    }
}
