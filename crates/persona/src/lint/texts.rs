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
    for (field, text) in texts(entity) {
        tell(report, Rule::HiddenUnicode, hidden_level, &field, text, &hidden::find(text));
        tell(report, Rule::LookAlike, Rule::LookAlike.level(), &field, text, &lookalike::find(text));
        tell(report, Rule::Secret, Rule::Secret.level(), &field, text, &secret::find(text));
        placeholders::check(report, &field, text, settings);
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

/// Every text of a definition that reaches a prompt, a tool's name or a path, with its field.
fn texts(entity: &AnyEntity) -> Vec<(String, &str)> {
    let mut texts = Vec::new();
    match entity {
        AnyEntity::Persona(it) => persona(&mut texts, it),
        AnyEntity::Part(it) => {
            add(&mut texts, "description", &it.description);
            add(&mut texts, "summary", &it.summary);
            add(&mut texts, "content", &it.content);
        }
        AnyEntity::Trait(it) => {
            add(&mut texts, "description", &it.description);
            add(&mut texts, "instruction", &it.instruction);
        }
        AnyEntity::Skill(it) => {
            add(&mut texts, "description", &it.description);
            add(&mut texts, "content", &it.content);
        }
        AnyEntity::Guardrail(it) => {
            add(&mut texts, "description", &it.description);
            add(&mut texts, "content", &it.content);
            // A pattern with a character that nobody sees denies nothing.
            let patterns = it.deny_tools.iter().enumerate();
            texts.extend(patterns.map(|(at, pattern)| (format!("deny_tools[{at}]"), pattern.as_str())));
        }
        AnyEntity::Arc(it) => {
            add(&mut texts, "description", &it.description);
            add(&mut texts, "summary", &it.summary);
            for stage in &it.stages {
                add(&mut texts, &format!("stages.{}.description", stage.name), &stage.description);
                add(&mut texts, &format!("stages.{}.condition", stage.name), &stage.condition);
            }
        }
        AnyEntity::ToolPreset(it) => tool_preset(&mut texts, it),
        AnyEntity::BiasProfile(it) => {
            add(&mut texts, "description", &it.description);
            texts.extend(it.multipliers.keys().map(|category| ("multipliers".to_owned(), category.as_str())));
        }
        AnyEntity::ContextPreset(it) => context_preset(&mut texts, it),
        AnyEntity::TestInput(it) => {
            add(&mut texts, "description", &it.description);
            add(&mut texts, "content", &it.content);
        }
    }
    texts
}

type Texts<'a> = Vec<(String, &'a str)>;

fn add<'a>(texts: &mut Texts<'a>, field: &str, text: &'a Option<String>) {
    texts.extend(text.as_deref().map(|text| (field.to_owned(), text)));
}

fn persona<'a>(texts: &mut Texts<'a>, persona: &'a Persona) {
    add(texts, "display_name", &persona.display_name);
    add(texts, "description", &persona.description);
    add(texts, "summary", &persona.summary);
    add(texts, "detail", &persona.detail);
    add(texts, "system_prompt", &persona.system_prompt);
    for (at, model) in persona.preferred_models.iter().enumerate() {
        texts.push((format!("preferred_models[{at}].provider"), &model.provider));
        texts.push((format!("preferred_models[{at}].model"), &model.model));
    }
    if let Some(plan) = &persona.plan_persona {
        add(texts, "plan_persona.instruction", &plan.instruction);
        add(texts, "plan_persona.model", &plan.model);
    }
}

fn tool_preset<'a>(texts: &mut Texts<'a>, preset: &'a ToolPreset) {
    add(texts, "description", &preset.description);
    for (category, tools) in &preset.categories {
        texts.push(("categories".to_owned(), category));
        for (at, tool) in tools.iter().enumerate() {
            let field = format!("categories.{}[{at}]", shown(category));
            texts.push((format!("{field}.name"), &tool.name));
            for (parameter, hint) in &tool.parameter_bias {
                texts.push((format!("{field}.parameter_bias"), parameter));
                texts.push((format!("{field}.parameter_bias.{}", shown(parameter)), hint));
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
    add(texts, "description", &preset.description);
    for (at, entry) in preset.entries.iter().enumerate() {
        add(texts, &format!("entries[{at}].glob"), &entry.glob);
        add(texts, &format!("entries[{at}].path"), &entry.path);
    }
}
