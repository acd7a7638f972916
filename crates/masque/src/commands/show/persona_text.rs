//! Prints a persona.

use app::outputs::PersonaSettings;
use persona::field::Shape;
use persona::{ArcView, Budget, Field, GuardrailView, Kind, PartView, PersonaView, SkillView, TraitView};

use serde_json::Value;

use super::super::fields::shown;
use super::super::manifest::layer;
use crate::failure::Result;
use crate::output::{Output, Style};

pub(super) fn print(view: &PersonaView, settings: &PersonaSettings, output: &mut Output) -> Result<()> {
    head(view, settings, output)?;
    let parts = view.parts.iter().flatten();
    section("Parts", parts, output, |part, output| {
        let PartView { name, summary, content, .. } = part;
        piece(name.as_str(), &part_note(part), summary.as_ref().or(content.as_ref()), output)
    })?;
    section("Examples", view.examples.iter(), output, |example, output| {
        output.paragraph(2, &format!("User: {}", example.user))?;
        output.paragraph(2, &format!("{}: {}", view.name, example.persona))
    })?;
    section("Traits", view.traits.iter().flatten(), output, |item, output| {
        let TraitView { name, trait_type, description, instruction } = item;
        piece(name.as_str(), trait_type.as_str(), description.as_ref().or(instruction.as_ref()), output)
    })?;
    section("Skills", view.skills.iter().flatten(), output, |item, output| {
        let SkillView { name, description, content } = item;
        piece(name.as_str(), "", description.as_ref().or(content.as_ref()), output)
    })?;
    section("Guardrails", view.guardrails.iter().flatten(), output, |item, output| {
        let GuardrailView { name, severity, description, content } = item;
        let severity = severity.map_or("", persona::Severity::as_str);
        piece(name.as_str(), severity, description.as_ref().or(content.as_ref()), output)
    })?;
    if let Some(budget) = &view.budget {
        print_budget(budget, output)?;
    }
    Ok(())
}

fn head(view: &PersonaView, settings: &PersonaSettings, output: &mut Output) -> Result<()> {
    let scope = view.scope.unwrap_or(persona::Scope::Shared);
    let revision = view.revision.unwrap_or_default();
    super::title(&view.name, view.display_name.as_deref(), scope, revision, output)?;
    let texts = [&view.description, &view.summary, &view.detail];
    let mut shown: Vec<&str> = Vec::new();
    for text in texts.into_iter().flatten().map(String::as_str) {
        // A derived summary repeats the description.
        if !shown.contains(&text) {
            if !shown.is_empty() {
                output.blank()?;
            }
            output.paragraph(0, text)?;
            shown.push(text);
        }
    }
    print_fields(view, settings, output)?;
    if let Some(system_prompt) = &view.system_prompt {
        output.blank()?;
        output.heading("System prompt")?;
        output.paragraph(2, system_prompt)?;
    }
    Ok(())
}

fn print_fields(view: &PersonaView, settings: &PersonaSettings, output: &mut Output) -> Result<()> {
    let stale = view.compiled_stale == Some(true);
    let set = setting_lines(settings);
    let listed = !view.tags.is_empty() || !view.preferred_models.is_empty() || !set.is_empty();
    if !listed && view.arc.is_none() && !stale {
        return Ok(());
    }
    output.blank()?;
    if !view.tags.is_empty() {
        output.field("tags", &view.tags.join(", "))?;
    }
    if !view.preferred_models.is_empty() {
        let models = view.preferred_models.iter().map(|model| format!("{}/{}", model.provider, model.model));
        output.field("models", &models.collect::<Vec<_>>().join(", "))?;
    }
    set.iter().try_for_each(|(label, value)| output.field(label, value))?;
    if let Some(arc) = &view.arc {
        print_arc(arc, output)?;
    }
    if stale {
        let name = &view.name;
        output.field("compiled", &format!("stale: a piece changed; run `masque compile {name}`"))?;
    }
    Ok(())
}

/// The settings of runs with their labels, in the order of a definition.
fn setting_lines(settings: &PersonaSettings) -> Vec<(String, String)> {
    let lines = |field: &Field| {
        let Some(value) = settings.0.get(field.name) else { return Vec::new() };
        vec![match field.name {
            "aggregation_strategy" => ("aggregation".to_owned(), shown(value)),
            "max_tool_rounds" => ("tool rounds".to_owned(), format!("at most {value}")),
            name if matches!(field.shape, Shape::Texts(_)) => return numbered(name, value),
            "plan_persona" => {
                let given = ["tool_preset", "model", "instruction"].map(|part| {
                    let label = if part == "instruction" {
                        String::new()
                    } else {
                        format!("{} ", part.replace('_', " "))
                    };
                    value.get(part).map(|value| format!("{label}{}", shown(value)))
                });
                ("when planning".to_owned(), given.into_iter().flatten().collect::<Vec<_>>().join("; "))
            }
            name => (name.replace('_', " "), shown(value)),
        }]
    };
    Kind::Persona.fields().iter().flat_map(lines).collect()
}

/// The texts of a list, a line each, with the numbers by which they are chosen.
fn numbered(label: &str, texts: &Value) -> Vec<(String, String)> {
    let texts = texts.as_array().into_iter().flatten().zip(1..);
    let line = |(text, number): (&Value, usize)| {
        let label = if number == 1 { label } else { "" };
        (label.to_owned(), format!("{number}. {}", shown(text)))
    };
    texts.map(line).collect()
}

fn print_arc(arc: &ArcView, output: &mut Output) -> Result<()> {
    let ArcView { name, stage, position, of, description, condition } = arc;
    output.field("arc", &format!("{name}, stage {position} of {of}: {stage}"))?;
    if let Some(description) = description {
        output.field("", description)?;
    }
    if let Some(condition) = condition {
        output.field("", &format!("Condition: {condition}"))?;
    }
    Ok(())
}

fn section<'a, T: 'a>(
    heading: &str,
    items: impl Iterator<Item = &'a T>,
    output: &mut Output,
    print: impl Fn(&T, &mut Output) -> Result<()>,
) -> Result<()> {
    for (at, item) in items.enumerate() {
        if at == 0 {
            output.blank()?;
            output.heading(heading)?;
        }
        print(item, output)?;
    }
    Ok(())
}

fn piece(name: &str, note: &str, text: Option<&String>, output: &mut Output) -> Result<()> {
    let name = output.styled(Style::Name, name);
    let note = if note.is_empty() { String::new() } else { output.styled(Style::Faint, format!("  {note}")) };
    output.styled_line(&format!("  {name}{note}"))?;
    match text {
        Some(text) => output.paragraph(4, text),
        None => Ok(()),
    }
}

fn part_note(part: &PartView) -> String {
    let mut note = part.part_type.to_string();
    if let Some(layer) = layer(part.from) {
        note.push_str(&format!(", from {layer}"));
    }
    note.push_str(&format!(", priority {}", part.priority));
    note
}

fn print_budget(budget: &Budget, output: &mut Output) -> Result<()> {
    output.blank()?;
    budget_lines(budget).iter().try_for_each(|(label, value)| output.field(label, value))
}

/// Says beside a compiled prompt what was left out of it.
pub(in super::super) fn advise_budget(budget: Option<&Budget>, output: &mut Output) -> Result<()> {
    let lines = budget.map(budget_lines).unwrap_or_default();
    lines.iter().try_for_each(|(label, value)| output.advise(&format!("{label}: {value}")))
}

/// The lines about a budget: a label and a value each.
fn budget_lines(budget: &Budget) -> Vec<(&'static str, String)> {
    let Budget { tokens, tokenizer, over_budget, left_out, left_out_count, shortened } = budget;
    let mut lines = Vec::new();
    if let (Some(tokens), Some(tokenizer)) = (tokens, tokenizer) {
        let over = if *over_budget { ", over budget: the remaining pieces are never dropped" } else { "" };
        lines.push(("tokens", format!("{tokens} ({tokenizer}){over}")));
    } else if *over_budget {
        lines.push(("limit", "exceeded: overrides are never dropped".to_owned()));
    }
    let short =
        shortened.iter().flat_map(|(kind, names)| names.iter().map(move |name| format!("{kind} {name}")));
    let short: Vec<String> = short.collect();
    if !short.is_empty() {
        lines.push(("summaries", short.join(", ")));
    }
    let gone = left_out.iter().flat_map(|(kind, names)| {
        names.iter().map(move |(name, tokens)| format!("{kind} {name} ({tokens} tokens)"))
    });
    let gone: Vec<String> = gone.collect();
    if !gone.is_empty() {
        lines.push(("left out", gone.join(", ")));
    }
    if let Some(count) = left_out_count {
        lines.push(("left out", format!("{count} pieces")));
    }
    lines
}
