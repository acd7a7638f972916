//! The use cases of Masque, one file each: parse, load, decide in `persona`, store, answer.
//!
//! The only crate that drives. Fronts (MCP, HTTP, command line) pass [`inputs`] and return
//! [`outputs`]. Both have JSON Schemas, so every front shows the same fields under the same names.
//! This crate must not know the protocol of a front.

pub mod inputs;
pub mod outputs;

mod error;
pub use error::{
    ArcError, Code, DocumentError, Done, Error, ErrorKind, HistoryError, ModelError, Remedy, Result,
    ScopeError, SessionError, Subject, TagProblem, TestError, TrackError, Users, ValueError,
};
pub use persona::{AsReport, Report};

mod library;
pub use library::{Author, Library, ListQuery, OpenOptions};

mod changes;
pub use changes::Changes;

mod change;
mod scope;

mod amend;
mod arcs;
mod carry;
pub use carry::Follow;
mod compose;
mod conflicts;
mod links;
pub use conflicts::Resolution;
mod diff;
mod documents;
pub use documents::{TomlText, toml_of};
mod entities;
mod history;
pub use history::NewTag;
mod inherited;
mod lint;
pub use lint::LintOptions;
mod named;
pub use named::builtin_names;
mod personas;
pub use personas::parse_view;
mod pieces;
pub use pieces::Editable;
mod preview;
mod rename;
mod requests;
mod search;
mod templates;
mod usage;

mod tokens;
pub use tokens::Tokenizer;

pub mod conducting;
pub mod editing;
pub mod running;
pub use running::{Runtime, RuntimeOptions};

pub mod testing;

pub use database::Location;
pub use files::{Problem, ProblemLevel, WatchMode};
pub use files::{json_schema, project};
pub use scopes::FileScopes;
pub use store::{
    Change, CopiedSessions, CopyReport, DatabaseInfo, Progress, Rendered, RequestClaim, RevisionRef,
    StoredAnswer,
};
