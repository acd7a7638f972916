//! What a planning turn of the agent proposes, and its application: exactly that, or nothing.

use std::sync::Arc;

use agent::Note;
use async_recursion::async_recursion as boxed;
use builtins::Builtins;
use persona::{AnyEntity, Kind, Name, Scope};
use schemars::JsonSchema;
use scopes::{Guard, Proposal, Write};
use serde::Serialize;
use serde_json::{Map, Value};
use store::Action;
use uuid::Uuid;

use super::journal::{Change, EditingEvent, Knowledge, OpenProposal, ProposedEntity};
use super::question::{before_of, rebased};
use super::run::EditingRun;
use crate::change::check_revision;
use crate::diff::changes_between;
use crate::documents::toml_of;
use crate::entities::parse;
use crate::inputs::{ApplyProposal, ByPersonaId, DismissProposal};
use crate::outputs::{FieldChange, ScopedEntityRef};
use crate::{Author, Error, Library, Result, Runtime, SessionError};

/// The proposal of the last planning turn.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposalAnswer {
    /// Null if nothing is proposed, or if it was applied or dismissed.
    pub proposal: Option<EditorProposal>,
    /// Changes that the agent did not make because they would halve a text, oldest first. Each waits for the
    /// user to apply or to dismiss it.
    pub questions: Vec<EditorProposal>,
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
    /// True while it can be applied: that is the present revision or, for a question, its fields are as they
    /// were.
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

/// A proposal or a question that the user does not want.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DismissedProposal {
    pub id: Uuid,
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

/// Where a proposal comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A planning turn. It applies to the revisions that it is based on.
    Plan,
    /// A tool that had to ask. It applies to its fields.
    Question,
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
        // A copy of a builtin begins with that.
        let before = if of.after.is_some() { before_of(&of) } else { of.before.clone() };
        let (before, after) = (read(&before)?, read(&of.after)?);
        Ok(Self { of, before, after })
    }

    /// The same change, on top of what the entity is now. Its fields are as they were, or it stays as it is.
    async fn on_present(self, library: &Library) -> Result<Self> {
        let ProposedEntity { kind, name, scope, if_revision, .. } = &self.of;
        let Some(stored) = library.scopes.get_any(*kind, name, Some(*scope)).await? else { return Ok(self) };
        if stored.meta.revision == *if_revision {
            return Ok(self);
        }
        let Some(after) = rebased(&self.of, &stored.entity) else { return Ok(self) };
        let before = match stored.entity.to_json() {
            Value::Object(fields) => Some(fields),
            _ => None,
        };
        let if_revision = stored.meta.revision;
        Self::read(ProposedEntity { if_revision, before, after: Some(after), ..self.of })
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

impl Library {
    /// The definitions of a proposal, as far as they can be applied on top of what there is.
    async fn proposed_definitions(
        &self,
        changes: Vec<ProposedEntity>,
        origin: Origin,
    ) -> Result<Vec<Definition>> {
        let mut definitions = Vec::with_capacity(changes.len());
        for change in changes {
            let definition = Definition::read(change)?;
            definitions.push(match origin {
                Origin::Plan => definition,
                Origin::Question => definition.on_present(self).await?,
            });
        }
        Ok(definitions)
    }

    async fn shown(&self, open: OpenProposal, origin: Origin) -> Result<EditorProposal> {
        let OpenProposal { id, message, changes } = open;
        let mut shown = Vec::with_capacity(changes.len());
        for definition in self.proposed_definitions(changes, origin).await? {
            let ProposedEntity { kind, name, scope, .. } = &definition.of;
            let stored = self.scopes.get_any(*kind, name, Some(*scope)).await?;
            shown.push(definition.shown(stored.map_or(0, |stored| stored.meta.revision))?);
        }
        Ok(EditorProposal { id, message, changes: shown })
    }
}

impl Runtime {
    /// What the last planning turn of the editing agent proposes, and what its tools asked about.
    #[boxed]
    pub async fn editor_proposal(&self, input: &ByPersonaId) -> Result<ProposalAnswer> {
        let nothing = ProposalAnswer { proposal: None, questions: Vec::new() };
        let scope = self.library().resolved(Kind::Persona, &input.persona_id).await?;
        let Some(session) = self.editing_session(scope, &input.persona_id).await? else { return Ok(nothing) };
        let (proposal, questions) = Knowledge::of(self.notes(session.id).await?).into_open();
        let mut answer = nothing;
        if let Some(open) = proposal {
            answer.proposal = Some(self.library().shown(open, Origin::Plan).await?);
        }
        for open in questions {
            answer.questions.push(self.library().shown(open, Origin::Question).await?);
        }
        Ok(answer)
    }

    /// Applies a proposal of the editing agent, or the changes of a question: exactly that, or nothing if an
    /// entity was changed since. Fails while the agent is at work.
    #[boxed]
    pub async fn apply_editor_proposal(
        &self,
        author: &Author,
        input: &ApplyProposal,
    ) -> Result<AppliedProposal> {
        let ApplyProposal { persona_id: name, proposal_id } = input;
        let (session, origin, open) = self.open_proposal(name, *proposal_id).await?;
        let id = open.id;
        let definitions = in_order(self.library().proposed_definitions(open.changes, origin).await?);
        let run = EditingRun::new(self.clone(), session, name.clone(), Some(author.clone()), &open.message);
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
        self.add_note(session, Note::ToolEvent { tool_use_id: String::new(), event }).await?;
        Ok(applied)
    }

    /// Drops a proposal of the editing agent, or keeps what a question is about as it is. Fails while the agent
    /// is at work.
    #[boxed]
    pub async fn dismiss_editor_proposal(&self, input: &DismissProposal) -> Result<DismissedProposal> {
        let DismissProposal { persona_id: name, proposal_id } = input;
        let (session, _, OpenProposal { id, .. }) = self.open_proposal(name, Some(*proposal_id)).await?;
        let event = EditingEvent::ProposalDismissed { proposal: id }.to_json();
        self.add_note(session, Note::ToolEvent { tool_use_id: String::new(), event }).await?;
        Ok(DismissedProposal { id })
    }

    /// The open proposal or question of this id, with its idle session; by default the proposal.
    async fn open_proposal(&self, name: &Name, id: Option<Uuid>) -> Result<(Uuid, Origin, OpenProposal)> {
        let scope = self.library().resolved(Kind::Persona, name).await?;
        let missing = || SessionError::NoProposal { persona: name.clone(), proposal: id };
        let session = self.editing_session(scope, name).await?.ok_or_else(missing)?;
        self.check_idle(session.id).await?;
        let (proposal, questions) = Knowledge::of(self.notes(session.id).await?).into_open();
        let proposal = proposal.filter(|open| id.is_none_or(|id| open.id == id));
        let question = || questions.into_iter().find(|open| Some(open.id) == id);
        let open = match proposal {
            Some(proposal) => Some((Origin::Plan, proposal)),
            None => question().map(|question| (Origin::Question, question)),
        };
        let (origin, open) = open.ok_or_else(missing)?;
        Ok((session.id, origin, open))
    }
}

/// Every reference has its target at each step: pieces come before what refers to them, and go after it.
fn in_order(mut definitions: Vec<Definition>) -> Vec<Definition> {
    definitions.sort_by_key(|it| scopes::reference_order(it.of.kind, it.after.is_none()));
    definitions
}

impl Library {
    /// The same library, for a writer that respects locks.
    pub(super) fn guarded(&self, guard: Arc<Guard>) -> Self {
        Self { scopes: self.scopes.guarded(guard), ..self.clone() }
    }

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
                if is_copy {
                    self.carry_state(write, *kind, name).await?;
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
