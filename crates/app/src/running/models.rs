//! Which models may answer, in which order.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agent::{ErrorCode, Mode, SelectionReason, Session, cooled_down};
use chrono::Utc;
use llm::{Failure, FailureKind, ModelRef, Provider, Sampling};
use persona::PreferredModel;
use providers::{Found, Key, Kind, Origin, Providers, Settings};
use rehearsal::{Rehearsal, Script};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::OnceCell;

use super::prepare::Prepared;
use super::{Lookup, Runtime};
use crate::{Error, ModelError, Result};

/// The provider and the model that answer where nothing is configured.
const REHEARSAL: &str = "rehearsal";
/// The variable that says where Ollama listens.
const OLLAMA_HOST: &str = "OLLAMA_HOST";
/// How long a provider may take to say which models it has.
const MODELS_TIMEOUT: Duration = Duration::from_secs(10);

/// A model that may answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) model: ModelRef,
    pub(super) sampling: Sampling,
    pub(super) reason: SelectionReason,
    pub(super) provider: Arc<dyn Provider>,
}

/// Why no model can be asked.
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
    environment: Lookup,
    cooldown: Duration,
    fallback: Fallback,
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("providers", &self.providers).finish_non_exhaustive()
    }
}

impl Models {
    pub(super) fn new(providers: Providers, environment: Lookup, cooldown: Duration) -> Self {
        Self { providers, environment, cooldown, fallback: Fallback::default() }
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

    /// The model that a message goes to first; none where that is not known yet.
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
    Sampling { temperature: *temperature, top_p: *top_p, max_output_tokens: *max_output_tokens }
}

/// What answers where the user has configured nothing: a model on this machine, else a rehearsal.
#[derive(Debug, Default)]
pub(super) struct Fallback {
    /// None where they cannot even be looked for.
    local: OnceCell<Option<Providers>>,
    rehearsal: OnceCell<(Rehearsal, Arc<dyn Provider>)>,
}

/// A provider with the models that it says it has.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProviderModels {
    #[serde(flatten)]
    pub provider: Found,
    pub models: Vec<llm::Model>,
    /// Why it does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Every provider with its models.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelList {
    pub items: Vec<ProviderModels>,
}

impl Runtime {
    /// The providers that are set up, whether they can be called or not.
    pub fn providers(&self) -> impl Iterator<Item = &Found> {
        self.0.models.providers.found()
    }

    /// Why none of the providers that are set up can be called, where that is so.
    pub fn without_key(&self) -> Option<String> {
        self.0.models.without_key()
    }

    /// The providers on this machine that nobody had to set up.
    pub async fn local_providers(&self) -> Vec<&str> {
        self.0.models.local().await.into_iter().flat_map(Providers::names).collect()
    }

    /// Every provider that is configured or found on this machine, and what it has.
    #[boxed]
    pub async fn models(&self) -> Vec<ProviderModels> {
        let local = self.0.models.local().await;
        let all = self.providers().chain(local.into_iter().flat_map(Providers::found));
        let asked = all.map(|found| async move {
            let configured = self.0.models.providers.get(&found.name);
            let provider = configured.or_else(|| local.and_then(|local| local.get(&found.name)));
            let answer = match provider {
                Some(provider) => models_of(provider.as_ref()).await,
                None => Ok(Vec::new()),
            };
            let (models, error) = match answer {
                Ok(models) => (models, None),
                Err(failure) => (Vec::new(), Some(failure.message)),
            };
            // What the settings list is among what it says it has.
            ProviderModels { provider: Found { models: Vec::new(), ..found.clone() }, models, error }
        });
        futures::future::join_all(asked).await
    }
}

impl Models {
    async fn local(&self) -> Option<&Providers> {
        let find = || async {
            let lookup = |name: &str| (name == OLLAMA_HOST).then(|| (self.environment)(name)).flatten();
            let mut local = Providers::build(BTreeMap::new(), &lookup).ok()?;
            local.find_local().await;
            Some(local)
        };
        self.fallback.local.get_or_init(find).await.as_ref()
    }

    /// The provider of that name, or an error that says which there are.
    pub(super) async fn provider(&self, name: &str) -> Result<Arc<dyn Provider>> {
        if let Some(provider) = self.providers.get(name) {
            return Ok(provider);
        }
        if name == REHEARSAL {
            return self.rehearsal().await;
        }
        let local = self.local().await;
        local.and_then(|local| local.get(name)).ok_or_else(|| {
            let name = name.to_owned();
            if Providers::LOCAL.contains(&name.as_str()) {
                return ModelError::Unreachable { name }.into();
            }
            let known = self.providers.names().chain(local.into_iter().flat_map(Providers::names));
            ModelError::UnknownProvider { name, known: known.map(str::to_owned).collect() }.into()
        })
    }

    /// One that a persona prefers, if it could answer. Nobody looks around on this machine for one that
    /// cannot be there.
    async fn preferred(&self, name: &str) -> Option<Arc<dyn Provider>> {
        if self.providers.get(name).is_none() && Providers::LOCAL.contains(&name) {
            return self.local().await?.get(name);
        }
        self.usable(name)
    }

    /// A provider that is set up and could answer.
    fn usable(&self, name: &str) -> Option<Arc<dyn Provider>> {
        let found = self.providers.found().find(|found| found.name == name)?;
        match found.key {
            Key::Missing(_) => None,
            Key::Present(_) | Key::NotNeeded => self.providers.get(name),
        }
    }

    /// Why none of the providers that are set up can be called; none where one can, or where there are
    /// none.
    fn without_key(&self) -> Option<String> {
        let problems: Option<Vec<String>> = (self.providers.found())
            .map(|found| Some(format!("[providers.{}]: {}", found.name, found.problem.as_ref()?)))
            .collect();
        let problems = problems.filter(|problems| !problems.is_empty())?;
        Some(format!(
            "no provider that is set up can be called. {}. Set the variable, or take the provider out of \
             config.toml",
            problems.join(". ")
        ))
    }

    /// The first provider that could answer, then a local one. The rehearsal is for those who have not
    /// set up anything: whoever has must not take it for an answer.
    async fn default_candidate(&self) -> std::result::Result<Candidate, NoModel> {
        let configured = self.providers.found().filter(|found| self.usable(&found.name).is_some());
        // What the user wrote down comes before what merely has a key.
        let first = configured.min_by_key(|found| found.from != Origin::Config);
        if let Some(found) = first
            && let Some(provider) = self.providers.get(&found.name)
        {
            return self.first_model(found, provider).await;
        }
        if let Some(local) = self.local().await {
            for found in local.found() {
                if let Some(provider) = local.get(&found.name) {
                    return self.first_model(found, provider).await;
                }
            }
        }
        if let Some(message) = self.without_key() {
            return Err(NoModel { code: ErrorCode::Unauthorized, message });
        }
        let provider = self.rehearsal().await?;
        let model = ModelRef { provider: REHEARSAL.to_owned(), model: REHEARSAL.to_owned() };
        Ok(Candidate { model, sampling: Sampling::default(), reason: SelectionReason::Rehearsal, provider })
    }

    /// A provider's model for personas that name none: the first of its settings, the usual one of
    /// its kind, or whatever it has.
    async fn first_model(
        &self,
        found: &Found,
        provider: Arc<dyn Provider>,
    ) -> std::result::Result<Candidate, NoModel> {
        let model = match (found.models.first(), usual_model(found)) {
            (Some(model), _) => model.clone(),
            (None, Some(model)) => model.to_owned(),
            (None, None) => {
                let models = models_of(provider.as_ref()).await?;
                let first = models.into_iter().next().ok_or_else(|| NoModel {
                    code: ErrorCode::UnknownModel,
                    message: format!("{} has no models; install one, or name one with --model", found.name),
                })?;
                first.id
            }
        };
        let model = ModelRef { provider: found.name.clone(), model };
        Ok(Candidate { model, sampling: Sampling::default(), reason: SelectionReason::Default, provider })
    }

    /// The scripted model of this process, started when it is first needed.
    async fn rehearsal(&self) -> Result<Arc<dyn Provider>> {
        let start = || async {
            let rehearsal = Rehearsal::start_local(Script::builtin()).await;
            let rehearsal = rehearsal.map_err(|error| ModelError::Rehearsal { source: error.into() })?;
            let mut settings = Settings::new(Kind::OpenaiChat);
            settings.base_url = Some(format!("{}/v1", rehearsal.url().trim_end_matches('/')));
            // It answers on this machine: whatever proxy there is leads elsewhere.
            settings.proxy = Some("none".to_owned());
            let made = Providers::build(BTreeMap::from([(REHEARSAL.to_owned(), settings)]), &|_| None);
            let made = made.map_err(|error| ModelError::Rehearsal { source: error.into() })?;
            let provider = made.get(REHEARSAL).ok_or_else(|| ModelError::UnknownProvider {
                name: REHEARSAL.to_owned(),
                known: Vec::new(),
            })?;
            Ok::<_, Error>((rehearsal, provider))
        };
        let (_, provider) = self.fallback.rehearsal.get_or_try_init(start).await?;
        Ok(Arc::clone(provider))
    }
}

/// What a provider says it has, as long as it does not take too long over it.
async fn models_of(provider: &dyn Provider) -> std::result::Result<Vec<llm::Model>, Failure> {
    tokio::time::timeout(MODELS_TIMEOUT, provider.models()).await.unwrap_or_else(|_| {
        let message = format!("{}: no answer within {} s", provider.name(), MODELS_TIMEOUT.as_secs());
        Err(Failure::new(FailureKind::Transport, message))
    })
}

fn usual_model(found: &Found) -> Option<&'static str> {
    let is_official = matches!(found.key, Key::Present(_));
    match found.kind {
        Kind::Anthropic if is_official => Some("claude-sonnet-4-5"),
        Kind::OpenaiResponses if is_official => Some("gpt-5"),
        Kind::Gemini if is_official => Some("gemini-2.5-pro"),
        _ => None,
    }
}
