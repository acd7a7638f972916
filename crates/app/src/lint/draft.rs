//! Lint of drafts, with what they refer to and nothing else of the library.

use std::collections::HashMap;

use persona::lint::{
    Finding, LintSettings, LintTarget, OtherDefinitions, Outline, PieceOutline, lint, outlines,
};
use persona::{AnyEntity, Bundle, Kind, Name, Scope, TokenCounter};
use scopes::DraftCatalog;

use super::expectations::unreadable;

/// The definitions that drafts refer to.
struct Referred<'c> {
    catalog: &'c DraftCatalog,
    bases: Vec<(Scope, AnyEntity)>,
    pieces: HashMap<(Scope, Kind, Name), PieceOutline>,
}

impl OtherDefinitions for Referred<'_> {
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<Outline<'_>> {
        if kind == Kind::Persona {
            let mut bases = self.bases.iter();
            let base = bases.find(|(known, base)| *known == scope && base.name() == name);
            return base.map(|(_, base)| Outline::Whole(base));
        }
        let piece = self.pieces.get(&(scope, kind, name.clone())).copied();
        // No rule looks into presets.
        let other = || self.catalog.has(scope, kind, name).then(PieceOutline::default);
        piece.or_else(other).map(Outline::Piece)
    }

    fn is_checked(&self, _: Scope, _: Kind, _: &Name) -> bool {
        false
    }

    fn names(&self, _: Scope, _: Kind, _: &Name) -> Vec<Name> {
        Vec::new()
    }

    /// The rest of the library may use a draft.
    fn is_used(&self, _: Scope, _: Kind, _: &Name) -> bool {
        true
    }

    fn is_unread(&self, _: Scope, _: Kind, _: &Name) -> bool {
        false
    }
}

/// The findings in drafts. `bundle` has what the persona among them refers to.
pub(crate) fn lint_draft(
    drafts: &[(Scope, AnyEntity)],
    catalog: &DraftCatalog,
    bundle: &Bundle,
    settings: &LintSettings,
    counter: &dyn TokenCounter,
) -> Vec<Finding> {
    let bases = bundle.bases.iter().map(|base| (base.meta.scope, base.persona.clone().into()));
    let others = Referred { catalog, bases: bases.collect(), pieces: outlines(bundle) };
    let targets: Vec<LintTarget<'_>> =
        drafts.iter().map(|(scope, entity)| LintTarget { scope: *scope, entity }).collect();
    let mut found = lint(&targets, &others, settings, counter);
    found.extend(unreadable(&targets));
    found
}
