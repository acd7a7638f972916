//! One rule for layers: per part type, the strongest layer that has any part of that type
//! supplies all parts of that type.
//!
//! Weakest first, the layers are the bases (root first), the persona's own parts, its active
//! stage, and the overrides of the call. A layer that appends adds to the layers below instead.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{AsReport, Code, Remedy, Subject};
use crate::{Bundle, Kind, MergeMode, Name, Part, PartType, Persona};

/// The layer that a part comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LayerOrigin {
    /// A persona that this one extends.
    Base,
    Own,
    Stage,
    Override,
}

/// A part in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedPart<'a> {
    pub part: &'a Part,
    pub order: i32,
    pub priority: i32,
    pub origin: LayerOrigin,
}

impl PlacedPart<'_> {
    /// True if a base supplies the part.
    pub(crate) fn is_inherited(&self) -> bool {
        self.origin == LayerOrigin::Base
    }
}

/// An override that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    #[error("unknown part {name:?} in overrides.{part_type}")]
    Unknown { part_type: PartType, name: Name },
    #[error("overrides.{part_type} names {name:?}, which is of type {actual}")]
    WrongType { part_type: PartType, name: Name, actual: PartType },
}

impl AsReport for OverrideError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::UnknownOverride,
            Self::WrongType { .. } => Code::WrongPartType,
        }
    }

    fn subject(&self) -> Subject {
        let (Self::Unknown { part_type, name } | Self::WrongType { part_type, name, .. }) = self;
        Subject::entity(Kind::Part, name.as_str()).at_field(format!("overrides.{part_type}"))
    }

    fn remedies(&self) -> Vec<Remedy> {
        let list = |part_type| Remedy::ListKind { kind: Kind::Part, part_type: Some(part_type) };
        match self {
            Self::Unknown { part_type, .. } => vec![list(*part_type)],
            Self::WrongType { part_type, actual, .. } => {
                vec![Remedy::UseField { field: format!("overrides.{actual}") }, list(*part_type)]
            }
        }
    }
}

/// An authored part, and the number of its layer if that appends. Among equal orders, appended parts
/// come last.
struct Stacked<'a> {
    placed: PlacedPart<'a>,
    appended_by: usize,
}

/// One layer's parts, in its own order.
struct Layer<'a> {
    parts: Vec<PlacedPart<'a>>,
    mode: MergeMode,
}

/// Applies all layers of a bundle. The result is in assembly order.
pub(crate) fn apply<'a>(
    bundle: &'a Bundle,
    overrides: &BTreeMap<PartType, Name>,
) -> Result<Vec<PlacedPart<'a>>, OverrideError> {
    let mut placed = authored(bundle);
    for layer in [stage_layer(bundle), override_layer(bundle, overrides)?] {
        placed = take_slots(placed, layer);
    }
    Ok(placed)
}

/// The parts of the persona and its bases, in assembly order.
pub(crate) fn authored(bundle: &Bundle) -> Vec<PlacedPart<'_>> {
    let mut stacked = Vec::new();
    for (at, base) in bundle.bases.iter().enumerate() {
        let layer = persona_layer(&base.persona, &base.parts, LayerOrigin::Base);
        stacked = stack(stacked, &base.persona, layer, at);
    }
    let own = persona_layer(&bundle.persona, &bundle.parts, LayerOrigin::Own);
    stacked = stack(stacked, &bundle.persona, own, bundle.bases.len());
    stacked.sort_by(|a, b| {
        let place = |it: &Stacked<'_>| (it.placed.order, it.appended_by);
        place(a).cmp(&place(b)).then_with(|| a.placed.part.name.cmp(&b.placed.part.name))
    });
    stacked.into_iter().map(|it| it.placed).collect()
}

/// Puts a persona's layer on top of its bases'. Appended parts follow those of their type. If there are
/// none, a part without an order of its own follows all parts.
fn stack<'a>(below: Vec<Stacked<'a>>, persona: &Persona, layer: Layer<'a>, at: usize) -> Vec<Stacked<'a>> {
    let mut parts = below;
    parts.retain(|Stacked { placed: old, .. }| {
        // A name occurs once, even if two scopes have parts of different types under it.
        let replaced = layer.parts.iter().any(|new| {
            let same_type = new.part.part_type == old.part.part_type;
            new.part.name == old.part.name || layer.mode == MergeMode::Replace && same_type
        });
        !replaced && !persona.remove_parts.contains(&old.part.name)
    });
    let highest = |of_type: Option<PartType>, of: fn(&PlacedPart<'a>) -> i32| {
        let of_type =
            parts.iter().filter(|it| of_type.is_none_or(|wanted| wanted == it.placed.part.part_type));
        of_type.map(|it| of(&it.placed)).max()
    };
    let last = |of_type| highest(of_type, |placed| placed.order);
    let top = |of_type| highest(of_type, |placed| placed.priority);
    // Without an order of its own, a link has its position in the list.
    let is_implied = |new: &PlacedPart<'a>| {
        let position = persona.parts.iter().position(|link| link.name == new.part.name);
        position == usize::try_from(new.order).ok()
    };
    let place = |mut new: PlacedPart<'a>| match layer.mode {
        MergeMode::Replace => Stacked { placed: new, appended_by: 0 },
        MergeMode::Append => {
            let of_type = last(Some(new.part.part_type));
            let floor = of_type.or_else(|| is_implied(&new).then(|| last(None)).flatten());
            new.order = floor.map_or(new.order, |floor| new.order.max(floor));
            // Without a priority of its own, it ranks with the most important part that it joins, so that a
            // budget does not drop it first.
            if new.priority == 0 {
                new.priority = top(Some(new.part.part_type)).or_else(|| top(None)).unwrap_or(0);
            }
            Stacked { placed: new, appended_by: at }
        }
    };
    let new: Vec<Stacked<'a>> = layer.parts.into_iter().map(place).collect();
    parts.extend(new);
    parts
}

/// Puts a stage or a call's overrides on top. New parts take the slots of the parts they replace.
fn take_slots<'a>(below: Vec<PlacedPart<'a>>, layer: Layer<'a>) -> Vec<PlacedPart<'a>> {
    let mut by_type: BTreeMap<PartType, Vec<PlacedPart<'a>>> = BTreeMap::new();
    let mut at_end = Vec::new();
    for part in layer.parts {
        let part_type = part.part.part_type;
        if !below.iter().any(|old| old.part.part_type == part_type) {
            at_end.push(part);
        } else {
            by_type.entry(part_type).or_default().push(part);
        }
    }
    let replaced: BTreeMap<PartType, i32> = by_type
        .keys()
        .filter_map(|part_type| {
            let old = below.iter().filter(|old| old.part.part_type == *part_type);
            old.map(|old| old.priority).max().map(|priority| (*part_type, priority))
        })
        .collect();
    let mut result = Vec::with_capacity(below.len() + at_end.len());
    for old in below {
        let part_type = old.part.part_type;
        match (replaced.get(&part_type), by_type.remove(&part_type)) {
            (None, _) => result.push(old),
            // All new parts of a type take the slot of the first one they replace.
            (Some(priority), Some(new)) => result.extend(new.into_iter().map(|part| PlacedPart {
                order: old.order,
                priority: *priority,
                ..part
            })),
            (Some(_), None) => {}
        }
    }
    let mut last = result.iter().map(|part| part.order).max().unwrap_or(0);
    for mut part in at_end {
        // A persona orders its own parts. The parts of a stage or a call come after them.
        last = last.saturating_add(1);
        part.order = last;
        result.push(part);
    }
    result
}

fn persona_layer<'a>(persona: &Persona, parts: &'a [Part], origin: LayerOrigin) -> Layer<'a> {
    let parts: BTreeMap<&Name, &Part> = parts.iter().map(|part| (&part.name, part)).collect();
    let Persona { parts: links, parts_mode, .. } = persona;
    let placed = links.iter().filter_map(|link| {
        let part = parts.get(&link.name)?;
        Some(PlacedPart { part, order: link.order, priority: link.priority, origin })
    });
    Layer { parts: placed.collect(), mode: *parts_mode }
}

fn stage_layer(bundle: &Bundle) -> Layer<'_> {
    let parts = bundle.stage.iter().flat_map(|stage| &stage.parts);
    Layer { parts: parts.map(|part| unplaced(part, LayerOrigin::Stage)).collect(), mode: MergeMode::Replace }
}

fn override_layer<'a>(
    bundle: &'a Bundle,
    overrides: &BTreeMap<PartType, Name>,
) -> Result<Layer<'a>, OverrideError> {
    let mut parts = Vec::with_capacity(overrides.len());
    for (part_type, name) in overrides {
        let found = bundle.override_parts.iter().find(|part| part.name == *name);
        let Some(part) = found else {
            return Err(OverrideError::Unknown { part_type: *part_type, name: name.clone() });
        };
        if part.part_type != *part_type {
            return Err(OverrideError::WrongType {
                part_type: *part_type,
                name: name.clone(),
                actual: part.part_type,
            });
        }
        parts.push(unplaced(part, LayerOrigin::Override));
    }
    Ok(Layer { parts, mode: MergeMode::Replace })
}

fn unplaced(part: &Part, origin: LayerOrigin) -> PlacedPart<'_> {
    PlacedPart { part, order: 0, priority: 0, origin }
}

#[cfg(test)]
mod tests;
