//! A session's turns as its models see them, built once and then only added to.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

use llm::SharedMessage;

use crate::compaction::places_in_force;
use crate::messages::Messages;
use crate::{Turn, TurnBody};

/// Memory of a turn beside its texts: ids, times, the places of its blocks.
const TURN_BYTES: usize = 512;
/// A text is in its turn, in its message, and in the JSON of that message.
const COPIES: usize = 3;

/// The turns of a session, and the messages that they make up. A new turn costs the same however many came
/// before it.
#[derive(Debug, Default)]
pub struct Conversation {
    turns: Vec<Turn>,
    /// Of each turn.
    sizes: Vec<Size>,
    messages: Messages,
}

/// The size of a turn.
#[derive(Debug)]
struct Size {
    /// Of its text for a model.
    bytes: usize,
    /// Of its provider's state.
    state_bytes: usize,
    /// Counted when it is first needed.
    tokens: OnceLock<usize>,
}

impl Size {
    fn of(turn: &Turn) -> Self {
        let state_bytes = turn.provider_state.as_ref().map_or(0, |state| state.data.to_string().len());
        Self { bytes: text(turn).len(), state_bytes, tokens: OnceLock::new() }
    }
}

impl Conversation {
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    pub fn push(&mut self, turn: Turn) {
        self.sizes.push(Size::of(&turn));
        let is_summary = matches!(turn.body, TurnBody::Summary { .. });
        if !is_summary {
            self.messages.add(&turn);
        }
        self.turns.push(turn);
        if is_summary {
            self.messages = Messages::of(&self.turns);
        }
    }

    /// Takes back the last turns.
    pub fn truncate(&mut self, length: usize) {
        if length < self.turns.len() {
            self.turns.truncate(length);
            self.sizes.truncate(length);
            self.messages = Messages::of(&self.turns);
        }
    }

    /// The messages of a request, from the last summary on. They share their contents with those of
    /// earlier requests.
    pub fn messages(&self) -> Vec<SharedMessage> {
        self.messages.all()
    }

    /// The memory that the conversation takes, roughly.
    pub fn memory_bytes(&self) -> usize {
        let texts: usize = self.sizes.iter().map(|size| size.bytes + size.state_bytes).sum();
        texts * COPIES + self.turns.len() * TURN_BYTES
    }

    /// Bytes of text that the model sees.
    pub(crate) fn bytes_in_force(&self) -> usize {
        places_in_force(&self.turns).map(|at| self.sizes[at].bytes).sum()
    }

    /// The turns that the model sees, with their tokens. Each turn is counted once.
    pub(crate) fn tokens_in_force(
        &self,
        count: &dyn Fn(&str) -> usize,
    ) -> impl Iterator<Item = (&Turn, usize)> {
        places_in_force(&self.turns).map(move |at| {
            let turn = &self.turns[at];
            (turn, *self.sizes[at].tokens.get_or_init(|| count(&text(turn))))
        })
    }
}

impl From<Vec<Turn>> for Conversation {
    fn from(turns: Vec<Turn>) -> Self {
        let (sizes, messages) = (turns.iter().map(Size::of).collect(), Messages::of(&turns));
        Self { turns, sizes, messages }
    }
}

impl Extend<Turn> for Conversation {
    fn extend<T: IntoIterator<Item = Turn>>(&mut self, turns: T) {
        turns.into_iter().for_each(|turn| self.push(turn));
    }
}

impl Deref for Conversation {
    type Target = [Turn];

    fn deref(&self) -> &[Turn] {
        &self.turns
    }
}

/// The text of a turn that a model reads.
fn text(turn: &Turn) -> Cow<'_, str> {
    match &turn.body {
        TurnBody::User { content }
        | TurnBody::AssistantText { content }
        | TurnBody::Summary { content, .. } => Cow::Borrowed(content),
        TurnBody::ToolResult { output, .. } => Cow::Borrowed(output),
        TurnBody::ToolCall { call, .. } => {
            Cow::Owned(format!("{} {}", call.name, serde_json::Value::Object(call.input.clone())))
        }
    }
}

#[cfg(test)]
mod tests;
