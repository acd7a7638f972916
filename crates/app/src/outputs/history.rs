//! Revisions, tags, diffs and rollbacks.

use chrono::{DateTime, Utc};
use persona::{Kind, Name, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{EntityRef, ScopedEntityRef, Written};

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
    /// False if the revision had the tag already.
    pub changed: bool,
    /// The revision that had the tag before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
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
