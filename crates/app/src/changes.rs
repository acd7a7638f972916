//! Changes of the library in batches, and the personas that a batch affects.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeSet;

use persona::{Kind, Name, Persona, limits};
use store::Change;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::{Library, Result};

/// A subscription to changes by this node, other processes and other nodes.
#[derive(Debug)]
pub struct Changes(Receiver<Change>);

impl Changes {
    /// Waits for a change and returns it with all others that are queued. Returns
    /// `Change::Everything` for changes that were missed, and `None` once the library is closed.
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

    /// Drops the queued changes.
    pub(crate) fn skip(&mut self) {
        self.0 = self.0.resubscribe();
    }
}

impl Library {
    /// Subscribes to changes.
    pub fn changes(&self) -> Changes {
        Changes(self.scopes.changes())
    }

    /// True if these changes may change what a persona reads like: its own, those of its bases, and
    /// those of any piece, since every persona may use it.
    #[boxed]
    pub async fn may_differ(&self, persona: &Name, changes: &[Change]) -> bool {
        // After an error, assume a difference.
        touches(persona, changes) || self.builds_on(persona, changes).await.unwrap_or(true)
    }

    /// True if a base of a persona changed. A chain changes only if one of its members does, so the
    /// current chain is enough.
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

/// True if changes are about a persona itself or about pieces.
fn touches(persona: &Name, changes: &[Change]) -> bool {
    changes.iter().any(|change| match change {
        Change::Entity { kind: Kind::Persona, name, .. } => name == persona,
        Change::Entity { kind, .. } => shapes_text(*kind),
        Change::Everything => true,
    })
}

/// True if pieces of this kind are part of a persona's text. Presets and test inputs are not: the
/// runtime applies them.
const fn shapes_text(kind: Kind) -> bool {
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
    async fn queued_changes_are_one_batch_and_missed_ones_are_everything() {
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
