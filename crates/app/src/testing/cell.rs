//! One cell: the conversation with the persona, then the verdicts about it.

use std::sync::Arc;
use std::time::Instant;

use agent::{End, TurnBody};
use fidelity::{Cap, Cell, CellState, Exchange, ExpectationResult, Transcript};
use tokio_util::sync::CancellationToken;

use super::cache::{Cache, reply_key};
use super::judging::judge;
use super::plan::{Plan, PlannedColumn};
use super::planned_inputs::PlannedInput;
use crate::Runtime;
use crate::running::{Meter, Performance, Performed};

/// The surroundings of a cell.
pub(super) struct Bench<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) plan: &'a Plan,
    pub(super) column: &'a PlannedColumn,
    pub(super) cancel: &'a CancellationToken,
    /// Counts the calls of the persona's model for this cell.
    pub(super) subject: Arc<Meter>,
    /// Counts those of the judge.
    pub(super) judge: Arc<Meter>,
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
}

/// Runs a cell to its end.
pub(super) async fn run(bench: &Bench<'_>, input: &PlannedInput, mut cell: Cell) -> Cell {
    let started = Instant::now();
    let done = converse_and_judge(bench, input, &mut cell).await;
    let mut spent = bench.subject.spent();
    spent.add(bench.judge.spent());
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
    let files = files(bench, input).await?;
    let key = reply_key(&bench.column.key, &input.input, &files, cell.sample);
    if let Some(kept) = bench.cache().reply(&key).await {
        cell.cached = true;
        return Ok(kept);
    }
    let content = input.input.content.iter().chain(&input.input.turns);
    let (mut history, mut exchanges) = (Vec::new(), Vec::new());
    for message in content {
        if bench.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        let performance = Performance {
            history: std::mem::take(&mut history),
            message: message.clone(),
            meter: Some(Arc::clone(&bench.subject)),
            cancel: bench.cancel.child_token(),
            ..bench.column.performance()
        };
        let before = performance.history.clone();
        let performed = bench.runtime.perform(performance).await;
        let performed = performed.map_err(|error| Stop::Failed(error.to_string()))?;
        // A reply without one of its calls is not the persona's, even if the run went on.
        if let Some(cap) = bench.subject.refused() {
            return Err(Stop::Budget(cap));
        }
        match performed.end {
            End::Cancelled => return Err(Stop::Cancelled),
            End::Failed => {
                let message = performed.error().map_or("the run failed", |(_, message)| message);
                return Err(Stop::Failed(message.to_owned()));
            }
            End::EndTurn | End::MaxTokens | End::Refusal | End::MaxToolRounds | End::LoopDetected => {}
        }
        exchanges.push(exchange(message, &performed, bench.subject.take_served()));
        history = before.into_iter().chain(performed.turns).collect();
    }
    bench.cache().keep_reply(&key, &bench.column.key, &exchanges).await;
    Ok(exchanges)
}

/// The text of the files that each message brings along. Empty for a persona without files.
async fn files(bench: &Bench<'_>, input: &PlannedInput) -> Result<Vec<String>, Stop> {
    let Some(wanted) = &bench.column.subject.files else { return Ok(Vec::new()) };
    let mut texts = Vec::new();
    for message in input.input.content.iter().chain(&input.input.turns) {
        let context = bench.runtime.files_for(wanted, message).await;
        texts.push(context.map_err(|error| Stop::Failed(error.to_string()))?.text);
    }
    Ok(texts)
}

fn exchange(message: &str, performed: &Performed, model: Option<String>) -> Exchange {
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
        model,
    }
}
