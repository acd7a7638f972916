//! Drives a run: some cells at a time, until all are done, the budget ends or it is cancelled.

use std::sync::Arc;

use chrono::{SecondsFormat, Utc};
use fidelity::{Cell, CellState, RunState, TestReport};
use futures::StreamExt as _;

use super::cell::{self, Bench};
use super::events::{LiveTest, TestEvent};
use super::plan::Plan;
use super::{PARALLEL_CELLS, cache};
use crate::Runtime;
use crate::running::{Meter, SharedBudget};

pub(super) async fn drive(runtime: Runtime, plan: Plan, live: Arc<LiveTest>) {
    let _guard = EndOnDrop(Arc::clone(&live));
    let budget = SharedBudget::new(plan.caps);
    let first = live.report().cells;
    run_cells(&runtime, &plan, &live, &budget, first).await;
    if plan.columns.len() == 2 && !live.cancel.is_cancelled() {
        let again = plan.flipped(&live.report());
        run_cells(&runtime, &plan, &live, &budget, again).await;
    }
    live.update(|report| {
        report.spent = budget.spent();
        report.reached = budget.reached();
        report.ended_at = Some(now());
        report.tally();
        let is_open = report.cells.iter().any(|cell| cell.state == CellState::Unfinished);
        if !is_open {
            sum_up(&plan, report);
        }
        None
    });
    let mut report = live.report();
    let is_open = report.cells.iter().any(|cell| cell.state == CellState::Unfinished);
    report.state = match (live.cancel.is_cancelled(), is_open) {
        (true, true) => RunState::Cancelled,
        (false, true) => RunState::Unfinished,
        (_, false) => RunState::Finished,
    };
    // Stored before it is announced: a viewer that sees the end finds the run.
    cache::keep_run(runtime.library(), &report).await;
    live.update(|known| {
        known.state = report.state;
        report.cells.clear();
        Some(TestEvent::RunFinished { report: Box::new(report) })
    });
}

/// Compares the versions, or the persona with its model, once all cells have run.
fn sum_up(plan: &Plan, report: &mut TestReport) {
    let of = |column: &str| -> Vec<Cell> { report.of_column(column).cloned().collect() };
    match (plan.columns.as_slice(), &plan.baseline) {
        ([a, b], _) => report.comparison = Some(fidelity::compare(&of(&a.name), &of(&b.name))),
        ([with], Some(without)) => report.lift = Some(fidelity::lift(&of(&with.name), &of(&without.name))),
        _ => {}
    }
}

/// Ends a run whose task failed, so that no viewer waits for it.
struct EndOnDrop(Arc<LiveTest>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if self.0.is_over() {
            return;
        }
        self.0.update(|report| {
            report.state = RunState::Unfinished;
            let report = TestReport { cells: Vec::new(), ..report.clone() };
            Some(TestEvent::RunFinished { report: Box::new(report) })
        });
    }
}

/// Runs cells, some at a time.
async fn run_cells(
    runtime: &Runtime,
    plan: &Plan,
    live: &Arc<LiveTest>,
    budget: &Arc<SharedBudget>,
    cells: Vec<Cell>,
) {
    let running = cells.into_iter().filter_map(|cell| {
        let column = plan.all_columns().find(|column| column.name == cell.column)?;
        let input = plan.inputs.iter().find(|input| input.input.name.as_str() == cell.input)?;
        Some(async move {
            let subject = Meter::new(budget, runtime.price(&column.subject.model));
            let judge = Meter::new(budget, plan.judge.as_ref().and_then(|judge| runtime.price(judge)));
            let bench = Bench { runtime, plan, column, cancel: &live.cancel, subject, judge };
            let cell = Cell { state: CellState::Running, ..cell };
            live.put(cell.clone());
            live.put(cell::run(&bench, input, cell).await);
            let spent = budget.spent();
            live.update(|report| {
                report.spent = spent;
                None
            });
        })
    });
    futures::stream::iter(running).buffer_unordered(PARALLEL_CELLS).collect::<Vec<()>>().await;
}

pub(super) fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}
