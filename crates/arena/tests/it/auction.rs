//! Auction: sealed and open bids, budgets, profits.

use arena::{Act, Viewer};
use serde_json::json;

use super::play::{self, Play, seat};

/// An auction of one lot between three players, without talk. Everything is worth 50 to everybody.
fn game(script: &str) -> String {
    let (settings, rest) = script.split_once('|').unwrap_or((script, ""));
    let (sale, settings) = settings.trim().split_once(' ').unwrap_or((settings.trim(), ""));
    let lots = format!(r#"lots=[{{"name":"it","sale":"{sale}","reserve":10}}]"#);
    format!("auction Ana Ben Cleo; {lots}; talk=false; least_value=50; most_value=50; {settings} | {rest}")
}

/// Asserts the notices between the announcement and the end, and the profits.
#[track_caller]
fn check(script: &str, expected: &str) {
    let play = Play::of(&game(script));
    let shown = play.shown_to(Viewer::Audience);
    let shown = shown.split(" | ").skip(1).filter(|it| *it != "(finished)").collect::<Vec<_>>().join(" ");
    let ending = play.table.ending().expect("an end");
    let profits = ending.text.rsplit("Profits: ").next().expect("profits");
    let winners = play.table.seats().names(ending.winners.iter().copied());
    assert_eq!(format!("{shown} {profits} {winners}"), expected, "\n  script: {script}");
}

#[test]
fn the_highest_sealed_bid_pays_its_bid() {
    check(
        "sealed | Ana bid 30 | Ben bid 40 | Cleo bid 20",
        "[The bids: Ben 40, Ana 30, Cleo 20.] [Ben has it for 40.] Ana 0, Ben 10, Cleo 0. Ben",
    );
    check(
        "sealed | Ana bid 60",
        "[The bids: Ana 60.] [Ana has it for 60.] Ana -10, Ben 0, Cleo 0. Ben, Cleo",
    );
}

#[test]
fn a_second_price_is_the_next_bid_or_the_reserve() {
    check(
        "second_price | Ana bid 30 | Ben bid 40 | Cleo bid 20",
        "[The bids: Ben 40, Ana 30, Cleo 20.] [Ben has it for 30.] Ana 0, Ben 20, Cleo 0. Ben",
    );
    check("second_price | Ana bid 30", "[The bids: Ana 30.] [Ana has it for 10.] Ana 40, Ben 0, Cleo 0. Ana");
}

#[test]
fn equal_bids_are_drawn() {
    let winner = |seed: u64| {
        let play = Play::of(&game(&format!("sealed seed={seed} | Ana bid 30 | Ben bid 30")));
        assert!(play.facts("drawn").iter().any(|fact| fact["draw"]["purpose"] == "tie"));
        play.table.ending().expect("an end").winners[0]
    };
    let winners: std::collections::BTreeSet<_> = (0..20).map(winner).collect();
    assert_eq!(winners.len(), 2);
}

#[test]
fn open_bids_rise_until_one_is_left() {
    check(
        "open | Ana raise 10 | Ben raise 15 | Ana raise 30",
        "[Ana bids 10.] [Ben bids 15.] [Cleo is out.] [Ana bids 30.] [Ben is out.] [Ana has it for 30.] \
         Ana 20, Ben 0, Cleo 0. Ana",
    );
    check(
        "open | Cleo raise 12",
        "[Ana is out.] [Ben is out.] [Cleo bids 12.] [Cleo has it for 12.] Ana 0, Ben 0, Cleo 38. Cleo",
    );
}

#[test]
fn a_lot_can_stay_unsold() {
    check("open", "[Ana is out.] [Ben is out.] [Cleo is out.] [Nobody bids for it.] Ana 0, Ben 0, Cleo 0. ");
    check("sealed", "[Nobody bids for it.] Ana 0, Ben 0, Cleo 0. ");
    check("sealed budget=5", "[Nobody bids for it.] Ana 0, Ben 0, Cleo 0. ");
}

#[test]
fn bids_stay_within_the_budget_and_the_reserve() {
    for bid in ["101", "9", "-5", r#"{"amount":"lots"}"#] {
        let play = Play::of(&game(&format!("sealed | Ana bid {bid} | Ana bid 20")));
        let reason = play.facts("invalid")[0]["reason"].as_str().expect("a reason").to_owned();
        assert_eq!(reason, "bid needs \"amount\", an integer from 10 to 100.", "{bid}");
    }
    let play = Play::of(&game("open | Ana raise 10 | Ben raise 14 | Ben raise 15"));
    assert_eq!(play.facts("invalid").len(), 1, "a raise is at least a step");
    // Who cannot raise is not asked.
    check("open budget=20 | Ana raise 18", "[Ana bids 18.] [Ana has it for 18.] Ana 32, Ben 0, Cleo 0. Ana");
}

#[test]
fn sealed_bids_are_asked_at_once() {
    let play = Play::of(&game("sealed | Ana bid 30 | Ben bid 40"));
    assert_eq!(play.prompts.len(), 3);
    assert!(play.prompts.iter().all(
        |(ask, prompt)| ask.as_of == play.prompts[0].0.as_of && !play::text(prompt).contains("The bids")
    ));
}

#[test]
fn values_are_private_and_can_be_looked_up() {
    let play = Play::of("auction Ana Ben; talk=false; seed=5");
    for name in ["Ana", "Ben"] {
        let shown = play.shown_to(Viewer::Seat(seat(&play.table, name)));
        assert_eq!(shown.matches("worth to you").count(), 1);
        assert!(
            shown.starts_with("[> What the lots are worth to you")
                || shown.contains(&format!("[>{name} What"))
        );
    }
    let (ask, _) = play.prompts.iter().find(|(ask, _)| !ask.tools.is_empty()).expect("a bid");
    let purse = play.table.look(ask, &Act::new("purse", json!({}))).expect("an answer");
    assert!(
        purse.starts_with("You have 100. You hold nothing. What the lots are worth to you: the clock "),
        "{purse}"
    );
    assert!(play.table.look(ask, &Act::new("bid", json!({}))).is_err());
    assert!(play.table.look(ask, &Act::new("spy", json!({}))).is_err());
}

#[test]
fn money_is_spent_once() {
    let lots = r#"lots=[{"name":"a"},{"name":"b"}]"#;
    let script = format!("auction Ana Ben; {lots}; talk=false | Ana bid 70 | Ana bid 40 | Ana bid 30");
    let play = Play::of(&script);
    assert!(play.shown().contains("[Ana has a for 70.]") && play.shown().contains("[Ana has b for 30.]"));
    assert_eq!(play.facts("invalid").len(), 1);
}
