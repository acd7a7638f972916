//! Scripts as they are written, and their way into the types that play them.

use std::ops::Range;
use std::time::Duration;

use llm::StopReason;
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::{
    InputTemplate, NoTools, Pace, Pattern, PromptMode, Reply, Script, ScriptError, ScriptPiece, ScriptUsage,
    Template, When,
};
use crate::limits;
use crate::protocol::Protocol;

mod fault;
use fault::RawFault;

pub(super) const DEFAULT_MODEL: &str = "rehearsal";

const NO_REPLY: &str = "This is a rehearsal, not a model, and its script has no reply for this. \
     Add a [[reply]] whose `when` holds for: {{last_user}}";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default)]
    strict: bool,
    models: Option<Vec<String>>,
    pace_ms: Option<Spanned<u64>>,
    tokens_per_second: Option<Spanned<f64>>,
    first_token_ms: Option<Spanned<u64>>,
    #[serde(default)]
    reply: Vec<Spanned<RawReply>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReply {
    when: Option<RawWhen>,
    text: Option<Spanned<String>>,
    reasoning: Option<Spanned<String>>,
    say: Option<Spanned<Vec<Spanned<RawPiece>>>>,
    stop: Option<StopReason>,
    usage: Option<Spanned<RawUsage>>,
    pace_ms: Option<Spanned<u64>>,
    tokens_per_second: Option<Spanned<f64>>,
    first_token_ms: Option<Spanned<u64>>,
    times: Option<Spanned<u32>>,
    fault: Option<Spanned<RawFault>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWhen {
    last_user: Option<Spanned<String>>,
    tool_result: Option<Spanned<String>>,
    tool_result_of: Option<String>,
    system: Option<Spanned<String>>,
    model: Option<Spanned<String>>,
    #[serde(default)]
    tools: Vec<String>,
    no_tools: Option<NoTools>,
    call: Option<Spanned<u32>>,
    request: Option<Spanned<u64>>,
    mode: Option<PromptMode>,
    protocol: Option<Protocol>,
    stream: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPiece {
    text: Option<Spanned<String>>,
    reasoning: Option<Spanned<String>>,
    tool: Option<Spanned<String>>,
    id: Option<String>,
    input: Option<Spanned<toml::Table>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUsage {
    input: Option<u64>,
    output: Option<u64>,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
}

/// An error with its byte range.
struct Wrong(Range<usize>, String);

type Checked<T> = Result<T, Wrong>;

pub(super) fn read(text: &str) -> Result<Script, ScriptError> {
    let raw: RawScript = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        ScriptError::at(text, offset, error.message())
    })?;
    script(text, raw).map_err(|Wrong(span, message)| ScriptError::at(text, span.start, message))
}

fn script(text: &str, raw: RawScript) -> Checked<Script> {
    if raw.reply.len() > limits::REPLIES {
        let first = raw.reply[limits::REPLIES].span();
        return Err(Wrong(first, format!("a script has at most {} replies", limits::REPLIES)));
    }
    let usual = pace(raw.pace_ms, raw.tokens_per_second, raw.first_token_ms, Pace::default())?;
    let models = raw.models.filter(|models| !models.is_empty());
    let mut replies = Vec::with_capacity(raw.reply.len());
    let (mut line, mut counted) = (1, 0);
    for raw in raw.reply {
        let start = raw.span().start;
        line += text[counted..start].matches('\n').count();
        counted = start;
        replies.push(Reply { line, ..reply(raw, usual)? });
    }
    let otherwise = Template::parse(NO_REPLY).unwrap_or_else(|_| Template::literal(NO_REPLY));
    Ok(Script {
        strict: raw.strict,
        models: models.unwrap_or_else(|| vec![DEFAULT_MODEL.to_owned()]),
        replies,
        otherwise: Reply { pace: usual, ..Reply::plain(otherwise) },
    })
}

fn reply(raw: Spanned<RawReply>, usual: Pace) -> Checked<Reply> {
    let span = raw.span();
    let raw = raw.into_inner();
    let fault = raw.fault.map(fault::check).transpose()?;
    let says_something = raw.text.is_some() || raw.reasoning.is_some() || raw.say.is_some();
    if !says_something && fault.is_none() {
        let message = "this reply says nothing: give it text, say, or a fault";
        return Err(Wrong(span, message.to_owned()));
    }
    let pieces = if !says_something {
        vec![ScriptPiece::Text(Template::literal(
            "This is a rehearsal, and this answer is one of its faults.",
        ))]
    } else {
        pieces(raw.text, raw.reasoning, raw.say)?
    };
    if let Some(times) = raw.times.as_ref().filter(|times| *times.get_ref() == 0) {
        return Err(Wrong(times.span(), "times is how often a reply is used, from 1 on".to_owned()));
    }
    Ok(Reply {
        line: 0,
        when: raw.when.map(when).transpose()?.unwrap_or_default(),
        pieces,
        stop: raw.stop,
        usage: raw.usage.map(usage).transpose()?.unwrap_or_default(),
        pace: pace(raw.pace_ms, raw.tokens_per_second, raw.first_token_ms, usual)?,
        times: raw.times.map(Spanned::into_inner),
        fault,
    })
}

fn pieces(
    text: Option<Spanned<String>>,
    reasoning: Option<Spanned<String>>,
    say: Option<Spanned<Vec<Spanned<RawPiece>>>>,
) -> Checked<Vec<ScriptPiece>> {
    let mut pieces = Vec::new();
    if let Some(reasoning) = reasoning {
        pieces.push(ScriptPiece::Reasoning(template(&reasoning)?));
    }
    match (text, say) {
        (Some(_), Some(say)) => {
            return Err(Wrong(
                say.span(),
                "a reply has text or say, not both; put the text into say".to_owned(),
            ));
        }
        (Some(text), None) => pieces.push(ScriptPiece::Text(template(&text)?)),
        (None, Some(say)) => {
            if say.get_ref().len() > limits::PIECES {
                return Err(Wrong(say.span(), format!("a reply says at most {} pieces", limits::PIECES)));
            }
            for raw in say.into_inner() {
                pieces.push(piece(raw)?);
            }
        }
        (None, None) => {}
    }
    Ok(pieces)
}

fn piece(raw: Spanned<RawPiece>) -> Checked<ScriptPiece> {
    let span = raw.span();
    match raw.into_inner() {
        RawPiece { text: Some(text), reasoning: None, tool: None, id: None, input: None } => {
            Ok(ScriptPiece::Text(template(&text)?))
        }
        RawPiece { text: None, reasoning: Some(reasoning), tool: None, id: None, input: None } => {
            Ok(ScriptPiece::Reasoning(template(&reasoning)?))
        }
        RawPiece { text: None, reasoning: None, tool: Some(tool), id, input } => {
            if tool.get_ref().is_empty() {
                return Err(Wrong(tool.span(), "a tool has a name".to_owned()));
            }
            let span = input.as_ref().map_or(span, Spanned::span);
            let table = input.map(Spanned::into_inner).unwrap_or_default();
            let input = serde_json::to_value(table)
                .map_err(|error| error.to_string())
                .and_then(|value| InputTemplate::parse(dates_as_text(value)))
                .map_err(|message| Wrong(span, message))?;
            Ok(ScriptPiece::Tool { name: tool.into_inner(), id, input })
        }
        _ => {
            let message = "a piece is one of { text = … }, { reasoning = … }, { tool = …, input = … }";
            Err(Wrong(span, message.to_owned()))
        }
    }
}

/// TOML has dates, JSON has not: they arrive as an object with a key of their own.
fn dates_as_text(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => {
            if let Some(date) = fields.remove("$__toml_private_datetime") {
                return date;
            }
            Value::Object(fields.into_iter().map(|(key, value)| (key, dates_as_text(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(dates_as_text).collect(),
        other => other,
    }
}

fn when(raw: RawWhen) -> Checked<When> {
    if let Some(call) = raw.call.as_ref().filter(|call| *call.get_ref() == 0) {
        return Err(Wrong(call.span(), "calls are counted from 1".to_owned()));
    }
    if let Some(request) = raw.request.as_ref().filter(|request| *request.get_ref() == 0) {
        return Err(Wrong(request.span(), "requests are counted from 1".to_owned()));
    }
    Ok(When {
        last_user: pattern(raw.last_user)?,
        tool_result: pattern(raw.tool_result)?,
        tool_result_of: raw.tool_result_of,
        system: pattern(raw.system)?,
        model: pattern(raw.model)?,
        tools: raw.tools,
        no_tools: raw.no_tools,
        call: raw.call.map(Spanned::into_inner),
        request: raw.request.map(Spanned::into_inner),
        mode: raw.mode,
        protocol: raw.protocol,
        stream: raw.stream,
    })
}

fn pattern(raw: Option<Spanned<String>>) -> Checked<Option<Pattern>> {
    let Some(raw) = raw else { return Ok(None) };
    Pattern::parse(raw.get_ref()).map(Some).map_err(|message| Wrong(raw.span(), message))
}

fn template(raw: &Spanned<String>) -> Checked<Template> {
    Template::parse(raw.get_ref()).map_err(|message| Wrong(raw.span(), message))
}

fn usage(raw: Spanned<RawUsage>) -> Checked<ScriptUsage> {
    let span = raw.span();
    let RawUsage { input, output, cache_read, cache_write } = raw.into_inner();
    let cached = cache_read.saturating_add(cache_write);
    if input.is_some_and(|input| input < cached) {
        let message = "input counts cached tokens too, so it is at least cache_read + cache_write";
        return Err(Wrong(span, message.to_owned()));
    }
    Ok(ScriptUsage { input, output, cache_read, cache_write })
}

fn pace(
    pace_ms: Option<Spanned<u64>>,
    tokens_per_second: Option<Spanned<f64>>,
    first_token_ms: Option<Spanned<u64>>,
    usual: Pace,
) -> Checked<Pace> {
    let token = match (pace_ms, tokens_per_second) {
        (Some(_), Some(rate)) => {
            return Err(Wrong(rate.span(), "give pace_ms or tokens_per_second, not both".to_owned()));
        }
        (Some(pace), None) => milliseconds(&pace)?,
        (None, Some(rate)) => {
            let seconds = 1.0 / rate.get_ref();
            let token = Duration::try_from_secs_f64(seconds).ok().filter(|token| *token <= limits::WAIT);
            let message = "tokens_per_second is a number above 0";
            token.ok_or_else(|| Wrong(rate.span(), message.to_owned()))?
        }
        (None, None) => usual.token,
    };
    let first_token = first_token_ms.map_or(Ok(usual.first_token), |first| milliseconds(&first))?;
    Ok(Pace { first_token, token })
}

fn milliseconds(raw: &Spanned<u64>) -> Checked<Duration> {
    let wait = Duration::from_millis(*raw.get_ref());
    if wait > limits::WAIT {
        let message = format!("a wait is at most {} ms", limits::WAIT.as_millis());
        return Err(Wrong(raw.span(), message));
    }
    Ok(wait)
}
