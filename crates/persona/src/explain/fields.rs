//! Fields and lists: the strongest layer that sets a field wins, lists are unions.

use serde_json::Value;

use super::{Field, Holders, Item, Removed, Rung};
use crate::inherit::is_blank;
use crate::{Bundle, Kind, MergeMode, Name, Persona, PlanPersona};

/// Characters of a text that an explanation shows.
const VALUE_CHARS: usize = 200;

type Getter = fn(&Persona) -> Option<Value>;

/// The fields that the strongest layer decides, in the order of a definition, with the kind of
/// what they name. `system_prompt` is apart, since it may append.
const FIELDS: &[(&str, Option<Kind>, Getter)] = &[
    ("display_name", None, |it| text(&it.display_name)),
    ("description", None, |it| text(&it.description)),
    ("summary", None, |it| text(&it.summary)),
    ("detail", None, |it| text(&it.detail)),
    ("preferred_models", None, |it| {
        (!it.preferred_models.is_empty())
            .then(|| serde_json::to_value(&it.preferred_models).unwrap_or_default())
    }),
    ("tool_preset", Some(Kind::ToolPreset), |it| name(&it.tool_preset)),
    ("bias_profile", Some(Kind::BiasProfile), |it| name(&it.bias_profile)),
    ("context_preset", Some(Kind::ContextPreset), |it| name(&it.context_preset)),
    ("aggregation_strategy", None, |it| it.aggregation_strategy.map(|it| it.as_str().into())),
    ("max_tool_rounds", None, |it| it.max_tool_rounds.map(Value::from)),
    ("plan_persona.instruction", None, |it| plan(it, |plan| text(&plan.instruction))),
    ("plan_persona.model", None, |it| plan(it, |plan| text(&plan.model))),
    ("plan_persona.tool_preset", Some(Kind::ToolPreset), |it| plan(it, |plan| name(&plan.tool_preset))),
    ("arc", Some(Kind::Arc), |it| name(&it.arc)),
];

fn text(text: &Option<String>) -> Option<Value> {
    text.as_deref().map(cut)
}

fn name(name: &Option<Name>) -> Option<Value> {
    name.as_ref().map(|name| name.as_str().into())
}

fn plan(persona: &Persona, get: fn(&PlanPersona) -> Option<Value>) -> Option<Value> {
    persona.plan_persona.as_ref().and_then(get)
}

fn cut(text: &str) -> Value {
    match text.char_indices().nth(VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The kind of what a field names.
pub(super) fn kind_of(field: &str) -> Option<Kind> {
    FIELDS.iter().find(|(known, ..)| *known == field).and_then(|(_, kind, _)| *kind)
}

pub(super) fn explain(rungs: &[Rung<'_>], holders: &Holders) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for (field, kind, get) in FIELDS {
        if *field == "preferred_models" {
            fields.extend(system_prompt(rungs));
        }
        let mut set: Vec<(&Rung<'_>, Value)> =
            rungs.iter().filter_map(|rung| Some((rung, get(rung.persona)?))).collect();
        let Some((rung, value)) = set.pop() else { continue };
        let named = kind.zip(value.as_str());
        let piece_scope = named.and_then(|(kind, name)| holders.meant(kind, name, rung.found.scope));
        fields.push(Field {
            field: (*field).to_owned(),
            from: rung.label.clone(),
            not_found: named.is_some() && piece_scope.is_none(),
            piece_scope,
            value,
            appends_to: Vec::new(),
            overrides: set.into_iter().map(|(rung, _)| rung.label.clone()).collect(),
        });
    }
    fields
}

/// The layers of whose texts a system prompt is made, in its order, and those whose texts are not
/// in it because of a stronger one.
pub(super) struct Speakers<'r, 'a> {
    pub(super) heard: Vec<(&'r Rung<'a>, &'a str)>,
    unheard: Vec<&'r Rung<'a>>,
}

pub(super) fn speakers<'r, 'a>(rungs: &'r [Rung<'a>]) -> Speakers<'r, 'a> {
    let mut heard: Vec<(&Rung<'a>, &str)> = Vec::new();
    let mut unheard = Vec::new();
    for rung in rungs {
        let Some(prompt) = rung.persona.system_prompt.as_deref() else { continue };
        let appends = rung.persona.system_prompt_mode == MergeMode::Append;
        if appends && is_blank(prompt) && !heard.is_empty() {
            continue;
        }
        if !appends || heard.iter().all(|(_, below)| is_blank(below)) {
            unheard.extend(heard.drain(..).map(|(rung, _)| rung));
        }
        heard.push((rung, prompt));
    }
    Speakers { heard, unheard }
}

fn system_prompt(rungs: &[Rung<'_>]) -> Option<Field> {
    let Speakers { mut heard, unheard } = speakers(rungs);
    let (rung, prompt) = heard.pop()?;
    Some(Field {
        field: "system_prompt".to_owned(),
        from: rung.label.clone(),
        value: cut(prompt),
        appends_to: heard.into_iter().map(|(rung, _)| rung.label.clone()).collect(),
        overrides: unheard.into_iter().map(|rung| rung.label.clone()).collect(),
        piece_scope: None,
        not_found: false,
    })
}

/// What one layer lists and takes away.
struct Listed<'a> {
    names: Vec<&'a str>,
    removes: Vec<&'a str>,
    /// What it found of the names; `None` where a bundle does not bring that kind along.
    found: Option<Vec<&'a str>>,
}

/// Every entry of every list, with the layer that it is from.
pub(super) fn items(
    bundle: &Bundle,
    rungs: &[Rung<'_>],
    holders: &Holders,
    removed: &mut Vec<Removed>,
) -> Vec<Item> {
    /// The names that each layer's pieces of a kind have, root first.
    macro_rules! found {
        ($field:ident) => {
            bundle
                .bases
                .iter()
                .map(|base| &base.$field)
                .chain([&bundle.$field])
                .map(|pieces| Some(pieces.iter().map(|piece| piece.name.as_str()).collect::<Vec<_>>()))
        };
    }
    macro_rules! listed {
        ($field:ident, $remove:ident, $found:expr) => {
            rungs.iter().zip($found).map(|(rung, found)| Listed {
                names: rung.persona.$field.iter().map(AsRef::as_ref).collect(),
                removes: rung.persona.$remove.iter().map(AsRef::as_ref).collect(),
                found,
            })
        };
    }
    let unloaded = || std::iter::repeat_with(|| None);
    let mut items = Vec::new();
    let mut add = |list, kind, layers: Vec<Listed<'_>>| {
        items.extend(union(list, kind, rungs, layers, holders, removed));
    };
    add("traits", Some(Kind::Trait), listed!(traits, remove_traits, found!(traits)).collect());
    add("skills", Some(Kind::Skill), listed!(skills, remove_skills, found!(skills)).collect());
    add(
        "guardrails",
        Some(Kind::Guardrail),
        listed!(guardrails, remove_guardrails, found!(guardrails)).collect(),
    );
    add("test_inputs", Some(Kind::TestInput), listed!(test_inputs, remove_test_inputs, unloaded()).collect());
    add("tags", None, listed!(tags, remove_tags, unloaded()).collect());
    items
}

fn union(
    list: &str,
    kind: Option<Kind>,
    rungs: &[Rung<'_>],
    layers: Vec<Listed<'_>>,
    holders: &Holders,
    removed: &mut Vec<Removed>,
) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
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
            let here = Item {
                list: list.to_owned(),
                name: name.to_owned(),
                from: rung.label.clone(),
                overrides: Vec::new(),
                not_found: kind.is_some() && piece_scope.is_none(),
                piece_scope,
            };
            match items.iter_mut().find(|item| item.name == name) {
                None => items.push(here),
                // A layer that names what it did not find leaves the piece below it in force.
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
