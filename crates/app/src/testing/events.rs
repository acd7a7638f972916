//! Runs of this process, and their events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fidelity::{Cell, CellState, RunState, TestReport};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{KEPT_RUNS, MOST_RUNS};

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TestEvent {
    CellStarted {
        cell: Cell,
    },
    CellFinished {
        cell: Cell,
    },
    /// The run is over. Its report has no cells here: each was sent when it finished.
    RunFinished {
        report: Box<TestReport>,
    },
}

impl TestEvent {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CellStarted { .. } => "cell_started",
            Self::CellFinished { .. } => "cell_finished",
            Self::RunFinished { .. } => "run_finished",
        }
    }
}

/// A run of this process.
#[derive(Debug)]
pub(crate) struct LiveTest {
    id: Uuid,
    state: Mutex<State>,
    /// The number of events so far.
    news: watch::Sender<usize>,
    pub(super) cancel: CancellationToken,
}

#[derive(Debug)]
struct State {
    report: TestReport,
    log: Vec<TestEvent>,
}

impl LiveTest {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn report(&self) -> TestReport {
        let mut report = self.lock().report.clone();
        report.tally();
        report
    }

    /// Changes the report, and tells viewers.
    pub(super) fn update(&self, change: impl FnOnce(&mut TestReport) -> Option<TestEvent>) {
        let mut state = self.lock();
        let event = change(&mut state.report);
        state.log.extend(event);
        let count = state.log.len();
        drop(state);
        self.news.send_replace(count);
    }

    /// A cell has begun or ended: replaces it in the report.
    pub(super) fn put(&self, cell: Cell) {
        self.update(|report| {
            let is_same = |known: &&mut Cell| {
                known.input == cell.input && known.column == cell.column && known.sample == cell.sample
            };
            match report.cells.iter_mut().find(is_same) {
                Some(known) => *known = cell.clone(),
                None => report.cells.push(cell.clone()),
            }
            Some(match cell.state {
                CellState::Waiting | CellState::Running => TestEvent::CellStarted { cell },
                _ => TestEvent::CellFinished { cell },
            })
        });
    }

    pub(super) fn follow(self: &Arc<Self>) -> TestEvents {
        TestEvents(Source::Live { test: Arc::clone(self), news: self.news.subscribe(), next: 0 })
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().report.state != RunState::Running
    }
}

/// The events of a run, in order.
#[derive(Debug)]
pub struct TestEvents(Source);

#[derive(Debug)]
enum Source {
    Live { test: Arc<LiveTest>, news: watch::Receiver<usize>, next: usize },
    Finished(VecDeque<TestEvent>),
}

impl TestEvents {
    /// The events of a run that is over, made from its report.
    pub(super) fn of_finished(mut report: TestReport) -> Self {
        let cells = std::mem::take(&mut report.cells);
        let mut events: VecDeque<TestEvent> =
            cells.into_iter().map(|cell| TestEvent::CellFinished { cell }).collect();
        events.push_back(TestEvent::RunFinished { report: Box::new(report) });
        Self(Source::Finished(events))
    }

    /// The next event. None after the run has ended.
    pub async fn next(&mut self) -> Option<TestEvent> {
        match &mut self.0 {
            Source::Finished(events) => events.pop_front(),
            Source::Live { test, news, next } => loop {
                news.borrow_and_update();
                // Under one lock: the last event comes together with the end.
                let (event, is_over) = {
                    let state = test.lock();
                    (state.log.get(*next).cloned(), state.report.state != RunState::Running)
                };
                if event.is_some() || is_over {
                    *next += 1;
                    return event;
                }
                news.changed().await.ok()?;
            },
        }
    }
}

/// The runs of this process: those under way, and the last ones.
#[derive(Debug, Default)]
pub(crate) struct LiveTests(Mutex<VecDeque<Arc<LiveTest>>>);

impl LiveTests {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<LiveTest>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run. None if too many are under way.
    pub(super) fn begin(&self, report: TestReport) -> Option<Arc<LiveTest>> {
        let mut runs = self.lock();
        if runs.iter().filter(|run| !run.is_over()).count() >= MOST_RUNS {
            return None;
        }
        while runs.len() >= KEPT_RUNS {
            let over = runs.iter().position(|run| run.is_over())?;
            runs.remove(over);
        }
        let live = Arc::new(LiveTest {
            id: Uuid::parse_str(&report.id).unwrap_or_default(),
            state: Mutex::new(State { report, log: Vec::new() }),
            news: watch::Sender::new(0),
            cancel: CancellationToken::new(),
        });
        runs.push_back(Arc::clone(&live));
        Some(live)
    }

    pub(super) fn get(&self, id: Uuid) -> Option<Arc<LiveTest>> {
        self.lock().iter().find(|run| run.id == id).cloned()
    }

    /// Cancels the run if the guard is dropped before it is disarmed.
    pub(super) fn cancel_on_drop(&self, id: Uuid) -> CancelOnDrop {
        CancelOnDrop(self.get(id))
    }

    /// True while a run is under way.
    pub(crate) fn has_running(&self) -> bool {
        self.lock().iter().any(|run| !run.is_over())
    }

    /// Cancels every run: the process ends.
    pub(crate) fn cancel_all(&self) {
        self.lock().iter().for_each(|run| run.cancel.cancel());
    }
}

pub(super) struct CancelOnDrop(Option<Arc<LiveTest>>);

impl CancelOnDrop {
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(live) = &self.0 {
            live.cancel.cancel();
        }
    }
}
