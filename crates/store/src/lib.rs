//! Where the library is kept: SQLite or PostgreSQL, with history, search and a bounded cache.
//!
//! One set of statements serves both engines; what differs is in `dialect` and in the
//! migrations. Reading answers whole documents (a persona with everything that it links is one
//! round trip), writing happens in a [`Write`] transaction that records a revision for each change.
//! This crate must not know who asks, nor decide what a change means: it keeps what it is given.

mod error;
pub use error::{Error, ErrorKind, Result};

mod location;
pub use location::Location;

mod dialect;
mod engine;
mod hot;
mod migrate;

pub mod files;

mod builtin;
pub use builtin::Builtins;

mod catalog;

mod documents;
mod words;

mod cache;
mod feed;
pub use feed::Change;

mod store;
pub use store::{DatabaseInfo, Store};

mod read;
pub use read::{Filter, Found, Page};

mod load;
pub use load::Loaded;

mod write;
pub use write::{Action, Attribution, DatabaseWrite, Held, Keep, Write};

mod history;
pub use history::{Forgotten, FullRevision, Referred, Revision, RevisionRef, Tag};

mod scopes;
pub use scopes::{FileScopes, Heir, Overrides, Scopes};

mod sessions;
pub use sessions::{
    After, Answered, Appended, Began, Control, IdPrefix, Lease, Parent, RunChange, SessionFilter,
    SessionPage, Started,
};

mod state;

mod usage;

mod schema;
mod transfer;
pub use transfer::{CopyReport, Progress};
