//! Tests of personas: expectations, checks without a model, the judge's protocol, scores, comparisons
//! and reports.
//!
//! Pure: no clock, no I/O, no async, no random numbers. The caller runs the persona and the judge, and
//! passes their replies. This crate must not know how a model is called or where results are stored.

pub mod limits;

mod text;

mod expectation;
pub use expectation::{Check, Expectation, Judged as JudgedCheck, expectations};

mod check;
pub use check::{Exchange, Finding, Transcript, Verdict, check};

mod judge;
pub use judge::{Ballot, Judging, Question, RUBRIC_VERSION, Vote, read_vote};

mod budget;
pub use budget::{Budget, Cap, Caps, Estimate, Price};

mod run;
pub use run::{
    Cell, CellState, Column, Counts, ExpectationCount, ExpectationResult, InputReport, RunOutcome, RunState,
    Spent, Tally, TestReport, Votes,
};

mod score;
pub use score::{CellScore, Count, cell_state, score, wilson};

mod statistics;
pub use statistics::{fisher, holm, sign_test, t_interval, t_lower_bound};

mod compare;
pub use compare::{
    Comparison, ComparisonVerdict, ExpectationChange, InputChange, MARGIN, compare, flipped_musts,
};

pub mod report;
