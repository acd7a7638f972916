//! Parameters that a server rejects and callers can do without.
//!
//! A caller lists them in [`Request::may_omit`]. If the server answers 400 or 422 and names one of them, the
//! request goes out again without it; if it names nothing, without the next one of the list. What a model
//! did without is remembered while the process runs.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use llm::{Failure, FailureKind, Parameter, Request};
use reqwest::Client;

use crate::limits::OMITTING_MODELS;
use crate::settings::Kind;

/// Rejected parameters of one provider, by model.
#[derive(Debug, Default)]
pub(crate) struct Omissions(RwLock<HashMap<String, Vec<Parameter>>>);

impl Omissions {
    /// Leaves out parameters that the model is known to reject, if the caller can do without them.
    pub(crate) fn apply(&self, request: &mut Request) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for parameter in all.get(&request.model).into_iter().flatten() {
            if request.may_omit.contains(parameter) {
                request.omit(*parameter);
            }
        }
    }

    fn add(&self, model: &str, omitted: &[Parameter]) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= OMITTING_MODELS && !all.contains_key(model) {
            return;
        }
        let known = all.entry(model.to_owned()).or_default();
        let new = omitted.iter().filter(|parameter| !known.contains(parameter)).copied();
        let new: Vec<_> = new.collect();
        known.extend(new);
    }
}

/// A request that may go out again with less.
pub(crate) struct Fallback {
    pub(crate) request: Request,
    pub(crate) client: Client,
    omitted: Vec<Parameter>,
}

impl Fallback {
    /// None if the caller needs every part of the request.
    pub(crate) fn of(request: Request, client: &Client) -> Option<Self> {
        let is_reducible = request.may_omit.iter().any(|parameter| request.has(*parameter));
        is_reducible.then(|| Self { request, client: client.clone(), omitted: Vec::new() })
    }

    /// Takes out the parameter that a failure is about. Returns false if there is none.
    pub(crate) fn reduce(&mut self, kind: Kind, failure: &Failure) -> bool {
        let Some(parameter) = rejected(kind, &self.request, failure) else { return false };
        self.request.omit(parameter);
        self.omitted.push(parameter);
        true
    }

    /// Remembers what the server accepted the request without.
    pub(crate) fn accepted(self, omissions: &Omissions) {
        if !self.omitted.is_empty() {
            omissions.add(&self.request.model, &self.omitted);
        }
    }
}

/// The parameter to leave out after a failure.
fn rejected(kind: Kind, request: &Request, failure: &Failure) -> Option<Parameter> {
    if failure.kind != FailureKind::Rejected || !matches!(failure.status, Some(400 | 422)) {
        return None;
    }
    let mut omittable = request.may_omit.iter().copied().filter(|parameter| request.has(*parameter));
    // Anthropic names a field in its message only, and Gemini sometimes.
    let texts = failure.parameter.iter().chain([&failure.message]);
    let mut named =
        texts.flat_map(|text| omittable.clone().find(|parameter| is_named(kind, *parameter, text)));
    named.next().or_else(|| omittable.next().filter(|_| failure.parameter.is_none()))
}

/// True if a text has the wire's name of a parameter as a word.
fn is_named(kind: Kind, parameter: Parameter, text: &str) -> bool {
    let names: &[&str] = match (parameter, kind) {
        (Parameter::Seed, _) => &["seed"],
        (Parameter::Temperature, _) => &["temperature"],
        (Parameter::OutputSchema, Kind::Anthropic) => &["outputconfig", "outputformat"],
        (Parameter::OutputSchema, Kind::OpenaiResponses) => &["text.format", "responseformat"],
        (Parameter::OutputSchema, Kind::OpenaiChat) => &["responseformat"],
        (Parameter::OutputSchema, Kind::Gemini) => {
            &["responsejsonschema", "responseschema", "responsemimetype"]
        }
    };
    // Gemini names its fields in either spelling.
    let plain: String = text.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    names.iter().any(|name| has_word(&plain, name))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests;
