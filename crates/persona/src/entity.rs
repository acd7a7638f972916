//! What is authored: personas and the pieces that they are composed of.
//!
//! These are the definitions alone. Where one is kept, its revision and its times are a
//! [`Meta`](crate::Meta) beside it; a persona's current stage and compiled text are state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Aggregation, BaseRef, Invalid, Kind, MergeMode, Name, PartType, Reference, Rename, Severity, TraitType,
};

pub type Tags = Vec<String>;

/// What all kinds share.
pub trait Entity {
    const KIND: Kind;

    fn name(&self) -> &Name;
    fn set_name(&mut self, name: Name);
    fn tags(&self) -> &Tags;

    /// Whether it may be kept.
    fn check(&self) -> Result<(), Invalid>;

    /// Everything that it names, in the order of its fields.
    fn references(&self) -> Vec<Reference> {
        Vec::new()
    }

    /// Follows a rename of what it names; whether anything changed.
    fn follow_rename(&mut self, _: &Rename) -> bool {
        false
    }
}

/// Says once how a definition fulfils [`Entity`]; `refers` is for those that name others.
macro_rules! entity {
    ($type:ident, $kind:ident $(, $refers:ident)?) => {
        impl Entity for $type {
            const KIND: Kind = Kind::$kind;

            fn name(&self) -> &Name {
                &self.name
            }

            fn set_name(&mut self, name: Name) {
                self.name = name;
            }

            fn tags(&self) -> &Tags {
                &self.tags
            }

            fn check(&self) -> Result<(), Invalid> {
                $type::check(self)
            }

            $(entity!(@$refers $type);)?
        }
    };
    (@refers $type:ident) => {
        fn references(&self) -> Vec<Reference> {
            $type::references(self)
        }

        fn follow_rename(&mut self, rename: &Rename) -> bool {
            $type::follow_rename(self, rename)
        }
    };
}
pub(crate) use entity;

/// A named, loadable agent configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The persona that this one builds on: `name`, or `scope:name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<BaseRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(default)]
    pub system_prompt_mode: MergeMode,
    #[serde(default)]
    pub preferred_models: Vec<PreferredModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_preset: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias_profile: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_preset: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation_strategy: Option<Aggregation>,
    /// How many replies of one run may call tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tool_rounds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_persona: Option<PlanPersona>,
    #[serde(default)]
    pub parts: Vec<PartLink>,
    #[serde(default)]
    pub parts_mode: MergeMode,
    #[serde(default)]
    pub traits: Vec<Name>,
    #[serde(default)]
    pub skills: Vec<Name>,
    #[serde(default)]
    pub guardrails: Vec<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arc: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_inputs: Vec<Name>,
    #[serde(default)]
    pub tags: Tags,
    /// What is taken away from the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_parts: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_traits: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_skills: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_guardrails: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_test_inputs: Vec<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_tags: Tags,
}

impl Persona {
    pub fn new(name: Name) -> Self {
        Self {
            name,
            display_name: None,
            description: None,
            summary: None,
            detail: None,
            extends: None,
            system_prompt: None,
            system_prompt_mode: MergeMode::default(),
            preferred_models: Vec::new(),
            tool_preset: None,
            bias_profile: None,
            context_preset: None,
            aggregation_strategy: None,
            max_tool_rounds: None,
            plan_persona: None,
            parts: Vec::new(),
            parts_mode: MergeMode::default(),
            traits: Vec::new(),
            skills: Vec::new(),
            guardrails: Vec::new(),
            arc: None,
            test_inputs: Vec::new(),
            tags: Tags::new(),
            remove_parts: Vec::new(),
            remove_traits: Vec::new(),
            remove_skills: Vec::new(),
            remove_guardrails: Vec::new(),
            remove_test_inputs: Vec::new(),
            remove_tags: Tags::new(),
        }
    }

    /// The model that it would like to speak through first.
    pub fn first_model(&self) -> Option<&PreferredModel> {
        self.preferred_models.first()
    }

    pub fn provider(&self) -> Option<&str> {
        self.first_model().map(|model| model.provider.as_str())
    }

    pub fn model(&self) -> Option<&str> {
        self.first_model().map(|model| model.model.as_str())
    }

    /// Of the first model: what is set, else 0.0.
    pub fn temperature(&self) -> Option<f64> {
        self.first_model().map(|model| model.temperature.unwrap_or(0.0))
    }

    /// Of the first model: what is set, else 1.0.
    pub fn top_p(&self) -> Option<f64> {
        self.first_model().map(|model| model.top_p.unwrap_or(1.0))
    }

    /// Of the first model: what is set; otherwise the provider decides.
    pub fn max_output_tokens(&self) -> Option<u32> {
        self.first_model().and_then(|model| model.max_output_tokens)
    }

    /// The authored summary, else the description, else the system prompt's first sentence.
    pub fn summary_or_derived(&self) -> &str {
        said(&self.summary)
            .or(said(&self.description))
            .or_else(|| said(&self.system_prompt).map(first_sentence))
            .unwrap_or_default()
    }

    /// The system prompt, else the detail, else the summary. Where there is a system prompt, the
    /// detail is about the persona, not for it.
    pub fn prompt_or_derived(&self) -> &str {
        said(&self.system_prompt).or(said(&self.detail)).unwrap_or_else(|| self.summary_or_derived())
    }
}

/// A part's place in a persona: lower orders come first, higher priorities survive trimming.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a name, or {name, order, priority}")]
#[schemars(inline)]
pub struct PartLink {
    pub name: Name,
    #[serde(default)]
    pub order: i32,
    #[serde(default)]
    pub priority: i32,
}

/// A model that a persona would like to speak through: the first is the choice, the rest are
/// escalation targets. The accessors return defaults; the wire carries only what is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PreferredModel {
    pub provider: String,
    pub model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
}

/// What changes while a persona plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PlanPersona {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_preset: Option<Name>,
}

/// A reusable building block of behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: Name,
    pub part_type: PartType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default)]
    pub tags: Tags,
}

impl Part {
    /// The authored summary, else the description, else the content's first sentence.
    pub fn summary_or_derived(&self) -> &str {
        said(&self.summary)
            .or(said(&self.description))
            .or_else(|| said(&self.content).map(first_sentence))
            .unwrap_or_default()
    }

    /// The authored content, else what there is of a summary.
    pub fn content_or_summary(&self) -> &str {
        said(&self.content).unwrap_or_else(|| self.summary_or_derived())
    }
}

/// An atomic unit of personality, loaded one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trait {
    pub name: Name,
    pub trait_type: TraitType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    #[serde(default)]
    pub tags: Tags,
}

impl Trait {
    /// The authored description, else the instruction's first sentence.
    pub fn description_or_derived(&self) -> &str {
        said(&self.description).or_else(|| said(&self.instruction).map(first_sentence)).unwrap_or_default()
    }

    /// The authored instruction, else the description.
    pub fn instruction_or_description(&self) -> &str {
        said(&self.instruction).or(said(&self.description)).unwrap_or_default()
    }
}

/// Something that a persona knows how to do; its content is loaded on demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default)]
    pub tags: Tags,
}

impl Skill {
    /// The authored description, else the content's first sentence.
    pub fn description_or_derived(&self) -> &str {
        said(&self.description).or_else(|| said(&self.content).map(first_sentence)).unwrap_or_default()
    }
}

/// What a persona must not do; never dropped to fit a budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guardrail {
    pub name: Name,
    #[serde(default)]
    pub severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Patterns of tool names that the runtime refuses to call.
    #[serde(default)]
    pub deny_tools: Vec<String>,
    #[serde(default)]
    pub tags: Tags,
}

impl Guardrail {
    /// The authored description, else the content's first sentence.
    pub fn description_or_derived(&self) -> &str {
        said(&self.description).or_else(|| said(&self.content).map(first_sentence)).unwrap_or_default()
    }

    /// The authored content, else the description.
    pub fn content_or_description(&self) -> &str {
        said(&self.content).or(said(&self.description)).unwrap_or_default()
    }
}

/// A progression that a persona goes through, stage by stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CharacterArc {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default)]
    pub stages: Vec<Stage>,
    #[serde(default)]
    pub tags: Tags,
}

/// One stage of an arc: its parts take the place of the persona's own parts of their types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Stage {
    pub name: Name,
    #[serde(default)]
    pub order: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When to move on, in words for the calling agent; never evaluated here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(default)]
    pub parts: Vec<Name>,
}

impl CharacterArc {
    /// The stages as they are walked through: by order, then name.
    pub fn walk(&self) -> Vec<&Stage> {
        let mut stages: Vec<&Stage> = self.stages.iter().collect();
        stages.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.name.cmp(&b.name)));
        stages
    }

    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name.as_str() == name)
    }

    /// The stage after `current`, if there is one.
    pub fn stage_after(&self, current: &str) -> Option<&Stage> {
        let walk = self.walk();
        let position = walk.iter().position(|stage| stage.name.as_str() == current)?;
        walk.get(position + 1).copied()
    }
}

entity!(Persona, Persona, refers);
entity!(Part, Part);
entity!(Trait, Trait);
entity!(Skill, Skill);
entity!(Guardrail, Guardrail);
entity!(CharacterArc, Arc, refers);

/// A text that says something: a blank one is as good as none.
pub(crate) fn said(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

/// The first sentence of a text: up to the first full stop, question or exclamation mark that
/// ends a word, or the first blank line. A heading above it is passed over.
pub fn first_sentence(text: &str) -> &str {
    let mut text = text.trim();
    while is_heading(text)
        && let Some((_, below)) = text.split_once('\n')
    {
        text = below.trim_start();
    }
    if is_heading(text) {
        text = text.trim_start_matches('#').trim_start();
    }
    let lines = text.split_inclusive('\n').take_while(|line| !line.trim().is_empty());
    let paragraph = text[..lines.map(str::len).sum()].trim_end();
    let end = paragraph.char_indices().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let ends =
            matches!(c, '.' | '!' | '?') && paragraph[after..].chars().next().is_none_or(char::is_whitespace);
        (ends || c == '。').then_some(after)
    });
    &paragraph[..end.unwrap_or(paragraph.len())]
}

/// Whether a text begins with a markdown heading.
fn is_heading(text: &str) -> bool {
    let below_hashes = text.trim_start_matches('#');
    (1..=6).contains(&(text.len() - below_hashes.len())) && below_hashes.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests;
