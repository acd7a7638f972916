//! What a planning turn of the agent proposes, and its application: exactly that, or nothing.

use std::sync::Arc;

use agent::Note;
use async_recursion::async_recursion as boxed;
use builtins::Builtins;
use persona::{AnyEntity, Kind, Name, Scope};
use schemars::JsonSchema;
use scopes::{Proposal, Write};
use serde::Serialize;
use serde_json::{Map, Value};
use store::Action;
use uuid::Uuid;

use super::journal::{Change, EditingEvent, Knowledge, OpenProposal, ProposedEntity};
use super::run::EditingRun;
use crate::change::check_revision;
use crate::diff::changes_between;
use crate::documents::toml_of;
use crate::entities::parse;
use crate::inputs::{ApplyProposal, ByPersonaId};
use crate::outputs::{FieldChange, ScopedEntityRef};
use crate::{Author, Error, Library, Result, Runtime, SessionError};

/// The proposal of the last planning turn.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposalAnswer {
    /// Null if nothing is proposed, or if it was applied.
    pub proposal: Option<EditorProposal>,
}

/// Changes that the agent proposes and that the user may apply.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct EditorProposal {
    pub id: Uuid,
    /// The message that the agent answered with it.
    pub message: String,
    pub changes: Vec<ProposedDefinition>,
}

/// A definition as it is and as it is proposed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ProposedDefinition {
    pub scope: Scope,
    pub kind: Kind,
    pub name: Name,
    /// The revision that it is based on; 0 if its scope does not have the entity.
    pub if_revision: i64,
    /// True while that is the present revision. Otherwise the proposal cannot be applied.
    pub is_current: bool,
    /// Absent for a new entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Map<String, Value>>,
    /// Absent for an entity that is to be deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Map<String, Value>>,
    /// The fields that differ.
    pub fields: Vec<FieldChange>,
    /// Both sides as TOML, to compare line by line; empty where there is none.
    pub before_toml: String,
    pub after_toml: String,
}

/// A proposal that was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedProposal {
    pub id: Uuid,
    pub applied: Vec<AppliedChange>,
}

/// An entity that a proposal changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct AppliedChange {
    #[serde(flatten)]
    pub entity: ScopedEntityRef,
    /// Its revision now.
    pub revision: i64,
    /// True if it was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// A proposed definition that has been read.
struct Definition {
    of: ProposedEntity,
    before: Option<AnyEntity>,
    after: Option<AnyEntity>,
}

impl Definition {
    fn read(of: ProposedEntity) -> Result<Self> {
        let read = |fields: &Option<Map<String, Value>>| {
            fields.clone().map(|fields| parse(of.kind, of.name.as_str(), fields)).transpose()
        };
        let (before, after) = (read(&of.before)?, read(&of.after)?);
        Ok(Self { of, before, after })
    }

    /// The definition as people see it. `actual` is the present revision.
    fn shown(self, actual: i64) -> Result<ProposedDefinition> {
        let toml = |of: &Option<AnyEntity>| match of {
            Some(entity) => toml_of(std::slice::from_ref(entity)),
            None => Ok(String::new()),
        };
        let fields = changes_between(self.before.as_ref(), self.after.as_ref());
        let (before_toml, after_toml) = (toml(&self.before)?, toml(&self.after)?);
        let ProposedEntity { kind, name, scope, if_revision, before, after } = self.of;
        let is_current = actual == if_revision;
        Ok(ProposedDefinition {
            scope,
            kind,
            name,
            if_revision,
            is_current,
            before,
            after,
            fields,
            before_toml,
            after_toml,
        })
    }
}

impl Runtime {
    /// What the last planning turn of the editing agent proposes.
    #[boxed]
    pub async fn editor_proposal(&self, input: &ByPersonaId) -> Result<ProposalAnswer> {
        let scope = self.library().resolved(Kind::Persona, &input.persona_id).await?;
        let Some(session) = self.editing_session(scope, &input.persona_id).await? else {
            return Ok(ProposalAnswer { proposal: None });
        };
        let open = Knowledge::of(self.notes(session.id).await?).into_proposal();
        let Some(OpenProposal { id, message, changes }) = open else {
            return Ok(ProposalAnswer { proposal: None });
        };
        let mut shown = Vec::with_capacity(changes.len());
        for change in changes {
            let stored = self.library().scopes.get_any(change.kind, &change.name, Some(change.scope)).await?;
            let actual = stored.map_or(0, |stored| stored.meta.revision);
            shown.push(Definition::read(change)?.shown(actual)?);
        }
        Ok(ProposalAnswer { proposal: Some(EditorProposal { id, message, changes: shown }) })
    }

    /// Applies a proposal of the editing agent: exactly that, or nothing if an entity was changed since.
    /// Fails while the agent is at work.
    #[boxed]
    pub async fn apply_editor_proposal(
        &self,
        author: &Author,
        input: &ApplyProposal,
    ) -> Result<AppliedProposal> {
        let ApplyProposal { persona_id: name, proposal_id: id } = input;
        let scope = self.library().resolved(Kind::Persona, name).await?;
        let missing = || SessionError::NoProposal { persona: name.clone(), proposal: *id };
        let session = self.editing_session(scope, name).await?.ok_or_else(missing)?;
        self.check_idle(session.id).await?;
        let open = Knowledge::of(self.notes(session.id).await?).into_proposal();
        let open = open.filter(|open| id.is_none_or(|id| open.id == id)).ok_or_else(missing)?;
        let id = open.id;
        let definitions: Result<Vec<Definition>> = open.changes.into_iter().map(Definition::read).collect();
        let definitions = in_order(definitions?);
        let run =
            EditingRun::new(self.clone(), session.id, name.clone(), Some(author.clone()), &open.message);
        // First without writing: either every scope takes its part, or none does.
        let trial = self.library().proposing(Arc::new(Proposal::default()));
        trial.put_definitions(&run, &definitions).await?;
        let written = self.library().put_definitions(&run, &definitions).await?;
        let mut changes = Vec::with_capacity(written.len());
        for change in written {
            // The revision of a deletion is in the history alone.
            changes.push(match change.deleted {
                true => run.deletion(&change).await?,
                false => change,
            });
        }
        let applied = changes.iter().map(|change| AppliedChange {
            entity: ScopedEntityRef { scope: change.scope, kind: change.kind, name: change.name.clone() },
            revision: change.after,
            deleted: change.deleted,
        });
        let applied = AppliedProposal { id, applied: applied.collect() };
        let event = EditingEvent::ProposalApplied { proposal: id, changes }.to_json();
        self.add_note(session.id, Note::ToolEvent { tool_use_id: String::new(), event }).await?;
        Ok(applied)
    }
}

/// Every reference has its target at each step: pieces come before what refers to them, and go after it.
fn in_order(mut definitions: Vec<Definition>) -> Vec<Definition> {
    definitions.sort_by_key(|it| scopes::reference_order(it.of.kind, it.after.is_none()));
    definitions
}

impl Library {
    /// The same library, whose changes join a proposal.
    pub(super) fn proposing(&self, proposal: Arc<Proposal>) -> Self {
        Self { scopes: self.scopes.proposing(proposal), ..self.clone() }
    }

    /// Stores proposed definitions, in one write for each scope, weakest first. Fails if one was changed
    /// since.
    async fn put_definitions(&self, run: &EditingRun, definitions: &[Definition]) -> Result<Vec<Change>> {
        let mut changes = Vec::with_capacity(definitions.len());
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            let here: Vec<&Definition> = definitions.iter().filter(|it| it.of.scope == scope).collect();
            if here.is_empty() {
                continue;
            }
            let attribution = run.author.because(Some(run.reason.clone()))?;
            let mut write = self.scopes.write(scope, attribution).await?;
            for definition in here {
                changes.extend(self.put_definition(&mut write, definition).await?);
            }
            write.commit().await?;
        }
        Ok(changes)
    }

    async fn put_definition(&self, write: &mut Write, definition: &Definition) -> Result<Option<Change>> {
        let Definition { of: ProposedEntity { kind, name, scope, if_revision, .. }, after, .. } = definition;
        let held = write.find_any(*kind, name).await?;
        let actual = held.as_ref().map_or(0, |held| held.stored.meta.revision);
        check_revision(*kind, name, Some(*if_revision), actual)?;
        let before = (actual != 0).then_some(actual);
        let change = |after, deleted, copied| Change {
            kind: *kind,
            name: name.clone(),
            scope: *scope,
            before,
            after,
            deleted,
            copied,
        };
        match (after, held) {
            (Some(entity), held) => {
                let is_copy = held.is_none() && Builtins::get().find(*kind, name).is_some();
                let mut copied = Vec::new();
                let written = self.put_any(write, entity, Action::Create, None, &mut copied).await?;
                if is_copy && *kind == Kind::Persona {
                    self.carry_state(write, name).await?;
                }
                Ok(written.changed.then(|| change(written.revision, false, is_copy)))
            }
            (None, Some(held)) => {
                let users = write.users(&held).await?;
                if !users.is_empty() {
                    let users = users.iter().map(|(kind, user)| format!("{} {user}", kind.spoken()));
                    let users: Vec<String> = users.collect();
                    return Err(Error::InUse { kind: *kind, name: name.clone(), users: users.into() });
                }
                write.remove(&held).await?;
                Ok(Some(change(actual + 1, true, false)))
            }
            (None, None) => Ok(None),
        }
    }
}
