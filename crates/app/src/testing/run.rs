//! Drives a run: some cells at a time, until all are done, the budget ends or it is cancelled.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{SecondsFormat, Utc};
use fidelity::{Budget, Cell, CellState, RunState, Spent, TestReport};
use futures::StreamExt as _;

use super::cell::{self, Bench};
use super::events::{LiveTest, TestEvent};
use super::plan::Plan;
use super::{PARALLEL_CELLS, cache};
use crate::Runtime;

pub(super) async fn drive(runtime: Runtime, plan: Plan, live: Arc<LiveTest>) {
    let _guard = EndOnDrop(Arc::clone(&live));
    let budget = Mutex::new(Budget::new(plan.caps));
    let first = live.report().cells;
    run_cells(&runtime, &plan, &live, &budget, first).await;
    if plan.columns.len() == 2 && !live.cancel.is_cancelled() {
        let again = plan.flipped(&live.report());
        run_cells(&runtime, &plan, &live, &budget, again).await;
    }
    let budget = budget.into_inner().unwrap_or_else(PoisonError::into_inner);
    live.update(|report| {
        report.spent = budget.spent();
        report.reached = budget.reached();
        report.ended_at = Some(now());
        report.tally();
        let is_open = report.cells.iter().any(|cell| cell.state == CellState::Unfinished);
        if let ([a, b], false) = (plan.columns.as_slice(), is_open) {
            let of = |column: &str| -> Vec<Cell> {
                report.cells.iter().filter(|cell| cell.column == column).cloned().collect()
            };
            report.comparison = Some(fidelity::compare(&of(&a.name), &of(&b.name)));
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
    budget: &Mutex<Budget>,
    cells: Vec<Cell>,
) {
    let running = cells.into_iter().filter_map(|cell| {
        let column = plan.columns.iter().find(|column| column.name == cell.column)?;
        let input = plan.inputs.iter().find(|input| input.input.name.as_str() == cell.input)?;
        Some(async move {
            let spent = Mutex::new(Spent::default());
            let bench = Bench { runtime, plan, column, budget, cancel: &live.cancel, spent };
            let cell = Cell { state: CellState::Running, ..cell };
            live.put(cell.clone());
            live.put(cell::run(&bench, input, cell).await);
            let spent = budget.lock().unwrap_or_else(PoisonError::into_inner).spent();
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
