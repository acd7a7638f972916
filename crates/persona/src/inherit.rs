//! Inheritance of everything but parts: fields, traits, skills, guardrails, tags.
//!
//! The strongest layer that sets a field wins. Lists are unions; each layer can remove entries of its
//! bases.

use std::borrow::Cow;

use crate::field::{AnyValue, Described as _, Inherit};
use crate::{Bundle, Guardrail, MergeMode, Persona, Skill, Tags, Trait};

/// The persona with inherited fields. `parts` stays the persona's own, because parts are layered by
/// type.
pub(crate) fn fields(bundle: &Bundle) -> Cow<'_, Persona> {
    let Some((root, rest)) = bundle.bases.split_first() else {
        return Cow::Borrowed(&bundle.persona);
    };
    let above = rest.iter().map(|base| &base.persona).chain([&bundle.persona]);
    Cow::Owned(above.fold(root.persona.clone(), merge))
}

fn merge(below: Persona, own: &Persona) -> Persona {
    let mut merged = own.clone();
    let removals = own.values();
    let none = Tags::new();
    for ((field, value), (_, below)) in merged.values_mut().into_iter().zip(below.values()) {
        match field.inherit {
            Inherit::Strongest => value.inherit(below),
            Inherit::Union(removed_by) => {
                let removed = removals.iter().find(|(field, _)| field.name == removed_by);
                value.unite(below, removed.map_or(&none as &dyn AnyValue, |(_, removed)| *removed));
            }
            Inherit::Own | Inherit::Removes => {}
        }
    }
    merged.system_prompt = system_prompt(below.system_prompt, own);
    merged
}

fn system_prompt(below: Option<String>, own: &Persona) -> Option<String> {
    match (below, &own.system_prompt, own.system_prompt_mode) {
        (Some(below), Some(own), MergeMode::Append) => Some(appended(below, own)),
        (below, None, _) => below,
        (_, Some(own), _) => Some(own.clone()),
    }
}

/// Appends a text to that of a base. A blank one is dropped.
fn appended(below: String, own: &str) -> String {
    match (is_blank(&below), is_blank(own)) {
        (_, true) => below,
        (true, false) => own.to_owned(),
        (false, false) => format!("{}\n\n{own}", below.trim_end()),
    }
}

/// True if a system prompt is blank.
pub(crate) fn is_blank(prompt: &str) -> bool {
    prompt.trim().is_empty()
}

/// Collects the pieces of a kind in the order of the links, bases first. A piece that a stronger layer
/// also names is that of the stronger layer.
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
