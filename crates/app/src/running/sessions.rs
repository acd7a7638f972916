//! The use cases of sessions.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{
    Approval, ApprovalPolicy, Entry, Event, LogEntry, Mode, Note, PlanStatus, RunOptions, Session,
    SessionStatus, Turn, TurnBody, limits,
};
use chrono::{SubsecRound as _, Utc};
use llm::{ModelRef, Usage};
use persona::{Name, PartType, Request, Scope, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sessions::{Answered, IdPrefix, Parent, SessionFilter};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::begin::{Begin, Starting};
use super::leases::{busy, missing};
use super::live::EventId;
use super::record::noted;
use super::subscription::{Subscription, Until};
use super::{Runtime, SessionRunner};
use crate::{ModelError, Result, SessionError, ValueError};

/// Entries of the log that undo reads at once.
const LOG_PAGE: usize = 500;
/// Retries of undo while others add to the log.
const UNDO_TRIES: usize = 5;

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

/// How a message is answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct SendOptions {
    pub policy: ApprovalPolicy,
    /// Continues when nobody watches.
    pub detached: bool,
    /// Replaces the persona's own limit.
    pub max_tool_rounds: Option<u32>,
}

/// The answer to an approval request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    pub approved: bool,
    pub reason: Option<String>,
    /// Counts for the tool until the session ends.
    pub remember: bool,
}

impl Runtime {
    #[boxed]
    pub async fn create_session(&self, input: CreateSession) -> Result<SessionView> {
        let CreateSession { persona, scope, mode, model, overrides, root } = input;
        let mode = match mode.as_deref() {
            None => Mode::default(),
            Some(mode) => mode.parse().map_err(ValueError::Mode)?,
        };
        let model = model.as_deref().map(str::parse::<ModelRef>).transpose();
        let model = model.map_err(|source| ModelError::Invalid { field: "model", source })?;
        if let Some(model) = &model {
            self.0.models.provider(&model.provider).await?;
        }
        // Fails early for a missing persona or a wrong override.
        let request = Request { overrides: overrides.clone(), ..Request::plain(View::Detail) };
        let loaded = self.0.library.load(&persona, scope, &request).await?;
        self.0.library.assemble(&loaded.bundle, &request).await?;
        let root = self.0.root(root.as_deref())?;
        let session = Session { mode, model, root, ..new_session(persona, scope, overrides) };
        self.0.store().create_session(&session).await?;
        Ok(SessionView { session, turns: Vec::new(), approvals: Vec::new() })
    }

    #[boxed]

    pub async fn session(&self, id: Uuid) -> Result<SessionView> {
        let store = self.0.store();
        let session = store.session(id).await?.ok_or_else(|| missing(id))?;
        let session = self.0.settle(session).await?;
        let turns = store.turns(id).await?;
        let approvals = self.0.pending(&session).await?;
        Ok(SessionView { session, turns, approvals })
    }

    /// Lists sessions, the last used first. Delegates are left out.
    #[boxed]
    pub async fn sessions(&self, input: ListSessions) -> Result<SessionList> {
        let ListSessions { persona, limit, cursor } = input;
        let filter = SessionFilter { persona, parent: Parent::Top, status: None, limit, cursor };
        let page = self.0.store().sessions(&filter).await?;
        let mut sessions = Vec::with_capacity(page.items.len());
        for session in page.items {
            sessions.push(self.0.settle(session).await?);
        }
        Ok(SessionList { items: sessions, next_cursor: page.next })
    }

    /// Ids of sessions that begin with a prefix, the newest first, at most `limit`. Delegates are left
    /// out.
    #[boxed]
    pub async fn sessions_beginning(&self, prefix: &IdPrefix, limit: usize) -> Result<Vec<Uuid>> {
        Ok(self.0.store().sessions_beginning(prefix, limit).await?)
    }

    /// Returns false if there was none.
    #[boxed]
    pub async fn delete_session(&self, id: Uuid) -> Result<bool> {
        let was_there = self.0.store().delete_session(id).await?;
        if let Some(live) = self.0.live.find(id) {
            live.delete();
        }
        Ok(was_there)
    }

    /// Sends a message to a session. The subscription yields the events of its run.
    #[boxed]
    pub async fn send(&self, id: Uuid, content: String, options: SendOptions) -> Result<Subscription> {
        check_message(&content)?;
        let SendOptions { policy, detached, max_tool_rounds } = options;
        let session = self.0.store().session(id).await?.ok_or_else(|| missing(id))?;
        self.0.end_if_cut_off(&session).await?;
        let live = self.0.live.get_or_insert(&session, None);
        // Watch first: a run without a viewer would be cancelled.
        let watched = live.watch();
        let starting = Starting {
            begin: Begin::Message { content, options: RunOptions { policy, max_tool_rounds } },
            detached,
            parent: None,
            cancel: CancellationToken::new(),
        };
        let (driver, seq) = self.0.begin(session, starting).await?;
        let after = EventId::of_entry(seq);
        let subscription = Subscription::new(Arc::clone(&self.0), watched, after, Until::Done);
        self.0.spawn(driver);
        Ok(subscription)
    }

    /// A session's events after a place, then live ones.
    #[boxed]
    pub async fn events(&self, id: Uuid, after: Option<EventId>) -> Result<Subscription> {
        let session = self.0.store().session(id).await?.ok_or_else(|| missing(id))?;
        let live = self.0.live.get_or_insert(&session, None);
        let after = after.unwrap_or(EventId::of_entry(session.last_seq));
        let mut subscription = Subscription::new(Arc::clone(&self.0), live.watch(), after, Until::Dropped);
        subscription.read_log().await?;
        Ok(subscription)
    }

    /// Changes the mode. In a run that is under way it holds from the next call of the model, and for
    /// every tool that has not begun.
    #[boxed]
    pub async fn set_mode(&self, id: Uuid, mode: Mode) -> Result<SessionView> {
        if !self.0.set_mode(id, mode).await? {
            return Err(missing(id));
        }
        self.session(id).await
    }

    /// Approves the plan, which switches to build, or sends it back.
    #[boxed]
    pub async fn decide_plan(&self, id: Uuid, approved: bool) -> Result<SessionView> {
        let status = if approved { PlanStatus::Approved } else { PlanStatus::SentBack };
        let view = self.session(id).await?;
        if view.session.plan.is_none() || !self.0.store().set_plan_status(id, status).await? {
            return Err(SessionError::NoPlan(id).into());
        }
        match approved {
            true => self.set_mode(id, Mode::Build).await,
            false => self.session(id).await,
        }
    }

    /// Stops a session. Returns false if it was idle.
    #[boxed]
    pub async fn cancel(&self, id: Uuid) -> Result<bool> {
        let was_active = self.0.cancel(id).await?;
        if was_active {
            self.0.resume_above(id).await?;
        }
        Ok(was_active)
    }

    /// Answers an approval request. The run resumes once no other is open.
    #[boxed]
    pub async fn decide(&self, id: Uuid, call_id: &str, decision: Decision) -> Result<SessionView> {
        let length = decision.reason.as_ref().map_or(0, String::len);
        let most = persona::limits::MESSAGE_BYTES;
        if length > most {
            return Err(ValueError::TooLong { field: "reason", most, length }.into());
        }
        match self.0.decide(id, call_id, decision).await? {
            Answered::Recorded { pending: 0, .. } => self.0.resume(id).await,
            Answered::Recorded { .. } => {}
            Answered::AlreadyAnswered(answer) => {
                // The process that stored the first answer may be gone.
                self.0.resume(id).await;
                let (call, approved) = (call_id.to_owned(), answer.approved);
                return Err(SessionError::Decided { session: id, call, approved }.into());
            }
            Answered::Missing => {
                self.0.store().session(id).await?.ok_or_else(|| missing(id))?;
                return Err(SessionError::UnknownCall { session: id, call: call_id.to_owned() }.into());
            }
        }
        self.session(id).await
    }

    /// Takes back the last message and everything after it. Returns the message. Files stay as they
    /// are.
    #[boxed]
    pub async fn undo(&self, id: Uuid) -> Result<String> {
        for _ in 0..UNDO_TRIES {
            let session = self.0.at_rest(id).await?;
            let Some(Message { seq, content, turns }) = self.0.last_message(id).await? else {
                return Err(SessionError::NothingToUndo(id).into());
            };
            let note = noted(Note::TextDiscarded { turns });
            let place = self.0.store().truncate_log(id, seq, session.last_seq, &note).await?;
            if let Some(place) = place {
                if let Some(live) = self.0.live.find(id) {
                    live.report(place, Event::from(&note));
                }
                return Ok(content);
            }
        }
        Err(busy(id))
    }

    /// Gives a session another persona.
    #[boxed]
    pub async fn set_persona(&self, id: Uuid, persona: Name, scope: Option<Scope>) -> Result<Session> {
        self.0.library.load(&persona, scope, &Request::plain(View::Detail)).await?;
        self.0.at_rest(id).await?;
        let edited = self.0.store().edit_session(id, |session| {
            session.persona = persona;
            session.scope = scope;
            session.overrides = BTreeMap::new();
        });
        edited.await?.ok_or_else(|| missing(id))
    }

    /// Chooses the model from now on. None leaves the choice to the persona.
    #[boxed]
    pub async fn set_model(&self, id: Uuid, model: Option<ModelRef>) -> Result<Session> {
        if let Some(model) = &model {
            self.0.models.provider(&model.provider).await?;
        }
        self.0.at_rest(id).await?;
        let edited = self.0.store().edit_session(id, |session| session.model = model);
        edited.await?.ok_or_else(|| missing(id))
    }
}

/// A message, and the turns that follow it, itself included.
struct Message {
    seq: i64,
    content: String,
    turns: Vec<Uuid>,
}

impl SessionRunner {
    /// The last message of a session.
    async fn last_message(&self, id: Uuid) -> Result<Option<Message>> {
        let (mut after, mut last) = (0, None);
        loop {
            let page = self.store().log(id, after, LOG_PAGE).await?;
            let (is_last, through) = (page.len() < LOG_PAGE, page.last().map_or(after, |found| found.seq));
            for LogEntry { seq, entry } in page {
                match (entry, &mut last) {
                    (Entry::Turn(Turn { id, body: TurnBody::User { content }, .. }), last) => {
                        *last = Some(Message { seq, content, turns: vec![id] });
                    }
                    (Entry::Turn(Turn { id, .. }), Some(last)) => last.turns.push(id),
                    // A viewer that was away has not heard that these were taken back.
                    (Entry::Note { note: Note::TextDiscarded { turns }, .. }, Some(last)) => {
                        last.turns.extend(turns);
                    }
                    _ => {}
                }
            }
            if is_last {
                return Ok(last);
            }
            after = through;
        }
    }

    /// Switches a session and its delegates. Returns false if there is no such session.
    async fn set_mode(&self, id: Uuid, mode: Mode) -> Result<bool> {
        let note = noted(Note::ModeChanged { mode });
        let Some(seq) = self.store().set_mode(id, mode, &note).await? else { return Ok(false) };
        if let Some(live) = self.live.find(id) {
            live.set_mode(mode, seq);
            live.report(seq, Event::from(&note));
        }
        // Other processes may run the delegates: they read those rows only.
        for below in self.active_below(id).await? {
            Box::pin(self.set_mode(below.id, mode)).await?;
        }
        Ok(true)
    }

    /// The directory of a new session. Links must not lead out of the project.
    fn root(&self, wanted: Option<&Path>) -> Result<Option<String>> {
        let Some(open) = &self.project else {
            return match wanted {
                None => Ok(None),
                Some(_) => Err(SessionError::NoProject.into()),
            };
        };
        let wanted = wanted.map_or_else(|| open.clone(), |wanted| open.join(wanted));
        let real = |path: &Path| {
            path.canonicalize().map_err(|source| SessionError::Root { path: path.to_owned(), source })
        };
        let project = real(open)?;
        let found = if wanted == *open { project.clone() } else { real(&wanted)? };
        if !found.starts_with(&project) {
            return Err(SessionError::Outside { wanted, project }.into());
        }
        if !found.is_dir() {
            return Err(SessionError::NotADirectory(wanted).into());
        }
        match found.to_str() {
            Some(root) => Ok(Some(root.to_owned())),
            None => Err(SessionError::NotText(found).into()),
        }
    }
}

pub(super) fn check_message(content: &str) -> Result<()> {
    let most = limits::MESSAGE_BYTES;
    if content.trim().is_empty() {
        return Err(ValueError::Empty { field: "content" }.into());
    }
    if content.len() > most {
        return Err(ValueError::TooLong { field: "content", most, length: content.len() }.into());
    }
    Ok(())
}

/// An empty session.
pub(super) fn new_session(
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
        parent: None,
        parent_call: None,
        depth: 0,
        title: None,
        plan: None,
        answered_by: None,
        answered_since: None,
        usage: Usage::default(),
        last_seq: 0,
        created_at: now,
        updated_at: now,
    }
}
