//! The use cases of Masque, one file each: parse → load → decide in `persona` → store → answer.
//!
//! The only crate that drives. Fronts (MCP, HTTP, command line) hand in the inputs of
//! [`inputs`] and pass on the answers of [`outputs`]; both have JSON Schemas, so that every front
//! shows the same fields under the same names. This crate must not know how a front speaks.

pub mod inputs;
pub mod outputs;

mod error;
pub use error::{Error, ErrorKind, Result};

mod library;
pub use library::{Author, Library, ListQuery, OpenOptions};

mod change;
mod copy;

mod arcs;
mod links;
mod personas;
mod pieces;
pub use pieces::Piece;
mod search;

mod tokens;
pub use tokens::Tokenizer;

pub use persona::LoadedPersona;
pub use store::{Change, CopyReport, DatabaseInfo, Progress};
