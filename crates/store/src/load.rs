//! Loads a persona of the database with all its references, in one round trip or none.

use std::sync::{Arc, LazyLock};

use persona::{
    AnyEntity, Bundle, Guardrail, Kind, LoadedArc, Name, Part, PieceScope, Scope, Skill, Trait, View,
};
use serde::Deserialize;

use crate::cache::Rendered;
use crate::{Error, Result, Store, documents};
use builtins::Builtins;
use database::{Dialect, Parameter};
use persona::catalog::{self, PersonaState};

static LOAD_SQLITE: LazyLock<String> = LazyLock::new(|| documents::load(Dialect::Sqlite));
static LOAD_POSTGRES: LazyLock<String> = LazyLock::new(|| documents::load(Dialect::Postgres));
static GATHER_SQLITE: LazyLock<String> = LazyLock::new(|| documents::gather(Dialect::Sqlite));
static GATHER_POSTGRES: LazyLock<String> = LazyLock::new(|| documents::gather(Dialect::Postgres));

/// Renders the JSON of an answer. The cache keys it by name and view, so one function must render all of
/// them.
pub type Render = fn(&Bundle, View) -> String;

/// A loaded persona.
#[derive(Debug)]
pub struct Loaded {
    pub bundle: Bundle,
    pub document_bytes: usize,
}

impl Loaded {
    /// The approximate size in memory: the texts and their overhead.
    pub(crate) fn weight(&self) -> usize {
        self.document_bytes * 2
    }

    /// The arc of a loaded persona. `None` if its bases cannot be followed: its mistake must not stop the
    /// caller.
    fn arc(loaded: Result<Option<Self>>) -> Result<Option<Name>> {
        match loaded {
            Ok(loaded) => Ok(loaded.and_then(Self::into_arc)),
            Err(Error::Chain(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The arc of the persona.
    pub fn into_arc(self) -> Option<Name> {
        self.bundle.stage.map(|stage| stage.arc)
    }
}

#[derive(Deserialize)]
struct Row {
    bundle: Option<Bundle>,
    states: Vec<PersonaState>,
    parts: Vec<Part>,
}

/// The entities that a persona in a file needs from the database: names of pieces, and the first base of its
/// chain outside of files.
#[derive(Debug, Default)]
pub struct Lookup {
    pub base: Option<Name>,
    pub parts: Vec<Name>,
    pub traits: Vec<Name>,
    pub skills: Vec<Name>,
    pub guardrails: Vec<Name>,
    pub arcs: Vec<Name>,
}

impl Lookup {
    fn is_empty(&self) -> bool {
        let Self { base, parts, traits, skills, guardrails, arcs } = self;
        base.is_none() && [parts, traits, skills, guardrails, arcs].iter().all(|names| names.is_empty())
    }
}

/// The entities that the database found.
#[derive(Debug, Default, Deserialize)]
pub struct Gathered {
    pub bundle: Option<Bundle>,
    pub parts: Vec<Part>,
    pub traits: Vec<Trait>,
    pub skills: Vec<Skill>,
    pub guardrails: Vec<Guardrail>,
    pub arcs: Vec<LoadedArc>,
    /// The arc of the base itself.
    pub base_arc: Option<LoadedArc>,
}

impl Store {
    /// The persona of that name, from the strongest scope that has it, with the parts that the overrides
    /// name, as far as they exist.
    pub async fn load(&self, name: &Name, override_parts: &[&Name]) -> Result<Option<Arc<Loaded>>> {
        if !override_parts.is_empty() {
            return Ok(self.fetch(name, None, override_parts).await?.map(Arc::new));
        }
        self.cached_bundle(name, self.generation()?, self.fetch(name, None, &[])).await
    }

    /// The persona as `render` shows it, from the cache if possible.
    pub async fn rendered(&self, name: &Name, view: View, render: Render) -> Result<Option<Arc<Rendered>>> {
        self.cached_answer((name, view, render), self.generation()?, self.fetch(name, None, &[])).await
    }

    /// The cached bundle of this generation. Otherwise reads and caches it.
    pub async fn cached_bundle<E>(
        &self,
        name: &Name,
        generation: Option<u64>,
        read: impl Future<Output = std::result::Result<Option<Loaded>, E>>,
    ) -> std::result::Result<Option<Arc<Loaded>>, E> {
        if let Some(loaded) = generation.and_then(|generation| self.cache().bundle(name, generation)) {
            return Ok(Some(loaded));
        }
        let loaded = read.await?.map(Arc::new);
        if let (Some(generation), Some(loaded)) = (generation, &loaded) {
            self.cache().put_bundle(name.clone(), generation, loaded.clone());
        }
        Ok(loaded)
    }

    /// The same as [`Store::cached_bundle`], for the rendered answer.
    pub async fn cached_answer<E>(
        &self,
        (name, view, render): (&Name, View, Render),
        generation: Option<u64>,
        read: impl Future<Output = std::result::Result<Option<Loaded>, E>>,
    ) -> std::result::Result<Option<Arc<Rendered>>, E> {
        if let Some(answer) = generation.and_then(|generation| self.cache().answer(name, view, generation)) {
            return Ok(Some(answer));
        }
        let Some(loaded) = read.await? else {
            return Ok(None);
        };
        let answer = Arc::new(Rendered::new(render(&loaded.bundle, view)));
        if let Some(generation) = generation {
            self.cache().put_answer(name.clone(), view, generation, answer.clone());
        }
        Ok(Some(answer))
    }

    /// The generation under which data read from now on may be cached, or cached data may be served.
    pub fn generation(&self) -> Result<Option<u64>> {
        self.feed().generation(self.engine())
    }

    /// Reads a persona from the given scope, or else shared before builtin.
    pub async fn fetch(
        &self,
        name: &Name,
        only: Option<Scope>,
        override_parts: &[&Name],
    ) -> Result<Option<Loaded>> {
        let overrides = serde_json::to_string(override_parts)?;
        let sql = match self.engine().dialect() {
            Dialect::Sqlite => &LOAD_SQLITE,
            Dialect::Postgres => &LOAD_POSTGRES,
        };
        let text =
            self.engine().short_text(sql, &[Parameter::from(name), Parameter::Json(overrides)]).await?;
        let Some(text) = text else { return Ok(None) };
        let Row { bundle, states, parts } = serde_json::from_str(&text)?;
        let state = |scope: Scope| {
            states.iter().find(|state| state.scope == Some(scope)).cloned().unwrap_or_default()
        };
        let bundle = match bundle.filter(|_| only != Some(Scope::Builtin)) {
            // Most personas have no base, and need nothing else.
            Some(bundle) if bundle.persona.extends.is_none() => Some(bundle),
            Some(bundle) => Some(catalog::complete(Builtins::get(), bundle, &state(Scope::Shared))?),
            None if only == Some(Scope::Shared) => None,
            None => catalog::build(Builtins::get(), Scope::Builtin, name, state(Scope::Builtin))?,
        };
        let Some(mut bundle) = bundle else { return Ok(None) };
        put_overrides(&mut bundle, parts, override_parts);
        Ok(Some(Loaded { bundle, document_bytes: text.len() }))
    }

    /// The arc of a persona, its own or an inherited one; see [`Loaded::arc`].
    pub(crate) async fn walked_arc(&self, name: &Name, scope: Scope) -> Result<Option<Name>> {
        Loaded::arc(self.fetch(name, Some(scope), &[]).await)
    }

    /// Reads the entities that a persona in a file needs from this database, in one round trip.
    pub async fn gather(&self, lookup: &Lookup) -> Result<Gathered> {
        if lookup.is_empty() {
            return Ok(Gathered::default());
        }
        let base = lookup.base.as_ref().map(Name::as_str).unwrap_or_default();
        let mut values = vec![Parameter::from(base)];
        for names in [&lookup.parts, &lookup.traits, &lookup.skills, &lookup.guardrails, &lookup.arcs] {
            values.push(Parameter::Json(serde_json::to_string(names)?));
        }
        let sql = match self.engine().dialect() {
            Dialect::Sqlite => &GATHER_SQLITE,
            Dialect::Postgres => &GATHER_POSTGRES,
        };
        let text = self.engine().short_text(sql, &values).await?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default())
    }
}

/// Gives a persona the parts of these names from the database, or from the builtins.
pub fn put_overrides(bundle: &mut Bundle, shared: Vec<Part>, names: &[&Name]) {
    bundle.override_parts = shared;
    for name in names {
        let missing = !bundle.override_parts.iter().any(|part| part.name == **name);
        if missing && let Some(AnyEntity::Part(part)) = Builtins::get().find(Kind::Part, name) {
            put_override(bundle, part, Scope::Builtin);
        }
    }
}

/// Puts a part of another scope in place of the one that has its name.
pub fn put_override(bundle: &mut Bundle, part: Part, scope: Scope) {
    let Bundle { override_parts, override_scopes, .. } = bundle;
    override_parts.retain(|known| known.name != part.name);
    override_scopes.retain(|known| known.name != part.name);
    override_scopes.push(PieceScope { kind: Kind::Part, name: part.name.clone(), scope });
    override_parts.push(part);
}
