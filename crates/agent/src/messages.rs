//! Flat turns as the messages that every protocol wants: user, assistant, user, assistant.

use llm::{Block, Message, ToolCall, ToolInput, ToolResult};

use crate::{Turn, TurnBody, in_force};

/// What a model says of a call that nobody answered; after a crash the log says so itself.
const INTERRUPTED: &str = "This tool was interrupted and has no result.";

/// The messages that the turns make up, from the last summary on. Every call has its result in the
/// message that follows it, and results stand in the order of their calls: tools that ran at once
/// finished in any order, and some protocols tell results apart by their places alone.
pub fn messages(turns: &[Turn]) -> Vec<Message> {
    let mut messages = Messages::default();
    for turn in in_force(turns) {
        messages.add(turn);
    }
    messages.answer();
    messages.made
}

#[derive(Default)]
struct Messages {
    made: Vec<Message>,
    /// Calls of the last assistant's message, in its order, until their results are said.
    calls: Vec<Called>,
    /// Whether one of them has a result: what comes next is another reply.
    is_answered: bool,
}

struct Called {
    id: String,
    tool_name: String,
    /// What came back, and whether it was an error.
    result: Option<(String, bool)>,
}

impl Messages {
    fn add(&mut self, turn: &Turn) {
        match &turn.body {
            TurnBody::User { content } => self.say(content.clone()),
            TurnBody::Summary { content, .. } => {
                self.say(format!("What was said before, in short:\n\n{content}"));
            }
            TurnBody::AssistantText { content } => {
                let state = turn.provider_state.clone();
                self.block(Block::Text { text: content.clone(), state });
            }
            TurnBody::ToolCall { tool_use_id, tool_name, input, malformed: _ } => {
                self.block(Block::ToolCall(ToolCall {
                    id: tool_use_id.clone(),
                    name: tool_name.clone(),
                    input: ToolInput::Object(input.clone()),
                    state: turn.provider_state.clone(),
                }));
                let (id, tool_name) = (tool_use_id.clone(), tool_name.clone());
                self.calls.push(Called { id, tool_name, result: None });
            }
            TurnBody::ToolResult { tool_use_id, output, is_error } => {
                self.result(tool_use_id, output, *is_error);
            }
        }
    }

    fn say(&mut self, text: String) {
        self.answer();
        self.user().1.push(text);
    }

    fn block(&mut self, block: Block) {
        if self.is_answered {
            self.answer();
        }
        if let Some(Message::Assistant(blocks)) = self.made.last_mut() {
            blocks.push(block);
            return;
        }
        self.made.push(Message::Assistant(vec![block]));
    }

    /// A result whose call is not there, because it was summed up, says nothing to anybody.
    fn result(&mut self, call_id: &str, output: &str, is_error: bool) {
        let mut open = self.calls.iter_mut().filter(|call| call.result.is_none());
        let Some(call) = open.find(|call| call.id == call_id) else { return };
        call.result = Some((output.to_owned(), is_error));
        self.is_answered = true;
    }

    /// Says what came of the last reply's calls.
    fn answer(&mut self) {
        self.is_answered = false;
        for Called { id: call_id, tool_name, result } in std::mem::take(&mut self.calls) {
            let (output, is_error) = result.unwrap_or_else(|| (INTERRUPTED.to_owned(), true));
            self.user().0.push(ToolResult { call_id, tool_name, output, is_error });
        }
    }

    /// The user's message that is being made.
    fn user(&mut self) -> (&mut Vec<ToolResult>, &mut Vec<String>) {
        if !matches!(self.made.last(), Some(Message::User { .. })) {
            self.made.push(Message::User { results: Vec::new(), texts: Vec::new() });
        }
        match self.made.last_mut() {
            Some(Message::User { results, texts }) => (results, texts),
            _ => unreachable!("a user's message was pushed if there was none"),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
