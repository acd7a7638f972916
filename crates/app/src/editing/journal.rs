//! The knowledge and the changes of an editing session, rebuilt from the notes in its log.
//!
//! Tools note the revisions that they read and wrote. So a session knows them after a restart and on
//! another node, and a turn can be taken back. Pure: the log in, decisions out.

use std::collections::BTreeMap;

use agent::Note;
use persona::{Kind, Name, Scope};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An entity at the revision that the agent saw or left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    pub(crate) scope: Scope,
    pub(crate) revision: i64,
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
}

/// The note of a tool of the editor, beside its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl EditingEvent {
    pub(crate) fn to_json(&self) -> Value {
        // Words and numbers always serialize.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The entities that a session has read and changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Knowledge {
    seen: BTreeMap<(Kind, Name), (Scope, i64)>,
    /// The changes of each run, oldest first, without those that were taken back.
    turns: Vec<Vec<Change>>,
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
                if let Some(turn) = self.turns.iter_mut().rev().find(|turn| !turn.is_empty()) {
                    for change in turn.drain(..) {
                        self.seen.remove(&(change.kind, change.name));
                    }
                }
                self.see(entities);
            }
        }
    }

    fn see(&mut self, entities: &[Seen]) {
        for Seen { kind, name, scope, revision } in entities {
            self.seen.insert((*kind, name.clone()), (*scope, *revision));
        }
    }

    /// Follows a change of the session itself. An entity that was changed by others before is still not
    /// known.
    fn learn(&mut self, change: &Change) {
        let key = (change.kind, change.name.clone());
        if change.deleted {
            self.seen.remove(&key);
            return;
        }
        let is_known = match self.seen.get(&key) {
            // A builtin was copied.
            Some((Scope::Builtin, _)) => change.before.is_none(),
            Some((scope, revision)) => *scope == change.scope && Some(*revision) == change.before,
            None => true,
        };
        if is_known {
            self.seen.insert(key, (change.scope, change.after));
        }
    }

    /// The revision of an entity that the session saw or wrote last.
    pub(crate) fn revision(&self, kind: Kind, name: &Name) -> Option<i64> {
        self.seen.get(&(kind, name.clone())).map(|(_, revision)| *revision)
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
            chain.change = Change { before: last.before, ..change.clone() };
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
