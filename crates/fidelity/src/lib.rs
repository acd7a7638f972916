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
pub use judge::{
    ANSWER_NAME, Answerer, Ballot, Judging, Question, RUBRIC_VERSION, Vote, answer_schema, is_same_model,
    read_vote,
};

mod budget;
pub use budget::{Budget, Cap, Caps, Estimate, Refused};

mod cell;
pub use cell::{Cell, CellState, ExpectationResult, Votes};

mod score;
pub use score::{CellScore, Count, Ruling, cell_state, rule, score, wilson};

mod tally;
pub use tally::{AspectCount, Counts, ExpectationCount, InputReport, Tally};

mod run;
pub use run::{Baseline, Column, Piece, RunOutcome, RunState, Spent, TestReport};

mod statistics;
pub use statistics::{fisher, holm, sign_test, t_interval, t_lower_bound};

mod compare;
pub use compare::{
    Comparison, ComparisonVerdict, ExpectationChange, InputChange, MARGIN, compare, flipped_musts,
};

mod lift;
pub use lift::{ExpectationLift, InputLift, Lift, NO_PERSONA, lift};

pub mod report;
