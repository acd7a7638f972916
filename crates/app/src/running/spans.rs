//! The spans of a run, as OpenTelemetry's conventions for generative AI name them.
//!
//! A span has names, ids and figures. It never has a prompt, a message, or the input or output of a tool.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agent::{End, ErrorCode};
use futures::Stream;
use llm::{EventStream, Failure, Provider, ReplyEvent, Request, StopReason, ToolCall, Usage};
use tools::Outcome;
use tracing::field::{self, Empty};
use tracing::{Span, info_span};

use super::drive::Driven;
use super::record::Record;

/// The span of a run, from its message to its end or until it waits.
pub(super) fn invoke_agent(record: &Record) -> Span {
    let persona = &record.session.persona;
    info_span!(
        target: "traces",
        "invoke_agent",
        otel.name = %format_args!("invoke_agent {persona}"),
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = %persona,
        gen_ai.conversation.id = record.stored_session().map(field::display),
        gen_ai.provider.name = Empty,
        gen_ai.request.model = Empty,
        masque.run.end = Empty,
        "error.type" = Empty,
    )
}

/// Records how a run ended.
pub(super) fn end_run(span: &Span, driven: Driven) {
    let end = match driven {
        Driven::Ended(end) => end.as_str(),
        Driven::Waiting => "waiting",
        Driven::Lost => "lost",
    };
    span.record("masque.run.end", end);
    if matches!(driven, Driven::Ended(End::Failed) | Driven::Lost) {
        span.record("otel.status_code", "ERROR");
    }
}

/// Records the reason why the current run fails.
pub(super) fn fail_run(code: ErrorCode) {
    Span::current().record("error.type", word(&code));
}

/// The span of a tool's call.
pub(super) fn execute_tool(record: &Record, call: &ToolCall) -> Span {
    info_span!(
        target: "traces",
        "execute_tool",
        otel.name = %format_args!("execute_tool {}", call.name),
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        gen_ai.tool.call.id = call.id,
        "gen_ai.tool.type" = "function",
        gen_ai.agent.name = %record.session.persona,
        gen_ai.conversation.id = record.stored_session().map(field::display),
        "error.type" = Empty,
    )
}

/// Records how a tool's call ended. Its text stays out.
pub(super) fn end_tool(span: &Span, outcome: &Outcome) {
    if span.is_disabled() || !outcome.is_error {
        return;
    }
    span.record("otel.status_code", "ERROR");
    match &outcome.refusal {
        Some(refusal) => span.record("error.type", word(refusal)),
        None => span.record("error.type", "tool_error"),
    };
}

/// Calls a model within a span, which ends with the reply. `record` is the run's, if there is one.
pub(super) fn chat(provider: &dyn Provider, request: Request, record: Option<&Record>) -> EventStream {
    let (vendor, sampling) = (vendor(provider.name()), request.sampling);
    // The run's span names its last model.
    Span::current().record("gen_ai.provider.name", vendor).record("gen_ai.request.model", &request.model);
    let span = info_span!(
        target: "traces",
        "chat",
        otel.name = %format_args!("chat {}", request.model),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = vendor,
        gen_ai.request.model = request.model,
        gen_ai.request.temperature = sampling.temperature,
        gen_ai.request.top_p = sampling.top_p,
        gen_ai.request.max_tokens = sampling.max_output_tokens,
        gen_ai.agent.name = record.map(|record| field::display(&record.session.persona)),
        gen_ai.conversation.id = record.and_then(Record::stored_session).map(field::display),
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        "error.type" = Empty,
    );
    let stream = provider.stream(request);
    if span.is_disabled() { stream } else { Box::pin(Traced { stream, span: Some(span) }) }
}

/// The conventions' name of a provider with this configured name. Others are their own names.
fn vendor(name: &str) -> &str {
    match name {
        "gemini" => "gcp.gemini",
        name => name,
    }
}

/// A reply whose end its span records.
struct Traced {
    stream: EventStream,
    /// None once the reply has ended.
    span: Option<Span>,
}

impl Stream for Traced {
    type Item = Result<ReplyEvent, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.stream.as_mut().poll_next(context));
        match &event {
            Some(Ok(ReplyEvent::Finished { stop, usage, model })) => {
                self.end(|span| finish(span, *stop, *usage, model.as_deref()));
            }
            Some(Ok(_)) => {}
            Some(Err(failure)) => self.end(|span| fail(span, &word(&failure.kind))),
            None => self.end(|span| fail(span, "transport")),
        }
        Poll::Ready(event)
    }
}

impl Traced {
    /// Ends the span, unless it has ended.
    fn end(&mut self, record: impl FnOnce(&Span)) {
        if let Some(span) = self.span.take() {
            record(&span);
        }
    }
}

impl Drop for Traced {
    /// Nobody waits for the rest: the run was cancelled, or the reply is too long.
    fn drop(&mut self) {
        self.end(|span| {
            span.record("error.type", "cancelled");
        });
    }
}

fn finish(span: &Span, stop: StopReason, usage: Usage, model: Option<&str>) {
    span.record("gen_ai.response.model", model);
    span.record("gen_ai.response.finish_reasons", finish_reason(stop));
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    // Providers that cache nothing say nothing about it.
    if usage.cache_read_tokens > 0 {
        span.record("gen_ai.usage.cache_read.input_tokens", usage.cache_read_tokens);
    }
    if usage.cache_write_tokens > 0 {
        span.record("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens);
    }
}

fn fail(span: &Span, kind: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

/// The conventions' word for the end of a reply.
fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn => "stop",
        StopReason::ToolUse => "tool_call",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Pause => "pause",
    }
}

/// The word that a code has in JSON.
fn word(code: &impl serde::Serialize) -> String {
    match serde_json::to_value(code) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "_OTHER".to_owned(),
    }
}
