//! The operations that are tools: listed, and called.

use std::sync::{Arc, LazyLock};

use app::{AsReport as _, ErrorKind, Tokenizer};
use operations::{
    BoxedOutcome, CallError, Context, Effect, Operation, OperationFn, ToolSelection, schema, tools,
};
use persona::{Code, Remedy, Report, TokenCounter as _, nearest};
use rmcp::model::{
    CacheScope, CallToolResult, ContentBlock, ErrorData, JsonObject, ListToolsResult, Tool, ToolAnnotations,
};
use serde_json::Value;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use crate::limits::FIXED_TTL_MS;
use crate::problems::warning;
use crate::wording;

/// Sets all four hints: clients assume the worst of a missing one.
fn annotations(effect: Effect) -> ToolAnnotations {
    let (read_only, destructive, idempotent) = match effect {
        Effect::Read => (true, false, true),
        Effect::Derive | Effect::Add => (false, false, true),
        Effect::Create | Effect::Step => (false, false, false),
        Effect::Overwrite | Effect::Remove => (false, true, true),
    };
    ToolAnnotations::new()
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        .open_world(false)
}

/// The tools as clients see them. Made on first use: a server that only answers calls never
/// needs the schemas.
static LISTED: LazyLock<Vec<Tool>> = LazyLock::new(|| tools().map(listed).collect());

fn listed(operation: &Operation) -> Tool {
    Tool::new(operation.name, operation.summary, Arc::new(schema::input(operation.input)))
        .with_raw_output_schema(Arc::new(schema::output(operation.output)))
        .with_annotations(annotations(operation.effect))
}

/// The selected tools, all on one page.
pub(crate) fn list(selection: ToolSelection) -> ListToolsResult {
    let selected = LISTED.iter().enumerate().filter(|(place, _)| selection.has(*place));
    ListToolsResult::with_all_items(selected.map(|(_, tool)| tool.clone()).collect())
        .with_ttl_ms(FIXED_TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

/// The text of each selected tool in an agent's context: its name, and the JSON of name, description
/// and input schema.
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

/// The span of a call, as OpenTelemetry's conventions for MCP name it. `parent` is the caller's place.
fn span(tool: &str, parent: Option<&str>) -> Span {
    info_span!(
        target: "traces",
        "tools/call",
        otel.name = %format_args!("tools/call {tool}"),
        otel.kind = "server",
        otel.parent = parent,
        otel.status_code = Empty,
        mcp.method.name = "tools/call",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        "error.type" = Empty,
    )
}

/// Calls a tool. Only a name that this connection does not have is a protocol error.
pub(crate) async fn call(
    name: &str,
    arguments: JsonObject,
    selection: ToolSelection,
    context: Context<'_>,
    parent: Option<&str>,
) -> Result<CallToolResult, ErrorData> {
    let operation = operations::find(name).filter(|_| selection.contains(name));
    let Some(operation) = operation else { return Err(unknown_tool(name, selection)) };
    let OperationFn::Call(run) = operation.run else { return Err(unknown_tool(name, selection)) };
    let max_tokens = arguments.get("max_tokens").and_then(Value::as_u64);
    let span = span(operation.name, parent);
    let answered = run(&context, arguments).instrument(span.clone()).await;
    let mut result = match answered.and_then(|answer| succeeded(&answer)) {
        Ok(result) => result,
        Err(refusal) => {
            span.record("otel.status_code", "ERROR").record("error.type", "tool_error");
            refused(name, &refusal)
        }
    };
    // A warning follows the answer as text only: the structured content must match its schema.
    let warning = warning(context.library, || room(max_tokens, &result));
    result.content.extend(warning.map(ContentBlock::text));
    Ok(result)
}

/// The same answer twice: for programs, and as text for models.
fn succeeded(answer: &BoxedOutcome) -> Result<CallToolResult, CallError> {
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.json()?)]);
    result.structured_content = Some(answer.value()?);
    Ok(result)
}

/// The tokens that an answer leaves of its budget, if it has one.
fn room(max_tokens: Option<u64>, answer: &CallToolResult) -> Option<usize> {
    let most = usize::try_from(max_tokens?).unwrap_or(usize::MAX);
    let texts = answer.content.iter().filter_map(ContentBlock::as_text);
    Some(most.saturating_sub(texts.map(|text| Tokenizer.count(&text.text)).sum()))
}

fn refused(name: &str, refusal: &CallError) -> CallToolResult {
    match refusal {
        CallError::Library(error) if error.kind() == ErrorKind::Broken => {
            tracing::error!(tool = name, %error, "a tool failed");
        }
        CallError::Json(error) => tracing::error!(tool = name, %error, "a tool failed"),
        CallError::Input(_) | CallError::NoSessions | CallError::Library(_) => {}
    }
    let report = refusal.report();
    let text = format!("{name}: {}", report.sentence(wording::remedy));
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.meta = Some(wording::meta(&report));
    result
}

fn unknown_tool(name: &str, selection: ToolSelection) -> ErrorData {
    let shown: String = name.chars().take(80).collect();
    let near = nearest(name, selection.names());
    let report = if tools().any(|tool| tool.name == name) {
        let report =
            Report::new(Code::UnknownWord, format!("this connection does not have the tool {shown}"));
        report.with_remedy(Remedy::WriteAs { example: "tools=all for every tool".to_owned() })
    } else if near.is_empty() {
        let report = Report::new(Code::UnknownWord, format!("unknown tool {shown:?}"));
        report.with_remedy(Remedy::UseOneOf { words: vec!["a tool of tools/list".to_owned()] })
    } else {
        let candidates = near.iter().map(|tool| (*tool).to_owned()).collect();
        let report = Report::new(Code::UnknownWord, format!("unknown tool {shown:?}"));
        report.with_candidates(candidates).with_remedy(Remedy::DidYouMean)
    };
    wording::invalid_params(&report)
}

#[cfg(test)]
mod tests;
