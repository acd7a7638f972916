//! Loading a persona from whichever scope has it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use persona::{AnyEntity, Bundle, Kind, Meta, Name, Part, PartType, Persona, Reference, Scope, View};

use super::{ScopeFile, Scopes, Snapshot};
use builtins::Builtins;
use database::{Dialect, Value};
use persona::catalog::{self, Catalog, PersonaState, resolve};
use store::{Gathered, Loaded, Render, Rendered, Wanted, file_state, put_override, put_overrides};

use crate::{Error, Result};

static FILE_STATE_SQLITE: LazyLock<String> = LazyLock::new(|| file_state(Dialect::Sqlite));
static FILE_STATE_POSTGRES: LazyLock<String> = LazyLock::new(|| file_state(Dialect::Postgres));

/// The parts that a call puts in place of a persona's own.
pub type Overrides = BTreeMap<PartType, Name>;

/// What is in force in the files, strongest first, at one moment.
struct InFiles(Vec<(Scope, Arc<Snapshot>)>);

impl InFiles {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        let (_, snapshot) = self.0.iter().find(|(known, _)| *known == scope)?;
        snapshot.find(kind, name).map(|entry| entry.entity.clone())
    }

    /// What a definition of `from` means by a reference, if a file has it.
    fn look_up(&self, from: Scope, reference: &Reference) -> Option<(Scope, AnyEntity)> {
        resolve(from, reference.scope, |scope| self.find(scope, reference.kind, &reference.name))
    }

    /// Whatever the persona refers to that no file has: the database is asked for it.
    fn wanted(&self, scope: Scope, persona: &Persona) -> Wanted {
        let mut wanted = Wanted::default();
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
                    Kind::Persona => wanted.base = Some(reference.name),
                    Kind::Part => wanted.parts.push(reference.name),
                    Kind::Trait => wanted.traits.push(reference.name),
                    Kind::Skill => wanted.skills.push(reference.name),
                    Kind::Guardrail => wanted.guardrails.push(reference.name),
                    Kind::Arc => wanted.arcs.push(reference.name),
                    _ => {}
                }
            }
        }
        wanted
    }
}

/// Everything that is at hand for one persona of a file.
struct AtHand {
    files: InFiles,
    shared: BTreeMap<(Kind, Name), AnyEntity>,
    metas: BTreeMap<(Scope, Name), Meta>,
}

impl AtHand {
    fn new(files: InFiles, gathered: Gathered) -> Self {
        let mut at_hand = Self { files, shared: BTreeMap::new(), metas: BTreeMap::new() };
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
            Scope::Shared => self.shared.get(&(kind, name.clone())).cloned(),
            Scope::Global | Scope::Project => self.files.find(scope, kind, name),
        }
    }

    fn meta(&self, scope: Scope, name: &Name) -> Option<Meta> {
        self.metas.get(&(scope, name.clone())).cloned()
    }
}

impl Scopes {
    fn in_files(&self) -> InFiles {
        InFiles(self.files().map(|file| (file.scope, file.current())).collect())
    }

    /// The file that a persona is read from, if it is read from one.
    fn file_with(&self, name: &Name, scope: Option<Scope>) -> Option<&Arc<ScopeFile>> {
        self.files()
            .filter(|file| scope.is_none_or(|only| only == file.scope))
            .find(|file| file.current().find(Kind::Persona, name).is_some())
    }

    /// The generation under which what is read from files may be cached: of the database and, where
    /// that is another one, of the local database too. Both are counts from one on that stay far
    /// below 2^32, so that no pair of them is like another, nor like the database's alone.
    fn generation(&self) -> Result<Option<u64>> {
        let database = self.database().generation()?;
        if self.0.local_is_database {
            return Ok(database);
        }
        Ok(database.zip(self.local().generation()?).map(|(one, other)| one.wrapping_add(other << 32)))
    }

    /// A persona, from the strongest scope that has it or the one that is named, with the parts
    /// that the overrides name as far as they exist.
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

    /// A persona as `render` makes it, from the strongest scope that has it or the one that is named.
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

    /// The arc that a persona walks, its own or an inherited one. A persona whose bases cannot be
    /// followed walks none.
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
            self.prefer_files(&mut loaded.bundle, &names);
        }
        Ok(loaded)
    }

    /// The caller's names start at the strongest scope, so a part in a file comes first.
    fn prefer_files(&self, bundle: &mut Bundle, names: &[&Name]) {
        let files = self.in_files();
        for name in names {
            let mut found = files.0.iter().filter_map(|(scope, snapshot)| {
                let entry = snapshot.find(Kind::Part, name)?;
                Some((*scope, Part::try_from(entry.entity.clone()).ok()?))
            });
            if let Some((scope, part)) = found.next() {
                put_override(bundle, part, scope);
            }
        }
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
        let mut wanted = files.wanted(file.scope, &persona);
        let named: Vec<&Name> = overrides.values().collect();
        wanted.parts.extend(named.iter().map(|name| (*name).clone()));
        let gathered = self.database().gather(&wanted).await?;
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
        self.prefer_files(&mut bundle, &named);
        let document_bytes = serde_json::to_vec(&bundle)?.len();
        Ok(Some(Loaded { bundle, document_bytes }))
    }

    /// State and revision of a persona of a file, in one question to the local database.
    async fn file_state(&self, file: &ScopeFile, name: &Name) -> Result<(PersonaState, Option<Meta>)> {
        #[derive(serde::Deserialize)]
        struct Row {
            state: Option<PersonaState>,
            meta: Option<Meta>,
        }
        let values = [file.scope.as_str(), &file.origin, name.as_str()].map(Value::from);
        let sql = match self.local().engine().dialect() {
            Dialect::Sqlite => &FILE_STATE_SQLITE,
            Dialect::Postgres => &FILE_STATE_POSTGRES,
        };
        let row = self.local().engine().short_text(sql, &values).await?;
        let row: Option<Row> = row.map(|row| serde_json::from_str(&row)).transpose()?;
        Ok(row.map(|row| (row.state.unwrap_or_default(), row.meta)).unwrap_or_default())
    }
}
