//! Lists providers and their models.

use async_recursion::async_recursion as boxed;
use providers::{ProviderInfo, Providers};
use schemars::JsonSchema;
use serde::Serialize;

use super::models_of;
use crate::running::Runtime;

/// A provider with its models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProviderModels {
    #[serde(flatten)]
    pub provider: ProviderInfo,
    pub models: Vec<llm::Model>,
    /// The reason why it does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Every provider with its models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelList {
    pub items: Vec<ProviderModels>,
}

impl Runtime {
    /// The configured providers, also those that cannot be called.
    pub fn providers(&self) -> impl Iterator<Item = &ProviderInfo> {
        self.runner.starter.models.providers.found()
    }

    /// The reason why no configured provider can be called. None if one can, or none is configured.
    pub fn without_key(&self) -> Option<String> {
        self.runner.starter.models.without_key()
    }

    /// The providers on this machine, found without configuration.
    pub async fn local_providers(&self) -> Vec<&str> {
        self.runner.starter.models.fallback.local().await.into_iter().flat_map(Providers::names).collect()
    }

    /// Every provider that is configured or found on this machine, with its models.
    #[boxed]
    pub async fn models(&self) -> Vec<ProviderModels> {
        let local = self.runner.starter.models.fallback.local().await;
        let all = self.providers().chain(local.into_iter().flat_map(Providers::found));
        let asked = all.map(|found| async move {
            let configured = self.runner.starter.models.providers.get(&found.name);
            let provider = configured.or_else(|| local.and_then(|local| local.get(&found.name)));
            let answer = match provider {
                Some(provider) => models_of(provider.as_ref()).await,
                None => Ok(Vec::new()),
            };
            let (models, error) = match answer {
                Ok(models) => (models, None),
                Err(failure) => (Vec::new(), Some(failure.message)),
            };
            // Its list includes the models of its settings.
            ProviderModels { provider: ProviderInfo { models: Vec::new(), ..found.clone() }, models, error }
        });
        futures::future::join_all(asked).await
    }
}
