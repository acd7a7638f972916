//! All scopes of a library together: files over what is shared and builtin.
//!
//! The only crate that sees both the files and the database. It must not know who asks, nor
//! decide what a change means.

mod error;
pub use error::{Error, Result};

mod scopes;
pub use scopes::{FileScopes, Heir, Overrides, Scopes};

mod write;
pub use write::Write;
