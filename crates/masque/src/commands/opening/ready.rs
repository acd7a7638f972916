//! Before something is said: whether the persona is there, and whether a model could answer it.

use std::collections::BTreeMap;
use std::path::Path;

use agent::{ErrorCode, Session as Talk};
use app::Code;
use app::inputs::ByName;
use app::running::Runtime;
use persona::{Kind, Persona, PreferredModel};
use providers::Providers;

use crate::commands::answer::with_advice;
use crate::failure::{Failure, Result};
use crate::output::{Output, Warning};
use crate::project::Project;
use crate::session::Session;

/// The providers that are set up, each with why every call of it fails, where that is so.
type SetUp<'a> = BTreeMap<&'a str, Option<&'a str>>;

/// Sees that a session can be answered, and says which of the persona's models cannot.
pub(in crate::commands) async fn ready(
    runtime: &Runtime,
    talk: &Talk,
    session: &Session,
    output: &mut Output,
) -> Result<()> {
    let input = ByName { name: talk.persona.clone(), scope: talk.scope };
    let persona = runtime.library().flat(&input).await.map_err(|error| elsewhere(error, talk, session))?;
    // Whoever names a model is told by the answer what is wrong with it.
    if talk.model.is_some() {
        return Ok(());
    }
    let set_up: SetUp<'_> =
        runtime.providers().map(|found| (found.name.as_str(), found.problem.as_deref())).collect();
    let without_key = runtime.without_key();
    let wants_local = persona.preferred_models.iter().any(|model| {
        let provider = model.provider.as_str();
        Providers::LOCAL.contains(&provider) && !set_up.contains_key(provider)
    });
    // Looking around on this machine takes a moment.
    let local =
        if without_key.is_some() || wants_local { runtime.local_providers().await } else { Vec::new() };
    if let Some(why) = without_key {
        let why = with_advice(ErrorCode::Unauthorized, &why);
        if local.is_empty() {
            return Err(Failure::told(Code::NoKey, why));
        }
        output.warn(&[Warning::Said(format!("{}, which is on this machine, answers: {why}", local[0]))])?;
    }
    let set_up = local.into_iter().map(|name| (name, None)).chain(set_up).collect();
    output.warn(&skipped(&set_up, &persona))
}

/// The persona may be known where the session was begun.
fn elsewhere(error: app::Error, talk: &Talk, session: &Session) -> Failure {
    let is_missing = matches!(&error, app::Error::NotFound { kind: Kind::Persona, .. });
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
        Code::NotFound,
        format!(
            "{error}. Session {id} belongs to {theirs}: go on there, or with `masque --project {theirs} …`"
        ),
    )
}

/// What the persona would rather have, and why it does not get it.
fn skipped(set_up: &SetUp<'_>, persona: &Persona) -> Vec<Warning> {
    let mut told: BTreeMap<&str, Warning> = BTreeMap::new();
    for PreferredModel { provider, model, .. } in &persona.preferred_models {
        let why = match set_up.get(provider.as_str()) {
            Some(None) => break,
            Some(Some(problem)) => (*problem).to_owned(),
            None if Providers::LOCAL.contains(&provider.as_str()) => "it does not answer here".to_owned(),
            None => format!("no [providers.{provider}] is set up"),
        };
        let sentence = format!("{} prefers {provider}/{model}, which is passed over: {why}", persona.name);
        told.entry(provider).or_insert(Warning::Said(sentence));
    }
    told.into_values().collect()
}
