//! The rows, in the order in which fronts list them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::Operation;

mod arcs;
mod entities;
mod links;
mod personas;
mod pieces;

/// Every operation. Additions go to the end of their group, so that the cached tool list of a client
/// changes as little as possible.
pub fn all() -> &'static [&'static Operation] {
    &OPERATIONS
}

/// The operation of this name.
pub fn find(name: &str) -> Option<&'static Operation> {
    BY_NAME.get(name).copied()
}

static OPERATIONS: LazyLock<Vec<&'static Operation>> = LazyLock::new(|| {
    let groups = [
        personas::OPERATIONS,
        pieces::PARTS,
        pieces::TRAITS,
        pieces::SKILLS,
        pieces::GUARDRAILS,
        links::OPERATIONS,
        arcs::OPERATIONS,
        entities::OPERATIONS,
    ];
    groups.into_iter().flatten().collect()
});

static BY_NAME: LazyLock<HashMap<&'static str, &'static Operation>> =
    LazyLock::new(|| OPERATIONS.iter().map(|operation| (operation.name, *operation)).collect());

/// What every group of rows uses.
mod prelude {
    pub(super) use super::{op, row::*};
    pub(super) use crate::Operation;
    pub(super) use crate::selection::ToolSet::{All, Author, Load};
}

/// The cells of a row.
mod row {
    use crate::selection::ToolSet;
    use crate::{Absence, Cli, Http, Mcp, Method, Route};

    pub(super) const fn tool(set: ToolSet) -> Mcp {
        Mcp::Tool(set)
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

/// One row: the input is parsed, the body's future is awaited, its outcome is the answer. An outcome
/// whose schema is another type's says so: `Input => Schema as Outcome`.
macro_rules! op {
    ($name:ident, $effect:ident, $summary:literal, $mcp:expr, $http:expr, $cli:expr,
     $input:ty => $output:ty, |$cx:ident, $value:ident| $body:expr) => {
        op!($name, $effect, $summary, $mcp, $http, $cli, $input => ($output) as ($output), |$cx, $value| $body)
    };
    ($name:ident, $effect:ident, $summary:literal, $mcp:expr, $http:expr, $cli:expr,
     $input:ty => ($schema:ty) as ($outcome:ty), |$cx:ident, $value:ident| $body:expr) => {
        $crate::Operation {
            name: stringify!($name),
            summary: $summary,
            effect: $crate::Effect::$effect,
            mcp: $mcp,
            http: $http,
            cli: $cli,
            input: |generator| generator.subschema_for::<$input>(),
            output: |generator| generator.subschema_for::<$schema>(),
            run: $crate::Run::Answer(|$cx, fields| {
                Box::pin(async move {
                    let $value: $input = $crate::parse(fields)?;
                    let outcome: $outcome = $body.await?;
                    Ok(Box::new(outcome) as $crate::Answer)
                })
            }),
        }
    };
}
use op;
