//! The texts of a definition, and the rules that look at texts alone.

use super::{Level, Report, Rule, Settings, hidden, lookalike, placeholders, secret};
use crate::env::{Place, Places};
use crate::{AnyEntity, ContextPreset, Persona, ToolPreset};

/// Findings of one rule in one field that are told one by one; the rest is a number.
const TOLD_PER_FIELD: usize = 5;

/// Something found in a text.
pub(super) trait Hit {
    /// The byte at which it stands.
    fn at(&self) -> usize;

    /// What it is, and what to do about it.
    fn describe(&self, place: Place) -> (String, Option<String>);
}

pub(super) fn check(report: &mut Report<'_, '_>, settings: &Settings) {
    let entity = report.subject.entity;
    // A test input may hold what it tests the persona against.
    let hidden_level = match entity {
        AnyEntity::TestInput(_) => Level::Warning,
        _ => Rule::HiddenUnicode.level(),
    };
    for Text { field, text, is_filled } in texts(entity) {
        tell(report, Rule::HiddenUnicode, hidden_level, &field, text, &hidden::find(text));
        tell(report, Rule::LookAlike, Rule::LookAlike.level(), &field, text, &lookalike::find(text));
        tell(report, Rule::Secret, Rule::Secret.level(), &field, text, &secret::find(text));
        placeholders::check(report, &field, text, is_filled, settings);
    }
    if let AnyEntity::TestInput(input) = entity {
        for (at, text) in input.expectations.iter().enumerate() {
            let field = format!("expectations[{at}]");
            tell(report, Rule::Secret, Rule::Secret.level(), &field, text, &secret::find(text));
        }
    }
}

/// Reports what was found in a field, in the order of the text.
pub(super) fn tell<T: Hit>(
    report: &mut Report<'_, '_>,
    rule: Rule,
    level: Level,
    field: &str,
    text: &str,
    hits: &[T],
) {
    let mut places = Places::new(text);
    for hit in hits.iter().take(TOLD_PER_FIELD) {
        let place = places.at(hit.at());
        report.add_at(rule, level, field, place, hit.describe(place));
    }
    if let Some(next) = hits.get(TOLD_PER_FIELD) {
        let more = hits.len() - TOLD_PER_FIELD;
        let message = format!("and {more} more of this in the same text");
        report.add_at(rule, level, field, places.at(next.at()), (message, None));
    }
}

/// A text of a definition, with its field.
struct Text<'a> {
    field: String,
    text: &'a str,
    /// Whether `${env.NAME}` is filled in here: in what a model is told, that is, and nowhere else.
    is_filled: bool,
}

/// Every text of a definition that reaches a prompt, a tool's name or a path.
fn texts(entity: &AnyEntity) -> Vec<Text<'_>> {
    let mut texts = Texts(Vec::new());
    match entity {
        AnyEntity::Persona(it) => persona(&mut texts, it),
        AnyEntity::Part(it) => {
            texts.prompt("description", &it.description);
            texts.prompt("summary", &it.summary);
            texts.prompt("content", &it.content);
        }
        AnyEntity::Trait(it) => {
            texts.prompt("description", &it.description);
            texts.prompt("instruction", &it.instruction);
        }
        AnyEntity::Skill(it) => {
            texts.prompt("description", &it.description);
            texts.prompt("content", &it.content);
        }
        AnyEntity::Guardrail(it) => {
            texts.prompt("description", &it.description);
            texts.prompt("content", &it.content);
            // A pattern with a character that nobody sees denies nothing.
            for (at, pattern) in it.deny_tools.iter().enumerate() {
                texts.other(format!("deny_tools[{at}]"), Some(pattern));
            }
        }
        AnyEntity::Arc(it) => {
            texts.other("description", it.description.as_ref());
            texts.other("summary", it.summary.as_ref());
            for stage in &it.stages {
                texts.other(format!("stages.{}.description", stage.name), stage.description.as_ref());
                texts.other(format!("stages.{}.condition", stage.name), stage.condition.as_ref());
            }
        }
        AnyEntity::ToolPreset(it) => tool_preset(&mut texts, it),
        AnyEntity::BiasProfile(it) => {
            texts.prompt("description", &it.description);
            it.multipliers.keys().for_each(|category| texts.other("multipliers", Some(category)));
        }
        AnyEntity::ContextPreset(it) => context_preset(&mut texts, it),
        AnyEntity::TestInput(it) => {
            texts.other("description", it.description.as_ref());
            texts.other("content", it.content.as_ref());
        }
    }
    texts.0
}

struct Texts<'a>(Vec<Text<'a>>);

impl<'a> Texts<'a> {
    fn prompt(&mut self, field: impl Into<String>, text: &'a Option<String>) {
        self.add(field.into(), text.as_ref(), true);
    }

    fn other(&mut self, field: impl Into<String>, text: Option<&'a String>) {
        self.add(field.into(), text, false);
    }

    fn add(&mut self, field: String, text: Option<&'a String>, is_filled: bool) {
        self.0.extend(text.map(|text| Text { field, text, is_filled }));
    }
}

fn persona<'a>(texts: &mut Texts<'a>, persona: &'a Persona) {
    texts.other("display_name", persona.display_name.as_ref());
    texts.prompt("description", &persona.description);
    texts.prompt("summary", &persona.summary);
    texts.prompt("detail", &persona.detail);
    texts.prompt("system_prompt", &persona.system_prompt);
    for (at, model) in persona.preferred_models.iter().enumerate() {
        texts.other(format!("preferred_models[{at}].provider"), Some(&model.provider));
        texts.other(format!("preferred_models[{at}].model"), Some(&model.model));
    }
    if let Some(plan) = &persona.plan_persona {
        texts.prompt("plan_persona.instruction", &plan.instruction);
        texts.other("plan_persona.model", plan.model.as_ref());
    }
}

fn tool_preset<'a>(texts: &mut Texts<'a>, preset: &'a ToolPreset) {
    texts.other("description", preset.description.as_ref());
    for (category, tools) in &preset.categories {
        texts.other("categories", Some(category));
        for (at, tool) in tools.iter().enumerate() {
            let field = format!("categories.{}[{at}]", shown(category));
            texts.other(format!("{field}.name"), Some(&tool.name));
            for (parameter, hint) in &tool.parameter_bias {
                texts.other(format!("{field}.parameter_bias"), Some(parameter));
                texts.add(format!("{field}.parameter_bias.{}", shown(parameter)), Some(hint), true);
            }
        }
    }
}

/// A key of the author's choice as a field has it: what is hidden in it is not passed on.
fn shown(key: &str) -> String {
    let escaped = |c: char| if hidden::is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    key.chars().map(escaped).collect()
}

fn context_preset<'a>(texts: &mut Texts<'a>, preset: &'a ContextPreset) {
    texts.other("description", preset.description.as_ref());
    for (at, entry) in preset.entries.iter().enumerate() {
        texts.other(format!("entries[{at}].glob"), entry.glob.as_ref());
        texts.other(format!("entries[{at}].path"), entry.path.as_ref());
    }
}
