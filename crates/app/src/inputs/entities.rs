//! Inputs of operations on entities of any kind.

use std::collections::BTreeMap;

use persona::{Kind, Name, PartType, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::RevisionText;
use crate::{Resolution, Result, ValueError};

/// Declares inputs with the same derives. Unknown fields are errors.
macro_rules! inputs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        })+
    };
}

inputs! {
    EntityHistory {
        kind: Kind,
        name: Name,
        /// Revisions in one page, newest first: 1 to 10,000, by default 1,000
        limit: Option<u32>,
        /// `next_cursor` of the page before
        cursor: Option<String>,
        scope: Option<Scope>,
    }

    CompareRevisions {
        kind: Kind,
        name: Name,
        /// A revision or tag; default: the one before the newest
        from: Option<RevisionText>,
        /// A revision or tag; default: the newest
        to: Option<RevisionText>,
        /// Compare the prompts of a persona, too
        #[serde(default)]
        compiled: bool,
        scope: Option<Scope>,
    }

    TagRevision {
        kind: Kind,
        name: Name,
        tag: String,
        /// Default: the entity as it is now
        revision: Option<RevisionText>,
        /// Move the tag if another revision has it
        #[serde(default, rename = "move")]
        moves: bool,
        /// Why, for the history
        message: Option<String>,
        scope: Option<Scope>,
    }

    UntagRevision {
        kind: Kind,
        name: Name,
        tag: String,
        scope: Option<Scope>,
    }

    RenameEntity {
        kind: Kind,
        name: Name,
        new_name: Name,
        /// Why, for the history
        message: Option<String>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        scope: Option<Scope>,
    }

    DuplicateEntity {
        kind: Kind,
        name: Name,
        new_name: Name,
        /// The scope of the copy; default: that of the original
        to: Option<Scope>,
        /// Why, for the history
        message: Option<String>,
        /// Refuse if the original changed since this revision
        if_revision: Option<i64>,
        /// The scope of the original
        scope: Option<Scope>,
    }

    PromoteEntity {
        kind: Kind,
        name: Name,
        /// The scope to copy to
        to: Scope,
        /// Remove the originals, except those that others use
        #[serde(default, rename = "move")]
        moves: bool,
        /// Replace definitions of the same names
        #[serde(default)]
        replace: bool,
        /// Why, for the history
        message: Option<String>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// The scope to copy from
        scope: Option<Scope>,
    }

    ExportEntities {
        kind: Kind,
        /// Each is exported with everything that it refers to
        names: Vec<Name>,
        scope: Option<Scope>,
    }

    ExportLibrary {
        /// Default: all but the builtins
        scope: Option<Scope>,
    }

    ImportEntities {
        /// The text of a personas.toml
        toml: String,
        /// Only say what would change
        #[serde(default)]
        dry_run: bool,
        /// Why, for the history
        message: Option<String>,
        scope: Option<Scope>,
    }

    CreateFromTemplate {
        /// A builtin persona
        template: Name,
        name: Name,
        /// Why, for the history
        message: Option<String>,
        scope: Option<Scope>,
    }

    ListConflicts {
        kind: Option<Kind>,
        name: Option<Name>,
    }

    ResolveConflict {
        kind: Kind,
        name: Name,
        /// Keep this scope's definition and delete the others
        #[serde(rename = "use")]
        use_scope: Option<Scope>,
        /// Merge: field → the scope that it is taken from
        take: Option<BTreeMap<String, Scope>>,
        /// Why, for the history
        message: Option<String>,
    }

    WatchLibrary {}

    LintLibrary {
        /// Default: the files and shared
        scopes: Option<Vec<Scope>>,
    }

    /// A definition that is not saved.
    DraftPiece {
        kind: Kind,
        /// All fields of the entity, its name included
        entity: Map<String, Value>,
        /// Default: the scope of the one that the persona means by this name
        scope: Option<Scope>,
    }

    PreviewPersona {
        /// All fields of the persona, its name included
        entity: Map<String, Value>,
        /// Unsaved pieces, in place of the stored ones
        pieces: Option<Vec<DraftPiece>>,
        /// Part type → part name
        overrides: Option<BTreeMap<PartType, Name>>,
        /// A stage of its arc; default: the current one
        stage: Option<Name>,
        /// Keep only parts of these types
        types: Option<Vec<PartType>>,
        /// Keep the top N parts by priority
        limit: Option<u32>,
        /// Keep what fits, by priority
        max_tokens: Option<u32>,
        /// false for summaries
        detail: Option<bool>,
        /// The scope to save it in; default: where the name is found
        scope: Option<Scope>,
    }

    ExplainDraft {
        /// All fields of the persona, its name included
        entity: Map<String, Value>,
        /// Unsaved pieces, in place of the stored ones
        pieces: Option<Vec<DraftPiece>>,
        /// A stage of its arc; default: the current one
        stage: Option<Name>,
        /// The scope to save it in; default: where the name is found
        scope: Option<Scope>,
    }

    EntityUsage {
        kind: Kind,
        name: Name,
        /// Users in one page: 1 to 200, by default 50
        limit: Option<u32>,
        /// `next_cursor` of the page before
        cursor: Option<String>,
        /// The scope of the entity; default: where the name is found
        scope: Option<Scope>,
    }

    EntityLocks {
        kind: Kind,
        name: Name,
        /// The scope of the entity; default: where the name is found
        scope: Option<Scope>,
    }

    LockEntity {
        kind: Kind,
        name: Name,
        /// The field to lock, such as system_prompt; default: the whole entity
        field: Option<String>,
        /// The scope of the entity; default: where the name is found
        scope: Option<Scope>,
    }

    UnlockEntity {
        kind: Kind,
        name: Name,
        /// The field to unlock; default: the lock of the whole entity
        field: Option<String>,
        /// The scope of the entity; default: where the name is found
        scope: Option<Scope>,
    }

    ListTemplates {}
}

impl ResolveConflict {
    /// Fails unless exactly one of `use` and `take` is given.
    pub fn resolution(&self) -> Result<Resolution> {
        match (self.use_scope, &self.take) {
            (Some(scope), None) => Ok(Resolution::Use(scope)),
            (None, Some(take)) => Ok(Resolution::Merge(take.clone())),
            (None, None) => Err(ValueError::NoneGiven { fields: &["use", "take"] }.into()),
            (Some(_), Some(_)) => Err(ValueError::SeveralGiven { fields: &["use", "take"] }.into()),
        }
    }
}
