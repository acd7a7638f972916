//! Commands: wishes of people, and outcomes of steps.

use persona::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    Account, Cap, CapAccount, CapUnit, Casting, CheckRun, Fault, Finding, Isolation, Model, PlanApproval,
    Review, StepKey, Submission, Ticket, TicketId, Verdict,
};

/// What a caller wants to happen. [`crate::Conduct::decide`] turns it into events, or refuses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    Open {
        isolation: Isolation,
        plan: PlanApproval,
        /// Instead of the track's.
        concurrency: Option<usize>,
        by: String,
    },
    /// Approves planned tickets or drafts; without names, all that await approval.
    Approve {
        tickets: Vec<TicketId>,
        by: String,
    },
    ApproveStep {
        ticket: TicketId,
        by: String,
    },
    Pause {
        by: String,
    },
    Resume {
        by: String,
    },
    CancelTrack {
        by: String,
        reason: String,
    },
    AddTickets {
        tickets: Vec<Ticket>,
        by: String,
    },
    Retry {
        ticket: TicketId,
        by: String,
        model: Option<Model>,
        persona: Option<Name>,
        note: String,
    },
    Cancel {
        ticket: TicketId,
        by: String,
        reason: String,
    },
    Answer {
        ticket: TicketId,
        answer: String,
        by: String,
    },
    ApproveResult {
        ticket: TicketId,
        by: String,
        note: String,
    },
    RejectResult {
        ticket: TicketId,
        by: String,
        note: String,
        findings: Vec<Finding>,
    },
    RaiseCap {
        account: CapAccount,
        cap: Cap,
        by: String,
    },

    /// Starts a step that the machine offers. `casting` and `session` are for steps that call a model.
    Start {
        step: StepKey,
        session: Option<Uuid>,
        casting: Option<Casting>,
    },
    Prepared {
        ticket: TicketId,
        base: Option<String>,
        branch: Option<String>,
        baseline: Option<CheckRun>,
    },
    Ask {
        ticket: TicketId,
        attempt: u32,
        question: String,
    },
    ReportBlocked {
        ticket: TicketId,
        attempt: u32,
        reason: String,
    },
    Checkpoint {
        ticket: TicketId,
        attempt: u32,
        reference: String,
        commit: String,
    },
    Submit {
        ticket: TicketId,
        attempt: u32,
        head: Option<String>,
        submission: Submission,
    },
    Verified {
        ticket: TicketId,
        attempt: u32,
        verdict: Verdict,
        run: Option<CheckRun>,
    },
    Reviewed {
        ticket: TicketId,
        round: u32,
        review: Review,
    },
    Split {
        ticket: TicketId,
        tickets: Vec<Ticket>,
    },
    /// The target has the ticket's commits, or its result is accepted where there is no git.
    Integrated {
        ticket: TicketId,
        commit: Option<String>,
    },
    Conflicted {
        ticket: TicketId,
        paths: Vec<String>,
        with: Vec<TicketId>,
    },
    /// The check is red on the tree that merging makes.
    RedTogether {
        ticket: TicketId,
        run: CheckRun,
        with: Vec<TicketId>,
    },
    /// The step failed.
    Failed {
        step: StepKey,
        fault: Fault,
    },
    WarnCap {
        account: Account,
        unit: CapUnit,
    },
    Finish,
}
