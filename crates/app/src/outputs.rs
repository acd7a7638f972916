//! Outputs of operations. Fields that are not set are absent.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use persona::{Kind, Meta, Name, PartType, Scope, Severity, Tags, TraitType};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub use persona::{Budget, Manifest, PersonaView};

mod lint;
pub use lint::{FileRule, LintFinding, LintReport, LintRule};

/// An entity in full, with its place and revision.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FullEntity<T> {
    #[serde(flatten)]
    pub entity: T,
    #[serde(flatten)]
    pub meta: Meta,
}

/// An entity by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_detail: Option<String>,
    pub compiled_at: DateTime<Utc>,
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
}

/// The revisions of an entity, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct History {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub items: Vec<RevisionItem>,
    /// Asks for older revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A revision: the action, its author and message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RevisionItem {
    pub revision: i64,
    /// The reference to use if the number means another revision, because this one belongs to an earlier
    /// entity of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_for: Option<String>,
    /// The name at that time.
    pub name: Name,
    pub action: String,
    pub author: String,
    pub front: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The tags with their authors and messages, and the tags of earlier entities of the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tagged: Vec<TagItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct TagItem {
    pub tag: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    /// True if the tag belongs to an earlier entity of the name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_another: bool,
}

impl From<store::Tag> for TagItem {
    fn from(tag: store::Tag) -> Self {
        let store::Tag { tag, guid: _, author, front, message, created_at, of_another } = tag;
        Self { tag, author, front, message, created_at, of_another }
    }
}

/// The reference to use if the number of a revision means another one.
pub(crate) fn ask_for(revision: &store::Revision) -> Option<String> {
    revision.shadowed.then(|| revision.reference().to_string())
}

impl From<store::Revision> for RevisionItem {
    fn from(revision: store::Revision) -> Self {
        let ask_for = ask_for(&revision);
        let store::Revision {
            guid: _,
            name,
            revision,
            action,
            author,
            front,
            message,
            created_at,
            tags,
            shadowed: _,
        } = revision;
        let tagged: Vec<TagItem> = tags.into_iter().map(TagItem::from).collect();
        let own = tagged.iter().filter(|tag| !tag.of_another);
        let tags = own.map(|tag| tag.tag.clone()).collect();
        Self { revision, ask_for, name, action, author, front, message, created_at, tags, tagged }
    }
}

/// A tagged revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tagged {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub revision: i64,
    /// As in [`RevisionItem`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_for: Option<String>,
    pub tag: String,
}

/// The outcome of removing a tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Untagged {
    pub kind: Kind,
    pub name: Name,
    pub tag: String,
    pub deleted: bool,
}

/// The differences between two revisions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RevisionDiff {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub from: DiffSide,
    pub to: DiffSide,
    pub fields: Vec<FieldChange>,
    /// Pieces that differ, though their links may be the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<PieceDiff>,
    /// The compiled prompts, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled: Option<PromptDiff>,
    /// Names the deletions, if a side is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A piece that differs between two revisions of the entity that uses it. The TOML of a side that does
/// not use it is empty.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PieceDiff {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub fields: Vec<FieldChange>,
    pub from_toml: String,
    pub to_toml: String,
}

/// The compiled prompts of two revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PromptDiff {
    pub from: String,
    pub to: String,
}

/// One side of a comparison: the entity as TOML, or an empty text for a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct DiffSide {
    pub label: String,
    pub revision: i64,
    pub toml: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FieldChange {
    pub field: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

/// A name that several scopes define.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    pub kind: Kind,
    pub name: Name,
    /// The scope whose definition counts.
    pub in_force: Scope,
    /// Strongest first.
    pub scopes: Vec<Scope>,
    /// True if all definitions are equal.
    pub identical: bool,
    pub fields: Vec<FieldConflict>,
}

/// The names that several scopes define.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConflictList {
    pub items: Vec<Conflict>,
}

/// A field in which scopes differ; a scope that does not set it is absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FieldConflict {
    pub field: String,
    pub values: BTreeMap<Scope, Value>,
}

/// The outcome of resolving a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resolved {
    pub kind: Kind,
    pub name: Name,
    pub kept: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// The scopes in which the name was deleted.
    pub deleted: Vec<Scope>,
}

/// The settings of a persona, which are not part of its prompt, by field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PersonaSettings(pub serde_json::Map<String, Value>);

/// The outcome of a rollback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RolledBack {
    #[serde(flatten)]
    pub written: Written,
    /// Pieces that were restored with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<EntityRef>,
    /// Pieces that are linked under their current names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedPiece>,
    /// Pieces that differ from that time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<PieceThen>,
    /// Pieces whose history no longer has that time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<ScopedEntityRef>,
}

/// A renamed piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RenamedPiece {
    pub kind: Kind,
    pub name: Name,
    pub was: Name,
}

/// A piece at the time of an earlier revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PieceThen {
    pub scope: Scope,
    pub kind: Kind,
    pub name: Name,
    /// Its own revision at that time.
    pub revision: i64,
    /// As in [`RevisionItem`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_for: Option<String>,
    /// True if it was deleted since.
    pub deleted: bool,
}

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
