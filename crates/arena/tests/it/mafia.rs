//! Mafia: nights, days, votes, and what stays hidden.

use arena::{Act, Viewer};
use serde_json::json;

use super::play::{Play, seat, text};

/// Asserts what everybody sees after the first night fell, up to the end. Max and Mia are mafia, Doc and Det
/// have their roles, Tom and Tea are townspeople. There is one day, without talk.
#[track_caller]
fn check(script: &str, expected: &str) {
    let (shown, script) = public(script);
    assert_eq!(shown, expected, "\n  script: {script}");
}

const ROLES: &str = r#"roles={"Max":"mafia","Mia":"mafia","Doc":"doctor","Det":"detective"}"#;

fn game(script: &str) -> String {
    let (settings, rest) = script.split_once('|').unwrap_or((script, ""));
    format!("mafia Max Mia Doc Det Tom Tea; mafia=2; {ROLES}; days=1; discussion=0; {settings} | {rest}")
}

fn public(script: &str) -> (String, String) {
    let script = game(script);
    let shown = Play::of(&script).shown_to(Viewer::Audience);
    let shown = shown.strip_prefix("[Night 1 falls.] | [Day 1 begins.] | ").expect("a day").to_owned();
    let shown = shown.replace(" | [Night 2 falls.]", "").replace(" | (finished)", "");
    (shown, script)
}

const NO_VOTE: &str = "[Nobody was accused. There is no vote today.]";
const QUIET: &str = "[Nobody died in the night.]";

#[test]
fn the_mafia_kills_by_majority() {
    let killed = "[Tom was killed in the night. Tom was a townsperson.]";
    check("| Max kill Tom | Mia kill Tom", &format!("{killed} | {NO_VOTE}"));
    check("| Max kill Tom", &format!("{killed} | {NO_VOTE}"));
    check("reveal=false | Max kill Tom", &format!("[Tom was killed in the night.] | {NO_VOTE}"));
    check("", &format!("{QUIET} | {NO_VOTE}"));
    // A tie is drawn.
    let (shown, _) = public("| Max kill Tom | Mia kill Tea");
    assert!(shown.starts_with("[Tom was killed") || shown.starts_with("[Tea was killed"), "{shown}");
}

#[test]
fn the_mafia_cannot_aim_at_itself() {
    let play = Play::of(&game("| Max kill Mia | Max kill Tom"));
    let reason = play.facts("invalid")[0]["reason"].as_str().expect("a reason").to_owned();
    assert_eq!(reason, "kill needs \"player\", one of: Doc, Det, Tom, Tea.");
    // The second invalid answer is a pass.
    check("| Max kill Mia | Max kill Zed", &format!("{QUIET} | {NO_VOTE}"));
}

#[test]
fn a_move_can_be_checked_before_it_is_made() {
    let play = Play::of(&game(""));
    let asked = play.prompts.iter().map(|(ask, _)| ask);
    let ask = asked.clone().find(|ask| ask.tools.iter().any(|tool| tool.name == "kill")).expect("a night");
    let kill = |name: &str| Act::new("kill", json!({"player": name}));
    assert!(play.table.check(ask, &kill("Tom")).is_ok());
    assert!(play.table.check(ask, &kill("Max")).is_err());
    let schema = &ask.tools[0].input_schema;
    assert_eq!(schema["properties"]["player"]["enum"], json!(["Doc", "Det", "Tom", "Tea"]));
    assert_eq!(schema["required"], json!(["player"]));
}

#[test]
fn the_doctor_saves() {
    check("| Max kill Tom | Doc protect Tom", &format!("{QUIET} | {NO_VOTE}"));
    check("| Max kill Doc | Doc protect Doc", &format!("{QUIET} | {NO_VOTE}"));
    check(
        "| Max kill Tom | Doc protect Tea",
        &format!("[Tom was killed in the night. Tom was a townsperson.] | {NO_VOTE}"),
    );
}

#[test]
fn the_detective_learns_alone() {
    let play = Play::of(&game("| Det investigate Max"));
    let det = seat(&play.table, "Det");
    assert!(play.shown_to(Viewer::Seat(det)).contains("[>Det Max is mafia.]"));
    for other in ["Max", "Mia", "Doc", "Tom", "Tea"] {
        let other = seat(&play.table, other);
        assert!(!play.shown_to(Viewer::Seat(other)).contains("Max is mafia"));
    }
    assert!(Play::of(&game("| Det investigate Tom")).shown().contains("[>Det Tom is not mafia.]"));
}

#[test]
fn votes_are_revealed_together() {
    check(
        "| Tom accuse Max | Tom vote Max | Tea vote Max | Doc vote nobody | Max vote nobody | Det times out",
        &format!(
            "{QUIET} | [Tom accuses Max.] | [The town votes on: Max.] | [The votes: Max: nobody, Mia does not vote, \
             Doc: nobody, Det does not vote, Tom: Max, Tea: Max.] | [Nobody was voted out.]"
        ),
    );
    let play = Play::of(&game("| Tom accuse Max | Tom vote Max | Tea vote Max | Doc vote Max"));
    let votes = play.prompts.iter().filter(|(ask, _)| ask.tools.iter().any(|tool| tool.name == "vote"));
    let votes: Vec<_> = votes.collect();
    assert_eq!(votes.len(), 6);
    assert!(
        votes
            .iter()
            .all(|(ask, prompt)| ask.as_of == votes[0].0.as_of && !text(prompt).contains("The votes:"))
    );
}

#[test]
fn most_votes_put_a_player_out() {
    check(
        "| Tom accuse Max: | Tom vote Max | Tea vote Max | Doc vote nobody".replace(": |", " |").as_str(),
        &format!(
            "{QUIET} | [Tom accuses Max.] | [The town votes on: Max.] | [The votes: Max does not vote, Mia does not \
             vote, Doc: nobody, Det does not vote, Tom: Max, Tea: Max.] | [Max was voted out. Max was mafia.]"
        ),
    );
}

#[test]
fn ties_follow_the_settings() {
    let tied = "| Tom accuse Max | Tea accuse Doc | Tom vote Max | Tea vote Doc";
    let end = |settings: &str, more: &str| {
        let (shown, _) = public(&format!("{settings}{tied}{more}"));
        shown.rsplit(" | ").next().expect("a notice").to_owned()
    };
    assert_eq!(end("", ""), "[Nobody was voted out.]");
    assert_eq!(end("tie=runoff", ""), "[Nobody was voted out.]");
    assert_eq!(end("tie=runoff", " | Doc vote Max"), "[Max was voted out. Max was mafia.]");
    // There is one runoff, however it ends.
    let (shown, _) = public(&format!("tie=runoff{tied} | Tom vote Max | Tea vote Doc"));
    assert_eq!(shown.matches("[The vote is tied.").count(), 1, "{shown}");
    assert!(shown.ends_with("[Nobody was voted out.]"), "{shown}");
    let drawn = end("tie=drawn", "");
    assert!(
        ["[Max was voted out. Max was mafia.]", "[Doc was voted out. Doc was the doctor.]"]
            .contains(&drawn.as_str())
    );
}

#[test]
fn each_side_can_win() {
    let town = Play::of(&game("days=5 | Tom accuse Max | Tom vote Max | Tom accuse Mia | Tom vote Mia"));
    let ending = town.table.ending().expect("an end");
    assert!(
        ending.text.starts_with("The town wins. Max was mafia, Mia was mafia, Doc was the doctor"),
        "{ending:?}"
    );
    assert_eq!(town.table.seats().names(ending.winners.iter().copied()), "Doc, Det, Tom, Tea");
    let mafia = Play::of(&game("days=5 | Max kill Tom | Max kill Tea"));
    let ending = mafia.table.ending().expect("an end");
    assert_eq!(mafia.table.seats().names(ending.winners.iter().copied()), "Max, Mia");
    let nobody = Play::of(&game(""));
    assert!(nobody.table.ending().expect("an end").winners.is_empty());
}

#[test]
fn the_night_is_for_the_mafia_alone() {
    let play = Play::of(&game("| Max: Let us take Tom. | Mia: Agreed, and Tea next."));
    assert!(play.shown().contains("Max>Mia: Let us take Tom. | Mia>Max: Agreed, and Tea next."));
    for other in ["Doc", "Det", "Tom", "Tea"] {
        let shown = play.shown_to(Viewer::Seat(seat(&play.table, other)));
        assert!(!shown.contains("Let us take") && !shown.contains("mafia]"), "{other}: {shown}");
    }
    assert!(!play.shown_to(Viewer::Audience).contains("Let us take"));
}

#[test]
fn whispers_are_counted_and_seen() {
    let play = Play::of(&game("discussion=2 | Tom > Tea: Trust me. | Tom > Tea: Again. | Tom: Fine."));
    let shown = play.shown_to(Viewer::Audience);
    assert!(shown.contains("[Tom whispers to Tea.]") && !shown.contains("Trust me"), "{shown}");
    assert_eq!(play.facts("invalid").len(), 1, "the second whisper of a day");
    assert!(shown.contains("Tom: Fine."));
    let unseen = Play::of(&game("discussion=1; whispers_seen=false | Tom > Tea: Trust me."));
    assert!(!unseen.shown_to(Viewer::Audience).contains("whispers"));
}

#[test]
fn players_who_are_out_are_not_asked() {
    let play = Play::of(&game("days=2; discussion=1 | Max kill Tom"));
    let tom = seat(&play.table, "Tom");
    assert!(play.prompts.iter().all(|(ask, _)| ask.seat != tom));
    assert!(play.shown_to(Viewer::Seat(tom)).contains("Day 2 begins"), "they watch");
}

#[test]
fn the_rules_say_what_is_done() {
    let rules = |settings: &str| {
        let play = Play::of(&game(settings));
        play.table.game().how_to_play(play.table.seats())
    };
    assert!(rules("").contains("2 of the players are mafia"));
    assert!(rules("").contains("After 1 day nobody wins"));
    assert!(rules("tie=runoff").contains("one more vote"));
    assert!(rules("discussion=1; whispers=0").contains("Nobody can whisper"));
    assert!(rules("discussion=2").contains("may whisper once, in place of a speech. All see to whom"));
    assert!(!rules("").contains("whisper"), "nobody speaks by day");
    assert!(rules("reveal=false").contains("stays hidden"));
}
