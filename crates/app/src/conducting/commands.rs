//! What people do with tracks: create, start, pause, approve, retry, answer, cancel.

use async_recursion::async_recursion as boxed;
use chrono::Utc;
use conductor::{
    Cap, CapAccount, Command, Conduct, FileMistake, FileProblem, Isolation, Phase, PlanApproval, Track,
    TrackProblem, parse_track,
};
use tracks::{NewTrack, TrackPage, TrackRow};
use uuid::Uuid;

use super::ground::{Ground, base_of, has_repository, label};
use crate::inputs::{
    AnswerTicket, ApproveTickets, ByTicket, ByTrack, CancelTicket, CancelTrack, JudgeResult, ListTracks,
    MergeTrack, RaiseCap, RetryTicket, StartTrack, WrittenTrack,
};
use crate::outputs::{
    CreatedTrack, MergeObstacle, MergedTrack, TrackBoard, TrackItem, TrackList, TrackReport,
};
use crate::{Author, Result, Runtime, TrackError};

/// The track that an input has. Fails with all its mistakes.
pub(super) fn written(input: WrittenTrack) -> Result<Track> {
    let track = match (input.track, input.toml) {
        (Some(track), None) => track,
        (None, Some(text)) => parse_track(&text).map_err(|problems| refuse_file(&problems))?,
        (None, None) | (Some(_), Some(_)) => return Err(TrackError::NothingWritten.into()),
    };
    let problems = track.problems();
    if problems.is_empty() {
        return Ok(track);
    }
    if let [TrackProblem::Cycle { path, .. }] = problems.as_slice() {
        return Err(TrackError::Cycle { path: path.clone() }.into());
    }
    Err(TrackError::Invalid { problems: problems.iter().map(ToString::to_string).collect() }.into())
}

fn refuse_file(problems: &[FileProblem]) -> TrackError {
    if let [FileProblem { mistake: FileMistake::Track(TrackProblem::Cycle { path, .. }), .. }] = problems {
        return TrackError::Cycle { path: path.clone() };
    }
    TrackError::Invalid { problems: problems.iter().map(ToString::to_string).collect() }
}

impl Runtime {
    /// Stores a track for the open project. Nothing is worked yet.
    #[boxed]
    pub async fn create_track(&self, input: WrittenTrack) -> Result<CreatedTrack> {
        let definition = written(input)?;
        let project = self.project_root()?;
        let id = Uuid::now_v7();
        let base = base_of(&project, &definition).await;
        let new = NewTrack { id, project, definition, created_at: Utc::now() };
        self.conducting().tracks.create(&new).await?;
        Ok(CreatedTrack { id, base })
    }

    /// Lists the tracks of the open project, or all without one.
    #[boxed]
    pub async fn list_tracks(&self, input: ListTracks) -> Result<TrackList> {
        let project = self.project_root().ok().filter(|_| !input.everywhere);
        let (cursor, limit) = (input.cursor.as_deref(), input.limit);
        let TrackPage { items, next } =
            self.conducting().tracks.list(project.as_deref(), cursor, limit).await?;
        let item = |TrackRow { id, title, project, phase, created_at, updated_at, .. }| TrackItem {
            id,
            title,
            project,
            phase,
            created_at,
            updated_at,
        };
        Ok(TrackList { items: items.into_iter().map(item).collect(), next_cursor: next })
    }

    /// Starts a track, or goes on with one that was started, and works it in this process.
    #[boxed]
    pub async fn start_track(&self, author: &Author, input: StartTrack) -> Result<TrackBoard> {
        let StartTrack { id, isolate, concurrency, yes, drafted } = input;
        let log = self.conducting().log(id).await?;
        let known = log.look_now(Conduct::isolation).await?;
        let isolation = match known {
            Some(isolation) => isolation,
            None => {
                let wanted = match isolate {
                    Some(isolate) => isolate,
                    None => has_repository(&log.project).await,
                };
                let isolation = if wanted { Isolation::Worktrees } else { Isolation::None };
                let plan = match (yes, drafted) {
                    (true, _) => PlanApproval::Skipped,
                    (false, true) => PlanApproval::Drafted,
                    (false, false) => PlanApproval::Written,
                };
                // Fails before anything is stored if there is no such place to work.
                Ground::open(self, &log.project, (id, &log.rules), isolation).await?;
                log.order(&Command::Open { isolation, plan, concurrency, by: author.who.clone() }).await?;
                isolation
            }
        };
        self.engage(log, isolation).await?;
        self.get_track(ByTrack { id }).await
    }

    /// Starts nothing new in a track. What runs may end.
    #[boxed]
    pub async fn pause_track(&self, author: &Author, input: ByTrack) -> Result<TrackBoard> {
        self.order(input.id, Command::Pause { by: author.who.clone() }).await
    }

    /// Goes on with a track: one that was paused, or one that no process works any more.
    #[boxed]
    pub async fn resume_track(&self, author: &Author, input: ByTrack) -> Result<TrackBoard> {
        let log = self.conducting().log(input.id).await?;
        let (is_paused, isolation) =
            log.look_now(|conduct| (conduct.paused().is_some(), conduct.isolation())).await?;
        if is_paused || isolation.is_none() {
            log.order(&Command::Resume { by: author.who.clone() }).await?;
        }
        if let Some(isolation) = isolation {
            self.engage(log, isolation).await?;
        }
        self.get_track(input).await
    }

    #[boxed]
    pub async fn cancel_track(&self, author: &Author, input: CancelTrack) -> Result<TrackBoard> {
        let CancelTrack { id, reason } = input;
        self.order(id, Command::CancelTrack { by: author.who.clone(), reason }).await
    }

    /// Approves planned tickets or drafts.
    #[boxed]
    pub async fn approve_tickets(&self, author: &Author, input: ApproveTickets) -> Result<TrackBoard> {
        let ApproveTickets { id, tickets } = input;
        self.order(id, Command::Approve { tickets, by: author.who.clone() }).await
    }

    /// Approves the next step of a ticket, in a track whose steps a person approves.
    #[boxed]
    pub async fn approve_step(&self, author: &Author, input: ByTicket) -> Result<TrackBoard> {
        let ByTicket { id, ticket } = input;
        self.order(id, Command::ApproveStep { ticket, by: author.who.clone() }).await
    }

    /// Gives a ticket another chance, with another model or persona if one is named.
    #[boxed]
    pub async fn retry_ticket(&self, author: &Author, input: RetryTicket) -> Result<TrackBoard> {
        let RetryTicket { id, ticket, model, persona, note } = input;
        self.order(id, Command::Retry { ticket, by: author.who.clone(), model, persona, note }).await
    }

    #[boxed]
    pub async fn cancel_ticket(&self, author: &Author, input: CancelTicket) -> Result<TrackBoard> {
        let CancelTicket { id, ticket, reason } = input;
        self.order(id, Command::Cancel { ticket, by: author.who.clone(), reason }).await
    }

    /// Answers the question of a ticket's worker.
    #[boxed]
    pub async fn answer_ticket(&self, author: &Author, input: AnswerTicket) -> Result<TrackBoard> {
        let AnswerTicket { id, ticket, answer } = input;
        crate::running::check_text("answer", &answer)?;
        self.order(id, Command::Answer { ticket, answer, by: author.who.clone() }).await
    }

    /// Approves a result that no check or no reviewer vouches for.
    #[boxed]
    pub async fn approve_result(&self, author: &Author, input: JudgeResult) -> Result<TrackBoard> {
        let JudgeResult { id, ticket, note, .. } = input;
        self.order(id, Command::ApproveResult { ticket, by: author.who.clone(), note }).await
    }

    /// Sends such a result back.
    #[boxed]
    pub async fn reject_result(&self, author: &Author, input: JudgeResult) -> Result<TrackBoard> {
        let JudgeResult { id, ticket, note, findings } = input;
        self.order(id, Command::RejectResult { ticket, by: author.who.clone(), note, findings }).await
    }

    /// Changes the cap of a ticket, of the track or of each day.
    #[boxed]
    pub async fn raise_cap(&self, author: &Author, input: RaiseCap) -> Result<TrackBoard> {
        let RaiseCap { id, ticket, day, tokens, cost } = input;
        let account = match (ticket, day) {
            (Some(ticket), _) => CapAccount::Ticket { ticket },
            (None, true) => CapAccount::Day,
            (None, false) => CapAccount::Track,
        };
        let cap = Cap { tokens, cost };
        self.order(id, Command::RaiseCap { account, cap, by: author.who.clone() }).await
    }

    /// What happened in a track, as markdown.
    #[boxed]
    pub async fn track_report(&self, input: ByTrack) -> Result<TrackReport> {
        let log = self.conducting().log(input.id).await?;
        let accounts = self.conducting().tracks.spent(input.id).await?;
        let markdown = log.look_now(|conduct| super::wording::report(conduct, &accounts)).await?;
        Ok(TrackReport { id: input.id, markdown })
    }

    /// Brings the track's work to a branch of the user, by a fast-forward or not at all.
    #[boxed]
    pub async fn merge_track(&self, input: MergeTrack) -> Result<MergedTrack> {
        let log = self.conducting().log(input.id).await?;
        let isolation = log.look_now(Conduct::isolation).await?;
        let project = self.project_root()?;
        if isolation != Some(Isolation::Worktrees) {
            return Err(TrackError::NoBranch.into());
        }
        let ground = Ground::open(self, &project, (log.id, &log.rules), Isolation::Worktrees).await?;
        let Ground::Trees(trees) = ground else { return Err(TrackError::NoBranch.into()) };
        let head = trees.worktrees.repository().head().branch.clone();
        let branch = input.branch.or_else(|| log.rules.base.clone()).or(head).ok_or(TrackError::NoBranch)?;
        let branch = branch.strip_prefix("refs/heads/").map_or_else(|| branch.clone(), str::to_owned);
        let finished = trees.worktrees.finish(&label(&log.rules.title, log.id), &branch).await?;
        Ok(merged(branch, finished))
    }

    /// Stores what a person wants to happen. A track that this process worked to its end goes on, if that
    /// opens it again.
    async fn order(&self, id: Uuid, command: Command) -> Result<TrackBoard> {
        let log = self.conducting().log(id).await?;
        log.order(&command).await?;
        if self.conducting().has_left(id) {
            let look = |conduct: &Conduct| (conduct.phase(), conduct.isolation());
            let (phase, isolation) = log.look(look).await?;
            let is_over = matches!(phase, Phase::Finished | Phase::Cancelled);
            if let (false, Some(isolation)) = (is_over, isolation) {
                self.engage(log, isolation).await?;
            }
        }
        self.get_track(ByTrack { id }).await
    }
}

fn merged(branch: String, finished: worktrees::Finished) -> MergedTrack {
    use worktrees::{Finished, Obstacle};
    let done = |commit: worktrees::CommitId| MergedTrack {
        branch: branch.clone(),
        merged: true,
        commit: Some(commit.to_string()),
        obstacle: None,
        command: Vec::new(),
        directory: None,
    };
    match finished {
        Finished::Already { commit } => done(commit),
        Finished::Moved { to, .. } | Finished::Forwarded { to, .. } => done(to),
        Finished::Left { obstacle, directory, command } => {
            let obstacle = match obstacle {
                Obstacle::NoBranch => MergeObstacle::NoBranch,
                Obstacle::Diverged { .. } => MergeObstacle::Diverged,
                Obstacle::Uncommitted { .. } => MergeObstacle::Uncommitted,
                Obstacle::Busy { .. } => MergeObstacle::Busy,
                Obstacle::Refused { .. } => MergeObstacle::Refused,
            };
            let (obstacle, directory) = (Some(obstacle), Some(directory));
            MergedTrack { branch, merged: false, commit: None, obstacle, command, directory }
        }
    }
}
