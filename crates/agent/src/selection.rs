//! Which tools a model is offered, in which words, and which of them need permission.
//!
//! Decided anew before every call of a model. What is not chosen does not exist: a call of it is
//! looked up in the same list that the model was shown.

use std::sync::Arc;

use llm::{Schema, ToolSpec};
use persona::{Approval, BiasProfile, PresetTool, ToolPreset};
use serde_json::Value;

use crate::strategy::{Lean, category_of};
use crate::{Mode, Tool};

/// What decides, besides the tools themselves.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'a> {
    pub mode: Mode,
    pub preset: Option<&'a ToolPreset>,
    pub bias: Option<&'a BiasProfile>,
    /// Patterns of the persona's guardrails.
    pub deny: &'a [String],
    /// Whether a preset's `auto` counts. It does not where somebody else's project says it: then
    /// tools that only read are allowed and all others ask.
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
    /// As the model is told of it.
    pub spec: ToolSpec,
    /// The preset's category, or the tool's own.
    pub category: String,
    pub lean: Lean,
}

/// What is offered of some tools, in their order.
pub fn select(tools: &[Arc<Tool>], chosen: &Chosen<'_>) -> Vec<Selected> {
    tools.iter().filter_map(|tool| choose(tool, chosen)).collect()
}

fn choose(tool: &Arc<Tool>, chosen: &Chosen<'_>) -> Option<Selected> {
    let read_only = tool.annotations.read_only_hint;
    let is_hidden = match chosen.mode {
        Mode::Plan => !read_only,
        // The plan is handed over while planning.
        Mode::Build => tool.set == PLAN_SET,
    };
    if is_hidden || chosen.deny.iter().any(|pattern| matches(pattern, &tool.name)) {
        return None;
    }
    let unset = if read_only { Permission::Allow } else { Permission::Ask };
    let entries = entries(chosen.preset, &tool.name);
    let permission = match chosen.preset {
        None => unset,
        // What belongs to the runtime is there whatever a preset names: the plan's way out, and
        // the content of skills that the system prompt speaks of.
        Some(_) if entries.is_empty() && [PLAN_SET, SKILLS_SET].contains(&tool.set) => unset,
        Some(_) => {
            let permissions = entries.iter().map(|(_, entry)| match entry.approval {
                Some(Approval::Deny) => None,
                Some(Approval::Ask) => Some(Permission::Ask),
                Some(Approval::Auto) if chosen.auto_counts => Some(Permission::Allow),
                Some(Approval::Auto) | None => Some(unset),
            });
            // Deny before ask before allow; a tool that no entry names is not there.
            permissions.collect::<Option<Vec<_>>>()?.into_iter().max()?
        }
    };
    // The entry that names the tool most exactly says how much the persona leans to it.
    let nearest = entries.iter().max_by_key(|(_, entry)| exactness(&entry.name));
    let category = nearest.map_or_else(|| category_of(tool), |(category, _)| *category);
    let lean = Lean::of(nearest.map(|(_, entry)| *entry), category, chosen.bias);
    let spec = spec(tool, lean, nearest.map(|(_, entry)| *entry));
    Some(Selected { tool: Arc::clone(tool), permission, spec, category: category.to_owned(), lean })
}

pub(crate) const PLAN_SET: &str = "plan";
pub(crate) const SKILLS_SET: &str = "skills";

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

/// The tool as the model is told of it: a tag where the persona leans to it or away from it, and
/// what the preset says about its parameters.
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

/// A text with a sentence behind it; whoever wrote the text may have left its stop out.
fn followed(text: &str, sentence: &str) -> String {
    let text = text.trim_end();
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?', ':', ';']) { "" } else { "." };
    format!("{text}{stop} {sentence}")
}

/// Whether a pattern, in which `*` stands for any characters, fits a name.
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
