//! Facts about a result, gathered by `app`, for the judgement.

use std::collections::BTreeSet;

use crate::CheckRun;

/// All that is known of a result, the worker's own words apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Absent where there is no git repository.
    pub git: Option<GitFacts>,
    pub tests: TestFacts,
    /// The check that proves the ticket. Absent if none is configured.
    pub check: Option<String>,
    /// The check, as the base defines it, in a fresh checkout of the head.
    pub run: Option<CheckRun>,
    /// The same with the base's versions of the test files. Absent if no test file differs.
    pub run_with_base_tests: Option<CheckRun>,
    /// Commands of the worker's transcript, in order.
    pub ran: Vec<RanCommand>,
    /// The places of the report that exist at the head, as the report writes them.
    pub places: BTreeSet<String>,
    /// The ticket's criteria.
    pub criteria: Vec<String>,
}

/// The work between a base and a head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitFacts {
    pub base: String,
    pub head: String,
    /// True if the head is the base, or has it behind it.
    pub descends: bool,
    /// Paths that are changed or untracked, and not committed.
    pub dirty: Vec<String>,
    /// Paths that differ between base and head, renamed ones with both names.
    pub changed: Vec<String>,
    /// The globs of the paths that the ticket may change.
    pub scope: Vec<String>,
    /// Changed paths outside of it, as [`crate::Scope::outside`] finds them.
    pub out_of_scope: Vec<String>,
}

/// Tests of the base and of the head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestFacts {
    /// Tests that run, at the base and at the head.
    pub base: u64,
    pub head: u64,
    /// Tests of the base that the head lacks, as `path: name`.
    pub deleted: Vec<String>,
    /// Tests that ran at the base and that the head skips, as `path: name`.
    pub skipped: Vec<String>,
    /// Test files of the base that the head changes or lacks.
    pub changed: Vec<String>,
}

/// A command in a worker's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCommand {
    pub command: String,
    /// True if it ended with 0.
    pub succeeded: bool,
}
