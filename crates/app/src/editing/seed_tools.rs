//! The editor's own tools: one row for each.

use std::sync::{Arc, LazyLock};

use agent::{Annotations, Tool};
use futures::future::BoxFuture;
use llm::Schema;
use persona::{AnyEntity, Kind, Name, Scope, Stored};
use serde_json::{Map, Value, json};
use tools::{Handler, Invocation, Outcome, Registered};

use super::journal::{Change, EditingEvent};
use super::piece::Reading;
use super::run::{EditingRun, PersonaReading, check_linked, read_event};
use super::tool::{EditError, Input, ToolFn, ToolOutput, ToolResult, changed, outcome};
use crate::change::Terms;
use crate::inputs::AmendEntity;
use crate::outputs::Written;

/// The set of all tools of the editor.
pub(super) const SET: &str = "editor";

pub(super) const WRITES: Annotations = Annotations {
    read_only_hint: false,
    destructive_hint: true,
    idempotent_hint: false,
    open_world_hint: false,
    is_claimed: false,
};

struct Row {
    name: &'static str,
    description: &'static str,
    annotations: Annotations,
    /// The texts that it takes, each with its description. All are required.
    input: &'static [(&'static str, &'static str)],
    run: ToolFn,
}

macro_rules! rows {
    ($($annotations:expr, $name:ident, $description:literal, [$($field:literal: $about:literal),*];)+) => {
        &[$(Row {
            name: stringify!($name),
            description: $description,
            annotations: $annotations,
            input: &[$(($field, $about)),*],
            run: |run, input| Box::pin($name(run, input)),
        }),+]
    };
}

const UNDO: &str = "undo";

const READS: Annotations = Annotations::READ_ONLY;
const ROWS: &[Row] = rows! {
    READS, get_persona, "Returns the current persona data: name, system prompt, test input ids.", [];
    WRITES, update_persona_name, "Changes the persona's display name.",
        ["name": "The new display name."];
    WRITES, update_system_prompt, "Replaces the entire system prompt. Call get_persona first.",
        ["systemPrompt": "The whole new system prompt."];
    READS, list_test_inputs, "Returns all test inputs linked to this persona.", [];
    READS, get_test_input, "Gets a specific test input by id.", ["id": "The id of the test input."];
    WRITES, create_test_input, "Creates a new test input and links it to the persona.",
        ["content": "The text that the persona receives."];
    WRITES, update_test_input, "Updates an existing test input's content. Read it first.",
        ["id": "The id of the test input.", "content": "The whole new text."];
    WRITES, delete_test_input, "Deletes a test input and removes it from the persona's list.",
        ["id": "The id of the test input."];
    WRITES, undo, "Takes back everything that your last turn with changes did. Use it when the user wants that.", [];
};

impl Row {
    fn tool(&self) -> Tool {
        let text = |about: &str| json!({ "type": "string", "minLength": 1, "description": about });
        let properties: Map<String, Value> =
            self.input.iter().map(|(field, about)| ((*field).to_owned(), text(about))).collect();
        let required: Vec<&str> = self.input.iter().map(|(field, _)| *field).collect();
        Tool {
            name: self.name.to_owned(),
            set: SET,
            description: self.description.to_owned(),
            input_schema: Schema::new(json!({
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": false,
            })),
            annotations: self.annotations,
        }
    }
}

/// The tools of one run.
pub(super) fn tools(run: &Arc<EditingRun>) -> Vec<Registered> {
    static TOOLS: LazyLock<Vec<(&'static Row, Arc<Tool>)>> =
        LazyLock::new(|| ROWS.iter().map(|row| (row, Arc::new(row.tool()))).collect());
    let registered = |(row, tool): &(&'static Row, Arc<Tool>)| {
        let handler = OwnTool { run: Arc::clone(run), call: row.run };
        Registered::new(Arc::clone(tool), Arc::new(handler))
    };
    // Nothing has happened that a planning turn could take back.
    let is_offered = |(row, _): &&(&Row, Arc<Tool>)| !(run.is_planning() && row.name == UNDO);
    TOOLS.iter().filter(is_offered).map(registered).collect()
}

#[derive(Debug)]
struct OwnTool {
    run: Arc<EditingRun>,
    call: ToolFn,
}

impl Handler for OwnTool {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        let called = (self.call)(&self.run, Input(invocation.call.input));
        Box::pin(async { outcome(self.run.complete(called).await) })
    }
}

async fn get_persona(run: &EditingRun, _: Input) -> ToolResult {
    let stored = run.persona().await?;
    let persona = &stored.entity;
    let output = ToolOutput::json(&json!({
        "name": persona.display_name.as_deref().unwrap_or(persona.name.as_str()),
        "systemPrompt": persona.system_prompt.as_deref().unwrap_or_default(),
        "testInputIds": persona.test_inputs,
    }));
    let output = output.whole(Kind::Persona, &run.persona)?;
    Ok(output.with(read_event(Kind::Persona, &run.persona, &stored)))
}

async fn update_persona_name(run: &EditingRun, mut input: Input) -> ToolResult {
    let name = input.text("name")?;
    let base = run.base_revision().await?;
    let changes = amend_persona(run, "display_name", &name, base).await?;
    Ok(ToolOutput::text(format!("The persona's name is {name:?} now.")).with(changed(changes)))
}

async fn update_system_prompt(run: &EditingRun, mut input: Input) -> ToolResult {
    // A prompt that is too long to be read must not be replaced unseen.
    get_persona(run, Input(Map::new())).await?;
    let prompt = input.text("systemPrompt")?;
    let base = run.read_revision(PersonaReading::Main).await?;
    let changes = amend_persona(run, "system_prompt", &prompt, base).await?;
    Ok(ToolOutput::text("The system prompt was replaced.").with(changed(changes)))
}

/// Changes one field of the persona as it was at `base`.
async fn amend_persona(
    run: &EditingRun,
    field: &str,
    text: &str,
    base: i64,
) -> Result<Vec<Change>, EditError> {
    let fields = Map::from_iter([(field.to_owned(), text.into())]);
    let amended = amend(run, Kind::Persona, run.persona.clone(), fields, Some(base), None).await?;
    Ok(run.changes_of(&amended).await?)
}

async fn amend(
    run: &EditingRun,
    kind: Kind,
    name: Name,
    entity: Map<String, Value>,
    if_revision: Option<i64>,
    scope: Option<Scope>,
) -> Result<Written, EditError> {
    let input = AmendEntity { kind, name, entity, if_revision, message: run.message(), scope };
    Ok(run.library().amend_entity(&run.author, input).await?)
}

/// A test input that the persona links, as the persona means it.
async fn linked_input(run: &EditingRun, id: &Name) -> Result<Stored<AnyEntity>, EditError> {
    let persona = run.persona().await?;
    check_linked(&persona.entity, Kind::TestInput, id)?;
    Ok(run.library().meant_piece(persona.meta.scope, Kind::TestInput, id).await?)
}

fn shown(stored: &Stored<AnyEntity>) -> Value {
    let content = match &stored.entity {
        AnyEntity::TestInput(input) => input.content.as_deref().unwrap_or_default(),
        _ => "",
    };
    json!({ "id": stored.entity.name(), "content": content })
}

async fn list_test_inputs(run: &EditingRun, _: Input) -> ToolResult {
    let persona = run.persona().await?;
    let (mut listed, mut output) = (Vec::new(), ToolOutput::default());
    for id in &persona.entity.test_inputs {
        let stored = run.library().meant_piece(persona.meta.scope, Kind::TestInput, id).await?;
        listed.push(shown(&stored));
        output.events.push(read_event(Kind::TestInput, id, &stored));
    }
    output.text = json!({ "testInputs": listed }).to_string();
    let ids = persona.entity.test_inputs;
    output.whole(Kind::TestInput, &run.persona).map_err(|_| EditError::LongList { ids })
}

async fn get_test_input(run: &EditingRun, mut input: Input) -> ToolResult {
    let id = input.name("id")?;
    let stored = linked_input(run, &id).await?;
    let output = ToolOutput::json(&shown(&stored)).whole(Kind::TestInput, &id)?;
    Ok(output.with(read_event(Kind::TestInput, &id, &stored)))
}

async fn create_test_input(run: &EditingRun, mut input: Input) -> ToolResult {
    let content = input.text("content")?;
    let if_revision = Some(run.base_revision().await?);
    let terms = Terms { scope: None, if_revision, message: run.message() };
    let created = run.library().create_test_input(&run.author, &run.persona, &content, terms).await;
    let (id, written) = created?;
    let output = ToolOutput::json(&json!({ "id": id, "content": content }));
    Ok(output.with(changed(run.changes_of(&written).await?)))
}

async fn update_test_input(run: &EditingRun, mut input: Input) -> ToolResult {
    let (id, content) = (input.name("id")?, input.text("content")?);
    let piece = run.piece_to_change(Kind::TestInput, &id, Reading::Before).await?;
    let fields = Map::from_iter([("content".to_owned(), content.into())]);
    let (revision, scope) = (Some(piece.revision), Some(piece.scope));
    let amended = amend(run, Kind::TestInput, id.clone(), fields, revision, scope).await;
    piece
        .finish(async |changes| {
            changes.extend(run.changes_of(&amended?).await?);
            Ok(ToolOutput::text(format!("Test input {id} was updated.")))
        })
        .await
}

async fn delete_test_input(run: &EditingRun, mut input: Input) -> ToolResult {
    let id = input.name("id")?;
    let piece = run.piece_to_change(Kind::TestInput, &id, Reading::Now).await?;
    let terms = Terms { scope: None, if_revision: Some(piece.revision), message: run.message() };
    let library = run.library();
    let deleted = library.delete_test_input(&run.author, &piece.persona, &piece.stored, terms).await;
    piece
        .finish(async |changes| {
            let (unlinked, deleted) = deleted?;
            for written in &unlinked {
                changes.extend(run.changes_of(written).await?);
            }
            let Some(deleted) = deleted else {
                let text = format!("Test input {id} is builtin: it was removed from the persona's list.");
                return Ok(ToolOutput::text(text));
            };
            changes.extend(run.changes_of_deletion(&deleted).await?);
            Ok(ToolOutput::text(format!("Test input {id} was deleted.")))
        })
        .await
}

async fn undo(run: &EditingRun, _: Input) -> ToolResult {
    let reversals = run.knowledge().await?.last_turn();
    if reversals.is_empty() {
        return Err(EditError::NothingToUndo);
    }
    let (undone, entities) = run.undoing().take_back(&run.author, &run.reason, reversals).await?;
    Ok(ToolOutput::json(&undone).with(EditingEvent::TurnUndone { entities }))
}
