//! `[providers.NAME]` of the user's configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Error, limits};

#[cfg(test)]
mod tests;

/// A wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Anthropic,
    OpenaiResponses,
    OpenaiChat,
    Gemini,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenaiResponses, Self::OpenaiChat, Self::Gemini];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses => "openai-responses",
            Self::OpenaiChat => "openai-chat",
            Self::Gemini => "gemini",
        }
    }

    /// The base URL of the protocol's inventor.
    pub(crate) fn official_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenaiResponses | Self::OpenaiChat => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// The variable in which people keep the key for [`Self::official_url`].
    pub(crate) fn official_key(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenaiResponses | Self::OpenaiChat => "OPENAI_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(|kind| format!("{:?}", kind.as_str())).join(", ");
            serde::de::Error::custom(format!("unknown kind {text:?} of provider; write one of {known}"))
        })
    }
}

/// The value of `[providers.NAME]`. Only `kind` is needed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    pub kind: Kind,
    /// The base URL; by default that of the protocol's inventor.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The variable that holds the key. Without one and without `base_url` it is the usual one of
    /// the kind; with a `base_url` no key is sent unless a variable is named.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// Headers that every request carries.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Headers whose values come from variables: header to variable.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    #[serde(default)]
    pub connect_timeout_s: Option<u64>,
    /// Before the first byte of an answer and between two.
    #[serde(default)]
    pub idle_timeout_s: Option<u64>,
    /// For a whole call, the wait for a free place (`max_concurrent`) included.
    #[serde(default)]
    pub timeout_s: Option<u64>,
    /// Requests at the same time; the others wait.
    #[serde(default)]
    pub max_concurrent: Option<usize>,
    /// The context size of its models, if unknown or wrong.
    #[serde(default)]
    pub context_tokens: Option<u32>,
    /// The limit of an answer, if neither persona nor caller sets one.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Requests a model's encrypted reasoning and sends it back with the next request
    /// (`openai-responses`). By default on for OpenAI's own reasoning models.
    #[serde(default)]
    pub reasoning_items: Option<bool>,
    /// A PEM file with certificate authorities to trust, in addition to the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Replaces the environment's proxy; `"none"` uses none.
    #[serde(default)]
    pub proxy: Option<String>,
    /// The models to offer, if it lists none or too many.
    #[serde(default)]
    pub models: Vec<String>,
}

/// Header values and the proxy may hold secrets: only the headers' names are shown.
impl fmt::Debug for ProviderSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSettings")
            .field("kind", &self.kind)
            .field("api_key_env", &self.api_key_env)
            .field("headers", &self.headers.keys())
            .field("headers_env", &self.headers_env)
            .finish_non_exhaustive()
    }
}

impl ProviderSettings {
    /// Settings with everything else as it is without a line in the configuration.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            base_url: None,
            api_key_env: None,
            headers: BTreeMap::new(),
            headers_env: BTreeMap::new(),
            connect_timeout_s: None,
            idle_timeout_s: None,
            timeout_s: None,
            max_concurrent: None,
            context_tokens: None,
            max_output_tokens: None,
            reasoning_items: None,
            ca_file: None,
            proxy: None,
            models: Vec::new(),
        }
    }

    /// Checks the settings. `name` is the provider's.
    pub(crate) fn check(&self, name: &str) -> Result<(), Error> {
        let at = |field: &str| format!("providers.{name}.{field}");
        if name.trim().is_empty() || name.contains(['/', '.']) || name.chars().any(char::is_whitespace) {
            let problem = "a provider's name has no spaces, dots or slashes: models are written NAME/MODEL";
            return Err(Error::new(format!("providers.{name:?}"), problem));
        }
        if let Some(url) = &self.base_url {
            base_url(url).map_err(|problem| Error::new(at("base_url"), problem))?;
        }
        let times = [
            ("connect_timeout_s", self.connect_timeout_s),
            ("idle_timeout_s", self.idle_timeout_s),
            ("timeout_s", self.timeout_s),
        ];
        for (field, seconds) in times {
            if seconds.is_some_and(|seconds| seconds == 0 || seconds > limits::LONGEST_TIMEOUT_S) {
                let most = limits::LONGEST_TIMEOUT_S;
                return Err(Error::new(
                    at(field),
                    format!("write seconds from 1 to {most}, or leave it out"),
                ));
            }
        }
        if self.max_concurrent.is_some_and(|most| most == 0 || most > limits::MOST_CONCURRENT) {
            let most = limits::MOST_CONCURRENT;
            return Err(Error::new(
                at("max_concurrent"),
                format!("write a number from 1 to {most}, or leave it out for no limit"),
            ));
        }
        for (field, tokens) in
            [("context_tokens", self.context_tokens), ("max_output_tokens", self.max_output_tokens)]
        {
            if tokens == Some(0) {
                return Err(Error::new(at(field), "write a number of tokens above 0, or leave it out"));
            }
        }
        if let Some(variable) = self.api_key_env.as_deref() {
            check_variable(variable).map_err(|problem| Error::new(at("api_key_env"), problem))?;
        }
        self.check_headers(&at)?;
        if let Some(proxy) = &self.proxy {
            check_proxy(proxy).map_err(|problem| Error::new(at("proxy"), problem))?;
        }
        Ok(())
    }

    fn check_headers(&self, at: &dyn Fn(&str) -> String) -> Result<(), Error> {
        for (header, value) in &self.headers {
            let place = || at(&format!("headers.{header}"));
            HeaderName::try_from(header).map_err(|_| Error::new(place(), "invalid header name"))?;
            HeaderValue::try_from(value).map_err(|_| {
                Error::new(place(), "the value has characters that no header can carry, such as a line end")
            })?;
        }
        for (header, variable) in &self.headers_env {
            let place = || at(&format!("headers_env.{header}"));
            HeaderName::try_from(header).map_err(|_| Error::new(place(), "invalid header name"))?;
            check_variable(variable).map_err(|problem| Error::new(place(), problem))?;
        }
        Ok(())
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        self.connect_timeout_s.map_or(limits::CONNECT_TIMEOUT, Duration::from_secs)
    }

    pub(crate) fn idle_timeout(&self) -> Duration {
        self.idle_timeout_s.map_or(limits::IDLE_TIMEOUT, Duration::from_secs)
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout_s.map_or(limits::CALL_TIMEOUT, Duration::from_secs)
    }
}

/// An address that requests can be sent to.
pub(crate) fn base_url(text: &str) -> Result<Url, String> {
    let example = "write it like https://models.example.org/v1";
    let url: Url = text.trim().parse().map_err(|error| format!("invalid URL ({error}); {example}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!("the URL must begin with http:// or https://; {example}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the URL holds a name or password; put the key in a variable and name it in \
                    api_key_env or headers_env"
            .to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("the URL must end with its path: no ? and no #; {example}"));
    }
    Ok(url)
}

fn check_variable(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && name.len() <= 200 && name.chars().all(fits) {
        return Ok(());
    }
    // The value may be the key itself, so the message does not repeat it.
    Err("write the name of an environment variable here, such as MY_KEY; the key itself belongs in \
         that variable"
        .to_owned())
}

fn check_proxy(proxy: &str) -> Result<(), String> {
    if proxy == "none" {
        return Ok(());
    }
    let known = ["http", "https", "socks5", "socks5h"];
    match proxy.parse::<Url>() {
        Ok(url) if known.contains(&url.scheme()) && url.host_str().is_some() => Ok(()),
        _ => Err("this is no proxy; write it like http://proxy.example.org:3128 (also https, socks5, \
                  socks5h), or \"none\""
            .to_owned()),
    }
}
