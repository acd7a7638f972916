//! Statements that the engines spell differently.

use std::sync::LazyLock;

use crate::Dialect;

/// A statement in the dialect of each engine.
#[derive(Debug)]
pub struct Statement {
    pub(crate) sqlite: String,
    pub(crate) postgres: String,
}

/// A statement that is built once.
pub type BuiltStatement = LazyLock<Statement>;

impl Statement {
    pub fn new(spell: impl Fn(Dialect) -> String) -> Self {
        Self { sqlite: spell(Dialect::Sqlite), postgres: spell(Dialect::Postgres) }
    }

    pub fn on(&self, dialect: Dialect) -> &str {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
        }
    }
}
