//! Promotions, exports and imports.

use persona::{Kind, Name, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use super::{EntityRef, FieldChange, ScopedEntityRef};

/// The outcome of a promotion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Promoted {
    pub kind: Kind,
    pub name: Name,
    pub from: Scope,
    pub to: Scope,
    /// Entities that were written to the new scope.
    pub carried: Vec<EntityRef>,
    /// Builtins that were copied to the new scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<EntityRef>,
    /// Entities that were removed from the old scope.
    pub removed: Vec<EntityRef>,
    /// Entities that stay in the old scope because others use them.
    pub kept: Vec<EntityRef>,
    /// Entities with placeholders for the environment, which only files fill in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfilled: Vec<EntityRef>,
}

/// Entities with everything that they refer to, as one personas.toml.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Exported {
    pub toml: String,
    /// References that exist in no scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<EntityRef>,
    /// Definitions that are left out because a stronger scope has the name too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<ScopedEntityRef>,
}

/// The changes of an import.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImportPlan {
    pub scope: Scope,
    pub items: Vec<ImportItem>,
    /// Builtins that are copied into the scope first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<EntityRef>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ImportPlan {
    /// The number of entities that the import creates or updates.
    pub fn changes(&self) -> usize {
        self.items.iter().filter(|item| item.change.is_change()).count()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ImportItem {
    pub kind: Kind,
    pub name: Name,
    pub change: ImportChange,
    /// The weaker scope whose definition the new one hides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<Scope>,
    /// The fields that change; one without a new value is cleared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ImportChange {
    Create,
    Update,
    Unchanged,
    /// Equal to the builtin, and not imported.
    Builtin,
}

impl ImportChange {
    /// True if the entity is stored.
    pub(crate) const fn is_change(self) -> bool {
        matches!(self, Self::Create | Self::Update)
    }
}
