//! A game that a script drives.
//!
//! A script is a row of clauses with `|` between them. The first one sets the game up: its name, the seats
//! (`Zoe*` is a host), and settings with `;` between them (`parley Ana Ben; turns=pooled; limit.depth=2`).
//! Each further clause is an answer of a player, given when it is asked for something that the answer fits:
//!
//! - `Ana: words`, `Ana > Ben: words`: speaks in its turn or as an interrupter; `Ana reacts: words`,
//!   `Ana reacts > Ben: words`: reacts;
//! - `Ana cuts 2 bid 5`: offers to cut in after the second sentence; `Ana cuts after One`: after these words;
//! - `Ana vote Ben`: calls a tool with one input; `Ana raw {…}`: answers with this text;
//! - `Ana passes`, `Ana times out`, `Ana garbles`, `Ana breaks` (its provider fails);
//!
//! or an input: `say Zoe: words`, `say Zoe > Ana: words`, `join Dora`, `leave Ana`, `mute Ana`, `unmute Ana`,
//! `time up`, `stop`. Inputs wait until nothing is asked. Players without a fitting answer pass.

use std::collections::BTreeSet;

use arena::{
    Act, Answer, Ask, AskKind, Audience, Compact, Effect, Event, Fault, Input, Newcomer, Payload, Prompt,
    SeatId, Setup, Table, Viewer, Visible,
};
use serde_json::{Map, Value, json};

/// A player's answer to an ask.
#[derive(Debug, Clone)]
pub(crate) enum Response {
    Answer(Answer),
    Fault(Fault),
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

/// A table with everything that was sent to players.
pub(crate) struct Play {
    pub(crate) table: Table,
    pub(crate) prompts: Vec<(Ask, Prompt)>,
    pub(crate) compactions: Vec<Compact>,
    clauses: Vec<Clause>,
}

struct Clause {
    who: String,
    what: String,
    used: bool,
}

pub(crate) fn seat(table: &Table, name: &str) -> SeatId {
    table.seats().iter().find(|seat| seat.name == name).map(|seat| seat.id).expect("a seat")
}

pub(crate) fn setup(clause: &str) -> Setup {
    let mut parts = clause.split(';').map(str::trim);
    let mut words = parts.next().expect("a game").split_whitespace();
    let game = words.next().expect("a game").to_owned();
    let seats = words.map(|word| match word.strip_suffix('*') {
        Some(name) => Newcomer::host(name),
        None => Newcomer::player(word),
    });
    let mut setup = Setup::new(&game, Value::Null, 7, seats.collect());
    let (mut settings, mut limits) = (Map::new(), Map::new());
    for part in parts.filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, "true"));
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        match key.split_once('.') {
            Some(("limit", key)) => limits.insert(key.to_owned(), value),
            _ if key == "seed" => {
                setup.seed = value.as_u64().expect("a number");
                None
            }
            _ => settings.insert(key.to_owned(), value),
        };
    }
    setup.limits = serde_json::from_value(Value::Object(limits)).expect("limits");
    setup.settings = Value::Object(settings);
    setup
}

impl Play {
    /// The state after a whole script, of which every clause was used.
    #[track_caller]
    pub(crate) fn of(script: &str) -> Self {
        let (first, rest) = script.split_once('|').unwrap_or((script, ""));
        let setup = setup(first);
        let game = arena::open(&setup).expect(script);
        Self::with(Table::new(setup, game), rest)
    }

    #[track_caller]
    pub(crate) fn with(table: Table, script: &str) -> Self {
        let mut play = Self { table, prompts: Vec::new(), compactions: Vec::new(), clauses: Vec::new() };
        let mut inputs = vec![Input::Start];
        for clause in script.split('|').map(str::trim).filter(|clause| !clause.is_empty()) {
            match play.input(clause) {
                Some(input) => {
                    play.step_all(&mut inputs, script);
                    inputs.push(input);
                }
                None => play.note(clause),
            }
        }
        play.step_all(&mut inputs, script);
        play
    }

    #[track_caller]
    fn step_all(&mut self, inputs: &mut Vec<Input>, script: &str) {
        for input in inputs.drain(..) {
            let effects = self.table.step(input).unwrap_or_else(|refusal| panic!("{refusal}\n  {script}"));
            self.perform(effects);
        }
        let unused: Vec<String> =
            self.clauses.iter().filter(|it| !it.used).map(|it| format!("{} {}", it.who, it.what)).collect();
        assert!(unused.is_empty(), "unused: {unused:?}\n  script: {script}\n  got: {}", self.shown());
        assert_sound(&self.table);
        assert_prompts(&self.table, &self.prompts);
    }

    fn input(&self, clause: &str) -> Option<Input> {
        let (word, rest) = clause.split_once(' ').unwrap_or((clause, ""));
        let seat = |name: &str| seat(&self.table, name);
        Some(match word {
            "say" => {
                let (who, content) = rest.split_once(": ").expect("words");
                let (who, to) = who.split_once(" > ").unwrap_or((who, ""));
                let audience = match to {
                    "" => Audience::All,
                    names => Audience::Only(names.split(", ").map(seat).collect()),
                };
                Input::Say { seat: seat(who), audience, content: content.to_owned() }
            }
            "join" => Input::Join { newcomer: Newcomer::player(rest) },
            "leave" => Input::Leave { seat: seat(rest) },
            "mute" => Input::Mute { seat: seat(rest), muted: true },
            "unmute" => Input::Mute { seat: seat(rest), muted: false },
            "time" => Input::TimeUp,
            "stop" => Input::Stop,
            _ => return None,
        })
    }

    fn note(&mut self, clause: &str) {
        let end = clause.find([':', ' ']).expect("an answer");
        let (who, what) = clause.split_at(end);
        self.clauses.push(Clause { who: who.to_owned(), what: what.trim().to_owned(), used: false });
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        perform(&mut self.table, effects, &mut self.prompts, &mut self.compactions, &mut |table, ask| {
            response(&mut self.clauses, table, ask)
        });
    }

    /// The delivered events: `Ana: words | Ben!: words | [a notice] | (finished)`.
    pub(crate) fn shown(&self) -> String {
        self.shown_to(Viewer::Master)
    }

    pub(crate) fn shown_to(&self, viewer: Viewer) -> String {
        let view = self.table.view(viewer);
        let shown = view.iter().filter_map(|(_, event)| shown(&self.table, event));
        shown.collect::<Vec<_>>().join(" | ")
    }

    /// The last prompt of a player, as text.
    pub(crate) fn last_prompt(&self, name: &str) -> String {
        let seat = seat(&self.table, name);
        let (_, prompt) = self.prompts.iter().rfind(|(ask, _)| ask.seat == seat).expect("a prompt");
        text(prompt)
    }

    /// The facts of the log of one kind, without their frame.
    pub(crate) fn facts(&self, kind: &str) -> Vec<Value> {
        let facts = self.table.entries().iter().flat_map(|entry| &entry.facts);
        let facts = facts.map(|fact| serde_json::to_value(fact).expect("JSON"));
        facts.filter(|fact| fact["fact"] == kind).collect()
    }
}

pub(crate) fn text(prompt: &Prompt) -> String {
    prompt.messages.iter().map(|it| format!("{:?}: {}\n", it.role, it.text)).collect()
}

/// Performs effects until nothing is asked. Diaries say how many lines they have.
pub(crate) fn perform(
    table: &mut Table,
    effects: Vec<Effect>,
    prompts: &mut Vec<(Ask, Prompt)>,
    compactions: &mut Vec<Compact>,
    respond: &mut dyn FnMut(&Table, &Ask) -> Response,
) {
    let mut effects: std::collections::VecDeque<Effect> = effects.into();
    while let Some(effect) = effects.pop_front() {
        let input = match effect {
            Effect::Ask(ask) => {
                prompts.push((ask.clone(), table.prompt(&ask, Some("plain"))));
                match respond(table, &ask) {
                    Response::Answer(answer) => Input::Answer { ask: ask.id, answer },
                    Response::Fault(fault) => Input::Fault { ask: ask.id, fault },
                }
            }
            Effect::Compact(compact) => {
                let text = format!("I saw {} lines.", compact.lines.lines().count());
                let ask = compact.ask;
                compactions.push(compact);
                Input::Diary { ask, text: Some(text) }
            }
            // The others that were asked come first.
            Effect::Pause { .. } if effects.iter().any(|it| matches!(it, Effect::Ask(_))) => {
                effects.push_back(effect);
                continue;
            }
            Effect::Pause { .. } => Input::Retry,
            Effect::Show(_) | Effect::End(_) => continue,
        };
        match table.step(input) {
            Ok(further) => effects.extend(further),
            Err(arena::Refusal::Over | arena::Refusal::Stale | arena::Refusal::NotPaused) => {}
            Err(refusal) => panic!("{refusal}"),
        }
    }
}

fn response(clauses: &mut [Clause], table: &Table, ask: &Ask) -> Response {
    let name = table.seats().name(ask.seat);
    let is_fault = |what: &str| {
        matches!(what, "times out" | "garbles" | "breaks" | "passes") || what.starts_with("raw ")
    };
    let next = clauses.iter_mut().find(|clause| clause.who == name && !clause.used);
    let fits = |what: &str| match &ask.kind {
        AskKind::Offer { .. } => what.starts_with("cuts "),
        AskKind::React { .. } => what.starts_with("reacts") || is_fault(what),
        _ if is_fault(what) => true,
        _ if what.starts_with(':') || what.starts_with('>') => ask.may_speak,
        _ => ask.tools.iter().any(|tool| tool.name == what.split(' ').next().unwrap_or_default()),
    };
    let Some(clause) = next.filter(|clause| fits(&clause.what)) else { return Answer::pass().into() };
    clause.used = true;
    answer(&clause.what, ask)
}

fn answer(what: &str, ask: &Ask) -> Response {
    let spoken = what.strip_prefix("reacts").unwrap_or(what);
    if let Some(words) = spoken.strip_prefix(": ") {
        return Answer::text(words).into();
    }
    if let Some(rest) = spoken.trim_start().strip_prefix("> ") {
        let (to, words) = rest.split_once(": ").expect("words");
        return Answer::text(json!({"say": words, "to": to.split(", ").collect::<Vec<_>>()}).to_string())
            .into();
    }
    let (verb, rest) = what.split_once(' ').unwrap_or((what, ""));
    match verb {
        "passes" => Answer::pass().into(),
        "garbles" => Response::Fault(Fault::Garbage),
        "times" => Response::Fault(Fault::TimedOut),
        "breaks" => Response::Fault(Fault::Provider),
        "raw" => Answer::text(rest).into(),
        "cuts" if rest.starts_with("after ") => Answer::text(
            json!({"target_speech_content": &rest["after ".len()..], "content": "x"}).to_string(),
        )
        .into(),
        "cuts" => {
            let (end, bid) = rest.split_once(" bid ").unwrap_or((rest, "0"));
            let number = |text: &str| text.parse::<u32>().expect("a number");
            Answer::text(json!({"cut": number(end), "bid": number(bid)}).to_string()).into()
        }
        tool => Answer::act(act(tool, rest, ask)).into(),
    }
}

/// A call with one input: the only one that the tool requires.
pub(crate) fn act(tool: &str, value: &str, ask: &Ask) -> Act {
    let tool = ask.tools.iter().find(|it| it.name == tool).expect("a tool");
    let required = tool.input_schema["required"].as_array().expect("a list");
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    let input = match (required.first().and_then(Value::as_str), value) {
        (_, Value::Object(input)) => Value::Object(input),
        (Some(key), value) => json!({ key: value }),
        (None, _) => json!({}),
    };
    Act::new(tool.name.as_str(), input)
}

fn shown(table: &Table, event: &Event) -> Option<String> {
    let name = event.src.map_or("", |seat| table.seats().name(seat));
    let to = match &event.visible {
        Visible::Some(seats) => {
            let others = seats.iter().filter(|seat| Some(**seat) != event.src).copied();
            format!(">{}", table.seats().names(others).replace(' ', ""))
        }
        _ => String::new(),
    };
    let dash = if event.payload.is_cut() { " –" } else { "" };
    Some(match &event.payload {
        Payload::GameStart { .. } => return None,
        Payload::Speech { content, .. } => format!("{name}{to}: {content}{dash}"),
        Payload::Interrupt { content, .. } => format!("{name}!{to}: {content}{dash}"),
        Payload::AddPlayer { name, .. } => format!("+{name}"),
        Payload::RemovePlayer { name, .. } => format!("-{name}"),
        Payload::GameEnd { ending } => {
            format!("({})", serde_json::to_value(ending.outcome).expect("JSON").as_str().expect("a word"))
        }
        Payload::Own { text, .. } => format!("[{}{text}]", if to.is_empty() { to } else { to + " " }),
    })
}

/// Asserts that the log leads to the same table, that it survives being stored, and that nobody witnessed
/// what it may not see.
#[track_caller]
pub(crate) fn assert_sound(table: &Table) {
    if arena::games::NAMES.contains(&table.setup().game.as_str()) {
        let stored = table.log().to_lines();
        let read = arena::Log::from_lines(&stored).expect("a log");
        let (again, _) = Table::replay(&read).expect("a replay");
        assert_eq!(again.log().to_lines(), stored, "the replay is another game");
        assert_eq!(again.phase(), table.phase());
    }
    for seat in table.seats().iter() {
        let mut seen = BTreeSet::new();
        for (_, event) in table.memory(seat.id).expect("a memory").lines() {
            assert!(event.visible.includes(seat.id), "{} witnessed {event:?}", seat.name);
            assert!(seen.insert(event.sid), "twice: {event:?}");
            assert_eq!(Some(event), table.event(event.sid), "an old state");
        }
    }
}

/// Asserts what every provider demands: the user begins and ends, roles alternate, no message is empty.
#[track_caller]
pub(crate) fn assert_prompts(table: &Table, prompts: &[(Ask, Prompt)]) {
    for (ask, prompt) in prompts {
        let name = table.seats().name(ask.seat);
        let roles: Vec<_> = prompt.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles.first(), Some(&arena::Role::User), "{name}");
        assert_eq!(roles.last(), Some(&arena::Role::User), "{name}");
        assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{name}: {roles:?}");
        assert!(prompt.messages.iter().all(|message| !message.text.trim().is_empty()), "{name}");
    }
}

/// Asserts what happens.
#[track_caller]
pub(crate) fn check(script: &str, expected: &str) {
    assert_eq!(Play::of(script).shown(), expected, "\n  script: {script}");
}

/// Asserts what was dropped, and why: `Ben later_cut, Ana echo`.
#[track_caller]
pub(crate) fn check_dropped(script: &str, expected: &str) {
    let play = Play::of(script);
    let name = |fact: &Value| {
        let seat = u16::try_from(fact["seat"].as_u64().expect("a seat")).expect("a seat");
        play.table.seats().name(SeatId(seat)).to_owned()
    };
    let shown = play.facts("dropped");
    let shown = shown
        .iter()
        .map(|fact| format!("{} {}", name(fact), fact["dropped"]["drop"].as_str().expect("a word")));
    assert_eq!(shown.collect::<Vec<_>>().join(", "), expected, "\n  script: {script}");
}
