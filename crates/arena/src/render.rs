//! From a memory to the messages of a model.
//!
//! A player's own past is `assistant`, bare text. Everything else is one user message per gap, with one line
//! of JSON per event. JSON strings end where they end, so no text can forge a line. Roles alternate, the
//! first and the last message are the user's, and no protocol's special fields are used.

use serde::Serialize;

use crate::seat::is_invisible;
use crate::{Ask, Event, Memory, Payload, SeatId, Seats, Sid, Visible};

mod instructions;
pub(crate) use instructions::{conventions, question};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

/// The messages to a model. The persona's own prompt and the tools of the ask come from the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// The rules of the game and the conventions of the transcript: the same in the whole game.
    pub system: String,
    pub messages: Vec<Message>,
}

/// A line of the transcript.
#[derive(Debug, Default, Serialize)]
struct Line<'a> {
    /// Counts what this player saw.
    n: usize,
    from: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<To<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    say: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    /// The line that this one cuts off.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupts: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum To<'a> {
    One(&'a str),
    Some(Vec<&'a str>),
}

const TABLE: &str = "table";

/// One line of JSON for an event, as a viewer sees it.
pub(crate) fn line(
    number: usize,
    event: &Event,
    seats: &Seats,
    number_of: impl Fn(&Event) -> Option<usize>,
) -> String {
    let from = event.src.map_or(TABLE, |seat| seats.name(seat));
    let mut line = Line { n: number, from, ..Line::default() };
    match &event.payload {
        Payload::Speech { content, cut, .. } => {
            line.say = Some(content);
            line.cut = *cut;
            line.to = Some(listeners(event, seats));
        }
        Payload::Interrupt { content, cut, .. } => {
            line.say = Some(content);
            line.cut = *cut;
            line.to = Some(listeners(event, seats));
            line.interrupts = number_of(event);
        }
        other => {
            line.from = TABLE;
            line.notice = Some(notice(other));
        }
    }
    escaped(&line)
}

fn listeners<'a>(event: &Event, seats: &'a Seats) -> To<'a> {
    match &event.visible {
        Visible::Some(listeners) => {
            let others = listeners.iter().filter(|seat| Some(**seat) != event.src);
            let names: Vec<&str> = others.map(|seat| seats.name(*seat)).collect();
            if let [name] = names[..] { To::One(name) } else { To::Some(names) }
        }
        Visible::All | Visible::None => To::One("all"),
    }
}

fn notice(payload: &Payload) -> String {
    match payload {
        Payload::GameStart { players, .. } => {
            format!("The game begins. At the table: {}.", players.join(", "))
        }
        Payload::AddPlayer { name, .. } => format!("{name} joins."),
        Payload::RemovePlayer { name, .. } => format!("{name} leaves."),
        Payload::GameEnd { ending } => ending.text.clone(),
        Payload::Own { text, .. } => text.clone(),
        Payload::Speech { content, .. } | Payload::Interrupt { content, .. } => content.clone(),
    }
}

/// JSON without characters that hide or reorder text, end a line, or open a tag.
pub(crate) fn escaped(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    if json.bytes().all(|byte| matches!(byte, 0x20..0x7f) && byte != b'<') {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        // These occur only inside of strings, where an escape means the same.
        if char == '<' || is_invisible(char) || char.is_control() {
            let mut units = [0_u16; 2];
            for unit in char.encode_utf16(&mut units) {
                text += &format!("\\u{unit:04x}");
            }
        } else {
            text.push(char);
        }
    }
    text
}

/// The lines of a memory, from one to the one before another.
pub(crate) fn transcript(memory: &Memory, seats: &Seats, lines: std::ops::Range<usize>) -> String {
    let number_of = |event: &Event| event.blocks.first().and_then(|sid| memory.number(*sid));
    let lines = memory.lines().skip(lines.start).take(lines.len());
    lines.map(|(number, event)| line(number, event, seats, number_of) + "\n").collect()
}

/// A remark about the player's own last words, for the gap after them.
#[derive(Serialize)]
struct Remark {
    n: usize,
    from: &'static str,
    notice: String,
}

fn own_remark(number: usize, event: &Event, seats: &Seats) -> Option<String> {
    let is_cut = event.payload.is_cut();
    let listeners = match listeners(event, seats) {
        To::One("all") => None,
        To::One(name) => Some(name.to_owned()),
        To::Some(names) if names.is_empty() => None,
        To::Some(names) => Some(names.join(", ")),
    };
    let notice = match (listeners, is_cut) {
        (None, false) => return None,
        (Some(names), false) => format!("Only {names} heard this line of yours."),
        (None, true) => "You were cut off here.".to_owned(),
        (Some(names), true) => format!("Only {names} heard this line of yours. You were cut off here."),
    };
    Some(escaped(&Remark { n: number, from: TABLE, notice }))
}

/// The messages for an ask. `style` is restated after the transcript: manners of speech are contagious.
pub(crate) fn messages(memory: &Memory, ask: &Ask, seats: &Seats, style: Option<&str>) -> Vec<Message> {
    let mut messages = Messages::default();
    let diary = memory.diary();
    if diary.lost > 0 {
        messages.user(&format!("({} earlier lines are forgotten.)", diary.lost));
    }
    if !diary.text.is_empty() {
        messages.user(&format!("Your diary of lines 1 to {}: {}", diary.lines, escaped(&diary.text)));
    }
    let number_of = |event: &Event| event.blocks.first().and_then(|sid| memory.number(*sid));
    for (number, event) in memory.recent() {
        match event.payload.content() {
            Some(content) if event.src == Some(ask.seat) => {
                messages.assistant(content);
                if let Some(remark) = own_remark(number, event, seats) {
                    messages.user(&remark);
                }
            }
            _ => messages.user(&line(number, event, seats, number_of)),
        }
    }
    messages.user(&question(ask, memory, seats, style));
    messages.0
}

/// Messages whose roles alternate, beginning with the user.
#[derive(Default)]
struct Messages(Vec<Message>);

impl Messages {
    fn user(&mut self, text: &str) {
        self.push(Role::User, text, "\n");
    }

    fn assistant(&mut self, text: &str) {
        if self.0.is_empty() {
            self.user("(You begin.)");
        }
        self.push(Role::Assistant, text, "\n\n");
    }

    fn push(&mut self, role: Role, text: &str, gap: &str) {
        match self.0.last_mut() {
            Some(last) if last.role == role => {
                last.text += gap;
                last.text += text;
            }
            _ => self.0.push(Message { role, text: text.to_owned() }),
        }
    }
}

/// An event as one viewer may know it: for streams and exports. It has no number of the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seen<'a> {
    /// Counts what this viewer saw.
    pub n: usize,
    /// The table itself if no seat.
    pub from: Option<SeatId>,
    /// Its listeners; everybody if none are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Vec<SeatId>>,
    /// The numbers of what it reacts to, as far as this viewer saw that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<usize>,
    #[serde(flatten)]
    pub payload: &'a Payload,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(number: usize, event: &'a Event, number_of: impl Fn(Sid) -> Option<usize>) -> Self {
        let to = match &event.visible {
            Visible::Some(seats) => {
                Some(seats.iter().copied().filter(|seat| Some(*seat) != event.src).collect())
            }
            Visible::All | Visible::None => None,
        };
        let blocks = event.blocks.iter().filter_map(|sid| number_of(*sid)).collect();
        Self { n: number, from: event.src, to, blocks, payload: &event.payload }
    }
}

/// A reader of a game's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// A player, who knows what it witnessed.
    Seat(SeatId),
    /// Sees what everybody may see.
    Audience,
    /// Sees everything.
    Master,
}
