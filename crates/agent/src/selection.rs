//! Selects the tools that a model is offered, words them, and says which of them need approval.
//!
//! The selection is made before every call of a model, and calls are looked up in it: a tool that is
//! not in it does not exist.

use std::sync::Arc;

use llm::{Schema, ToolSpec};
use persona::{Approval, BiasProfile, PresetTool, ToolPreset};
use serde_json::Value;

use crate::strategy::{Lean, category_of};
use crate::{Mode, Tool};

/// The inputs of a selection, except the tools.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'a> {
    pub mode: Mode,
    pub preset: Option<&'a ToolPreset>,
    pub bias: Option<&'a BiasProfile>,
    /// Patterns of the persona's guardrails.
    pub deny: &'a [String],
    /// True if a preset's `auto` counts; see [`crate::auto_counts`]. If not, read-only tools are allowed
    /// and all others ask.
    pub auto_counts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    Allow,
    Ask,
}

/// A tool that the model is offered.
#[derive(Debug, Clone)]
pub struct Selected {
    pub tool: Arc<Tool>,
    pub permission: Permission,
    /// The tool as the model sees it.
    pub spec: ToolSpec,
    /// The preset's category, or the tool's own.
    pub category: String,
    pub lean: Lean,
}

/// The tools that are offered, in their order.
pub fn select(tools: &[Arc<Tool>], chosen: &Chosen<'_>) -> Vec<Selected> {
    tools.iter().filter_map(|tool| choose(tool, chosen)).collect()
}

/// The tools that are offered to a delegate: those that every persona above it is offered too, each
/// with the strictest of their permissions.
pub fn select_below(tools: &[Arc<Tool>], own: &Chosen<'_>, above: &[Chosen<'_>]) -> Vec<Selected> {
    let mut offered = select(tools, own);
    for above in above {
        offered.retain_mut(|selected| match choose(&selected.tool, above) {
            Some(theirs) => {
                selected.permission = selected.permission.max(theirs.permission);
                true
            }
            None => false,
        });
    }
    offered
}

/// True if a preset can offer tools whose names begin with a prefix.
pub fn admits_prefix(preset: Option<&ToolPreset>, prefix: &str) -> bool {
    let names_some = |preset: &ToolPreset| {
        let mut names = preset.categories.values().flatten().map(|tool| tool.name.as_str());
        names.any(|name| match name.split_once('*') {
            Some((before, _)) => before.starts_with(prefix) || prefix.starts_with(before),
            None => name.starts_with(prefix),
        })
    };
    preset.is_none_or(names_some)
}

fn choose(tool: &Arc<Tool>, chosen: &Chosen<'_>) -> Option<Selected> {
    let is_hidden = match chosen.mode {
        Mode::Plan => !tool.annotations.read_only_hint,
        // Plans are handed over in plan mode.
        Mode::Build => tool.set == PLAN_SET,
    };
    if is_hidden || chosen.deny.iter().any(|pattern| matches(pattern, &tool.name)) {
        return None;
    }
    let unset = if tool.annotations.is_known_to_read() { Permission::Allow } else { Permission::Ask };
    let entries = entries(chosen.preset, &tool.name);
    let permission = match chosen.preset {
        None => unset,
        // The runtime's own tools are offered whatever a preset names: the exit from plan mode, and
        // the content of skills that the system prompt mentions, and the handing in of a ticket's work.
        Some(_) if entries.is_empty() && [PLAN_SET, SKILLS_SET, TICKETS_SET].contains(&tool.set) => unset,
        Some(_) => {
            let permissions = entries.iter().map(|(_, entry)| match entry.approval {
                Some(Approval::Deny) => None,
                Some(Approval::Ask) => Some(Permission::Ask),
                Some(Approval::Auto) if chosen.auto_counts => Some(Permission::Allow),
                Some(Approval::Auto) | None => Some(unset),
            });
            // Deny before ask before allow. A tool that no entry names is not offered.
            permissions.collect::<Option<Vec<_>>>()?.into_iter().max()?
        }
    };
    // The entry that names the tool most exactly sets the lean.
    let nearest = entries.iter().max_by_key(|(_, entry)| exactness(&entry.name));
    let category = nearest.map_or_else(|| category_of(tool), |(category, _)| *category);
    let lean = Lean::of(nearest.map(|(_, entry)| *entry), category, chosen.bias);
    let spec = spec(tool, lean, nearest.map(|(_, entry)| *entry));
    Some(Selected { tool: Arc::clone(tool), permission, spec, category: category.to_owned(), lean })
}

pub(crate) const PLAN_SET: &str = "plan";
pub(crate) const SKILLS_SET: &str = "skills";
/// The tools that hand in what a ticket asked for.
pub const TICKETS_SET: &str = "tickets";

fn entries<'a>(preset: Option<&'a ToolPreset>, name: &str) -> Vec<(&'a str, &'a PresetTool)> {
    let categories = preset.into_iter().flat_map(|preset| &preset.categories);
    categories
        .flat_map(|(category, tools)| tools.iter().map(move |tool| (category.as_str(), tool)))
        .filter(|(_, entry)| matches(&entry.name, name))
        .collect()
}

/// A name without a star is more exact than any pattern, a longer pattern than a shorter one.
fn exactness(pattern: &str) -> (bool, usize) {
    (!pattern.contains('*'), pattern.len())
}

/// The tool as the model sees it, with a tag if the persona leans to it or away from it, and with the
/// preset's hints for its parameters.
fn spec(tool: &Tool, lean: Lean, entry: Option<&PresetTool>) -> ToolSpec {
    let mut description = match lean.tag() {
        Some(tag) => format!("[{tag}] {}", tool.description),
        None => tool.description.clone(),
    };
    let mut biased: Option<Value> = None;
    for (parameter, hint) in entry.into_iter().flat_map(|entry| &entry.parameter_bias) {
        let schema = biased.get_or_insert_with(|| (*tool.input_schema).clone());
        let properties = schema.pointer_mut("/properties");
        let property = properties.and_then(|all| all.get_mut(parameter));
        match property {
            Some(Value::Object(property)) => {
                let said = property.get("description").and_then(Value::as_str).unwrap_or_default();
                let said = match said {
                    "" => hint.clone(),
                    said => followed(said, &format!("Prefer: {hint}")),
                };
                property.insert("description".to_owned(), Value::String(said));
            }
            _ => description = followed(&description, &format!("Prefer for {parameter}: {hint}")),
        }
    }
    let input_schema = biased.map_or_else(|| tool.input_schema.clone(), Schema::new);
    ToolSpec { name: tool.name.clone(), description, input_schema }
}

/// A text followed by a sentence. Adds the full stop that the text may lack.
fn followed(text: &str, sentence: &str) -> String {
    let text = text.trim_end();
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?', ':', ';']) { "" } else { "." };
    format!("{text}{stop} {sentence}")
}

/// True if a pattern matches a name. `*` matches any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
pub(crate) mod tests;
