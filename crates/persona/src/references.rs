//! What one definition names of others, and how it follows when those are renamed.

use crate::{BaseRef, Kind, Name, Scope};

/// One thing that a definition names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub kind: Kind,
    pub name: Name,
    /// Where it is, if the definition says; otherwise it is looked up from the definition's own
    /// scope downwards.
    pub scope: Option<Scope>,
    /// The path of the field that names it: `parts`, `plan_persona.tool_preset`, `stages.first.parts`.
    pub field: String,
}

impl Reference {
    /// The key of the definition under which it stands.
    pub fn key(&self) -> &str {
        self.field.split('.').next().unwrap_or(&self.field)
    }
}

/// A rename of an entity, as those who name it see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    pub kind: Kind,
    pub old: Name,
    pub new: Name,
    /// The scope in which it happened: `scope:name` of another scope means something else.
    pub scope: Scope,
}

impl Rename {
    /// Replaces a name of a kind if it is the old one; true if it was.
    pub(crate) fn apply(&self, kind: Kind, name: &mut Name) -> bool {
        let hit = self.kind == kind && *name == self.old;
        if hit {
            *name = self.new.clone();
        }
        hit
    }

    pub(crate) fn apply_to_base(&self, base: &mut BaseRef) -> bool {
        base.scope.is_none_or(|scope| scope == self.scope) && self.apply(Kind::Persona, &mut base.name)
    }
}
