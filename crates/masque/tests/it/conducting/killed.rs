//! `kill -9` at every transition of a ticket, and the track goes on.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use super::site::{
    Site, TOKENS, calls, done, event, goes_on, states, then, ticket, ticket_of, with, write_file,
};

/// What happens to a ticket, in order.
const TRANSITIONS: [&str; 12] = [
    "opened",
    "setup_started",
    "prepared",
    "work_started",
    "checkpointed",
    "submitted",
    "check_started",
    "checked",
    "review_started",
    "reviewed",
    "integration_started",
    "merged",
];
/// Kills at any time after an event.
const KILLS: u64 = 6;
const SEED: u64 = 0x0063_6f6e_6475_6374;

/// A worker who works in three calls, and a reviewer. Their sessions go on after a kill.
fn replies() -> Vec<Value> {
    let of = |id: &str| write_file(&format!("src/{id}"), "here\n");
    let pass = ("submit_review", json!({ "verdict": "pass", "summary": "I read it." }));
    let mut replies = Vec::new();
    for id in ["T1", "T2"] {
        let ticket = format!("# {id}:");
        replies.push(then("worker", &ticket, "write_file", &[done("I added it.")]));
        replies.push(calls("worker", &ticket, &[of(id)]));
        replies.push(calls("reviewer", &ticket, std::slice::from_ref(&pass)));
    }
    // A session that is asked to go on knows its ticket from the messages before. Only T1 is interrupted.
    replies.extend(goes_on("worker", &[of("T1"), done("I added it after all.")]));
    replies.extend(goes_on("reviewer", &[pass]));
    replies
}

/// A project with a track of T1, and of T2 after it if that is wanted.
fn site(replies: &[Value], has_second: bool) -> Site {
    let site = Site::new(replies);
    let mut tickets = vec![ticket("T1", &[])];
    tickets.extend(has_second.then(|| ticket("T2", &["T1"])));
    site.write_track(&json!({ "tickets": tickets, "review": { "enabled": true } }));
    site
}

/// What was there when the process was killed.
struct Wreck {
    /// Requests to models, as they were sent.
    sent: Vec<Value>,
    /// Answers that the sessions' logs have.
    kept: usize,
}

impl Wreck {
    fn of(site: &Site, id: &str) -> Self {
        let board = site.board(id);
        let steps = board["tickets"].as_array().unwrap().iter().flat_map(|ticket| {
            let list = |name: &str| ticket[name].as_array().cloned().unwrap_or_default();
            list("attempts").into_iter().chain(list("rounds"))
        });
        let kept = steps.map(|step| answers(site, step["session"].as_str().unwrap())).sum();
        Self { sent: site.rehearsed.requests(), kept }
    }
}

/// The answers of the model in a session. Each is one call of a tool, or a text.
fn answers(site: &Site, session: &str) -> usize {
    let shown = site.run(&["sessions", "show", session, "--json"]);
    // A step may be killed before its session is stored.
    let Ok(session) = serde_json::from_str::<Value>(&shown.stdout) else { return 0 };
    let is_answer = |turn: &&Value| turn["type"] == "tool_call" || turn["type"] == "assistant_text";
    session["turns"].as_array().unwrap().iter().filter(is_answer).count()
}

/// Starts the track, kills its process some time after it reports an event, and goes on with it.
fn kill_at(transition: &str, later: Duration) {
    // What comes after a ticket begins once, too.
    let site = site(&replies(), transition == "integration_started" || transition == "merged");
    let mut process = site.start(&[]);
    let id = process.track();
    let is_it = |line: &Value| event(line)["type"] == transition && event(line)["ticket"] != "T2";
    assert!(process.sees(is_it).is_some(), "{transition} does not happen");
    std::thread::sleep(later);
    process.dies();
    let wreck = Wreck::of(&site, &id);
    let board = site.conduct(0, &["--resume", &id]).pop().unwrap();
    check(&site, &board, transition, &wreck);
}

/// Everything was done, and nothing twice.
fn check(site: &Site, board: &Value, transition: &str, wreck: &Wreck) {
    let tickets: Vec<&str> =
        board["tickets"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    let log = site.log(board["id"].as_str().unwrap());
    assert_eq!(board["phase"], "finished", "{transition}");
    for id in &tickets {
        assert_eq!(ticket_of(board, id)["state"], "merged", "{transition}: {log:#?}");
        assert_eq!(ticket_of(board, id)["attempts"].as_array().unwrap().len(), 1, "{transition}");
        assert_eq!(site.merged_file(board, &format!("src/{id}")), "here\n");
        for once in ["prepared", "work_started", "submitted", "checked", "reviewed", "merged"] {
            let count = log.iter().filter(|it| it["type"] == once && it["ticket"] == *id).count();
            assert_eq!(count, 1, "{transition}: {once} of {id} in {log:#?}");
        }
    }
    let commits: Vec<String> = tickets.iter().map(|id| format!("{id}: Say {id}")).collect();
    assert_eq!(site.merged(board), commits, "{transition}: no commit twice");
    check_calls(site, board, transition, wreck);
    assert_eq!(site.git(&["status", "--porcelain"]), "", "{transition}: the checkout is the user's");
}

/// No answer that a log had was asked for again, and the account has every call.
fn check_calls(site: &Site, board: &Value, transition: &str, wreck: &Wreck) {
    let sent = site.rehearsed.requests();
    let (before, after) = sent.split_at(wreck.sent.len());
    assert!(wreck.kept <= before.len(), "{transition}");
    let again: Vec<usize> = (0..before.len())
        .filter(|at| after.iter().any(|it| it["messages"] == before[*at]["messages"]))
        .collect();
    // A request whose answer was lost with the process may be sent again: the last one alone.
    let lost: Vec<usize> = (wreck.kept..before.len()).collect();
    assert!(
        lost.len() <= 1 && again.iter().all(|at| lost.contains(at)),
        "{transition}: {again:?} of {lost:?}"
    );
    let distinct: BTreeSet<String> = sent.iter().map(|it| it["messages"].to_string()).collect();
    assert_eq!(distinct.len() + again.len(), sent.len(), "{transition}");

    let states = site.texts("SELECT state FROM masque_track_costs");
    let settled = states.iter().filter(|it| *it == "settled").count();
    let unknown = states.len() - settled;
    assert!(unknown <= 1, "{transition}: {states:?}");
    // A call may have been reserved and not been sent.
    assert!((sent.len()..=sent.len() + unknown).contains(&states.len()), "{transition}: {states:?}");
    let spent = board["spent"]["tokens"].as_u64().unwrap();
    let known = settled as u64 * TOKENS;
    assert_eq!(spent > known, unknown == 1, "{transition}: {spent} for {states:?}");
}

// 5.
#[test]
fn a_track_survives_a_kill_at_every_transition() {
    let work = |transitions: &[&str]| transitions.iter().for_each(|it| kill_at(it, Duration::ZERO));
    std::thread::scope(|scope| {
        for half in TRANSITIONS.chunks(TRANSITIONS.len() / 2) {
            scope.spawn(move || work(half));
        }
    });
}

// 5.
#[test]
fn a_track_survives_a_kill_at_any_time() {
    let mut plan = StdRng::seed_from_u64(SEED);
    for _ in 0..KILLS {
        let transition = TRANSITIONS[plan.random_range(1..TRANSITIONS.len() - 1)];
        kill_at(transition, plan.random_range(Duration::ZERO..Duration::from_millis(120)));
    }
}

// 5.
#[test]
fn a_track_that_dies_after_each_of_its_events_comes_to_its_end() {
    let site = site(&replies(), false);
    let mut process = site.start(&[]);
    let id = process.track();
    let mut lives = 1;
    let board = loop {
        // One new event, and it dies.
        let is_new = |line: &Value| !event(line).is_null() && event(line)["type"] != "resumed";
        if process.sees(is_new).is_none() {
            let (code, lines) = process.ends();
            assert_eq!(code, 0, "{:#?}", lines.last());
            break site.board(&id);
        }
        process.dies();
        lives += 1;
        assert!(lives < 100, "it does not come on");
        process = site.start(&["--resume", &id]);
        process.track();
    };
    assert!(lives > TRANSITIONS.len() / 2, "{lives}");
    assert_eq!((states(&board).as_str(), &board["phase"]), ("T1 merged", &json!("finished")));
    assert_eq!(site.merged(&board), ["T1: Say T1"]);
    let log = site.log(&id);
    for once in ["prepared", "work_started", "submitted", "checked", "reviewed", "merged"] {
        assert_eq!(log.iter().filter(|it| it["type"] == once).count(), 1, "{once} in {log:#?}");
    }
}

/// A call that is under way when the process dies counts at worst, and is made again.
// 5.
#[test]
fn a_call_that_dies_with_its_process_counts_as_reserved() {
    let slow =
        with(calls("worker", "# T1:", &[]), &json!({ "fault": { "stall_ms": 3_600_000 }, "times": 1 }));
    let mut replies = replies();
    replies.insert(0, with(slow, &json!({ "say": [{ "text": "Never said." }] })));
    let site = site(&replies, true);
    let mut process = site.start(&[]);
    let id = process.track();
    super::site::until("the model is asked", || (!site.rehearsed.requests().is_empty()).then_some(()));
    process.dies();
    let wreck = Wreck::of(&site, &id);
    assert_eq!((wreck.sent.len(), wreck.kept), (1, 0));
    let board = site.conduct(0, &["--resume", &id]).pop().unwrap();
    check(&site, &board, "a call", &wreck);
    assert_eq!(site.texts("SELECT state FROM masque_track_costs WHERE state <> 'settled'"), ["unknown"]);
    assert!(
        board["spent"]["tokens"].as_u64().unwrap() > 8_192,
        "the longest answer was reserved: {}",
        board["spent"]
    );
}
