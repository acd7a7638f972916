//! The board of a track: every ticket with its state, its sessions, its costs and its needs.

use std::collections::{BTreeMap, HashMap};

use agent::{Approval, Session};
use async_recursion::async_recursion as boxed;
use chrono::Utc;
use conductor::{
    Attempt, Conduct, FellBack, Isolation, Need, Phase, Progress, Role, Round, Spent, State, TicketId,
};
use tracks::Accounts;

use super::ground::label;
use super::log::TrackLog;
use super::wording;
use crate::inputs::ByTrack;
use crate::outputs::{AttemptBoard, RoundBoard, TicketBoard, TicketNeed, TrackBoard};
use crate::{Error, Result, Runtime, TrackError};

impl Runtime {
    /// A track with all that happened to its tickets.
    #[boxed]
    pub async fn get_track(&self, input: ByTrack) -> Result<TrackBoard> {
        let conducting = self.conducting();
        let log = conducting.log(input.id).await?;
        let accounts = conducting.tracks.spent(input.id).await?;
        let is_worked_here = conducting.live().get(&input.id).is_some_and(super::Live::is_at_work);
        let mut board = log.look_now(|conduct| board(&log, conduct, &accounts)).await?;
        board.is_worked_here = is_worked_here;
        for ticket in &mut board.tickets {
            ticket.approvals = self.approvals_of(ticket).await?;
        }
        Ok(board)
    }

    /// The calls of a ticket's session that wait for permission.
    async fn approvals_of(&self, ticket: &TicketBoard) -> Result<Vec<Approval>> {
        match ticket.session {
            Some(session) => self.open_approvals(session).await,
            None => Ok(Vec::new()),
        }
    }

    /// True if a step of a track has the session, and no step of this process pays for it.
    #[boxed]
    pub async fn is_worked_elsewhere(&self, session: &Session) -> Result<bool> {
        let Some(duty) = &session.duty else { return Ok(false) };
        let ticket = duty.ticket.as_deref().and_then(|id| TicketId::parse(id).ok());
        let Some(ticket) = ticket.filter(|_| self.conducting().at_work(session.id).is_none()) else {
            return Ok(false);
        };
        let log = match self.conducting().log(duty.track).await {
            Err(Error::Track(TrackError::Unknown(_))) => return Ok(false),
            log => log?,
        };
        log.look_now(|conduct| {
            let at_hand = conduct.ticket(&ticket).and_then(Progress::session);
            at_hand == Some(session.id) && !matches!(conduct.phase(), Phase::Finished | Phase::Cancelled)
        })
        .await
    }
}

fn board(log: &TrackLog, conduct: &Conduct, accounts: &Accounts) -> TrackBoard {
    let today = Utc::now().format("%Y-%m-%d").to_string();
    let spent: HashMap<&TicketId, Spent> =
        accounts.tickets.iter().map(|(id, balance)| (id, balance.spent)).collect();
    let day = accounts.days.iter().find(|(day, _)| *day == today).map(|(_, balance)| balance.spent);
    let counts: BTreeMap<String, usize> =
        conduct.counts().into_iter().map(|(short, count)| (short.as_str().to_owned(), count)).collect();
    let isolation = conduct.isolation();
    let branch = (isolation == Some(Isolation::Worktrees)).then(|| branch_of(log));
    let needs = conduct.needs().into_iter().map(|(progress, need)| said(progress, need)).collect();
    let ticket = |progress: &Progress| {
        let spent = spent.get(&progress.ticket.id).copied().unwrap_or_default();
        ticket_board(conduct, progress, spent)
    };
    TrackBoard {
        id: log.id,
        title: log.rules.title.clone(),
        goal: log.rules.goal.clone(),
        project: log.project.clone(),
        phase: conduct.phase(),
        isolation,
        paused: conduct.paused().cloned(),
        is_newer: conduct.is_newer(),
        is_worked_here: false,
        concurrency: conduct.concurrency(),
        counts,
        branch,
        spent: accounts.track.spent,
        cap: conduct.track_cap(),
        spent_today: day.unwrap_or_default(),
        day_cap: conduct.day_cap(),
        seq: conduct.seq(),
        began_at: conduct.began_at(),
        last_at: conduct.last_at(),
        needs,
        tickets: conduct.tickets().iter().map(ticket).collect(),
    }
}

fn branch_of(log: &TrackLog) -> String {
    format!("masque/{}/{}", label(&log.rules.title, log.id), worktrees::Label::integration())
}

fn said(progress: &Progress, need: Need) -> TicketNeed {
    let sentence = wording::need(&need);
    TicketNeed { ticket: progress.ticket.id.clone(), need, sentence }
}

fn ticket_board(conduct: &Conduct, progress: &Progress, spent: Spent) -> TicketBoard {
    let Progress { ticket, state, attempts, rounds, .. } = progress;
    let (persona, model) = match (attempts.last(), rounds.last()) {
        (_, Some(round)) if *state == State::Reviewing => (round.persona.clone(), Some(round.model.clone())),
        (Some(attempt), _) => (attempt.persona.clone(), Some(attempt.model.clone())),
        _ => (None, None),
    };
    let is_open = |id: &&TicketId| !conduct.state(id).is_some_and(State::is_met);
    let waits_for = match state.is_final() {
        true => Vec::new(),
        false => ticket.depends_on.iter().chain(&progress.awaits).filter(is_open).cloned().collect(),
    };
    let fell_back = |(_, persona, reason): &(Role, persona::Name, String)| FellBack {
        persona: persona.clone(),
        reason: reason.clone(),
    };
    TicketBoard {
        id: ticket.id.clone(),
        title: ticket.title.clone(),
        description: ticket.description.clone(),
        acceptance: ticket.acceptance.clone(),
        tier: ticket.tier,
        origin: progress.origin.clone(),
        depends_on: ticket.depends_on.clone(),
        state: *state,
        short_state: state.short(),
        need: conduct.need(progress).map(|need| said(progress, need)),
        waits_for,
        why: progress.evidence.iter().map(wording::evidence).collect(),
        persona,
        model,
        session: progress.session(),
        attempts: attempts.iter().map(attempt_board).collect(),
        rounds: rounds.iter().map(round_board).collect(),
        fell_back: progress.fell_back.iter().map(fell_back).collect(),
        approvals: Vec::new(),
        spent,
        cap: conduct.cap_of(ticket),
        check: conduct.check_of(ticket).map(str::to_owned),
        run: attempts.iter().rev().find_map(|attempt| attempt.run.clone()),
        baseline: progress.baseline.clone(),
        branch: progress.branch.clone(),
        base: progress.base.clone(),
        merged: progress.merged.clone(),
        via: progress.via.clone(),
        began_at: progress.began_at,
        ended_at: progress.ended_at,
        last_at: progress.last_at,
    }
}

fn attempt_board(attempt: &Attempt) -> AttemptBoard {
    let verdict = attempt.verdict.as_ref();
    let objections = verdict.map(|verdict| verdict.objections.iter().map(wording::objection).collect());
    AttemptBoard {
        number: attempt.number,
        session: attempt.session,
        persona: attempt.persona.clone(),
        model: attempt.model.clone(),
        began_at: attempt.began_at,
        ended_at: attempt.ended_at,
        head: attempt.head.clone(),
        submission: attempt.submission.clone(),
        ruling: verdict.map(|verdict| verdict.ruling),
        objections: objections.unwrap_or_default(),
        run: attempt.run.clone(),
        fault: attempt.fault.as_ref().map(wording::fault),
    }
}

fn round_board(round: &Round) -> RoundBoard {
    let review = round.review.as_ref();
    RoundBoard {
        number: round.number,
        session: round.session,
        persona: round.persona.clone(),
        model: round.model.clone(),
        began_at: round.began_at,
        ended_at: round.ended_at,
        verdict: review.map(|review| review.verdict),
        summary: review.map(|review| review.summary.clone()).unwrap_or_default(),
        findings: review.map(|review| review.findings.clone()).unwrap_or_default(),
        fault: round.fault.as_ref().map(wording::fault),
    }
}
