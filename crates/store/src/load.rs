//! Loading a persona with everything that it refers to: one round trip, or none.

use std::sync::{Arc, LazyLock};

use persona::{Bundle, LoadedPersona, Name, Part, Request, View};
use serde::Deserialize;

use crate::builtin::{Builtin, BuiltinState};
use crate::dialect::Dialect;
use crate::engine::{Engine, Value};
use crate::{Builtins, Result, Store, documents};

static LOAD_SQLITE: LazyLock<String> = LazyLock::new(|| documents::load(Dialect::Sqlite));
static LOAD_POSTGRES: LazyLock<String> = LazyLock::new(|| documents::load(Dialect::Postgres));

/// A loaded persona.
#[derive(Debug)]
pub struct Loaded {
    pub bundle: Bundle,
    document_bytes: usize,
}

impl Loaded {
    /// Roughly what this holds in memory: its texts, and what stands around them.
    pub(crate) fn weight(&self) -> usize {
        self.document_bytes * 2
    }
}

#[derive(Deserialize)]
struct Row {
    bundle: Option<Bundle>,
    state: Option<BuiltinState>,
    override_parts: Vec<Part>,
}

impl Store {
    /// The persona of that name, from the strongest scope that has it, with the parts that the
    /// overrides name as far as they exist.
    pub async fn load(&self, name: &Name, override_parts: &[&Name]) -> Result<Option<Arc<Loaded>>> {
        if !override_parts.is_empty() {
            return Ok(self.fetch(name, override_parts).await?.map(Arc::new));
        }
        let generation = self.feed().generation(self.engine())?;
        if let Some(loaded) = generation.and_then(|generation| self.cache().bundle(name, generation)) {
            return Ok(Some(loaded));
        }
        let loaded = self.fetch(name, &[]).await?.map(Arc::new);
        if let (Some(generation), Some(loaded)) = (generation, &loaded) {
            self.cache().put_bundle(name.clone(), generation, loaded.clone());
        }
        Ok(loaded)
    }

    /// The answer to a request that changes nothing and leaves nothing out.
    pub async fn plain(&self, name: &Name, view: View) -> Result<Option<Arc<LoadedPersona>>> {
        let generation = self.feed().generation(self.engine())?;
        if let Some(answer) = generation.and_then(|generation| self.cache().answer(name, view, generation)) {
            return Ok(Some(answer));
        }
        let Some(loaded) = self.fetch(name, &[]).await? else {
            return Ok(None);
        };
        let answer = persona::view(&loaded.bundle.assembled(), &Request::plain(view), "");
        let answer = Arc::new(LoadedPersona::new(&answer));
        if let Some(generation) = generation {
            self.cache().put_answer(name.clone(), view, generation, answer.clone());
        }
        Ok(Some(answer))
    }

    async fn fetch(&self, name: &Name, override_parts: &[&Name]) -> Result<Option<Loaded>> {
        let overrides = serde_json::to_string(override_parts)?;
        let text = match self.engine() {
            Engine::Sqlite { hot, .. } => hot.text(&LOAD_SQLITE, name.as_str(), &overrides)?,
            Engine::Postgres { .. } => {
                self.engine().text(&LOAD_POSTGRES, &[Value::from(name), Value::Json(overrides)]).await?
            }
        };
        let Some(text) = text else { return Ok(None) };
        let row: Row = serde_json::from_str(&text)?;
        let bundle = row.bundle.or_else(|| Builtins::get().bundle(name, row.state.unwrap_or_default()));
        let Some(mut bundle) = bundle else { return Ok(None) };
        bundle.override_parts = row.override_parts;
        for wanted in override_parts {
            if !bundle.override_parts.iter().any(|part| part.name == **wanted)
                && let Some(part) = Part::builtins().get(*wanted)
            {
                bundle.override_parts.push(part.clone());
            }
        }
        Ok(Some(Loaded { bundle, document_bytes: text.len() }))
    }
}
