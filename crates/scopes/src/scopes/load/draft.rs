//! Drafts: definitions that are not stored. They resolve as if they were, and nothing is written.

use std::collections::{BTreeMap, BTreeSet};

use builtins::Builtins;
use persona::catalog::{self, Catalog as _, PersonaState, resolve};
use persona::{AnyEntity, Bundle, CharacterArc, Kind, Name, Part, Persona, Scope};
use store::{Owner, put_overrides};

use super::{AtHand, Overrides, prefer};
use crate::scopes::Scopes;
use crate::{Error, Result};

/// An unsaved persona in the scope that it would be saved in, and unsaved pieces in theirs.
#[derive(Debug, Clone)]
pub struct Draft {
    pub scope: Scope,
    pub persona: Persona,
    pub pieces: Vec<(Scope, AnyEntity)>,
}

/// A draft, with everything that it refers to.
pub struct DraftCatalog {
    scope: Scope,
    name: Name,
    at_hand: AtHand,
    /// The scopes that have further entities which the draft refers to.
    elsewhere: BTreeMap<(Kind, Name), Vec<Scope>>,
    /// The names of overriding parts, and those of the database among them.
    overriding: Vec<Name>,
    shared_parts: Vec<Part>,
}

impl std::fmt::Debug for DraftCatalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DraftCatalog")
            .field("scope", &self.scope)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl DraftCatalog {
    /// True if exactly this scope has an entity that the draft refers to.
    pub fn has(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.at_hand.has(scope, kind, name)
            || self.elsewhere.get(&(kind, name.clone())).is_some_and(|scopes| scopes.contains(&scope))
    }

    /// The scope of the entity that a definition of `from` means by a name.
    pub fn scope_of(&self, from: Scope, kind: Kind, name: &Name) -> Option<Scope> {
        resolve(from, None, |scope| self.has(scope, kind, name).then_some(())).map(|(scope, ())| scope)
    }

    /// The arc of a scope.
    pub fn arc(&self, scope: Scope, name: &Name) -> Option<CharacterArc> {
        self.at_hand.find(scope, Kind::Arc, name)?.try_into().ok()
    }

    fn build(&self, stage: Option<Name>) -> Result<Bundle> {
        let state = PersonaState { stage, ..PersonaState::default() };
        let bundle =
            catalog::build(&self.at_hand, self.scope, &self.name, state).map_err(store::Error::from)?;
        let Some(mut bundle) = bundle else { unreachable!("the draft itself is in its catalog") };
        let named: Vec<&Name> = self.overriding.iter().collect();
        put_overrides(&mut bundle, self.shared_parts.clone(), &named);
        prefer(&mut bundle, &self.at_hand.memory, &named);
        Ok(bundle)
    }
}

impl AtHand {
    fn has(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        match scope {
            Scope::Builtin => Builtins::get().find(kind, name).is_some(),
            Scope::Shared => {
                self.memory.draft(scope, kind, name).is_some()
                    || self.shared.contains_key(&(kind, name.clone()))
            }
            Scope::Global | Scope::Project => self.memory.find(scope, kind, name).is_some(),
        }
    }
}

impl Scopes {
    /// Fails if a scope has no definitions of its own to write.
    pub fn check_draft_scope(&self, scope: Scope) -> Result<()> {
        match (scope, self.file(scope)) {
            (Scope::Shared, _) | (_, Some(_)) => Ok(()),
            (Scope::Builtin, None) => Err(Error::Builtin),
            (scope, None) => Err(Error::NotOpen { scope }),
        }
    }

    /// Fails if a file has another version of an entry than is in force.
    pub fn refuse_broken(&self, scope: Scope, kind: Kind, name: &Name) -> Result<()> {
        let Some(file) = self.file(scope) else { return Ok(()) };
        let mistake = file.current().document.mistake(kind, name.as_str());
        mistake.map_or(Ok(()), |mistake| Err(Error::Problem(Box::new(mistake))))
    }

    /// Reads everything that a draft refers to, in one round trip for most of it.
    pub async fn draft_catalog(&self, draft: Draft, overrides: &Overrides) -> Result<DraftCatalog> {
        let Draft { scope, persona, pieces } = draft;
        let name = persona.name.clone();
        let overriding: Vec<Name> = overrides.values().cloned().collect();
        let keyed =
            |(scope, entity): (Scope, AnyEntity)| ((scope, entity.kind(), entity.name().clone()), entity);
        let mut drafts: BTreeMap<_, _> = pieces.into_iter().map(keyed).collect();
        drafts.extend([keyed((scope, persona.clone().into()))]);
        let referring: Vec<(Scope, Vec<_>)> =
            drafts.iter().map(|((scope, ..), entity)| (*scope, entity.references())).collect();
        let memory = self.in_memory(drafts);
        let mut lookup = memory.lookup(scope, &persona);
        lookup.parts.extend(overriding.iter().cloned());
        let gathered = self.database().gather(&lookup).await?;
        let is_overriding = |part: &&Part| overriding.contains(&part.name);
        let shared_parts = gathered.parts.iter().filter(is_overriding).cloned().collect();
        let at_hand = AtHand::new(memory, gathered);
        let elsewhere = BTreeMap::new();
        let mut catalog = DraftCatalog { scope, name, at_hand, elsewhere, overriding, shared_parts };
        let mut missing = BTreeSet::new();
        for (from, references) in referring {
            let unknown = references.into_iter().filter(|it| {
                // Following the chain finds missing bases.
                it.kind != Kind::Persona && catalog.scope_of(from, it.kind, &it.name).is_none()
            });
            missing.extend(unknown.map(|reference| (reference.kind, reference.name)));
        }
        catalog.elsewhere = self.scopes_of_each(&missing).await?;
        Ok(catalog)
    }

    /// A draft with everything it refers to, in the given stage of its arc or in that of the stored
    /// persona.
    pub async fn draft_bundle(&self, catalog: &DraftCatalog, stage: Option<&Name>) -> Result<Bundle> {
        let mut bundle = catalog.build(stage.cloned())?;
        if let (Some(first), None) = (&bundle.stage, stage) {
            let current = self.stage_in(catalog.scope, &catalog.name, &first.arc).await?;
            if current.as_ref().is_some_and(|current| *current != first.stage) {
                bundle = catalog.build(current)?;
            }
        }
        for base in bundle.bases.iter_mut().filter(|base| base.meta.scope.is_file()) {
            if let Some(file) = self.file(base.meta.scope) {
                base.meta = self.file_meta(file, Kind::Persona, &base.persona.name).await?;
            }
        }
        Ok(bundle)
    }

    /// The stage of a persona of a scope in an arc, if it was ever put into one.
    async fn stage_in(&self, scope: Scope, name: &Name, arc: &Name) -> Result<Option<Name>> {
        Ok(match self.file(scope) {
            None => self.database().shared_stage_in(name, arc).await?,
            Some(file) => {
                let owner = Owner { scope, origin: &file.origin, name };
                self.local().kept_stage_in(owner, arc).await?
            }
        })
    }

    /// Every scope that has each of these names, strongest first, with one query per kind.
    pub async fn scopes_of_each(
        &self,
        names: &BTreeSet<(Kind, Name)>,
    ) -> Result<BTreeMap<(Kind, Name), Vec<Scope>>> {
        let mut found: BTreeMap<(Kind, Name), Vec<Scope>> = BTreeMap::new();
        for file in self.files() {
            let snapshot = file.current();
            let there = names.iter().filter(|(kind, name)| snapshot.find(*kind, name).is_some());
            there.for_each(|key| found.entry(key.clone()).or_default().push(file.scope));
        }
        for kind in Kind::ALL {
            let of_kind: Vec<&Name> =
                names.iter().filter(|(of, _)| of == kind).map(|(_, name)| name).collect();
            for name in self.database().shared_among(*kind, &of_kind).await? {
                found.entry((*kind, name)).or_default().push(Scope::Shared);
            }
        }
        let builtin = names.iter().filter(|(kind, name)| Builtins::get().find(*kind, name).is_some());
        builtin.for_each(|key| found.entry(key.clone()).or_default().push(Scope::Builtin));
        Ok(found)
    }
}
