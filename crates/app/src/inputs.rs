//! What callers send. Unknown fields are refused, so that a misspelt one is never ignored.
//!
//! In updates a field that is absent or null stays as it is; `""` and `[]` clear it. Agents fill
//! optional parameters with null too often for null to mean "delete this".

use std::collections::BTreeMap;

use persona::{
    Aggregation, Kind, MergeMode, Name, PartType, PlanPersona, PreferredModel, Scope, Severity, Stage, Tags,
    TraitType,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

mod revision;
pub use revision::RevisionText;
mod references;
pub use references::{
    GuardrailDefinition, GuardrailRef, PartDefinition, PartRef, Reference, SkillDefinition, SkillRef,
    TraitDefinition, TraitRef,
};

/// Declares inputs that share the derives, the refusal of unknown fields, and the scope.
macro_rules! inputs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            // Reads: only this scope. Writes: where to; a name is changed where it is found.
            pub scope: Option<Scope>,
        })+
    };
}

inputs! {
    ByName { name: Name }

    OfPersona { persona: Name }

    GetPersona {
        name: Name,
        /// Full contents instead of summaries
        #[serde(default)]
        detail: bool,
        /// Part type → part name, for this call only
        overrides: Option<BTreeMap<PartType, Name>>,
        /// Keep only parts of these types
        types: Option<Vec<PartType>>,
        /// Keep the top N parts by priority
        limit: Option<u32>,
        /// Drop lowest priorities until it fits
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

    /// Presets and test inputs come through here; it takes every kind.
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

    /// Creates it, or puts it in place of what is there.
    SaveEntity {
        kind: Kind,
        name: Name,
        /// All fields that it is to have
        entity: Map<String, Value>,
        /// Refuse if changed since this revision; 0: refuse if it exists
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    DeleteEntity {
        kind: Kind,
        name: Name,
        /// Also where others use it
        #[serde(default)]
        force: bool,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    Delete {
        name: Name,
        /// Also where others use it
        #[serde(default)]
        force: bool,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    CreatePersona {
        name: Name,
        display_name: Option<String>,
        description: Option<String>,
        summary: Option<String>,
        detail: Option<String>,
        system_prompt: Option<String>,
        tags: Option<Tags>,
        /// First choice, then escalation
        preferred_models: Option<Vec<PreferredModel>>,
        tool_preset: Option<String>,
        bias_profile: Option<String>,
        context_preset: Option<String>,
        aggregation_strategy: Option<Aggregation>,
        plan_persona: Option<PlanPersona>,
        /// Base persona: name, or scope:name
        extends: Option<String>,
        system_prompt_mode: Option<MergeMode>,
        parts_mode: Option<MergeMode>,
        remove_parts: Option<Vec<Name>>,
        remove_traits: Option<Vec<Name>>,
        remove_skills: Option<Vec<Name>>,
        remove_guardrails: Option<Vec<Name>>,
        remove_tags: Option<Tags>,
        remove_test_inputs: Option<Vec<Name>>,
        test_inputs: Option<Vec<Name>>,
        /// Names, or definitions to create too
        parts: Option<Vec<PartRef>>,
        traits: Option<Vec<TraitRef>>,
        skills: Option<Vec<SkillRef>>,
        guardrails: Option<Vec<GuardrailRef>>,
        arc: Option<Name>,
        /// Why, for the history
        message: Option<String>,
    }

    UpdatePersona {
        name: Name,
        new_name: Option<Name>,
        display_name: Option<String>,
        description: Option<String>,
        summary: Option<String>,
        detail: Option<String>,
        system_prompt: Option<String>,
        tags: Option<Tags>,
        preferred_models: Option<Vec<PreferredModel>>,
        tool_preset: Option<String>,
        bias_profile: Option<String>,
        context_preset: Option<String>,
        aggregation_strategy: Option<Aggregation>,
        plan_persona: Option<PlanPersona>,
        /// Base persona: name, or scope:name
        extends: Option<String>,
        system_prompt_mode: Option<MergeMode>,
        parts_mode: Option<MergeMode>,
        remove_parts: Option<Vec<Name>>,
        remove_traits: Option<Vec<Name>>,
        remove_skills: Option<Vec<Name>>,
        remove_guardrails: Option<Vec<Name>>,
        remove_tags: Option<Tags>,
        remove_test_inputs: Option<Vec<Name>>,
        test_inputs: Option<Vec<Name>>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    CreatePart {
        name: Name,
        part_type: PartType,
        description: Option<String>,
        summary: Option<String>,
        content: Option<String>,
        tags: Option<Tags>,
        /// Why, for the history
        message: Option<String>,
    }

    UpdatePart {
        name: Name,
        new_name: Option<Name>,
        part_type: Option<PartType>,
        description: Option<String>,
        summary: Option<String>,
        content: Option<String>,
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    CreateTrait {
        name: Name,
        trait_type: TraitType,
        description: Option<String>,
        /// How to apply it
        instruction: Option<String>,
        tags: Option<Tags>,
        /// Why, for the history
        message: Option<String>,
    }

    UpdateTrait {
        name: Name,
        new_name: Option<Name>,
        trait_type: Option<TraitType>,
        description: Option<String>,
        instruction: Option<String>,
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    CreateSkill {
        name: Name,
        /// When to use it
        description: Option<String>,
        content: Option<String>,
        tags: Option<Tags>,
        /// Why, for the history
        message: Option<String>,
    }

    UpdateSkill {
        name: Name,
        new_name: Option<Name>,
        description: Option<String>,
        content: Option<String>,
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    CreateGuardrail {
        name: Name,
        severity: Option<Severity>,
        description: Option<String>,
        content: Option<String>,
        /// Patterns of tools to refuse
        deny_tools: Option<Vec<String>>,
        tags: Option<Tags>,
        /// Why, for the history
        message: Option<String>,
    }

    UpdateGuardrail {
        name: Name,
        new_name: Option<Name>,
        severity: Option<Severity>,
        description: Option<String>,
        content: Option<String>,
        deny_tools: Option<Vec<String>>,
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    AddPart {
        persona: Name,
        part: Name,
        /// Lower comes first; default: last
        part_order: Option<i32>,
        /// Higher survives trimming
        priority: Option<i32>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    PersonaPart {
        persona: Name,
        part: Name,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    PersonaTrait {
        persona: Name,
        #[serde(rename = "trait")]
        trait_: Name,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    PersonaSkill {
        persona: Name,
        skill: Name,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    PersonaGuardrail {
        persona: Name,
        guardrail: Name,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    CreateArc {
        name: Name,
        description: Option<String>,
        summary: Option<String>,
        stages: Option<Vec<Stage>>,
        tags: Option<Tags>,
        /// Why, for the history
        message: Option<String>,
    }

    UpdateArc {
        name: Name,
        new_name: Option<Name>,
        description: Option<String>,
        summary: Option<String>,
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
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
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    RemoveStage {
        arc: Name,
        stage: Name,
        #[serde(default)]
        force: bool,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    StagePart {
        arc: Name,
        stage: Name,
        part: Name,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    AssignArc {
        persona: Name,
        arc: Name,
        /// Default: the first
        stage: Option<Name>,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }

    UnassignArc {
        persona: Name,
        /// Refuse if changed since this revision
        if_revision: Option<i64>,
        /// Why, for the history
        message: Option<String>,
    }
}
