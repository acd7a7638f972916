//! The stream of chat completions.

use std::borrow::Cow;
use std::fmt;
use std::mem;

use llm::{Failure, Request, StopReason, ToolInput, Usage};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::call_ids::CallIds;
use crate::failure::ErrorBody;
use crate::reply_events::ReplyEvents;
use crate::sse;
use crate::wire::{Decode, cut, read};

#[derive(Debug)]
pub(crate) struct Decoder {
    answer: ReplyEvents,
    ids: CallIds,
    /// Calls whose arguments still come.
    calls: Vec<Call>,
    /// Thinking that will be the state of the next text or call: the field's name and its text.
    thinking: Option<(&'static str, String)>,
    refused: bool,
    finish_reason: Option<String>,
    usage: Usage,
}

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<FirstChoice<'a>>,
    #[serde(borrow)]
    model: Option<Content<'a>>,
    usage: Option<Counts>,
    error: Option<Value>,
}

/// The first choice, if a server sends several.
struct FirstChoice<'a>(Option<Choice<'a>>);

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

/// A string, borrowed if it has no escapes; some models that think send a list
/// of parts. Anything else counts as empty.
#[derive(Default)]
struct Content<'a>(Cow<'a, str>);

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    /// A string, in pieces; some servers send an object.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Cached>,
}

#[derive(Deserialize)]
struct Cached {
    cached_tokens: Option<u64>,
}

impl Decoder {
    pub(crate) fn new(provider: &str, request: &Request) -> Self {
        Self {
            answer: ReplyEvents::new(provider),
            ids: CallIds::of(request),
            calls: Vec::new(),
            thinking: None,
            refused: false,
            finish_reason: None,
            usage: Usage::default(),
        }
    }

    fn delta(&mut self, delta: Delta<'_>) {
        for (field, text) in [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)]
        {
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            // A server that sends both fields sends the same in both.
            let (kept, thinking) = self.thinking.get_or_insert((field, String::new()));
            if *kept == field {
                thinking.push_str(&text);
                self.answer.reasoning(text);
            }
        }
        if let Some(Content(text)) = delta.content {
            self.text(text);
        }
        if let Some(text) = delta.refusal {
            self.refused |= !text.is_empty();
            self.text(text.into());
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.call_delta(call);
        }
    }

    fn text(&mut self, text: Cow<'_, str>) {
        if text.is_empty() {
            return;
        }
        // Text after calls: those are complete, unless a server mixes the two.
        if self.calls.iter().all(|call| matches!(ToolInput::parse(&call.arguments), ToolInput::Object(_))) {
            self.end_calls();
        }
        self.answer.text(text);
    }

    fn call_delta(&mut self, delta: CallDelta) {
        self.end_text();
        let id = delta.id.unwrap_or_default();
        let (name, arguments) = match delta.function {
            Some(function) => (function.name.unwrap_or_default(), function.arguments),
            None => (String::new(), None),
        };
        let at = self.place_of(delta.index, &id, &name);
        let call = match at {
            Some(at) => &mut self.calls[at],
            None => {
                let (index, extra_content) = (delta.index, None);
                let call = Call { index, id, name, arguments: String::new(), extra_content };
                self.calls.push(call);
                let last = self.calls.len() - 1;
                &mut self.calls[last]
            }
        };
        match arguments {
            Some(Value::String(piece)) => call.arguments.push_str(&piece),
            Some(Value::Null) | None => {}
            Some(whole) => call.arguments = whole.to_string(),
        }
        call.extra_content = delta.extra_content.or(call.extra_content.take());
    }

    /// The call that a delta belongs to. None if it begins one. OpenAI numbers the calls; some servers
    /// omit the number or send 0 for all, so a new id or name decides.
    fn place_of(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index))?,
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1)?,
            None => self.calls.iter().rposition(|call| !id.is_empty() && call.id == id)?,
        };
        let call = &mut self.calls[at];
        if !id.is_empty() && !call.id.is_empty() && call.id != id {
            return None;
        }
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        Some(at)
    }

    fn end_text(&mut self) {
        if self.answer.text_bytes() > 0 {
            let state = self.state(None);
            self.answer.end_text(state);
        }
    }

    fn end_calls(&mut self) {
        for call in mem::take(&mut self.calls) {
            let id = self.ids.take(Some(&call.id));
            let state = self.state(call.extra_content);
            self.answer.call(id, call.name, ToolInput::parse(&call.arguments), state);
        }
    }

    fn state(&mut self, extra_content: Option<Value>) -> Option<Value> {
        let mut state = Map::new();
        if let Some((field, thinking)) = self.thinking.take() {
            let reasoning = Map::from_iter([(field.to_owned(), Value::String(thinking))]);
            state.insert("reasoning".to_owned(), Value::Object(reasoning));
        }
        if let Some(extra_content) = extra_content {
            state.insert("extra_content".to_owned(), extra_content);
        }
        (!state.is_empty()).then_some(Value::Object(state))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Some(reason) = self.finish_reason.take() else { return Err(cut()) };
        self.end_text();
        self.end_calls();
        let stop = match reason.as_str() {
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            _ if self.refused => StopReason::Refusal,
            _ => self.answer.natural_stop(),
        };
        self.answer.finish(stop, self.usage);
        Ok(())
    }
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        Self {
            input_tokens: counts.prompt_tokens.unwrap_or(0),
            output_tokens: counts.completion_tokens.unwrap_or(0),
            cache_read_tokens: counts
                .prompt_tokens_details
                .and_then(|cached| cached.cached_tokens)
                .unwrap_or(0),
            cache_write_tokens: 0,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = FirstChoice<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut choices: A) -> Result<Self::Value, A::Error> {
                let mut first = None;
                while let Some(choice) = choices.next_element::<Choice<'de>>()? {
                    if first.is_none() && choice.index.unwrap_or(0) == 0 {
                        first = Some(choice);
                    }
                }
                Ok(FirstChoice(first))
            }
        }
        deserializer.deserialize_seq(First)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Content<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of parts")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
                let mut text = String::new();
                while let Some(part) = parts.next_element::<Value>()? {
                    text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
                }
                Ok(Content(Cow::Owned(text)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::default())
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Content::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Content::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Content::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Content::default())
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Decode for Decoder {
    fn answer(&mut self) -> &mut ReplyEvents {
        &mut self.answer
    }

    fn event(&mut self, event: sse::SseEvent<'_>) -> Result<(), Failure> {
        if event.data.trim() == "[DONE]" {
            return self.finish();
        }
        let chunk: Chunk<'_> = read(event.data)?;
        if let Some(error) = chunk.error {
            return Err(ErrorBody::of(&error).in_stream());
        }
        self.answer.model(chunk.model.as_ref().map(|Content(name)| name.as_ref()));
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
        }
        if let Some(FirstChoice(Some(choice))) = chunk.choices {
            if let Some(delta) = choice.delta {
                self.delta(delta);
            }
            self.finish_reason = choice.finish_reason.or(self.finish_reason.take());
        }
        Ok(())
    }

    /// The usage may follow the stop reason, so the answer is complete only at the end. Some servers send
    /// no `[DONE]`.
    fn end(&mut self) -> Result<(), Failure> {
        self.finish()
    }
}
