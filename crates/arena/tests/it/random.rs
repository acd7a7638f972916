//! Many seeded games of players who do anything: every game ends, every replay is equal, and nobody learns
//! what it may not know.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use arena::{
    Act, Answer, Ask, AskId, AskKind, Audience, Effect, Fault, Input, Log, Newcomer, Outcome, Payload, Phase,
    ProviderPolicy, SeatId, Setup, Table, Tool, ToolKind, Viewer, Visible,
};
use serde_json::{Value, json};

use super::play::{Response, assert_prompts, assert_sound, perform, setup};

/// The numbers of a player, by the call: the same whoever is asked first.
struct Dice(u64);

impl Dice {
    fn of(seed: u64, ask: AskId) -> Self {
        Self(seed ^ (u64::from(ask.batch) << 32) ^ (u64::from(ask.seat.0) << 16) ^ u64::from(ask.attempt))
    }

    /// SplitMix64.
    fn below(&mut self, of: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % of as u64).expect("a small number")
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// An input that the schema of a tool allows.
fn input(tool: &Tool, dice: &mut Dice) -> Value {
    let properties = tool.input_schema["properties"].as_object().expect("properties");
    let value = |schema: &Value, dice: &mut Dice| match schema["enum"].as_array() {
        Some(words) => dice.pick(words).clone(),
        None if schema["type"] == "integer" => {
            let bound = |key: &str| schema[key].as_i64().expect("a bound");
            let span = usize::try_from(bound("maximum") - bound("minimum") + 1).expect("a range");
            json!(bound("minimum") + i64::try_from(dice.below(span)).expect("a small number"))
        }
        None => json!("because"),
    };
    properties
        .iter()
        .map(|(key, schema)| (key.clone(), value(schema, dice)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A word that nobody else says, by which a speech can be found again.
fn word(ask: AskId) -> String {
    format!("w{}x{}x{}", ask.batch, ask.seat.0, ask.attempt)
}

/// A player that passes, fails, whispers, interrupts, calls tools and answers nonsense.
fn anything(seed: u64, table: &Table, ask: &Ask) -> Response {
    let mut dice = Dice::of(seed, ask.id);
    match dice.below(100) {
        0..4 => return Response::Fault(Fault::TimedOut),
        4..7 => return Response::Fault(Fault::Garbage),
        7..9 => return Response::Fault(Fault::Provider),
        9..13 => return Answer::text("{\"say\": 1").into(),
        13..17 => return Answer::act(Act::new("fly", json!({"player": "Nobody"}))).into(),
        17..27 => return Answer::pass().into(),
        _ => {}
    }
    if let AskKind::Offer { sentences, .. } = &ask.kind {
        let end = dice.below(sentences.len() + 2);
        return Answer::text(json!({"cut": end, "bid": dice.below(4)}).to_string()).into();
    }
    let actions: Vec<&Tool> = ask.tools.iter().filter(|tool| tool.kind == ToolKind::Action).collect();
    let mut answer = Answer::pass();
    if !actions.is_empty() && (!ask.may_speak || dice.chance(50)) {
        let tool = dice.pick(&actions);
        answer.acts.push(Act::new(tool.name.as_str(), input(tool, &mut dice)));
    }
    if ask.may_speak {
        let word = word(ask.id);
        let names: Vec<String> = table.seats().iter().map(|seat| seat.name.clone()).collect();
        let name = dice.pick(&names).clone();
        let words = format!("I say {word} one. And @{name} hears {word} two. So {word} three.");
        answer.text = match dice.below(6) {
            0 => json!({"say": words, "to": name}).to_string(),
            1 => format!("{words}\n{name}: and I agree"),
            2 => "Thank you!".to_owned(),
            3 => "We have said all of this so many times before, have we not?".to_owned(),
            _ => json!({"say": words, "to": "all"}).to_string(),
        };
    }
    answer.into()
}

/// A game of one of the four kinds, with any settings.
fn any_setup(seed: u64) -> Setup {
    let mut dice = Dice(seed);
    let players = 3 + dice.below(5);
    let seats = ["Ana", "Ben", "Cleo Day", "王小明", "ana", "Fay", "Gil"][..players].iter().copied();
    let mut seats: Vec<Newcomer> = seats.map(Newcomer::player).collect();
    let word = |dice: &mut Dice, words: &[&str]| (*dice.pick(words)).to_owned();
    let (game, settings) = match dice.below(4) {
        0 => {
            let turns =
                word(&mut dice, &["round_robin", "natural", "pooled", "bidding", "moderator", "parallel"]);
            (
                "parley",
                json!({"turns": turns, "moderator": (turns == "moderator").then_some("Ana"), "rounds": 3,
                "interrupts": dice.chance(60), "reactions": dice.chance(60), "whispers": dice.chance(60)}),
            )
        }
        1 => (
            "auction",
            json!({"budget": dice.below(200), "step": 1 + dice.below(9), "talk": dice.chance(50)}),
        ),
        2 => ("debate", json!({"motion": "Bread", "rounds": dice.below(4), "interrupts": dice.below(3)})),
        _ => {
            if players < 4 {
                seats.push(Newcomer::player("Hal"));
            }
            (
                "mafia",
                json!({"tie": word(&mut dice, &["nobody", "runoff", "drawn"]), "discussion": dice.below(3),
                "whispers": dice.below(3), "doctor": dice.chance(70), "reveal": dice.chance(50), "days": 4}),
            )
        }
    };
    let mut setup = Setup::new(game, settings, seed, seats);
    let limits = json!({"max_react_per_event": dice.below(4) as i64 - 1, "max_successive_interrupt": dice.below(4) as i64 - 1,
        "depth": 1 + dice.below(5), "memory_tokens": if dice.chance(30) { 200 } else { 24_000 },
        "on_provider_fault": word(&mut dice, &["void", "pass"])});
    setup.limits = serde_json::from_value(limits).expect("limits");
    setup
}

fn open(setup: &Setup) -> Table {
    Table::new(setup.clone(), arena::open(setup).expect("a game"))
}

/// A whole game.
fn play(
    setup: &Setup,
    mut respond: impl FnMut(&Table, &Ask) -> Response,
) -> (Table, Vec<(Ask, arena::Prompt)>) {
    let mut table = open(setup);
    let mut prompts = Vec::new();
    let effects = table.step(Input::Start).expect("a start");
    perform(&mut table, effects, &mut prompts, &mut Vec::new(), &mut respond);
    (table, prompts)
}

#[test]
fn every_game_ends_and_replays() {
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    let mut facts: BTreeSet<String> = BTreeSet::new();
    for seed in 0..160 {
        let setup = any_setup(seed);
        let (table, prompts) = play(&setup, |table, ask| anything(seed, table, ask));
        assert_eq!(table.phase(), Phase::Ended, "{setup:?}");
        assert_sound(&table);
        assert_prompts(&table, &prompts);
        for fact in table.entries().iter().flat_map(|entry| &entry.facts) {
            let fact = serde_json::to_value(fact).expect("JSON");
            let kinds = [&fact["fact"], &fact["dropped"]["drop"], &fact["end"]];
            facts.extend(kinds.iter().filter_map(|kind| kind.as_str()).map(str::to_owned));
        }
        let outcome = table.ending().expect("an end").outcome;
        *ends.entry(format!("{} {outcome:?}", setup.game)).or_default() += 1;
        // Tentative events never stay behind, except for those that the end dropped.
        let open = table.events().filter(|event| event.stage == arena::Stage::Handling).count();
        assert!(open == 0 || outcome == Outcome::Void, "{setup:?}");
    }
    // The players did all that can be done.
    let expected = "asked chain_ends courtesies cut depth diary drawn dropped echo event fell_back invalid later_cut \
                    lost_draw lower_bid spoke_for stage too_many_reactions";
    assert_eq!(facts.iter().map(String::as_str).collect::<Vec<_>>().join(" "), expected);
    for game in ["parley", "auction", "debate", "mafia"] {
        assert!(ends.get(&format!("{game} Finished")).is_some_and(|count| *count > 10), "{ends:?}");
    }
}

/// Plays a game whose answers arrive in an order that the seed decides.
fn play_in_any_order(setup: &Setup, seed: u64, order: u64) -> Log {
    let mut table = open(setup);
    let mut effects = table.step(Input::Start).expect("a start");
    let mut dice = Dice(order);
    while !effects.is_empty() {
        let at = dice.below(effects.len());
        let input = match effects.remove(at) {
            Effect::Ask(ask) => match anything(seed, &table, &ask) {
                Response::Answer(answer) => Input::Answer { ask: ask.id, answer },
                Response::Fault(fault) => Input::Fault { ask: ask.id, fault },
            },
            Effect::Compact(compact) => {
                Input::Diary { ask: compact.ask, text: Some("I remember.".to_owned()) }
            }
            Effect::Pause { .. } => Input::Retry,
            Effect::Show(_) | Effect::End(_) => continue,
        };
        // A game may be void, or an outage over, by now.
        effects.extend(table.step(input).unwrap_or_default());
    }
    table.log()
}

#[test]
fn the_order_of_answers_does_not_matter() {
    for seed in 0..80 {
        let mut setup = any_setup(seed);
        setup.limits.on_provider_fault = ProviderPolicy::Pass;
        let logs = [1, 2, 3].map(|order| play_in_any_order(&setup, seed, order).to_lines());
        assert!(logs.iter().all(|log| *log == logs[0]), "{setup:?}");
    }
}

/// An input that no question asked for.
fn any_change(table: &Table, dice: &mut Dice) -> Input {
    let seat = SeatId(u16::try_from(dice.below(table.seats().len())).expect("a seat"));
    match dice.below(8) {
        0 => Input::Join { newcomer: Newcomer::player("Ivy") },
        1 => Input::Leave { seat },
        2 | 3 => Input::Mute { seat, muted: dice.chance(50) },
        4 => Input::TimeUp,
        5 => Input::Retry,
        _ => Input::Say {
            seat,
            audience: Audience::All,
            content: format!("@{} and all", table.seats().name(seat)),
        },
    }
}

#[test]
fn changes_at_the_table_keep_a_game_sound() {
    for seed in 0..100 {
        let mut setup = any_setup(seed);
        if seed % 2 == 0 {
            setup.seats.push(Newcomer::host("Zoe"));
        }
        let mut dice = Dice(seed + 7_000);
        let mut table = open(&setup);
        let mut effects = table.step(Input::Start).expect("a start");
        let mut prompts = Vec::new();
        // A room goes on for as long as its host speaks.
        for _ in 0..30 {
            while !effects.is_empty() {
                if dice.chance(15) {
                    effects.extend(table.step(any_change(&table, &mut dice)).unwrap_or_default());
                }
                let at = dice.below(effects.len());
                let input = match effects.remove(at) {
                    Effect::Ask(ask) => {
                        prompts.push((ask.clone(), table.prompt(&ask, None)));
                        match anything(seed, &table, &ask) {
                            Response::Answer(answer) => Input::Answer { ask: ask.id, answer },
                            Response::Fault(fault) => Input::Fault { ask: ask.id, fault },
                        }
                    }
                    Effect::Compact(compact) => Input::Diary { ask: compact.ask, text: None },
                    Effect::Pause { .. } => Input::Retry,
                    Effect::Show(_) | Effect::End(_) => continue,
                };
                effects.extend(table.step(input).unwrap_or_default());
            }
            effects = table.step(any_change(&table, &mut dice)).unwrap_or_default();
        }
        assert!(
            matches!(table.phase(), Phase::Ended | Phase::Waiting | Phase::Ongoing),
            "{:?}",
            table.phase()
        );
        // What is still open is asked again after a replay.
        let (mut again, effects) = Table::replay(&table.log()).expect("a replay");
        perform(&mut again, effects, &mut Vec::new(), &mut Vec::new(), &mut |table, ask| {
            anything(seed, table, ask)
        });
        assert!(matches!(again.phase(), Phase::Ended | Phase::Waiting), "{setup:?}");
        assert_sound(&again);
        assert_prompts(&table, &prompts);
    }
}

#[test]
fn a_game_can_be_forked_at_any_entry() {
    for seed in 0..10 {
        let setup = any_setup(seed);
        let (table, _) = play(&setup, |table, ask| anything(seed, table, ask));
        let log = table.log();
        for at in 0..=log.entries.len() {
            let (mut fork, mut effects) = Table::replay(&log.fork(at)).expect("a fork");
            assert_eq!(fork.log(), log.fork(at));
            if at == 0 {
                effects = fork.step(Input::Start).expect("a start");
            }
            // The same answers lead to the same game, others to another one that ends as well.
            let player = if at % 2 == 0 { seed } else { seed + 1_000 };
            perform(&mut fork, effects, &mut Vec::new(), &mut Vec::new(), &mut |table, ask| {
                anything(player, table, ask)
            });
            assert_eq!(fork.phase(), Phase::Ended);
            if player == seed {
                assert_eq!(fork.log().to_lines(), log.to_lines(), "{setup:?} from {at}");
            }
        }
    }
}

#[test]
fn one_faulty_seat_stops_no_game() {
    for seed in 0..40 {
        for (fault, policy) in [
            (Fault::TimedOut, ProviderPolicy::Void),
            (Fault::Garbage, ProviderPolicy::Void),
            (Fault::Provider, ProviderPolicy::Void),
            (Fault::Provider, ProviderPolicy::Pass),
        ] {
            let mut setup = any_setup(seed);
            setup.limits.on_provider_fault = policy;
            let mut was_asked = false;
            let (table, _) = play(&setup, |table, ask| {
                let is_faulty = ask.seat == SeatId(1);
                was_asked |= is_faulty;
                match anything(seed, table, ask) {
                    _ if is_faulty => Response::Fault(fault),
                    Response::Fault(_) => Answer::pass().into(),
                    answer => answer,
                }
            });
            let is_void = table.ending().expect("an end").outcome == Outcome::Void;
            let may_void = fault == Fault::Provider && policy == ProviderPolicy::Void;
            assert_eq!(is_void, may_void && was_asked, "{fault:?} {setup:?}");
        }
    }
}

#[test]
fn a_log_that_was_changed_does_not_replay() {
    let setup = any_setup(3);
    let (table, _) = play(&setup, |table, ask| anything(3, table, ask));
    let lines = table.log().to_lines();
    // A line that was not written to its end is as if it had not been begun.
    let cut = Log::from_lines(&lines[..lines.len() - 20]).expect("a log");
    assert_eq!(cut.entries.len(), table.entries().len() - 1);
    assert!(Table::replay(&cut).is_ok());
    let mut changed = table.log();
    changed.setup.seed += 1;
    let replayed = Table::replay(&changed).map(|_| ());
    assert!(matches!(replayed, Err(arena::ReplayError::Diverged { .. })), "{replayed:?}");
    let mut newer = table.log();
    newer.setup.format += 1;
    assert!(matches!(Table::replay(&newer), Err(arena::ReplayError::Format { found: 2 })));
}

/// The words of an event that not everybody may see, by which they can be found again.
fn canaries(table: &Table) -> Vec<(String, BTreeSet<SeatId>)> {
    let mut found = Vec::new();
    for event in table.events() {
        let allowed = match &event.visible {
            Visible::Some(seats) => seats.clone(),
            Visible::All | Visible::None => continue,
        };
        match (&event.payload, event.payload.content()) {
            (_, Some(content)) => {
                let words =
                    content.split_whitespace().filter(|word| word.starts_with('w') && word.contains('x'));
                found.extend(words.map(|word| (word.to_owned(), allowed.clone())));
            }
            // "Ana is not mafia." and "The mafia: Ana, Ben." are told to nobody else before the end.
            (Payload::Own { kind, text, .. }, _) if kind != "role" => found.push((text.clone(), allowed)),
            _ => {}
        }
    }
    found
}

#[test]
fn nothing_hidden_is_in_anybody_elses_prompt() {
    let (mut canaries_seen, mut prompts_read) = (0, 0);
    for seed in 0..1_000 {
        let days = 1 + u64::from(seed % 4 == 0);
        let mut setup = setup(&format!(
            "mafia Ana Ben Cleo Dan Eve Fay; mafia=2; discussion=1; reveal=false; days={days}"
        ));
        setup.seed = seed;
        let (table, prompts) = play(&setup, |table, ask| anything(seed, table, ask));
        let canaries = canaries(&table);
        let exports: Vec<(SeatId, String)> =
            table.seats().iter().map(|seat| (seat.id, export(&table, Viewer::Seat(seat.id)))).collect();
        // Most lines are in many prompts. Each is searched once.
        let mut lines: BTreeMap<SeatId, HashSet<&str>> = BTreeMap::new();
        for (ask, prompt) in &prompts {
            let shown = prompt.messages.iter().flat_map(|message| message.text.lines());
            lines.entry(ask.seat).or_default().extend(shown.chain(prompt.system.lines()));
            prompts_read += 1;
        }
        for (seat, export) in &exports {
            lines.entry(*seat).or_default().extend(export.lines());
        }
        assert_no_role_told(&table, &lines, seed);
        let public = export(&table, Viewer::Audience);
        let mut knows: HashMap<&str, Vec<Option<SeatId>>> = HashMap::new();
        for (seat, lines) in &lines {
            lines.iter().for_each(|line| knows.entry(line).or_default().push(Some(*seat)));
        }
        public.lines().for_each(|line| knows.entry(line).or_default().push(None));
        canaries_seen += canaries.len();
        for (line, viewers) in knows {
            for (canary, allowed) in canaries.iter().filter(|(canary, _)| line.contains(canary.as_str())) {
                let may_know = |viewer: &Option<SeatId>| viewer.is_some_and(|seat| allowed.contains(&seat));
                assert!(viewers.iter().all(may_know), "seed {seed}: {viewers:?} know {canary:?}");
            }
        }
    }
    assert!(
        canaries_seen > 4_000 && prompts_read > 8_000,
        "{canaries_seen} canaries in {prompts_read} prompts"
    );
}

/// Asserts that each player is told its own role and no other one, and that numbers count what it saw: gaps
/// would betray hidden events.
fn assert_no_role_told(table: &Table, lines: &BTreeMap<SeatId, HashSet<&str>>, seed: u64) {
    const ROLES: [&str; 4] =
        ["You are mafia", "You are the doctor", "You are the detective", "You are a townsperson"];
    for (seat, lines) in lines {
        let memory = table.memory(*seat).expect("a memory");
        let told = memory.lines().find_map(|(_, event)| match &event.payload {
            Payload::Own { kind, text, .. } if kind == "role" => Some(text.trim_end_matches('.').to_owned()),
            _ => None,
        });
        let told = told.expect("a role");
        for role in ROLES {
            let is_told = lines.iter().any(|line| line.contains(role));
            assert_eq!(is_told, role == told, "seed {seed}: {seat:?} and {role}");
        }
        let numbers = lines.iter().filter_map(|line| number(line));
        assert!(numbers.max().is_some_and(|most| most == memory.len()), "seed {seed}: {seat:?}");
    }
}

/// All that a viewer can get hold of, as text.
fn export(table: &Table, viewer: Viewer) -> String {
    let seen = table.seen(viewer);
    assert!(seen.iter().map(|event| event.n).eq(1..=seen.len()), "numbers have no gaps");
    let events = seen.iter().map(|event| serde_json::to_string(event).expect("JSON") + "\n");
    events.collect::<String>() + &table.transcript(viewer)
}

fn number(line: &str) -> Option<usize> {
    line.strip_prefix("{\"n\":")?.split(',').next()?.parse().ok()
}
