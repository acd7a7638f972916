//! All scopes of a library together: files above the shared and builtin entities.
//!
//! The only crate that sees both the files and the database. It must not know the caller, nor decide what
//! a change means.

mod error;
pub use error::{Error, Result};

mod scopes;
pub use scopes::{Draft, DraftCatalog, FileScopes, Heir, Overrides, PieceKey, Scopes};

mod write;
pub use write::Write;

mod guard;
pub use guard::{Asks, Guard};

mod proposal;
pub use proposal::{Proposal, ProposedChange, reference_order};
