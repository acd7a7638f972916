//! Tools by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use agent::{Refusal, Tool};

use crate::{Invocation, Outcome, Registered};

#[cfg(test)]
mod tests;

/// Tools by name, in a stable order: a model's prompt cache depends on it.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Registered>,
}

impl Toolbox {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds tools. A name that is taken stays with the tool that has it; returns the names of the tools
    /// that were left out.
    pub fn add(&mut self, set: impl IntoIterator<Item = Registered>) -> Vec<String> {
        let mut refused = Vec::new();
        for registered in set {
            match self.tools.entry(registered.tool.name.clone()) {
                Entry::Occupied(taken) => refused.push(taken.key().clone()),
                Entry::Vacant(free) => {
                    free.insert(registered);
                }
            }
        }
        refused
    }

    pub fn get(&self, name: &str) -> Option<&Registered> {
        self.tools.get(name)
    }

    pub fn into_tools(self) -> impl Iterator<Item = Registered> {
        self.tools.into_values()
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values().map(|registered| &registered.tool)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Runs the tool of that name; see [`Registered::call`].
    pub async fn call(&self, name: &str, invocation: Invocation) -> Outcome {
        match self.get(name) {
            Some(registered) => registered.call(invocation).await,
            None => Outcome::refused(Refusal::NotOffered, self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let name = crate::text::shortened(name, 80);
        if self.is_empty() {
            return format!("Unknown tool {name:?}; no tools are available; answer without them.");
        }
        let names: Vec<&str> = self.names().take(64).collect();
        format!("Unknown tool {name:?}; available tools: {}.", names.join(", "))
    }
}
