//! The entry points.

use std::collections::BTreeMap;

use persona::TokenCounter;

use crate::{ContentHash, Context, Plan, Project, Request, plan, render};

impl Project {
    /// Chooses and reads the files of a request. The plan says which of them a model should summarise.
    pub fn plan(&self, request: &Request) -> Plan {
        plan::plan(self, request)
    }

    /// Fits a plan into its budget. Summaries come by the hash of the content; a file without one is shown
    /// as an outline.
    pub fn render(
        &self,
        plan: &Plan,
        summaries: &BTreeMap<ContentHash, String>,
        counter: &dyn TokenCounter,
    ) -> Context {
        render::render(self, plan, summaries, counter)
    }

    /// Plans and renders, without summaries.
    pub fn gather(&self, request: &Request, counter: &dyn TokenCounter) -> Context {
        self.render(&self.plan(request), &BTreeMap::new(), counter)
    }
}
