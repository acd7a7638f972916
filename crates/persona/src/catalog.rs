//! Resolves references, and builds bundles from the definitions they mean.
//!
//! The one rule, decided only here: a name resolves in the definition's own scope or a weaker one,
//! strongest first. A reference that names a scope means that scope alone, and never a stronger one
//! than its own. Only the database repeats the rule, in SQL, to answer in one round trip; a test
//! compares both on random libraries.

use crate::{
    AnyEntity, Base, BaseRef, Bundle, Chain, ChainError, CharacterArc, Compiled, Kind, LoadedArc, Meta, Name,
    Persona, PieceScope, Scope,
};

/// The scopes in which a definition of `from` looks for a name, strongest first; `named` is the
/// scope that the reference names.
pub fn reach(from: Scope, named: Option<Scope>) -> impl Iterator<Item = Scope> + Clone {
    let is_reached = move |scope: &Scope| *scope <= from && named.is_none_or(|named| named == *scope);
    Scope::ALL.iter().copied().rev().filter(is_reached)
}

/// True if a definition of `from` can refer to one of `scope`.
pub fn reaches(from: Scope, scope: Scope) -> bool {
    reach(from, None).any(|reached| reached == scope)
}

/// The definition that a name means, with its scope, among those that `find` knows.
pub fn resolve<T>(
    from: Scope,
    named: Option<Scope>,
    mut find: impl FnMut(Scope) -> Option<T>,
) -> Option<(Scope, T)> {
    reach(from, named).find_map(|scope| Some((scope, find(scope)?)))
}

/// Definitions by scope, kind and name.
pub trait Catalog {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity>;

    /// The meta data of a persona, if more than its scope is known.
    fn meta(&self, _: Scope, _: &Name) -> Option<Meta> {
        None
    }
}

/// The state of a persona: data that is not authored.
#[derive(Debug, Clone, Default, serde::Deserialize)]
pub struct PersonaState {
    pub scope: Option<Scope>,
    pub arc: Option<Name>,
    pub stage: Option<Name>,
    pub compiled: Option<Compiled>,
}

impl PersonaState {
    /// The stage, if it is one of this arc.
    fn stage_of(&self, arc: &Name) -> Option<&Name> {
        self.stage.as_ref().filter(|_| self.arc.as_ref().is_none_or(|known| known == arc))
    }
}

/// The persona of that name and scope with everything it refers to.
pub fn build(
    catalog: &dyn Catalog,
    scope: Scope,
    name: &Name,
    state: PersonaState,
) -> Result<Option<Bundle>, ChainError> {
    let Some(own) = persona(catalog, scope, name) else { return Ok(None) };
    let own = layer(catalog, scope, own);
    let (bases, end) = bases(catalog, &mut Chain::start(scope, name.clone()), own.persona.extends.clone());
    end?;
    Ok(Some(bundle(own, bases.into_iter().rev().collect(), state)))
}

/// The same without state, with the bases before the one at which the chain breaks.
pub(crate) fn build_partly(catalog: &dyn Catalog, scope: Scope, name: &Name) -> Option<Bundle> {
    let own = layer(catalog, scope, persona(catalog, scope, name)?);
    let (bases, _) = bases(catalog, &mut Chain::start(scope, name.clone()), own.persona.extends.clone());
    Some(bundle(own, bases.into_iter().rev().collect(), PersonaState::default()))
}

/// Completes a bundle whose chain leads into weaker scopes, which `catalog` has.
pub fn complete(
    catalog: &dyn Catalog,
    mut bundle: Bundle,
    state: &PersonaState,
) -> Result<Bundle, ChainError> {
    let mut chain = Chain::start(bundle.meta.scope, bundle.persona.name.clone());
    for base in bundle.bases.iter().rev() {
        chain.push(base.meta.scope, base.persona.name.clone())?;
    }
    let next = bundle.bases.first().map_or(&bundle.persona, |root| &root.persona).extends.clone();
    let (bases, end) = bases(catalog, &mut chain, next);
    end?;
    for base in bases {
        bundle.bases.insert(0, base);
    }
    if bundle.persona.arc.is_none() {
        let arc = bundle.bases.iter().rev().find_map(|base| base.arc.as_ref());
        bundle.stage = arc.and_then(|arc| arc.active(state.stage_of(&arc.arc.name)));
    }
    Ok(bundle)
}

/// Follows a chain to its end. Returns the further bases, root last, and the error at which the chain
/// breaks.
fn bases(
    catalog: &dyn Catalog,
    chain: &mut Chain,
    mut next: Option<BaseRef>,
) -> (Vec<Base>, Result<(), ChainError>) {
    let mut bases = Vec::new();
    while let Some(base) = next {
        let (scope, persona) = match follow(catalog, chain, base) {
            Ok(found) => found,
            Err(broken) => return (bases, Err(broken)),
        };
        next = persona.extends.clone();
        bases.push(layer(catalog, scope, persona));
    }
    (bases, Ok(()))
}

/// The next persona of a chain.
fn follow(catalog: &dyn Catalog, chain: &mut Chain, base: BaseRef) -> Result<(Scope, Persona), ChainError> {
    let mut scopes = chain.scopes_of(&base)?.into_iter();
    let found = scopes.find_map(|scope| Some((scope, persona(catalog, scope, &base.name)?)));
    let Some((scope, persona)) = found else { return Err(chain.missing(&base, None)) };
    chain.push(scope, base.name)?;
    Ok((scope, persona))
}

fn persona(catalog: &dyn Catalog, scope: Scope, name: &Name) -> Option<Persona> {
    catalog.find(scope, Kind::Persona, name).and_then(|entity| entity.try_into().ok())
}

fn bundle(own: Base, bases: Vec<Base>, state: PersonaState) -> Bundle {
    let arc = own.arc.as_ref().or_else(|| bases.iter().rev().find_map(|base| base.arc.as_ref()));
    let stage = arc.and_then(|arc| arc.active(state.stage_of(&arc.arc.name)));
    let Base { persona, meta, parts, traits, skills, guardrails, arc: _, piece_scopes } = own;
    Bundle {
        persona,
        meta,
        parts,
        traits,
        skills,
        guardrails,
        bases,
        stage,
        compiled: state.compiled,
        override_parts: Vec::new(),
        override_scopes: Vec::new(),
        piece_scopes,
    }
}

/// A persona with the pieces that it names.
fn layer(catalog: &dyn Catalog, scope: Scope, persona: Persona) -> Base {
    let mut piece_scopes = Vec::new();
    let meta = catalog.meta(scope, &persona.name).unwrap_or(Meta { scope, ..Meta::BUILTIN });
    let parts: Vec<&Name> = persona.parts.iter().map(|link| &link.name).collect();
    Base {
        parts: pieces(catalog, Kind::Part, scope, parts, &mut piece_scopes),
        traits: pieces(catalog, Kind::Trait, scope, &persona.traits, &mut piece_scopes),
        skills: pieces(catalog, Kind::Skill, scope, &persona.skills, &mut piece_scopes),
        guardrails: pieces(catalog, Kind::Guardrail, scope, &persona.guardrails, &mut piece_scopes),
        arc: persona.arc.as_ref().and_then(|arc| loaded_arc(catalog, scope, arc)),
        persona,
        meta,
        piece_scopes,
    }
}

/// The existing definitions of these names, and the scopes of those that are not in `from`.
fn pieces<'a, T: TryFrom<AnyEntity>>(
    catalog: &dyn Catalog,
    kind: Kind,
    from: Scope,
    names: impl IntoIterator<Item = &'a Name>,
    scopes: &mut Vec<PieceScope>,
) -> Vec<T> {
    let mut found = Vec::new();
    for name in names {
        let Some((scope, entity)) = resolve(from, None, |scope| catalog.find(scope, kind, name)) else {
            continue;
        };
        if scope != from {
            scopes.push(PieceScope { kind, name: name.clone(), scope });
        }
        found.extend(T::try_from(entity).ok());
    }
    found
}

/// The arc that a definition of `from` means. The names in its stages resolve from its own scope.
fn loaded_arc(catalog: &dyn Catalog, from: Scope, name: &Name) -> Option<LoadedArc> {
    let (scope, arc) = resolve(from, None, |scope| catalog.find(scope, Kind::Arc, name))?;
    let arc: CharacterArc = arc.try_into().ok()?;
    let names: Vec<&Name> = arc.stages.iter().flat_map(|stage| &stage.parts).collect();
    let mut piece_scopes = Vec::new();
    let parts = pieces(catalog, Kind::Part, scope, names, &mut piece_scopes);
    Some(LoadedArc { arc, parts, scope, piece_scopes })
}
