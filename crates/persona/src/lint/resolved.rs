//! Rules for a persona together with its bases, pieces and arc.

use std::collections::{BTreeSet, HashMap};

use super::known::Known;
use super::{Finding, Findings, Level, LintTarget, Rule};
use crate::entity::Texts as _;
use crate::{
    AnyEntity, Base, Bundle, CharacterArc, Kind, LayerOrigin, Meta, Name, Part, PartType, Persona, Scope,
    inherit, layers, says_nothing,
};

/// The types of which a persona should have one part. They define the speaker: with two of them, a model
/// alternates between two speakers. Goals, flaws, skills and the like add up.
const SINGLE: [PartType; 4] = [PartType::Identity, PartType::Tone, PartType::Voice, PartType::Archetype];

/// The part types that the personas with an arc have; `None` once one of them cannot be resolved.
pub(super) type TypesByArc = HashMap<(Scope, Name), Option<BTreeSet<PartType>>>;

pub(super) fn check_personas(
    targets: &[LintTarget<'_>],
    known: &Known<'_>,
    types_by_arc: &mut TypesByArc,
    found: &mut Vec<Finding>,
) {
    for target in targets {
        if let AnyEntity::Persona(own) = target.entity {
            persona(&mut Findings { target: *target, found }, known, own, types_by_arc);
        }
    }
}

/// Checks arcs, once all personas are.
pub(super) fn check_arcs(
    targets: &[LintTarget<'_>],
    known: &Known<'_>,
    types_by_arc: &TypesByArc,
    found: &mut Vec<Finding>,
) {
    for target in targets {
        if let AnyEntity::Arc(own) = target.entity {
            arc(&mut Findings { target: *target, found }, known, own, types_by_arc);
        }
    }
}

fn persona<'a>(
    findings: &mut Findings<'a, '_>,
    known: &Known<'a>,
    persona: &'a Persona,
    types_by_arc: &mut TypesByArc,
) {
    let scope = findings.target.scope;
    let Ok(chain) = known.chain(scope, persona) else {
        let arc =
            persona.arc.as_ref().and_then(|arc| Some((known.find(scope, Kind::Arc, arc)?.0, arc.clone())));
        types_by_arc.extend(arc.map(|arc| (arc, None)));
        return;
    };
    useless_removals(findings, known, persona, &chain[1..]);
    no_prompt(findings, &chain);
    no_summary(findings, known, &chain);
    let bundle = skeleton(known, (scope, persona), &chain[1..]);
    let placed = layers::authored(&bundle);
    for part_type in SINGLE {
        let of_type: Vec<_> = placed.iter().filter(|placed| placed.part.part_type == part_type).collect();
        // A conflict within a base is reported for the base.
        if of_type.iter().any(|placed| placed.origin == LayerOrigin::Own) {
            conflict(findings, "parts", part_type, of_type.iter().map(|placed| &placed.part.name));
        }
    }
    let arc = chain.iter().find_map(|(scope, persona)| Some((*scope, persona.arc.as_ref()?)));
    let arc = arc.and_then(|(scope, arc)| Some((known.find(scope, Kind::Arc, arc)?.0, arc.clone())));
    if let Some(arc) = arc {
        let types = types_by_arc.entry(arc).or_insert_with(|| Some(BTreeSet::new()));
        types.iter_mut().for_each(|types| types.extend(placed.iter().map(|placed| placed.part.part_type)));
    }
}

fn conflict<'n>(
    findings: &mut Findings<'_, '_>,
    field: &str,
    part_type: PartType,
    names: impl Iterator<Item = &'n Name>,
) {
    let names: Vec<&str> = names.map(Name::as_str).collect();
    if names.len() > 1 {
        let message = format!("{} {part_type} parts speak at once: {}", names.len(), names.join(", "));
        let hint = "keep one, or put them into one part".to_owned();
        findings.add(Rule::ConflictingParts, Some(field), message, Some(hint));
    }
}

fn useless_removals(
    findings: &mut Findings<'_, '_>,
    known: &Known<'_>,
    persona: &Persona,
    bases: &[(Scope, &Persona)],
) {
    let Some((nearest_base, further)) = bases.split_first() else {
        for (field, what, name) in removals(persona) {
            let message = format!("there is no {what} {name:?} to take away: the persona extends nothing");
            findings.add_named(Rule::UselessRemoval, field, name, (message, None));
        }
        return;
    };
    if removals(persona).next().is_none() {
        return;
    }
    let bundle = skeleton(known, *nearest_base, further);
    let inherited = inherit::fields(&bundle);
    let mut parts: Vec<&Name> = layers::authored(&bundle).iter().map(|placed| &placed.part.name).collect();
    // A missing part that a base links may be removed on purpose.
    let links = bases.iter().flat_map(|(scope, base)| base.parts.iter().map(|link| (*scope, &link.name)));
    parts.extend(links.filter(|(scope, name)| known.find(*scope, Kind::Part, name).is_none()).map(|it| it.1));
    let in_list = |names: &[Name], name: &str| names.iter().any(|known| known.as_str() == name);
    for (field, what, name) in removals(persona) {
        let has = match field {
            "remove_parts" => parts.iter().any(|known| known.as_str() == name),
            "remove_traits" => in_list(&inherited.traits, name),
            "remove_skills" => in_list(&inherited.skills, name),
            "remove_guardrails" => in_list(&inherited.guardrails, name),
            "remove_test_inputs" => in_list(&inherited.test_inputs, name),
            _ => inherited.tags.iter().any(|tag| tag == name),
        };
        if !has {
            let message = format!("no base has a {what} {name:?} to take away");
            findings.add_named(Rule::UselessRemoval, field, name, (message, None));
        }
    }
}

/// The entries that a persona removes from its bases: the field, the kind in words, the name.
fn removals(persona: &Persona) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
    let lists = [
        ("remove_parts", "part", &persona.remove_parts),
        ("remove_traits", "trait", &persona.remove_traits),
        ("remove_skills", "skill", &persona.remove_skills),
        ("remove_guardrails", "guardrail", &persona.remove_guardrails),
        ("remove_test_inputs", "test input", &persona.remove_test_inputs),
    ];
    let names = lists
        .into_iter()
        .flat_map(|(field, what, names)| names.iter().map(move |name| (field, what, name.as_str())));
    names.chain(persona.remove_tags.iter().map(|tag| ("remove_tags", "tag", tag.as_str())))
}

fn no_prompt(findings: &mut Findings<'_, '_>, chain: &[(Scope, &Persona)]) {
    if says_nothing(chain.iter().map(|(_, persona)| *persona)) {
        let message = "the persona says nothing".to_owned();
        let hint = "give it a system_prompt, a summary or parts".to_owned();
        findings.add(Rule::NoPrompt, None, message, Some(hint));
    }
}

/// Names the long pieces without a summary of a persona that has one. A base that has a summary is
/// checked by itself.
fn no_summary(findings: &mut Findings<'_, '_>, known: &Known<'_>, chain: &[(Scope, &Persona)]) {
    let has_summary =
        |chain: &[(Scope, &Persona)]| chain.iter().any(|(_, persona)| persona.own_summary().is_some());
    if !has_summary(chain) {
        return;
    }
    let further = (1..chain.len()).take_while(|at| !has_summary(&chain[*at..]));
    for (scope, persona) in std::iter::once(0).chain(further).map(|at| chain[at]) {
        let parts: Vec<Name> = persona.parts.iter().map(|link| link.name.clone()).collect();
        for (field, kind, names) in [
            ("parts", Kind::Part, &parts),
            ("traits", Kind::Trait, &persona.traits),
            ("skills", Kind::Skill, &persona.skills),
            ("guardrails", Kind::Guardrail, &persona.guardrails),
        ] {
            let is_long = |name: &&Name| known.find(scope, kind, name).is_some_and(|(_, it)| it.is_long());
            let long: Vec<&str> = names.iter().filter(is_long).map(Name::as_str).collect();
            if !long.is_empty() {
                let message = format!(
                    "{field} without a short text: {}; short prompts have all of them",
                    long.join(", ")
                );
                let hint =
                    format!("give each a {}", if kind == Kind::Part { "summary" } else { "description" });
                findings.add(Rule::NoSummary, Some(field), message, Some(hint));
            }
        }
    }
}

fn arc(findings: &mut Findings<'_, '_>, known: &Known<'_>, arc: &CharacterArc, types_by_arc: &TypesByArc) {
    let scope = findings.target.scope;
    for stage in &arc.stages {
        let field = format!("stages.{}.parts", stage.name);
        let parts: Vec<(&Name, PartType)> =
            stage.parts.iter().filter_map(|name| Some((name, part_type(known, scope, name)?))).collect();
        for single in SINGLE {
            let of_type = parts.iter().filter(|(_, part_type)| *part_type == single);
            conflict(findings, &field, single, of_type.map(|(name, _)| *name));
        }
        // Personas that are not checked may have a part to replace.
        let types = types_by_arc.get(&(scope, arc.name.clone()));
        let Some(Some(types)) = types.filter(|_| !known.is_used_elsewhere(scope, Kind::Arc, &arc.name))
        else {
            continue;
        };
        // Without parts in its personas, an arc replaces nothing.
        if types.is_empty() {
            continue;
        }
        let (replacing, adding): (Vec<_>, Vec<_>) = parts.iter().partition(|(_, it)| types.contains(it));
        // Beside a part that replaces, one that adds is probably intended.
        let level = if replacing.is_empty() { Rule::StagePartAdds.level() } else { Level::Note };
        let have = types.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
        for (name, part_type) in adding {
            let message = format!(
                "{:?} is of type {part_type}, of which no persona with this arc has a part: it adds to them and replaces nothing",
                name.as_str()
            );
            let hint = format!("they have parts of type {have}");
            findings.add_as(Rule::StagePartAdds, level, Some(&field), message, Some(hint));
        }
    }
}

fn part_type(known: &Known<'_>, from: Scope, name: &Name) -> Option<PartType> {
    known.find(from, Kind::Part, name)?.1.part_type()
}

/// A persona and its bases (root last) as a bundle without texts, to apply the rule for layers.
fn skeleton(known: &Known<'_>, own: (Scope, &Persona), bases: &[(Scope, &Persona)]) -> Bundle {
    let bases = bases.iter().rev().map(|(scope, persona)| Base {
        persona: without_texts(persona),
        meta: Meta { scope: *scope, ..Meta::BUILTIN },
        parts: parts_without_texts(known, *scope, persona),
        traits: Vec::new(),
        skills: Vec::new(),
        guardrails: Vec::new(),
        arc: None,
        piece_scopes: Vec::new(),
    });
    let (scope, persona) = own;
    Bundle {
        persona: without_texts(persona),
        meta: Meta { scope, ..Meta::BUILTIN },
        parts: parts_without_texts(known, scope, persona),
        traits: Vec::new(),
        skills: Vec::new(),
        guardrails: Vec::new(),
        bases: bases.collect(),
        stage: None,
        compiled: None,
        override_parts: Vec::new(),
        override_scopes: Vec::new(),
        piece_scopes: Vec::new(),
    }
}

fn without_texts(persona: &Persona) -> Persona {
    Persona {
        parts: persona.parts.clone(),
        parts_mode: persona.parts_mode,
        traits: persona.traits.clone(),
        skills: persona.skills.clone(),
        guardrails: persona.guardrails.clone(),
        test_inputs: persona.test_inputs.clone(),
        tags: persona.tags.clone(),
        remove_parts: persona.remove_parts.clone(),
        remove_traits: persona.remove_traits.clone(),
        remove_skills: persona.remove_skills.clone(),
        remove_guardrails: persona.remove_guardrails.clone(),
        remove_test_inputs: persona.remove_test_inputs.clone(),
        remove_tags: persona.remove_tags.clone(),
        ..Persona::new(persona.name.clone())
    }
}

fn parts_without_texts(known: &Known<'_>, scope: Scope, persona: &Persona) -> Vec<Part> {
    let types =
        persona.parts.iter().filter_map(|link| Some((&link.name, part_type(known, scope, &link.name)?)));
    types.map(|(name, part_type)| Part::new(name.clone(), part_type)).collect()
}
