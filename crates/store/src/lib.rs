//! Storage of the library in SQLite or PostgreSQL, with history, search and a bounded cache.
//!
//! One set of statements serves both engines; `database` has the differences. Reads return whole documents:
//! a persona with all its links is one round trip. Writes happen in a [`DatabaseWrite`] transaction, which
//! records a revision for each change.
//!
//! This crate must not know of files or of the caller, nor decide what a change means.

mod error;
pub use error::{Error, FilterError, Result};

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
pub use read::{Filter, Found, FoundPage, Listed, Listings};

mod load;
pub use load::{Gathered, Loaded, Lookup, Render, put_override, put_overrides};

mod write;
pub use write::{Action, Attribution, DatabaseWrite, Held, Keep};

mod history;
pub use history::{
    Forgotten, FullRevision, GONE, HistoryKey, Ref, Referred, Revision, RevisionRef, Tag, TagOutcome, Tagging,
};

mod state;
pub use state::{Owner, put_editing_session, put_stage};

mod locks;
pub use locks::{LockOwner, move_locks, put_lock, remove_locks};

mod usage;

mod requests;
pub use requests::{RequestClaim, StoredAnswer};

mod test_results;
pub use test_results::{TestResultKind, Tested};

mod backup;
mod schema;
mod transfer;
pub use transfer::{CopiedSessions, CopyReport, Progress};
