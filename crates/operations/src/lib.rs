//! The table of operations: everything that a caller can do, described once.
//!
//! A row names an operation and says what it does, what it takes and answers (with JSON Schemas),
//! what it does to the library, and where each front offers it. MCP tools, HTTP routes, the OpenAPI
//! document and the tables of the documentation are made from these rows. Types are erased here: a
//! row's function takes JSON and returns one boxed future, so that no front compiles `app` again.
//!
//! This crate knows no protocol. It must not know how a front reads requests or words answers.

mod operation;
pub use operation::{
    Absence, Cli, Context, Effect, Front, Http, Mcp, Media, Method, Operation, Refusal, Route, Run,
    RunAnswer, RunStream,
};

mod outcome;
pub use outcome::{Answer, Outcome, Version};

mod table;
pub use table::{Group, all, find, groups};

mod commands;
pub use commands::COMMAND_LINE_ONLY;

mod selection;
pub use selection::{ToolSelection, ToolSelectionError, ToolSet, tools};

mod hints;
pub use hints::add_hints;

mod reads;
pub use reads::Reads;

mod parse;
pub use parse::parse;

pub mod schema;

mod openapi;
pub use openapi::openapi;

pub mod docs;
