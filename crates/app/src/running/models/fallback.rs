//! Models for users who have configured none: one on this machine, else the rehearsal.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use llm::Provider;
use providers::{Kind, ProviderSettings, Providers};
use rehearsal::{Rehearsal, Script};
use tokio::sync::OnceCell;

use super::REHEARSAL;
use crate::running::Lookup;
use crate::{Error, ModelError, Result};

/// The variable with the address of Ollama.
const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// Finds local models and starts the rehearsal, each when it is first needed.
pub(super) struct Fallback {
    environment: Lookup,
    /// None if the search itself failed.
    local: OnceCell<Option<Providers>>,
    rehearsal: OnceCell<(Rehearsal, Arc<dyn Provider>)>,
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").field("local", &self.local).finish_non_exhaustive()
    }
}

impl Fallback {
    pub(super) fn new(environment: Lookup) -> Self {
        Self { environment, local: OnceCell::new(), rehearsal: OnceCell::new() }
    }

    /// The providers on this machine.
    pub(super) async fn local(&self) -> Option<&Providers> {
        let find = || async {
            let lookup = |name: &str| (name == OLLAMA_HOST).then(|| (self.environment)(name)).flatten();
            let mut local = Providers::build(BTreeMap::new(), &lookup).ok()?;
            local.find_local().await;
            Some(local)
        };
        self.local.get_or_init(find).await.as_ref()
    }

    /// The scripted model of this process.
    pub(super) async fn rehearsal(&self) -> Result<Arc<dyn Provider>> {
        let start = || async {
            let rehearsal = Rehearsal::start_local(Script::builtin()).await;
            let rehearsal = rehearsal.map_err(|error| ModelError::Rehearsal { source: error.into() })?;
            let mut settings = ProviderSettings::new(Kind::OpenaiChat);
            settings.base_url = Some(format!("{}/v1", rehearsal.url().trim_end_matches('/')));
            // It answers on this machine: a proxy would lead elsewhere.
            settings.proxy = Some("none".to_owned());
            let made = Providers::build(BTreeMap::from([(REHEARSAL.to_owned(), settings)]), &|_| None);
            let made = made.map_err(|error| ModelError::Rehearsal { source: error.into() })?;
            let provider = made.get(REHEARSAL).ok_or_else(|| ModelError::UnknownProvider {
                name: REHEARSAL.to_owned(),
                known: Vec::new(),
            })?;
            Ok::<_, Error>((rehearsal, provider))
        };
        let (_, provider) = self.rehearsal.get_or_try_init(start).await?;
        Ok(Arc::clone(provider))
    }
}
