//! Maps a batch of changes to the watched addresses.

use std::collections::HashMap;

use app::{Change, Changes, Library};
use operations::Reads;
use persona::{Kind, Name};

use crate::uri::ResourceUri;

/// Changes that arrived together.
#[derive(Debug)]
pub(super) struct News(Vec<Change>);

impl News {
    /// Waits for the next ones; `None` when the library is closed.
    pub(super) async fn next(changes: &mut Changes) -> Option<Self> {
        changes.next().await.map(Self)
    }

    fn lists(&self, kinds: &[Kind]) -> bool {
        self.0.iter().any(|change| match change {
            Change::Entity { kind, listed, .. } => *listed && kinds.contains(kind),
            Change::Everything => true,
        })
    }

    pub(super) fn prompts(&self) -> bool {
        self.lists(&[Kind::Persona])
    }

    pub(super) fn resources(&self) -> bool {
        self.lists(&[Kind::Persona, Kind::Skill])
    }

    /// The watched addresses whose content may have changed.
    pub(super) async fn touched<'a>(&self, library: &Library, watched: Vec<&'a str>) -> Vec<&'a str> {
        // A persona has several addresses and is compared once for all of them.
        let mut personas: HashMap<Name, bool> = HashMap::new();
        let mut touched = Vec::new();
        for uri in watched {
            let Some(parsed) = ResourceUri::parse(uri) else { continue };
            let name = parsed.name();
            let differs = match personas.get(name) {
                _ if parsed.kind() != Kind::Persona => self.names(parsed.kind(), name),
                Some(known) => *known,
                None => {
                    let differs = Reads(library).may_differ(name, &self.0).await;
                    personas.insert(name.clone(), differs);
                    differs
                }
            };
            touched.extend(differs.then_some(uri));
        }
        touched
    }

    /// True if a piece has changed.
    fn names(&self, of: Kind, piece: &Name) -> bool {
        self.0.iter().any(|change| match change {
            Change::Entity { kind, name, .. } => *kind == of && name == piece,
            Change::Everything => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).expect("a name")
    }

    fn news(kind: Kind, listed: bool) -> News {
        News(vec![Change::Entity { kind, name: name("mentor"), listed }])
    }

    #[test]
    fn a_list_changes_with_its_entries() {
        let persona = news(Kind::Persona, true);
        assert!(persona.prompts() && persona.resources());
        let skill = news(Kind::Skill, true);
        assert!(!skill.prompts() && skill.resources());
        let edited = news(Kind::Persona, false);
        assert!(!edited.prompts() && !edited.resources());
        let preset = news(Kind::ToolPreset, true);
        assert!(!preset.prompts() && !preset.resources());
    }

    #[test]
    fn a_piece_changes_at_its_own_address() {
        let news = news(Kind::Skill, false);
        assert!(news.names(Kind::Skill, &name("mentor")));
        assert!(!news.names(Kind::Part, &name("mentor")) && !news.names(Kind::Skill, &name("critic")));
    }

    #[test]
    fn missed_changes_touch_every_address() {
        let news = News(vec![Change::Everything]);
        assert!(news.names(Kind::Part, &name("x")) && news.prompts() && news.resources());
    }
}
