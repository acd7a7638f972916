//! Before something is said: whether the persona is there, and whether a model could answer it.

use std::collections::BTreeMap;
use std::path::Path;

use agent::Session as Talk;
use app::ErrorKind;
use app::inputs::GetPersona;
use app::running::Runtime;
use persona::{Kind, PreferredModel};
use providers::{Found, Key, Providers};

use crate::failure::{Failure, Result};
use crate::output::{Output, Warning};
use crate::project::Project;
use crate::session::Session;

/// The variable that says where Ollama listens.
const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// Sees that a session can be answered, and says which of the persona's models cannot.
pub(in crate::commands) async fn ready(
    runtime: &Runtime,
    found: &[Found],
    talk: &Talk,
    session: &Session,
    output: &mut Output,
) -> Result<()> {
    let input = GetPersona {
        name: talk.persona.clone(),
        detail: false,
        overrides: None,
        types: None,
        limit: None,
        max_tokens: None,
        compiled: false,
        revision: None,
        scope: talk.scope,
    };
    let preferred = match runtime.library().get_persona(&input).await {
        Ok(loaded) => loaded.view().preferred_models.clone(),
        Err(error) => return Err(elsewhere(error, talk, session)),
    };
    // Whoever names a model is told by the answer what is wrong with it.
    if talk.model.is_some() {
        return Ok(());
    }
    let is_usable = |found: &Found| !matches!(found.key, Key::Missing(_));
    if !found.is_empty() && !found.iter().any(is_usable) && !has_local_model().await {
        return Err(Failure::told(ErrorKind::Denied, without_key(found)));
    }
    output.warn(&skipped(found, talk, &preferred))
}

/// The persona may be known where the session was begun.
fn elsewhere(error: app::Error, talk: &Talk, session: &Session) -> Failure {
    let is_missing = matches!(&error, app::Error::Missing { kind: Kind::Persona, .. });
    let (Some(root), true) = (talk.root.as_deref(), is_missing) else { return error.into() };
    let home = session.directories.as_ref().map(|directories| directories.home.as_path());
    let root = Path::new(root);
    let theirs = Project::around(root, home).map_or_else(|| root.to_path_buf(), |project| project.root);
    let here = session.project.as_ref().map(|project| project.root.clone());
    let is_here = here.is_some_and(|here| here.canonicalize().ok() == theirs.canonicalize().ok());
    if is_here {
        return error.into();
    }
    let (id, theirs) = (talk.id, theirs.display());
    Failure::told(
        ErrorKind::Missing,
        format!(
            "{error}. Session {id} belongs to {theirs}: go on there, or with `masque --project {theirs} …`"
        ),
    )
}

fn without_key(found: &[Found]) -> String {
    let each = found.iter().map(|found| {
        let problem = found.problem.as_deref().unwrap_or("it has no key");
        format!("[providers.{}]: {problem}", found.name)
    });
    let each: Vec<String> = each.collect();
    format!(
        "no provider that is set up can be called. {}. Set the variable, or take the provider out of \
         config.toml; `masque doctor` tries them",
        each.join(". ")
    )
}

/// What the persona would rather have, and why it does not get it.
fn skipped(found: &[Found], talk: &Talk, preferred: &[PreferredModel]) -> Vec<Warning> {
    let mut told: BTreeMap<&str, Warning> = BTreeMap::new();
    for PreferredModel { provider, model, .. } in preferred {
        let why = match found.iter().find(|found| found.name == *provider) {
            Some(Found { key: Key::Present(_) | Key::NotNeeded, .. }) => break,
            Some(found) => found.problem.clone().unwrap_or_else(|| "it has no key".to_owned()),
            None => format!("no [providers.{provider}] is set up"),
        };
        let persona = &talk.persona;
        let sentence = format!("{persona} prefers {provider}/{model}, which is passed over: {why}");
        told.entry(provider).or_insert(Warning::Said(sentence));
    }
    told.into_values().collect()
}

/// Whether a model on this machine answers where no other can.
async fn has_local_model() -> bool {
    let environment = |name: &str| (name == OLLAMA_HOST).then(|| std::env::var(name).ok()).flatten();
    let Ok(mut local) = Providers::build(BTreeMap::new(), &environment) else { return false };
    local.find_local().await;
    local.names().next().is_some()
}
