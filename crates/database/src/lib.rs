//! Connections to SQLite and PostgreSQL behind one small interface, the differences of their SQL, and the
//! migrations of the schema.
//!
//! This crate must not know what the tables mean: it runs statements that others write.

mod error;
pub use error::{AddressError, Error, PostgresError, Result, Violation};

mod schema;
pub use schema::SchemaName;
mod location;
pub use location::{Location, PostgresLocation};

mod dialect;
pub use dialect::{Column, Dialect};
mod statement;
pub use statement::{BuiltStatement, Statement};

mod engine;
pub use engine::{BUSY_TIMEOUT, Engine, Parameter, Transaction};
mod postgres;
pub use postgres::{Listening, NOTIFY, Postgres, PostgresTransaction, connections_named};
mod sqlite;
pub use sqlite::{CopiedPages, Sqlite, SqliteTransaction, Writer, seal};

mod presence;
pub use presence::{Leftover, Presence, Presences};

mod migrate;
pub use migrate::{NEWEST, migrate};

mod time;
pub use time::now;
