//! What callers send. Unknown fields are refused, so that a misspelt one is never ignored.
//!
//! In updates a field that is absent or null stays as it is; `""` and `[]` clear it. Agents fill
//! optional parameters with null too often for null to mean "delete this".

use std::collections::BTreeMap;

use persona::{
    Aggregation, Kind, Name, PartType, PlanPersona, PreferredModel, Severity, Stage, Tags, TraitType,
};
use schemars::JsonSchema;
use serde::Deserialize;

mod references;
pub use references::{
    GuardrailDefinition, GuardrailRef, PartDefinition, PartRef, Reference, SkillDefinition, SkillRef,
    TraitDefinition, TraitRef,
};

/// Declares inputs that share the derives and the refusal of unknown fields.
macro_rules! inputs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type),* })+
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
        #[serde(default)]
        overrides: Option<BTreeMap<PartType, Name>>,
        /// Keep only parts of these types
        #[serde(default)]
        types: Option<Vec<PartType>>,
        /// Keep the top N parts by priority
        #[serde(default)]
        limit: Option<u32>,
        /// Drop lowest priorities until it fits
        #[serde(default)]
        max_tokens: Option<u32>,
        /// Only the merged prompt text
        #[serde(default)]
        compiled: bool,
    }

    List {
        /// All of these tags
        #[serde(default)]
        tags: Option<Tags>,
        /// Words to find
        #[serde(default)]
        query: Option<String>,
        #[serde(default)]
        limit: Option<u32>,
        #[serde(default)]
        cursor: Option<String>,
    }

    ListParts {
        #[serde(default)]
        part_type: Option<PartType>,
        #[serde(default)]
        tags: Option<Tags>,
        #[serde(default)]
        query: Option<String>,
        #[serde(default)]
        limit: Option<u32>,
        #[serde(default)]
        cursor: Option<String>,
    }

    ListTraits {
        #[serde(default)]
        trait_type: Option<TraitType>,
        #[serde(default)]
        tags: Option<Tags>,
        #[serde(default)]
        query: Option<String>,
        #[serde(default)]
        limit: Option<u32>,
        #[serde(default)]
        cursor: Option<String>,
    }

    Search {
        query: String,
        #[serde(default)]
        kinds: Option<Vec<Kind>>,
        #[serde(default)]
        limit: Option<u32>,
        #[serde(default)]
        cursor: Option<String>,
    }

    Delete {
        name: Name,
        /// Also where others use it
        #[serde(default)]
        force: bool,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    CreatePersona {
        name: Name,
        #[serde(default)]
        display_name: Option<String>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        summary: Option<String>,
        #[serde(default)]
        detail: Option<String>,
        #[serde(default)]
        system_prompt: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// First choice, then escalation
        #[serde(default)]
        preferred_models: Option<Vec<PreferredModel>>,
        #[serde(default)]
        tool_preset: Option<String>,
        #[serde(default)]
        bias_profile: Option<String>,
        #[serde(default)]
        context_preset: Option<String>,
        #[serde(default)]
        aggregation_strategy: Option<Aggregation>,
        #[serde(default)]
        plan_persona: Option<PlanPersona>,
        /// Names, or definitions to create too
        #[serde(default)]
        parts: Option<Vec<PartRef>>,
        #[serde(default)]
        traits: Option<Vec<TraitRef>>,
        #[serde(default)]
        skills: Option<Vec<SkillRef>>,
        #[serde(default)]
        guardrails: Option<Vec<GuardrailRef>>,
        #[serde(default)]
        arc: Option<Name>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    UpdatePersona {
        name: Name,
        #[serde(default)]
        new_name: Option<Name>,
        #[serde(default)]
        display_name: Option<String>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        summary: Option<String>,
        #[serde(default)]
        detail: Option<String>,
        #[serde(default)]
        system_prompt: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        #[serde(default)]
        preferred_models: Option<Vec<PreferredModel>>,
        #[serde(default)]
        tool_preset: Option<String>,
        #[serde(default)]
        bias_profile: Option<String>,
        #[serde(default)]
        context_preset: Option<String>,
        #[serde(default)]
        aggregation_strategy: Option<Aggregation>,
        #[serde(default)]
        plan_persona: Option<PlanPersona>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    CreatePart {
        name: Name,
        part_type: PartType,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        summary: Option<String>,
        #[serde(default)]
        content: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    UpdatePart {
        name: Name,
        #[serde(default)]
        new_name: Option<Name>,
        #[serde(default)]
        part_type: Option<PartType>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        summary: Option<String>,
        #[serde(default)]
        content: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    CreateTrait {
        name: Name,
        trait_type: TraitType,
        #[serde(default)]
        description: Option<String>,
        /// How to apply it
        #[serde(default)]
        instruction: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    UpdateTrait {
        name: Name,
        #[serde(default)]
        new_name: Option<Name>,
        #[serde(default)]
        trait_type: Option<TraitType>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        instruction: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    CreateSkill {
        name: Name,
        /// When to use it
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        content: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    UpdateSkill {
        name: Name,
        #[serde(default)]
        new_name: Option<Name>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        content: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    CreateGuardrail {
        name: Name,
        #[serde(default)]
        severity: Option<Severity>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        content: Option<String>,
        /// Patterns of tools to refuse
        #[serde(default)]
        deny_tools: Option<Vec<String>>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    UpdateGuardrail {
        name: Name,
        #[serde(default)]
        new_name: Option<Name>,
        #[serde(default)]
        severity: Option<Severity>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        content: Option<String>,
        #[serde(default)]
        deny_tools: Option<Vec<String>>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    AddPart {
        persona: Name,
        part: Name,
        /// Lower comes first; default: last
        #[serde(default)]
        part_order: Option<i32>,
        /// Higher survives trimming
        #[serde(default)]
        priority: Option<i32>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    PersonaPart {
        persona: Name,
        part: Name,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    PersonaTrait {
        persona: Name,
        #[serde(rename = "trait")]
        trait_: Name,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    PersonaSkill {
        persona: Name,
        skill: Name,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    PersonaGuardrail {
        persona: Name,
        guardrail: Name,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    CreateArc {
        name: Name,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        summary: Option<String>,
        #[serde(default)]
        stages: Option<Vec<Stage>>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    UpdateArc {
        name: Name,
        #[serde(default)]
        new_name: Option<Name>,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        summary: Option<String>,
        #[serde(default)]
        tags: Option<Tags>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    /// Adds a stage, or changes the one of that name.
    AddStage {
        arc: Name,
        name: Name,
        /// Default: last
        #[serde(default)]
        stage_order: Option<i32>,
        #[serde(default)]
        description: Option<String>,
        /// When to move on, for the calling agent
        #[serde(default)]
        condition: Option<String>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    RemoveStage {
        arc: Name,
        stage: Name,
        #[serde(default)]
        force: bool,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    StagePart {
        arc: Name,
        stage: Name,
        part: Name,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    AssignArc {
        persona: Name,
        arc: Name,
        /// Default: the first
        #[serde(default)]
        stage: Option<Name>,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }

    UnassignArc {
        persona: Name,
        /// Refuse if changed since this revision
        #[serde(default)]
        if_revision: Option<i64>,
        /// Why, for the history
        #[serde(default)]
        message: Option<String>,
    }
}
