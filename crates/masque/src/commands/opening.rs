//! Sessions: a new one, or an earlier one that somebody names by the beginning of its id.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::Session;
use app::ErrorKind;
use app::running::{CreateSession, IdPrefix, Runtime, SessionView};
use persona::Name;
use uuid::Uuid;

use crate::cli::Opening;
use crate::failure::{Failure, Result};
use crate::output::one_line;

/// The fewest characters of an id that may stand for it.
const LEAST_PREFIX: usize = 4;
/// Characters of an id that are shown, unless more are needed to tell sessions apart.
const SHOWN_PREFIX: usize = 8;
/// Sessions that are named where several could be meant.
const NAMED: usize = 5;

/// Makes a session, or takes up the one that was named, as the user wants it.
pub(super) async fn open(
    runtime: &Runtime,
    name: Option<Name>,
    opening: &Opening,
) -> Result<(SessionView, bool)> {
    let Some(id) = &opening.session else {
        let Some(persona) = name else {
            return Err(Failure::invalid("name a persona, or a session with --session"));
        };
        let created = runtime.create_session(CreateSession {
            persona,
            scope: opening.only.scope,
            mode: opening.mode().map(|mode| mode.to_string()),
            model: opening.model.as_ref().map(ToString::to_string),
            overrides: BTreeMap::new(),
            root: opening.root.as_deref().map(absolute).transpose()?,
        });
        return Ok((created.await?, true));
    };
    let id = find(runtime, id).await?;
    let view = runtime.session(id).await?;
    let persona = name.unwrap_or_else(|| view.session.persona.clone());
    let scope = opening.only.scope;
    if persona != view.session.persona || (scope.is_some() && scope != view.session.scope) {
        runtime.set_persona(id, persona, scope).await?;
    }
    if let Some(mode) = opening.mode().filter(|mode| *mode != view.session.mode) {
        runtime.set_mode(id, mode).await?;
    }
    if let Some(model) = opening.model.as_ref().filter(|model| view.session.model.as_ref() != Some(model)) {
        runtime.set_model(id, Some(model.clone())).await?;
    }
    Ok((runtime.session(id).await?, false))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Failure::file("find", path, &error))
}

/// The session that an id, or the beginning of one, stands for.
pub(super) async fn find(runtime: &Runtime, text: &str) -> Result<Uuid> {
    let found = matching(runtime, text).await?;
    match found.as_slice() {
        [] => Err(missing(text)),
        [one] => Ok(*one),
        several => Err(ambiguous(text, several)),
    }
}

/// The sessions whose id is this one, or begins so; a handful, where many do.
pub(super) async fn matching(runtime: &Runtime, text: &str) -> Result<Vec<Uuid>> {
    let text = text.trim().to_lowercase();
    if let Ok(id) = text.parse::<Uuid>() {
        return match runtime.session(id).await {
            Ok(view) => Ok(vec![view.session.id]),
            Err(error) if error.kind() == ErrorKind::Missing => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        };
    }
    let Some(prefix) = IdPrefix::parse(&text).filter(|_| text.len() >= LEAST_PREFIX) else {
        return Err(Failure::invalid(format!(
            "{:?} is no session's id; give at least its first {LEAST_PREFIX} characters, as `masque sessions` shows them",
            one_line(&text)
        )));
    };
    // One more than are named, which tells whether there are more.
    Ok(runtime.sessions_beginning(&prefix, NAMED + 1).await?)
}

fn missing(text: &str) -> Failure {
    let message = format!("there is no session {:?}; `masque sessions` lists them", one_line(text));
    Failure::told(ErrorKind::Missing, message)
}

pub(super) fn ambiguous(text: &str, several: &[Uuid]) -> Failure {
    let named: Vec<String> = several.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if several.len() > NAMED { ", …" } else { "" };
    Failure::invalid(format!("{text:?} may be any of {}{more}; give more of the id", named.join(", ")))
}

/// As much of each id as tells these sessions apart.
pub(super) fn short_ids(sessions: &[Session]) -> usize {
    let mut ids: Vec<String> = sessions.iter().map(|session| session.id.to_string()).collect();
    ids.sort();
    let shared = |pair: &[String]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    let longest = ids.windows(2).map(shared).max().unwrap_or(0);
    // A dash says nothing.
    let shown = (longest + 1).max(SHOWN_PREFIX);
    if matches!(shown, 9 | 14 | 19 | 24) { shown + 1 } else { shown }
}
