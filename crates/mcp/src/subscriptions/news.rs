//! What a batch of changes means for those who watch.

use std::collections::HashMap;

use app::inputs::ByName;
use app::{Change, Library};
use persona::{Kind, Name, Persona, Scope, limits};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::uri::ResourceUri;

/// Changes that came together.
#[derive(Debug, Default)]
pub(super) struct News {
    changes: Vec<Change>,
    /// Too much was missed to tell one change from another.
    everything: bool,
}

impl News {
    /// Waits for a change and takes along all that are there already, so that a burst of writes
    /// is told once. `None` when the library is closed.
    pub(super) async fn next(changes: &mut Receiver<Change>) -> Option<Self> {
        let mut news = Self::default();
        match changes.recv().await {
            Ok(change) => news.take(change),
            Err(RecvError::Lagged(_)) => news.everything = true,
            Err(RecvError::Closed) => return None,
        }
        loop {
            match changes.try_recv() {
                Ok(change) => news.take(change),
                Err(TryRecvError::Lagged(_)) => news.everything = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(news),
            }
        }
    }

    fn take(&mut self, change: Change) {
        match change {
            Change::Everything => self.everything = true,
            entity @ Change::Entity { .. } => self.changes.push(entity),
        }
    }

    fn lists(&self, kinds: &[Kind]) -> bool {
        let listed = |change: &Change| matches!(change, Change::Entity { kind, listed: true, .. } if kinds.contains(kind));
        self.everything || self.changes.iter().any(listed)
    }

    pub(super) fn prompts(&self) -> bool {
        self.lists(&[Kind::Persona])
    }

    pub(super) fn resources(&self) -> bool {
        self.lists(&[Kind::Persona, Kind::Skill])
    }

    /// Those of the watched addresses at which something else may stand now.
    pub(super) async fn touched<'a>(&self, library: &Library, watched: Vec<&'a str>) -> Vec<&'a str> {
        let changed = self.personas();
        // A persona has several addresses, and its bases are looked up once for all of them.
        let mut heirs: HashMap<Name, bool> = HashMap::new();
        let mut touched = Vec::new();
        for uri in watched {
            let Some(parsed) = ResourceUri::parse(uri) else { continue };
            if self.touches(&parsed) {
                touched.push(uri);
            } else if parsed.kind() == Kind::Persona && !changed.is_empty() {
                let name = parsed.name();
                let heir = match heirs.get(name) {
                    Some(known) => *known,
                    None => builds_on(library, name, &changed).await,
                };
                heirs.insert(name.clone(), heir);
                touched.extend(heir.then_some(uri));
            }
        }
        touched
    }

    fn personas(&self) -> Vec<&Name> {
        let personas = self.changes.iter().filter_map(|change| match change {
            Change::Entity { kind: Kind::Persona, name, .. } => Some(name),
            _ => None,
        });
        personas.collect()
    }

    /// Whether what stands at an address may read differently now, bases aside. A persona is made
    /// of pieces that others may share, so that a change of any piece may be a change of every
    /// persona.
    fn touches(&self, uri: &ResourceUri) -> bool {
        let touched = |change: &Change| match change {
            Change::Entity { kind, name, .. } => {
                let same = *kind == uri.kind() && name == uri.name();
                same || (uri.kind() == Kind::Persona && is_piece(*kind))
            }
            Change::Everything => true,
        };
        self.everything || self.changes.iter().any(touched)
    }
}

/// Whether entities of this kind have a say in what a persona reads like. Presets and test inputs
/// do not: a persona names them, and the runtime applies them.
const fn is_piece(kind: Kind) -> bool {
    matches!(kind, Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail | Kind::Arc)
}

/// Whether one of these personas is among the bases of another. A chain changes only when one of
/// its own members does, so that looking at it as it is now misses nothing.
async fn builds_on(library: &Library, name: &Name, changed: &[&Name]) -> bool {
    let mut found = library.get::<Persona>(&ByName { name: name.clone(), scope: None }).await.ok();
    for _ in 0..limits::CHAIN {
        let Some(document) = found else { return false };
        let Some(base) = document.entity.extends else { return false };
        if changed.contains(&&base.name) {
            return true;
        }
        let scopes: Vec<Scope> = match base.scope {
            Some(scope) => vec![scope],
            None => document.meta.scope.downwards().collect(),
        };
        found = None;
        for scope in scopes {
            let request = ByName { name: base.name.clone(), scope: Some(scope) };
            found = library.get::<Persona>(&request).await.ok();
            if found.is_some() {
                break;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(kind: Kind, name: &str, listed: bool) -> News {
        let name = Name::parse(name).expect("a name");
        News { changes: vec![Change::Entity { kind, name, listed }], everything: false }
    }

    fn touches(news: &News, uri: &str) -> bool {
        news.touches(&ResourceUri::parse(uri).expect(uri))
    }

    #[test]
    fn a_persona_touches_itself_alone() {
        let news = news(Kind::Persona, "mentor", false);
        assert!(touches(&news, "persona://mentor") && touches(&news, "persona://mentor/compiled"));
        assert!(!touches(&news, "persona://critic") && !touches(&news, "part://mentor"));
        assert!(!news.prompts() && !news.resources());
    }

    #[test]
    fn a_piece_touches_itself_and_every_persona() {
        let news = news(Kind::Skill, "review", true);
        assert!(touches(&news, "skill://review/SKILL.md") && touches(&news, "persona://critic"));
        assert!(!touches(&news, "part://review"));
        assert!(!news.prompts() && news.resources());
    }

    #[test]
    fn a_preset_touches_nothing_that_can_be_read() {
        for kind in [Kind::ToolPreset, Kind::BiasProfile, Kind::ContextPreset, Kind::TestInput] {
            let news = news(kind, "mentor", true);
            assert!(!touches(&news, "persona://mentor") && !news.prompts() && !news.resources());
        }
    }

    #[test]
    fn what_was_missed_touches_all() {
        let news = News { changes: Vec::new(), everything: true };
        assert!(touches(&news, "part://x") && news.prompts() && news.resources());
    }
}
