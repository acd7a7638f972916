//! A change of sessions on either engine, and statements that the engines spell differently.

use std::sync::LazyLock;

use super::file::FileTransaction;
use crate::dialect::Dialect;
use crate::engine::{Engine, Transaction, Value};
use crate::{Result, Store};

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
    File(FileTransaction),
    Postgres(Transaction),
}

impl Work {
    pub(super) async fn begin(store: &Store) -> Result<Self> {
        Ok(match store.engine() {
            Engine::Sqlite { sessions, .. } => Self::File(sessions.begin().await?),
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
            Self::File(transaction) => transaction.commit(),
            Self::Postgres(transaction) => transaction.commit().await,
        }
    }

    /// Runs a statement; answers how many rows it touched.
    pub(super) async fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64> {
        match self {
            Self::File(transaction) => transaction.run(sql, values),
            Self::Postgres(transaction) => transaction.run(sql, values).await,
        }
    }

    /// The first column of every row.
    pub(super) async fn texts(&mut self, statement: &Statement, values: &[Value]) -> Result<Vec<String>> {
        let sql = statement.on(self.dialect());
        match self {
            Self::File(transaction) => transaction.texts(sql, values),
            Self::Postgres(transaction) => transaction.texts(sql, values).await,
        }
    }

    /// The first column of the first row.
    pub(super) async fn text(&mut self, statement: &Statement, values: &[Value]) -> Result<Option<String>> {
        Ok(self.texts(statement, values).await?.into_iter().next())
    }
}

impl Store {
    /// The first column of every row, outside of any change. SQLite is read on the caller's thread.
    pub(super) async fn session_texts(&self, statement: &Statement, values: &[Value]) -> Result<Vec<String>> {
        match self.engine() {
            Engine::Sqlite { hot, sessions, .. } => {
                let rows = sessions.rows_if_free(&statement.sqlite, values, |row| row.get(0));
                rows.unwrap_or_else(|| hot.rows(&statement.sqlite, values, |row| row.get(0)))
            }
            engine @ Engine::Postgres { .. } => engine.texts(statement.postgres.clone(), values).await,
        }
    }
}
