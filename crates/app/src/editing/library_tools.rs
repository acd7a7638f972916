//! Operations of the library as tools of the editing agent. The crate above hands them in.
//!
//! The editor fills in whatever bounds a call to the edited persona: its name, the scope, the revision that the
//! change is based on, and the reason. The model sees the other fields.

use std::fmt;
use std::sync::Arc;

use agent::{Annotations, Tool};
use fidelity::TestReport;
use futures::future::BoxFuture;
use llm::Schema;
use persona::{Kind, Name, Report, Scope};
use serde::Deserialize;
use serde_json::{Map, Value};
use tools::{Handler, Invocation, Outcome, Registered};

use super::journal::{EditingEvent, Seen};
use super::piece::Reading;
use super::run::{EditingRun, PersonaReading, check_linked};
use super::seed_tools::{SET, WRITES};
use super::test_summary;
use super::tool::{EditError, Input, ToolOutput, ToolResult, changed, outcome};
use crate::outputs::{EntityRef, WriteAction, Written};
use crate::{Author, Library, Runtime};

/// An operation that the editing agent may call.
#[derive(Debug, Clone)]
pub struct LibraryTool {
    pub name: &'static str,
    pub description: &'static str,
    /// The input without the fields that the editor fills in.
    pub input_schema: Value,
    /// The fields among `scope`, `message` and `if_revision` that the operation takes.
    pub fills: Vec<&'static str>,
    pub reach: Reach,
    pub operation: Arc<dyn LibraryOperation>,
}

/// The entities that a call may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: it reads.
    Read,
    /// Nothing: it reads the definition of the entity that `kind` and `name` name. A change may be based on
    /// that.
    ReadEntity,
    /// Nothing: it tests the edited persona, whose name fills this field.
    Test(&'static str),
    /// Fields of the edited persona, whose name fills this field. The agent must have read them.
    Persona(&'static str),
    /// A link of the edited persona, whose name fills this field.
    PersonaLink(&'static str),
    /// A new piece, in the persona's scope.
    NewPiece,
    /// A piece of this kind that the persona links, in the field `name`.
    Piece(Kind),
    /// The same, or a new one, of the kind in the field `kind`.
    PieceOrNew(&'static [Kind]),
}

/// Runs an operation for the editing agent.
pub trait LibraryOperation: fmt::Debug + Send + Sync {
    fn call<'a>(
        &'a self,
        caller: Caller<'a>,
        fields: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Value, Box<Report>>>;
}

/// The caller of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    pub runtime: &'a Runtime,
    /// The library, or one whose changes are only proposed.
    pub library: &'a Library,
    pub author: &'a Author,
}

/// The tools of one run.
pub(super) fn tools(run: &Arc<EditingRun>, tools: &[LibraryTool]) -> Vec<Registered> {
    let registered = |tool: &LibraryTool| {
        let described = Tool {
            name: tool.name.to_owned(),
            set: SET,
            description: tool.description.to_owned(),
            input_schema: Schema::new(tool.input_schema.clone()),
            annotations: match tool.reach {
                Reach::Read | Reach::ReadEntity | Reach::Test(_) => Annotations::READ_ONLY,
                _ => WRITES,
            },
        };
        let handler = OperationTool { run: Arc::clone(run), tool: tool.clone() };
        Registered::new(described, Arc::new(handler))
    };
    tools.iter().map(registered).collect()
}

#[derive(Debug)]
struct OperationTool {
    run: Arc<EditingRun>,
    tool: LibraryTool,
}

impl Handler for OperationTool {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        let performed = Box::pin(self.perform(invocation.call.input));
        Box::pin(async {
            outcome(match self.tool.reach {
                // Their results do not depend on the tools before them.
                Reach::Read | Reach::Test(_) => performed.await.unwrap_or_else(|error| error.output()),
                _ => self.run.complete(performed).await,
            })
        })
    }
}

/// The fields that a call is bound by.
struct Bounds {
    scope: Option<Scope>,
    if_revision: Option<i64>,
}

impl OperationTool {
    async fn perform(&self, fields: Map<String, Value>) -> ToolResult {
        match self.tool.reach {
            Reach::Read => Ok(output(&self.call(fields).await?)),
            Reach::ReadEntity => self.read(fields).await,
            Reach::Test(field) => self.test(field, fields).await,
            Reach::Persona(field) => {
                let base = self.run.read_revision(PersonaReading::Whole).await?;
                self.change_persona(field, fields, base).await
            }
            Reach::PersonaLink(field) => {
                let base = self.run.base_revision().await?;
                self.change_persona(field, fields, base).await
            }
            Reach::NewPiece => self.create(fields).await,
            Reach::Piece(kind) => {
                let name = Input(fields.clone()).name("name")?;
                self.change_piece(kind, &name, fields).await
            }
            Reach::PieceOrNew(kinds) => self.save(kinds, fields).await,
        }
    }

    async fn call(&self, fields: Map<String, Value>) -> Result<Value, EditError> {
        let EditingRun { runtime, author, .. } = &*self.run;
        let caller = Caller { runtime, library: self.run.library(), author };
        self.tool.operation.call(caller, fields).await.map_err(EditError::Refused)
    }

    /// Calls the operation with the fields that bound it, as far as it takes them.
    async fn call_bound(&self, mut fields: Map<String, Value>, bounds: Bounds) -> Result<Value, EditError> {
        let Bounds { scope, if_revision } = bounds;
        let filled = [
            ("scope", scope.map(|scope| scope.as_str().into())),
            ("if_revision", if_revision.map(Value::from)),
            ("message", self.run.message().map(Value::from)),
        ];
        for (field, value) in filled {
            // No call of a model reaches beyond its bounds.
            fields.remove(field);
            if let Some(value) = value.filter(|_| self.tool.fills.contains(&field)) {
                fields.insert(field.to_owned(), value);
            }
        }
        self.call(fields).await
    }

    async fn read(&self, fields: Map<String, Value>) -> ToolResult {
        let answer = self.call(fields.clone()).await?;
        let read: Option<Read> = serde_json::from_value(answer.clone()).ok();
        let kind = fields.get("kind").and_then(|kind| serde_json::from_value(kind.clone()).ok());
        let (Some(Read { name, scope, revision }), Some(kind)) = (read, kind) else {
            return Ok(output(&answer));
        };
        let read = output(&answer).whole(kind, &name)?;
        let entities = vec![Seen { kind, name, scope, revision, partly: false }];
        Ok(read.with(EditingEvent::EntitiesRead { entities }))
    }

    /// Tests the persona as it is stored, within bounds.
    async fn test(&self, field: &'static str, fields: Map<String, Value>) -> ToolResult {
        let mut fields = test_summary::bounded(fields);
        fields.insert(field.to_owned(), self.run.persona.as_str().into());
        let answer = self.call_bound(fields, Bounds { scope: None, if_revision: None }).await?;
        let report: TestReport = serde_json::from_value(answer).map_err(unexpected)?;
        Ok(output(&test_summary::of(&report)))
    }

    async fn change_persona(
        &self,
        field: &'static str,
        mut fields: Map<String, Value>,
        base: i64,
    ) -> ToolResult {
        fields.insert(field.to_owned(), self.run.persona.as_str().into());
        let bounds = Bounds { scope: None, if_revision: Some(base) };
        let answer = self.call_bound(fields, bounds).await?;
        self.written(&answer).await
    }

    async fn create(&self, fields: Map<String, Value>) -> ToolResult {
        let persona = self.run.persona().await?;
        let scope = Some(self.run.scope_of(&persona.meta));
        let answer = self.call_bound(fields, Bounds { scope, if_revision: None }).await?;
        self.written(&answer).await
    }

    async fn change_piece(&self, kind: Kind, name: &Name, fields: Map<String, Value>) -> ToolResult {
        let piece = self.run.piece_to_change(kind, name, Reading::Before).await?;
        let bounds = Bounds { scope: Some(piece.scope), if_revision: Some(piece.revision) };
        let answer = self.call_bound(fields, bounds).await;
        piece
            .finish(async |changes| {
                let answer = answer?;
                changes.extend(self.run.changes_of(&read_written(&answer)?).await?);
                Ok(output(&answer))
            })
            .await
    }

    /// Saves a piece that the persona uses, or one that does not exist yet.
    async fn save(&self, kinds: &[Kind], fields: Map<String, Value>) -> ToolResult {
        let mut named = Input(fields.clone());
        let name = named.name("name")?;
        let kind = named.kind("kind")?;
        if !kinds.contains(&kind) {
            return Err(EditError::OtherKind { kind });
        }
        let persona = self.run.persona().await?;
        if check_linked(&persona.entity, kind, &name).is_ok() {
            return self.change_piece(kind, &name, fields).await;
        }
        if !self.run.library().scopes.scopes_of(kind, &name).await.map_err(crate::Error::from)?.is_empty() {
            return Err(EditError::Foreign { kind, name, persona: persona.entity.name });
        }
        let scope = Some(self.run.scope_of(&persona.meta));
        let answer = self.call_bound(fields, Bounds { scope, if_revision: Some(0) }).await?;
        self.written(&answer).await
    }

    async fn written(&self, answer: &Value) -> ToolResult {
        let changes = self.run.changes_of(&read_written(answer)?).await?;
        Ok(match changes.is_empty() {
            true => output(answer),
            false => output(answer).with(changed(changes)),
        })
    }
}

/// The error for an answer of another shape than its operation says.
#[expect(clippy::needless_pass_by_value, reason = "a function for map_err")]
fn unexpected(error: serde_json::Error) -> EditError {
    let report = Report::new(persona::Code::Failed, format!("unexpected answer: {error}"));
    EditError::Refused(Box::new(report))
}

fn output(answer: &Value) -> ToolOutput {
    ToolOutput::text(answer.to_string())
}

/// The place and revision of a definition, as `get_entity` answers it.
#[derive(Deserialize)]
struct Read {
    name: Name,
    scope: Scope,
    revision: i64,
}

/// The answer of a write, as far as the journal needs it.
#[derive(Deserialize)]
struct WrittenAnswer {
    kind: Kind,
    name: Name,
    scope: Scope,
    revision: i64,
    action: WriteAction,
    changed: bool,
    #[serde(default)]
    created: Vec<EntityRef>,
    #[serde(default)]
    copied: Vec<EntityRef>,
}

fn read_written(answer: &Value) -> Result<Written, EditError> {
    let written: WrittenAnswer = serde_json::from_value(answer.clone()).map_err(unexpected)?;
    let WrittenAnswer { kind, name, scope, revision, action, changed, created, copied } = written;
    let unchanged = Written::unchanged(kind, name, scope, revision);
    Ok(Written { action, changed, created, copied, ..unchanged })
}
