//! Tracks of tickets: what is ready, who works it, what verification and review mean, when to escalate.
//!
//! Pure: no clock, no I/O, no async. Times, ids and token counters are arguments. This crate must not
//! know how a session runs, where a log is stored, or what git is.

pub mod limits;

mod id;
pub use id::{Model, ModelError, TicketId};

mod money;
pub use money::Money;

mod ticket;
pub use ticket::{Ticket, Tier, Tiers};

mod scope;
pub use scope::Scope;

mod track;
pub use track::{
    Escalation, Field, FileMistake, FileProblem, Mma, ReviewPolicy, Setup, Track, TrackProblem, parse_track,
    to_toml, track_schema,
};

mod state;
pub use state::{ShortState, State};

mod ledger;
pub use ledger::{Account, Cap, CapUnit, Caps, Charge, Spent};

mod submission;
pub use submission::{
    CriterionReport, CriterionStatus, Decision, DraftTicket, Outcome, Proof, Submission, TestChange,
    parse_place,
};

mod verify;
pub use verify::{CheckRun, Facts, GitFacts, Objection, RanCommand, Ruling, TestFacts, Verdict, judge};

mod review;
pub use review::{Finding, FindingSeverity, Review, ReviewVerdict};

mod stuck;
pub use stuck::{Action, Fingerprint, Observation, Observer, Patience, Signal};

mod evidence;
pub use evidence::{Evidence, Fault};

mod need;
pub use need::{ApprovalReason, Need};

mod casting;
pub use casting::{Casting, FellBack, Role};

mod step;
pub use step::{Limits, ReviewTask, Step, StepKey, StepKind, Task, WorkTask};

mod event;
pub use event::{
    CapAccount, Entry, Event, FORMAT, Isolation, Next, Origin, PauseCause, PlanApproval, Recorded,
};

mod command;
pub use command::Command;

mod refusal;
pub use refusal::Refusal;

mod ladder;
pub use ladder::Climb;

mod conduct;
pub use conduct::{Attempt, Conduct, Mistake, Order, OrderKind, Phase, Progress, Round, Turn, cycle};
