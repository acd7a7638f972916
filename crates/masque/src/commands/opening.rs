//! Sessions: a new one, or an earlier one that somebody names by the beginning of its id.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::Session;
use app::Code;
use app::running::{CreateSession, IdPrefix, Runtime, SessionView};
use futures::future::try_join_all;
use persona::Name;
use uuid::Uuid;

use crate::cli::Opening;
use crate::failure::{Failure, Result};
use crate::output::one_line;

mod ready;
pub(super) use ready::ready;

/// The fewest characters of an id that may stand for it.
const LEAST_PREFIX: usize = 4;
/// Characters of an id that are shown, unless more are needed to tell sessions apart.
const SHOWN_PREFIX: usize = 8;
/// Ids that are looked for at the same time.
const ASKED_AT_ONCE: usize = 8;
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
            Err(error) if error.code() == Code::UnknownSession => Ok(Vec::new()),
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
    Failure::told(Code::UnknownSession, message)
}

pub(super) fn ambiguous(text: &str, several: &[Uuid]) -> Failure {
    let named: Vec<String> = several.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if several.len() > NAMED { ", …" } else { "" };
    Failure::invalid(format!("{text:?} may be any of {}{more}; give more of the id", named.join(", ")))
}

/// As many characters of these sessions' ids as tell each of them from every other session.
pub(super) async fn short_ids(runtime: &Runtime, sessions: &[Session]) -> Result<usize> {
    let mut ids: Vec<String> = sessions.iter().map(|session| session.id.to_string()).collect();
    ids.sort();
    let among = ids.windows(2).map(|pair| shared(&pair[0], &pair[1])).max().unwrap_or(0);
    let mut shown = clear_of(among);
    loop {
        let mut longest = shown;
        for some in ids.chunks(ASKED_AT_ONCE) {
            let others = some.iter().map(|id| others(runtime, id, shown));
            for (id, others) in some.iter().zip(try_join_all(others).await?) {
                let most = others.iter().map(|other| clear_of(shared(id, other))).max();
                longest = longest.max(most.unwrap_or(0));
            }
        }
        if longest == shown {
            return Ok(shown);
        }
        shown = longest;
    }
}

/// Ids of some other sessions that begin as this one's does.
async fn others(runtime: &Runtime, id: &str, shown: usize) -> Result<Vec<String>> {
    let Some(prefix) = IdPrefix::parse(id.get(..shown).unwrap_or(id)) else { return Ok(Vec::new()) };
    let found = runtime.sessions_beginning(&prefix, NAMED).await?;
    Ok(found.iter().map(ToString::to_string).filter(|other| other != id).collect())
}

/// How many characters two ids have in common.
fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// How many characters show one more than what is shared; a dash says nothing.
fn clear_of(shared: usize) -> usize {
    let shown = (shared + 1).max(SHOWN_PREFIX);
    if matches!(shown, 9 | 14 | 19 | 24) { shown + 1 } else { shown }
}
