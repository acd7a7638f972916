//! Inheritance of everything but parts: fields, traits, skills, guardrails, tags.
//!
//! The strongest layer that sets a field wins. Lists are unions; each layer can remove entries of its
//! bases.

use std::borrow::Cow;

use crate::entity::is_blank;
use crate::field::{AnyValue, Described as _, Inherit};
use crate::{Bundle, Guardrail, MergeMode, Persona, Skill, Tags, Trait};

/// The persona with inherited fields. `parts` stays the persona's own, because parts are layered by
/// type.
pub(crate) fn fields(bundle: &Bundle) -> Cow<'_, Persona> {
    let Some((root, rest)) = bundle.bases.split_first() else {
        return Cow::Borrowed(&bundle.persona);
    };
    let above = rest.iter().map(|base| &base.persona).chain([&bundle.persona]);
    let mut merged = above.fold(root.persona.clone(), |below, own| merge(&below, own));
    merged.system_prompt = prompt_layers(chain(bundle)).joined();
    Cow::Owned(merged)
}

/// The personas of a bundle, root first; the last is the persona itself.
pub(crate) fn chain(bundle: &Bundle) -> impl Iterator<Item = &Persona> {
    bundle.bases.iter().map(|base| &base.persona).chain([&bundle.persona])
}

fn merge(below: &Persona, own: &Persona) -> Persona {
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
    merged
}

/// The personas of a chain whose texts make up its system prompt, by their place in the chain.
pub(crate) struct PromptLayers<'a> {
    /// In the order of the prompt.
    pub(crate) heard: Vec<(usize, &'a str)>,
    /// Those that a stronger one replaced.
    pub(crate) unheard: Vec<usize>,
}

pub(crate) fn prompt_layers<'a>(chain: impl IntoIterator<Item = &'a Persona>) -> PromptLayers<'a> {
    let mut heard: Vec<(usize, &str)> = Vec::new();
    let mut unheard = Vec::new();
    for (at, persona) in chain.into_iter().enumerate() {
        let Some(prompt) = persona.system_prompt.as_deref() else { continue };
        let appends = persona.system_prompt_mode == MergeMode::Append;
        if appends && is_blank(prompt) && !heard.is_empty() {
            continue;
        }
        if !appends || heard.iter().all(|(_, below)| is_blank(below)) {
            unheard.extend(heard.drain(..).map(|(below, _)| below));
        }
        heard.push((at, prompt));
    }
    PromptLayers { heard, unheard }
}

impl PromptLayers<'_> {
    /// The system prompt: the texts, a blank line apart.
    fn joined(&self) -> Option<String> {
        let ((_, last), below) = self.heard.split_last()?;
        let mut prompt: String = below.iter().map(|(_, text)| format!("{}\n\n", text.trim_end())).collect();
        prompt.push_str(last);
        Some(prompt)
    }
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
