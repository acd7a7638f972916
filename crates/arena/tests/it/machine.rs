//! The rules of the machine: interrupts, reactions, chains, limits.

use arena::{AskKind, Input, Outcome, Payload, Table, Viewer};

use super::play::{Play, check, check_dropped, setup};

/// Two players of whom each may cut the other one off.
const CUTTING: &str = "parley Ana Ben Cleo; rounds=1; interrupts";
const REACTING: &str = "parley Ana Ben Cleo; rounds=1; reactions";

#[test]
fn an_interrupt_cuts_a_speech_at_a_sentence_end() {
    check(
        &format!("{CUTTING} | Ana: One. Two. Three. | Ben cuts 2 | Ben: Wait!"),
        "Ana: One. Two. – | Ben!: Wait! | (finished)",
    );
    // After the last sentence nothing is lost.
    check(
        &format!("{CUTTING} | Ana: One. Two. | Ben cuts 2 | Ben: So!"),
        "Ana: One. Two. | Ben!: So! | (finished)",
    );
}

#[test]
fn the_earliest_cut_wins_then_the_higher_bid_then_a_draw() {
    let earliest = format!("{CUTTING} | Ana: One. Two. Three. | Ben cuts 2 bid 9 | Cleo cuts 1 | Cleo: No!");
    check(&earliest, "Ana: One. – | Cleo!: No! | (finished)");
    check_dropped(&earliest, "Ben later_cut");
    let higher =
        format!("{CUTTING} | Ana: One. Two. Three. | Ben cuts 1 bid 2 | Cleo cuts 1 bid 3 | Cleo: No!");
    check(&higher, "Ana: One. – | Cleo!: No! | (finished)");
    check_dropped(&higher, "Ben lower_bid");
    let mut winners = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let play = Play::of(&format!(
            "{CUTTING}; seed={seed} | Ana: One. Two. | Ben cuts 1 bid 2 | Cleo cuts 1 bid 2"
        ));
        let cut = &play.facts("cut")[0];
        winners.insert(cut["by"].as_u64().expect("a seat"));
        assert_eq!(play.facts("drawn")[0]["draw"]["purpose"], "interrupts");
        assert_eq!(play.facts("dropped")[0]["dropped"]["drop"], "lost_draw");
    }
    assert_eq!(winners.len(), 2, "the seed decides");
}

#[test]
fn an_interrupter_may_stay_silent_after_all() {
    check(&format!("{CUTTING} | Ana: One. Two. | Ben cuts 1 | Ben passes"), "Ana: One. – | (finished)");
}

#[test]
fn interrupts_in_a_row_have_a_limit() {
    let chain = "Ana: One. Two. | Ben cuts 1 | Ben: Three. Four.";
    check(&format!("{CUTTING} | {chain}"), "Ana: One. – | Ben!: Three. Four. | (finished)");
    check(
        &format!("{CUTTING}; limit.max_successive_interrupt=2 | {chain} | Ana cuts 1 | Ana: Five. Six."),
        "Ana: One. – | Ben!: Three. – | Ana!: Five. Six. | (finished)",
    );
    check(
        &format!("{CUTTING}; limit.max_successive_interrupt=0 | Ana: One. Two."),
        "Ana: One. Two. | (finished)",
    );
    // Without a limit, the depth ends the chain.
    check(
        &format!(
            "{CUTTING}; limit.max_successive_interrupt=-1; limit.depth=3 | {chain} | Ana cuts 1 | Ana: Five. Six."
        ),
        "Ana: One. – | Ben!: Three. – | Ana!: Five. Six. | (finished)",
    );
}

#[test]
fn a_cut_by_prefix_is_mapped_to_a_sentence() {
    check(
        &format!("{CUTTING} | Ana: One two. Three. Four. | Ben cuts after One two. Th | Ben: So."),
        "Ana: One two. Three. – | Ben!: So. | (finished)",
    );
    // What the speech does not begin with is invalid.
    let script = format!("{CUTTING} | Ana: One two. Three. | Ben cuts after Three | Ben cuts 1 | Ben: So.");
    check(&script, "Ana: One two. – | Ben!: So. | (finished)");
}

#[test]
fn what_was_never_spoken_enters_no_memory() {
    let play =
        Play::of(&format!("{CUTTING}; rounds=2 | Ana: One. SECRET. | Ben cuts 1 | Ben: Stop there, Ana."));
    for (ask, prompt) in &play.prompts {
        let has_it = prompt.messages.iter().any(|message| message.text.contains("SECRET"));
        assert_eq!(has_it, matches!(ask.kind, AskKind::Offer { .. }), "{ask:?}");
    }
    assert!(play.table.transcript(Viewer::Master).find("SECRET").is_none());
}

#[test]
fn an_interrupted_whisper_stays_private() {
    let script =
        format!("{CUTTING}; whispers | Ana > Ben: One. Two. | Ben cuts 1 | Ben: What?! Tell me more.");
    check(&script, "Ana>Ben: One. – | Ben!>Ana: What?! Tell me more. | (finished)");
    let play = Play::of(&script);
    let cleo = super::play::seat(&play.table, "Cleo");
    assert_eq!(play.shown_to(Viewer::Seat(cleo)), "(finished)");
    // She was not asked about it either.
    let offers = play.prompts.iter().filter(|(ask, _)| matches!(ask.kind, AskKind::Offer { .. }));
    assert!(offers.into_iter().all(|(ask, _)| ask.seat != cleo));
}

#[test]
fn reactions_follow_what_they_react_to() {
    check(
        &format!(
            "{REACTING} | Ana: Bread is good. | Ben reacts: Is it? | Cleo reacts: It is. | Ben: Cake is better."
        ),
        "Ana: Bread is good. | Ben: Is it? | Cleo: It is. | Ben: Cake is better. | (finished)",
    );
}

#[test]
fn reactions_have_a_limit_and_a_draw() {
    let script = format!(
        "{REACTING}; limit.max_react_per_event=1; seed=3 | Ana: Bread is good. | Ben reacts: Is it? | Cleo reacts: It is."
    );
    let play = Play::of(&script);
    assert_eq!(play.facts("dropped").len(), 1, "{}", play.shown());
    let none = REACTING.to_owned()
        + "; limit.max_react_per_event=-1 | Ana: Bread is good. | Ben reacts: Is it? | Cleo reacts: It is.";
    check_dropped(&none, "");
}

#[test]
fn a_reaction_reaches_no_further_than_what_it_reacts_to() {
    let script =
        format!("{REACTING}; whispers | Ana > Ben: A secret for you. | Ben reacts: I keep it to myself.");
    check(&script, "Ana>Ben: A secret for you. | Ben>Ana: I keep it to myself. | (finished)");
    // It may reach fewer.
    check(
        &format!("{REACTING}; whispers | Ana: Bread is good. | Ben reacts > Cleo: She means cake."),
        "Ana: Bread is good. | Ben>Cleo: She means cake. | (finished)",
    );
    check(
        &format!("{CUTTING}; whispers | Ana: One. Two. | Ben cuts 1 | Ben > Cleo: She goes on and on."),
        "Ana: One. – | Ben!>Cleo: She goes on and on. | (finished)",
    );
    let refused = format!(
        r#"{REACTING}; whispers | Ana > Ben: A secret for you. | Ben raw {{"say": "Listen", "to": "Cleo"}} | Ben passes"#
    );
    let play = Play::of(&refused);
    assert_eq!(play.shown(), "Ana>Ben: A secret for you. | (finished)");
    assert!(
        play.facts("invalid")[0]["reason"].as_str().expect("a reason").contains("who can hear you: Ana.")
    );
}

#[test]
fn chains_end_at_their_depth() {
    let chain = "Ana: Bread is good. | Ben reacts: Is it so? | Ana reacts: It is. | Ben reacts: Prove it.";
    let script = format!("{REACTING}; limit.depth=4 | {chain}");
    check(&script, "Ana: Bread is good. | Ben: Is it so? | Ana: It is. | Ben: Prove it. | (finished)");
    assert_eq!(Play::of(&script).facts("chain_ends")[0]["end"], "depth");
    check(
        &format!("{REACTING}; limit.depth=2 | Ana: Bread is good. | Ben reacts: Is it so?"),
        "Ana: Bread is good. | Ben: Is it so? | (finished)",
    );
}

#[test]
fn courtesies_and_echoes_end_chains() {
    let script = format!("{REACTING} | Ana: Bread is good. | Ben reacts: Thank you!");
    check(&script, "Ana: Bread is good. | Ben: Thank you! | (finished)");
    assert_eq!(Play::of(&script).facts("chain_ends")[0]["end"], "courtesies");
    check_dropped(&format!("{REACTING} | Ana: Bread is good. | Ben reacts: bread is good!"), "Ben echo");
}

#[test]
fn limits_end_a_game() {
    let talk = "Ana: Bread is very good indeed for you. | Ben: Cake is far better than bread, I say.";
    let play = Play::of(&format!("parley Ana Ben; rounds=100; limit.spoken_tokens=15 | {talk}"));
    assert_eq!(play.table.ending().map(|ending| ending.outcome), Some(Outcome::Limit));
    let play = Play::of(&format!("parley Ana Ben; rounds=100; limit.events=2 | {talk}"));
    assert_eq!(play.table.ending().map(|ending| ending.outcome), Some(Outcome::Limit));
}

/// A game that never does anything.
#[derive(Debug)]
struct Idle;

impl arena::Game for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn how_to_play(&self, _seats: &arena::Seats) -> String {
        "Wait.".to_owned()
    }

    fn next(&mut self, _desk: &mut arena::Desk<'_>) -> arena::Next {
        arena::Next::Again
    }
}

#[test]
fn a_game_that_does_nothing_ends() {
    let mut table = Table::new(setup("idle Ana"), Box::new(Idle));
    table.step(Input::Start).expect("a start");
    assert_eq!(table.ending().map(|ending| ending.outcome), Some(Outcome::Limit));
}

#[test]
fn events_pass_through_their_stages() {
    let play =
        Play::of("parley Ana Ben; rounds=1; interrupts | Ana: One. Two. | Ben cuts 1 | Ben: Wait, Ana!");
    let speech = play.table.events().find(|event| event.payload.content() == Some("One.")).expect("a speech");
    let stages: Vec<String> = play
        .facts("stage")
        .iter()
        .filter(|fact| fact["sid"] == speech.sid.0)
        .map(|fact| {
            format!(
                "{}{}",
                fact["stage"].as_str().expect("a word"),
                fact.get("spoken").map_or(String::new(), |it| format!(" {it}"))
            )
        })
        .collect();
    assert_eq!(stages, ["handling", "handled 4", "final"]);
    let born = play.facts("event");
    let born = born.iter().find(|fact| fact["event"]["sid"] == speech.sid.0).expect("an event");
    assert_eq!(
        (&born["event"]["stage"], &born["event"]["payload"]["content"]),
        (&"tentative".into(), &"One. Two.".into())
    );
    let interrupt = play.table.events().find(|event| event.blocks == [speech.sid]).expect("an interrupt");
    assert!(
        matches!(&interrupt.payload, Payload::Interrupt { target_speech_content, .. } if target_speech_content == "One.")
    );
}
