//! Providers: they answer requests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EventStream, Failure, Request};

/// A configured provider of models.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Its configured name.
    fn name(&self) -> &str;

    /// Sends a request. Dropping the stream ends the call.
    fn stream(&self, request: Request) -> EventStream;

    /// The models that it lists.
    fn models(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, Failure>> + Send + '_>>;

    /// The size of a model's context in tokens, if known.
    fn context_tokens(&self, model: &str) -> Option<u32>;
}

/// A model that a provider has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Model {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u32>,
}

/// `provider/model`, as people write it. A model's own name may have slashes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ModelRef {
    pub provider: String,
    pub model: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid model {0:?} (expected provider/model, such as anthropic/claude-sonnet-4-5)")]
pub struct ModelRefError(String);

impl FromStr for ModelRef {
    type Err = ModelRefError;

    fn from_str(text: &str) -> Result<Self, ModelRefError> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.trim().is_empty() && !model.trim().is_empty() => {
                Ok(Self { provider: provider.trim().to_owned(), model: model.trim().to_owned() })
            }
            _ => Err(ModelRefError(text.chars().take(80).collect())),
        }
    }
}

impl TryFrom<String> for ModelRef {
    type Error = ModelRefError;

    fn try_from(text: String) -> Result<Self, ModelRefError> {
        text.parse()
    }
}

impl From<ModelRef> for String {
    fn from(model: ModelRef) -> Self {
        model.to_string()
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}
