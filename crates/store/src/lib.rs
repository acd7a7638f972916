//! Where the library is kept: SQLite or PostgreSQL, with history, search and a bounded cache.
//!
//! One set of statements serves both engines; what differs is in `database`. Reads answer whole
//! documents: a persona with everything that it links is one round trip. Writes happen in a
//! [`DatabaseWrite`] transaction, which records a revision for each change.
//!
//! This crate must not know of files, nor who asks, nor decide what a change means.

mod error;
pub use error::{Error, Result};

mod documents;
pub use documents::file_state;
mod words;

mod cache;
pub use cache::Rendered;
mod feed;
pub use feed::Change;

mod store;
pub use store::{DatabaseInfo, Store};

mod read;
pub use read::{Filter, Found, Listed, Listings, Page};

mod load;
pub use load::{Gathered, Loaded, Render, Wanted, put_override, put_overrides};

mod write;
pub use write::{Action, Attribution, DatabaseWrite, Held, Keep, STEP_FAILED};

mod history;
pub use history::{Forgotten, FullRevision, GONE, Ref, Referred, Revision, RevisionRef, Shelf, Tag};

mod state;
pub use state::{Owner, put_stage};

mod usage;

mod schema;
mod transfer;
pub use transfer::{CopyReport, Progress};
