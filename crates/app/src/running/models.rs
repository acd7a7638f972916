//! The models that may answer, in order.

mod fallback;
mod listing;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agent::{ErrorCode, Mode, SelectionReason, Session, cooled_down};
use chrono::Utc;
use llm::{Failure, FailureKind, ModelRef, Prices, Provider, Sampling, Usage};
use persona::{Name, PreferredModel};
use providers::{Key, Kind, Origin, ProviderInfo, Providers};

use super::Lookup;
use super::consumption::Consumption;
use super::prepare::Prepared;
use crate::{Error, ModelError, Result};
use fallback::Fallback;
pub use listing::{ModelList, ProviderModels};

/// The provider and the model that answer if nothing is configured.
const REHEARSAL: &str = "rehearsal";
/// How long a provider may take to list its models.
const MODELS_TIMEOUT: Duration = Duration::from_secs(10);

/// A model that may answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) model: ModelRef,
    pub(super) sampling: Sampling,
    pub(super) reason: SelectionReason,
    pub(super) provider: Arc<dyn Provider>,
}

/// The reason why no model can be called.
#[derive(Debug)]
pub(super) struct NoModel {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl From<Error> for NoModel {
    fn from(error: Error) -> Self {
        Self { code: ErrorCode::UnknownProvider, message: error.to_string() }
    }
}

impl From<Failure> for NoModel {
    fn from(failure: Failure) -> Self {
        let Failure { kind, status, mut message, .. } = failure;
        if kind == FailureKind::Transport && status.is_none() {
            message.push_str("; check that it is running");
        }
        Self { code: ErrorCode::from(kind), message }
    }
}

/// The models that can answer.
pub(super) struct Models {
    pub(super) providers: Providers,
    cooldown: Duration,
    fallback: Fallback,
    pub(super) consumption: Consumption,
    pub(super) prices: Prices,
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("providers", &self.providers).finish_non_exhaustive()
    }
}

impl Models {
    pub(super) fn new(providers: Providers, prices: Prices, environment: Lookup, cooldown: Duration) -> Self {
        let consumption = Consumption::default();
        Self { providers, cooldown, fallback: Fallback::new(environment), consumption, prices }
    }

    /// Counts a finished call. Returns its cost, if the model has a price.
    pub(super) fn count(&self, persona: &Name, model: &ModelRef, usage: Usage) -> Option<f64> {
        self.consumption.count(persona, model, usage);
        self.prices.cost(model, usage)
    }

    /// First choice first. Never empty: the rehearsal answers if nothing is configured.
    pub(super) async fn candidates(
        &self,
        requested: Option<&ModelRef>,
        prepared: &Prepared,
        mode: Mode,
    ) -> std::result::Result<Vec<Candidate>, NoModel> {
        if let Some(model) = requested {
            let provider = self.provider(&model.provider).await?;
            let sampling = prepared.models.iter().find(|known| is(known, model)).map(sampling);
            return Ok(vec![Candidate {
                model: model.clone(),
                sampling: sampling.unwrap_or_default(),
                reason: SelectionReason::Requested,
                provider,
            }]);
        }
        let mut candidates = Vec::new();
        if let (Mode::Plan, Some(model)) = (mode, &prepared.plan_model) {
            let model: ModelRef = model
                .parse()
                .map_err(|source| ModelError::Invalid { field: "plan_persona.model", source })
                .map_err(Error::from)?;
            if let Ok(provider) = self.provider(&model.provider).await {
                let sampling = prepared.models.iter().find(|known| is(known, &model)).map(sampling);
                let reason = SelectionReason::Plan;
                candidates.push(Candidate {
                    model,
                    sampling: sampling.unwrap_or_default(),
                    reason,
                    provider,
                });
            }
        }
        for preferred in &prepared.models {
            let Some(provider) = self.preferred(&preferred.provider).await else { continue };
            let model = ModelRef { provider: preferred.provider.clone(), model: preferred.model.clone() };
            let reason = SelectionReason::Preferred;
            candidates.push(Candidate { model, sampling: sampling(preferred), reason, provider });
        }
        if candidates.is_empty() {
            candidates.push(self.default_candidate().await?);
        }
        Ok(candidates)
    }

    /// The candidate that a call begins with, and why.
    pub(super) fn first_choice(
        &self,
        candidates: &[Candidate],
        session: &Session,
    ) -> (usize, SelectionReason) {
        let models: Vec<_> = candidates.iter().map(|candidate| candidate.model.clone()).collect();
        let answered = session.answered_by.as_ref().zip(session.answered_since);
        match cooled_down(&models, answered, Utc::now(), self.cooldown) {
            0 => (0, candidates.first().map_or(SelectionReason::Default, |candidate| candidate.reason)),
            later => (later, SelectionReason::Cooldown),
        }
    }

    /// The model that a message goes to first. None if that is not known yet.
    pub(super) async fn first_model_of(
        &self,
        session: &Session,
        prepared: &Prepared,
    ) -> Option<(ModelRef, SelectionReason)> {
        let candidates = self.candidates(session.model.as_ref(), prepared, session.mode).await.ok()?;
        let (at, reason) = self.first_choice(&candidates, session);
        candidates.into_iter().nth(at).map(|candidate| (candidate.model, reason))
    }
}

fn is(preferred: &PreferredModel, model: &ModelRef) -> bool {
    preferred.provider == model.provider && preferred.model == model.model
}

fn sampling(preferred: &PreferredModel) -> Sampling {
    let PreferredModel { temperature, top_p, max_output_tokens, .. } = preferred;
    Sampling {
        temperature: *temperature,
        top_p: *top_p,
        max_output_tokens: *max_output_tokens,
        ..Sampling::default()
    }
}

impl Models {
    /// The provider of that name, or an error with the known names.
    pub(super) async fn provider(&self, name: &str) -> Result<Arc<dyn Provider>> {
        if let Some(provider) = self.providers.get(name) {
            return Ok(provider);
        }
        if name == REHEARSAL {
            return self.fallback.rehearsal().await;
        }
        let local = self.fallback.local().await;
        local.and_then(|local| local.get(name)).ok_or_else(|| {
            let name = name.to_owned();
            if Providers::LOCAL.contains(&name.as_str()) {
                return ModelError::Unreachable { name }.into();
            }
            let known = self.providers.names().chain(local.into_iter().flat_map(Providers::names));
            ModelError::UnknownProvider { name, known: known.map(str::to_owned).collect() }.into()
        })
    }

    /// A provider that a persona prefers, if it can answer. Searches this machine only for local ones.
    async fn preferred(&self, name: &str) -> Option<Arc<dyn Provider>> {
        if self.providers.get(name).is_none() && Providers::LOCAL.contains(&name) {
            return self.fallback.local().await?.get(name);
        }
        self.usable(name)
    }

    /// A configured provider that can answer.
    fn usable(&self, name: &str) -> Option<Arc<dyn Provider>> {
        let found = self.providers.found().find(|found| found.name == name)?;
        match found.key {
            Key::Missing(_) => None,
            Key::Present(_) | Key::NotNeeded => self.providers.get(name),
        }
    }

    /// The reason why no configured provider can be called. None if one can, or none is configured.
    fn without_key(&self) -> Option<String> {
        let problems: Option<Vec<String>> = (self.providers.found())
            .map(|found| Some(format!("[providers.{}]: {}", found.name, found.problem.as_ref()?)))
            .collect();
        let problems = problems.filter(|problems| !problems.is_empty())?;
        Some(format!(
            "no configured provider can be called. {}. Set the variable, or remove the provider from \
             config.toml",
            problems.join(". ")
        ))
    }

    /// The first configured provider that can answer, then a local one. The rehearsal answers only if
    /// nothing is configured: users must not take it for a model's answer.
    async fn default_candidate(&self) -> std::result::Result<Candidate, NoModel> {
        let configured = self.providers.found().filter(|found| self.usable(&found.name).is_some());
        // Providers of config.toml come before those found by their keys.
        let first = configured.min_by_key(|found| found.from != Origin::Config);
        if let Some(found) = first
            && let Some(provider) = self.providers.get(&found.name)
        {
            return self.first_model(found, provider).await;
        }
        if let Some(local) = self.fallback.local().await {
            for found in local.found() {
                if let Some(provider) = local.get(&found.name) {
                    return self.first_model(found, provider).await;
                }
            }
        }
        if let Some(message) = self.without_key() {
            return Err(NoModel { code: ErrorCode::Unauthorized, message });
        }
        let provider = self.fallback.rehearsal().await?;
        let model = ModelRef { provider: REHEARSAL.to_owned(), model: REHEARSAL.to_owned() };
        Ok(Candidate { model, sampling: Sampling::default(), reason: SelectionReason::Rehearsal, provider })
    }

    /// The model of personas that prefer none, if one can answer.
    pub(super) async fn default_model(&self) -> Option<ModelRef> {
        self.default_candidate().await.ok().map(|candidate| candidate.model)
    }

    /// A provider's model for personas that name none: the first of its settings, the usual one of its
    /// kind, or the first that it lists.
    async fn first_model(
        &self,
        found: &ProviderInfo,
        provider: Arc<dyn Provider>,
    ) -> std::result::Result<Candidate, NoModel> {
        let model = match (found.models.first(), usual_model(found)) {
            (Some(model), _) => model.clone(),
            (None, Some(model)) => model.to_owned(),
            (None, None) => {
                let models = models_of(provider.as_ref()).await?;
                let first = models.into_iter().next().ok_or_else(|| NoModel {
                    code: ErrorCode::UnknownModel,
                    message: format!(
                        "{} has no models; install one, or choose a model of another provider",
                        found.name
                    ),
                })?;
                first.id
            }
        };
        let model = ModelRef { provider: found.name.clone(), model };
        Ok(Candidate { model, sampling: Sampling::default(), reason: SelectionReason::Default, provider })
    }
}

/// A provider's models. Fails if it does not answer in time.
async fn models_of(provider: &dyn Provider) -> std::result::Result<Vec<llm::Model>, Failure> {
    tokio::time::timeout(MODELS_TIMEOUT, provider.models()).await.unwrap_or_else(|_| {
        let message = format!("{}: no answer within {} s", provider.name(), MODELS_TIMEOUT.as_secs());
        Err(Failure::new(FailureKind::Transport, message))
    })
}

fn usual_model(found: &ProviderInfo) -> Option<&'static str> {
    let is_official = matches!(found.key, Key::Present(_));
    match found.kind {
        Kind::Anthropic if is_official => Some("claude-sonnet-4-5"),
        Kind::OpenaiResponses if is_official => Some("gpt-5"),
        Kind::Gemini if is_official => Some("gemini-2.5-pro"),
        _ => None,
    }
}
