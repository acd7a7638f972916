//! What changes, for those who watch: taken in batches, and what a batch means for a persona.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeSet;

use persona::{Kind, Name, Persona, limits};
use store::Change;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::{Library, Result};

/// Changes from a moment on, by whomever: this node, other processes, other nodes.
#[derive(Debug)]
pub struct Changes(Receiver<Change>);

impl Changes {
    /// Waits for a change and takes along all that are there already, so that a burst of writes
    /// is told once. Where too much was missed to tell one change from another, everything has
    /// changed. `None` when the library is closed.
    #[boxed]
    pub async fn next(&mut self) -> Option<Vec<Change>> {
        let mut changes = match self.0.recv().await {
            Ok(change) => vec![change],
            Err(RecvError::Lagged(_)) => vec![Change::Everything],
            Err(RecvError::Closed) => return None,
        };
        loop {
            match self.0.try_recv() {
                Ok(change) => changes.push(change),
                Err(TryRecvError::Lagged(_)) => changes.push(Change::Everything),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(changes),
            }
        }
    }

    /// Forgets what has changed until now.
    pub(crate) fn skip(&mut self) {
        self.0 = self.0.resubscribe();
    }
}

impl Library {
    /// What changes from now on.
    pub fn changes(&self) -> Changes {
        Changes(self.scopes.changes())
    }

    /// Whether a persona may read differently after these changes: its own, those of its bases,
    /// and those of pieces. Pieces are shared, so that a change of any of them may be a change of
    /// every persona.
    #[boxed]
    pub async fn may_differ(&self, persona: &Name, changes: &[Change]) -> bool {
        // Who cannot be told for sure is told to look.
        touches(persona, changes) || self.builds_on(persona, changes).await.unwrap_or(true)
    }

    /// Whether one of the bases of a persona changed. A chain changes only when one of its own
    /// members does, so that looking at it as it is now misses nothing.
    async fn builds_on(&self, persona: &Name, changes: &[Change]) -> Result<bool> {
        let changed: BTreeSet<&Name> = changes
            .iter()
            .filter_map(|change| match change {
                Change::Entity { kind: Kind::Persona, name, .. } => Some(name),
                _ => None,
            })
            .collect();
        if changed.is_empty() {
            return Ok(false);
        }
        let stored = self.scopes.get::<Persona>(persona, None).await?;
        let mut found = stored.map(|stored| (stored.meta.scope, stored.entity));
        for _ in 0..limits::CHAIN {
            let Some((scope, Persona { extends: Some(base), .. })) = found else { return Ok(false) };
            if changed.contains(&base.name) {
                return Ok(true);
            }
            found = self.look_up::<Persona>(scope, base.scope, &base.name).await?;
        }
        Ok(false)
    }
}

/// Whether changes are about a persona, bases aside.
fn touches(persona: &Name, changes: &[Change]) -> bool {
    changes.iter().any(|change| match change {
        Change::Entity { kind: Kind::Persona, name, .. } => name == persona,
        Change::Entity { kind, .. } => has_a_say(*kind),
        Change::Everything => true,
    })
}

/// Whether pieces of this kind have a say in what a persona reads like. Presets and test inputs
/// do not: a persona names them, and the runtime applies them.
const fn has_a_say(kind: Kind) -> bool {
    matches!(kind, Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail | Kind::Arc)
}

#[cfg(test)]
mod tests {
    use tokio::sync::broadcast;

    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).expect("a name")
    }

    fn change(kind: Kind) -> Change {
        Change::Entity { kind, name: name("mentor"), listed: true }
    }

    #[test]
    fn a_persona_touches_itself_alone_and_a_piece_every_persona() {
        assert!(touches(&name("mentor"), &[change(Kind::Persona)]));
        assert!(!touches(&name("critic"), &[change(Kind::Persona)]));
        assert!(touches(&name("critic"), &[change(Kind::Persona), change(Kind::Skill)]));
        assert!(touches(&name("critic"), &[Change::Everything]));
        assert!(!touches(&name("critic"), &[]));
    }

    #[test]
    fn a_preset_touches_no_persona() {
        for kind in [Kind::ToolPreset, Kind::BiasProfile, Kind::ContextPreset, Kind::TestInput] {
            assert!(!touches(&name("mentor"), &[change(kind)]));
        }
    }

    #[tokio::test]
    async fn a_burst_is_one_batch_and_what_was_missed_is_everything() {
        let (sender, receiver) = broadcast::channel(2);
        let mut changes = Changes(receiver);
        sender.send(change(Kind::Part)).expect("heard");
        sender.send(change(Kind::Arc)).expect("heard");
        assert_eq!(changes.next().await, Some(vec![change(Kind::Part), change(Kind::Arc)]));
        for kind in [Kind::Part, Kind::Trait, Kind::Skill] {
            sender.send(change(kind)).expect("heard");
        }
        let missed = changes.next().await;
        assert_eq!(missed, Some(vec![Change::Everything, change(Kind::Trait), change(Kind::Skill)]));
        drop(sender);
        assert_eq!(changes.next().await, None);
    }
}
