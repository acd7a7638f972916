//! One cell: the conversation with the persona, then the verdicts about it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

use agent::{End, Note, TurnBody};
use fidelity::{Budget, Cap, Cell, CellState, Exchange, ExpectationResult, Spent, Transcript};
use llm::{ModelRef, Usage};
use tokio_util::sync::CancellationToken;

use super::cache::{Cache, reply_key};
use super::judging::judge;
use super::plan::{Plan, PlannedColumn, PlannedInput};
use crate::Runtime;
use crate::running::{Performance, Performed};

/// The surroundings of a cell.
pub(super) struct Bench<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) plan: &'a Plan,
    pub(super) column: &'a PlannedColumn,
    pub(super) budget: &'a Mutex<Budget>,
    pub(super) cancel: &'a CancellationToken,
    /// What this cell has spent.
    pub(super) spent: Mutex<Spent>,
}

/// The reason why a cell has no verdict.
#[derive(Debug)]
pub(super) enum Stop {
    Budget(Cap),
    Cancelled,
    Failed(String),
}

impl Bench<'_> {
    pub(super) fn cache(&self) -> &Cache {
        &self.plan.cache
    }

    /// Reserves a call.
    pub(super) fn reserve(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).reserve().map_err(Stop::Budget)
    }

    /// Settles a reserved call with the calls that were made.
    pub(super) fn settle(&self, calls: Vec<(ModelRef, Usage)>) {
        let mut spent = Spent::default();
        for (_, usage) in calls {
            // No provider tells its prices: see `Plan`.
            spent.add(Spent {
                calls: 1,
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cost: None,
            });
        }
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).settle(spent);
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).add(spent);
    }
}

/// Runs a cell to its end.
pub(super) async fn run(bench: &Bench<'_>, input: &PlannedInput, mut cell: Cell) -> Cell {
    let started = Instant::now();
    let done = converse_and_judge(bench, input, &mut cell).await;
    let spent = *bench.spent.lock().unwrap_or_else(PoisonError::into_inner);
    (cell.tokens, cell.cost) = (spent.tokens(), spent.cost);
    cell.ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match done {
        Ok(results) => cell.decide(results, bench.plan.pass),
        Err(stop) => {
            (cell.state, cell.error) = match stop {
                Stop::Budget(cap) => (CellState::Unfinished, Some(format!("{} is reached", cap.as_str()))),
                Stop::Cancelled => (CellState::Unfinished, Some("the run was cancelled".to_owned())),
                Stop::Failed(message) => (CellState::Error, Some(message)),
            };
        }
    }
    cell
}

async fn converse_and_judge(
    bench: &Bench<'_>,
    input: &PlannedInput,
    cell: &mut Cell,
) -> Result<Vec<ExpectationResult>, Stop> {
    let exchanges = converse(bench, input, cell).await?;
    cell.reply = exchanges.last().map(|exchange| exchange.reply.clone());
    let transcript = Transcript { prompt: &bench.column.subject.prompt, exchanges: &exchanges };
    let mut results = Vec::with_capacity(input.expectations.len());
    for expectation in &input.expectations {
        results.push(match fidelity::check(expectation, transcript, &crate::Tokenizer) {
            Some(finding) => ExpectationResult::new(expectation, finding, None),
            None => judge(bench, expectation, transcript).await?,
        });
    }
    Ok(results)
}

/// The conversation: a kept one, or a new one.
async fn converse(bench: &Bench<'_>, input: &PlannedInput, cell: &mut Cell) -> Result<Vec<Exchange>, Stop> {
    let key = reply_key(&bench.column.key, &input.input, cell.sample);
    if let Some(kept) = bench.cache().reply(&key).await {
        cell.cached = true;
        return Ok(kept);
    }
    let content = input.input.content.iter().chain(&input.input.turns);
    let (mut history, mut exchanges) = (Vec::new(), Vec::new());
    for message in content {
        bench.reserve()?;
        let performance = Performance {
            history: std::mem::take(&mut history),
            message: message.clone(),
            cancel: bench.cancel.child_token(),
            ..bench.column.performance()
        };
        let before = performance.history.clone();
        let performed = match bench.runtime.perform(performance).await {
            Ok(performed) => performed,
            Err(error) => {
                bench.settle(Vec::new());
                return Err(Stop::Failed(error.to_string()));
            }
        };
        bench.settle(usages(&performed));
        match performed.end {
            End::Cancelled => return Err(Stop::Cancelled),
            End::Failed => {
                let message = performed.error().map_or("the run failed", |(_, message)| message);
                return Err(Stop::Failed(message.to_owned()));
            }
            End::EndTurn | End::MaxTokens | End::Refusal | End::MaxToolRounds | End::LoopDetected => {}
        }
        exchanges.push(exchange(message, &performed));
        history = before.into_iter().chain(performed.turns).collect();
    }
    bench.cache().keep_reply(&key, &bench.column.key, &exchanges).await;
    Ok(exchanges)
}

fn usages(performed: &Performed) -> Vec<(ModelRef, Usage)> {
    let usages = performed.notes.iter().filter_map(|note| match note {
        Note::Usage { model, usage, .. } => Some((model.clone(), *usage)),
        _ => None,
    });
    usages.collect()
}

fn exchange(message: &str, performed: &Performed) -> Exchange {
    let texts = performed.turns.iter().filter_map(|turn| match &turn.body {
        TurnBody::AssistantText { content } => Some(content.as_str()),
        _ => None,
    });
    let calls = performed.turns.iter().filter_map(|turn| match &turn.body {
        TurnBody::ToolCall { call, .. } => Some(call.name.clone()),
        _ => None,
    });
    Exchange {
        user: message.to_owned(),
        reply: texts.collect::<Vec<_>>().join("\n\n"),
        calls: calls.collect(),
        end: performed.end.as_str().to_owned(),
    }
}
