//! The providers of models: which there are, where each comes from, and whether it answers.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use llm::{Failure as CallFailure, FailureKind};
use providers::{Found, Key, Origin, Providers};
use serde::Serialize;

use super::Problem;
use crate::failure::Result;
use crate::output::Output;
use crate::runtime::Reach;

/// How long a provider may take to say which models it has.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Serialize)]
pub(super) struct ProviderReport {
    #[serde(flatten)]
    found: Found,
    /// Whether a project that is trusted names it.
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

/// Asks all of them at the same time.
pub(super) async fn examine(reach: &Reach, problems: &mut Vec<Problem>) -> Vec<ProviderReport> {
    let built = Providers::build(reach.providers.clone(), &|name| std::env::var(name).ok());
    let mut providers = match built {
        Ok(providers) => providers,
        Err(error) => {
            problems.push(Problem::new(error.to_string(), "correct the variable, or unset it"));
            return Vec::new();
        }
    };
    providers.find_local().await;
    let providers = &providers;
    let asked = providers.found().map(|found| ask(found, providers, &reach.project_providers));
    let reports = join_all(asked).await;
    problems.extend(reports.iter().filter_map(ProviderReport::problem));
    reports
}

async fn ask(found: &Found, providers: &Providers, of_project: &BTreeSet<String>) -> ProviderReport {
    let report = |state, models, error| ProviderReport {
        found: found.clone(),
        of_project: of_project.contains(&found.name),
        state,
        models,
        error,
    };
    if let Some(problem) = &found.problem {
        return report(State::KeyMissing, None, Some(problem.clone()));
    }
    let Some(provider) = providers.get(&found.name) else { return report(State::DoesNotAnswer, None, None) };
    let answer = tokio::time::timeout(PATIENCE, provider.models()).await;
    match answer {
        Ok(Ok(models)) => report(State::Answers, Some(models.len()), None),
        // Whoever has no list of models may still have models.
        Ok(Err(CallFailure { status: Some(404 | 405), .. })) => report(State::Answers, None, None),
        Ok(Err(failure)) => report(State::DoesNotAnswer, None, Some(advised(&failure, found))),
        Err(_) => {
            let message = format!("no answer within {} s; {}", PATIENCE.as_secs(), advice(None, found));
            report(State::DoesNotAnswer, None, Some(message))
        }
    }
}

fn advised(failure: &CallFailure, found: &Found) -> String {
    // The report names the provider already.
    let own = format!("{}: ", found.name);
    let message = failure.message.strip_prefix(&own).unwrap_or(&failure.message);
    // What nobody has answered yet is a setting that cannot work.
    if failure.kind == FailureKind::Rejected && failure.status.is_none() {
        return format!("{message}; look at [providers.{}]", found.name);
    }
    format!("{message}; {}", advice(Some(failure.kind), found))
}

fn advice(kind: Option<FailureKind>, found: &Found) -> String {
    match (kind, &found.key) {
        (Some(FailureKind::Unauthorized), Key::Present(variable)) => {
            format!("look at the key in {variable}")
        }
        (Some(FailureKind::Unauthorized), _) => {
            format!("name the variable that holds the key: api_key_env in [providers.{}]", found.name)
        }
        (Some(FailureKind::RateLimited), _) => "wait, or look at what is left of your quota".to_owned(),
        (Some(FailureKind::Rejected | FailureKind::UnknownModel | FailureKind::ContextExceeded), _) => {
            format!("look at kind ({}) and base_url", found.kind)
        }
        (Some(FailureKind::Transport) | None, _) => {
            "see that it runs, that base_url is right and that no proxy is in the way".to_owned()
        }
    }
}

impl ProviderReport {
    fn problem(&self) -> Option<Problem> {
        let (name, error) = (&self.found.name, self.error.as_deref().unwrap_or("no answer"));
        let advice = match self.state {
            State::Answers => return None,
            State::KeyMissing => format!("set it, or take [providers.{name}] out"),
            State::DoesNotAnswer => format!("personas that prefer {name} use their next model until then"),
        };
        Some(Problem::new(format!("provider {name}: {error}"), advice))
    }

    fn print(&self, output: &mut Output) -> Result<()> {
        let Found { name, kind, base_url, from, key, problem, .. } = &self.found;
        let from = match from {
            Origin::Config if self.of_project => "from the project".to_owned(),
            Origin::Config => "from config.toml".to_owned(),
            Origin::Environment(variable) => format!("because {variable} is set"),
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
            (State::KeyMissing, _) => "not tried".to_owned(),
            (State::DoesNotAnswer, _) => "does not answer".to_owned(),
        };
        output.field("provider", &format!("{name}: {state}\n{kind} at {base_url}, {from}; {key}"))
    }
}

pub(super) fn print(providers: &[ProviderReport], output: &mut Output) -> Result<()> {
    if providers.is_empty() {
        let none = "none: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, start Ollama or llama.cpp, \
                    or write [providers.NAME] into config.toml; until then a rehearsal answers";
        return output.field("provider", none);
    }
    providers.iter().try_for_each(|provider| provider.print(output))
}
