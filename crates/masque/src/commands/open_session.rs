//! Creates sessions, and finds existing ones by their id or a part of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agent::{Session, TurnBody};
use app::Code;
use app::running::{CreateSession, Greeting, IdPrefix, IdSuffix, ListSessions, Runtime, SessionView};
use persona::Name;
use uuid::Uuid;

use crate::cli::SessionOptions;
use crate::failure::{CommandError, Failure, Result};
use crate::output::one_line;
use crate::project::Project;

mod ready;
pub(super) use ready::check_ready;

/// Minimum length of a shortened id.
const LEAST: usize = 4;
/// Shown characters at the end of an id, unless more are needed to tell all sessions apart.
pub(crate) const SHORT_ID: usize = 6;
/// Maximum number of sessions in the error for an ambiguous id.
const NAMED: usize = 5;
/// Sessions per read.
const PAGE: usize = 200;

/// Creates a session, or applies the options to an existing one. Returns true for a new one, which
/// opens with `greeting` unless the options choose another.
pub(super) async fn open(
    runtime: &Runtime,
    name: Option<Name>,
    options: &SessionOptions,
    greeting: Option<Greeting>,
) -> Result<(SessionView, bool)> {
    let Some(id) = &options.session else {
        let Some(persona) = name else {
            let example = "`masque chat mentor` or `masque chat --session ID`".to_owned();
            return Err(CommandError::MissingArgument { argument: "NAME", example }.into());
        };
        let created = runtime.create_session(CreateSession {
            persona,
            scope: options.only.scope,
            mode: options.mode().map(|mode| mode.to_string()),
            model: options.model.as_ref().map(ToString::to_string),
            overrides: options.overrides()?,
            root: options.root.as_deref().map(absolute).transpose()?,
            greeting: options.greeting.map(Greeting::Number).or(greeting),
        });
        return Ok((created.await?, true));
    };
    let id = find(runtime, id).await?;
    let view = runtime.session(id).await?;
    let persona = name.unwrap_or_else(|| view.session.persona.clone());
    let scope = options.only.scope;
    if persona != view.session.persona || (scope.is_some() && scope != view.session.scope) {
        runtime.set_persona(id, persona, scope).await?;
    }
    if let Some(mode) = options.mode().filter(|mode| *mode != view.session.mode) {
        runtime.set_mode(id, mode).await?;
    }
    if let Some(model) = options.model.as_ref().filter(|model| view.session.model.as_ref() != Some(model)) {
        runtime.set_model(id, Some(model.clone())).await?;
    }
    Ok((runtime.session(id).await?, false))
}

/// True if the user has not said anything: the session has at most a greeting.
pub(super) fn is_unused(view: &SessionView) -> bool {
    !view.turns.iter().any(|turn| matches!(turn.body, TurnBody::User { .. }))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Failure::file("find", path, &error))
}

/// Finds the session with this id, or the only one whose id begins or ends like this.
pub(super) async fn find(runtime: &Runtime, text: &str) -> Result<Uuid> {
    let found = matching(runtime, text).await?;
    match found.as_slice() {
        [] => Err(missing(text)),
        [one] => Ok(*one),
        several => Err(ambiguous(text, several)),
    }
}

/// The sessions with this id, or whose id begins or ends like this, up to a limit.
pub(super) async fn matching(runtime: &Runtime, text: &str) -> Result<Vec<Uuid>> {
    let text = text.trim().to_lowercase();
    if let Ok(id) = text.parse::<Uuid>() {
        return match runtime.session(id).await {
            Ok(view) => Ok(vec![view.session.id]),
            Err(error) if error.code() == Code::UnknownSession => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        };
    }
    let (prefix, suffix) = (IdPrefix::parse(&text), IdSuffix::parse(&text));
    if text.len() < LEAST || (prefix.is_none() && suffix.is_none()) {
        return Err(CommandError::InvalidSessionId { text: one_line(&text), least: LEAST }.into());
    }
    // One more than shown, to know if there are more.
    let mut found = BTreeSet::new();
    if let Some(prefix) = prefix {
        found.extend(runtime.sessions_beginning(&prefix, NAMED + 1).await?);
    }
    if let Some(suffix) = suffix {
        found.extend(runtime.sessions_ending(&suffix, NAMED + 1).await?);
    }
    // The newest first, because ids begin with the time.
    Ok(found.into_iter().rev().collect())
}

fn missing(text: &str) -> Failure {
    CommandError::UnknownSession { text: one_line(text) }.into()
}

pub(super) fn ambiguous(text: &str, several: &[Uuid]) -> Failure {
    let sessions = several.iter().take(NAMED).copied().collect();
    CommandError::AmbiguousSession { text: text.to_owned(), sessions }.into()
}

/// The last characters of an id.
pub(super) fn short(id: Uuid, length: usize) -> String {
    let id = id.to_string();
    id[id.len().saturating_sub(length)..].to_owned()
}

/// The session that was used last, of a persona if one is given, and in this project.
pub(super) async fn last(
    runtime: &Runtime,
    persona: Option<&Name>,
    root: Option<&Path>,
    home: Option<&Path>,
) -> Result<Uuid> {
    let is_here = |session: &Session| match (&session.root, root) {
        (Some(of_session), Some(root)) => is_of_project(Path::new(of_session), root, home),
        (of_session, root) => of_session.is_none() && root.is_none(),
    };
    let mut cursor = None;
    loop {
        let input = ListSessions { persona: persona.cloned(), limit: Some(PAGE), cursor };
        let page = runtime.sessions(input).await?;
        if let Some(session) = page.items.iter().find(|session| is_here(session)) {
            return Ok(session.id);
        }
        cursor = match page.next_cursor {
            Some(cursor) => Some(cursor),
            None => return Err(CommandError::NothingToContinue { persona: persona.cloned() }.into()),
        };
    }
}

/// True if a directory is in a project, and not in another one below it.
fn is_of_project(directory: &Path, project: &Path, home: Option<&Path>) -> bool {
    let (directory, project) = (canonical(directory), canonical(project));
    let around = canonical(&project_around(&directory, home));
    directory == project
        || directory.starts_with(&project) && (around == project || !around.starts_with(&project))
}

/// The root of the project around a directory: the directory itself if there is none.
fn project_around(directory: &Path, home: Option<&Path>) -> PathBuf {
    Project::around(directory, home).map_or_else(|| directory.to_owned(), |project| project.root)
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::is_of_project;

    #[test]
    fn a_session_belongs_to_the_nearest_project() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |path: &str| directory.path().join(path);
        for path in ["shop/src", "shop/vendor/lib/src", "plain/inner"] {
            std::fs::create_dir_all(at(path)).expect("a directory");
        }
        for path in ["shop/personas.toml", "shop/vendor/lib/personas.toml"] {
            std::fs::write(at(path), "").expect("a file");
        }
        let check = |session: &str, project: &str, expected: bool| {
            assert_eq!(is_of_project(&at(session), &at(project), None), expected, "{session} in {project}");
        };
        check("shop", "shop", true);
        check("shop/src", "shop", true);
        check("shop/vendor/lib", "shop", false);
        check("shop/vendor/lib/src", "shop", false);
        check("shop/vendor/lib/src", "shop/vendor/lib", true);
        check("shop", "shop/vendor/lib", false);
        // A directory that `--project` names is a project without a file.
        check("shop/src", "shop/src", true);
        check("plain", "plain", true);
        check("plain/inner", "plain", false);
    }
}
