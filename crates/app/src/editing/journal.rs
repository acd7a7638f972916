//! The knowledge and the changes of an editing session, rebuilt from the notes in its log.
//!
//! Tools note the revisions that they read and wrote. So a session knows them after a restart and on
//! another node, and a turn can be taken back. Pure: the log in, decisions out.

use std::collections::BTreeMap;

use agent::Note;
use persona::{AnyEntity, Kind, Name, Scope, Stored};
use scopes::ProposedChange;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// An entity at the revision that the agent saw or left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    pub(crate) scope: Scope,
    pub(crate) revision: i64,
    /// True if the agent saw some of its fields only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partly: bool,
}

/// An entity that a tool changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    pub(crate) scope: Scope,
    /// The revision before. `None` if its scope did not have the entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<i64>,
    /// The revision that the change made.
    pub(crate) after: i64,
    /// True if that revision is a deletion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deleted: bool,
    /// True if it began as a copy of a builtin, whose content the agent may not have seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) copied: bool,
}

/// An entity that a planning turn proposes to change, from the revision that it is based on to the end of
/// the turn so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProposedEntity {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    pub(crate) scope: Scope,
    /// 0 if its scope does not have the entity.
    pub(crate) if_revision: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Map<String, Value>>,
    /// `None` if it is to be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Map<String, Value>>,
}

impl From<ProposedChange> for ProposedEntity {
    fn from(change: ProposedChange) -> Self {
        let if_revision = change.base();
        let ProposedChange { scope, kind, name, before, after } = change;
        let definition = |stored: Stored<AnyEntity>| match stored.entity.to_json() {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let (before, after) = (before.map(definition), after.map(definition));
        Self { kind, name, scope, if_revision, before, after }
    }
}

/// Open questions of a session. The oldest ones make room: what they ask about stays as it is.
const QUESTIONS: usize = 32;

impl ProposedEntity {
    /// The fields that change.
    fn changed_fields(&self) -> impl Iterator<Item = &String> {
        let side = |of: &'_ Option<Map<String, Value>>| of.clone().unwrap_or_default();
        let (before, after) = (side(&self.before), side(&self.after));
        let fields = self.before.iter().chain(self.after.iter()).flat_map(Map::keys);
        fields.filter(move |field| before.get(*field) != after.get(*field))
    }

    /// True if both change the same field of the same entity.
    fn shares_field(&self, other: &Self) -> bool {
        (self.scope, self.kind, &self.name) == (other.scope, other.kind, &other.name)
            && self.changed_fields().any(|field| other.changed_fields().any(|known| known == field))
    }
}

/// What a planning turn proposes, or what a tool asks about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenProposal {
    pub(crate) id: Uuid,
    /// The message of the turn.
    pub(crate) message: String,
    pub(crate) changes: Vec<ProposedEntity>,
}

/// The note of a tool of the editor, beside its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum EditingEvent {
    EntitiesRead {
        entities: Vec<Seen>,
    },
    EntitiesChanged {
        changes: Vec<Change>,
    },
    /// The last turn with changes was taken back. These are the entities as it left them.
    TurnUndone {
        entities: Vec<Seen>,
    },
    /// A tool of a planning turn changed the proposal of the turn.
    ChangesProposed {
        proposal: Uuid,
        message: String,
        changes: Vec<ProposedEntity>,
    },
    /// A tool wanted to change something that the user has to decide. Nothing was changed.
    QuestionAsked {
        question: Uuid,
        message: String,
        changes: Vec<ProposedEntity>,
    },
    /// The user does not want a proposal, or keeps what a question is about.
    ProposalDismissed {
        proposal: Uuid,
    },
    /// The user applied a proposal, or took the changes of a question. It is a turn of its own.
    ProposalApplied {
        proposal: Uuid,
        changes: Vec<Change>,
    },
}

impl EditingEvent {
    pub(crate) fn to_json(&self) -> Value {
        // Words and numbers always serialize.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// How a session saw an entity last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sight {
    scope: Scope,
    revision: i64,
    partly: bool,
}

/// The entities that a session has read and changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Knowledge {
    seen: BTreeMap<(Kind, Name), Sight>,
    /// The changes of each run, oldest first, without those that were taken back.
    turns: Vec<Vec<Change>>,
    /// The last one that was not applied.
    proposal: Option<OpenProposal>,
    /// Those that were not decided, oldest first.
    questions: Vec<OpenProposal>,
}

impl Knowledge {
    /// Reads the notes of a session, in order.
    pub(crate) fn of(notes: impl IntoIterator<Item = Note>) -> Self {
        let mut knowledge = Self::default();
        for note in notes {
            match note {
                Note::ToolEvent { event, .. } => {
                    if let Ok(event) = serde_json::from_value(event) {
                        knowledge.apply(&event);
                    }
                }
                Note::Done { .. } => knowledge.turns.push(Vec::new()),
                _ => {}
            }
        }
        knowledge
    }

    pub(crate) fn apply(&mut self, event: &EditingEvent) {
        match event {
            EditingEvent::EntitiesRead { entities } => self.see(entities),
            EditingEvent::EntitiesChanged { changes } => {
                for change in changes {
                    self.learn(change);
                }
                match self.turns.last_mut() {
                    Some(turn) => turn.extend(changes.iter().cloned()),
                    None => self.turns.push(changes.clone()),
                }
            }
            EditingEvent::TurnUndone { entities } => {
                let known = self.seen.clone();
                if let Some(turn) = self.turns.iter_mut().rev().find(|turn| !turn.is_empty()) {
                    for change in turn.drain(..) {
                        self.seen.remove(&(change.kind, change.name));
                    }
                }
                // Putting an entity back does not show it to the agent.
                for Seen { kind, name, scope, revision, .. } in entities {
                    let key = (*kind, name.clone());
                    if let Some(known) = known.get(&key) {
                        let (scope, revision) = (*scope, *revision);
                        self.seen.insert(key, Sight { scope, revision, ..*known });
                    }
                }
            }
            EditingEvent::ChangesProposed { proposal, message, changes } => {
                self.propose(*proposal, message, changes);
            }
            EditingEvent::QuestionAsked { question, message, changes } => {
                self.ask(*question, message, changes);
            }
            EditingEvent::ProposalDismissed { proposal } => self.close(*proposal),
            EditingEvent::ProposalApplied { proposal, changes } => {
                self.close(*proposal);
                for change in changes {
                    self.learn(change);
                }
                // The turn ends here.
                self.turns.extend([changes.clone(), Vec::new()]);
            }
        }
    }

    /// Adds changes to a proposal. Another turn's proposal takes the place of the one before.
    fn propose(&mut self, id: Uuid, message: &str, changes: &[ProposedEntity]) {
        let known = self.proposal.take().filter(|known| known.id == id);
        let mut known =
            known.unwrap_or_else(|| OpenProposal { id, message: message.to_owned(), changes: Vec::new() });
        for change in changes {
            let key = |of: &ProposedEntity| (of.scope, of.kind, of.name.clone());
            known.changes.retain(|other| key(other) != key(change));
            if change.before != change.after {
                known.changes.push(change.clone());
            }
        }
        self.proposal = Some(known);
    }

    /// Adds a question. It takes the place of those about the same fields.
    fn ask(&mut self, id: Uuid, message: &str, changes: &[ProposedEntity]) {
        let is_about = |open: &OpenProposal| {
            open.changes.iter().any(|known| changes.iter().any(|change| change.shares_field(known)))
        };
        self.questions.retain(|open| !is_about(open));
        if self.questions.len() == QUESTIONS {
            self.questions.remove(0);
        }
        self.questions.push(OpenProposal { id, message: message.to_owned(), changes: changes.to_vec() });
    }

    fn close(&mut self, id: Uuid) {
        self.proposal.take_if(|open| open.id == id);
        self.questions.retain(|open| open.id != id);
    }

    fn see(&mut self, entities: &[Seen]) {
        for Seen { kind, name, scope, revision, partly } in entities {
            let key = (*kind, name.clone());
            let (scope, revision) = (*scope, *revision);
            let was_whole = self
                .seen
                .get(&key)
                .is_some_and(|known| !known.partly && (known.scope, known.revision) == (scope, revision));
            self.seen.insert(key, Sight { scope, revision, partly: *partly && !was_whole });
        }
    }

    /// Follows a change of the session itself. An entity that was not read, or that others changed before,
    /// is still not known.
    pub(crate) fn learn(&mut self, change: &Change) {
        let key = (change.kind, change.name.clone());
        if change.deleted {
            self.seen.remove(&key);
            return;
        }
        let known = self.seen.get(&key);
        let is_known = match known {
            // A builtin was copied.
            Some(Sight { scope: Scope::Builtin, .. }) => change.before.is_none(),
            Some(known) => known.scope == change.scope && Some(known.revision) == change.before,
            // The session made it.
            None => change.before.is_none() && !change.copied,
        };
        if is_known {
            let partly = known.is_some_and(|known| known.partly);
            self.seen.insert(key, Sight { scope: change.scope, revision: change.after, partly });
        }
    }

    /// The revision of an entity that the session saw or wrote last.
    pub(crate) fn revision(&self, kind: Kind, name: &Name) -> Option<i64> {
        self.seen.get(&(kind, name.clone())).map(|known| known.revision)
    }

    /// The same, if the session saw all of its fields.
    pub(crate) fn whole_revision(&self, kind: Kind, name: &Name) -> Option<i64> {
        let known = self.seen.get(&(kind, name.clone())).filter(|known| !known.partly);
        known.map(|known| known.revision)
    }

    /// What the last planning turn with changes proposes, unless it was decided; and the open questions.
    pub(crate) fn into_open(self) -> (Option<OpenProposal>, Vec<OpenProposal>) {
        (self.proposal.filter(|proposal| !proposal.changes.is_empty()), self.questions)
    }

    /// What takes back the last turn with changes. Empty if there is none.
    pub(crate) fn last_turn(&self) -> Vec<Reversal> {
        let last = self.turns.iter().rev().find(|turn| !turn.is_empty());
        last.map(|turn| reversals(turn)).unwrap_or_default()
    }
}

/// The inverse of a turn's changes of one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reversal {
    /// From the first revision that can be restored to the last one.
    pub(crate) change: Change,
    /// True if others changed the entity between two changes of the turn. Only the later ones are taken back.
    pub(crate) is_partial: bool,
}

/// One inverse for each entity, in the order in which they apply: what was deleted comes back, then pieces
/// change, then personas; what is new goes last, the newest first.
fn reversals(changes: &[Change]) -> Vec<Reversal> {
    let mut chains: Vec<Reversal> = Vec::new();
    for change in changes {
        let same = |chain: &&mut Reversal| {
            let known = &chain.change;
            known.kind == change.kind && known.name == change.name && known.scope == change.scope
        };
        let Some(chain) = chains.iter_mut().find(same) else {
            chains.push(Reversal { change: change.clone(), is_partial: false });
            continue;
        };
        let last = &chain.change;
        let follows = if last.deleted { change.before.is_none() } else { change.before == Some(last.after) };
        if follows {
            chain.change = Change { before: last.before, copied: last.copied, ..change.clone() };
        } else {
            *chain = Reversal { change: change.clone(), is_partial: true };
        }
    }
    // Made and deleted in the same turn: nothing is left of it.
    chains.retain(|Reversal { change, .. }| change.before.is_some() || !change.deleted);
    let (mut made, mut changed): (Vec<_>, Vec<_>) =
        chains.into_iter().partition(|chain| chain.change.before.is_none());
    changed.sort_by_key(|Reversal { change, .. }| match (change.deleted, change.kind) {
        (true, _) => 0,
        (false, Kind::Persona) => 2,
        (false, _) => 1,
    });
    made.reverse();
    changed.extend(made);
    changed
}

#[cfg(test)]
mod tests;
