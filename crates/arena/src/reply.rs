//! Reading a player's answer: its words, their listeners, its action.
//!
//! Models answer with JSON (`{"say": "…", "to": "all"}`), with plain text, or with calls of tools; all are
//! read. A line that speaks for another player is cut off and never attributed to that player.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::log::Dropped;
use crate::tool::ToolKind;
use crate::{Act, Answer, AskKind, Audience, Floor, SeatId, Seats, Visible, limits, sentence};

mod voices;

/// An answer, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reply {
    pub(crate) say: Option<Line>,
    pub(crate) act: Option<Act>,
    pub(crate) cut: Option<Cut>,
    /// The parts that were left out.
    pub(crate) dropped: Vec<Dropped>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) audience: Audience,
    pub(crate) visible: Visible,
    pub(crate) content: String,
}

/// An offer to cut a speech off after a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// From 1.
    pub(crate) end: usize,
    pub(crate) bid: i64,
}

/// The question, as far as reading depends on it.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) seat: SeatId,
    pub(crate) seats: &'a Seats,
    pub(crate) kind: &'a AskKind,
    pub(crate) floor: Option<&'a Floor>,
    pub(crate) tools: &'a [crate::Tool],
    /// The speech of an offer.
    pub(crate) offered: &'a str,
}

/// The tool by which a player cuts a speech off.
pub(crate) const INTERRUPT: &str = "interrupt";
/// The highest bid of an interrupt.
pub(crate) const HIGHEST_BID: i64 = 10;

impl Reader<'_> {
    /// Reads an answer. An error says in words for the player what is wrong.
    pub(crate) fn read(&self, answer: &Answer) -> Result<Reply, String> {
        let mut reply = Reply::default();
        let written = Written::parse(&answer.text)?;
        if written.count > 1 {
            reply.dropped.push(Dropped::OnlyFirst { count: written.count });
        }
        if let AskKind::Offer { sentences, .. } = self.kind {
            if !written.pass {
                reply.cut = self.cut(&written, &answer.acts, sentences.len())?;
            }
            return Ok(reply);
        }
        self.read_act(&written, &answer.acts, &mut reply)?;
        if written.pass {
            return Ok(reply);
        }
        let Some(floor) = self.floor else {
            let needs_act = reply.act.is_none() && written.say.is_some();
            return if needs_act { Err(self.tools_needed()) } else { Ok(reply) };
        };
        if let Some(say) = &written.say {
            reply.say = self.line(say, &written.to, floor, &mut reply.dropped)?;
        }
        Ok(reply)
    }

    fn read_act(&self, written: &Written, acts: &[Act], reply: &mut Reply) -> Result<(), String> {
        let is_action = |act: &&Act| {
            // Information tools are answered elsewhere; a call that got here is no move.
            !self.tools.iter().any(|tool| tool.name == act.tool && tool.kind == ToolKind::Information)
        };
        let mut acts = acts.iter().chain(&written.act).filter(is_action);
        let Some(act) = acts.next() else { return Ok(()) };
        if !self.tools.iter().any(|tool| tool.name == act.tool) {
            return Err(self.tools_needed());
        }
        let further = acts.count();
        if further > 0 {
            reply.dropped.push(Dropped::OnlyFirst { count: further + 1 });
        }
        reply.act = Some(act.clone());
        Ok(())
    }

    fn tools_needed(&self) -> String {
        let tools = self.tools.iter().filter(|tool| tool.kind == ToolKind::Action);
        let names: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
        match names.is_empty() {
            true => "You can call no tool now.".to_owned(),
            false => format!("Call one of these tools, or pass: {}.", names.join(", ")),
        }
    }

    fn cut(&self, written: &Written, acts: &[Act], sentences: usize) -> Result<Option<Cut>, String> {
        let act = acts.iter().chain(&written.act).find(|act| act.tool == INTERRUPT);
        let (end, bid, prefix) = match act {
            Some(act) => (act.input.get("after"), act.input.get("bid"), act.input.get(PREFIX)),
            None => (written.cut.as_ref(), written.bid.as_ref(), written.prefix.as_ref()),
        };
        let bid = bid.and_then(Value::as_i64).unwrap_or(0).clamp(0, HIGHEST_BID);
        let end = match (end, prefix.and_then(Value::as_str)) {
            (None | Some(Value::Null), None) => return Ok(None),
            (None | Some(Value::Null), Some(prefix)) => sentence::end_of_prefix(self.offered, prefix),
            (Some(end), _) => end.as_u64().and_then(|end| usize::try_from(end).ok()),
        };
        match end {
            Some(end) if (1..=sentences).contains(&end) => Ok(Some(Cut { end, bid })),
            _ => {
                Err(format!("An interrupt names the sentence after which it cuts in, from 1 to {sentences}."))
            }
        }
    }

    fn line(
        &self,
        say: &str,
        to: &[String],
        floor: &Floor,
        dropped: &mut Vec<Dropped>,
    ) -> Result<Option<Line>, String> {
        let mut content = voices::own_part(say, self.seat, self.seats, dropped).trim().to_owned();
        content.retain(|char| char == '\n' || char == '\t' || !char.is_control());
        if content.len() > limits::SPEECH_BYTES {
            let end = content.floor_char_boundary(limits::SPEECH_BYTES);
            dropped.push(Dropped::TooLong { bytes: content.len() - end });
            content.truncate(end);
        }
        if content.is_empty() {
            let name = self.seats.name(self.seat);
            let is_foreign = dropped.iter().any(|it| matches!(it, Dropped::SpokeFor { .. }));
            return match is_foreign {
                true => Err(format!("You are {name}. Never write a line for another player.")),
                false => Ok(None),
            };
        }
        let (audience, visible) = self.audience(to, floor)?;
        Ok(Some(Line { audience, visible, content }))
    }

    fn audience(&self, to: &[String], floor: &Floor) -> Result<(Audience, Visible), String> {
        let is_all = |name: &String| ["", "all", "everyone"].contains(&name.trim().to_lowercase().as_str());
        let with_self = |visible: Visible| match visible {
            Visible::Some(mut seats) => {
                seats.insert(self.seat);
                Visible::Some(seats)
            }
            other => other,
        };
        if to.iter().all(is_all) {
            return Ok((Audience::All, with_self(floor.hears.clone())));
        }
        let mut named = BTreeSet::new();
        for name in to.iter().filter(|name| !is_all(name)) {
            let seat = self.seats.resolve(name).filter(|seat| floor.hears.includes(*seat));
            let hears = self.seats.present().map(|seat| seat.id).filter(|seat| floor.hears.includes(*seat));
            let Some(seat) = seat else {
                let hears = self.seats.names(hears.filter(|seat| *seat != self.seat));
                return Err(format!("\"to\" is \"all\" or one of those who can hear you: {hears}."));
            };
            named.insert(seat);
        }
        named.remove(&self.seat);
        if named.is_empty() {
            return Err("\"to\" names nobody but you.".to_owned());
        }
        let hears = |seat: SeatId| seat != self.seat && floor.hears.includes(seat);
        if self.seats.present().all(|seat| !hears(seat.id) || named.contains(&seat.id)) {
            return Ok((Audience::All, with_self(floor.hears.clone())));
        }
        if !floor.whispers {
            return Err("You cannot whisper now. Leave \"to\" out, or write \"all\".".to_owned());
        }
        let visible = with_self(Visible::Some(named.clone()));
        Ok((Audience::Only(named), visible))
    }
}

/// An answer's text, taken apart.
#[derive(Debug, Default)]
struct Written {
    say: Option<String>,
    to: Vec<String>,
    pass: bool,
    act: Option<Act>,
    cut: Option<Value>,
    bid: Option<Value>,
    prefix: Option<Value>,
    /// Objects of which only the first one counts.
    count: usize,
}

/// The beginning of a speech that an interrupt lets pass, in place of a number.
const PREFIX: &str = "target_speech_content";
const KEYS: [&str; 8] = ["say", "content", "pass", "tool", "cut", "after", PREFIX, "to"];

impl Written {
    fn parse(text: &str) -> Result<Self, String> {
        let text = unfenced(text.trim());
        if !text.starts_with('{') && !text.starts_with("[{") {
            return Ok(Self::plain(text));
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let Some(Ok(first)) = values.next() else {
            return Err("Your answer is no valid JSON.".to_owned());
        };
        let further = values.filter(Result::is_ok).count();
        let (object, count) = match first {
            Value::Object(object) => (object, 1 + further),
            Value::Array(values) => {
                let count = values.len();
                let first = values.into_iter().find_map(|value| match value {
                    Value::Object(object) => Some(object),
                    _ => None,
                });
                (first.unwrap_or_default(), count)
            }
            _ => return Ok(Self::plain(text)),
        };
        if !KEYS.iter().any(|key| object.contains_key(*key)) {
            return Err("Your answer has neither \"say\" nor \"pass\".".to_owned());
        }
        Ok(Self { count, ..Self::structured(object) })
    }

    fn structured(mut object: Map<String, Value>) -> Self {
        let text = |value: Value| match value {
            Value::String(text) => Some(text),
            _ => None,
        };
        let mut take = |key: &str| object.remove(key).filter(|value| !value.is_null());
        let to = match take("to") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.into_iter().filter_map(text).collect(),
            _ => Vec::new(),
        };
        let from = take("from").and_then(text);
        let say = take("say").or_else(|| take("content")).and_then(text).filter(|say| !say.trim().is_empty());
        // A line in the form of the transcript keeps its author, who may be somebody else.
        let say = match (from, say) {
            (Some(from), Some(say)) => Some(format!("{from}: {say}")),
            (_, say) => say,
        };
        let act = take("tool").and_then(text).map(|tool| Act::new(tool, take("input").unwrap_or_default()));
        let cut = take("cut").or_else(|| take("after"));
        let pass = take("pass") == Some(Value::Bool(true));
        Self { say, to, pass, act, cut, bid: take("bid"), prefix: take(PREFIX), count: 1 }
    }

    fn plain(text: &str) -> Self {
        let bare = text.trim_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
        let pass = text.is_empty() || bare == "pass";
        let say = (!pass).then(|| text.to_owned());
        Self { say, pass, count: 1, ..Self::default() }
    }
}

/// The text inside of a fence of backticks that surrounds it.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, |inner| inner.split_once('\n').map_or(inner, |(_, rest)| rest).trim())
}

#[cfg(test)]
mod tests;
