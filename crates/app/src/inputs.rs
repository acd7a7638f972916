//! Inputs of operations. Unknown fields are errors, so that no misspelt one is ignored.
//!
//! In updates an absent or null field stays; `""` and `[]` clear it. Null does not clear, because
//! agents often fill optional parameters with null.

use std::collections::BTreeMap;

// The inputs name the type of every field: a glob, so that a new field needs no line here.
use persona::*;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

mod choice;
pub use choice::Choice;
mod context;
pub use context::ShowContext;
mod entities;
pub use entities::{
    CompareRevisions, CreateFromTemplate, DraftPiece, DuplicateEntity, EntityHistory, EntityLocks,
    EntityUsage, ExplainDraft, ExportEntities, ExportLibrary, ImportEntities, LintLibrary, ListConflicts,
    ListTemplates, LockEntity, PreviewPersona, PromoteEntity, RenameEntity, ResolveConflict, TagRevision,
    UnlockEntity, UntagRevision, WatchLibrary,
};
mod parse;
pub use parse::{ExpectedType, InputError, parse};
mod revision;
pub use revision::RevisionText;
mod references;
pub use references::{
    GuardrailDefinition, GuardrailRef, NameOrDefinition, PartDefinition, PartRef, SkillDefinition, SkillRef,
    TraitDefinition, TraitRef,
};

mod settable;
pub use settable::Settable;
use settable::declare;
pub(crate) use settable::{build, set_fields};

mod sessions;
pub use sessions::{
    ApplyProposal, Approve, ByCall, ByPersonaId, BySession, DecideCall, DecidePlan, DecisionWord,
    DismissProposal, EditorMessage, ListModels, PlanVerdict, SendMessage, SetSessionMode, UpdateSession,
    WatchSession,
};

mod testing;
pub use testing::{ByTest, CompareTests, ListTests, TestOptions, TestPersona};

mod tracks;
pub use tracks::{
    AnswerTicket, ApproveTickets, ByTicket, ByTrack, CancelTicket, CancelTrack, CleanTracks, DraftTrack,
    JudgeResult, ListTracks, MergeTrack, RaiseCap, RetryTicket, StartTrack, TicketDiff, WatchTrack,
    WrittenTrack,
};

/// Declares inputs with the same derives and a scope. Unknown fields are errors.
macro_rules! inputs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            // Reads: this scope only. Writes: the scope to write; default: where the name is found.
            pub scope: Option<Scope>,
        })+
    };
}

/// Declares inputs of writes, with a message for the history.
macro_rules! writes {
    ($($(#[$meta:meta])* $name:ident { $($fields:tt)* })+) => {
        inputs! {
            $($(#[$meta])* $name {
                $($fields)*
                /// Why, for the history
                message: Option<String>,
            })+
        }
    };
}

/// Declares inputs that change an entity.
macro_rules! changes {
    ($($(#[$meta:meta])* $name:ident { $($fields:tt)* })+) => {
        writes! {
            $($(#[$meta])* $name {
                $($fields)*
                /// Refuse if changed since this revision
                if_revision: Option<i64>,
            })+
        }
    };
}

/// A stage of a new arc. The order defaults to the position in the list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct NewStage {
    pub name: Name,
    pub order: Option<i32>,
    pub description: Option<String>,
    /// When to move on, for the calling agent; never evaluated here.
    pub condition: Option<String>,
    #[serde(default)]
    pub parts: Vec<Name>,
}

/// The fields of a persona's `plan_persona`. An absent or null field stays, an empty text clears it.
/// Without any field, all are cleared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PlanFields {
    #[serde(default, deserialize_with = "null_too")]
    #[schemars(with = "Option<String>")]
    pub instruction: Option<Option<String>>,
    #[serde(default, deserialize_with = "null_too")]
    #[schemars(with = "Option<String>")]
    pub model: Option<Option<String>>,
    #[serde(default, deserialize_with = "null_too")]
    #[schemars(with = "Option<String>")]
    pub tool_preset: Option<Option<String>>,
}

/// The fields of a persona's `fidelity`. An absent or null field stays; an empty text and 0 clear it.
/// Without any field, all are cleared.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct FidelityFields {
    pub pass: Option<f64>,
    pub judge: Option<String>,
    pub votes: Option<u32>,
}

/// Tells null from absent.
fn null_too<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

inputs! {
    ByName { name: Name }

    OfPersona { persona: Name }

    CompilePersona {
        name: Name,
        /// false for summaries
        detail: Option<bool>,
        /// Both texts
        #[serde(default)]
        both: bool,
        /// As in get_agent_persona; the text is not kept then
        overrides: Option<BTreeMap<PartType, Name>>,
        types: Option<Vec<PartType>>,
        limit: Option<u32>,
        max_tokens: Option<u32>,
    }

    GetPersona {
        name: Name,
        /// Full contents instead of summaries; default of compiled
        detail: Option<bool>,
        /// Part type → part name, for this call only
        overrides: Option<BTreeMap<PartType, Name>>,
        /// Keep only parts of these types
        types: Option<Vec<PartType>>,
        /// Keep the top N parts by priority
        limit: Option<u32>,
        /// Keep what fits, by priority
        max_tokens: Option<u32>,
        /// Only the merged prompt text
        #[serde(default)]
        compiled: bool,
        /// As of this revision or tag
        revision: Option<RevisionText>,
    }

    List {
        /// All of these tags
        tags: Option<Tags>,
        /// Words to find
        query: Option<String>,
        limit: Option<u32>,
        cursor: Option<String>,
    }

    ListParts {
        part_type: Option<PartType>,
        tags: Option<Tags>,
        query: Option<String>,
        limit: Option<u32>,
        cursor: Option<String>,
    }

    ListTraits {
        trait_type: Option<TraitType>,
        tags: Option<Tags>,
        query: Option<String>,
        limit: Option<u32>,
        cursor: Option<String>,
    }

    Search {
        query: String,
        kinds: Option<Vec<Kind>>,
        limit: Option<u32>,
        cursor: Option<String>,
    }

    /// Takes every kind; presets and test inputs have no list of their own.
    ListLibrary {
        kind: Kind,
        tags: Option<Tags>,
        query: Option<String>,
        limit: Option<u32>,
        cursor: Option<String>,
    }

    GetEntity {
        kind: Kind,
        name: Name,
        /// As of this revision or tag
        revision: Option<RevisionText>,
    }
}

persona_fields!(declare, { create writes CreatePersona {} {
    /// Names, or definitions to create too
    parts: Option<Vec<PartRef>>,
    traits: Option<Vec<TraitRef>>,
    skills: Option<Vec<SkillRef>>,
    guardrails: Option<Vec<GuardrailRef>>,
    arc: Option<Name>,
} });
part_fields!(declare, { create writes CreatePart {} {} });
trait_fields!(declare, { create writes CreateTrait {} {} });
skill_fields!(declare, { create writes CreateSkill {} {} });
guardrail_fields!(declare, { create writes CreateGuardrail {} {} });
arc_fields!(declare, { create writes CreateArc {} { stages: Option<Vec<NewStage>>, } });

persona_fields!(declare, { update changes UpdatePersona {} { new_name: Option<Name>, } });
part_fields!(declare, { update changes UpdatePart {} { new_name: Option<Name>, } });
trait_fields!(declare, { update changes UpdateTrait {} { new_name: Option<Name>, } });
skill_fields!(declare, { update changes UpdateSkill {} { new_name: Option<Name>, } });
guardrail_fields!(declare, { update changes UpdateGuardrail {} { new_name: Option<Name>, } });
arc_fields!(declare, { update changes UpdateArc {} { new_name: Option<Name>, } });

writes! {
    /// Creates an entity, or replaces it.
    SaveEntity {
        kind: Kind,
        name: Name,
        /// All fields of the entity
        entity: Map<String, Value>,
        /// Refuse if changed since this revision; 0: refuse if it exists
        if_revision: Option<i64>,
    }

    /// Changes some fields of an existing entity.
    AmendEntity {
        kind: Kind,
        name: Name,
        /// The fields to change; "" or [] clears one
        entity: Map<String, Value>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
    }
}

changes! {
    DeleteEntity {
        kind: Kind,
        name: Name,
        /// Also where others use it
        #[serde(default)]
        force: bool,
    }

    /// Restores an earlier revision, also of a deleted entity.
    Rollback {
        kind: Kind,
        name: Name,
        /// The revision or tag to go back to
        revision: RevisionText,
        /// Also the pieces of the same scope that it refers to
        #[serde(default)]
        with_pieces: bool,
    }

    Delete {
        name: Name,
        /// Also where others use it
        #[serde(default)]
        force: bool,
    }

    AddPart {
        persona: Name,
        part: Name,
        /// Lower comes first; default: last
        part_order: Option<i32>,
        /// Higher survives trimming
        priority: Option<i32>,
    }

    PersonaPart {
        persona: Name,
        part: Name,
    }

    PersonaTrait {
        persona: Name,
        #[serde(rename = "trait")]
        trait_: Name,
    }

    PersonaSkill {
        persona: Name,
        skill: Name,
    }

    PersonaGuardrail {
        persona: Name,
        guardrail: Name,
    }

    /// Adds a stage, or changes the one of that name.
    AddStage {
        arc: Name,
        name: Name,
        /// Default: last
        stage_order: Option<i32>,
        description: Option<String>,
        /// When to move on, for the calling agent
        condition: Option<String>,
    }

    RemoveStage {
        arc: Name,
        stage: Name,
        #[serde(default)]
        force: bool,
    }

    StagePart {
        arc: Name,
        stage: Name,
        part: Name,
    }

    AssignArc {
        persona: Name,
        arc: Name,
        /// Default: the first
        stage: Option<Name>,
    }

    UnassignArc {
        persona: Name,
    }
}
