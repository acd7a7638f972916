//! A tool of the editing agent: what it returns, and how it fails.

use agent::limits::TOOL_OUTPUT_BYTES;
use futures::future::BoxFuture;
use persona::{AsReport as _, Code, Kind, Name, Report};
use serde::Serialize;
use tools::Outcome;

use super::journal::{Change, EditingEvent};
use super::run::EditingRun;
use crate::ErrorKind;

/// The result of a tool.
#[derive(Debug, Default)]
pub(super) struct ToolOutput {
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) events: Vec<EditingEvent>,
}

/// The event of changes.
pub(super) fn changed(changes: Vec<Change>) -> EditingEvent {
    EditingEvent::EntitiesChanged { changes }
}

impl ToolOutput {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(super) fn json(value: &impl Serialize) -> Self {
        // The outputs of tools have string keys only, so they serialize.
        Self::text(serde_json::to_string(value).unwrap_or_default())
    }

    #[must_use]
    pub(super) fn with(mut self, event: EditingEvent) -> Self {
        self.events.push(event);
        self
    }

    /// Fails if a model would see only a part of it: it would write back that part alone.
    pub(super) fn whole(self, kind: Kind, name: &Name) -> Result<Self, EditError> {
        match self.text.len() > TOOL_OUTPUT_BYTES {
            true => Err(EditError::TooLong { kind, name: name.clone() }),
            false => Ok(self),
        }
    }
}

pub(super) type ToolResult = Result<ToolOutput, EditError>;

/// The error of a tool. The model reads it and tries something else.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    #[error("{} {name} is not linked to persona {persona}; nothing was done", kind.spoken())]
    NotLinked { kind: Kind, name: Name, persona: Name },
    #[error("you have not read {} {name} yet; read it with {tool}, then repeat the change", kind.spoken())]
    NotRead { kind: Kind, name: Name, tool: &'static str },
    #[error("{field} is empty, and nothing was changed; send the whole text")]
    Blank { field: &'static str },
    #[error("{} {name} is too long for this chat; the user can edit it by hand", kind.spoken())]
    TooLong { kind: Kind, name: Name },
    #[error("the test inputs are too long to list together; read each with get_test_input: {}", joined(ids))]
    LongList { ids: Vec<Name> },
    #[error("{kind} is not a kind that this tool saves")]
    OtherKind { kind: Kind },
    #[error("{} {name} exists already, and persona {persona} does not use it; choose another name", kind.spoken())]
    Foreign { kind: Kind, name: Name, persona: Name },
    #[error("there is nothing to undo in this conversation")]
    NothingToUndo,
    #[error(transparent)]
    Library(#[from] crate::Error),
    /// The refusal of an operation.
    #[error("{}", .0.message)]
    Refused(Box<Report>),
}

fn joined(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

impl EditError {
    fn report(&self) -> Option<Report> {
        match self {
            Self::Library(error) => Some(error.report()),
            Self::Refused(report) => Some((**report).clone()),
            _ => None,
        }
    }

    /// The error as the model reads it.
    pub(super) fn output(&self) -> ToolOutput {
        let failed = |text| ToolOutput { is_error: true, ..ToolOutput::text(text) };
        let Some(report) = self.report() else { return failed(self.to_string()) };
        if report.kind == ErrorKind::Broken {
            tracing::error!(error = %report.message, "a tool of the editor failed");
        }
        let sentence = report.plain_sentence();
        failed(match report.code {
            Code::StaleRevision => {
                format!("{sentence}, then repeat your change: it was changed after you read it")
            }
            _ => sentence,
        })
    }
}

/// A finished tool, as the run records it.
pub(super) fn outcome(output: ToolOutput) -> Outcome {
    let ToolOutput { text, is_error, events } = output;
    let events = events.iter().map(EditingEvent::to_json).collect();
    Outcome { is_error, events, ..Outcome::text(text) }
}

/// The function behind a tool of the editor itself.
pub(super) type ToolFn = for<'a> fn(&'a EditingRun, Input) -> BoxFuture<'a, ToolResult>;

/// The input of a tool of the editor: texts by name. The schema has checked them.
#[derive(Debug)]
pub(super) struct Input(pub(super) serde_json::Map<String, serde_json::Value>);

impl Input {
    /// A text that says something.
    pub(super) fn text(&mut self, field: &'static str) -> Result<String, EditError> {
        let text = self.take(field);
        if text.trim().is_empty() { Err(EditError::Blank { field }) } else { Ok(text) }
    }

    fn take(&mut self, field: &str) -> String {
        match self.0.remove(field) {
            Some(serde_json::Value::String(text)) => text,
            _ => String::new(),
        }
    }

    /// A name. One that no entity can have is unknown.
    pub(super) fn name(&mut self, field: &'static str) -> Result<Name, EditError> {
        let text = self.take(field);
        Name::parse(&text).map_err(|error| EditError::Refused(Box::new(error.report())))
    }

    pub(super) fn kind(&mut self, field: &'static str) -> Result<Kind, EditError> {
        let kind: Result<Kind, persona::ParseKindError> = self.take(field).parse();
        kind.map_err(|error| EditError::Refused(Box::new(error.report())))
    }
}
