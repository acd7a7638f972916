//! The four protocols, and the paths that belong to them.

use std::fmt;
use std::str::FromStr;

use http::HeaderMap;
use serde::{Deserialize, Serialize};

/// A wire protocol, named as `kind` in `[providers.NAME]` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    Anthropic,
    OpenaiResponses,
    OpenaiChat,
    Gemini,
}

impl Protocol {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenaiResponses, Self::OpenaiChat, Self::Gemini];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses => "openai-responses",
            Self::OpenaiChat => "openai-chat",
            Self::Gemini => "gemini",
        }
    }

    /// The path of the base URL for official clients.
    pub fn base_path(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Gemini => "",
            Self::OpenaiResponses | Self::OpenaiChat => "/v1",
        }
    }
}

/// A word that names no protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider kind {0:?} (expected anthropic, openai-responses, openai-chat or gemini)")]
pub struct ProtocolError(String);

impl FromStr for Protocol {
    type Err = ProtocolError;

    fn from_str(text: &str) -> Result<Self, ProtocolError> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.as_str() == text);
        found.ok_or_else(|| ProtocolError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The endpoint that a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An answer of the model.
    Reply(ReplyCall),
    /// The list of models, or one of them.
    Models(Protocol, Option<String>),
}

/// The parts of a request that come from its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplyCall {
    pub(crate) protocol: Protocol,
    /// Gemini names the model in the path.
    pub(crate) model: Option<String>,
    pub(crate) framing: Framing,
}

/// The form of an answer on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// As the body's `stream` says.
    AsRequested,
    Whole,
    Events,
    /// Gemini's stream without `alt=sse`: one JSON array, element by element.
    Array,
}

/// The endpoint of a request, or `None` for an unknown path.
pub(crate) fn endpoint(is_post: bool, path: &str, query: &str, headers: &HeaderMap) -> Option<Endpoint> {
    let reply =
        |protocol| Some(Endpoint::Reply(ReplyCall { protocol, model: None, framing: Framing::AsRequested }));
    match (is_post, path) {
        (true, "/v1/messages") => reply(Protocol::Anthropic),
        (true, "/v1/responses") => reply(Protocol::OpenaiResponses),
        (true, "/v1/chat/completions") => reply(Protocol::OpenaiChat),
        (true, _) => gemini(path, query),
        (false, _) => {
            let (base, one) = match path.strip_prefix("/v1beta/models") {
                Some(rest) => (Protocol::Gemini, rest),
                None => (list_protocol(query, headers), path.strip_prefix("/v1/models")?),
            };
            let one = match one {
                "" => None,
                one => Some(one.strip_prefix('/')?.to_owned()),
            };
            Some(Endpoint::Models(base, one))
        }
    }
}

/// Three protocols list their models under one path; their headers tell their clients apart.
fn list_protocol(query: &str, headers: &HeaderMap) -> Protocol {
    if headers.contains_key("anthropic-version") {
        Protocol::Anthropic
    } else if headers.contains_key("x-goog-api-key") || query.split('&').any(|pair| pair.starts_with("key="))
    {
        Protocol::Gemini
    } else {
        Protocol::OpenaiChat
    }
}

/// Google's own client uses v1 by now, others v1beta.
fn gemini(path: &str, query: &str) -> Option<Endpoint> {
    let rest = path.strip_prefix("/v1beta/models/").or_else(|| path.strip_prefix("/v1/models/"))?;
    let (model, method) = rest.rsplit_once(':')?;
    let framing = match method {
        "generateContent" => Framing::Whole,
        "streamGenerateContent" if query.split('&').any(|pair| pair == "alt=sse") => Framing::Events,
        "streamGenerateContent" => Framing::Array,
        _ => return None,
    };
    Some(Endpoint::Reply(ReplyCall { protocol: Protocol::Gemini, model: Some(model.to_owned()), framing }))
}
