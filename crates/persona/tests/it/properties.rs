//! Properties of every library and every request, checked on random ones.

use std::collections::BTreeSet;

use persona::{
    Assembled, AssemblyRequest, Bundle, Form, Kind, LayerOrigin, LeftOutKind, LeftOutReason, Name, Part,
    PartLink, Persona, TokenCounter, View, compile,
};
use proptest::prelude::*;

pub(crate) mod cases;
use cases::{Case, TYPES, holds};

use crate::budget::{FourBytes, Words, received};
use crate::script::name;

fn names(assembled: &Assembled<'_>) -> Vec<String> {
    assembled.parts.iter().map(|placed| placed.part.name.to_string()).collect()
}

/// Everything in an answer that a caller can tell from another.
fn summary(assembled: &Assembled<'_>) -> String {
    let Assembled { bundle: _, persona, parts, traits, skills, guardrails, .. } = assembled;
    let Assembled { left_out, tokens, over_budget, .. } = assembled;
    let persona = Persona { parts: Vec::new(), ..Persona::clone(persona) };
    format!(
        "{persona:?}\n{parts:?}\n{traits:?}\n{skills:?}\n{guardrails:?}\n{left_out:?}\n{tokens:?} {over_budget}"
    )
}

#[test]
fn overrides_beat_the_stage_and_the_stage_beats_the_own_for_each_type() {
    holds(|case| {
        let whole = case.assemble(&case.whole());
        for kind in TYPES {
            let of_type = |parts: &[Part]| -> BTreeSet<Name> {
                parts.iter().filter(|part| part.part_type == kind).map(|part| part.name.clone()).collect()
            };
            let own = of_type(&case.bundle.parts);
            let stage = case.bundle.stage.as_ref().map(|stage| of_type(&stage.parts)).unwrap_or_default();
            let overriding = of_type(&case.bundle.override_parts);
            let strongest = [overriding, stage, own].into_iter().find(|layer| !layer.is_empty());
            let placed: BTreeSet<Name> = whole
                .parts
                .iter()
                .filter(|placed| placed.part.part_type == kind)
                .map(|placed| placed.part.name.clone())
                .collect();
            prop_assert_eq!(placed, strongest.unwrap_or_default());
        }
        Ok(())
    });
}

/// The slot of each part, computed one by one instead of layer by layer.
fn expected_order(case: &Case) -> Vec<String> {
    let mut own: Vec<(&PartLink, &Part)> = case.bundle.persona.parts.iter().zip(&case.bundle.parts).collect();
    own.sort_by_key(|(link, _)| (link.order, link.name.clone()));
    let own: Vec<&Part> = own.into_iter().map(|(_, part)| part).collect();
    let stage: Vec<&Part> = case.bundle.stage.iter().flat_map(|stage| &stage.parts).collect();
    let first = |layer: &[&Part], kind| layer.iter().position(|part| part.part_type == kind);
    let own_slot = |kind| first(&own, kind).map(|at| (0, at));
    let stage_slot = |kind| own_slot(kind).or(first(&stage, kind).map(|at| (1, at)));
    let mut slots = Vec::new();
    for kind in TYPES {
        let of_type = |layer: &[&Part]| layer.iter().any(|part| part.part_type == kind);
        if let Some(name) = case.overrides.get(&kind) {
            slots.push((stage_slot(kind).unwrap_or((2, kind as usize)), 0, name.to_string()));
        } else if of_type(&stage) {
            for (at, part) in stage.iter().enumerate().filter(|(_, part)| part.part_type == kind) {
                slots.push((own_slot(kind).unwrap_or((1, at)), at, part.name.to_string()));
            }
        } else {
            for (at, part) in own.iter().enumerate().filter(|(_, part)| part.part_type == kind) {
                slots.push(((0, at), 0, part.name.to_string()));
            }
        }
    }
    slots.sort();
    slots.into_iter().map(|(_, _, name)| name).collect()
}

#[test]
fn every_part_has_its_slot() {
    holds(|case| {
        let whole = case.assemble(&case.whole());
        prop_assert_eq!(names(&whole), expected_order(case));
        prop_assert!(whole.parts.is_sorted_by_key(|placed| placed.order), "{:?}", whole.parts);
        prop_assert!(whole.left_out.is_empty() && !whole.over_budget && whole.tokens.is_none());
        Ok(())
    });
}

#[test]
fn types_is_a_filter() {
    holds(|case| {
        let whole = case.assemble(&case.whole());
        let typed = case.assemble(&case.with_types());
        let kept = whole.parts.iter().filter(|placed| case.types.contains(&placed.part.part_type));
        prop_assert_eq!(&typed.parts, &kept.cloned().collect::<Vec<_>>());
        // It commutes with itself: neither the order of the types nor their number matters.
        let again = case.types.iter().rev().chain(&case.types).copied().collect();
        prop_assert_eq!(
            summary(&typed),
            summary(&case.assemble(&AssemblyRequest { types: again, ..case.whole() }))
        );
        Ok(())
    });
}

#[test]
fn limit_keeps_exactly_as_many_as_it_says() {
    holds(|case| {
        let whole = case.assemble(&case.whole());
        let limited = case.assemble(&case.with_limit());
        let overrides = case.overrides.len();
        prop_assert_eq!(limited.parts.len(), case.limit.min(whole.parts.len()).max(overrides));
        prop_assert_eq!(limited.over_budget, overrides > case.limit);
        Ok(())
    });
}

#[test]
fn limit_keeps_the_top_in_assembly_order() {
    holds(|case| {
        let whole = case.assemble(&case.whole());
        let limited = case.assemble(&case.with_limit());
        let kept: BTreeSet<String> = names(&limited).into_iter().collect();
        // A subsequence of what there is without a limit, places included.
        let (inside, outside): (Vec<_>, Vec<_>) =
            whole.parts.iter().cloned().partition(|placed| kept.contains(placed.part.name.as_str()));
        prop_assert_eq!(&limited.parts, &inside);
        for dropped in &outside {
            prop_assert!(dropped.origin != LayerOrigin::Override);
            for held in inside.iter().filter(|held| held.origin != LayerOrigin::Override) {
                let place = |wanted| whole.parts.iter().position(|placed| placed == wanted);
                let ahead = held.priority > dropped.priority
                    || held.priority == dropped.priority && place(held) < place(dropped);
                prop_assert!(ahead, "{held:?} was kept before {dropped:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn limit_is_applied_after_types() {
    let differing = std::cell::Cell::new(0);
    holds(|case| {
        let both = case.assemble(&AssemblyRequest { limit: Some(case.limit), ..case.with_types() });
        // Limiting what types keeps, by hand.
        let typed = case.assemble(&case.with_types());
        let mut ranked: Vec<_> = typed.parts.iter().collect();
        ranked.sort_by_key(|placed| (placed.origin != LayerOrigin::Override, -placed.priority));
        let overrides = ranked.iter().filter(|placed| placed.origin == LayerOrigin::Override).count();
        ranked.truncate(case.limit.max(overrides));
        let expected: BTreeSet<String> = ranked.iter().map(|placed| placed.part.name.to_string()).collect();
        prop_assert_eq!(names(&both).into_iter().collect::<BTreeSet<_>>(), expected);
        // The other way round never keeps more, and often less.
        let limited = case.assemble(&case.with_limit());
        let other_way: Vec<String> = limited
            .parts
            .iter()
            .filter(|placed| case.types.contains(&placed.part.part_type))
            .map(|placed| placed.part.name.to_string())
            .collect();
        prop_assert!(other_way.iter().all(|name| names(&both).contains(name)));
        differing.set(differing.get() + usize::from(other_way != names(&both)));
        Ok(())
    });
    assert!(differing.get() > 30, "the order matters in {} cases only", differing.get());
}

/// The tokens of a piece of a kind in a view.
fn cost(case: &Case, kind: Kind, name: &Name) -> usize {
    let text = |summary: &Option<String>, detail: &Option<String>| {
        let text = if case.view == View::Detail { detail } else { summary };
        text.as_deref().unwrap_or_default().matches("tok").count()
    };
    let Bundle { parts, traits, skills, guardrails, stage, override_parts, .. } = &case.bundle;
    let stage = stage.iter().flat_map(|stage| &stage.parts);
    match kind {
        Kind::Part => {
            let mut all = parts.iter().chain(stage).chain(override_parts);
            all.find(|item| item.name == *name).map(|item| text(&item.summary, &item.content))
        }
        Kind::Trait => traits
            .iter()
            .find(|item| item.name == *name)
            .map(|item| text(&item.description, &item.instruction)),
        Kind::Skill => {
            skills.iter().find(|item| item.name == *name).map(|item| text(&item.description, &item.content))
        }
        _ => guardrails
            .iter()
            .find(|item| item.name == *name)
            .map(|item| text(&item.description, &item.content)),
    }
    .expect("the piece is in the bundle")
}

/// Everything that an answer holds.
fn pieces(assembled: &Assembled<'_>) -> BTreeSet<(Kind, Name)> {
    let parts = assembled.parts.iter().map(|placed| (Kind::Part, placed.part.name.clone()));
    let traits = assembled.traits.iter().map(|item| (Kind::Trait, item.name.clone()));
    let skills = assembled.skills.iter().map(|item| (Kind::Skill, item.name.clone()));
    let guardrails = assembled.guardrails.iter().map(|item| (Kind::Guardrail, item.name.clone()));
    parts.chain(traits).chain(skills).chain(guardrails).collect()
}

#[test]
fn max_tokens_tries_each_piece_by_priority_whole_and_then_as_its_summary() {
    holds(|case| {
        let whole = case.assemble(&case.whole());
        let fitted = case.assemble(&case.with_max_tokens());
        // Highest first; traits and skills come after the parts of priority 0.
        let mut ranked: Vec<(i32, Kind, Name)> = whole
            .parts
            .iter()
            .filter(|placed| placed.origin != LayerOrigin::Override)
            .map(|placed| (placed.priority, Kind::Part, placed.part.name.clone()))
            .chain(whole.traits.iter().map(|item| (0, Kind::Trait, item.name.clone())))
            .chain(whole.skills.iter().map(|item| (0, Kind::Skill, item.name.clone())))
            .collect();
        ranked.sort_by_key(|(priority, _, _)| -priority);
        let droppable: BTreeSet<_> = ranked.iter().map(|(_, kind, name)| (*kind, name.clone())).collect();
        let mut kept: BTreeSet<_> = pieces(&whole).difference(&droppable).cloned().collect();
        let mut tokens: usize = kept.iter().map(|(kind, name)| cost(case, *kind, name)).sum();
        let mut shortened = BTreeSet::new();
        let is_over = tokens > case.max_tokens;
        for (_, kind, name) in ranked {
            let whole = cost(case, kind, &name);
            let short = if case.view == View::Detail { whole / 10 } else { whole };
            // Where even the guardrails are too long, nothing is added.
            let added = [whole, short].into_iter().find(|cost| !is_over && tokens + cost <= case.max_tokens);
            if let Some(added) = added {
                tokens += added;
                kept.insert((kind, name.clone()));
                if added < whole {
                    shortened.insert((kind, name));
                }
            }
        }
        prop_assert_eq!(pieces(&fitted), kept);
        let short = fitted.shortened.iter().map(|(of, name)| (kind(*of), name.clone()));
        prop_assert_eq!(short.collect::<BTreeSet<_>>(), shortened);
        prop_assert_eq!(fitted.tokens, Some(tokens));
        prop_assert_eq!(fitted.over_budget, is_over);
        let in_order = whole.parts.iter().filter(|placed| fitted.parts.contains(placed));
        prop_assert_eq!(&fitted.parts, &in_order.cloned().collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn an_answer_fits_when_counted_or_says_that_it_does_not() {
    let fitting = std::cell::Cell::new(0);
    holds(|case| {
        for form in [Form::Pieces, Form::Compiled, Form::Text] {
            for counter in [&Words as &dyn TokenCounter, &FourBytes] {
                let max_tokens = case.max_tokens * 5;
                let request = AssemblyRequest { form, max_tokens: Some(max_tokens), ..case.whole() };
                let (answer, budget) = received(&case.bundle, &request, counter);
                let counted = counter.count(&answer);
                prop_assert!(
                    counted <= max_tokens || budget.over_budget,
                    "{} of {}: {}",
                    counted,
                    max_tokens,
                    answer
                );
                prop_assert_eq!(budget.tokens, Some(counted));
                let is_cut = !budget.left_out.is_empty() || !budget.shortened.is_empty();
                fitting.set(fitting.get() + usize::from(is_cut && !budget.over_budget));
            }
        }
        Ok(())
    });
    assert!(fitting.get() > 100, "only {} answers were cut to fit", fitting.get());
}

/// The kind of a piece; the random personas have no examples.
fn kind(of: LeftOutKind) -> Kind {
    of.as_str().parse().expect("a kind")
}

#[test]
fn kept_and_dropped_pieces_are_all_pieces() {
    holds(|case| {
        let all = pieces(&case.assemble(&case.whole()));
        for request in [case.with_types(), case.with_limit(), case.with_max_tokens(), case.with_all()] {
            let answer = case.assemble(&request);
            let left_out: BTreeSet<_> =
                answer.left_out.iter().map(|piece| (kind(piece.kind), name(&piece.name))).collect();
            prop_assert_eq!(left_out.len(), answer.left_out.len(), "{:?}", answer.left_out);
            prop_assert!(pieces(&answer).is_disjoint(&left_out));
            prop_assert_eq!(&pieces(&answer) | &left_out, all.clone());
        }
        Ok(())
    });
}

#[test]
fn guardrails_and_overrides_are_never_dropped_to_fit() {
    holds(|case| {
        let whole = case.assemble(&case.whole());
        let answer = case.assemble(&case.with_all());
        prop_assert_eq!(&answer.guardrails, &whole.guardrails);
        for piece in answer.left_out.iter().filter(|piece| piece.reason != LeftOutReason::Types) {
            prop_assert!(!case.overrides.values().any(|name| name.as_str() == piece.name), "{piece:?}");
        }
        Ok(())
    });
}

#[test]
fn the_same_input_gives_the_same_output_in_whatever_order_it_was_loaded() {
    holds(|case| {
        let mut other = case.clone();
        let Bundle { persona, parts, traits, skills, guardrails, override_parts, .. } = &mut other.bundle;
        parts.reverse();
        traits.reverse();
        skills.reverse();
        guardrails.reverse();
        override_parts.reverse();
        persona.parts.reverse();
        for request in [case.whole(), case.with_all()] {
            let answer = case.assemble(&request);
            prop_assert_eq!(summary(&answer), summary(&case.assemble(&request)));
            prop_assert_eq!(summary(&answer), summary(&other.assemble(&request)));
            prop_assert_eq!(compile(&answer), compile(&other.assemble(&request)));
        }
        Ok(())
    });
}
