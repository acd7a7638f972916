//! Tests of personas: runs their test inputs, checks and judges the replies, and compares versions.
//!
//! `fidelity` decides; this module calls the persona and the judge. A run is a task of this process. Its
//! replies and verdicts are kept by the hash of everything that they depend on, so a run that the budget
//! ended goes on where it stopped, and nothing is paid for twice.

mod cache;
mod cell;
mod events;
mod judging;
mod pieces;
mod plan;
mod planned_inputs;
mod run;

use async_recursion::async_recursion as boxed;
use fidelity::RunState;
pub use fidelity::{RunOutcome, TestReport, report};
use schemars::JsonSchema;
use serde::Serialize;
use store::TestResultKind;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::inputs::{CompareTests, ListTests, TestPersona};
use crate::{Result, Runtime, TestError};
use pieces::Present;
use plan::Plan;

pub(crate) use events::LiveTests;
pub use events::{TestEvent, TestEvents};

/// Cells that run at the same time.
const PARALLEL_CELLS: usize = 4;
/// Cells of one run.
const MOST_CELLS: usize = 2_000;
/// Runs of one process at the same time.
const MOST_RUNS: usize = 16;
/// Finished runs whose events this process keeps. Older ones are read from the database.
const KEPT_RUNS: usize = 64;
/// Changes with the way in which inputs are run: cached replies of another version do not count.
const HARNESS_VERSION: u32 = 2;

/// A run that has begun.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartedTest {
    pub id: Uuid,
}

/// The last runs, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TestList {
    pub items: Vec<TestReport>,
}

impl Runtime {
    /// Starts a test of a persona.
    #[boxed]
    pub async fn start_test(&self, input: TestPersona) -> Result<StartedTest> {
        let plan = Plan::of_test(self, input).await?;
        self.start(plan).await
    }

    /// Starts a comparison of two versions of a persona.
    #[boxed]
    pub async fn start_comparison(&self, input: CompareTests) -> Result<StartedTest> {
        let plan = Plan::of_comparison(self, input).await?;
        self.start(plan).await
    }

    /// Tests a persona to the end. Dropping the future cancels the run.
    #[boxed]
    pub async fn test_persona(&self, input: TestPersona) -> Result<TestReport> {
        let StartedTest { id } = self.start_test(input).await?;
        self.finish_test(id).await
    }

    /// Compares two versions of a persona to the end. Dropping the future cancels the run.
    #[boxed]
    pub async fn compare_persona(&self, input: CompareTests) -> Result<TestReport> {
        let StartedTest { id } = self.start_comparison(input).await?;
        self.finish_test(id).await
    }

    async fn start(&self, plan: Plan) -> Result<StartedTest> {
        let id = plan.id;
        let live = self.tests().begin(plan.report()).ok_or(TestError::TooManyRuns { most: MOST_RUNS })?;
        let database = self.library().scopes.database();
        if let Err(error) = database.prune_test_results().await {
            tracing::debug!(%error, "old test results were not removed");
        }
        cache::keep_run(self.library(), &live.report()).await;
        tokio::spawn(run::drive(self.clone(), plan, live).in_current_span());
        Ok(StartedTest { id })
    }

    async fn finish_test(&self, id: Uuid) -> Result<TestReport> {
        let mut events = self.test_events(id).await?;
        let guard = self.tests().cancel_on_drop(id);
        while events.next().await.is_some() {}
        guard.disarm();
        self.test_run(id).await
    }

    /// A run, under way or over.
    #[boxed]
    pub async fn test_run(&self, id: Uuid) -> Result<TestReport> {
        let mut report = match self.tests().get(id) {
            Some(live) => live.report(),
            None => {
                let database = self.library().scopes.database();
                let kept = database.test_result(TestResultKind::Run, &id.to_string()).await?;
                let mut report = read(kept).ok_or(TestError::Unknown(id))?;
                // Its process died, or is another one.
                if report.state == RunState::Running {
                    report.state = RunState::Unfinished;
                }
                report
            }
        };
        Present::new(self.library()).mark(&mut report).await;
        Ok(report)
    }

    /// The last runs, newest first, without their replies.
    #[boxed]
    pub async fn test_runs(&self, input: ListTests) -> Result<TestList> {
        let most = input.limit.map_or(20, |limit| limit as usize).clamp(1, 100);
        let persona = input.persona.as_ref().map(persona::Name::as_str);
        let database = self.library().scopes.database();
        let kept = database.last_test_results(TestResultKind::Run, persona, most).await?;
        let mut items: Vec<TestReport> = kept.into_iter().filter_map(|text| read(Some(text))).collect();
        let mut present = Present::new(self.library());
        for report in &mut items {
            if let Some(live) = Uuid::parse_str(&report.id).ok().and_then(|id| self.tests().get(id)) {
                *report = live.report();
            } else if report.state == RunState::Running {
                report.state = RunState::Unfinished;
            }
            report.cells.clear();
            present.mark(report).await;
        }
        Ok(TestList { items })
    }

    /// The events of a run: those so far, then new ones until its end.
    #[boxed]
    pub async fn test_events(&self, id: Uuid) -> Result<TestEvents> {
        match self.tests().get(id) {
            Some(live) => Ok(live.follow()),
            None => Ok(TestEvents::of_finished(self.test_run(id).await?)),
        }
    }

    /// Cancels a run. Cells under way become unfinished. A run that is over stays as it is.
    #[boxed]
    pub async fn cancel_test(&self, id: Uuid) -> Result<TestReport> {
        if let Some(live) = self.tests().get(id) {
            live.cancel.cancel();
            let mut events = live.follow();
            while events.next().await.is_some() {}
        }
        self.test_run(id).await
    }
}

fn read(kept: Option<String>) -> Option<TestReport> {
    kept.and_then(|text| serde_json::from_str(&text).ok())
}
