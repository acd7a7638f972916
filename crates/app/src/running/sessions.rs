//! Creating, reading and deleting sessions.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::path::PathBuf;

use agent::{Approval, Entry, Mode, Session, SessionStatus, Turn, TurnBody};
use chrono::{DateTime, SubsecRound as _, Utc};
use llm::{ModelRef, Usage};
use persona::{AssemblyRequest, Name, PartType, Persona, Scope, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sessions::{IdPrefix, IdSuffix, Parent, SessionFilter};
use uuid::Uuid;

use super::Runtime;
use super::leases::missing;
use crate::{ErrorKind, ModelError, Result, SessionError, ValueError};

/// A new session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateSession {
    pub persona: Name,
    /// The scope of the persona. Absent: the strongest scope that has it.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// `build` (the default) or `plan`.
    #[serde(default)]
    pub mode: Option<String>,
    /// `provider/model`, in place of the persona's own choice.
    #[serde(default)]
    pub model: Option<String>,
    /// Part type → the part that is used for it.
    #[serde(default)]
    pub overrides: BTreeMap<PartType, Name>,
    /// The directory that its tools may see, inside the project. Absent: the project.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// The persona's greeting that opens the session: its number from 1, or `first` for the first one
    /// if it has any. Absent or 0: none.
    #[serde(default)]
    pub greeting: Option<Greeting>,
}

/// A choice among the greetings of a persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number, or \"first\"")]
#[schemars(inline)]
pub enum Greeting {
    Number(u32),
    Word(GreetingWord),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum GreetingWord {
    First,
}

impl Greeting {
    /// The first greeting, if the persona has any.
    pub const FIRST: Self = Self::Word(GreetingWord::First);

    /// The chosen text. Fails if the persona has no greeting of that number.
    fn choose(self, persona: &Persona) -> Result<Option<&str>> {
        let greetings = &persona.greetings;
        let number = match self {
            Self::Number(0) => return Ok(None),
            Self::Word(GreetingWord::First) => return Ok(greetings.first().map(String::as_str)),
            Self::Number(number) => number,
        };
        let chosen = usize::try_from(number).ok().and_then(|number| greetings.get(number - 1));
        match chosen {
            Some(text) => Ok(Some(text)),
            None => {
                let (persona, count) = (persona.name.clone(), greetings.len());
                Err(SessionError::UnknownGreeting { persona, number, count }.into())
            }
        }
    }
}

/// Which sessions to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListSessions {
    pub persona: Option<Name>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

/// A session as fronts show it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionView {
    #[serde(flatten)]
    pub session: Session,
    pub turns: Vec<Turn>,
    /// Open approval requests, those of delegates included. Each names the session to answer.
    pub approvals: Vec<Approval>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionList {
    pub items: Vec<Session>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Runtime {
    #[boxed]
    pub async fn create_session(&self, input: CreateSession) -> Result<SessionView> {
        let CreateSession { persona, scope, mode, model, overrides, root, greeting } = input;
        let mode = match mode.as_deref() {
            None => Mode::default(),
            Some(mode) => mode.parse().map_err(ValueError::Mode)?,
        };
        let model = model.as_deref().map(str::parse::<ModelRef>).transpose();
        let model = model.map_err(|source| ModelError::Invalid { field: "model", source })?;
        if let Some(model) = &model {
            self.runner.starter.models.provider(&model.provider).await?;
        }
        // Fails early for a missing persona or a wrong override.
        let request =
            AssemblyRequest { overrides: overrides.clone(), ..AssemblyRequest::plain(View::Detail) };
        let loaded = self.library().load(&persona, scope, &request).await?;
        let assembled = self.library().assemble(&loaded.bundle, &request).await?;
        let greeting = greeting.map(|greeting| greeting.choose(&assembled.persona)).transpose()?.flatten();
        let root = self.runner.project.resolve(root.as_deref())?;
        let mut session = Session { mode, model, root, ..new_session(persona, scope, overrides) };
        let turns: Vec<Turn> =
            greeting.map(|text| greeting_turn(text, session.created_at)).into_iter().collect();
        let opening: Vec<Entry> = turns.iter().cloned().map(Entry::Turn).collect();
        self.runner.sessions.create_with_log(&session, &opening).await?;
        session.last_seq = i64::try_from(opening.len()).unwrap_or(i64::MAX);
        Ok(SessionView { session, turns, approvals: Vec::new() })
    }

    #[boxed]
    pub async fn session(&self, id: Uuid) -> Result<SessionView> {
        let store = &self.runner.sessions;
        let session = store.session(id).await?.ok_or_else(|| missing(id))?;
        let mut session = self.runner.settle(session).await?;
        // A delegate plans while a session above it plans.
        let above = self.runner.tree.above(&session).await?;
        session.mode = Mode::strictest(above.iter().map(|above| above.mode).chain([session.mode]));
        let turns = store.turns(id).await?;
        let approvals = self.runner.tree.open_approvals(&session).await?;
        Ok(SessionView { session, turns, approvals })
    }

    /// Lists sessions, the last used first. Delegates are left out.
    #[boxed]
    pub async fn sessions(&self, input: ListSessions) -> Result<SessionList> {
        let ListSessions { persona, limit, cursor } = input;
        let filter = SessionFilter { persona, parent: Parent::Top, status: None, limit, cursor };
        let page = self.runner.sessions.sessions(&filter).await?;
        let mut sessions = Vec::with_capacity(page.items.len());
        for session in page.items {
            sessions.push(self.runner.settle(session).await?);
        }
        Ok(SessionList { items: sessions, next_cursor: page.next })
    }

    /// Ids of sessions that begin with a prefix, the newest first, at most `limit`. Delegates are left
    /// out.
    #[boxed]
    pub async fn sessions_beginning(&self, prefix: &IdPrefix, limit: usize) -> Result<Vec<Uuid>> {
        Ok(self.runner.sessions.sessions_beginning(prefix, limit).await?)
    }

    /// Ids of sessions that end with a suffix, the newest first, at most `limit`. Delegates are left out.
    #[boxed]
    pub async fn sessions_ending(&self, suffix: &IdSuffix, limit: usize) -> Result<Vec<Uuid>> {
        Ok(self.runner.sessions.sessions_ending(suffix, limit).await?)
    }

    /// The number of characters at the end of an id that tell all sessions apart, at least `least`.
    #[boxed]
    pub async fn unique_end(&self, least: usize) -> Result<usize> {
        Ok(self.runner.sessions.unique_end(least).await?)
    }

    /// Returns false if there was none.
    #[boxed]
    pub async fn delete_session(&self, id: Uuid) -> Result<bool> {
        let was_there = match self.runner.sessions.delete(id).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {
                // Its process, or that of a delegate, may be gone.
                self.runner.end_gone_from(id).await?;
                self.runner.sessions.delete(id).await?
            }
            deleted => deleted?,
        };
        if let Some(live) = self.runner.live.find(id) {
            live.feed.close();
        }
        Ok(was_there)
    }
}

/// A greeting as the persona's first words.
fn greeting_turn(text: &str, created_at: DateTime<Utc>) -> Turn {
    let body = TurnBody::AssistantText { content: text.to_owned() };
    Turn { id: Uuid::now_v7(), created_at, body, provider_state: None }
}

/// An empty session.
pub(crate) fn new_session(
    persona: Name,
    scope: Option<Scope>,
    overrides: BTreeMap<PartType, Name>,
) -> Session {
    // As precise as the databases store it.
    let now = Utc::now().trunc_subsecs(6);
    Session {
        id: Uuid::now_v7(),
        persona,
        scope,
        mode: Mode::default(),
        status: SessionStatus::Idle,
        model: None,
        overrides,
        root: None,
        edits: None,
        duty: None,
        parent: None,
        parent_call: None,
        depth: 0,
        title: None,
        plan: None,
        answered_by: None,
        answered_since: None,
        usage: Usage::default(),
        cost: 0.0,
        unpriced_calls: 0,
        last_seq: 0,
        created_at: now,
        updated_at: now,
    }
}
