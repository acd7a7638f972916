//! Watches the session of a step: feeds the observer of stuck workers, and keeps work in progress.

use std::collections::HashMap;
use std::sync::Arc;

use agent::Event;
use conductor::{Action, Command, Fingerprint, Observation, Observer, Patience, Signal, TicketId};
use llm::ToolCall;
use tokio::time::Instant;
use tracks::Fence;
use worktrees::{Checkpoint, Worktree};

use super::ground::{Ground, Trees};
use super::log::TrackLog;
use super::steps::{Job, Matter};
use super::tool_calls::{command_of, runs_process};

/// Watches one session.
#[derive(Debug)]
pub(super) struct Watching {
    observer: Observer,
    started: Instant,
    signal: Option<Signal>,
    /// Calls without a result, by their ids.
    open: HashMap<String, ToolCall>,
    check: Option<String>,
    keeper: Option<Keeper>,
}

/// Keeps the work in progress of an attempt in a reference.
#[derive(Debug)]
struct Keeper {
    trees: Arc<Trees>,
    worktree: Worktree,
    log: Arc<TrackLog>,
    fence: Fence,
    ticket: TicketId,
    attempt: u32,
    /// The commit of the last checkpoint that the log has.
    known: Option<String>,
}

impl Watching {
    /// Watches a worker. Without a worktree its files are not kept, and changes of them are not seen.
    pub(super) fn of_worker(job: &Job, matter: &Matter, attempt: u32, worktree: Option<Worktree>) -> Self {
        let current = matter.progress.attempts.iter().find(|it| it.number == attempt);
        let known = current.and_then(|it| it.checkpoint.as_ref()).map(|(_, commit)| commit.clone());
        let keeper = match (&job.ground, worktree) {
            (Ground::Trees(trees), Some(worktree)) => Some(Keeper {
                trees: Arc::clone(trees),
                worktree,
                log: Arc::clone(&job.log),
                fence: job.fence.clone(),
                ticket: matter.ticket.clone(),
                attempt,
                known,
            }),
            _ => None,
        };
        let patience = job.log.rules.escalation.patience();
        let tokens = patience.tokens.filter(|_| keeper.is_some());
        Self { keeper, check: matter.check.clone(), ..Self::new(Patience { tokens, ..patience }) }
    }

    /// Watches a session that changes no files.
    pub(super) fn of_reader() -> Self {
        Self::new(Patience { tokens: None, ..Patience::default() })
    }

    fn new(patience: Patience) -> Self {
        let started = Instant::now();
        Self {
            observer: Observer::new(patience, started.elapsed()),
            started,
            signal: None,
            open: HashMap::new(),
            check: None,
            keeper: None,
        }
    }

    /// The sign that the session is stuck, if there was one.
    pub(super) fn signal(&self) -> Option<Signal> {
        self.signal.clone()
    }

    pub(super) async fn on_event(&mut self, event: &Event) {
        match event {
            Event::ToolCall { call, .. } => {
                self.open.insert(call.id.to_string(), call.clone());
                self.observe(Observation::Event);
            }
            Event::ToolResult { tool_use_id, output, is_error, .. } => {
                self.on_result(tool_use_id, output, is_error.unwrap_or_default());
            }
            Event::Usage { usage, .. } => {
                if let Some(tree) = self.keep().await {
                    self.observe(Observation::Tree(tree));
                }
                self.observe(Observation::Spent(usage.input_tokens.saturating_add(usage.output_tokens)));
            }
            Event::ApprovalRequest { .. } => self.observe(Observation::Waiting),
            _ => self.observe(Observation::Event),
        }
    }

    fn on_result(&mut self, id: &str, output: &str, is_error: bool) {
        let Some(call) = self.open.remove(id) else { return self.observe(Observation::Event) };
        let command = command_of(&call, self.check.as_deref()).map(str::to_owned);
        let input = serde_json::to_string(&call.input).unwrap_or_default();
        self.observe(Observation::Action(Action {
            tool: call.name,
            input: Fingerprint::of(&input),
            result: Fingerprint::of(output),
            is_error,
        }));
        if let Some(command) = command.filter(|command| Some(command) == self.check.as_ref()) {
            let failure = is_error.then(|| Fingerprint::of_failure(output));
            self.observe(Observation::Check { command, failure });
        }
    }

    /// The session waits for a person.
    pub(super) fn on_wait(&mut self) {
        self.observe(Observation::Waiting);
    }

    /// Nothing was heard of the session for a while. A call that runs a process lasts as long as the process
    /// lives, which has time limits of its own.
    pub(super) fn on_silence(&mut self) {
        let lives = self.open.values().any(runs_process);
        self.observe(if lives { Observation::ChildAlive } else { Observation::Beat });
    }

    fn observe(&mut self, observation: Observation) {
        let signal = self.observer.observe(observation, self.started.elapsed());
        if self.signal.is_none() {
            self.signal = signal;
        }
    }

    /// Keeps the work in progress, as it is at the end of the session's turn.
    pub(super) async fn checkpoint(&mut self) {
        self.keep().await;
    }

    /// Keeps the work in progress. Returns the fingerprint of the files, where there is something to keep.
    /// A failure is logged: the work is still in the worktree.
    async fn keep(&mut self) -> Option<Fingerprint> {
        let keeper = self.keeper.as_mut()?;
        match keeper.keep().await {
            Ok(checkpoint) => Some(Fingerprint::of(checkpoint.tree.as_str())),
            Err(error) => {
                tracing::warn!(ticket = %keeper.ticket, %error, "work in progress was not kept");
                None
            }
        }
    }
}

impl Keeper {
    async fn keep(&mut self) -> crate::Result<Checkpoint> {
        let checkpoint = self.trees.worktrees.checkpoint(&self.worktree).await?;
        let commit = checkpoint.commit.to_string();
        if self.known.as_ref() != Some(&commit) {
            let (ticket, attempt) = (self.ticket.clone(), self.attempt);
            let reference = checkpoint.reference.clone();
            let command = Command::Checkpoint { ticket, attempt, reference, commit: commit.clone() };
            // A step that was decided otherwise keeps its files in the reference alone.
            self.log.say(&command, Some(&self.fence)).await?;
            self.known = Some(commit);
        }
        Ok(checkpoint)
    }
}
