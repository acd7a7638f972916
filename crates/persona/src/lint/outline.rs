//! The facts of a definition that rules about other definitions need.

use std::collections::HashMap;

use crate::bundle::Found;
use crate::entity::{Texts, shortened};
use crate::{AnyEntity, Bundle, Kind, Name, PartType, Persona, Scope};

/// A definition that another one refers to.
#[derive(Debug, Clone, Copy)]
pub enum Outline<'a> {
    Whole(&'a AnyEntity),
    /// A piece without its texts.
    Piece(PieceOutline),
}

/// A piece without its texts, for libraries that do not fit into memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PieceOutline {
    part_type: Option<PartType>,
    /// True if it has no summary of its own and more text than a list shows.
    is_long: bool,
}

impl PieceOutline {
    pub fn of(entity: &AnyEntity) -> Self {
        let part_type = match entity {
            AnyEntity::Part(part) => Some(part.part_type),
            _ => None,
        };
        Self { part_type, is_long: is_long(entity) }
    }
}

/// The outlines of the pieces that a persona and its bases name.
pub fn outlines(bundle: &Bundle) -> HashMap<(Scope, Kind, Name), PieceOutline> {
    let mut outlines = HashMap::new();
    let mut add =
        |found: Found<'_>, kind: Kind, name: &Name, part_type: Option<PartType>, piece: &dyn Texts| {
            let scope = found.scope_of(kind, name.as_str());
            let outline = || PieceOutline { part_type, is_long: is_long_piece(piece) };
            outlines.entry((scope, kind, name.clone())).or_insert_with(outline);
        };
    macro_rules! add_layer {
        ($layer:expr) => {{
            let (layer, found) = ($layer, $layer.found());
            for part in &layer.parts {
                add(found, Kind::Part, &part.name, Some(part.part_type), part);
            }
            layer.traits.iter().for_each(|piece| add(found, Kind::Trait, &piece.name, None, piece));
            layer.skills.iter().for_each(|piece| add(found, Kind::Skill, &piece.name, None, piece));
            layer.guardrails.iter().for_each(|piece| add(found, Kind::Guardrail, &piece.name, None, piece));
        }};
    }
    add_layer!(bundle);
    for base in &bundle.bases {
        add_layer!(base);
    }
    outlines
}

impl<'a> Outline<'a> {
    pub(super) fn persona(self) -> Option<&'a Persona> {
        match self {
            Self::Whole(AnyEntity::Persona(persona)) => Some(persona),
            _ => None,
        }
    }

    pub(super) fn part_type(self) -> Option<PartType> {
        match self {
            Self::Whole(AnyEntity::Part(part)) => Some(part.part_type),
            Self::Whole(_) => None,
            Self::Piece(piece) => piece.part_type,
        }
    }

    pub(super) fn is_long(self) -> bool {
        match self {
            Self::Whole(entity) => is_long(entity),
            Self::Piece(piece) => piece.is_long,
        }
    }
}

fn is_long(entity: &AnyEntity) -> bool {
    let piece: &dyn Texts = match entity {
        AnyEntity::Part(it) => it,
        AnyEntity::Trait(it) => it,
        AnyEntity::Skill(it) => it,
        AnyEntity::Guardrail(it) => it,
        _ => return false,
    };
    is_long_piece(piece)
}

fn is_long_piece(piece: &dyn Texts) -> bool {
    piece.own_summary().is_none() && shortened(piece.whole()) != piece.whole().trim()
}
