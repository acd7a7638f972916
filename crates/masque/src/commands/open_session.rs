//! Creates sessions, and finds existing ones by a prefix of their id.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::{Session, TurnBody};
use app::Code;
use app::running::{CreateSession, Greeting, IdPrefix, Runtime, SessionView};
use futures::future::try_join_all;
use persona::Name;
use uuid::Uuid;

use crate::cli::SessionOptions;
use crate::failure::{CommandError, Failure, Result};
use crate::output::one_line;

mod ready;
pub(super) use ready::check_ready;

/// Minimum length of an id prefix.
const LEAST_PREFIX: usize = 4;
/// Shown characters of an id, unless more are needed to be unique.
const SHOWN_PREFIX: usize = 8;
/// Concurrent lookups of ids.
const CONCURRENT_LOOKUPS: usize = 8;
/// Maximum number of sessions in the error for an ambiguous prefix.
const NAMED: usize = 5;

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
            overrides: BTreeMap::new(),
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

/// Finds the session with this id or unique prefix.
pub(super) async fn find(runtime: &Runtime, text: &str) -> Result<Uuid> {
    let found = matching(runtime, text).await?;
    match found.as_slice() {
        [] => Err(missing(text)),
        [one] => Ok(*one),
        several => Err(ambiguous(text, several)),
    }
}

/// The sessions with this id or prefix, up to a limit.
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
        return Err(CommandError::InvalidSessionId { text: one_line(&text), least: LEAST_PREFIX }.into());
    };
    // One more than shown, to know if there are more.
    Ok(runtime.sessions_beginning(&prefix, NAMED + 1).await?)
}

fn missing(text: &str) -> Failure {
    CommandError::UnknownSession { text: one_line(text) }.into()
}

pub(super) fn ambiguous(text: &str, several: &[Uuid]) -> Failure {
    let sessions = several.iter().take(NAMED).copied().collect();
    CommandError::AmbiguousSession { text: text.to_owned(), sessions }.into()
}

/// The prefix length that makes the ids of these sessions unique among all sessions.
pub(super) async fn short_ids(runtime: &Runtime, sessions: &[Session]) -> Result<usize> {
    let mut ids: Vec<String> = sessions.iter().map(|session| session.id.to_string()).collect();
    ids.sort();
    let among = ids.windows(2).map(|pair| shared(&pair[0], &pair[1])).max().unwrap_or(0);
    let mut shown = clear_of(among);
    loop {
        let mut longest = shown;
        for some in ids.chunks(CONCURRENT_LOOKUPS) {
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

/// Ids of other sessions with the same prefix.
async fn others(runtime: &Runtime, id: &str, shown: usize) -> Result<Vec<String>> {
    let Some(prefix) = IdPrefix::parse(id.get(..shown).unwrap_or(id)) else { return Ok(Vec::new()) };
    let found = runtime.sessions_beginning(&prefix, NAMED).await?;
    Ok(found.iter().map(ToString::to_string).filter(|other| other != id).collect())
}

/// The length of the common prefix of two ids.
fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// The length that shows one character more than the shared prefix. A dash does not count.
fn clear_of(shared: usize) -> usize {
    let shown = (shared + 1).max(SHOWN_PREFIX);
    if matches!(shown, 9 | 14 | 19 | 24) { shown + 1 } else { shown }
}
