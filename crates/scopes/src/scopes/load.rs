//! Loads a persona from the scope that has it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use persona::{AnyEntity, Bundle, Kind, Meta, Name, Part, PartType, Persona, Reference, Scope, View};

use super::{ScopeFile, Scopes, Snapshot};
use builtins::Builtins;
use database::{Dialect, Parameter};
use persona::catalog::{self, Catalog, PersonaState, resolve};
use store::{Gathered, Loaded, Lookup, Render, Rendered, file_state, put_override, put_overrides};

use crate::{Error, Result};

static FILE_STATE_SQLITE: LazyLock<String> = LazyLock::new(|| file_state(Dialect::Sqlite));
static FILE_STATE_POSTGRES: LazyLock<String> = LazyLock::new(|| file_state(Dialect::Postgres));

/// The parts that a call puts in place of a persona's own.
pub type Overrides = BTreeMap<PartType, Name>;

mod draft;
pub use draft::{Draft, DraftCatalog};

/// The definitions at hand without a query, at one moment.
struct InMemory {
    /// The snapshots of the files, strongest first.
    files: Vec<(Scope, Arc<Snapshot>)>,
    /// Definitions that are not stored, in place of stored ones.
    drafts: BTreeMap<(Scope, Kind, Name), AnyEntity>,
}

impl InMemory {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        if let Some(draft) = self.draft(scope, kind, name) {
            return Some(draft.clone());
        }
        let (_, snapshot) = self.files.iter().find(|(known, _)| *known == scope)?;
        snapshot.find(kind, name).map(|entry| entry.entity.clone())
    }

    fn draft(&self, scope: Scope, kind: Kind, name: &Name) -> Option<&AnyEntity> {
        if self.drafts.is_empty() {
            return None;
        }
        self.drafts.get(&(scope, kind, name.clone()))
    }

    /// The entity that a reference from the scope `from` resolves to, if it is at hand.
    fn look_up(&self, from: Scope, reference: &Reference) -> Option<(Scope, AnyEntity)> {
        resolve(from, reference.scope, |scope| self.find(scope, reference.kind, &reference.name))
    }

    /// References of the persona that are not at hand, for a query to the database.
    fn lookup(&self, scope: Scope, persona: &Persona) -> Lookup {
        let mut lookup = Lookup::default();
        let mut seen: BTreeSet<(Kind, Scope, Name)> = BTreeSet::new();
        let mut pending: Vec<(Scope, AnyEntity)> = vec![(scope, persona.clone().into())];
        while let Some((from, entity)) = pending.pop() {
            for reference in entity.references() {
                if let Some((scope, found)) = self.look_up(from, &reference) {
                    let refers = matches!(reference.kind, Kind::Persona | Kind::Arc);
                    if refers && seen.insert((reference.kind, scope, reference.name)) {
                        pending.push((scope, found));
                    }
                    continue;
                }
                match reference.kind {
                    Kind::Persona => lookup.base = Some(reference.name),
                    Kind::Part => lookup.parts.push(reference.name),
                    Kind::Trait => lookup.traits.push(reference.name),
                    Kind::Skill => lookup.skills.push(reference.name),
                    Kind::Guardrail => lookup.guardrails.push(reference.name),
                    Kind::Arc => lookup.arcs.push(reference.name),
                    _ => {}
                }
            }
        }
        lookup
    }
}

/// The sources from which one persona is assembled that is not in the database.
struct AtHand {
    memory: InMemory,
    shared: BTreeMap<(Kind, Name), AnyEntity>,
    metas: BTreeMap<(Scope, Name), Meta>,
}

impl AtHand {
    fn new(memory: InMemory, gathered: Gathered) -> Self {
        let mut at_hand = Self { memory, shared: BTreeMap::new(), metas: BTreeMap::new() };
        let Gathered { bundle, parts, traits, skills, guardrails, arcs, base_arc } = gathered;
        at_hand.add(parts);
        at_hand.add(traits);
        at_hand.add(skills);
        at_hand.add(guardrails);
        at_hand.add_arcs(arcs);
        at_hand.add_arcs(base_arc);
        if let Some(bundle) = bundle {
            at_hand.add_persona(bundle.persona, bundle.meta);
            at_hand.add(bundle.parts);
            at_hand.add(bundle.traits);
            at_hand.add(bundle.skills);
            at_hand.add(bundle.guardrails);
            for base in bundle.bases {
                at_hand.add_persona(base.persona, base.meta);
                at_hand.add(base.parts);
                at_hand.add(base.traits);
                at_hand.add(base.skills);
                at_hand.add(base.guardrails);
                at_hand.add_arcs(base.arc);
            }
        }
        at_hand
    }

    fn add<T: Into<AnyEntity>>(&mut self, entities: Vec<T>) {
        for entity in entities {
            let entity = entity.into();
            self.shared.insert((entity.kind(), entity.name().clone()), entity);
        }
    }

    fn add_arcs(&mut self, arcs: impl IntoIterator<Item = persona::LoadedArc>) {
        for loaded in arcs {
            self.add(vec![loaded.arc]);
            self.add(loaded.parts);
        }
    }

    fn add_persona(&mut self, persona: Persona, meta: Meta) {
        self.metas.insert((Scope::Shared, persona.name.clone()), meta);
        self.add(vec![persona]);
    }
}

impl Catalog for AtHand {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        match scope {
            Scope::Builtin => Builtins::get().find(kind, name),
            Scope::Shared => match self.memory.draft(scope, kind, name) {
                Some(draft) => Some(draft.clone()),
                None => self.shared.get(&(kind, name.clone())).cloned(),
            },
            Scope::Global | Scope::Project => self.memory.find(scope, kind, name),
        }
    }

    fn meta(&self, scope: Scope, name: &Name) -> Option<Meta> {
        self.metas.get(&(scope, name.clone())).cloned()
    }
}

impl Scopes {
    fn in_memory(&self, drafts: BTreeMap<(Scope, Kind, Name), AnyEntity>) -> InMemory {
        InMemory { files: self.files().map(|file| (file.scope, file.current())).collect(), drafts }
    }

    fn in_files(&self) -> InMemory {
        self.in_memory(BTreeMap::new())
    }

    /// The file that defines a persona, if a file does.
    fn file_with(&self, name: &Name, scope: Option<Scope>) -> Option<&Arc<ScopeFile>> {
        self.files()
            .filter(|file| scope.is_none_or(|only| only == file.scope))
            .find(|file| file.current().find(Kind::Persona, name).is_some())
    }

    /// The cache generation of data of any scope: that of the database, which also counts changes of files.
    /// The entries of files have their revisions and states in the local database. If that is another one
    /// and a file has entries, its generation joins in. Both count from one and stay far below 2^32, so no
    /// two pairs are equal, and none equals the database's alone.
    pub fn generation(&self) -> Result<Option<u64>> {
        let database = self.database().generation()?;
        if self.0.local_is_database || !self.has_entries() {
            return Ok(database);
        }
        Ok(database.zip(self.local().generation()?).map(|(one, other)| one.wrapping_add(other << 32)))
    }

    fn has_entries(&self) -> bool {
        self.files().any(|file| file.current().document.entries.values().any(|entries| !entries.is_empty()))
    }

    /// A persona from the given or the strongest scope, with the parts that the overrides name, as far as
    /// they exist.
    pub async fn load(
        &self,
        name: &Name,
        scope: Option<Scope>,
        overrides: &Overrides,
    ) -> Result<Option<Arc<Loaded>>> {
        if !overrides.is_empty() || scope.is_some() {
            return Ok(self.fetch(name, scope, overrides).await?.map(Arc::new));
        }
        let Some(file) = self.file_with(name, None) else {
            return Ok(self.database().load(name, &[]).await?);
        };
        let read = self.fetch_from_file(file, name, overrides);
        self.database().cached_bundle(name, self.generation()?, read).await
    }

    /// A persona from the given or the strongest scope, as `render` shows it.
    pub async fn rendered(
        &self,
        name: &Name,
        scope: Option<Scope>,
        view: View,
        render: Render,
    ) -> Result<Option<Arc<Rendered>>> {
        if let Some(scope) = scope {
            let loaded = self.fetch(name, Some(scope), &Overrides::new()).await?;
            return Ok(loaded.map(|loaded| Arc::new(Rendered::new(render(&loaded.bundle, view)))));
        }
        let Some(file) = self.file_with(name, None) else {
            return Ok(self.database().rendered(name, view, render).await?);
        };
        let nothing = Overrides::new();
        let read = self.fetch_from_file(file, name, &nothing);
        self.database().cached_answer((name, view, render), self.generation()?, read).await
    }

    /// The arc of a persona, its own or an inherited one. `None` if its bases cannot be followed.
    pub(crate) async fn walked_arc(&self, name: &Name, scope: Scope) -> Result<Option<Name>> {
        match self.fetch(name, Some(scope), &Overrides::new()).await {
            Ok(loaded) => Ok(loaded.and_then(Loaded::into_arc)),
            Err(Error::Store(store::Error::Chain(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn fetch(
        &self,
        name: &Name,
        scope: Option<Scope>,
        overrides: &Overrides,
    ) -> Result<Option<Loaded>> {
        if let Some(file) = self.file_with(name, scope) {
            return self.fetch_from_file(file, name, overrides).await;
        }
        if scope.is_some_and(Scope::is_file) {
            return Ok(None);
        }
        let names: Vec<&Name> = overrides.values().collect();
        let mut loaded = self.database().fetch(name, scope, &names).await?;
        if let Some(loaded) = &mut loaded {
            prefer(&mut loaded.bundle, &self.in_files(), &names);
        }
        Ok(loaded)
    }

    async fn fetch_from_file(
        &self,
        file: &ScopeFile,
        name: &Name,
        overrides: &Overrides,
    ) -> Result<Option<Loaded>> {
        let files = self.in_files();
        let Some(AnyEntity::Persona(persona)) = files.find(file.scope, Kind::Persona, name) else {
            return Ok(None);
        };
        let mut lookup = files.lookup(file.scope, &persona);
        let named: Vec<&Name> = overrides.values().collect();
        lookup.parts.extend(named.iter().map(|name| (*name).clone()));
        let gathered = self.database().gather(&lookup).await?;
        let shared_parts: Vec<Part> =
            gathered.parts.iter().filter(|part| named.contains(&&part.name)).cloned().collect();
        let catalog = AtHand::new(files, gathered);
        let (state, heads) = self.file_state(file, name).await?;
        let Some(mut bundle) = catalog::build(&catalog, file.scope, name, state)? else {
            return Ok(None);
        };
        if let Some(meta) = heads {
            bundle.meta = meta;
        }
        for base in bundle.bases.iter_mut().filter(|base| base.meta.scope.is_file()) {
            if let Some(file) = self.file(base.meta.scope) {
                base.meta = self.file_meta(file, Kind::Persona, &base.persona.name).await?;
            }
        }
        put_overrides(&mut bundle, shared_parts, &named);
        prefer(&mut bundle, &catalog.memory, &named);
        let document_bytes = serde_json::to_vec(&bundle)?.len();
        Ok(Some(Loaded { bundle, document_bytes }))
    }

    /// State and revision of a persona of a file, in one query of the local database.
    async fn file_state(&self, file: &ScopeFile, name: &Name) -> Result<(PersonaState, Option<Meta>)> {
        #[derive(serde::Deserialize)]
        struct Row {
            state: Option<PersonaState>,
            meta: Option<Meta>,
        }
        let values = [file.scope.as_str(), &file.origin, name.as_str()].map(Parameter::from);
        let sql = match self.local().engine().dialect() {
            Dialect::Sqlite => &FILE_STATE_SQLITE,
            Dialect::Postgres => &FILE_STATE_POSTGRES,
        };
        let row = self.local().engine().short_text(sql, &values).await?;
        let row: Option<Row> = row.map(|row| serde_json::from_str(&row)).transpose()?;
        Ok(row.map(|row| (row.state.unwrap_or_default(), row.meta)).unwrap_or_default())
    }
}

/// Gives a persona the overriding parts that are at hand. The caller's names start at the strongest
/// scope, so these win over parts of the database.
fn prefer(bundle: &mut Bundle, memory: &InMemory, names: &[&Name]) {
    for name in names {
        let found = resolve(Scope::Project, None, |scope| memory.find(scope, Kind::Part, name));
        if let Some((scope, AnyEntity::Part(part))) = found {
            put_override(bundle, part, scope);
        }
    }
}
