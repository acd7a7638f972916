//! Outcomes with their types erased.

use std::sync::Arc;

use app::LoadedPersona;
use app::outputs::{CompiledPersona, Deleted, Document, Manifest, Page, StageState, Written};
use persona::Scope;
use serde::Serialize;
use serde_json::Value;

/// The outcome of a finished operation.
pub type Answer = Box<dyn Outcome>;

/// What fronts need of an outcome.
pub trait Outcome: Send {
    fn json(&self) -> serde_json::Result<String>;

    fn value(&self) -> serde_json::Result<Value>;

    /// The version of the entity that the outcome is or is about.
    fn version(&self) -> Option<Version>;
}

/// An entity's revision in its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    pub scope: Scope,
    pub revision: i64,
}

impl std::fmt::Debug for dyn Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outcome").field("version", &self.version()).finish_non_exhaustive()
    }
}

/// What an output says about itself besides its JSON.
trait Facts {
    fn version(&self) -> Option<Version> {
        None
    }
}

impl<T: Serialize + Facts + Send> Outcome for T {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }

    fn version(&self) -> Option<Version> {
        Facts::version(self)
    }
}

/// Hot personas are kept as the JSON that is sent.
impl Outcome for Arc<LoadedPersona> {
    fn json(&self) -> serde_json::Result<String> {
        Ok(LoadedPersona::json(self).to_owned())
    }

    fn value(&self) -> serde_json::Result<Value> {
        Ok(LoadedPersona::value(self))
    }

    fn version(&self) -> Option<Version> {
        None
    }
}

macro_rules! without_facts {
    ($($output:ty),* $(,)?) => { $(impl Facts for $output {})* };
}

without_facts!(CompiledPersona, Deleted, Manifest, Page);

impl<T> Facts for Document<T> {
    fn version(&self) -> Option<Version> {
        Some(Version { scope: self.meta.scope, revision: self.meta.revision })
    }
}

impl Facts for Written {
    fn version(&self) -> Option<Version> {
        Some(Version { scope: self.scope, revision: self.revision })
    }
}

impl Facts for StageState {
    fn version(&self) -> Option<Version> {
        Some(Version { scope: self.scope, revision: self.revision })
    }
}
