//! What callers get. Absent fields are not set.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use persona::{Kind, Meta, Name, PartType, Scope, Severity, Tags, TraitType};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub use persona::{Manifest, PersonaView};

mod lint;
pub use lint::{FileRule, LintFinding, LintReport, LintRule};

/// An entity in full, with its place and revision.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Document<T> {
    #[serde(flatten)]
    pub entity: T,
    #[serde(flatten)]
    pub meta: Meta,
}

/// A piece by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Piece {
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
    /// What was created besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Piece>,
    /// Builtins that were copied into this scope first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Piece>,
    /// What referred to it and has its new name now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<Place>,
    /// What still has the old name, and why it could not be changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_followed: Vec<LeftBehind>,
}

/// What a write did.
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

    /// An entity that differs now, and nothing besides.
    pub(crate) fn changed(kind: Kind, name: Name, meta: &Meta) -> Self {
        let unchanged = Self::unchanged(kind, name, meta.scope, meta.revision);
        Self { action: WriteAction::Changed, changed: true, ..unchanged }
    }

    /// An entity that already was as it should be.
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

/// The outcome of a delete; deleting what is not there succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deleted {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub deleted: bool,
    /// What was linked to it until now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlinked: Vec<Piece>,
    /// What refers to it in other scopes, and to nothing now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_without: Vec<Place>,
    /// The scope whose definition of this name is in force now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<Scope>,
}

/// Where a persona stands in its arc after a change.
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
    pub copied: Vec<Piece>,
}

/// Both compiled texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CompiledPersona {
    pub name: Name,
    pub scope: Scope,
    pub compiled_summary: String,
    pub compiled_detail: String,
    pub compiled_at: DateTime<Utc>,
}

/// An entry of a list or a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Item {
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
    pub items: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What was recorded of an entity, newest first.
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

/// A revision: what was done, by whom, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RevisionItem {
    pub revision: i64,
    /// What to ask for instead, where the number means another revision: this is one of an earlier
    /// entity of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_for: Option<String>,
    /// The name that it had then.
    pub name: Name,
    pub action: String,
    pub author: String,
    pub front: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub created_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The same with who gave them, where that is known, and why; and those of others that had the
    /// name.
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
    /// Whether another one that had the name has it: it is not asked for under this name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_another: bool,
}

impl From<store::Tag> for TagItem {
    fn from(tag: store::Tag) -> Self {
        let store::Tag { tag, guid: _, author, front, message, created_at, of_another } = tag;
        Self { tag, author, front, message, created_at, of_another }
    }
}

/// What to ask for, where the number of a revision means another one.
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

/// A revision that has got a name.
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

/// A tag that was taken off, or was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Untagged {
    pub kind: Kind,
    pub name: Name,
    pub tag: String,
    pub deleted: bool,
}

/// What is different between two revisions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RevisionDiff {
    pub kind: Kind,
    pub name: Name,
    pub scope: Scope,
    pub from: DiffSide,
    pub to: DiffSide,
    pub fields: Vec<FieldChange>,
    /// Says so where a side is a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One side of a comparison: the whole entity as TOML, which is nothing where it was deleted.
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
    /// Whether all say the same.
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

/// How a conflict was settled.
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

/// What a persona sets besides what its prompt is made of, by field; what is not set is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Settings(pub serde_json::Map<String, Value>);

/// What a rollback did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RolledBack {
    #[serde(flatten)]
    pub written: Written,
    /// Pieces that were put back with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<Piece>,
    /// Pieces that it is linked to under the name that they have now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedPiece>,
    /// Pieces that are not as they were then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<PieceThen>,
    /// Pieces of which no history says any more how they were then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Place>,
}

/// A piece that has another name now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RenamedPiece {
    pub kind: Kind,
    pub name: Name,
    pub was: Name,
}

/// A piece as an earlier revision of what refers to it knew it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PieceThen {
    pub scope: Scope,
    pub kind: Kind,
    pub name: Name,
    /// The revision of its own that it was at.
    pub revision: i64,
    /// As in [`RevisionItem`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_for: Option<String>,
    /// Whether it is not there at all now.
    pub deleted: bool,
}

/// What went to another scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Promoted {
    pub kind: Kind,
    pub name: Name,
    pub from: Scope,
    pub to: Scope,
    /// What was written there.
    pub carried: Vec<Piece>,
    /// Builtins that were copied there for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Piece>,
    /// What is no longer where it was.
    pub removed: Vec<Piece>,
    /// What stays there because others use it.
    pub kept: Vec<Piece>,
    /// What has placeholders for the environment, which count in files only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfilled: Vec<Piece>,
}

/// Entities with everything that they refer to, as one personas.toml.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Exported {
    pub toml: String,
    /// Named in it, but found in no scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Piece>,
}

/// What an import does, or did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImportPlan {
    pub scope: Scope,
    pub items: Vec<ImportItem>,
    /// Builtins that are copied into the scope first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Piece>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ImportItem {
    pub kind: Kind,
    pub name: Name,
    pub change: ImportChange,
    /// The weaker scope whose definition a new one takes the place of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<Scope>,
    /// The fields that are different from what there was; one that has no value afterwards is
    /// cleared.
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
    /// Masque itself has exactly this; it is not imported.
    Builtin,
}

/// What did not follow a rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct LeftBehind {
    #[serde(flatten)]
    pub place: Place,
    pub why: String,
}

/// An entity in a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Place {
    pub scope: Scope,
    pub kind: Kind,
    pub name: Name,
}
