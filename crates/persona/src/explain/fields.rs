//! Fields and lists: the strongest layer that sets a field wins, lists are unions.

use serde_json::Value;

use super::{ExplainedField, ExplainedItem, Holders, Removed, Rung};
use crate::field::{self, Described as _, Inherit, Shape, ValueView};
use crate::inherit::{PromptLayers, prompt_layers};
use crate::{Bundle, Kind, Persona};

/// The field that can append to a base's.
const SYSTEM_PROMPT: &str = "system_prompt";

/// Characters of a text that an explanation shows.
const VALUE_CHARS: usize = 200;

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A value with its long texts cut.
fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => cut(&text).into(),
        Value::Array(items) => items.into_iter().map(shown).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, shown(value))).collect())
        }
        other => other,
    }
}

/// The kind of entity that a field names.
pub(super) fn kind_of(field: &str) -> Option<Kind> {
    field::find(Kind::Persona.fields(), field)?.shape.names()
}

/// The fields of a layer that the strongest layer decides, by path. Tables are listed field by field.
fn decided(persona: &Persona) -> Vec<(String, ValueView<'_>)> {
    let mut decided = Vec::new();
    for (field, value) in persona.values() {
        match value.view() {
            _ if field.inherit != Inherit::Strongest => {}
            ValueView::Table(fields) => decided.extend(
                fields.into_iter().map(|(inner, value)| (format!("{}.{}", field.name, inner.name), value)),
            ),
            value => decided.push((field.name.to_owned(), value)),
        }
    }
    decided.retain(|(_, value)| !value.is_unset());
    decided
}

/// The paths of all fields that the strongest layer decides, in the order of a definition. Includes
/// `system_prompt`, which may append.
fn paths() -> impl Iterator<Item = String> {
    Kind::Persona.fields().iter().flat_map(|field| match (field.inherit, field.shape) {
        (Inherit::Strongest, Shape::Table(fields)) => {
            fields.iter().map(|inner| format!("{}.{}", field.name, inner.name)).collect()
        }
        (Inherit::Strongest, _) => vec![field.name.to_owned()],
        _ if field.name == SYSTEM_PROMPT => vec![field.name.to_owned()],
        _ => Vec::new(),
    })
}

pub(super) fn explain(rungs: &[Rung<'_>], holders: &Holders) -> Vec<ExplainedField> {
    let layers: Vec<_> = rungs.iter().map(|rung| (rung, decided(rung.persona))).collect();
    let mut fields: Vec<ExplainedField> = Vec::new();
    for path in paths() {
        if path == SYSTEM_PROMPT {
            fields.extend(system_prompt(rungs));
            continue;
        }
        let set_by = |(rung, set): &(&'_ Rung<'_>, Vec<(String, ValueView<'_>)>)| {
            let (_, value) = set.iter().find(|(field, _)| *field == path)?;
            Some((rung.label.clone(), rung.found.scope, value.to_json()))
        };
        let mut set: Vec<_> = layers.iter().filter_map(set_by).collect();
        let Some((from, scope, value)) = set.pop() else { continue };
        let named = kind_of(&path).zip(value.as_str());
        let piece_scope = named.and_then(|(kind, name)| holders.meant(kind, name, scope));
        fields.push(ExplainedField {
            from,
            not_found: named.is_some() && piece_scope.is_none(),
            piece_scope,
            field: path,
            value: shown(value),
            appends_to: Vec::new(),
            overrides: set.into_iter().map(|(label, ..)| label).collect(),
        });
    }
    fields
}

/// The layers whose texts make up a system prompt, in order, and those that a stronger layer
/// replaced.
pub(super) struct Speakers<'r, 'a> {
    pub(super) heard: Vec<(&'r Rung<'a>, &'a str)>,
    unheard: Vec<&'r Rung<'a>>,
}

pub(super) fn speakers<'r, 'a>(rungs: &'r [Rung<'a>]) -> Speakers<'r, 'a> {
    let PromptLayers { heard, unheard } = prompt_layers(rungs.iter().map(|rung| rung.persona));
    Speakers {
        heard: heard.into_iter().map(|(at, prompt)| (&rungs[at], prompt)).collect(),
        unheard: unheard.into_iter().map(|at| &rungs[at]).collect(),
    }
}

fn system_prompt(rungs: &[Rung<'_>]) -> Option<ExplainedField> {
    let Speakers { mut heard, unheard } = speakers(rungs);
    let (rung, prompt) = heard.pop()?;
    Some(ExplainedField {
        field: SYSTEM_PROMPT.to_owned(),
        from: rung.label.clone(),
        value: cut(prompt).into(),
        appends_to: heard.into_iter().map(|(rung, _)| rung.label.clone()).collect(),
        overrides: unheard.into_iter().map(|rung| rung.label.clone()).collect(),
        piece_scope: None,
        not_found: false,
    })
}

/// The entries that one layer lists and removes.
struct Listed<'a> {
    names: Vec<&'a str>,
    removes: Vec<&'a str>,
    /// The names that were found; `None` for a kind that bundles do not contain.
    found: Option<Vec<&'a str>>,
}

/// Every entry of every list, with its layer.
pub(super) fn items(
    bundle: &Bundle,
    rungs: &[Rung<'_>],
    holders: &Holders,
    removed: &mut Vec<Removed>,
) -> Vec<ExplainedItem> {
    let mut items = Vec::new();
    for field in Kind::Persona.fields() {
        let Inherit::Union(removed_by) = field.inherit else { continue };
        let kind = field.shape.names();
        let found = kind.and_then(|kind| found(bundle, kind));
        let layers = rungs.iter().enumerate().map(|(at, rung)| Listed {
            names: entries(rung.persona, field.name),
            removes: entries(rung.persona, removed_by),
            found: found.as_ref().map(|found| found[at].clone()),
        });
        items.extend(union(field.name, kind, rungs, layers.collect(), holders, removed));
    }
    items
}

/// The entries of a list of names or words.
fn entries<'a>(persona: &'a Persona, list: &str) -> Vec<&'a str> {
    let values = persona.values().into_iter();
    let Some((_, value)) = values.into_iter().find(|(field, _)| field.name == list) else {
        return Vec::new();
    };
    let ValueView::List(entries) = value.view() else { return Vec::new() };
    let text = |entry: ValueView<'a>| match entry {
        ValueView::Text(text) => Some(text),
        ValueView::Name(name) => Some(name.as_str()),
        _ => None,
    };
    entries.into_iter().filter_map(text).collect()
}

/// The names of the pieces of a kind that each layer found, root first; `None` for a kind that bundles do
/// not contain.
fn found(bundle: &Bundle, kind: Kind) -> Option<Vec<Vec<&str>>> {
    macro_rules! names {
        ($field:ident) => {{
            let layers = bundle.bases.iter().map(|base| &base.$field).chain([&bundle.$field]);
            Some(layers.map(|pieces| pieces.iter().map(|piece| piece.name.as_str()).collect()).collect())
        }};
    }
    match kind {
        Kind::Trait => names!(traits),
        Kind::Skill => names!(skills),
        Kind::Guardrail => names!(guardrails),
        _ => None,
    }
}

fn union(
    list: &str,
    kind: Option<Kind>,
    rungs: &[Rung<'_>],
    layers: Vec<Listed<'_>>,
    holders: &Holders,
    removed: &mut Vec<Removed>,
) -> Vec<ExplainedItem> {
    let mut items: Vec<ExplainedItem> = Vec::new();
    for (rung, Listed { names, removes, found }) in rungs.iter().zip(layers) {
        for gone in items.extract_if(.., |item| removes.contains(&item.name.as_str())) {
            removed.push(Removed {
                list: list.to_owned(),
                name: gone.name,
                from: gone.from,
                by: rung.label.clone(),
            });
        }
        for name in names {
            let piece_scope = kind.and_then(|kind| match &found {
                Some(found) => found.contains(&name).then(|| rung.found.scope_of(kind, name)),
                None => holders.meant(kind, name, rung.found.scope),
            });
            let here = ExplainedItem {
                list: list.to_owned(),
                name: name.to_owned(),
                from: rung.label.clone(),
                overrides: Vec::new(),
                not_found: kind.is_some() && piece_scope.is_none(),
                piece_scope,
            };
            match items.iter_mut().find(|item| item.name == name) {
                None => items.push(here),
                // A missing piece leaves the one of a weaker layer in force.
                Some(_) if here.not_found => {}
                Some(known) => {
                    let below = std::mem::replace(known, here);
                    known.overrides = below.overrides;
                    known.overrides.push(below.from);
                }
            }
        }
    }
    items
}
