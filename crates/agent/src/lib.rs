//! Running a persona: turns, sessions, modes and the loop.
//!
//! Pure machines: events go in, the next step comes out. No clock, no I/O, no async. `app` calls the
//! model, runs the tools, writes the log and reports the results back. This crate must not know where
//! sessions are stored or which protocol a model speaks.

pub mod limits;

mod turn;
pub use llm::ToolCall;
pub use turn::{Turn, TurnBody, open_calls};

mod refusal;
pub use refusal::{Refusal, Refused};

mod mode;
pub use mode::{Mode, ModeError};

mod session;
pub use session::{
    Approval, ApprovalAnswer, Duty, DutyRole, Plan, PlanRefusal, PlanStatus, Session, SessionStatus,
};

mod lease;
pub use lease::{LeaseObserver, LeaseVerdict, Sighting};
mod notice;
pub use notice::{Notice, UnfilledPlaceholder};

mod log;
pub use log::{End, Entry, LogEntry, Note};

mod event;
pub use event::{ErrorCode, Event, SelectionReason};

mod tool;
pub use llm::Schema;
pub use persona::SECRET_FILES;
pub use tool::{Annotations, PLAN_EXIT, Tool};

mod run;
pub use run::{NewTurn, PendingCall, Run, Step};

mod messages;

mod conversation;
pub use conversation::Conversation;

mod selection;
pub use selection::{Chosen, Permission, Selected, TICKETS_SET, admits_prefix, select, select_below};

mod trust;
pub use trust::{Granted, auto_counts, content_hash, needs_confirmation, preset_hash};

mod policy;
pub use policy::{ApprovalPolicy, ApprovalPolicyError, RunOptions};

mod concern;
pub use concern::Concern;

mod verdict;
pub use verdict::{Circumstances, Decisions, Verdict, check_begin};

mod strategy;
pub use strategy::{Lean, strategy};

mod reminder;
pub use reminder::{GUARDRAIL, plan_reminder};

mod escalation;
pub use escalation::{Escalation, NextAttempt, backoff, cooled_down};

mod compaction;
pub use compaction::{SUMMARY_PROMPT, cut, in_force, transcript};

mod context_window;
pub use context_window::{ContextWindow, Overflow};
