//! The layer that supplies a piece. Assembled pieces are references into the bundle, so the list that
//! contains one tells its layer, also where two layers have pieces of the same name.

use super::Origin;
use crate::bundle::Found;
use crate::{Base, Bundle, Guardrail, Kind, LayerOrigin, Name, Part, Skill, Trait};

/// A text of the persona, or of one of its bases, by its place in the chain.
pub(super) fn of_persona(bundle: &Bundle, at: usize) -> Origin {
    match bundle.bases.get(at) {
        Some(base) => from_base(base, base.meta.scope),
        None => own(bundle.meta.scope),
    }
}

pub(super) fn of_part(bundle: &Bundle, part: &Part, layer: LayerOrigin) -> Origin {
    let scope_in = |found: Found<'_>| found.scope_of(Kind::Part, part.name.as_str());
    let scope = match (layer, &bundle.stage) {
        (LayerOrigin::Base | LayerOrigin::Own, _) => {
            return of_piece(bundle, Kind::Part, &part.name, |layer| match layer {
                Some(base) => holds(&base.parts, part),
                None => holds(&bundle.parts, part),
            });
        }
        (LayerOrigin::Stage, Some(stage)) => scope_in(stage.found()),
        (LayerOrigin::Stage, None) => bundle.meta.scope,
        (LayerOrigin::Override, _) => scope_in(Found::of_overrides(&bundle.override_scopes)),
    };
    Origin { layer, base: None, scope }
}

pub(super) fn of_trait(bundle: &Bundle, piece: &Trait) -> Origin {
    of_piece(bundle, Kind::Trait, &piece.name, |layer| match layer {
        Some(base) => holds(&base.traits, piece),
        None => holds(&bundle.traits, piece),
    })
}

pub(super) fn of_skill(bundle: &Bundle, piece: &Skill) -> Origin {
    of_piece(bundle, Kind::Skill, &piece.name, |layer| match layer {
        Some(base) => holds(&base.skills, piece),
        None => holds(&bundle.skills, piece),
    })
}

pub(super) fn of_guardrail(bundle: &Bundle, piece: &Guardrail) -> Origin {
    of_piece(bundle, Kind::Guardrail, &piece.name, |layer| match layer {
        Some(base) => holds(&base.guardrails, piece),
        None => holds(&bundle.guardrails, piece),
    })
}

/// The origin of a piece, given whether a base, or the persona itself, has it.
fn of_piece(bundle: &Bundle, kind: Kind, name: &Name, has: impl Fn(Option<&Base>) -> bool) -> Origin {
    match bundle.bases.iter().find(|base| has(Some(base))).filter(|_| !has(None)) {
        Some(base) => from_base(base, base.found().scope_of(kind, name.as_str())),
        None => own(bundle.found().scope_of(kind, name.as_str())),
    }
}

fn own(scope: crate::Scope) -> Origin {
    Origin { layer: LayerOrigin::Own, base: None, scope }
}

fn from_base(base: &Base, scope: crate::Scope) -> Origin {
    Origin { layer: LayerOrigin::Base, base: Some(base.persona.name.clone()), scope }
}

/// True if the piece is an element of the list itself, not just equal to one.
fn holds<T>(list: &[T], piece: &T) -> bool {
    list.as_ptr_range().contains(&std::ptr::from_ref(piece))
}
