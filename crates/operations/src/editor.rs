//! The operations that the editing agent may call, as tools: one row for each.

use std::sync::Arc;

use app::editing::{Caller, LibraryOperation, LibraryTool, Reach};
use app::{AsReport as _, Report};
use futures::future::BoxFuture;
use persona::Kind;
use serde_json::{Map, Value};

use crate::{Context, Front, OperationFn, RunCall, find, schema};

/// A tool of the editing agent.
struct Row {
    tool: &'static str,
    operation: &'static str,
    reach: Reach,
    /// Fields that the agent does not get, besides those that the editor fills in.
    hidden: &'static [&'static str],
}

const fn row(
    tool: &'static str,
    operation: &'static str,
    reach: Reach,
    hidden: &'static [&'static str],
) -> Row {
    Row { tool, operation, reach, hidden }
}

/// A tool with the name of its operation.
const fn same(operation: &'static str, reach: Reach, hidden: &'static [&'static str]) -> Row {
    row(operation, operation, reach, hidden)
}

/// The fields that bound a call. The editor fills them in.
const FILLED: &[&str] = &["scope", "message", "if_revision"];

/// A piece keeps its name: other personas may link it.
const RENAMING: &[&str] = &["new_name"];

/// The fields of a persona that have tools of their own.
const OF_OTHER_TOOLS: &[&str] =
    &["new_name", "display_name", "system_prompt", "test_inputs", "remove_test_inputs"];

const PRESETS: &[Kind] = &[Kind::ToolPreset, Kind::BiasProfile, Kind::ContextPreset];

const OF_PERSONA: Reach = Reach::PersonaLink("persona");

/// The fields of a test that the agent gets. Models, prices and old versions are the user's choice.
const OF_TEST: &[&str] = &["inputs", "samples", "max_calls"];

/// The rows.
const ROWS: &[Row] = &[
    row("list_personas", "list_agent_personas", Reach::Read, &[]),
    row("inspect_persona", "get_agent_persona", Reach::Read, &["overrides", "revision", "types", "limit"]),
    same("list_library", Reach::Read, &[]),
    same("search_library", Reach::Read, &[]),
    same("get_entity", Reach::ReadEntity, &["revision"]),
    same("list_models", Reach::Read, &[]),
    same("update_agent_persona", Reach::Persona("name"), OF_OTHER_TOOLS),
    same("create_agent_part", Reach::NewPiece, &[]),
    same("update_agent_part", Reach::Piece(Kind::Part), RENAMING),
    same("add_persona_part", OF_PERSONA, &[]),
    same("remove_persona_part", OF_PERSONA, &[]),
    same("create_agent_trait", Reach::NewPiece, &[]),
    same("update_agent_trait", Reach::Piece(Kind::Trait), RENAMING),
    same("add_persona_trait", OF_PERSONA, &[]),
    same("remove_persona_trait", OF_PERSONA, &[]),
    same("create_agent_skill", Reach::NewPiece, &[]),
    same("update_agent_skill", Reach::Piece(Kind::Skill), RENAMING),
    same("add_persona_skill", OF_PERSONA, &[]),
    same("remove_persona_skill", OF_PERSONA, &[]),
    same("create_agent_guardrail", Reach::NewPiece, &[]),
    same("update_agent_guardrail", Reach::Piece(Kind::Guardrail), RENAMING),
    same("add_persona_guardrail", OF_PERSONA, &[]),
    same("remove_persona_guardrail", OF_PERSONA, &[]),
    same("save_entity", Reach::PieceOrNew(PRESETS), &[]),
    row("run_tests", "test_persona", Reach::Test("persona"), &[]),
];

/// The operations of the editing agent, for the runtime.
pub fn library_tools() -> Vec<LibraryTool> {
    ROWS.iter().filter_map(tool).collect()
}

fn tool(row: &Row) -> Option<LibraryTool> {
    let operation = find(row.operation)?;
    let OperationFn::Call(run) = operation.run else { return None };
    let mut input = schema::input(operation.input);
    let takes = |field: &&&str| input.get("properties").and_then(|all| all.get(**field)).is_some();
    let fills: Vec<&'static str> = FILLED.iter().filter(takes).copied().collect();
    let pinned = match row.reach {
        Reach::Persona(field) | Reach::PersonaLink(field) | Reach::Test(field) => Some(field),
        _ => None,
    };
    let is_hidden = |field: &str| match row.reach {
        Reach::Test(_) => !OF_TEST.contains(&field),
        _ => FILLED.contains(&field) || row.hidden.contains(&field) || pinned == Some(field),
    };
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties.retain(|field, _| !is_hidden(field));
    }
    if let Some(Value::Array(required)) = input.get_mut("required") {
        required.retain(|field| field.as_str().is_none_or(|field| !is_hidden(field)));
    }
    Some(LibraryTool {
        name: row.tool,
        description: operation.summary,
        input_schema: Value::Object(input),
        fills,
        reach: row.reach,
        operation: Arc::new(AsTool(run)),
    })
}

/// An operation as the editing agent calls it.
#[derive(Debug)]
struct AsTool(RunCall);

impl LibraryOperation for AsTool {
    fn call<'a>(
        &'a self,
        caller: Caller<'a>,
        fields: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Value, Box<Report>>> {
        Box::pin(async move {
            let author = || caller.author.clone();
            let context = Context {
                library: caller.library,
                runtime: Some(caller.runtime),
                author: &author,
                front: Front::Http,
                lint: None,
            };
            let answer = (self.0)(&context, fields).await.map_err(|error| Box::new(error.report()))?;
            answer.value().map_err(|error| Box::new(crate::CallError::Json(error).report()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_tool() {
        let tools = library_tools();
        assert_eq!(tools.len(), ROWS.len(), "a row names an operation that is not there");
        for (row, tool) in ROWS.iter().zip(tools) {
            let operation = find(row.operation).expect("an operation");
            let known = schema::fields(&schema::input(operation.input));
            let is_known = |field: &&str| known.iter().any(|known| known.name == *field);
            assert!(row.hidden.iter().all(is_known), "{} has no such field", row.operation);
            let tests = matches!(row.reach, Reach::Test(_));
            let reads = tests || matches!(row.reach, Reach::Read | Reach::ReadEntity);
            let effect = if tests { crate::Effect::Derive } else { crate::Effect::Read };
            assert_eq!(reads, operation.effect == effect, "{}", row.tool);
            let shown = schema::fields(tool.input_schema.as_object().expect("an object"));
            assert!(shown.iter().all(|field| !FILLED.contains(&field.name.as_str())), "{}", row.tool);
            match row.reach {
                Reach::Persona(field) | Reach::PersonaLink(field) => {
                    assert!(is_known(&field) && shown.iter().all(|shown| shown.name != field));
                    assert!(tool.fills.contains(&"if_revision"), "{}", row.tool);
                }
                Reach::Piece(_) | Reach::PieceOrNew(_) => {
                    assert!(shown.iter().any(|shown| shown.name == "name"), "{}", row.tool);
                    assert!(tool.fills.contains(&"if_revision"), "{}", row.tool);
                }
                Reach::Test(field) => {
                    assert!(is_known(&field) && OF_TEST.iter().all(is_known), "{}", row.tool);
                    let shown: Vec<&str> = shown.iter().map(|shown| shown.name.as_str()).collect();
                    assert!(shown.iter().all(|field| OF_TEST.contains(field)), "{shown:?}");
                    assert_eq!(shown.len(), OF_TEST.len(), "{shown:?}");
                }
                Reach::Read | Reach::ReadEntity | Reach::NewPiece => {}
            }
            assert!(reads || tool.fills.contains(&"message"), "{} has no reason", row.tool);
        }
    }
}
