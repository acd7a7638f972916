//! Properties of every chain of personas, checked on random ones.

use std::collections::{BTreeMap, BTreeSet};

use persona::explain::{Holders, explain, flat};
use persona::{
    AssemblyRequest, Bundle, Entity as _, LayerOrigin, MergeMode, Name, Part, PartLink, PartType, Persona,
    PersonaView, View, assemble, compile, view,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::script::{self, Toks, add_guardrail, add_skill, add_trait, as_base, name, part};

/// Few types and few names of each, so that layers meet.
const TYPES: [PartType; 3] = [PartType::Tone, PartType::Goal, PartType::Voice];
const PER_TYPE: usize = 3;
const ITEMS: [&str; 4] = ["a", "b", "c", "d"];

/// Runs a property on the same random chains each time; the last persona is the one asked for.
fn holds(property: impl Fn(&Bundle) -> Result<(), TestCaseError>) {
    let config = ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6368_6169_6e73),
        ..ProptestConfig::default()
    };
    if let Err(failure) = TestRunner::new(config).run(&chains(), |bundle| property(&bundle)) {
        panic!("{failure}");
    }
}

fn chains() -> impl Strategy<Value = Bundle> {
    let stage = option::of(vec((0..TYPES.len(), 0..3_usize), 0..4));
    (vec(layers(), 1..=4), stage).prop_map(|(mut layers, stage)| {
        let mut bundle = layers.pop().expect("at least one");
        bundle.persona.name = name("someone");
        for (at, mut base) in layers.into_iter().enumerate() {
            base.persona.name = name(&format!("base-{at}"));
            bundle.bases.push(as_base(base));
        }
        bundle.stage = stage.map(|parts| {
            let parts = parts.into_iter().enumerate();
            let parts = parts.map(|(at, (kind, cost))| part(TYPES[kind], name(&format!("stage-{at}")), cost));
            script::stage(parts.collect())
        });
        bundle
    })
}

/// One persona of a chain, as a bundle of its own.
fn layers() -> impl Strategy<Value = Bundle> {
    let links = vec(option::weighted(0.3, (-2..3_i32, -2..3_i32, 0..4_usize)), TYPES.len() * PER_TYPE);
    let removed = vec(proptest::bool::weighted(0.1), TYPES.len() * PER_TYPE);
    let lists = vec(option::weighted(0.3, 0..4_usize), ITEMS.len() * 4);
    let list_removals = vec(proptest::bool::weighted(0.15), ITEMS.len() * 4);
    let fields = vec(option::weighted(0.4, 0..3_usize), 9);
    let modes = (any::<bool>(), any::<bool>());
    (links, removed, lists, list_removals, fields, modes).prop_map(
        |(links, removed, lists, list_removals, fields, modes)| {
            let mut bundle = script::bundle(Persona::new(name("someone")));
            for (at, link) in links.into_iter().enumerate() {
                let Some((order, priority, cost)) = link else { continue };
                // The type is in the name: a name is one part in all layers, with texts that differ.
                bundle.parts.push(part(TYPES[at / PER_TYPE], part_name(at), cost));
                bundle.persona.parts.push(PartLink { name: part_name(at), order, priority });
            }
            let removed = removed.into_iter().enumerate().filter(|(_, removed)| *removed);
            bundle.persona.remove_parts = removed.map(|(at, _)| part_name(at)).collect();
            set_lists(&mut bundle, &lists, &list_removals);
            set_fields(&mut bundle.persona, &fields);
            let mode = |append| if append { MergeMode::Append } else { MergeMode::Replace };
            bundle.persona.parts_mode = mode(modes.0);
            bundle.persona.system_prompt_mode = mode(modes.1);
            bundle
        },
    )
}

fn part_name(at: usize) -> Name {
    // Not in the order of the types.
    name(&format!("{}-{}", (at * 7) % 10, TYPES[at / PER_TYPE]))
}

fn set_lists(bundle: &mut Bundle, lists: &[Option<usize>], removals: &[bool]) {
    for (at, (cost, removed)) in lists.iter().zip(removals).enumerate() {
        let item = ITEMS[at % ITEMS.len()];
        match (at / ITEMS.len(), cost) {
            (0, Some(cost)) => add_trait(bundle, &format!("{item}*{cost}")),
            (1, Some(cost)) => add_skill(bundle, &format!("{item}*{cost}")),
            (2, Some(cost)) => add_guardrail(bundle, &format!("{item}:high*{cost}")),
            (3, Some(_)) => bundle.persona.tags.push(item.to_owned()),
            _ => {}
        }
        let persona = &mut bundle.persona;
        match (at / ITEMS.len(), removed) {
            (0, true) => persona.remove_traits.push(name(item)),
            (1, true) => persona.remove_skills.push(name(item)),
            (2, true) => persona.remove_guardrails.push(name(item)),
            (3, true) => persona.remove_tags.push(item.to_owned()),
            _ => {}
        }
    }
}

fn set_fields(persona: &mut Persona, fields: &[Option<usize>]) {
    let text = |at: usize| fields[at].map(|which| format!("Text {which} of {at}."));
    let named = |at: usize| fields[at].map(|which| name(&format!("n{which}")));
    persona.display_name = text(0);
    persona.description = text(1);
    persona.summary = text(2);
    persona.detail = text(3);
    persona.system_prompt = text(4);
    persona.tool_preset = named(5);
    persona.arc = named(6);
    if let Some(instruction) = text(7) {
        persona.plan_persona.get_or_insert_default().instruction = Some(instruction);
    }
    if let Some(model) = text(8) {
        persona.plan_persona.get_or_insert_default().model = Some(model);
    }
}

/// The personas of a chain, root first.
fn personas(bundle: &Bundle) -> Vec<&Persona> {
    bundle.bases.iter().map(|base| &base.persona).chain([&bundle.persona]).collect()
}

fn type_of(name: &Name) -> PartType {
    let (_, word) = name.as_str().split_once('-').expect("number-type");
    word.parse().expect("a type")
}

/// True if a persona's link survives: no stronger persona removes the part,
/// links it itself, or supplies its type.
fn survives(link: &PartLink, stronger: &[&Persona]) -> bool {
    !stronger.iter().any(|persona| {
        let has = |test: &dyn Fn(&Name) -> bool| persona.parts.iter().any(|other| test(&other.name));
        persona.remove_parts.contains(&link.name)
            || has(&|name| *name == link.name)
            || persona.parts_mode == MergeMode::Replace && has(&|name| type_of(name) == type_of(&link.name))
    })
}

/// The links that make up the persona: the index of the layer, and the link with the order and the
/// priority that the layers below leave it.
fn surviving(bundle: &Bundle) -> Vec<(usize, PartLink)> {
    let personas = personas(bundle);
    let mut placed: Vec<(usize, PartLink)> = Vec::new();
    for (at, persona) in personas.iter().enumerate() {
        placed.retain(|(_, link)| survives(link, &[persona]));
        let below: Vec<PartLink> = placed.iter().map(|(_, link)| link.clone()).collect();
        for (position, link) in persona.parts.iter().enumerate() {
            let mut link = link.clone();
            if persona.parts_mode == MergeMode::Append {
                let of_type = below.iter().filter(|it| type_of(&it.name) == type_of(&link.name));
                let is_implied = link.order == position as i32;
                let last = below.iter().map(|it| it.order).max().filter(|_| is_implied);
                let last = of_type.map(|it| it.order).max().or(last);
                link.order = link.order.max(last.unwrap_or(i32::MIN));
                if link.priority == 0 {
                    let of_type = below.iter().filter(|it| type_of(&it.name) == type_of(&link.name));
                    let top = of_type.map(|it| it.priority).max();
                    link.priority = top.or(below.iter().map(|it| it.priority).max()).unwrap_or(0);
                }
            }
            placed.push((at, link));
        }
    }
    let appended = |at: usize| if personas[at].parts_mode == MergeMode::Append { at } else { 0 };
    placed.sort_by_key(|(at, link)| (link.order, appended(*at), link.name.clone()));
    placed
}

#[test]
fn parts_are_those_that_no_stronger_persona_displaces() {
    holds(|bundle| {
        let mut bundle = bundle.clone();
        bundle.stage = None;
        let placed = bundle.assembled().parts;
        let placed: Vec<_> = placed
            .iter()
            .map(|placed| (placed.origin, placed.part.name.clone(), placed.order, placed.priority))
            .collect();
        let expected = surviving(&bundle).into_iter().map(|(at, link)| {
            let origin = if at == bundle.bases.len() { LayerOrigin::Own } else { LayerOrigin::Base };
            (origin, link.name, link.order, link.priority)
        });
        prop_assert_eq!(placed, expected.collect::<Vec<_>>());
        Ok(())
    });
}

/// The names that a list ends up with, whatever their order: the strongest persona that mentions
/// one decides.
fn expected_list<'a, T: Ord>(
    bundle: &'a Bundle,
    list: impl Fn(&'a Persona) -> &'a Vec<T>,
    remove: impl Fn(&'a Persona) -> &'a Vec<T>,
) -> BTreeSet<&'a T> {
    let mut decided: BTreeMap<&T, bool> = BTreeMap::new();
    for persona in personas(bundle).into_iter().rev() {
        for (items, kept) in [(list(persona), true), (remove(persona), false)] {
            for item in items {
                decided.entry(item).or_insert(kept);
            }
        }
    }
    decided.into_iter().filter(|(_, kept)| *kept).map(|(item, _)| item).collect()
}

#[test]
fn the_strongest_persona_that_mentions_an_entry_decides() {
    holds(|bundle| {
        let assembled = bundle.assembled();
        let traits: BTreeSet<&Name> = assembled.traits.iter().map(|it| &it.name).collect();
        prop_assert_eq!(traits, expected_list(bundle, |it| &it.traits, |it| &it.remove_traits));
        let skills: BTreeSet<&Name> = assembled.skills.iter().map(|it| &it.name).collect();
        prop_assert_eq!(skills, expected_list(bundle, |it| &it.skills, |it| &it.remove_skills));
        let guardrails: BTreeSet<&Name> = assembled.guardrails.iter().map(|it| &it.name).collect();
        prop_assert_eq!(guardrails, expected_list(bundle, |it| &it.guardrails, |it| &it.remove_guardrails));
        let tags: BTreeSet<&String> = assembled.persona.tags.iter().collect();
        prop_assert_eq!(tags, expected_list(bundle, |it| &it.tags, |it| &it.remove_tags));
        // The fields name the pieces in the order in which they are shown.
        let names: Vec<&Name> = assembled.traits.iter().map(|it| &it.name).collect();
        prop_assert_eq!(names, assembled.persona.traits.iter().collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn fields_are_those_of_the_strongest_persona_that_sets_them() {
    holds(|bundle| {
        let merged = &bundle.assembled().persona;
        let strongest =
            |get: &dyn Fn(&Persona) -> Option<String>| personas(bundle).into_iter().rev().find_map(get);
        prop_assert_eq!(&merged.summary, &strongest(&|it| it.summary.clone()));
        prop_assert_eq!(&merged.detail, &strongest(&|it| it.detail.clone()));
        let preset = merged.tool_preset.as_ref().map(Name::to_string);
        prop_assert_eq!(preset, strongest(&|it| it.tool_preset.as_ref().map(Name::to_string)));
        let model = merged.plan_persona.clone().and_then(|plan| plan.model);
        prop_assert_eq!(model, strongest(&|it| it.plan_persona.clone()?.model));
        // Every text that is not below one that replaces is in the prompt, root's first.
        let mut texts: Vec<String> = Vec::new();
        for persona in personas(bundle) {
            let Some(text) = persona.system_prompt.clone() else { continue };
            if persona.system_prompt_mode == MergeMode::Replace {
                texts.clear();
            }
            texts.push(text);
        }
        prop_assert_eq!(merged.system_prompt.clone().unwrap_or_default(), texts.join("\n\n"));
        Ok(())
    });
}

/// The flat persona with the pieces that the original has.
fn flattened(bundle: &Bundle) -> Bundle {
    let assembled = Bundle { stage: None, ..bundle.clone() };
    let assembled = assembled.assembled();
    Bundle {
        persona: flat(bundle),
        parts: assembled.parts.iter().map(|placed| Part::clone(placed.part)).collect(),
        traits: assembled.traits.iter().copied().cloned().collect(),
        skills: assembled.skills.iter().copied().cloned().collect(),
        guardrails: assembled.guardrails.iter().copied().cloned().collect(),
        bases: Vec::new(),
        ..bundle.clone()
    }
}

/// A view in which the parts do not say which layer they are from: that is what flattening loses.
fn seen(bundle: &Bundle, request: &AssemblyRequest) -> PersonaView {
    let assembled = assemble(bundle, request, &Toks).expect("there are no overrides");
    let mut view = view(&assembled, request, "toks");
    for part in view.parts.iter_mut().flatten() {
        // Flattening renumbers appended parts; their order in the list stays.
        part.part_order = 0;
        if part.from == LayerOrigin::Base {
            part.from = LayerOrigin::Own;
        }
    }
    view
}

#[test]
fn a_flat_persona_equals_its_chain() {
    holds(|bundle| {
        let flattened = flattened(bundle);
        for request in [
            AssemblyRequest::plain(View::Summary),
            AssemblyRequest::plain(View::Detail),
            // A limit or a budget prefers own parts to inherited ones, and a flat persona inherits none.
            AssemblyRequest { types: vec![PartType::Tone], ..AssemblyRequest::default() },
        ] {
            prop_assert_eq!(seen(&flattened, &request), seen(bundle, &request));
        }
        prop_assert_eq!(compile(&flattened.assembled()), compile(&bundle.assembled()));
        Ok(())
    });
}

#[test]
fn a_flat_persona_has_no_base() {
    holds(|bundle| {
        let once = flat(bundle);
        prop_assert_eq!(once.check(), Ok(()));
        prop_assert_eq!(&once.extends, &None);
        prop_assert_eq!(once.parts_mode, MergeMode::Replace);
        prop_assert_eq!(once.system_prompt_mode, MergeMode::Replace);
        let removed = once.remove_parts.len() + once.remove_traits.len() + once.remove_skills.len();
        prop_assert_eq!(removed + once.remove_guardrails.len() + once.remove_tags.len(), 0);
        prop_assert_eq!(&flat(&flattened(bundle)), &once, "flattening again changes nothing");
        Ok(())
    });
}

#[test]
fn an_explanation_accounts_for_everything_that_is_there() {
    holds(|bundle| {
        let explanation = explain(bundle, &Holders::default());
        let assembled = bundle.assembled();
        let labels: Vec<String> =
            personas(bundle).iter().map(|persona| format!("builtin:{}", persona.name)).collect();
        // The parts are those of the assembly, each from the layer whose link it is.
        let links = surviving(bundle);
        let expected: Vec<_> = assembled
            .parts
            .iter()
            .map(|placed| {
                let link = links.iter().find(|(_, link)| link.name == placed.part.name);
                let from = link.map_or("builtin:growth/now".to_owned(), |(at, _)| labels[*at].clone());
                (placed.part.name.clone(), placed.order, placed.priority, from)
            })
            .collect();
        let parts = explanation.parts.iter();
        let parts: Vec<_> =
            parts.map(|part| (part.name.clone(), part.order, part.priority, part.from.clone())).collect();
        prop_assert_eq!(parts, expected);
        // The items are those of the flat persona, in its order.
        let flat = flat(bundle);
        for (list, names) in
            [("traits", &flat.traits), ("skills", &flat.skills), ("guardrails", &flat.guardrails)]
        {
            let items = explanation.items.iter().filter(|item| item.list == list);
            let items: Vec<&str> = items.map(|item| item.name.as_str()).collect();
            prop_assert_eq!(items, names.iter().map(Name::as_str).collect::<Vec<_>>());
        }
        Ok(())
    });
}

#[test]
fn an_explanation_accounts_for_everything_that_is_gone() {
    holds(|bundle| {
        let explanation = explain(bundle, &Holders::default());
        let replaced = explanation.parts.iter().flat_map(|part| &part.replaced);
        let replaced: BTreeSet<(&str, &str)> =
            replaced.map(|old| (old.name.as_str(), old.from.as_str())).collect();
        let removed = explanation.removed.iter().filter(|it| it.list == "parts");
        let removed: BTreeSet<(&str, &str)> =
            removed.map(|it| (it.name.as_str(), it.from.as_str())).collect();
        let personas = personas(bundle);
        for (at, persona) in personas.iter().enumerate() {
            let label = format!("builtin:{}", persona.name);
            for link in &persona.parts {
                let key = (link.name.as_str(), label.as_str());
                let in_stage = explanation.parts.iter().any(|part| {
                    part.from == "builtin:growth/now" && part.part_type == Some(type_of(&link.name))
                });
                let gone = !survives(link, &personas[at + 1..]) || in_stage;
                // The part that replaced it may have been removed again.
                let told = replaced.contains(&key) || removed.contains(&key);
                prop_assert!(gone || !told, "{key:?} is there and told as gone");
                let displacing = &personas[at + 1..];
                let only_removed = displacing.iter().all(|it| it.parts.is_empty());
                if gone && !in_stage && only_removed {
                    prop_assert!(removed.contains(&key), "{key:?} was taken away untold");
                }
                let no_removals = displacing.iter().all(|it| it.remove_parts.is_empty());
                if gone && no_removals {
                    prop_assert!(replaced.contains(&key), "{key:?} was replaced untold");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn an_explanation_names_the_layer_of_every_field() {
    holds(|bundle| {
        let explanation = explain(bundle, &Holders::default());
        let merged = serde_json::to_value(&*bundle.assembled().persona).expect("JSON");
        for field in
            ["display_name", "description", "summary", "detail", "system_prompt", "tool_preset", "arc"]
        {
            let explained = explanation.fields.iter().find(|it| it.field == field);
            let setting = personas(bundle)
                .into_iter()
                .filter(|persona| serde_json::to_value(persona).expect("JSON").get(field).is_some());
            let setting: Vec<String> = setting.map(|persona| format!("builtin:{}", persona.name)).collect();
            prop_assert_eq!(explained.is_some(), merged.get(field).is_some());
            let Some(explained) = explained else { continue };
            prop_assert_eq!(Some(&explained.from), setting.last());
            let all: BTreeSet<&String> =
                explained.overrides.iter().chain(&explained.appends_to).chain([&explained.from]).collect();
            prop_assert_eq!(all, setting.iter().collect::<BTreeSet<_>>());
            if explained.appends_to.is_empty() {
                prop_assert_eq!(&explained.value, &merged[field]);
            }
        }
        Ok(())
    });
}
