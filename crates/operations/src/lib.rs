//! The table of operations: everything a caller can do, described once.
//!
//! A row has the name of an operation, its documentation, its input and output with their JSON
//! Schemas, its effect, and the fronts that offer it. MCP tools, HTTP routes, the OpenAPI document and
//! the tables of the documentation come from these rows. Types are erased here: a row's function takes
//! JSON and returns one boxed future, so that no front compiles `app` again.
//!
//! This crate must not know any protocol: how a front reads requests or words answers.

mod operation;
pub use operation::{
    Absence, CallError, Cli, Context, Effect, Front, Http, Mcp, Media, Method, Operation, OperationFn, Route,
    RunCall, RunStream, RunTestEvents, RunTrackEvents,
};

mod outcome;
pub use outcome::{BoxedOutcome, OperationOutcome, Version};

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

mod editor;
pub use editor::library_tools;

pub mod schema;

mod openapi;
pub use openapi::openapi;

pub mod docs;
