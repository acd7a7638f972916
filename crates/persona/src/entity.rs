//! What is authored: personas and the pieces that they are composed of.
//!
//! These are the definitions alone. Where one is kept, its revision and its times are a
//! [`Meta`](crate::Meta) beside it; a persona's current stage and compiled text are state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Aggregation, Invalid, Kind, MergeMode, Name, PartType, Severity, TraitType};

pub type Tags = Vec<String>;

/// What all kinds share.
pub trait Entity {
    const KIND: Kind;

    fn name(&self) -> &Name;
    fn set_name(&mut self, name: Name);
    fn tags(&self) -> &Tags;

    /// Whether it may be kept.
    fn check(&self) -> Result<(), Invalid>;
}

macro_rules! entity {
    ($type:ident, $kind:ident) => {
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
        }
    };
}

/// A named, loadable agent configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(default)]
    pub system_prompt_mode: MergeMode,
    #[serde(default)]
    pub preferred_models: Vec<PreferredModel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_preset: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias_profile: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_preset: Option<Name>,
    #[serde(default)]
    pub aggregation_strategy: Aggregation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arc: Option<Name>,
    #[serde(default)]
    pub tags: Tags,
}

impl Persona {
    pub fn new(name: Name) -> Self {
        Self {
            name,
            display_name: None,
            description: None,
            summary: None,
            detail: None,
            system_prompt: None,
            system_prompt_mode: MergeMode::default(),
            preferred_models: Vec::new(),
            tool_preset: None,
            bias_profile: None,
            context_preset: None,
            aggregation_strategy: Aggregation::default(),
            plan_persona: None,
            parts: Vec::new(),
            parts_mode: MergeMode::default(),
            traits: Vec::new(),
            skills: Vec::new(),
            guardrails: Vec::new(),
            arc: None,
            tags: Tags::new(),
        }
    }

    /// The authored summary, else the description, else the system prompt's first sentence.
    pub fn summary_or_derived(&self) -> &str {
        self.summary
            .as_deref()
            .or(self.description.as_deref())
            .or_else(|| self.system_prompt.as_deref().map(first_sentence))
            .unwrap_or_default()
    }
}

/// A part's place in a persona: lower orders come first, higher priorities survive trimming.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
}

/// What changes while a persona plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PlanPersona {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_preset: Option<Name>,
}

/// A reusable building block of behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: Name,
    pub part_type: PartType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default)]
    pub tags: Tags,
}

impl Part {
    /// The authored summary, else the description, else the content's first sentence.
    pub fn summary_or_derived(&self) -> &str {
        self.summary
            .as_deref()
            .or(self.description.as_deref())
            .or_else(|| self.content.as_deref().map(first_sentence))
            .unwrap_or_default()
    }

    /// The authored content, else what there is of a summary.
    pub fn content_or_summary(&self) -> &str {
        self.content.as_deref().unwrap_or_else(|| self.summary_or_derived())
    }
}

/// An atomic unit of personality, loaded one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trait {
    pub name: Name,
    pub trait_type: TraitType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    #[serde(default)]
    pub tags: Tags,
}

/// Something that a persona knows how to do; its content is loaded on demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default)]
    pub tags: Tags,
}

/// What a persona must not do; never dropped to fit a budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guardrail {
    pub name: Name,
    #[serde(default)]
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Patterns of tool names that the runtime refuses to call.
    #[serde(default)]
    pub deny_tools: Vec<String>,
    #[serde(default)]
    pub tags: Tags,
}

/// A progression that a persona goes through, stage by stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CharacterArc {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When to move on, in words for the calling agent; never evaluated here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

entity!(Persona, Persona);
entity!(Part, Part);
entity!(Trait, Trait);
entity!(Skill, Skill);
entity!(Guardrail, Guardrail);
entity!(CharacterArc, Arc);

/// The first sentence of a text: up to the first full stop, question or exclamation mark that
/// ends a word, or the first blank line.
pub fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let paragraph = text.split("\n\n").next().unwrap_or(text).trim_end();
    let end = paragraph.char_indices().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let ends =
            matches!(c, '.' | '!' | '?') && paragraph[after..].chars().next().is_none_or(char::is_whitespace);
        (ends || c == '。').then_some(after)
    });
    &paragraph[..end.unwrap_or(paragraph.len())]
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn first_sentences() {
        for (text, first) in [
            ("You review code. Be kind.", "You review code."),
            ("Version 1.5 is out! Really.", "Version 1.5 is out!"),
            ("No end", "No end"),
            ("  One\n\nTwo.", "One"),
            ("", ""),
            ("日本語。次", "日本語。"),
        ] {
            assert_eq!(first_sentence(text), first);
        }
    }
}
