//! The tools: one table in a fixed order, and what happens when one of them is called.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use app::{ErrorKind, Library};
use futures::future::BoxFuture;
use persona::nearest;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorData, JsonObject, ListToolsResult, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, model::CacheScope};
use serde::Serialize;
use serde_json::Value;

use crate::limits::FIXED_TTL_MS;
use crate::problems::warning;
use crate::selection::{ToolSelection, ToolSet};

mod arcs;
mod entities;
mod links;
mod personas;
pub(crate) use personas::hint;
mod pieces;

/// What a tool is and does.
pub(crate) struct ToolSpec {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// The smallest set that holds it.
    pub(crate) set: ToolSet,
    pub(crate) effect: Effect,
    pub(crate) input: fn() -> JsonObject,
    pub(crate) output: fn() -> JsonObject,
    pub(crate) run: Run,
}

pub(crate) type Run = for<'a> fn(&'a Call<'a>, JsonObject) -> BoxFuture<'a, Outcome>;
pub(crate) type Outcome = Result<Answer, Refusal>;

/// One call, with what it may use.
pub(crate) struct Call<'a> {
    pub(crate) library: &'a Library,
    pub(crate) context: &'a RequestContext<RoleServer>,
    pub(crate) selection: ToolSelection,
    /// For whom the client acts.
    pub(crate) user: Option<&'a str>,
}

/// The same answer twice: for programs, and as text for models.
pub(crate) struct Answer {
    pub(crate) value: Value,
    pub(crate) text: String,
}

/// Why a call did nothing. Always shown to the model, which can do better next time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{0}")]
    Arguments(String),
    #[error(transparent)]
    Library(#[from] app::Error),
    #[error("the answer could not be written as JSON: {0}")]
    Answer(#[from] serde_json::Error),
}

/// What a call does to the library, from which its annotations follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Read,
    /// Writes what can be derived again at any time.
    Derive,
    Create,
    /// Overwrites what was there.
    Overwrite,
    /// Adds what may be there already.
    Add,
    Remove,
    /// Each call goes one step further.
    Step,
}

impl Effect {
    /// All four hints, always: what a client assumes of a missing one is the worst.
    fn annotations(self) -> ToolAnnotations {
        let (read_only, destructive, idempotent) = match self {
            Self::Read => (true, false, true),
            Self::Derive | Self::Add => (false, false, true),
            Self::Create | Self::Step => (false, false, false),
            Self::Overwrite | Self::Remove => (false, true, true),
        };
        ToolAnnotations::new()
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(false)
    }
}

/// One line of the table: the input is parsed, the body's future is awaited, its outcome answered.
macro_rules! tool {
    ($name:ident, $set:ident, $effect:ident, $description:literal,
     $input:ty => $output:ty, |$call:ident, $value:ident| $body:expr) => {
        $crate::tools::ToolSpec {
            name: stringify!($name),
            description: $description,
            set: $crate::selection::ToolSet::$set,
            effect: $crate::tools::Effect::$effect,
            input: $crate::schema::input::<$input>,
            output: $crate::schema::output::<$output>,
            run: |$call, arguments| {
                Box::pin(async move {
                    let $value: $input = $crate::tools::parse(arguments)?;
                    let outcome: $output = $body.await?;
                    $crate::tools::answer(&outcome)
                })
            },
        }
    };
}
use tool;

/// Every tool, in the order in which they are listed. Additions go to the end of their group, so
/// that a client's cached list changes as little as possible.
pub(crate) static TABLE: LazyLock<Vec<&'static ToolSpec>> = LazyLock::new(|| {
    let groups = [
        personas::TOOLS,
        pieces::PARTS,
        pieces::TRAITS,
        pieces::SKILLS,
        pieces::GUARDRAILS,
        links::TOOLS,
        arcs::TOOLS,
        entities::TOOLS,
    ];
    groups.into_iter().flatten().collect()
});

static PLACES: LazyLock<HashMap<&'static str, usize>> =
    LazyLock::new(|| TABLE.iter().enumerate().map(|(place, tool)| (tool.name, place)).collect());

/// The tools as clients see them. Made on first use: a server that only answers calls never
/// needs the schemas.
static LISTED: LazyLock<Vec<Tool>> = LazyLock::new(|| TABLE.iter().map(|tool| listed(tool)).collect());

fn listed(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name, spec.description, Arc::new((spec.input)()))
        .with_raw_output_schema(Arc::new((spec.output)()))
        .with_annotations(spec.effect.annotations())
}

/// The place of a tool in the table.
pub(crate) fn place(name: &str) -> Option<usize> {
    PLACES.get(name).copied()
}

/// The selected tools, all on one page.
pub(crate) fn list(selection: ToolSelection) -> ListToolsResult {
    let selected = LISTED.iter().enumerate().filter(|(place, _)| selection.has(*place));
    ListToolsResult::with_all_items(selected.map(|(_, tool)| tool.clone()).collect())
        .with_ttl_ms(FIXED_TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

/// What an agent pays for each selected tool: its name, and the JSON of name, description and
/// input schema.
pub fn schema_text(selection: ToolSelection) -> Vec<(String, String)> {
    let text = |tool: &Tool| {
        serde_json::json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": *tool.input_schema,
        })
    };
    let selected = LISTED.iter().enumerate().filter(|(place, _)| selection.has(*place));
    selected.map(|(_, tool)| (tool.name.to_string(), text(tool).to_string())).collect()
}

/// Calls a tool. Only a name that this connection does not have is a protocol error.
pub(crate) async fn call(
    name: &str,
    arguments: JsonObject,
    call: Call<'_>,
) -> Result<CallToolResult, ErrorData> {
    let place = place(name).filter(|place| call.selection.has(*place));
    let Some(place) = place else { return Err(unknown_tool(name, call.selection)) };
    let mut result = match (TABLE[place].run)(&call, arguments).await {
        Ok(answer) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
            result.structured_content = Some(answer.value);
            result
        }
        Err(refusal) => refused(name, &refusal),
    };
    // After the answer and as text alone: programs read the structured content, which stays what
    // its schema says.
    result.content.extend(warning(call.library).map(ContentBlock::text));
    Ok(result)
}

fn refused(name: &str, refusal: &Refusal) -> CallToolResult {
    match refusal {
        Refusal::Library(error) if error.kind() == ErrorKind::Broken => {
            tracing::error!(tool = name, %error, "a tool failed");
        }
        Refusal::Answer(error) => tracing::error!(tool = name, %error, "a tool failed"),
        Refusal::Arguments(_) | Refusal::Library(_) => {}
    }
    CallToolResult::error(vec![ContentBlock::text(format!("{name}: {refusal}"))])
}

fn unknown_tool(name: &str, selection: ToolSelection) -> ErrorData {
    let shown: String = name.chars().take(80).collect();
    let message = if place(name).is_some() {
        format!("this connection does not have the tool {shown}; connect with tools=all for every tool")
    } else {
        match nearest(name, selection.names()).first() {
            Some(near) => format!("unknown tool {shown:?}; did you mean {near}?"),
            None => format!("unknown tool {shown:?}; tools/list names those that exist"),
        }
    };
    ErrorData::invalid_params(message, None)
}

/// Parses a tool's arguments.
fn parse<T: serde::de::DeserializeOwned>(arguments: JsonObject) -> Result<T, Refusal> {
    crate::arguments::parse(arguments).map_err(Refusal::Arguments)
}

/// Answers with a value of `app`.
fn answer<T: Serialize>(outcome: &T) -> Outcome {
    Ok(Answer { value: serde_json::to_value(outcome)?, text: serde_json::to_string(outcome)? })
}

#[cfg(test)]
mod tests;
