//! Checks before a message: the persona exists, and a model can answer.

use std::collections::BTreeMap;
use std::path::Path;

use agent::Session;
use app::inputs::ByName;
use app::running::Runtime;
use app::{Code, Remedy, Report};
use persona::{Kind, Persona, PreferredModel};
use providers::Providers;

use super::{canonical, project_around};
use crate::failure::{CommandError, Failure, Result};
use crate::output::{Output, Warning, WarningCode};
use crate::workspace::Workspace;

/// The configured providers. Each has the reason if all its calls fail.
type Configured<'a> = BTreeMap<&'a str, Option<&'a str>>;

/// Fails if no model can answer. Warns about models of the persona that cannot.
pub(in crate::commands) async fn check_ready(
    runtime: &Runtime,
    session: &Session,
    workspace: &Workspace,
    output: &mut Output,
) -> Result<()> {
    let input = ByName { name: session.persona.clone(), scope: session.scope };
    let persona =
        runtime.library().flat(&input).await.map_err(|error| missing_here(error, session, workspace))?;
    // The run reports errors of an explicitly chosen model.
    if session.model.is_some() {
        return Ok(());
    }
    let configured: Configured<'_> =
        runtime.providers().map(|found| (found.name.as_str(), found.problem.as_deref())).collect();
    let without_key = runtime.without_key();
    let wants_local = persona.preferred_models.iter().any(|model| {
        let provider = model.provider.as_str();
        Providers::LOCAL.contains(&provider) && !configured.contains_key(provider)
    });
    // Finding local providers takes time.
    let local =
        if without_key.is_some() || wants_local { runtime.local_providers().await } else { Vec::new() };
    if let Some(why) = without_key {
        if local.is_empty() {
            let doctor = Remedy::Run { command: "masque doctor".to_owned() };
            return Err(Report::new(Code::NoKey, why).with_remedy(doctor).into());
        }
        let text = format!("using {} on this machine: {why}", local[0]);
        output.warn(&[Warning::new(WarningCode::LocalModel, text)])?;
    }
    let configured = local.into_iter().map(|name| (name, None)).chain(configured).collect();
    output.warn(&skipped(&configured, &persona))
}

/// Explains a missing persona if the session belongs to another project.
fn missing_here(error: app::Error, session: &Session, workspace: &Workspace) -> Failure {
    let is_missing = matches!(&error, app::Error::NotFound { kind: Kind::Persona, .. });
    let (Some(root), true) = (session.root.as_deref(), is_missing) else { return error.into() };
    let home = workspace.directories.as_ref().map(|directories| directories.home.as_path());
    let theirs = project_around(Path::new(root), home);
    let here = workspace.project.as_ref();
    let is_here = here.is_some_and(|here| canonical(&here.root) == canonical(&theirs));
    if is_here {
        return error.into();
    }
    let (name, project) = (session.persona.clone(), theirs.display().to_string());
    CommandError::PersonaElsewhere { name, id: session.id, project }.into()
}

/// Warnings about preferred models that cannot answer.
fn skipped(configured: &Configured<'_>, persona: &Persona) -> Vec<Warning> {
    let mut warnings: BTreeMap<&str, Warning> = BTreeMap::new();
    for PreferredModel { provider, model, .. } in &persona.preferred_models {
        let why = match configured.get(provider.as_str()) {
            Some(None) => break,
            Some(Some(problem)) => (*problem).to_owned(),
            None if Providers::LOCAL.contains(&provider.as_str()) => "it is not running".to_owned(),
            None => format!("[providers.{provider}] is not configured"),
        };
        let message = format!("skipping {provider}/{model}, which {} prefers: {why}", persona.name);
        warnings.entry(provider).or_insert(Warning::new(WarningCode::ModelSkipped, message));
    }
    warnings.into_values().collect()
}
