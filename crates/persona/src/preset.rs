//! Presets and test inputs: which tools a persona may use, which it leans to, which files it
//! sees, and what it is tried with.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{self, Checked, count, invalid, long, range, short, words};
use crate::entity::entity;
use crate::{Approval, ContextView, Entity, Invalid, Kind, Name, Tags, limits};

/// Which tools a persona may use, by category, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPreset {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Category → its tools.
    #[serde(default)]
    pub categories: BTreeMap<String, Vec<PresetTool>>,
    #[serde(default)]
    pub tags: Tags,
}

/// A tool that a preset selects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a name, or {name, approval, weight, parameter_bias}")]
#[schemars(inline)]
pub struct PresetTool {
    /// The tool's name; `*` stands for any characters.
    pub name: String,
    /// Absent: read-only tools are allowed, others ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// How much the persona leans to it, from 1 to 5; 3 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u8>,
    /// Parameter → how to choose it, in words for the model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameter_bias: BTreeMap<String, String>,
}

impl PresetTool {
    /// What counts where a tool has no weight of its own.
    pub const DEFAULT_WEIGHT: u8 = 3;

    pub fn weight(&self) -> u8 {
        self.weight.unwrap_or(Self::DEFAULT_WEIGHT)
    }
}

/// How much a persona leans to each category of tools; 1 changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BiasProfile {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Category → multiplier, from 0 to 10.
    #[serde(default)]
    pub multipliers: BTreeMap<String, f64>,
    #[serde(default)]
    pub tags: Tags,
}

/// Which files reach the prompt, and how much of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextPreset {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Later entries win over earlier ones.
    #[serde(default)]
    pub entries: Vec<ContextEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u32>,
    #[serde(default)]
    pub tags: Tags,
}

/// Some files, and what is shown of them: exactly one of `glob` and `path` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct ContextEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default)]
    pub view: ContextView,
}

/// What a persona is tried with, and what is expected of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestInput {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What a good answer does, one expectation each.
    #[serde(default)]
    pub expectations: Vec<String>,
    #[serde(default)]
    pub tags: Tags,
}

impl ToolPreset {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        words("tags", &self.tags, limits::TAGS)?;
        let categories: Vec<String> = self.categories.keys().cloned().collect();
        words("categories", &categories, limits::CATEGORIES)?;
        for (category, tools) in &self.categories {
            let field = format!("categories.{category}");
            check::tools(&field, tools.iter().map(|tool| tool.name.as_str()), limits::PRESET_TOOLS)?;
            for tool in tools {
                let field = format!("{field}.{}", tool.name);
                if tool.weight.is_some_and(|weight| !(1..=5).contains(&weight)) {
                    return invalid(format!("{field}.weight"), "must be from 1 to 5");
                }
                let parameters = tool.parameter_bias.keys().map(String::as_str);
                check::parameters(&format!("{field}.parameter_bias"), parameters)?;
                for (parameter, hint) in &tool.parameter_bias {
                    short(&format!("{field}.parameter_bias.{parameter}"), Some(hint))?;
                }
            }
        }
        Ok(())
    }
}

impl BiasProfile {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        words("tags", &self.tags, limits::TAGS)?;
        let categories: Vec<String> = self.multipliers.keys().cloned().collect();
        words("multipliers", &categories, limits::CATEGORIES)?;
        for (category, multiplier) in &self.multipliers {
            range(&format!("multipliers.{category}"), Some(*multiplier), 0.0, 10.0)?;
        }
        Ok(())
    }
}

impl ContextPreset {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        words("tags", &self.tags, limits::TAGS)?;
        count("entries", self.entries.len(), limits::CONTEXT_ENTRIES)?;
        for (index, entry) in self.entries.iter().enumerate() {
            let field = format!("entries[{index}]");
            let ((Some(pattern), None) | (None, Some(pattern))) = (&entry.glob, &entry.path) else {
                return invalid(field, "give either a glob or a path");
            };
            short(&field, Some(pattern))?;
            if pattern.trim().is_empty() {
                return invalid(field, "must not be empty");
            }
            if pattern.starts_with(['/', '~']) || pattern.split(['/', '\\']).any(|step| step == "..") {
                return invalid(field, "must stay inside the project: no leading \"/\" or \"~\", no \"..\"");
            }
        }
        if self.token_budget == Some(0) {
            return invalid("token_budget", "must be at least 1");
        }
        Ok(())
    }
}

impl TestInput {
    pub fn check(&self) -> Checked {
        short("description", self.description.as_ref())?;
        long("content", self.content.as_ref())?;
        words("tags", &self.tags, limits::TAGS)?;
        count("expectations", self.expectations.len(), limits::EXPECTATIONS)?;
        self.expectations.iter().try_for_each(|expectation| short("expectations", Some(expectation)))
    }
}

entity!(ToolPreset, ToolPreset);
entity!(BiasProfile, BiasProfile);
entity!(ContextPreset, ContextPreset);
entity!(TestInput, TestInput);
