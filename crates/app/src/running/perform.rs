//! Runs that are not stored: a player's, a judge's.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{ApprovalPolicy, End, Entry, ErrorCode, Mode, NewTurn, Note, Run, Session, Turn, TurnBody};
use llm::{ModelRef, Usage};
use persona::{AssemblyRequest, Bundle, Name, PartType, Scope, View};
use sessions::RunChange;
use tokio_util::sync::CancellationToken;
use tools::{ToolSource, Toolbox};

use super::active_run::ActiveRun;
use super::drive::{Driven, Driver};
use super::journal::MemoryJournal;
use super::live::LiveSession;
use super::meter::Meter;
use super::prepare::Prepared;
use super::record::{NotStored, Record, entry, last_text};
use super::send::check_message;
use super::sessions::new_session;
use super::starter::{Equipment, RunStarter};
use super::{Runtime, own_tools};
use crate::Result;

/// A run that leaves nothing behind.
#[derive(Debug)]
pub struct Performance {
    pub persona: Name,
    /// The persona as it was. Absent: as it is now.
    pub frozen: Option<Arc<Bundle>>,
    /// Absent: the strongest scope that has the persona.
    pub scope: Option<Scope>,
    pub overrides: BTreeMap<PartType, Name>,
    /// Replaces the persona's own choice.
    pub model: Option<ModelRef>,
    pub mode: Mode,
    /// True for the model alone: the persona's tools and settings, but no system text.
    pub without_prompt: bool,
    /// The conversation so far.
    pub history: Vec<Turn>,
    pub message: String,
    /// Sources of tools, in addition to the persona's skills and the exit from plan mode.
    pub sources: Vec<Arc<dyn ToolSource>>,
    /// The tools of the runtime, in the open project. What a preset approves does not count: tools that
    /// only read run, others are refused.
    pub reads_project: bool,
    /// `Ask` and `AskViewer` refuse: there is no user.
    pub policy: ApprovalPolicy,
    /// Replaces the persona's own limit.
    pub max_tool_rounds: Option<u32>,
    /// Counts the calls of models, and may refuse one: then the run fails.
    pub meter: Option<Arc<Meter>>,
    pub cancel: CancellationToken,
}

impl Performance {
    /// A message to a persona that has no tools but its skills.
    pub fn new(persona: Name, message: impl Into<String>) -> Self {
        Self {
            persona,
            frozen: None,
            scope: None,
            overrides: BTreeMap::new(),
            model: None,
            mode: Mode::default(),
            without_prompt: false,
            history: Vec::new(),
            message: message.into(),
            sources: Vec::new(),
            reads_project: false,
            policy: ApprovalPolicy::Refuse,
            max_tool_rounds: None,
            meter: None,
            cancel: CancellationToken::new(),
        }
    }
}

/// The outcome of a performance.
#[derive(Debug, Clone, PartialEq)]
pub struct Performed {
    pub end: End,
    /// The message and everything after it. Add them to the history of the next performance.
    pub turns: Vec<Turn>,
    /// The other events, in order.
    pub notes: Vec<Note>,
}

impl Performed {
    /// The persona's last text.
    pub fn text(&self) -> Option<&str> {
        last_text(&self.turns)
    }

    /// The plan that was handed over.
    pub fn plan(&self) -> Option<&str> {
        self.notes.iter().rev().find_map(|note| match note {
            Note::PlanReady { plan } => Some(plan.as_str()),
            _ => None,
        })
    }

    /// The error of a run that failed.
    pub fn error(&self) -> Option<(ErrorCode, &str)> {
        self.notes.iter().rev().find_map(|note| match note {
            Note::Error { code, message } if !code.is_warning() => Some((*code, message.as_str())),
            _ => None,
        })
    }

    pub fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        for note in &self.notes {
            if let Note::Usage { usage, .. } = note {
                sum += *usage;
            }
        }
        sum
    }
}

impl Runtime {
    /// The open project. A project that is gone is a failure only if tools need it.
    pub(super) fn root_of(&self, performance: &Performance) -> Result<Option<String>> {
        match self.runner.project.resolve(None) {
            Err(_) if !performance.reads_project => Ok(None),
            root => root,
        }
    }

    /// Runs a persona to its end without a session: nothing is stored, and there are no viewers.
    #[boxed]
    pub async fn perform(&self, performance: Performance) -> Result<Performed> {
        check_message(&performance.message)?;
        let cancel = performance.cancel.child_token();
        let root = self.root_of(&performance)?;
        let (driver, journal) = self.runner.starter.begin_unstored(performance, root, cancel.clone()).await?;
        let mut driving = std::pin::pin!(driver.drive());
        let driven = tokio::select! {
            driven = &mut driving => driven,
            () = self.runner.starter.stopping.cancelled() => {
                cancel.cancel();
                driving.await
            }
        };
        let end = match driven {
            Driven::Ended(end) => end,
            // Its policy never asks, and memory refuses nothing.
            Driven::Waiting | Driven::Lost => End::Failed,
        };
        let mut performed = Performed { end, turns: Vec::new(), notes: Vec::new() };
        for entry in journal.take() {
            match entry {
                Entry::Turn(turn) => performed.turns.push(turn),
                Entry::Note { note, .. } => performed.notes.push(note),
            }
        }
        Ok(performed)
    }
}

impl RunStarter {
    async fn begin_unstored(
        &self,
        performance: Performance,
        root: Option<String>,
        cancel: CancellationToken,
    ) -> Result<(Driver, MemoryJournal)> {
        if let Some(model) = &performance.model {
            self.models.provider(&model.provider).await?;
        }
        let (session, persona, provided) = self.cast(&performance, root).await?;
        let Performance { mode, history, message, meter, .. } = performance;
        let live = Arc::new(LiveSession::new(session.id, None, mode, 0));
        let live_run = live.start(String::new(), cancel.clone(), true);
        let journal = MemoryJournal::new(mode);
        let mut own: Vec<_> = own_tools::load_skill(&persona.skills).into_iter().collect();
        own.push(own_tools::plan_exit());
        let mut record = Record::new(Box::new(journal.clone()), live_run, session, history, cancel);
        let message = entry(NewTurn::from(TurnBody::User { content: message }));
        record.append(vec![message], RunChange::default()).await.map_err(|NotStored(error)| error)?;
        let machine = Run::new(self.rounds(performance.max_tool_rounds, &persona));
        let equipment = Equipment { persona, provided, own, above: Vec::new() };
        let policy = performance.policy.unattended();
        let mut driver = self.driver(ActiveRun { record, machine }, equipment, policy);
        driver.models.count(meter);
        Ok((driver, journal))
    }

    /// The session, the persona and the tools of a performance. The session has the root if tools or files of
    /// the persona need it.
    pub(super) async fn cast(
        &self,
        performance: &Performance,
        root: Option<String>,
    ) -> Result<(Session, Prepared, Toolbox)> {
        let Performance { persona, scope, overrides, model, mode, .. } = performance;
        let new = new_session(persona.clone(), *scope, overrides.clone());
        let tools_root = root.clone().filter(|_| performance.reads_project);
        let mut session = Session { mode: *mode, model: model.clone(), root: tools_root, ..new };
        let mut sources = performance.sources.clone();
        if performance.reads_project {
            sources.extend(self.sources.iter().cloned());
        }
        let (mut prepared, provided) = match &performance.frozen {
            None => self.prepare(&session, &sources).await?,
            Some(bundle) => {
                let overrides = session.overrides.clone();
                let request = AssemblyRequest { overrides, ..AssemblyRequest::plain(View::Detail) };
                let prepared = self.personas.prepare_bundle(bundle, &request).await?;
                self.with_tools(prepared, &session, &sources).await
            }
        };
        if performance.reads_project {
            prepared.auto_counts = false;
            prepared.unconfirmed.clear();
        }
        if performance.without_prompt {
            prepared.silence();
        }
        if !prepared.files.is_empty() {
            session.root = root;
        }
        Ok((session, prepared, provided))
    }
}
