//! All providers: configured ones, those with a key in the environment, and those on this machine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use llm::Provider;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::adapter::{Adapter, Parts};
use crate::client::{Clients, Route, Via};
use crate::omission::Omissions;
use crate::settings::{Kind, ProviderSettings, base_url};
use crate::{Error, anthropic, local};

#[cfg(test)]
mod tests;

/// Reads a variable of the environment.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Secrets shorter than this are not looked for in messages: they would be found everywhere.
const LEAST_SECRET: usize = 8;

/// Providers that a key in the environment configures: name, kind, and the variable that may hold
/// another address.
const USUAL: [(&str, Kind, Option<&str>); 3] = [
    ("anthropic", Kind::Anthropic, Some("ANTHROPIC_BASE_URL")),
    ("openai", Kind::OpenaiResponses, Some("OPENAI_BASE_URL")),
    ("gemini", Kind::Gemini, None),
];

/// A provider as fronts show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderInfo {
    pub name: String,
    pub kind: Kind,
    pub base_url: String,
    pub from: Origin,
    pub key: Key,
    /// The reason why every call fails, such as an empty variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The models that the settings list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
}

/// The origin of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Config,
    /// This variable holds a key.
    Environment(String),
    /// It answered on this machine.
    Local,
}

/// The state of a provider's key, with the name of its variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    Present(String),
    /// Every call fails until the variable is set.
    Missing(String),
    NotNeeded,
}

/// The configured providers. Making one is cheap: nothing is sent, and no client is made, before
/// the first call.
pub struct Providers {
    entries: BTreeMap<String, ProviderEntry>,
    clients: Arc<Clients>,
    ollama_host: Option<String>,
}

struct ProviderEntry {
    adapter: Arc<Adapter>,
    found: ProviderInfo,
}

impl std::fmt::Debug for Providers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(name, entry)| (name, &entry.found))).finish()
    }
}

impl Providers {
    /// The names of those that [`Self::find_local`] looks for.
    pub const LOCAL: [&str; 2] = [local::OLLAMA, local::LLAMACPP];

    /// Every provider that a key in the environment configures, with the variable of its key.
    pub fn usual() -> impl Iterator<Item = (&'static str, &'static str)> {
        USUAL.iter().map(|(name, kind, _)| (*name, kind.official_key()))
    }

    /// The providers of the settings, and the [usual](Self::usual) ones whose key is there and whose
    /// name the settings leave free.
    pub fn build(
        settings: BTreeMap<String, ProviderSettings>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        // An empty variable counts as unset.
        let environment: Environment<'_> = &|name| environment(name).filter(|value| !value.trim().is_empty());
        let mut providers = Self {
            entries: BTreeMap::new(),
            clients: Arc::default(),
            ollama_host: environment("OLLAMA_HOST"),
        };
        for (name, settings) in settings {
            settings.check(&name)?;
            providers.add(name, &settings, Origin::Config, environment)?;
        }
        for (name, kind, url_variable) in USUAL {
            let key = kind.official_key();
            if providers.entries.contains_key(name) || environment(key).is_none() {
                continue;
            }
            let mut settings = ProviderSettings::new(kind);
            settings.api_key_env = Some(key.to_owned());
            if let Some(variable) = url_variable {
                settings.base_url = environment(variable);
                let url = settings.base_url.as_deref().map(base_url).transpose();
                url.map_err(|problem| Error::new(variable, problem))?;
            }
            providers.add(name.to_owned(), &settings, Origin::Environment(key.to_owned()), environment)?;
        }
        Ok(providers)
    }

    /// Looks for Ollama and llama.cpp on this machine and adds those that answer, unless the name is
    /// taken. Takes up to 300 ms.
    pub async fn find_local(&mut self) {
        let ollama = local::ollama_url(self.ollama_host.as_deref());
        self.find_local_at(ollama, local::llamacpp_url()).await;
    }

    async fn find_local_at(&mut self, ollama: Option<Url>, llamacpp: Option<Url>) {
        for (name, url) in local::find(ollama, llamacpp).await {
            if self.entries.contains_key(name) {
                continue;
            }
            let mut settings = ProviderSettings::new(Kind::OpenaiChat);
            settings.base_url = Some(url.to_string());
            if let Err(error) = self.add(name.to_owned(), &settings, Origin::Local, &|_| None) {
                tracing::warn!(%error, "a local model cannot be used");
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn Provider>> {
        self.entries.get(name).map(|entry| Arc::clone(&entry.adapter) as Arc<dyn Provider>)
    }

    /// In the order of their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// For each provider with a limit, the calls that wait for a place.
    pub fn queues(&self) -> impl Iterator<Item = (&str, usize)> {
        let queue = |(name, entry): (_, &ProviderEntry)| Some((name, entry.adapter.waiting()?));
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry)).filter_map(queue)
    }

    /// All providers with their origin, sorted by name.
    pub fn found(&self) -> impl Iterator<Item = &ProviderInfo> {
        self.entries.values().map(|entry| &entry.found)
    }

    fn add(
        &mut self,
        name: String,
        settings: &ProviderSettings,
        from: Origin,
        environment: Environment<'_>,
    ) -> Result<(), Error> {
        let kind = settings.kind;
        let address = settings.base_url.as_deref().unwrap_or(kind.official_url());
        let base =
            base_url(address).map_err(|problem| Error::new(format!("providers.{name}.base_url"), problem))?;
        let credentials = Credentials::of(settings, environment);
        let via = Via::new(settings.proxy.as_deref(), &base);
        let found = ProviderInfo {
            name: name.clone(),
            kind,
            base_url: base.to_string(),
            from,
            key: credentials.key,
            problem: (!credentials.problems.is_empty()).then(|| credentials.problems.join("; ")),
            models: settings.models.clone(),
        };
        let parts = Parts {
            name: name.clone(),
            kind,
            headers: credentials.headers,
            secrets: credentials.secrets,
            unusable: credentials.unusable,
            route: Route {
                connect_timeout: settings.connect_timeout(),
                ca_file: settings.ca_file.clone(),
                encrypted: base.scheme() == "https" || via.is_encrypted(environment),
                via,
            },
            base,
            clients: Arc::clone(&self.clients),
            idle_timeout: settings.idle_timeout(),
            timeout: settings.timeout(),
            places: settings.max_concurrent.map(|most| Arc::new(Semaphore::new(most))),
            waiting: AtomicUsize::new(0),
            context_tokens: settings.context_tokens,
            reasoning_items: settings.reasoning_items,
            max_output_tokens: settings.max_output_tokens,
            listed: settings.models.clone(),
            answered: AtomicBool::new(false),
            omissions: Omissions::default(),
        };
        self.entries.insert(name, ProviderEntry { adapter: Arc::new(Adapter::new(parts)), found });
        Ok(())
    }
}

/// The request that tests a provider.
struct Credentials {
    headers: HeaderMap,
    secrets: Vec<SecretString>,
    key: Key,
    unusable: Option<String>,
    /// Everything that is missing, in short.
    problems: Vec<String>,
}

impl Credentials {
    fn of(settings: &ProviderSettings, environment: Environment<'_>) -> Self {
        let mut credentials = Self {
            headers: HeaderMap::new(),
            secrets: Vec::new(),
            key: Key::NotNeeded,
            unusable: None,
            problems: Vec::new(),
        };
        if settings.kind == Kind::Anthropic {
            let version = HeaderValue::from_static(anthropic::VERSION);
            credentials.headers.insert(HeaderName::from_static("anthropic-version"), version);
        }
        // The usual key goes to the usual address and nowhere else.
        let usual = settings.base_url.is_none().then(|| settings.kind.official_key());
        if let Some(variable) = settings.api_key_env.as_deref().or(usual) {
            let (header, prefix) = match settings.kind {
                Kind::Anthropic => (HeaderName::from_static("x-api-key"), ""),
                Kind::OpenaiResponses | Kind::OpenaiChat => (AUTHORIZATION, "Bearer "),
                Kind::Gemini => (HeaderName::from_static("x-goog-api-key"), ""),
            };
            credentials.add(header, prefix, "key", variable, environment);
        }
        for (header, variable) in &settings.headers_env {
            if let Ok(header) = HeaderName::try_from(header) {
                let what = format!("header {header}");
                credentials.add(header, "", &what, variable, environment);
            }
        }
        for (header, value) in &settings.headers {
            if let (Ok(header), Ok(mut sent)) = (HeaderName::try_from(header), HeaderValue::try_from(value)) {
                sent.set_sensitive(true);
                credentials.headers.insert(header, sent);
            }
        }
        credentials
    }

    /// `what` names the value that the variable should hold.
    fn add(
        &mut self,
        header: HeaderName,
        prefix: &str,
        what: &str,
        variable: &str,
        environment: Environment<'_>,
    ) {
        let secret = environment(variable).map(|value| SecretString::from(value.trim()));
        let Some(secret) = secret else {
            let advice = format!("the {what} is missing: set the variable {variable}");
            self.miss(what, variable, "is not set", advice);
            return;
        };
        let value = SecretString::from(format!("{prefix}{}", secret.expose_secret()));
        match HeaderValue::try_from(value.expose_secret()) {
            Ok(mut value) => {
                value.set_sensitive(true);
                self.headers.insert(header, value);
                if self.key == Key::NotNeeded {
                    self.key = Key::Present(variable.to_owned());
                }
            }
            Err(_) => {
                let why = "holds characters that no header can carry";
                self.miss(what, variable, why, format!("the variable {variable} {why}; set it anew"));
            }
        }
        if secret.expose_secret().len() >= LEAST_SECRET {
            self.secrets.push(secret);
        }
    }

    fn miss(&mut self, what: &str, variable: &str, why: &str, advice: String) {
        self.problems.push(format!("no {what}: {variable} {why}"));
        // The first missing variable: the key itself, if that is missing.
        if !matches!(self.key, Key::Missing(_)) {
            self.key = Key::Missing(variable.to_owned());
        }
        self.unusable.get_or_insert(advice);
    }
}
