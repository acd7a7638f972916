//! The content of a request, in any protocol.
//!
//! Reading is as strict as the real providers: it rejects a call without a result, a result without
//! a call, and an empty conversation.

use serde_json::Value;

use crate::protocol::{Framing, Protocol, ReplyCall};

mod anthropic;
mod chat;
mod gemini;
mod output;
mod responses;

#[cfg(test)]
mod tests;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestContent {
    pub(crate) protocol: Protocol,
    pub(crate) model: String,
    pub(crate) system: String,
    /// The user's last message.
    pub(crate) last_user: String,
    /// True if it follows the assistant's last message.
    pub(crate) user_speaks: bool,
    /// Tool results after the assistant's last message.
    pub(crate) results: Vec<ResultContent>,
    /// The names of the tools that are offered.
    pub(crate) tools: Vec<String>,
    /// One more than the assistant's turns so far.
    pub(crate) call: u32,
    pub(crate) streams: bool,
    /// Never `AsRequested`.
    pub(crate) framing: Framing,
    /// True if a chat completions stream ends with a usage chunk.
    pub(crate) wants_usage: bool,
    /// True if Responses reasoning includes its encrypted content.
    pub(crate) wants_encrypted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultContent {
    pub(crate) tool: String,
    pub(crate) text: String,
}

/// The provider's error for an invalid request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub(crate) message: String,
    /// The field of the request that is wrong, where OpenAI names it.
    pub(crate) parameter: Option<String>,
}

pub(crate) type ReadResult<T> = Result<T, Rejected>;

fn rejected<T>(message: impl Into<String>) -> ReadResult<T> {
    Err(Rejected { message: message.into(), parameter: None })
}

fn rejected_at<T>(parameter: impl Into<String>, message: impl Into<String>) -> ReadResult<T> {
    Err(Rejected { message: message.into(), parameter: Some(parameter.into()) })
}

/// Reads a request's body.
pub(crate) fn read(call: &ReplyCall, body: &Value) -> ReadResult<RequestContent> {
    let mut reader = ContentReader::new(call, body);
    match call.protocol {
        Protocol::Anthropic => anthropic::read(&mut reader, body)?,
        Protocol::OpenaiResponses => responses::read(&mut reader, body)?,
        Protocol::OpenaiChat => chat::read(&mut reader, body)?,
        Protocol::Gemini => gemini::read(&mut reader, body)?,
    }
    reader.finish()
}

/// Follows a conversation and collects the inputs of `When`.
#[derive(Debug)]
struct ContentReader {
    received: RequestContent,
    /// Calls that still need a result: id and name.
    open: Vec<(String, String)>,
    assistant_speaks: bool,
    said_anything: bool,
}

impl ContentReader {
    fn new(call: &ReplyCall, body: &Value) -> Self {
        let framing = match call.framing {
            Framing::AsRequested if body["stream"] == true => Framing::Events,
            Framing::AsRequested => Framing::Whole,
            known => known,
        };
        let received = RequestContent {
            protocol: call.protocol,
            model: call.model.clone().unwrap_or_default(),
            system: String::new(),
            last_user: String::new(),
            user_speaks: false,
            results: Vec::new(),
            tools: Vec::new(),
            call: 1,
            streams: framing != Framing::Whole,
            framing,
            wants_usage: false,
            wants_encrypted: false,
        };
        Self { received, open: Vec::new(), assistant_speaks: false, said_anything: false }
    }

    fn model(&mut self, body: &Value) -> ReadResult<()> {
        match body["model"].as_str() {
            Some(model) if !model.is_empty() => {
                model.clone_into(&mut self.received.model);
                Ok(())
            }
            _ => rejected("model: Field required"),
        }
    }

    fn system(&mut self, text: &str) {
        if !self.received.system.is_empty() {
            self.received.system.push_str("\n\n");
        }
        self.received.system.push_str(text);
    }

    fn user(&mut self, text: &str) {
        self.leave_assistant();
        if self.received.user_speaks {
            self.received.last_user.push('\n');
        } else {
            self.received.last_user.clear();
        }
        self.received.last_user.push_str(text);
        self.received.user_speaks = true;
    }

    /// Adds the assistant's text: a new turn, unless its turn has begun already.
    fn assistant(&mut self) -> ReadResult<()> {
        self.said_anything = true;
        if self.assistant_speaks {
            return Ok(());
        }
        self.all_answered()?;
        self.assistant_speaks = true;
        self.received.call = self.received.call.saturating_add(1);
        self.received.user_speaks = false;
        self.received.results.clear();
        Ok(())
    }

    fn call(&mut self, id: &str, name: &str) -> ReadResult<()> {
        self.assistant()?;
        if name.is_empty() {
            return rejected("a tool call has no name");
        }
        self.open.push((id.to_owned(), name.to_owned()));
        Ok(())
    }

    /// A tool's answer to the call of this id.
    fn result(&mut self, id: &str, text: String) -> ReadResult<()> {
        self.leave_assistant();
        let Some(position) = self.open.iter().position(|(open, _)| open == id) else {
            return rejected(format!("there is a result for the tool call {id:?}, which is not open"));
        };
        let (_, tool) = self.open.remove(position);
        self.received.results.push(ResultContent { tool, text });
        Ok(())
    }

    fn leave_assistant(&mut self) {
        self.said_anything = true;
        self.assistant_speaks = false;
    }

    fn all_answered(&self) -> ReadResult<()> {
        match self.open.first() {
            None => Ok(()),
            Some((id, name)) => rejected(format!("the tool call {id:?} of {name} has no result")),
        }
    }

    fn finish(self) -> ReadResult<RequestContent> {
        self.all_answered()?;
        if !self.said_anything {
            return rejected("the conversation is empty: at least one message is required");
        }
        Ok(self.received)
    }
}

/// The elements of an array; anything else has none.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A text, or the texts of a list of parts.
fn text_of(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let texts: Vec<&str> = items(value).filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
