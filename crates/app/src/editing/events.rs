//! The six events of the chat with the editing agent.

use agent::{End, Event};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

/// An event of the chat. `done` and `error` end it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ChatEvent {
    /// A piece of text on its way.
    TextDelta {
        content: String,
    },
    /// A whole text. It replaces the pieces before it.
    TextComplete {
        id: Uuid,
        content: String,
    },
    ToolCall {
        id: Uuid,
        tool_use_id: String,
        tool_name: String,
        input: Map<String, Value>,
    },
    ToolResult {
        id: Uuid,
        tool_use_id: String,
        output: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// The agent ended its turn.
    Done,
    /// The agent did not end its turn.
    Error {
        message: String,
    },
}

/// Translates the events of a run. Those without a counterpart are dropped.
#[derive(Debug, Default)]
pub struct ChatEvents {
    /// Why the run fails. Its end follows.
    failure: Option<String>,
    is_over: bool,
}

impl ChatEvents {
    /// The last event of a stream that ends before its run: the server stops, or the session is deleted.
    /// `None` if the run has ended.
    pub fn cut_off(&mut self) -> Option<ChatEvent> {
        let message = "the stream ended before the answer did; the history has what follows".to_owned();
        (!std::mem::replace(&mut self.is_over, true)).then_some(ChatEvent::Error { message })
    }

    pub fn translate(&mut self, event: &Event) -> Option<ChatEvent> {
        self.is_over |= event.is_last();
        Some(match event.clone() {
            Event::TextDelta { content } => ChatEvent::TextDelta { content },
            Event::TextComplete { id, content } => ChatEvent::TextComplete { id, content },
            Event::ToolCall { id, call } => {
                ChatEvent::ToolCall { id, tool_use_id: call.id, tool_name: call.name, input: call.input }
            }
            Event::ToolResult { id, tool_use_id, output, is_error, refusal: _ } => {
                ChatEvent::ToolResult { id, tool_use_id, output, is_error }
            }
            Event::Done { stop_reason: End::EndTurn } => ChatEvent::Done,
            Event::Done { stop_reason } => {
                let message = self.failure.take().unwrap_or_else(|| ended(stop_reason).to_owned());
                ChatEvent::Error { message }
            }
            Event::Error { code, message } if !code.is_warning() => {
                self.failure = Some(message);
                return None;
            }
            _ => return None,
        })
    }
}

/// An end before the agent's own.
fn ended(end: End) -> &'static str {
    match end {
        End::EndTurn => "",
        End::MaxTokens => "the answer reached the model's token limit; ask for less at once",
        End::Refusal => "the model refused to answer",
        End::Cancelled => "the answer was stopped",
        End::MaxToolRounds => "the agent reached its limit of tool rounds; tell it to go on",
        End::LoopDetected => "the agent repeated the same tool calls and was stopped",
        End::Failed => "no model answered",
    }
}

#[cfg(test)]
mod tests {
    use agent::{ErrorCode, Mode};

    use super::*;

    fn translated(events: &[Event]) -> String {
        let mut chat = ChatEvents::default();
        let heard = events.iter().filter_map(|event| chat.translate(event));
        heard.map(|event| serde_json::to_string(&event).expect("JSON")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn only_an_end_of_turn_is_done() {
        let done = |stop_reason| translated(&[Event::Done { stop_reason }]);
        assert_eq!(done(End::EndTurn), r#"{"type":"done"}"#);
        for end in
            [End::MaxTokens, End::Refusal, End::Cancelled, End::MaxToolRounds, End::LoopDetected, End::Failed]
        {
            assert!(done(end).starts_with(r#"{"type":"error","message":""#), "{end:?}");
        }
    }

    #[test]
    fn a_failure_is_one_event() {
        let error = |code, message: &str| Event::Error { code, message: message.to_owned() };
        let failed = [
            error(ErrorCode::Tools, "a warning"),
            error(ErrorCode::Transport, "the line is dead"),
            Event::Done { stop_reason: End::Failed },
        ];
        assert_eq!(translated(&failed), r#"{"type":"error","message":"the line is dead"}"#);
    }

    #[test]
    fn a_stream_never_ends_silently() {
        let mut chat = ChatEvents::default();
        chat.translate(&Event::TextDelta { content: "I".to_owned() });
        assert!(matches!(chat.cut_off(), Some(ChatEvent::Error { .. })));
        assert_eq!(chat.cut_off(), None);
        let mut chat = ChatEvents::default();
        chat.translate(&Event::Done { stop_reason: End::EndTurn });
        assert_eq!(chat.cut_off(), None);
    }

    #[test]
    fn other_events_are_dropped() {
        let content = "thinking".to_owned();
        let dropped = [
            Event::ReasoningDelta { content },
            Event::ModeChanged { mode: Mode::Plan },
            Event::TextDiscarded { turn_ids: Vec::new() },
            Event::ToolEvent { tool_use_id: "call".to_owned(), event: Value::Null },
        ];
        assert_eq!(translated(&dropped), "");
    }
}
