//! The fields of each kind, as flags. What is serialised has the names that files have too.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use persona::{Aggregation, MergeMode, PartType, Severity, TraitType};
use serde::Serialize;

use crate::cli::{clearable, vocabulary};
use crate::definition::read_text;
use crate::failure::Result;

mod presets;
pub(crate) use presets::{BiasProfileFields, ContextPresetFields, TestInputFields};

/// Flags of one kind. An absent flag is serialised as null.
pub(crate) trait Fields: Args + Serialize {
    /// Puts the contents of `--content-file` and its like into their fields.
    fn read_files(&mut self) -> Result<()> {
        Ok(())
    }
}

fn read_into(field: &mut Option<String>, file: Option<&PathBuf>) -> Result<()> {
    if let Some(path) = file {
        *field = Some(read_text(path)?);
    }
    Ok(())
}

/// Tags and other lists: an empty value alone clears the list.
fn list<S: serde::Serializer>(
    values: &Option<Vec<String>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let values =
        values.as_ref().map(|values| values.iter().filter(|value| !value.is_empty()).collect::<Vec<_>>());
    values.serialize(serializer)
}

/// What most kinds say about themselves; all that a tool preset says outside a file.
#[derive(Debug, Args, Serialize)]
pub(crate) struct AboutFields {
    /// When to use it, in a sentence
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A tag; repeat it for more
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(serialize_with = "list")]
    tags: Option<Vec<String>>,
}

impl Fields for AboutFields {}

#[derive(Debug, Args, Serialize)]
pub(crate) struct PersonaFields {
    /// The name that people see; free text
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// When to use it, in a sentence
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// What it is, in a sentence; loaded by default
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// What there is to know about it; loaded with detail
    #[arg(long, value_name = "TEXT")]
    detail: Option<String>,
    /// The detail, from a file; "-" for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "detail")]
    #[serde(skip)]
    detail_file: Option<PathBuf>,
    /// The text that its prompt opens with
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// The system prompt, from a file; "-" for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "system_prompt")]
    #[serde(skip)]
    system_prompt_file: Option<PathBuf>,
    /// A tag; repeat it for more
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(serialize_with = "list")]
    tags: Option<Vec<String>>,
    /// A model to speak through; the first is the choice, the rest are for escalation
    #[arg(long = "model", value_name = "PROVIDER/MODEL")]
    #[serde(serialize_with = "models")]
    preferred_models: Option<Vec<ModelWord>>,
    /// The tool preset to work with
    #[arg(long, value_name = "NAME")]
    tool_preset: Option<String>,
    /// The bias profile to work with
    #[arg(long, value_name = "NAME")]
    bias_profile: Option<String>,
    /// The context preset to work with
    #[arg(long, value_name = "NAME")]
    context_preset: Option<String>,
    /// How context files are put together
    #[arg(long, value_name = "HOW", value_parser = clearable(Aggregation::ALL, Aggregation::as_str))]
    aggregation_strategy: Option<String>,
    /// How many replies of one run may call tools, 1 to 1000; 0 for what its base says
    #[arg(long, value_name = "N")]
    max_tool_rounds: Option<u32>,
    /// Something to try it with; repeat it for more
    #[arg(long = "test-input", value_name = "NAME")]
    #[serde(serialize_with = "list")]
    test_inputs: Option<Vec<String>>,
    #[command(flatten)]
    #[serde(flatten)]
    inherited: InheritedFields,
    #[command(flatten)]
    #[serde(rename = "plan_persona", skip_serializing_if = "PlanFields::is_empty")]
    plan: PlanFields,
}

impl Fields for PersonaFields {
    fn read_files(&mut self) -> Result<()> {
        read_into(&mut self.detail, self.detail_file.as_ref())?;
        read_into(&mut self.system_prompt, self.system_prompt_file.as_ref())
    }
}

/// Where the flags about bases stand in the help.
const INHERITANCE: &str = "Inheritance";

/// What a persona makes of its base.
#[derive(Debug, Args, Serialize)]
struct InheritedFields {
    /// The persona that it builds on; one of a scope, as in global:coder, may have its own name
    #[arg(help_heading = INHERITANCE, long, value_name = "NAME|SCOPE:NAME")]
    extends: Option<String>,
    /// Whether its system prompt stands in place of the base's, or below it
    #[arg(help_heading = INHERITANCE, long, value_name = "HOW", value_parser = vocabulary(MergeMode::ALL, MergeMode::as_str))]
    system_prompt_mode: Option<MergeMode>,
    /// Whether its parts of a type stand in place of the base's, or after them
    #[arg(help_heading = INHERITANCE, long, value_name = "HOW", value_parser = vocabulary(MergeMode::ALL, MergeMode::as_str))]
    parts_mode: Option<MergeMode>,
    /// A part of the base that it does not have; repeat it for more
    #[arg(help_heading = INHERITANCE, long = "remove-part", value_name = "NAME")]
    #[serde(serialize_with = "list")]
    remove_parts: Option<Vec<String>>,
    /// A trait of the base that it does not have; repeat it for more
    #[arg(help_heading = INHERITANCE, long = "remove-trait", value_name = "NAME")]
    #[serde(serialize_with = "list")]
    remove_traits: Option<Vec<String>>,
    /// A skill of the base that it does not have; repeat it for more
    #[arg(help_heading = INHERITANCE, long = "remove-skill", value_name = "NAME")]
    #[serde(serialize_with = "list")]
    remove_skills: Option<Vec<String>>,
    /// A guardrail of the base that it does not have; repeat it for more
    #[arg(help_heading = INHERITANCE, long = "remove-guardrail", value_name = "NAME")]
    #[serde(serialize_with = "list")]
    remove_guardrails: Option<Vec<String>>,
    /// A tag of the base that it does not have; repeat it for more
    #[arg(help_heading = INHERITANCE, long = "remove-tag", value_name = "TAG")]
    #[serde(serialize_with = "list")]
    remove_tags: Option<Vec<String>>,
    /// A test input of the base that it does not have; repeat it for more
    #[arg(help_heading = INHERITANCE, long = "remove-test-input", value_name = "NAME")]
    #[serde(serialize_with = "list")]
    remove_test_inputs: Option<Vec<String>>,
}

/// What changes while a persona plans.
#[derive(Debug, Args, Serialize)]
struct PlanFields {
    /// What to tell it while it plans
    #[arg(long = "plan-instruction", value_name = "TEXT")]
    #[serde(rename = "instruction", skip_serializing_if = "Option::is_none")]
    plan_instruction: Option<String>,
    /// The model to plan with
    #[arg(long = "plan-model", value_name = "MODEL")]
    #[serde(rename = "model", skip_serializing_if = "Option::is_none")]
    plan_model: Option<String>,
    /// The tool preset to plan with
    #[arg(long = "plan-tool-preset", value_name = "NAME")]
    #[serde(rename = "tool_preset", skip_serializing_if = "Option::is_none")]
    plan_tool_preset: Option<String>,
}

impl PlanFields {
    fn is_empty(&self) -> bool {
        let Self { plan_instruction, plan_model, plan_tool_preset } = self;
        plan_instruction.is_none() && plan_model.is_none() && plan_tool_preset.is_none()
    }
}

/// `anthropic/claude-sonnet-4-5` as a flag; nothing, for no model at all.
#[derive(Debug, Clone)]
struct ModelWord(Option<Model>);

#[derive(Debug, Clone, Serialize)]
struct Model {
    provider: String,
    model: String,
}

/// Models are a list like others: an empty value alone clears it.
fn models<S: serde::Serializer>(
    words: &Option<Vec<ModelWord>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let words =
        words.as_ref().map(|words| words.iter().filter_map(|word| word.0.as_ref()).collect::<Vec<_>>());
    words.serialize(serializer)
}

impl FromStr for ModelWord {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self(Some(Model { provider: provider.to_owned(), model: model.to_owned() })))
            }
            None if text.is_empty() => Ok(Self(None)),
            _ => Err("write a provider and its model, as in anthropic/claude-sonnet-4-5"),
        }
    }
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct NewPersonaFields {
    #[command(flatten)]
    #[serde(flatten)]
    own: PersonaFields,
    /// A part to link, in order; repeat it for more
    #[arg(long = "part", value_name = "NAME")]
    parts: Option<Vec<String>>,
    /// A trait to link; repeat it for more
    #[arg(long = "trait", value_name = "NAME")]
    traits: Option<Vec<String>>,
    /// A skill to link; repeat it for more
    #[arg(long = "skill", value_name = "NAME")]
    skills: Option<Vec<String>>,
    /// A guardrail to link; repeat it for more
    #[arg(long = "guardrail", value_name = "NAME")]
    guardrails: Option<Vec<String>>,
    /// An arc to go through, from its first stage
    #[arg(long, value_name = "NAME")]
    arc: Option<String>,
}

impl Fields for NewPersonaFields {
    fn read_files(&mut self) -> Result<()> {
        self.own.read_files()
    }
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct PartFields {
    /// What the part is about
    #[arg(long, alias = "type", value_name = "TYPE", value_parser = vocabulary(PartType::ALL, PartType::as_str))]
    part_type: Option<PartType>,
    #[command(flatten)]
    #[serde(flatten)]
    about: AboutFields,
    /// What it says, in a sentence; loaded by default
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// What it says in full; loaded with detail
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The content, from a file; "-" for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    #[serde(skip)]
    content_file: Option<PathBuf>,
}

impl Fields for PartFields {
    fn read_files(&mut self) -> Result<()> {
        read_into(&mut self.content, self.content_file.as_ref())
    }
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct TraitFields {
    /// What kind of trait it is
    #[arg(long, alias = "type", value_name = "TYPE", value_parser = vocabulary(TraitType::ALL, TraitType::as_str))]
    trait_type: Option<TraitType>,
    /// What it is, in a sentence
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// How to apply it in practice
    #[arg(long, value_name = "TEXT")]
    instruction: Option<String>,
    /// The instruction, from a file; "-" for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "instruction")]
    #[serde(skip)]
    instruction_file: Option<PathBuf>,
    /// A tag; repeat it for more
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(serialize_with = "list")]
    tags: Option<Vec<String>>,
}

impl Fields for TraitFields {
    fn read_files(&mut self) -> Result<()> {
        read_into(&mut self.instruction, self.instruction_file.as_ref())
    }
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct SkillFields {
    #[command(flatten)]
    #[serde(flatten)]
    about: AboutFields,
    /// How it is done
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The content, from a file; "-" for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    #[serde(skip)]
    content_file: Option<PathBuf>,
}

impl Fields for SkillFields {
    fn read_files(&mut self) -> Result<()> {
        read_into(&mut self.content, self.content_file.as_ref())
    }
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct GuardrailFields {
    /// How much it matters
    #[arg(long, value_name = "SEVERITY", value_parser = vocabulary(Severity::ALL, Severity::as_str))]
    severity: Option<Severity>,
    /// What is forbidden, in a sentence
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// What is forbidden, in full
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The content, from a file; "-" for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    #[serde(skip)]
    content_file: Option<PathBuf>,
    /// A pattern of tool names to refuse, as in "write_*"; repeat it for more
    #[arg(long = "deny-tool", value_name = "PATTERN")]
    #[serde(serialize_with = "list")]
    deny_tools: Option<Vec<String>>,
    /// A tag; repeat it for more
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(serialize_with = "list")]
    tags: Option<Vec<String>>,
}

impl Fields for GuardrailFields {
    fn read_files(&mut self) -> Result<()> {
        read_into(&mut self.content, self.content_file.as_ref())
    }
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct ArcFields {
    #[command(flatten)]
    #[serde(flatten)]
    about: AboutFields,
    /// What it leads through, in a sentence
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
}

impl Fields for ArcFields {}

#[derive(Debug, Args, Serialize)]
pub(crate) struct NewArcFields {
    #[command(flatten)]
    #[serde(flatten)]
    own: ArcFields,
    /// A stage, in order; repeat it for more. `arc add-stage` gives a stage its texts
    #[arg(long = "stage", value_name = "NAME")]
    stages: Option<Vec<StageWord>>,
}

impl Fields for NewArcFields {}

/// A stage by its name alone.
#[derive(Debug, Clone, Serialize)]
struct StageWord {
    name: String,
}

impl FromStr for StageWord {
    type Err = std::convert::Infallible;

    fn from_str(name: &str) -> std::result::Result<Self, Self::Err> {
        Ok(Self { name: name.to_owned() })
    }
}
