//! Beginning the run of a stored session: with a message, or on from where it waited.

use std::sync::Arc;

use agent::{
    ApprovalPolicy, Conversation, Entry, ErrorCode, Event, Note, Notice, Run, RunOptions, Session, limits,
};
use llm::ModelRef;
use sessions::{Sessions, Started};
use tokio_util::sync::CancellationToken;
use tools::{Registered, ShellSettings, ToolSource, Toolbox, Workspace};

use super::active_run::ActiveRun;
use super::delegate::Delegate;
use super::drive::Driver;
use super::editing::EditingMessage;
use super::journal::StoredJournal;
use super::leases::{Held, Leases, NewMessage};
use super::live::LiveSession;
use super::model_calls::ModelCaller;
use super::models::Models;
use super::prepare::{Personas, Prepared, warning};
use super::project_files::ProjectFiles;
use super::recent::RecentConversations;
use super::record::{Record, turn_of};
use super::session_tree::SessionTree;
use super::tool_calls::ToolCaller;
use super::toolset::{Toolset, collect};
use super::{SessionRunner, own_tools};
use crate::Result;
use crate::editing::LibraryTool;

pub(super) enum Begin {
    Message {
        content: String,
        options: RunOptions,
    },
    /// The session waited, and its requests are answered.
    Resume,
}

pub(super) struct Starting {
    pub(super) begin: Begin,
    /// Continues without viewers.
    pub(super) detached: bool,
    /// The session that delegated.
    pub(super) parent: Option<Arc<LiveSession>>,
    pub(super) cancel: CancellationToken,
    /// For a message to the editing agent.
    pub(super) editing: Option<EditingMessage>,
}

/// Prepares runs: their personas, models and tools.
#[derive(Debug)]
pub(super) struct RunStarter {
    pub(super) sessions: Sessions,
    pub(super) tree: SessionTree,
    pub(super) leases: Arc<Leases>,
    pub(super) recent: Arc<RecentConversations>,
    pub(super) personas: Personas,
    pub(super) models: Arc<Models>,
    /// The first of the sources.
    pub(super) workspace: Arc<Workspace>,
    pub(super) files: ProjectFiles,
    /// The settings of its commands.
    pub(super) shell: ShellSettings,
    pub(super) sources: Vec<Arc<dyn ToolSource>>,
    /// Operations of the library that the editing agent may call.
    pub(super) library_tools: Arc<[LibraryTool]>,
    /// For personas without a limit of their own.
    pub(super) max_tool_rounds: Option<u32>,
    /// Cancelled when the process ends.
    pub(super) stopping: CancellationToken,
}

/// A session that this process has taken.
struct Taken {
    started: Started,
    /// The name under which the run holds the session.
    holder: String,
    /// The first entries of the run.
    entries: Vec<Entry>,
    /// The model that the entries name.
    announced: Option<ModelRef>,
}

/// The parts of a run that its persona and its tools determine.
pub(super) struct Equipment {
    pub(super) persona: Prepared,
    pub(super) provided: Toolbox,
    pub(super) own: Vec<Registered>,
    /// The personas that delegated to this one, nearest first.
    pub(super) above: Vec<Prepared>,
}

impl RunStarter {
    /// Takes the session and prepares its run. Returns the place of the message, or of the last entry
    /// before the run's own.
    pub(super) async fn begin(
        &self,
        runner: &Arc<SessionRunner>,
        session: Session,
        starting: Starting,
    ) -> Result<(Driver, i64)> {
        let editor = self.editor_tools(runner, &session, &starting).await?;
        let Starting { begin, detached, parent, cancel, editing: _ } = starting;
        let (mut persona, provided) = match editor {
            Some(tools) => self.prepare_editor(&session, tools).await?,
            None => self.prepare(&session, &self.sources).await?,
        };
        let above = self.prepare_above(&session).await?;
        let mut turns = self.recent.read(&self.sessions, &session).await?;
        let taken = match begin {
            Begin::Message { content, options } => {
                self.take(&session, &persona, &mut turns, content, options).await?
            }
            Begin::Resume => {
                // The problems were noted when the run began.
                persona.problems.clear();
                persona.plan_problems.clear();
                persona.unconfirmed.clear();
                self.take_again(&session, &mut turns).await?
            }
        };
        let Taken { started, holder, entries, announced } = taken;
        let message_seq = started.seq - i64::from(announced.is_some());
        let live = self.tree.join_live(&session, parent).await?;
        live.set_mode(started.mode, started.seq);
        let live_run = live.start(holder.clone(), cancel.clone(), detached);
        live.feed.report_all(started.seq + 1 - entries.len() as i64, entries.iter().map(Event::from));
        turns.extend(entries.into_iter().filter_map(turn_of));
        if started.cancel_requested {
            cancel.cancel();
        }
        self.leases.keep_alive();
        let machine = Run::resume(self.rounds(started.options.max_tool_rounds, &persona), &turns);
        let session = Session { last_seq: started.seq, mode: started.mode, ..session };
        let policy = started.options.policy;
        let own = own_tools_of(runner, &session, &persona, live, policy);
        let till = runner.till(&session);
        let journal = StoredJournal {
            sessions: self.sessions.clone(),
            holder,
            session: session.id,
            parent: session.parent,
            recent: Arc::clone(&self.recent),
        };
        let record = Record::new(Box::new(journal), live_run, session, turns, cancel);
        let equipment = Equipment { persona, provided, own, above };
        let mut driver = self.driver(ActiveRun { record, machine }, equipment, policy);
        driver.models.skip_note(announced);
        driver.models.pay(till);
        driver.runner = Some(Arc::clone(runner));
        Ok((driver, message_seq))
    }

    /// Takes an idle session with a message.
    async fn take(
        &self,
        session: &Session,
        persona: &Prepared,
        turns: &mut Conversation,
        content: String,
        options: RunOptions,
    ) -> Result<Taken> {
        let first = self.models.first_model_of(session, persona).await;
        let note = first.clone().map(|(model, reason)| Note::ModelSelected { model, reason });
        let message = NewMessage { content, note, options };
        let (Held { started, holder }, entries) = self.leases.take(session, turns, message).await?;
        Ok(Taken { started, holder, entries, announced: first.map(|(model, _)| model) })
    }

    /// Takes a session that waited.
    async fn take_again(&self, session: &Session, turns: &mut Conversation) -> Result<Taken> {
        let Held { mut started, holder } = self.leases.resume(session.id).await?;
        started.options.policy = started.options.policy.resumed();
        // Others may have added to the log since it was read.
        if started.seq != session.last_seq {
            *turns = self.sessions.turns(session.id).await?.into();
        }
        Ok(Taken { started, holder, entries: Vec::new(), announced: None })
    }

    /// Prepares a session's persona, and collects its tools.
    pub(super) async fn prepare(
        &self,
        session: &Session,
        sources: &[Arc<dyn ToolSource>],
    ) -> Result<(Prepared, Toolbox)> {
        let persona = self.personas.prepare_for(session).await?;
        Ok(self.with_tools(persona, session, sources).await)
    }

    /// Collects the tools of a persona.
    pub(super) async fn with_tools(
        &self,
        mut persona: Prepared,
        session: &Session,
        sources: &[Arc<dyn ToolSource>],
    ) -> (Prepared, Toolbox) {
        let (provided, problems) = collect(sources, session.root.as_deref(), &persona).await;
        persona.problems.extend(problems.into_iter().map(|problem| warning(ErrorCode::Tools, problem)));
        (persona, provided)
    }

    /// The personas that delegated to a session, nearest first.
    async fn prepare_above(&self, session: &Session) -> Result<Vec<Prepared>> {
        let mut above = Vec::new();
        for session in self.tree.above(session).await? {
            above.push(self.personas.prepare_for(&session).await?);
        }
        Ok(above)
    }

    /// The rounds that a run may take.
    pub(super) fn rounds(&self, requested: Option<u32>, persona: &Prepared) -> u32 {
        requested.or(persona.max_tool_rounds).or(self.max_tool_rounds).unwrap_or(limits::MAX_TOOL_ROUNDS)
    }

    /// Puts a run together.
    pub(super) fn driver(&self, run: ActiveRun, equipment: Equipment, policy: ApprovalPolicy) -> Driver {
        let Equipment { mut persona, provided, own, above } = equipment;
        let mut problems = std::mem::take(&mut persona.problems);
        let presets = persona.unconfirmed.clone();
        let plan_problems = std::mem::take(&mut persona.plan_problems);
        let toolset = Arc::new(Toolset::new(persona, provided, own, above));
        let tools = toolset.withheld();
        if !tools.is_empty() {
            problems.push(Note::Notice { notice: Notice::UnconfirmedPresets { presets, tools } });
        }
        Driver {
            run,
            models: ModelCaller::new(
                Arc::clone(&self.models),
                self.files.clone(),
                Arc::clone(&toolset),
                plan_problems,
            ),
            tools: ToolCaller { toolset, policy },
            problems,
            runner: None,
            stopping: self.stopping.clone(),
        }
    }
}

/// The runtime's own tools for a stored session.
fn own_tools_of(
    runner: &Arc<SessionRunner>,
    session: &Session,
    persona: &Prepared,
    live: Arc<LiveSession>,
    policy: ApprovalPolicy,
) -> Vec<Registered> {
    let mut own: Vec<Registered> = own_tools::load_skill(&persona.skills).into_iter().collect();
    if session.edits.is_some() {
        // The editor changes the library only. It answers with its proposals itself.
        return own;
    }
    if let Some(tools) = runner.starter.duty_tools(session) {
        // Such a session gives its work to nobody else.
        own.extend(tools);
        return own;
    }
    if session.depth < limits::DELEGATION_DEPTH {
        let (runner, session) = (Arc::clone(runner), session.clone());
        own.push(own_tools::delegate(Arc::new(Delegate { runner, live, session, policy })));
    }
    own.push(own_tools::plan_exit());
    own
}
