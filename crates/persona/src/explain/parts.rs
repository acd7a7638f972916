//! Parts: the layer that supplies each, and the parts it replaces.
//!
//! [`layers`] applies the rule for layers, once for each further layer. This module compares the
//! outcomes.

use std::collections::BTreeMap;

use super::{ExplainedPart, Removed, ReplacedPart, Rung};
use crate::bundle::Found;
use crate::layers;
use crate::{
    ActiveStage, Bundle, Kind, LayerOrigin, MergeMode, Name, PartLink, PartType, Persona, PlacedPart, Scope,
};

/// The active stage as a layer.
pub(super) struct StageLayer<'a> {
    /// `arc/stage`: no name has a slash.
    pub(super) name: String,
    pub(super) found: Found<'a>,
}

impl<'a> StageLayer<'a> {
    pub(super) fn new(stage: &'a ActiveStage) -> Self {
        Self { name: format!("{}/{}", stage.arc, stage.stage), found: stage.found() }
    }

    fn label(&self) -> String {
        format!("{}:{}", self.found.scope, self.name)
    }
}

pub(super) fn explain(
    bundle: &Bundle,
    rungs: &[Rung<'_>],
    stage: Option<&StageLayer<'_>>,
    removed: &mut Vec<Removed>,
) -> Vec<ExplainedPart> {
    let mut below: Vec<ExplainedPart> = Vec::new();
    for (at, rung) in rungs.iter().enumerate() {
        below = stacked(bundle, below, at, rung, removed);
    }
    let lost = lost(rungs, |name| below.iter().any(|part| part.name == *name), removed);
    let mut parts = match stage {
        Some(stage) => staged(bundle, below, stage),
        None => below,
    };
    for Lost { link, rung } in lost {
        let after = |part: &ExplainedPart| (part.order, &part.name) > (link.order, &link.name);
        let at = parts.iter().position(after).unwrap_or(parts.len());
        parts.insert(at, not_found(link, rung));
    }
    parts
}

/// The links of a persona, own and inherited, in assembly order.
pub(super) fn links(bundle: &Bundle) -> Vec<PartLink> {
    let link = |placed: &PlacedPart<'_>| PartLink {
        name: placed.part.name.clone(),
        order: placed.order,
        priority: placed.priority,
    };
    let mut links: Vec<PartLink> = layers::authored(bundle).iter().map(link).collect();
    // Appended parts follow others of the same order, whatever their names.
    if !links.is_sorted_by_key(|link| (link.order, link.name.clone())) {
        links.iter_mut().zip(0..).for_each(|(link, order)| link.order = order);
    }
    let rungs = super::rungs(bundle);
    let is_there = |name: &Name| links.iter().any(|link| link.name == *name);
    let lost = lost(&rungs, is_there, &mut Vec::new());
    links.extend(lost.into_iter().map(|lost| lost.link.clone()));
    links.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.name.cmp(&b.name)));
    links
}

/// A link to a missing part, and its layer.
struct Lost<'r, 'a> {
    link: &'a PartLink,
    rung: &'r Rung<'a>,
}

/// The links to missing parts that are not in the outcome. The type of a missing part is unknown, so it
/// neither replaces others nor is replaced by type. Only a stronger layer that links or removes the
/// name hides it.
fn lost<'r, 'a>(
    rungs: &'r [Rung<'a>],
    is_there: impl Fn(&Name) -> bool,
    removed: &mut Vec<Removed>,
) -> Vec<Lost<'r, 'a>> {
    let mut lost: Vec<Lost<'r, 'a>> = Vec::new();
    for rung in rungs {
        let Persona { parts: links, remove_parts, .. } = rung.persona;
        lost.retain(|below| !links.iter().any(|link| link.name == below.link.name));
        for gone in lost.extract_if(.., |below| remove_parts.contains(&below.link.name)) {
            removed.push(taken(gone.link.name.to_string(), gone.rung.label.clone(), rung));
        }
        let found = |link: &PartLink| rung.parts.iter().any(|part| part.name == link.name);
        lost.extend(links.iter().filter(|link| !found(link)).map(|link| Lost { link, rung }));
    }
    lost.retain(|lost| !is_there(&lost.link.name));
    lost
}

/// The parts while a stage is active.
fn staged(bundle: &Bundle, below: Vec<ExplainedPart>, stage: &StageLayer<'_>) -> Vec<ExplainedPart> {
    let Ok(placed) = layers::apply(bundle, &BTreeMap::new()) else { return below };
    let replaced_by_type =
        |part_type: PartType| replaced(below.iter().filter(|old| old.part_type == Some(part_type)));
    placed
        .iter()
        .filter_map(|placed| match placed.origin {
            LayerOrigin::Stage => {
                let part = placed.part;
                let piece_scope = stage.found.scope_of(Kind::Part, part.name.as_str());
                Some(described(placed, stage.label(), piece_scope, replaced_by_type(part.part_type)))
            }
            _ => below.iter().find(|old| is(old, placed)).cloned(),
        })
        .collect()
}

/// The parts after one more persona of the chain.
fn stacked(
    bundle: &Bundle,
    below: Vec<ExplainedPart>,
    at: usize,
    rung: &Rung<'_>,
    removed: &mut Vec<Removed>,
) -> Vec<ExplainedPart> {
    let prefix = up_to(bundle, at);
    let after = layers::authored(&prefix);
    let is_own = |placed: &PlacedPart<'_>| placed.origin == LayerOrigin::Own;
    let (kept, gone): (Vec<ExplainedPart>, Vec<ExplainedPart>) =
        below.into_iter().partition(|old| after.iter().any(|new| !is_own(new) && is(old, new)));
    let (gone_for_good, displaced): (Vec<ExplainedPart>, Vec<ExplainedPart>) =
        gone.into_iter().partition(|old| {
            rung.persona.remove_parts.contains(&old.name)
                && !after.iter().any(|new| new.part.name == old.name)
        });
    removed.extend(gone_for_good.into_iter().map(|old| taken(old.name.to_string(), old.from, rung)));
    let displaced_by = |new: &PlacedPart<'_>| {
        let by = |old: &&ExplainedPart| match rung.persona.parts_mode {
            MergeMode::Append => old.name == new.part.name,
            MergeMode::Replace => old.part_type == Some(new.part.part_type),
        };
        replaced(displaced.iter().filter(by))
    };
    after
        .iter()
        .filter_map(|new| {
            if !is_own(new) {
                return kept.iter().find(|old| is(old, new)).cloned();
            }
            let piece_scope = rung.found.scope_of(Kind::Part, new.part.name.as_str());
            Some(described(new, rung.label.clone(), piece_scope, displaced_by(new)))
        })
        .collect()
}

/// The chain up to one of its personas, as a bundle of that persona.
fn up_to(bundle: &Bundle, at: usize) -> Bundle {
    let last = bundle.bases.get(at);
    Bundle {
        persona: last.map_or(&bundle.persona, |base| &base.persona).clone(),
        meta: bundle.meta.clone(),
        parts: last.map_or(&bundle.parts, |base| &base.parts).clone(),
        traits: Vec::new(),
        skills: Vec::new(),
        guardrails: Vec::new(),
        bases: bundle.bases.iter().take(at).cloned().collect(),
        stage: None,
        compiled: None,
        override_parts: Vec::new(),
        override_scopes: Vec::new(),
        piece_scopes: Vec::new(),
    }
}

/// Type and name identify a part of an outcome.
fn is(part: &ExplainedPart, placed: &PlacedPart<'_>) -> bool {
    part.name == placed.part.name && part.part_type == Some(placed.part.part_type)
}

fn described(
    placed: &PlacedPart<'_>,
    from: String,
    piece_scope: Scope,
    replaced: Vec<ReplacedPart>,
) -> ExplainedPart {
    ExplainedPart {
        name: placed.part.name.clone(),
        part_type: Some(placed.part.part_type),
        order: placed.order,
        priority: placed.priority,
        from,
        piece_scope: Some(piece_scope),
        not_found: false,
        replaced,
    }
}

fn not_found(link: &PartLink, rung: &Rung<'_>) -> ExplainedPart {
    ExplainedPart {
        name: link.name.clone(),
        part_type: None,
        order: link.order,
        priority: link.priority,
        from: rung.label.clone(),
        piece_scope: None,
        not_found: true,
        replaced: Vec::new(),
    }
}

fn taken(name: String, from: String, by: &Rung<'_>) -> Removed {
    Removed { list: "parts".to_owned(), name, from, by: by.label.clone() }
}

/// The replaced parts, and those that they had replaced; strongest first.
fn replaced<'a>(old: impl Iterator<Item = &'a ExplainedPart>) -> Vec<ReplacedPart> {
    let mut all: Vec<ReplacedPart> = Vec::new();
    let old: Vec<&ExplainedPart> = old.collect();
    let direct = old.iter().map(|old| ReplacedPart { name: old.name.clone(), from: old.from.clone() });
    for one in direct.chain(old.iter().flat_map(|old| old.replaced.iter().cloned())) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}
