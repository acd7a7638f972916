//! Connections to SQLite and PostgreSQL behind one small surface, what the two spell differently,
//! and the migrations of the schema.
//!
//! This crate must not know what the tables mean: it runs statements that others write.

mod error;
pub use error::{Error, Result};

mod location;
pub use location::Location;

mod dialect;
pub use dialect::{Column, Dialect};

mod engine;
pub use engine::{BUSY_TIMEOUT, Engine, Transaction, Value, postgres_arguments};

mod direct;
pub use direct::{DirectFile, DirectTransaction};
mod hot;
pub use hot::HotReader;

mod migrate;
pub use migrate::{NEWEST, migrate};

mod time;
pub use time::now;
