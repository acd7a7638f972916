//! Outputs of operations. Fields that are not set are absent.

use chrono::{DateTime, Utc};
use persona::{Kind, Meta, Name, PartType, Scope, Severity, Tags, TraitType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use persona::{Budget, Manifest, PersonaView};

mod carry;
mod conflicts;
mod history;
mod lint;
mod preview;
mod tracks;
pub use carry::{Exported, ImportChange, ImportItem, ImportPlan, Promoted};
pub use conflicts::{Conflict, ConflictList, FieldConflict, Resolved};
pub(crate) use history::ask_for;
pub use history::{
    DiffSide, FieldChange, History, PieceDiff, PieceThen, PromptDiff, RenamedPiece, RevisionDiff,
    RevisionItem, RolledBack, TagItem, Tagged, Untagged,
};
pub use lint::{FileRule, LintFinding, LintReport, LintRule};
pub use preview::{
    LeftOutPiece, PersonaPreview, PreviewPoint, PreviewReason, PreviewTokens, TextBlock, TextOrigins,
    UsagePage,
};

pub use tracks::{
    AttemptBoard, ChangedFile, CleanedWorktree, CleanedWorktrees, Cleaning, CreatedTrack, DraftedTrack,
    MergeObstacle, MergedTrack, PlannedContext, PlannedTicket, RoundBoard, TicketBoard, TicketChange,
    TicketNeed, TrackBase, TrackBoard, TrackItem, TrackList, TrackPlan, TrackReport,
};

/// An entity in full, with its place and revision.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FullEntity<T> {
    #[serde(flatten)]
    pub entity: T,
    #[serde(flatten)]
    pub meta: Meta,
}

/// An entity by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct EntityRef {
    pub kind: Kind,
    pub name: Name,
}

/// The outcome of a write. For links and stages, `name` is the persona or the arc.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Written {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub revision: i64,
    pub action: WriteAction,
    /// False if nothing differed; then no revision was made.
    pub changed: bool,
    /// Pieces that were created with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<EntityRef>,
    /// Builtins that were copied into this scope first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<EntityRef>,
    /// Entities whose references have the new name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<ScopedEntityRef>,
    /// Entities whose references still have the old name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_followed: Vec<LeftBehind>,
}

/// The effect of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum WriteAction {
    /// The scope had no entity of that name.
    Created,
    Changed,
    Unchanged,
}

impl Written {
    /// An entity that its scope did not have before.
    pub(crate) fn created(kind: Kind, name: Name, meta: &Meta) -> Self {
        Self { action: WriteAction::Created, ..Self::changed(kind, name, meta) }
    }

    /// An entity that changed.
    pub(crate) fn changed(kind: Kind, name: Name, meta: &Meta) -> Self {
        let unchanged = Self::unchanged(kind, name, meta.scope, meta.revision);
        Self { action: WriteAction::Changed, changed: true, ..unchanged }
    }

    /// An entity that did not change.
    pub fn unchanged(kind: Kind, name: Name, scope: Scope, revision: i64) -> Self {
        Self {
            kind,
            name,
            scope,
            revision,
            action: WriteAction::Unchanged,
            changed: false,
            created: Vec::new(),
            copied: Vec::new(),
            followed: Vec::new(),
            not_followed: Vec::new(),
        }
    }
}

/// The outcome of a delete. Deleting an unknown entity succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deleted {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub deleted: bool,
    /// Entities that were linked to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlinked: Vec<EntityRef>,
    /// Entities of other scopes whose reference is broken now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_without: Vec<ScopedEntityRef>,
    /// Entities whose reference means the definition of a weaker scope now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fall_back: Vec<ScopedEntityRef>,
    /// The scope of that definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fall_back_to: Option<Scope>,
    /// The scope whose definition of this name is in force now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<Scope>,
}

/// The stage of a persona after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageState {
    pub persona: Name,
    pub scope: Scope,
    pub revision: i64,
    pub arc: Name,
    pub stage: Name,
    pub position: i64,
    pub of: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<EntityRef>,
}

/// The compiled text that was asked for, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CompiledPersona {
    pub name: Name,
    pub scope: Scope,
    pub revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_detail: Option<String>,
    /// When the text was compiled and kept. Absent for a text with overrides, filters or budgets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// A compiled text that is not kept, and the effect of filters and budgets on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    pub budget: Option<Budget>,
}

/// An entry of a list or a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListItem {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_type: Option<PartType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trait_type: Option<TraitType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Tags,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

/// One page; `next_cursor` asks for the following one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page {
    pub items: Vec<ListItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The number of matches that were ranked, if a search has more: further words narrow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranked: Option<usize>,
}

/// The settings of a persona, which are not part of its prompt, by field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PersonaSettings(pub serde_json::Map<String, Value>);

/// An entity that did not follow a rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct LeftBehind {
    #[serde(flatten)]
    pub place: ScopedEntityRef,
    pub why: String,
}

/// An entity in a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ScopedEntityRef {
    pub scope: Scope,
    pub kind: Kind,
    pub name: Name,
}
