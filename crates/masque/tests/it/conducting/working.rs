//! A track from its file to the user's branch, as people and programs see it.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::site::{
    Site, TOKENS, adds, ask, calls, done, event, states, ticket, ticket_of, until, with, write_file,
};
use crate::home::contains;

fn two() -> Value {
    json!({ "tickets": [ticket("T1", &[]), ticket("T2", &["T1"])] })
}

#[test]
fn each_event_is_a_line_between_two_boards() {
    let site = Site::new(&[adds("T1"), adds("T2")]);
    site.write_track(&two());
    let lines = site.conduct(0, &["--report", "report.md"]);
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!((types[0], types[types.len() - 1]), ("board", "board"));
    let between = &types[1..types.len() - 1];
    assert!(between.iter().all(|it| ["recorded", "ticket", "track"].contains(it)), "{types:?}");
    // Every event once, in order, and the ends as the log has them.
    let seqs: Vec<u64> = lines.iter().filter_map(|line| line["recorded"]["seq"].as_u64()).collect();
    let last = lines.last().unwrap();
    assert_eq!(seqs, (1..=last["seq"].as_u64().unwrap()).collect::<Vec<u64>>());
    assert_eq!((states(last).as_str(), &last["phase"]), ("T1 merged, T2 merged", &json!("finished")));
    assert_eq!(lines[0]["id"], last["id"]);
    let of_line: Vec<&Value> = lines.iter().map(event).filter(|event| !event.is_null()).collect();
    let log = site.log(last["id"].as_str().unwrap());
    assert_eq!(of_line, log.iter().collect::<Vec<&Value>>());
    let ways: Vec<&str> =
        log.iter().filter(|it| it["ticket"] == "T1").map(|it| it["type"].as_str().unwrap()).collect();
    let expected = [
        "setup_started",
        "prepared",
        "work_started",
        "checkpointed",
        "submitted",
        "check_started",
        "checked",
        "integration_started",
        "merged",
    ];
    let mut known: Vec<&str> = ways.clone();
    known.retain(|it| expected.contains(it));
    known.dedup();
    assert_eq!(known, expected, "{ways:?}");
    // Each ticket is two calls of the model.
    assert_eq!(last["spent"]["tokens"], site.rehearsed.requests().len() as u64 * TOKENS);
    assert_eq!(site.merged(last), ["T1: Say T1", "T2: Say T2"]);
    let report = std::fs::read_to_string(site.path("report.md")).unwrap();
    contains(&report, &["# Two words", "T1", "T2", "code_worker", "test/worker", "merged"]);
}

#[test]
fn a_finished_track_is_listed_shown_told_and_merged() {
    let site = Site::new(&[adds("T1"), adds("T2")]);
    site.write_track(&two());
    // Work that nobody committed is no part of it, and stays.
    site.write("src/words", "hello\nunsaved\n");
    site.write("src/untracked", "mine\n");
    let worked = site.run(&["conduct"]);
    contains(&worked.stderr, &["The work is on the branch masque/two-words-", "masque conduct merge "]);
    let told = worked.ok();
    contains(&told, &["started the track, in worktrees", "T1 it is merged as ", "the track is finished"]);
    assert_eq!(told.lines().last().unwrap().split(" (").next().unwrap(), "finished: 2 completed");

    let id = site.json(&["conduct", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    let short = &id[id.len() - 6..];
    contains(&site.ok(&["conduct", "list"]), &[short, "Two words", "finished"]);
    contains(
        &site.ok(&["conduct", "show", short]),
        &["Two words", "masque/two-words-", "T1", "merged", "code_worker"],
    );
    let report = site.ok(&["conduct", "report", short]);
    contains(&report, &["# Two words", "The project says more."]);
    assert_eq!(site.json(&["conduct", "report", short])["markdown"], report);
    let log = site.ok(&["conduct", "log", short]);
    assert!(log.lines().all(|line| told.contains(line)), "{log}\nis not in\n{told}");
    let of_second = site.ok(&["conduct", "log", short, "T2"]);
    assert!(!of_second.is_empty() && of_second.lines().all(|line| line.contains(" T2 ")), "{of_second}");
    // Following a track that has ended ends.
    assert_eq!(site.ok(&["conduct", "log", short, "--follow"]), log);
    // Going on with it does nothing.
    let again = site.run(&["conduct", "--resume", short]);
    contains(&again.stderr, &["is finished."]);
    assert_eq!((again.code, site.rehearsed.requests().len()), (0, 4));

    let board = site.board(&id);
    // The checkout has changes that nobody committed, so nothing happens to it.
    let head = site.git(&["rev-parse", "main"]);
    let refused = site.run(&["conduct", "merge", short]);
    assert_eq!((refused.code, site.git(&["rev-parse", "main"])), (1, head.clone()), "{refused:?}");
    contains(&refused.stdout, &["main is left as it is: its checkout has changes that are not committed"]);
    contains(
        &refused.stderr,
        &["To bring the work there by hand, run in ", "git merge --ff-only masque/two-words-"],
    );
    assert_eq!(site.git(&["status", "--porcelain"]), " M src/words\n?? src/untracked\n");
    site.git(&["checkout", "--quiet", "src/words"]);
    assert!(site.ok(&["conduct", "merge", short]).starts_with("main has the work of the track, at "));
    assert_eq!(std::fs::read_to_string(site.path("src/untracked")).unwrap(), "mine\n");
    assert_eq!(site.git(&["rev-parse", "main"]).trim(), ticket_of(&board, "T2")["merged"]);
    assert_eq!(std::fs::read_to_string(site.path("src/T2")).unwrap(), "here\n");
    assert_eq!(site.json(&["conduct", "merge", short])["merged"], true, "once more changes nothing");
    // A branch with commits of its own is left alone.
    site.git(&["checkout", "--quiet", "-b", "other", head.trim()]);
    site.write("src/own", "mine\n");
    site.commit("My own");
    let diverged = site.run(&["conduct", "merge", short, "--branch", "other", "--json"]);
    let told: Value = serde_json::from_str(&diverged.stdout).unwrap();
    assert_eq!((diverged.code, &told["obstacle"]), (1, &json!("diverged")));
    assert_eq!(told["command"][0], "git");
    assert_eq!(site.git(&["log", "-1", "--format=%s", "other"]), "My own\n");
}

#[test]
fn the_exit_code_tells_how_it_ended() {
    let bad = calls("worker", "# Bad:", &[write_file("src/bad", "bad\n"), done("I added it.")]);
    let again = calls("worker", "Attempt 2", &[done("I insist.")]);
    let site = Site::new(&[adds("T1"), bad, again, calls("worker", "# Asks:", &[ask("May I?")])]);
    let with_ticket = |id: &str| json!({ "tickets": [ticket("T1", &[]), ticket(id, &[])] });
    site.write_track(&with_ticket("Bad"));
    let failed = site.conduct(1, &[]).pop().unwrap();
    assert_eq!((states(&failed).as_str(), &failed["phase"]), ("T1 merged, Bad failed", &json!("finished")));
    assert_eq!(site.merged(&failed), ["T1: Say T1"]);

    site.write_track(&with_ticket("Asks"));
    let waiting = site.run(&["conduct"]);
    assert_eq!(waiting.code, 7, "{waiting:?}");
    let id = site.json(&["conduct", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    let command = format!("masque conduct answer {} Asks", &id[id.len() - 6..]);
    contains(&waiting.stdout, &["Needs you", "Asks asks: May I?", &command, "waiting for you: "]);
    contains(&waiting.stderr, &["Go on with `masque conduct --resume "]);
    assert_eq!(site.conduct(7, &["--resume"]).pop().unwrap()["id"], id, "the last open one");
}

#[test]
fn a_signal_stops_the_work_and_the_rest_is_stored() {
    let slow = with(adds("T1"), &json!({ "first_token_ms": 60_000, "times": 1 }));
    let go_on = calls("worker", "Go on where you stopped.", &[write_file("src/T1", "here\n"), done("Done.")]);
    let site = Site::new(&[slow, adds("T1"), go_on]);
    site.write_track(&json!({}));
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let before = site.rehearsed.requests().len();
        let resumed = !site.json(&["conduct", "list"])["items"].as_array().unwrap().is_empty();
        let mut process = site.start(if resumed { &["--resume"] } else { &[] });
        process.track();
        if !resumed {
            until("the model is asked", || (site.rehearsed.requests().len() > before).then_some(()));
        }
        process.signal(signal);
        let (ended, lines) = process.ends();
        if resumed && ended == 0 {
            break;
        }
        assert_eq!(ended, code, "{signal:?}");
        assert_eq!(lines.last().unwrap()["type"], "board");
    }
    let board = site.conduct(0, &["--resume", &board_id(&site)]).pop().unwrap();
    assert_eq!(states(&board), "T1 merged");
    assert_eq!(ticket_of(&board, "T1")["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(site.merged(&board), ["T1: Say T1"]);
}

fn board_id(site: &Site) -> String {
    site.json(&["conduct", "list"])["items"][0]["id"].as_str().unwrap().to_owned()
}
