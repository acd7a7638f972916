//! Flat turns as the messages that every protocol wants: user, assistant, user, assistant.

use llm::{Block, Message, ToolCall, ToolInput, ToolResult};

use crate::{Turn, TurnBody, in_force};

/// What a model says of a call that nobody answered; after a crash the log says so itself.
const INTERRUPTED: &str = "This tool was interrupted and has no result.";

/// The messages that the turns make up, from the last summary on. Every call has its result in the
/// message that follows it.
pub fn messages(turns: &[Turn]) -> Vec<Message> {
    let mut messages = Messages::default();
    for turn in in_force(turns) {
        messages.add(turn);
    }
    messages.answer_open();
    messages.made
}

#[derive(Default)]
struct Messages {
    made: Vec<Message>,
    /// Calls of the last assistant's message without a result: id and tool.
    open: Vec<(String, String)>,
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
                self.open.push((tool_use_id.clone(), tool_name.clone()));
            }
            TurnBody::ToolResult { tool_use_id, output, is_error } => {
                self.result(tool_use_id, output, *is_error);
            }
        }
    }

    fn say(&mut self, text: String) {
        self.answer_open();
        self.user().1.push(text);
    }

    fn block(&mut self, block: Block) {
        if let Some(Message::Assistant(blocks)) = self.made.last_mut() {
            blocks.push(block);
            return;
        }
        self.answer_open();
        self.made.push(Message::Assistant(vec![block]));
    }

    /// A result whose call is not there, because it was summed up, says nothing to anybody.
    fn result(&mut self, call_id: &str, output: &str, is_error: bool) {
        let Some(at) = self.open.iter().position(|(id, _)| id == call_id) else { return };
        let (_, tool_name) = self.open.remove(at);
        let result =
            ToolResult { call_id: call_id.to_owned(), tool_name, output: output.to_owned(), is_error };
        self.user().0.push(result);
    }

    fn answer_open(&mut self) {
        for (call_id, tool_name) in std::mem::take(&mut self.open) {
            let result = ToolResult { call_id, tool_name, output: INTERRUPTED.to_owned(), is_error: true };
            self.user().0.push(result);
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
