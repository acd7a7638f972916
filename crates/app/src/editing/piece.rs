//! A piece of the edited persona that is about to change.

use persona::{AnyEntity, Kind, Name, Persona, Scope, Stored};

use super::journal::{Change, EditingEvent};
use super::run::{EditingRun, check_linked};
use super::tool::{EditError, ToolOutput, ToolResult, changed};

/// When a piece has to be read before it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// By the tool itself, if the session has not read it.
    Now,
    /// By the agent: its change is based on what it saw.
    Before,
}

/// A piece that the persona links, and what its change is based on.
#[derive(Debug)]
pub(super) struct PieceToChange {
    pub(super) persona: Stored<Persona>,
    pub(super) stored: Stored<AnyEntity>,
    /// The scope of the change. A builtin is copied there.
    pub(super) scope: Scope,
    pub(super) revision: i64,
    /// The changes so far: the copy of a builtin persona.
    changes: Vec<Change>,
}

impl EditingRun {
    /// Prepares the change of a piece that the persona itself links. A builtin persona is copied first, so
    /// that it uses the changed piece.
    pub(super) async fn piece_to_change(
        &self,
        kind: Kind,
        name: &Name,
        reading: Reading,
    ) -> Result<PieceToChange, EditError> {
        let mut persona = self.persona().await?;
        check_linked(&persona.entity, kind, name)?;
        let mut knowledge = self.knowledge().await?;
        if reading == Reading::Before && knowledge.revision(kind, name).is_none() {
            let tool = if kind == Kind::TestInput { "get_test_input" } else { "get_entity" };
            return Err(EditError::NotRead { kind, name: name.clone(), tool });
        }
        let was_builtin = persona.meta.scope == Scope::Builtin;
        let changes = self.copy_builtin(&persona.meta).await?;
        if was_builtin {
            // A planning turn has the copy in its proposal.
            knowledge = self.knowledge().await?;
            knowledge.apply(&changed(changes.clone()));
            persona = self.persona().await?;
        }
        let stored = self.library().meant_piece(persona.meta.scope, kind, name).await?;
        let scope = match stored.meta.scope {
            Scope::Builtin => persona.meta.scope,
            scope => scope,
        };
        let revision = knowledge.revision(kind, name).unwrap_or(stored.meta.revision);
        Ok(PieceToChange { persona, stored, scope, revision, changes })
    }
}

impl PieceToChange {
    /// Ends the change: `record` adds what it did. The changes before a failure are recorded too.
    pub(super) async fn finish(
        self,
        record: impl AsyncFnOnce(&mut Vec<Change>) -> Result<ToolOutput, EditError>,
    ) -> ToolResult {
        let mut changes = self.changes;
        let output = record(&mut changes).await.unwrap_or_else(|error| error.output());
        Ok(match changes.is_empty() {
            true => output,
            false => output.with(EditingEvent::EntitiesChanged { changes }),
        })
    }
}
