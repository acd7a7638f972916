//! Collects the events of an answer.

use std::collections::VecDeque;

use llm::{CallBlock, ProviderState, ReplyEvent, StopReason, ToolCall, ToolInput, Usage};
use serde_json::Value;

/// The events of one answer, in the order and form that [`llm::ReplyEvent`] promises.
#[derive(Debug)]
pub(crate) struct ReplyEvents {
    provider: String,
    events: VecDeque<ReplyEvent>,
    text_bytes: usize,
    calls: usize,
    model: Option<String>,
    finished: bool,
}

impl ReplyEvents {
    /// `provider` is the configured name, under which state is kept.
    pub(crate) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            events: VecDeque::new(),
            text_bytes: 0,
            calls: 0,
            model: None,
            finished: false,
        }
    }

    pub(crate) fn next(&mut self) -> Option<ReplyEvent> {
        self.events.pop_front()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Bytes of the text that is not yet complete.
    pub(crate) fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    pub(crate) fn started(&mut self, request_id: Option<String>) {
        self.events.push_back(ReplyEvent::Started { request_id });
    }

    /// The model that answers, as the provider names it. Every piece of an answer may say so.
    pub(crate) fn model(&mut self, name: Option<&str>) {
        if let (None, Some(name)) = (&self.model, name.filter(|name| !name.is_empty())) {
            self.model = Some(name.to_owned());
        }
    }

    /// Pieces that arrive together are one delta.
    pub(crate) fn text(&mut self, text: impl Into<String> + AsRef<str>) {
        self.text_bytes += text.as_ref().len();
        match self.events.back_mut() {
            _ if text.as_ref().is_empty() => {}
            Some(ReplyEvent::TextDelta(delta)) => delta.push_str(text.as_ref()),
            _ => self.events.push_back(ReplyEvent::TextDelta(text.into())),
        }
    }

    pub(crate) fn reasoning(&mut self, text: impl Into<String> + AsRef<str>) {
        match self.events.back_mut() {
            _ if text.as_ref().is_empty() => {}
            Some(ReplyEvent::ReasoningDelta(delta)) => delta.push_str(text.as_ref()),
            _ => self.events.push_back(ReplyEvent::ReasoningDelta(text.into())),
        }
    }

    /// Completes the text, if there is text or state.
    pub(crate) fn end_text(&mut self, state: Option<Value>) {
        if self.text_bytes > 0 || state.is_some() {
            self.text_bytes = 0;
            let state = self.state(state);
            self.events.push_back(ReplyEvent::TextEnd { state });
        }
    }

    pub(crate) fn call(&mut self, id: String, name: String, input: ToolInput, state: Option<Value>) {
        self.calls += 1;
        let state = self.state(state);
        let (input, malformed) = input.into_parts();
        let call = ToolCall { id, name, input };
        self.events.push_back(ReplyEvent::ToolCall(CallBlock { call, malformed, state }));
    }

    pub(crate) fn finish(&mut self, stop: StopReason, usage: Usage) {
        self.finished = true;
        self.events.push_back(ReplyEvent::Finished { stop, usage, model: self.model.take() });
    }

    /// The stop reason of an answer that was neither cut nor refused. The calls decide, whatever the
    /// provider says.
    pub(crate) fn natural_stop(&self) -> StopReason {
        if self.calls > 0 { StopReason::ToolUse } else { StopReason::EndTurn }
    }

    fn state(&self, data: Option<Value>) -> Option<ProviderState> {
        data.map(|data| ProviderState { provider: self.provider.clone(), data })
    }
}
