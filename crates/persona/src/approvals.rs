//! The approvals that a persona reaches: the `auto` of its presets, less what its guardrails deny.
//!
//! Deny comes before ask before auto. So a preset widens another one if it approves a tool that the other
//! one does not, and also if it lacks an entry that asks or denies.

use std::collections::BTreeSet;

use crate::catalog::{self, Catalog, resolve};
use crate::{Approval, Bundle, Kind, Name, Persona, PresetTool, Scope, ToolPreset, inherit};

impl ToolPreset {
    /// The names and patterns of the tools that the preset approves.
    pub fn auto_tools(&self) -> impl Iterator<Item = &str> {
        self.tools().filter(|tool| is_auto(tool)).map(|tool| tool.name.as_str())
    }

    /// True if the preset approves no call about which another one asks, or which that one denies. Without
    /// another one, every approval is one too many.
    pub fn approves_within(&self, other: Option<&Self>) -> bool {
        let approved: BTreeSet<&str> = self.auto_tools().collect();
        let Some(other) = other else { return approved.is_empty() };
        let restricted: BTreeSet<_> = self.restrictions().collect();
        let known: BTreeSet<&str> = other.auto_tools().collect();
        let keeps_restrictions = || other.restrictions().all(|entry| restricted.contains(&entry));
        approved.is_empty() || approved.is_subset(&known) && keeps_restrictions()
    }

    fn tools(&self) -> impl Iterator<Item = &PresetTool> {
        self.categories.values().flatten()
    }

    /// The entries that may ask or deny. One without a permission asks, unless the tool only reads.
    fn restrictions(&self) -> impl Iterator<Item = (&str, Option<Approval>)> {
        self.tools().filter(|tool| !is_auto(tool)).map(|tool| (tool.name.as_str(), tool.approval))
    }
}

fn is_auto(tool: &PresetTool) -> bool {
    tool.approval == Some(Approval::Auto)
}

/// The presets and denials that decide which tools of a persona run unasked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approvals {
    build: Option<Reached>,
    plan: Option<Reached>,
    /// Patterns of tools that guardrails deny.
    denied: BTreeSet<String>,
}

/// A preset, and the scope that defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reached {
    scope: Scope,
    preset: ToolPreset,
}

impl Approvals {
    /// The approvals of the persona that a name means in a scope. A persona that does not exist reaches
    /// none. A chain counts as far as it can be followed: a missing base may be added later.
    pub fn of(catalog: &dyn Catalog, scope: Scope, name: &Name) -> Self {
        let found = resolve(scope, None, |scope| catalog::build_partly(catalog, scope, name));
        let Some((_, bundle)) = found else { return Self::default() };
        let build = preset(catalog, &bundle, |persona| persona.tool_preset.as_ref());
        let plan = preset(catalog, &bundle, |persona| persona.plan_persona.as_ref()?.tool_preset.as_ref());
        let denied = inherit::guardrails(&bundle).into_iter().flat_map(|it| it.deny_tools.clone());
        Self { plan: plan.or_else(|| build.clone()), build, denied: denied.collect() }
    }

    /// True if no more is approved than before. Builtins as shipped may be named by every persona.
    pub fn are_within(&self, before: &Self) -> bool {
        let modes = [(&self.build, &before.build), (&self.plan, &before.plan)];
        let granted = modes.into_iter().filter_map(|(now, then)| Some((now.as_ref()?, then.as_ref())));
        let mut granted = granted.filter(|(now, _)| now.needs_user()).peekable();
        granted.peek().is_none()
            || granted.all(|(now, then)| now.is_within(then)) && before.denied.is_subset(&self.denied)
    }
}

impl Reached {
    /// True if only the user lets a persona use this preset.
    fn needs_user(&self) -> bool {
        self.scope != Scope::Builtin && self.preset.auto_tools().next().is_some()
    }

    fn is_within(&self, before: Option<&Self>) -> bool {
        // An approval of the shared library counts only if the user confirmed it, one of a file at once.
        let before = before.filter(|before| before.scope != Scope::Shared || self.scope == Scope::Shared);
        self.preset.approves_within(before.map(|before| &before.preset))
    }
}

/// The preset that the strongest layer names.
fn preset(
    catalog: &dyn Catalog,
    bundle: &Bundle,
    named: impl Fn(&Persona) -> Option<&Name>,
) -> Option<Reached> {
    let bases = bundle.bases.iter().rev().map(|base| (&base.persona, base.meta.scope));
    let mut layers = [(&bundle.persona, bundle.meta.scope)].into_iter().chain(bases);
    let (name, from) = layers.find_map(|(persona, scope)| Some((named(persona)?, scope)))?;
    let (scope, entity) = resolve(from, None, |scope| catalog.find(scope, Kind::ToolPreset, name))?;
    Some(Reached { scope, preset: entity.try_into().ok()? })
}

#[cfg(test)]
mod tests;
