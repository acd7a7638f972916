//! A persona's preferences among its tools, and their wording in the prompt.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use persona::{BiasProfile, PresetTool, ToolPreset};

use crate::{Selected, Tool};

/// A preset's weight times its category's multiplier, sorted into five.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lean {
    LastResort,
    Sparingly,
    Neutral,
    Preferred,
    StronglyPreferred,
}

impl Lean {
    pub(crate) fn of(entry: Option<&PresetTool>, category: &str, bias: Option<&BiasProfile>) -> Self {
        let weight = entry.map_or(PresetTool::DEFAULT_WEIGHT, PresetTool::weight);
        let multiplier = bias.and_then(|bias| bias.multipliers.get(category)).copied().unwrap_or(1.0);
        // 3 is the middle of weights; the steps around it are those of the weights themselves.
        match f64::from(weight) * multiplier {
            score if score < 1.5 => Self::LastResort,
            score if score < 2.5 => Self::Sparingly,
            score if score < 3.75 => Self::Neutral,
            score if score < 6.0 => Self::Preferred,
            _ => Self::StronglyPreferred,
        }
    }

    /// The tag before the description. None if the persona leans to neither side.
    pub(crate) fn tag(self) -> Option<&'static str> {
        match self {
            Self::LastResort => Some("last resort"),
            Self::Sparingly => Some("use sparingly"),
            Self::Neutral => None,
            Self::Preferred => Some("preferred"),
            Self::StronglyPreferred => Some("strongly preferred"),
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::StronglyPreferred => "Reach for these first",
            Self::Preferred => "Prefer",
            Self::Neutral => "Use as needed",
            Self::Sparingly => "Use sparingly",
            Self::LastResort => "Only as a last resort",
        }
    }
}

/// The category of a tool that no preset puts into one.
pub(crate) fn category_of(tool: &Tool) -> &'static str {
    match tool.set {
        "files" if tool.annotations.read_only_hint => "read",
        "files" => "write",
        "fetch" => "network",
        set => set,
    }
}

/// The tooling strategy of the system prompt; there is one only where both a preset and a bias
/// profile are set, and the persona has tools at all.
pub fn strategy(
    preset: Option<&ToolPreset>,
    bias: Option<&BiasProfile>,
    selected: &[Selected],
) -> Option<String> {
    let (Some(_), Some(bias)) = (preset, bias) else { return None };
    let mut by_lean: BTreeMap<Lean, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for tool in selected {
        by_lean.entry(tool.lean).or_default().entry(&tool.category).or_default().push(&tool.tool.name);
    }
    if by_lean.is_empty() {
        return None;
    }
    let mut text = String::from("## Tooling strategy");
    if let Some(description) = bias.description.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        let _ = write!(text, "\n\n{description}");
    }
    text.push('\n');
    for (lean, categories) in by_lean.iter().rev() {
        let listed: Vec<String> =
            categories.iter().map(|(category, tools)| format!("{category} ({})", tools.join(", "))).collect();
        let _ = write!(text, "\n- {}: {}.", lean.advice(), listed.join("; "));
    }
    Some(text)
}

#[cfg(test)]
mod tests;
