//! Loading a persona with everything that it refers to: one round trip, or none.

use std::sync::{Arc, LazyLock, OnceLock};

use persona::{Bundle, LoadedPersona, Name, Part, Request, View};
use serde::Deserialize;

use crate::builtin::{Builtin, BuiltinState};
use crate::dialect::Dialect;
use crate::engine::Value;
use crate::{Builtins, Result, Store, documents};

static LOAD_SQLITE: LazyLock<String> = LazyLock::new(|| documents::load(Dialect::Sqlite));
static LOAD_POSTGRES: LazyLock<String> = LazyLock::new(|| documents::load(Dialect::Postgres));

/// A loaded persona, and the plain answers that were made of it.
#[derive(Debug)]
pub struct Loaded {
    pub bundle: Bundle,
    document_bytes: usize,
    plain: [OnceLock<Arc<LoadedPersona>>; 2],
}

impl Loaded {
    fn new(bundle: Bundle, document_bytes: usize) -> Self {
        Self { bundle, document_bytes, plain: [OnceLock::new(), OnceLock::new()] }
    }

    /// The answer to a request that changes nothing and leaves nothing out.
    pub fn plain(&self, view: View) -> Arc<LoadedPersona> {
        let slot = match view {
            View::Summary => &self.plain[0],
            View::Detail => &self.plain[1],
        };
        let make = || {
            let answer = persona::view(&self.bundle.assembled(), &Request::plain(view), "");
            Arc::new(LoadedPersona::new(answer))
        };
        slot.get_or_init(make).clone()
    }

    /// Roughly what this holds in memory: the bundle, and both answers as text and as a tree.
    pub(crate) fn weight(&self) -> u64 {
        (self.document_bytes as u64 + 512) * 6
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
        let generation = self.feed().generation(self.engine()).await?;
        if let (Some(generation), []) = (generation, override_parts)
            && let Some(loaded) = self.cache().get(name, generation)
        {
            return Ok(Some(loaded));
        }
        let sql: &'static str = match self.engine().dialect() {
            Dialect::Sqlite => &LOAD_SQLITE,
            Dialect::Postgres => &LOAD_POSTGRES,
        };
        let values = [Value::from(name), Value::Json(serde_json::to_string(override_parts)?)];
        let Some(text) = self.engine().text(sql, &values).await? else {
            return Ok(None);
        };
        let row: Row = serde_json::from_str(&text)?;
        let bundle = row.bundle.or_else(|| Builtins::get().bundle(name, row.state.unwrap_or_default()));
        let Some(mut bundle) = bundle else {
            return Ok(None);
        };
        bundle.override_parts = row.override_parts;
        for wanted in override_parts {
            if !bundle.override_parts.iter().any(|part| part.name == **wanted)
                && let Some(part) = Part::builtins().get(*wanted)
            {
                bundle.override_parts.push(part.clone());
            }
        }
        let loaded = Arc::new(Loaded::new(bundle, text.len()));
        if let (Some(generation), []) = (generation, override_parts) {
            self.cache().put(name.clone(), generation, loaded.clone());
        }
        Ok(Some(loaded))
    }
}
