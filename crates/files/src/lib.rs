//! The file scopes: a personas.toml in the user's configuration directory and one at the root of
//! the project. Reads, edits, replaces and watches these files, and describes their format.
//!
//! This crate must not know of databases, of other scopes, nor of who asks.

mod error;
pub use error::{Error, Result};

mod problem;
pub use problem::{InForce, Problem, ProblemLevel};

pub mod document;
pub use document::{Document, FileEntry};

mod hint;

pub mod edit;
pub use edit::{Edit, EditError, Edited};

pub mod disk;
pub use disk::{Lock, ReplaceError};

mod links;
pub use links::{canonical, dangling};

pub mod settle;

pub mod project;

mod watch;
pub use watch::{WatchMode, Watcher};

mod schema;
pub use schema::json_schema;
