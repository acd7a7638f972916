//! Putting a persona together from definitions that are at hand: follow its bases, look up what
//! each names from that one's own scope downwards.

use persona::{
    AnyEntity, Base, Bundle, Chain, Compiled, Kind, LoadedArc, Meta, Name, Persona, PieceScope, Scope,
};

use builtins::Builtins;

use crate::Result;

/// Definitions at hand. The builtins always are, so that nobody has to bring them.
pub trait Catalog {
    fn find(&self, kind: Kind, scope: Scope, name: &Name) -> Option<AnyEntity>;

    /// Place and revision of a persona, where more is known than its scope.
    fn meta(&self, _: Scope, _: &Name) -> Option<Meta> {
        None
    }
}

/// A catalog that has nothing besides the builtins.
#[derive(Debug)]
pub(crate) struct Nothing;

impl Catalog for Nothing {
    fn find(&self, _: Kind, _: Scope, _: &Name) -> Option<AnyEntity> {
        None
    }
}

/// What is kept about a persona besides what was authored.
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

fn find(catalog: &impl Catalog, kind: Kind, scope: Scope, name: &Name) -> Option<AnyEntity> {
    match scope {
        Scope::Builtin => Builtins::get().find(kind, name),
        _ => catalog.find(kind, scope, name),
    }
}

/// What a definition of `from` means by a name.
fn look_up(catalog: &impl Catalog, kind: Kind, from: Scope, name: &Name) -> Option<(Scope, AnyEntity)> {
    from.downwards().find_map(|scope| Some((scope, find(catalog, kind, scope, name)?)))
}

fn persona(catalog: &impl Catalog, scope: Scope, name: &Name) -> Option<Persona> {
    find(catalog, Kind::Persona, scope, name).and_then(|entity| entity.try_into().ok())
}

/// The persona of that name and scope with everything that it refers to.
pub fn build(
    catalog: &impl Catalog,
    scope: Scope,
    name: &Name,
    state: Option<PersonaState>,
) -> Result<Option<Bundle>> {
    let Some(own) = persona(catalog, scope, name) else { return Ok(None) };
    let mut chain = Chain::start(scope, name.clone());
    let own = layer(catalog, scope, own);
    let mut bases = Vec::new();
    let mut next = own.persona.extends.clone();
    while let Some(base) = next {
        let found = chain
            .scopes_of(&base)?
            .into_iter()
            .find_map(|scope| Some((scope, persona(catalog, scope, &base.name)?)));
        let Some((scope, persona)) = found else { return Err(chain.missing(&base, None).into()) };
        chain.push(scope, base.name)?;
        next = persona.extends.clone();
        bases.push(layer(catalog, scope, persona));
    }
    bases.reverse();
    Ok(Some(bundle(own, bases, state.unwrap_or_default())))
}

/// Goes on with builtin bases where a chain leaves the database; `bundle` has what is shared.
pub(crate) fn complete(mut bundle: Bundle, state: &PersonaState) -> Result<Bundle> {
    let mut chain = Chain::start(bundle.meta.scope, bundle.persona.name.clone());
    for base in bundle.bases.iter().rev() {
        chain.push(base.meta.scope, base.persona.name.clone())?;
    }
    let mut next = bundle.bases.first().map_or(&bundle.persona, |root| &root.persona).extends.clone();
    while let Some(base) = next {
        let builtin = chain.scopes_of(&base)?.contains(&Scope::Builtin);
        let found = if builtin { persona(&Nothing, Scope::Builtin, &base.name) } else { None };
        let Some(persona) = found else { return Err(chain.missing(&base, None).into()) };
        chain.push(Scope::Builtin, base.name)?;
        next = persona.extends.clone();
        bundle.bases.insert(0, layer(&Nothing, Scope::Builtin, persona));
    }
    if bundle.persona.arc.is_none() {
        let arc = bundle.bases.iter().rev().find_map(|base| base.arc.as_ref());
        bundle.stage = arc.and_then(|arc| arc.active(state.stage_of(&arc.arc.name)));
    }
    Ok(bundle)
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
fn layer(catalog: &impl Catalog, scope: Scope, persona: Persona) -> Base {
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

fn pieces<'a, T: TryFrom<AnyEntity>>(
    catalog: &impl Catalog,
    kind: Kind,
    from: Scope,
    names: impl IntoIterator<Item = &'a Name>,
    scopes: &mut Vec<PieceScope>,
) -> Vec<T> {
    let mut found = Vec::new();
    for name in names {
        let Some((scope, entity)) = look_up(catalog, kind, from, name) else { continue };
        if scope != from {
            scopes.push(PieceScope { kind, name: name.clone(), scope });
        }
        found.extend(T::try_from(entity).ok());
    }
    found
}

/// The arc that a definition of `from` means; what its stages name is looked up from where it is.
fn loaded_arc(catalog: &impl Catalog, from: Scope, name: &Name) -> Option<LoadedArc> {
    let (scope, arc) = look_up(catalog, Kind::Arc, from, name)?;
    let arc: persona::CharacterArc = arc.try_into().ok()?;
    let names: Vec<&Name> = arc.stages.iter().flat_map(|stage| &stage.parts).collect();
    let mut piece_scopes = Vec::new();
    let parts = pieces(catalog, Kind::Part, scope, names, &mut piece_scopes);
    Some(LoadedArc { arc, parts, scope, piece_scopes })
}
