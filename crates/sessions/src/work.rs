//! A change of sessions on either engine, and statements that the engines spell differently.

use std::sync::LazyLock;

use crate::{Result, Sessions};
use database::{Dialect, DirectTransaction, Engine, Transaction, Value};

/// A statement as each engine wants it.
pub(super) struct Statement {
    sqlite: String,
    postgres: String,
}

/// A statement that is spelled out once.
pub(super) type Spelled = LazyLock<Statement>;

impl Statement {
    pub(super) fn new(spell: impl Fn(Dialect) -> String) -> Self {
        Self { sqlite: spell(Dialect::Sqlite), postgres: spell(Dialect::Postgres) }
    }

    pub(super) fn on(&self, dialect: Dialect) -> &str {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
        }
    }
}

/// A change that is under way; dropped without [`Work::commit`], it leaves no trace.
#[derive(Debug)]
pub(super) enum Work {
    File(DirectTransaction),
    Postgres(Transaction),
}

impl Work {
    pub(super) async fn begin(sessions: &Sessions) -> Result<Self> {
        Ok(match sessions.engine() {
            Engine::Sqlite { direct, .. } => Self::File(direct.begin().await?),
            engine @ Engine::Postgres { .. } => Self::Postgres(engine.begin().await?),
        })
    }

    fn dialect(&self) -> Dialect {
        match self {
            Self::File(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    pub(super) async fn commit(self) -> Result<()> {
        match self {
            Self::File(transaction) => transaction.commit()?,
            Self::Postgres(transaction) => transaction.commit().await?,
        }
        Ok(())
    }

    /// Runs a statement; answers how many rows it touched.
    pub(super) async fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64> {
        Ok(match self {
            Self::File(transaction) => transaction.run(sql, values)?,
            Self::Postgres(transaction) => transaction.run(sql, values).await?,
        })
    }

    /// The first column of every row.
    pub(super) async fn texts(&mut self, statement: &Statement, values: &[Value]) -> Result<Vec<String>> {
        let sql = statement.on(self.dialect());
        Ok(match self {
            Self::File(transaction) => transaction.texts(sql, values)?,
            Self::Postgres(transaction) => transaction.texts(sql, values).await?,
        })
    }

    /// The first column of the first row.
    pub(super) async fn text(&mut self, statement: &Statement, values: &[Value]) -> Result<Option<String>> {
        Ok(self.texts(statement, values).await?.into_iter().next())
    }
}

impl Sessions {
    /// The first column of every row, outside of any change. SQLite is read on the caller's thread.
    pub(super) async fn session_texts(&self, statement: &Statement, values: &[Value]) -> Result<Vec<String>> {
        Ok(match self.engine() {
            Engine::Sqlite { hot, direct, .. } => {
                let rows = direct.rows_if_free(&statement.sqlite, values, |row| row.get(0));
                rows.unwrap_or_else(|| hot.rows(&statement.sqlite, values, |row| row.get(0)))?
            }
            engine @ Engine::Postgres { .. } => engine.texts(statement.postgres.clone(), values).await?,
        })
    }
}
