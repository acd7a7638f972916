//! What people order while no process works the track: it holds when one goes on.

use serde_json::{Value, json};

use super::site::{Site, adds, ask, calls, done, event, states, ticket, ticket_of, write_file};
use crate::home::contains;

#[test]
fn questions_results_and_drafts_are_decided_by_commands() {
    let found = json!({
        "outcome": "done", "summary": "I named it.",
        "out_of_scope": [{ "title": "Rename words", "description": "Its name is odd." }],
    });
    let site = Site::new(&[
        calls("worker", "# T1:", &[write_file("src/draft", "half\n"), ask("Which name?")]),
        calls("worker", "Name it more.", &[write_file("src/more", "more\n"), ("submit_work", found)]),
        calls("worker", "Say it twice.", &[write_file("src/more", "more\nmore\n"), done("I said it twice.")]),
        adds("T1-found-1"),
    ]);
    let mut fields = super::site::track(&json!({}));
    fields.as_object_mut().unwrap().remove("check");
    site.write("track.toml", &toml::to_string(&fields).unwrap());
    let id = site.conduct(7, &[]).pop().unwrap()["id"].as_str().unwrap().to_owned();
    let id = id.as_str();
    let order = |words: &[&str]| site.ok(&[&["conduct"], words].concat());
    let go_on = |code| site.conduct(code, &["--resume", id]).pop().unwrap();
    let need = |board: &Value| board["needs"][0]["need"].as_str().unwrap_or_default().to_owned();

    contains(&order(&["show", id]), &["Needs you", "T1 asks: Which name?", "masque conduct answer "]);
    contains(&order(&["answer", id, "T1", "Name it more."]), &["T1 ", "running: "]);
    site.refused("track_state", &["conduct", "answer", id, "T1", "Again."]);
    let board = go_on(7);
    assert_eq!(
        (need(&board).as_str(), states(&board).as_str()),
        ("approval", "T1 needs_input, T1-found-1 draft")
    );
    assert_eq!(site.merged(&board), [""; 0]);

    // Its work is sent back, and then accepted.
    assert_eq!(site.run(&["conduct", "reject", id, "T1"]).code, 2, "a note is needed");
    contains(&order(&["reject", id, "T1", "--note", "Say it twice."]), &["T1 rework", "running: "]);
    let board = go_on(7);
    assert_eq!(need(&board), "approval");
    let accepted = site.json(&["conduct", "accept", id, "T1", "--note", "I looked at it."]);
    assert_eq!(states(&accepted), "T1 queued, T1-found-1 draft");
    let board = go_on(0);
    assert_eq!(states(&board), "T1 merged, T1-found-1 draft");
    assert_eq!(site.merged_file(&board, "src/more"), "more\nmore\n");
    assert_eq!(site.merged_file(&board, "src/draft"), "half\n");

    // What the worker found is worked once somebody wants it.
    order(&["approve", id, "T1-found-1"]);
    let board = go_on(7);
    assert_eq!(states(&board), "T1 merged, T1-found-1 needs_input");
    order(&["accept", id, "T1-found-1"]);
    assert_eq!(states(&go_on(0)), "T1 merged, T1-found-1 merged");
    let told = order(&["log", id]);
    contains(
        &told,
        &["answered: Name it more.", "accepted the result: I looked at it.", "approved T1-found-1"],
    );
    assert!(told.contains("tester"), "the log names who decided: {told}");
}

#[test]
fn caps_retries_and_cancellations_hold_when_the_track_goes_on() {
    let bad = calls("worker", "# Bad:", &[write_file("src/bad", "bad\n"), done("I added it.")]);
    let again = calls("worker", "Attempt 2", &[done("I insist.")]);
    let good = calls("second", "# Bad:", &[write_file("src/bad", "good\n"), done("I mended it.")]);
    let dull = calls("worker", "# Dull:", &[ask("Must I?")]);
    let goes_on = calls("worker", "was held up", &[write_file("src/T1", "here\n"), done("I added it.")]);
    let site = Site::new(&[bad, goes_on, again, good, dull, adds("T1")]);
    let tickets = json!([ticket("Bad", &[]), ticket("Dull", &[]), ticket("T1", &["Bad"])]);
    site.write_track(&json!({ "tickets": tickets }));
    let board = site.conduct(7, &["--concurrency", "1"]).pop().unwrap();
    let id = board["id"].as_str().unwrap().to_owned();
    let id = id.as_str();
    assert_eq!(states(&board), "Bad failed, Dull needs_input, T1 blocked");
    assert_eq!(board["concurrency"], 1);
    let order = |words: &[&str]| site.ok(&[&["conduct"], words].concat());
    let go_on = |code| site.conduct(code, &["--resume", id]).pop().unwrap();

    contains(&order(&["cancel", id, "Dull", "--reason", "Too dull."]), &["Dull cancelled"]);
    let retry = ["retry", id, "Bad", "--model", "test/second", "--note", "Do not be bad."];
    contains(&order(&retry), &["Bad working", "running: "]);
    order(&["cap", id, "--ticket", "T1", "--tokens", "50"]);
    let board = go_on(7);
    assert_eq!(states(&board), "Bad merged, Dull cancelled, T1 needs_input");
    assert_eq!(ticket_of(&board, "Bad")["model"], "test/second");
    assert_eq!((&board["needs"][0]["need"], &board["needs"][0]["unit"]), (&json!("cap"), &json!("tokens")));
    contains(
        &order(&["show", id]),
        &[&format!("masque conduct cap {} --ticket T1 --tokens N", &id[id.len() - 6..])],
    );
    assert_eq!(ticket_of(&board, "T1")["spent"]["tokens"], 0, "a call that does not fit is not made");

    // A cap that is not named stays.
    let capped = site.json(&["conduct", "cap", id, "--cost", "20"]);
    assert_eq!((&capped["cap"]["cost"], &capped["cap"]["tokens"]), (&json!(20.0), &Value::Null));
    let capped = site.json(&["conduct", "cap", id, "--tokens", "900000"]);
    assert_eq!((&capped["cap"]["cost"], &capped["cap"]["tokens"]), (&json!(20.0), &json!(900_000)));
    order(&["cap", id, "--cost", "none"]);
    order(&["cap", id, "--day", "--tokens", "800000"]);
    order(&["cap", id, "--ticket", "T1", "--tokens", "none"]);
    let board = go_on(1);
    assert_eq!(states(&board), "Bad merged, Dull cancelled, T1 merged");
    assert_eq!(site.merged(&board), ["Bad: Say Bad", "T1: Say T1"]);
    let report = order(&["report", id]);
    contains(&report, &["Dull", "Too dull.", "Do not be bad."]);
}

#[test]
fn a_paused_track_goes_on_only_by_an_order() {
    let site = Site::new(&[calls("worker", "# T1:", &[ask("May I?")]), {
        calls("worker", "Yes.", &[write_file("src/T1", "here\n"), done("I added it.")])
    }]);
    site.write_track(&json!({}));
    let id = site.conduct(7, &[]).pop().unwrap()["id"].as_str().unwrap().to_owned();
    let id = id.as_str();
    let paused = site.ok(&["conduct", "pause", id]);
    contains(&paused, &["paused: "]);
    site.refused("track_state", &["conduct", "pause", id]);
    contains(&site.ok(&["conduct", "show", id]), &["the track is paused", "masque conduct --resume "]);
    site.ok(&["conduct", "answer", id, "T1", "Yes."]);
    assert_eq!(site.board(id)["phase"], "paused");
    let lines = site.conduct(0, &["resume", id]);
    assert!(lines.iter().any(|line| event(line)["type"] == "resumed"), "going on is the order");
    assert_eq!(states(lines.last().unwrap()), "T1 merged");

    // A track that is cancelled has ended for good.
    let other = site.conduct(7, &[]).pop().unwrap()["id"].as_str().unwrap().to_owned();
    contains(&site.ok(&["conduct", "cancel", &other, "--reason", "No time."]), &["cancelled: "]);
    site.refused("track_state", &["conduct", "retry", &other, "T1"]);
    let ended = site.run(&["conduct", "--resume", &other]);
    assert_eq!(ended.code, 1, "{ended:?}");
    site.refused("unknown_track", &["conduct", "--resume"]);
}

#[test]
fn steps_are_approved_one_by_one() {
    let site = Site::new(&[adds("T1")]);
    site.write_track(&json!({ "step_approval": true }));
    let board = site.conduct(7, &[]).pop().unwrap();
    let id = board["id"].as_str().unwrap();
    assert_eq!((&board["needs"][0]["step"], site.rehearsed.requests().len()), (&json!("work"), 0));
    site.ok(&["conduct", "approve-step", id, "T1"]);
    let board = site.conduct(7, &["--resume", id]).pop().unwrap();
    assert_eq!(board["needs"][0]["step"], "integrate");
    assert_eq!(site.merged(&board), [""; 0]);
    site.ok(&["conduct", "approve-step", id, "T1"]);
    assert_eq!(states(&site.conduct(0, &["--resume", id]).pop().unwrap()), "T1 merged");
}
