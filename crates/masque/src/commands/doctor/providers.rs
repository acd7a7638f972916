//! Checks the model providers.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use llm::{Failure as CallFailure, FailureKind};
use providers::{Key, Origin, ProviderInfo, Providers};
use serde::Serialize;

use super::DoctorProblem;
use crate::failure::Result;
use crate::output::Output;
use crate::runtime::AllowedConnections;

/// Maximum time of a provider to list its models.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Serialize)]
pub(super) struct ProviderReport {
    #[serde(flatten)]
    found: ProviderInfo,
    /// True if it comes from the trusted project.
    of_project: bool,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Answers,
    KeyMissing,
    DoesNotAnswer,
}

/// Checks all providers concurrently.
pub(super) async fn examine(
    allowed: &AllowedConnections,
    problems: &mut Vec<DoctorProblem>,
) -> Vec<ProviderReport> {
    let built = Providers::build(allowed.providers.clone(), &|name| std::env::var(name).ok());
    let mut providers = match built {
        Ok(providers) => providers,
        Err(error) => {
            problems.push(DoctorProblem::new(error.to_string(), "fix or unset the variable"));
            return Vec::new();
        }
    };
    providers.find_local().await;
    let providers = &providers;
    let asked = providers.found().map(|found| ask(found, providers, &allowed.project_providers));
    let reports = join_all(asked).await;
    problems.extend(reports.iter().filter_map(ProviderReport::problem));
    reports
}

async fn ask(found: &ProviderInfo, providers: &Providers, of_project: &BTreeSet<String>) -> ProviderReport {
    let report = |state, models, error| ProviderReport {
        found: found.clone(),
        of_project: of_project.contains(&found.name),
        state,
        models,
        error,
    };
    if let Some(problem) = &found.problem {
        return report(State::KeyMissing, None, Some(format!("{}: {problem}", found.name)));
    }
    let Some(provider) = providers.get(&found.name) else { return report(State::DoesNotAnswer, None, None) };
    let answer = tokio::time::timeout(PATIENCE, provider.models()).await;
    match answer {
        Ok(Ok(models)) => report(State::Answers, Some(models.len()), None),
        // A provider without a list of models may still work.
        Ok(Err(CallFailure { status: Some(404 | 405), .. })) => report(State::Answers, None, None),
        Ok(Err(failure)) => report(State::DoesNotAnswer, None, Some(advised(&failure, found))),
        Err(_) => {
            let (name, seconds) = (&found.name, PATIENCE.as_secs());
            let message = format!("{name}: no answer within {seconds} s; {}", advice(None, found));
            report(State::DoesNotAnswer, None, Some(message))
        }
    }
}

fn advised(failure: &CallFailure, found: &ProviderInfo) -> String {
    let message = &failure.message;
    // Without a response, the settings are invalid.
    if failure.kind == FailureKind::Rejected && failure.status.is_none() {
        return format!("{message}; check [providers.{}]", found.name);
    }
    format!("{message}; {}", advice(Some(failure.kind), found))
}

fn advice(kind: Option<FailureKind>, found: &ProviderInfo) -> String {
    match (kind, &found.key) {
        (Some(FailureKind::Unauthorized), Key::Present(variable)) => {
            format!("check the key in {variable}")
        }
        (Some(FailureKind::Unauthorized), _) => {
            format!("set api_key_env in [providers.{}] to the variable with the key", found.name)
        }
        (Some(FailureKind::RateLimited), _) => "wait, or check your quota".to_owned(),
        (Some(FailureKind::Rejected | FailureKind::UnknownModel | FailureKind::ContextExceeded), _) => {
            format!("check kind ({}) and base_url", found.kind)
        }
        (Some(FailureKind::Transport) | None, _) => {
            "check that it runs, its base_url and the proxy".to_owned()
        }
    }
}

impl ProviderReport {
    fn problem(&self) -> Option<DoctorProblem> {
        let name = &self.found.name;
        let advice = match self.state {
            State::Answers => return None,
            State::KeyMissing => format!("set it, or remove [providers.{name}]"),
            State::DoesNotAnswer => format!("until then, personas that prefer {name} use their next model"),
        };
        // The error begins with the name of the provider.
        let error = self.error.as_deref().unwrap_or(name);
        Some(DoctorProblem::new(format!("provider {error}"), advice))
    }

    fn print(&self, output: &mut Output) -> Result<()> {
        let ProviderInfo { name, kind, base_url, from, key, problem, .. } = &self.found;
        let from = match from {
            Origin::Config if self.of_project => "from the project".to_owned(),
            Origin::Config => "from config.toml".to_owned(),
            Origin::Environment(variable) => format!("found by {variable}"),
            Origin::Local => "found on this machine".to_owned(),
        };
        let key = match key {
            Key::Present(variable) => format!("key in {variable}"),
            Key::Missing(_) => problem.clone().unwrap_or_default(),
            Key::NotNeeded => "no key needed".to_owned(),
        };
        let state = match (self.state, self.models) {
            (State::Answers, Some(1)) => "answers, 1 model".to_owned(),
            (State::Answers, Some(models)) => format!("answers, {models} models"),
            (State::Answers, None) => "answers, lists no models".to_owned(),
            (State::KeyMissing, _) => "not checked".to_owned(),
            (State::DoesNotAnswer, _) => "does not answer".to_owned(),
        };
        output.field("provider", &format!("{name}: {state}\n{kind} at {base_url}, {from}; {key}"))
    }
}

pub(super) fn print(providers: &[ProviderReport], output: &mut Output) -> Result<()> {
    if providers.is_empty() {
        let none = "none; a scripted rehearsal answers. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, \
                    start Ollama or llama.cpp, or add [providers.NAME] to config.toml";
        return output.field("provider", none);
    }
    providers.iter().try_for_each(|provider| provider.print(output))
}
