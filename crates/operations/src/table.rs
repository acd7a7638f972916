//! The rows, in the order in which fronts list them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::Operation;

mod arcs;
mod carry;
mod checks;
mod context;
mod editing;
mod entities;
mod events;
mod history;
mod links;
mod personas;
mod pieces;
mod previews;
mod sessions;
mod testing;
mod tracks;
pub(crate) use sessions::{Cancelled, NewSession, PlanText, SessionDeleted, Undone};

/// Operations that belong together.
#[derive(Debug)]
pub struct Group {
    pub title: &'static str,
    /// True if its operations need a runtime, false if the library suffices.
    pub of_sessions: bool,
    pub operations: &'static [Operation],
}

const fn group(title: &'static str, operations: &'static [Operation]) -> Group {
    Group { title, of_sessions: false, operations }
}

/// The groups, in the order in which fronts list them. MCP clients cache their tool list: a new group
/// goes to the end, and a new operation to the end of its group.
pub fn groups() -> &'static [Group] {
    const GROUPS: &[Group] = &[
        group("Personas", personas::OPERATIONS),
        group("Parts", pieces::PARTS),
        group("Traits", pieces::TRAITS),
        group("Skills", pieces::SKILLS),
        group("Guardrails", pieces::GUARDRAILS),
        group("Links", links::OPERATIONS),
        group("Arcs", arcs::OPERATIONS),
        group("Entities of any kind", entities::OPERATIONS),
        group("History", history::OPERATIONS),
        group("Names, scopes and bundles", carry::OPERATIONS),
        group("Lint and conflicts", checks::OPERATIONS),
        group("Events", events::OPERATIONS),
        Group { title: "Sessions", of_sessions: true, operations: sessions::OPERATIONS },
        Group { title: "The editing agent", of_sessions: true, operations: editing::OPERATIONS },
        group("Previews, templates and usage", previews::OPERATIONS),
        Group { title: "Tests", of_sessions: true, operations: testing::OPERATIONS },
        Group { title: "Files in prompts", of_sessions: true, operations: context::OPERATIONS },
        Group { title: "Tracks", of_sessions: true, operations: tracks::OPERATIONS },
    ];
    GROUPS
}

/// Every operation.
pub fn all() -> &'static [&'static Operation] {
    &OPERATIONS
}

/// The operation of this name.
pub fn find(name: &str) -> Option<&'static Operation> {
    BY_NAME.get(name).copied()
}

static OPERATIONS: LazyLock<Vec<&'static Operation>> =
    LazyLock::new(|| groups().iter().flat_map(|group| group.operations).collect());

static BY_NAME: LazyLock<HashMap<&'static str, &'static Operation>> =
    LazyLock::new(|| OPERATIONS.iter().map(|operation| (operation.name, *operation)).collect());

/// Imports of every group of rows.
mod prelude {
    pub(super) use super::row::*;
    pub(super) use super::{chat, op, stream};
    pub(super) use crate::selection::ToolSet::{All, Author, Load};
    pub(super) use crate::{Mcp, Operation};
}

/// The cells of a row.
mod row {
    use crate::selection::ToolSet;
    use crate::{Absence, Cli, Http, Mcp, Method, Route};

    pub(super) const fn tool(set: ToolSet) -> Mcp {
        Mcp::Tool(set)
    }

    pub(super) const fn no_tool(reason: &'static str) -> Mcp {
        Mcp::Absent(Absence::Because(reason))
    }

    pub(super) const fn no_command(reason: &'static str) -> Cli {
        Cli::Absent(Absence::Because(reason))
    }

    pub(super) const fn command(words: &'static str) -> Cli {
        Cli::Command(words)
    }

    pub(super) const fn http_through(operation: &'static str) -> Http {
        Http::Absent(Absence::Through(operation))
    }

    const fn one(method: Method, template: &'static str) -> Http {
        Http::One(Route { method, template })
    }

    pub(super) const fn get(template: &'static str) -> Http {
        one(Method::Get, template)
    }

    pub(super) const fn post(template: &'static str) -> Http {
        one(Method::Post, template)
    }

    pub(super) const fn put(template: &'static str) -> Http {
        one(Method::Put, template)
    }

    pub(super) const fn patch(template: &'static str) -> Http {
        one(Method::Patch, template)
    }

    pub(super) const fn delete(template: &'static str) -> Http {
        one(Method::Delete, template)
    }

    /// A read whose fields may be too many for a query.
    pub(super) const fn get_or_post(template: &'static str, with_body: &'static str) -> Http {
        Http::Two(
            Route { method: Method::Get, template },
            Route { method: Method::Post, template: with_body },
        )
    }
}

/// The columns that all rows share.
macro_rules! operation {
    ($name:ident, $effect:ident, $summary:literal, $mcp:expr, $http:expr, $cli:expr,
     $input:ty => $schema:ty, $media:ident, $run:expr) => {
        $crate::Operation {
            name: stringify!($name),
            summary: $summary,
            effect: $crate::Effect::$effect,
            mcp: $mcp,
            http: $http,
            cli: $cli,
            input: |generator| generator.subschema_for::<$input>(),
            output: |generator| generator.subschema_for::<$schema>(),
            media: $crate::Media::$media,
            run: $run,
        }
    };
}
use operation;

/// One row: parses the input, awaits the body, and returns its outcome. `Input => (Schema) as (Outcome)`
/// takes the schema from another type.
macro_rules! op {
    ($name:ident, $effect:ident, $summary:literal, $mcp:expr, $http:expr, $cli:expr,
     $input:ty => $output:ty, |$cx:ident, $value:ident| $body:expr) => {
        op!($name, $effect, $summary, $mcp, $http, $cli, $input => ($output) as ($output), |$cx, $value| $body)
    };
    ($name:ident, $effect:ident, $summary:literal, $mcp:expr, $http:expr, $cli:expr,
     $input:ty => ($schema:ty) as ($outcome:ty), |$cx:ident, $value:ident| $body:expr) => {
        $crate::table::operation!(
            $name, $effect, $summary, $mcp, $http, $cli, $input => $schema, Json,
            $crate::OperationFn::Call(|$cx, fields| {
                Box::pin(async move {
                    let $value: $input = $crate::parse(fields)?;
                    let outcome: $outcome = $body.await?;
                    Ok(Box::new(outcome) as $crate::BoxedOutcome)
                })
            })
        )
    };
}
use op;

/// One row whose answer is a stream of events, in a form of [`OperationFn`](crate::OperationFn).
macro_rules! streaming {
    ($form:ident, $name:ident, $effect:ident, $summary:literal, $mcp:expr, $http:expr, $cli:expr,
     $input:ty => $event:ty, |$cx:ident, $value:ident| $body:expr) => {
        $crate::table::operation!(
            $name, $effect, $summary, $mcp, $http, $cli, $input => $event, Events,
            $crate::OperationFn::$form(|$cx, fields| {
                Box::pin(async move {
                    let $value: $input = $crate::parse(fields)?;
                    Ok($body.await?)
                })
            })
        )
    };
}
use streaming;

/// One row that streams the events of a session.
macro_rules! stream {
    ($($row:tt)*) => { $crate::table::streaming!(Stream, $($row)*) };
}
use stream;

/// One row that streams the events of a chat with the editing agent.
macro_rules! chat {
    ($($row:tt)*) => { $crate::table::streaming!(Chat, $($row)*) };
}
use chat;
