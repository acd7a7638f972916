//! Converts flat turns into alternating messages: user, assistant, user, assistant.

use llm::{Block, CallBlock, Message, SharedMessage, ToolResult};

use crate::{Turn, TurnBody, in_force};

/// The result of a call that has none in the log.
const INTERRUPTED: &str = "This tool was interrupted and has no result.";

/// The user's message before a greeting: protocols demand that a user speaks first.
const OPENED: &str = "(The user opened the session and has not said anything yet.)";

/// The messages that turns make up. The first one is a user's. Every call has its result in the next
/// message, in the order of the calls: tools that ran in parallel finished in any order, and some protocols
/// match results by position alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Messages {
    made: Vec<SharedMessage>,
    /// Calls of the last assistant's message, in order, until their results are added.
    calls: Vec<Called>,
    /// True if one of them has a result: the next block belongs to another reply.
    is_answered: bool,
}

#[derive(Debug, Clone)]
struct Called {
    id: String,
    tool_name: String,
    /// The output, and whether it is an error.
    result: Option<(String, bool)>,
}

impl Messages {
    /// The messages of the turns from the last summary on.
    pub(crate) fn of(turns: &[Turn]) -> Self {
        let mut messages = Self::default();
        in_force(turns).for_each(|turn| messages.add(turn));
        messages
    }

    /// All messages. Calls without a result get one that says so.
    pub(crate) fn all(&self) -> Vec<SharedMessage> {
        let mut all = self.clone();
        all.answer();
        all.made
    }

    /// Adds the next turn. A summary has to be the first one: it replaces those before it.
    pub(crate) fn add(&mut self, turn: &Turn) {
        match &turn.body {
            TurnBody::User { content } => self.say(content.clone()),
            TurnBody::Summary { content, .. } => {
                self.say(format!("What was said before, in short:\n\n{content}"));
            }
            TurnBody::AssistantText { content } => {
                let state = turn.provider_state.clone();
                self.block(Block::Text { text: content.clone(), state });
            }
            TurnBody::ToolCall { call, malformed: _ } => {
                let (call, state) = (call.clone(), turn.provider_state.clone());
                let (id, tool_name) = (call.id.clone(), call.name.clone());
                self.block(Block::ToolCall(CallBlock { call, malformed: None, state }));
                self.calls.push(Called { id, tool_name, result: None });
            }
            TurnBody::ToolResult { tool_use_id, output, is_error, refusal: _ } => {
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
        if let Some(last) = self.made.last_mut().filter(|last| matches!(***last, Message::Assistant(_)))
            && let Message::Assistant(blocks) = last.make_mut()
        {
            blocks.push(block);
            return;
        }
        if self.made.is_empty() {
            self.say(OPENED.to_owned());
        }
        self.made.push(Message::Assistant(vec![block]).into());
    }

    /// Drops a result without a call: the call was summed up.
    fn result(&mut self, call_id: &str, output: &str, is_error: bool) {
        let mut open = self.calls.iter_mut().filter(|call| call.result.is_none());
        let Some(call) = open.find(|call| call.id == call_id) else { return };
        call.result = Some((output.to_owned(), is_error));
        self.is_answered = true;
    }

    /// Adds the results of the last reply's calls.
    fn answer(&mut self) {
        self.is_answered = false;
        for Called { id: call_id, tool_name, result } in std::mem::take(&mut self.calls) {
            let (output, is_error) = result.unwrap_or_else(|| (INTERRUPTED.to_owned(), true));
            self.user().0.push(ToolResult { call_id, tool_name, output, is_error });
        }
    }

    /// The user's message under construction.
    fn user(&mut self) -> (&mut Vec<ToolResult>, &mut Vec<String>) {
        let is_user = |message: &SharedMessage| matches!(**message, Message::User { .. });
        if !self.made.last().is_some_and(is_user) {
            self.made.push(Message::User { results: Vec::new(), texts: Vec::new() }.into());
        }
        match self.made.last_mut().map(SharedMessage::make_mut) {
            Some(Message::User { results, texts }) => (results, texts),
            _ => unreachable!("a user's message was pushed if there was none"),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
