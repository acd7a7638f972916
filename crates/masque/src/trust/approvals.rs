//! The approvals in a project's personas.toml, for the user to see before trusting it.

use std::collections::{BTreeMap, BTreeSet};

use persona::Approval;
use toml::{Table, Value};

/// The approvals that a personas.toml asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Approvals {
    /// The file's presets with the names and patterns that they approve. Presets without any are left out.
    pub(crate) presets: BTreeMap<String, Vec<String>>,
    /// Personas, and the presets of the user or of the shared library that they use.
    pub(crate) borrowed: BTreeMap<String, BTreeSet<String>>,
}

impl Approvals {
    pub(crate) fn read(text: &str) -> Self {
        let file: Table = toml::from_str(text).unwrap_or_default();
        let own = |name: &str| file.get("tool_presets").and_then(|presets| presets.get(name)).is_some();
        let mut approvals = Self::default();
        for (name, preset) in entries(&file, "tool_presets") {
            let tools: Vec<String> = approved(preset).map(str::to_owned).collect();
            if !tools.is_empty() {
                approvals.presets.insert(name.clone(), tools);
            }
        }
        for (name, persona) in entries(&file, "personas") {
            let plan = persona.get("plan_persona").and_then(|plan| plan.get("tool_preset"));
            let named = [persona.get("tool_preset"), plan].into_iter().flatten().filter_map(Value::as_str);
            let borrowed: BTreeSet<String> = named.filter(|name| !own(name)).map(str::to_owned).collect();
            if !borrowed.is_empty() {
                approvals.borrowed.insert(name.clone(), borrowed);
            }
        }
        approvals
    }
}

fn entries<'a>(file: &'a Table, kind: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    file.get(kind).and_then(Value::as_table).into_iter().flatten()
}

fn approved(preset: &Value) -> impl Iterator<Item = &str> {
    let categories = preset.get("categories").and_then(Value::as_table);
    let tools = categories.into_iter().flatten().filter_map(|(_, tools)| tools.as_array()).flatten();
    let is_auto = |tool: &&Value| {
        let approval = tool.get("approval").and_then(Value::as_str);
        approval.and_then(|word| word.parse().ok()) == Some(Approval::Auto)
    };
    tools.filter(is_auto).filter_map(|tool| tool.get("name")?.as_str())
}
