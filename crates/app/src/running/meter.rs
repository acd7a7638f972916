//! A budget for calls of models: each call is reserved before it is made.
//!
//! A meter stands before the provider, so it sees every call: those of tool rounds, of summaries, and those
//! that fail and are tried again.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use fidelity::{Budget, Cap, Caps, Refused, Spent, limits};
use futures::{FutureExt as _, Stream, StreamExt as _, stream};
use llm::{
    Block, EventStream, Failure, FailureKind, Message, Model, ModelRef, Price, Provider, ReplyEvent, Request,
    Usage,
};
use persona::TokenCounter as _;
use tokio::sync::Notify;

use super::Runtime;
use super::models::Candidate;
use crate::Tokenizer;

impl Runtime {
    /// The price of a model, if the user configured one.
    pub(crate) fn price(&self, model: &ModelRef) -> Option<Price> {
        self.runner.starter.models.prices.get(model)
    }
}

/// A budget that several meters share.
#[derive(Debug)]
pub struct SharedBudget {
    budget: Mutex<Budget>,
    settled: Notify,
}

impl SharedBudget {
    pub fn new(caps: Caps) -> Arc<Self> {
        Arc::new(Self { budget: Mutex::new(Budget::new(caps)), settled: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Budget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn spent(&self) -> Spent {
        self.lock().spent()
    }

    /// The cap that a call was refused for.
    pub fn reached(&self) -> Option<Cap> {
        self.lock().reached()
    }

    /// Reserves a call. Waits while calls under way hold the rest of the budget.
    async fn reserve(&self, expected: Spent) -> Result<(), Cap> {
        loop {
            // Created before the look at the budget, so that no settling is missed.
            let settled = self.settled.notified();
            let reserved = self.lock().reserve(expected);
            match reserved {
                Ok(()) => return Ok(()),
                Err(Refused::Reached(cap)) => return Err(cap),
                Err(Refused::UnderWay) => settled.await,
            }
        }
    }

    fn settle(&self, expected: Spent, spent: Spent) {
        self.lock().settle(expected, spent);
        self.settled.notify_waiters();
    }
}

/// Counts the calls of one model in one run.
#[derive(Debug)]
pub struct Meter {
    budget: Arc<SharedBudget>,
    price: Option<Price>,
    readings: Mutex<Readings>,
}

#[derive(Debug, Default)]
struct Readings {
    spent: Spent,
    refused: Option<Cap>,
    served: Option<String>,
}

impl Meter {
    pub fn new(budget: &Arc<SharedBudget>, price: Option<Price>) -> Arc<Self> {
        Arc::new(Self { budget: Arc::clone(budget), price, readings: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Readings> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cost of its calls so far.
    pub fn spent(&self) -> Spent {
        self.lock().spent
    }

    /// The cap that one of its calls was refused for.
    pub fn refused(&self) -> Option<Cap> {
        self.lock().refused
    }

    /// The model of the last answer, as the provider names it.
    pub fn take_served(&self) -> Option<String> {
        self.lock().served.take()
    }

    async fn begin(self: &Arc<Self>, request: &Request) -> Result<Call, Cap> {
        let expected = self.expected(request);
        match self.budget.reserve(expected).await {
            Ok(()) => Ok(Call { meter: Arc::clone(self), expected, has_begun: false, is_settled: false }),
            Err(cap) => {
                self.lock().refused = Some(cap);
                Err(cap)
            }
        }
    }

    /// The cost of a call before it is made. Tokens are counted only if they matter.
    fn expected(&self, request: &Request) -> Spent {
        if !self.budget.lock().bounds_tokens() {
            return Spent { calls: 1, ..Spent::default() };
        }
        let most = request.sampling.max_output_tokens.map_or(u64::MAX, u64::from);
        let usage = Usage {
            input_tokens: input_tokens(request),
            output_tokens: limits::REPLY_TOKENS.min(most),
            ..Usage::default()
        };
        self.call(usage)
    }

    /// One call with its usage.
    fn call(&self, usage: Usage) -> Spent {
        let Usage { input_tokens, output_tokens, .. } = usage;
        Spent { calls: 1, input_tokens, output_tokens, cost: self.price.map(|price| price.of(usage)) }
    }
}

/// The tokens of a request, as counted here.
pub(crate) fn input_tokens(request: &Request) -> u64 {
    let count = |text: &str| Tokenizer.count(text) as u64;
    let block = |block: &Block| match block {
        Block::Text { text, .. } => count(text),
        Block::ToolCall(block) => count(&serde_json::to_string(&block.call.input).unwrap_or_default()),
    };
    let message = |message: &Message| -> u64 {
        match message {
            Message::User { results, texts } => {
                let results = results.iter().map(|result| count(&result.output));
                results.chain(texts.iter().map(|text| count(text))).sum()
            }
            Message::Assistant(blocks) => blocks.iter().map(block).sum(),
        }
    };
    let tools = request.tools.iter().map(|tool| {
        count(&tool.description) + count(&serde_json::to_string(&*tool.input_schema).unwrap_or_default())
    });
    count(&request.system.text())
        + request.messages.iter().map(|shared| message(shared)).sum::<u64>()
        + tools.sum::<u64>()
}

/// A reserved call. It is settled once, however it ends.
struct Call {
    meter: Arc<Meter>,
    expected: Spent,
    /// True once the model has said something.
    has_begun: bool,
    is_settled: bool,
}

impl Call {
    fn settle(&mut self, spent: Spent) {
        if !std::mem::replace(&mut self.is_settled, true) {
            self.meter.lock().spent.add(spent);
            self.meter.budget.settle(self.expected, spent);
        }
    }

    /// Settles a call that has no usage: an answer that broke off counts as expected, none costs nothing.
    fn break_off(&mut self) {
        let failed = Spent { calls: 1, ..Spent::default() };
        self.settle(if self.has_begun { self.expected } else { failed });
    }

    fn on_event(&mut self, event: &Result<ReplyEvent, Failure>) {
        match event {
            Ok(ReplyEvent::Finished { usage, model, .. }) => {
                if let Some(model) = model {
                    self.meter.lock().served = Some(model.clone());
                }
                self.settle(self.meter.call(*usage));
            }
            Ok(ReplyEvent::Started { .. }) => {}
            Ok(_) => self.has_begun = true,
            Err(_) => self.break_off(),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.break_off();
    }
}

/// A reply that settles its call.
struct Counted {
    stream: EventStream,
    call: Call,
}

impl Stream for Counted {
    type Item = Result<ReplyEvent, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.stream.as_mut().poll_next(context));
        if let Some(event) = &event {
            self.call.on_event(event);
        }
        Poll::Ready(event)
    }
}

/// A provider whose calls are counted.
#[derive(Debug)]
struct Metered {
    provider: Arc<dyn Provider>,
    meter: Arc<Meter>,
}

impl Provider for Metered {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn stream(&self, request: Request) -> EventStream {
        let (provider, meter) = (Arc::clone(&self.provider), Arc::clone(&self.meter));
        let reply = async move {
            match meter.begin(&request).await {
                Ok(call) => Counted { stream: provider.stream(request), call }.left_stream(),
                Err(cap) => {
                    let message = format!("{} is reached", cap.as_str());
                    let failure = Failure::new(FailureKind::Rejected, message);
                    stream::once(std::future::ready(Err(failure))).right_stream()
                }
            }
        };
        Box::pin(reply.flatten_stream())
    }

    fn models(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, Failure>> + Send + '_>> {
        self.provider.models()
    }

    fn context_tokens(&self, model: &str) -> Option<u32> {
        self.provider.context_tokens(model)
    }
}

/// Puts a meter before a provider, if there is one.
pub(super) fn metered(provider: Arc<dyn Provider>, meter: Option<&Arc<Meter>>) -> Arc<dyn Provider> {
    match meter {
        Some(meter) => Arc::new(Metered { provider, meter: Arc::clone(meter) }),
        None => provider,
    }
}

/// The same for the models of a run.
pub(super) fn all_metered(mut candidates: Vec<Candidate>, meter: Option<&Arc<Meter>>) -> Vec<Candidate> {
    for candidate in &mut candidates {
        candidate.provider = metered(Arc::clone(&candidate.provider), meter);
    }
    candidates
}
