//! Every field of a file: what it is for, and what its value must be. Where a type has said it well enough
//! in its own documentation, the text here is empty.

mod personas;
mod pieces;
mod presets;

use persona::Kind;

use super::rules::Rule;

/// A field of an entry, by its path in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) path: &'static str,
    pub(super) rule: Rule,
    /// What an editor shows; empty where the type's own words serve.
    pub(super) about: &'static str,
}

const fn field(path: &'static str, rule: Rule, about: &'static str) -> Field {
    Field { path, rule, about }
}

pub(super) const fn of(kind: Kind) -> &'static [Field] {
    match kind {
        Kind::Persona => personas::PERSONA,
        Kind::Part => pieces::PART,
        Kind::Trait => pieces::TRAIT,
        Kind::Skill => pieces::SKILL,
        Kind::Guardrail => pieces::GUARDRAIL,
        Kind::Arc => pieces::ARC,
        Kind::ToolPreset => presets::TOOL_PRESET,
        Kind::BiasProfile => presets::BIAS_PROFILE,
        Kind::ContextPreset => presets::CONTEXT_PRESET,
        Kind::TestInput => presets::TEST_INPUT,
    }
}

pub(super) use pieces::about_part_type;

/// What stands under a kind's table.
pub(super) const fn about_table(kind: Kind) -> &'static str {
    match kind {
        Kind::Persona => "Personas: who an agent is and how it works. `[personas.NAME]` defines one.",
        Kind::Part => {
            "Parts: typed building blocks of behaviour that personas and stages name. `[parts.NAME]` defines one."
        }
        Kind::Trait => "Traits: single features of personality. `[traits.NAME]` defines one.",
        Kind::Skill => "Skills: how to do something, loaded when it is needed. `[skills.NAME]` defines one.",
        Kind::Guardrail => "Guardrails: what must not be done. `[guardrails.NAME]` defines one.",
        Kind::Arc => "Arcs: stages that a persona goes through. `[arcs.NAME]` defines one.",
        Kind::ToolPreset => {
            "Tool presets: which tools a persona has, and whether it must ask. `[tool_presets.NAME]` defines one."
        }
        Kind::BiasProfile => {
            "Bias profiles: which categories of tools a persona leans to. `[bias_profiles.NAME]` defines one."
        }
        Kind::ContextPreset => {
            "Context presets: which files reach the prompt, and how much of each. `[context_presets.NAME]` defines one."
        }
        Kind::TestInput => "Test inputs: what personas are tried with. `[test_inputs.NAME]` defines one.",
    }
}
