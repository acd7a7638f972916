//! References between definitions, and how they follow renames.

use crate::{BaseRef, Kind, Name, Scope};

/// A reference of a definition to another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub kind: Kind,
    pub name: Name,
    /// The scope that the definition names. Without one, the name resolves from the definition's own
    /// scope downwards.
    pub scope: Option<Scope>,
    /// The path of the field that names it: `parts`, `plan_persona.tool_preset`, `stages.first.parts`.
    pub field: String,
}

impl Reference {
    /// The top-level key of that field.
    pub fn key(&self) -> &str {
        self.field.split('.').next().unwrap_or(&self.field)
    }
}

/// A rename of an entity, applied to references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    pub kind: Kind,
    pub old: Name,
    pub new: Name,
    /// The scope of the entity; `scope:name` of another scope is another entity.
    pub scope: Scope,
}

impl Rename {
    /// Replaces a name of a kind if it is the old one. Returns true if it was.
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
