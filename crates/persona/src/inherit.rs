//! What a persona inherits besides parts: fields, traits, skills, guardrails, tags.
//!
//! The strongest layer that sets a field wins; lists are unions, from which each layer may take
//! away what its bases gave.

use std::borrow::Cow;

use crate::{Bundle, Guardrail, MergeMode, Persona, PlanPersona, Skill, Trait};

/// The persona's fields with its bases' below them. `parts` stays the persona's own: parts are
/// layered by type, not by field.
pub(crate) fn fields(bundle: &Bundle) -> Cow<'_, Persona> {
    let Some((root, rest)) = bundle.bases.split_first() else {
        return Cow::Borrowed(&bundle.persona);
    };
    let above = rest.iter().map(|base| &base.persona).chain([&bundle.persona]);
    Cow::Owned(above.fold(root.persona.clone(), merge))
}

fn merge(below: Persona, own: &Persona) -> Persona {
    let mut merged = own.clone();
    or(&mut merged.display_name, below.display_name);
    or(&mut merged.description, below.description);
    or(&mut merged.summary, below.summary);
    or(&mut merged.detail, below.detail);
    merged.system_prompt = system_prompt(below.system_prompt, own);
    if merged.preferred_models.is_empty() {
        merged.preferred_models = below.preferred_models;
    }
    or(&mut merged.tool_preset, below.tool_preset);
    or(&mut merged.bias_profile, below.bias_profile);
    or(&mut merged.context_preset, below.context_preset);
    or(&mut merged.aggregation_strategy, below.aggregation_strategy);
    or(&mut merged.max_tool_rounds, below.max_tool_rounds);
    merged.plan_persona = plan(below.plan_persona, own.plan_persona.as_ref());
    merged.traits = union(below.traits, &own.traits, &own.remove_traits);
    merged.skills = union(below.skills, &own.skills, &own.remove_skills);
    merged.guardrails = union(below.guardrails, &own.guardrails, &own.remove_guardrails);
    merged.test_inputs = union(below.test_inputs, &own.test_inputs, &own.remove_test_inputs);
    merged.tags = union(below.tags, &own.tags, &own.remove_tags);
    or(&mut merged.arc, below.arc);
    merged
}

fn or<T>(field: &mut Option<T>, below: Option<T>) {
    if field.is_none() {
        *field = below;
    }
}

fn system_prompt(below: Option<String>, own: &Persona) -> Option<String> {
    match (below, &own.system_prompt, own.system_prompt_mode) {
        (Some(below), Some(own), MergeMode::Append) => Some(appended(below, own)),
        (below, None, _) => below,
        (_, Some(own), _) => Some(own.clone()),
    }
}

/// One text below another; where one of them says nothing, the other stands alone.
fn appended(below: String, own: &str) -> String {
    match (is_blank(&below), is_blank(own)) {
        (_, true) => below,
        (true, false) => own.to_owned(),
        (false, false) => format!("{}\n\n{own}", below.trim_end()),
    }
}

/// Whether a system prompt says nothing, so that nothing is appended with it or to it.
pub(crate) fn is_blank(prompt: &str) -> bool {
    prompt.trim().is_empty()
}

fn plan(below: Option<PlanPersona>, own: Option<&PlanPersona>) -> Option<PlanPersona> {
    let (Some(below), Some(own)) = (&below, own) else {
        return own.cloned().or(below);
    };
    let mut merged = own.clone();
    or(&mut merged.instruction, below.instruction.clone());
    or(&mut merged.model, below.model.clone());
    or(&mut merged.tool_preset, below.tool_preset.clone());
    Some(merged)
}

fn union<T: PartialEq + Clone>(below: Vec<T>, own: &[T], remove: &[T]) -> Vec<T> {
    let mut all: Vec<T> = below.into_iter().filter(|item| !remove.contains(item)).collect();
    for item in own {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

/// Says once how pieces of a kind come together: in the order of the links, bases first; a piece
/// that a stronger layer names too is the one which that layer means.
macro_rules! pieces {
    ($($field:ident, $remove:ident: $type:ident;)+) => {
        $(pub(crate) fn $field(bundle: &Bundle) -> Vec<&$type> {
            let mut all: Vec<&$type> = Vec::new();
            let bases = bundle.bases.iter().map(|base| (&base.persona, &base.$field));
            for (persona, pieces) in bases.chain([(&bundle.persona, &bundle.$field)]) {
                all.retain(|piece| !persona.$remove.contains(&piece.name));
                for name in &persona.$field {
                    let Some(piece) = pieces.iter().find(|piece| piece.name == *name) else { continue };
                    match all.iter_mut().find(|known| known.name == *name) {
                        Some(known) => *known = piece,
                        None => all.push(piece),
                    }
                }
            }
            all
        })+
    };
}

pieces! {
    traits, remove_traits: Trait;
    skills, remove_skills: Skill;
    guardrails, remove_guardrails: Guardrail;
}
