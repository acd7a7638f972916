//! Several processes work one track: one is killed, one is paused for too long, and nothing is done twice.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::Database;

use super::site::{
    Process, Site, block_on, calls, done, event, goes_on, states, ticket, until, with, write_file,
};

/// Tickets at once, for all processes together.
const AT_ONCE: usize = 4;
/// How long a model thinks before its first answer about a ticket.
const THINKS_MS: u64 = 2_000;

/// The moment at which a paused process goes on.
#[derive(Debug, Clone, Copy)]
enum GoesOn {
    /// It has lost its ticket. It still has the session.
    Lost,
    /// Another process works the ticket. Whether the ticket can be merged meanwhile is open: the paused process
    /// may hold the lock of the branch.
    Worked,
}

/// A claim of a ticket by a process.
#[derive(Debug, Clone)]
struct Claim {
    ticket: String,
    token: i64,
}

/// A project with a track of many tickets. Each has a model of its own, which knows its ticket when it is
/// only asked to go on.
fn site_of(database: &Database, ids: &[String]) -> Site {
    let model = |id: &str| format!("/^{id}$/");
    let work = |id: &str| [write_file(&format!("src/{id}"), "here\n"), done("I added it.")];
    let replies = ids.iter().flat_map(|id| {
        let begins = calls(&model(id), &format!("# {id}:"), &work(id));
        let [cut_off, again] = goes_on(&model(id), &work(id));
        [begins, cut_off, again].map(|reply| with(reply, &json!({ "first_token_ms": THINKS_MS })))
    });
    let site = Site::on(database, &replies.collect::<Vec<Value>>());
    let tickets: Vec<Value> = ids
        .iter()
        .map(|id| with(ticket(id, &[]), &json!({ "model_override": format!("test/{id}") })))
        .collect();
    site.write_track(&json!({ "tickets": tickets, "concurrency": AT_ONCE }));
    site
}

fn ids(count: usize) -> Vec<String> {
    (1..=count).map(|at| format!("T{at}")).collect()
}

/// Starts three processes on one track, and kills the first while it has tickets. Returns the track and the
/// others.
fn lose_one(site: &Site) -> (String, [Process; 2]) {
    let mut first = site.start(&[]);
    let id = first.track();
    let others = [site.start(&["--resume", &id]), site.start(&["--resume", &id])];
    assert!(first.sees(|line| event(line)["type"] == "merged").is_some());
    until("the first has tickets", || (!claims_of(site, &first).is_empty()).then_some(()));
    first.dies();
    (id, others)
}

/// The tickets that a process has claimed.
fn claims_of(site: &Site, process: &Process) -> Vec<Claim> {
    let sql = format!(
        "SELECT ticket || ' ' || CAST(token AS text) FROM masque_track_claims \
         WHERE holder = 'process {}' AND node IS NOT NULL AND ticket <> ''",
        process.id()
    );
    let claim = |row: String| {
        let (ticket, token) = row.rsplit_once(' ').unwrap();
        Claim { ticket: ticket.to_owned(), token: token.parse().unwrap() }
    };
    site.texts(&sql).into_iter().map(claim).collect()
}

/// Pauses the process that waits for a model's first answer about a ticket that was begun after so many
/// events. Returns its place and its claim.
fn pause_one(site: &Site, id: &str, processes: &[Process; 2], events: usize) -> (usize, Claim) {
    until("one of the others works a ticket", || {
        for (at, process) in processes.iter().enumerate() {
            if claims_of(site, process).is_empty() {
                continue;
            }
            process.signal(Signal::STOP);
            let log = site.log(id).split_off(events);
            let claim = claims_of(site, process).into_iter().find(|claim| waits(site, &log, claim));
            if let Some(claim) = claim {
                return Some((at, claim));
            }
            process.signal(Signal::CONT);
        }
        None
    })
}

/// True if the worker of a ticket was sent its message, and has not answered.
fn waits(site: &Site, log: &[Value], claim: &Claim) -> bool {
    let last = log.iter().rev().find(|it| it["ticket"] == claim.ticket.as_str());
    let Some(session) = last.filter(|it| it["type"] == "work_started").and_then(|it| it["session"].as_str())
    else {
        return false;
    };
    let shown = site.run(&["sessions", "show", session, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap_or_default();
    let turns = shown["turns"].as_array().map(Vec::as_slice).unwrap_or_default();
    matches!(turns, [message] if message["type"] == "user")
}

fn token_of(site: &Site, ticket: &str) -> i64 {
    let sql = format!("SELECT CAST(token AS text) FROM masque_track_claims WHERE ticket = '{ticket}'");
    site.texts(&sql)[0].parse().unwrap()
}

/// The events of a ticket.
fn events_of(site: &Site, id: &str, ticket: &str) -> Vec<Value> {
    site.log(id).into_iter().filter(|it| it["ticket"] == ticket).collect()
}

/// Each ticket was completed once: one winner of each attempt, one commit.
fn check(site: &Site, id: &str, ids: &[String]) {
    let board = site.board(id);
    let expected: Vec<String> = ids.iter().map(|id| format!("{id} merged")).collect();
    assert_eq!(states(&board), expected.join(", "));
    let mut subjects = site.merged(&board);
    subjects.sort();
    let mut expected: Vec<String> = ids.iter().map(|id| format!("{id}: Say {id}")).collect();
    expected.sort();
    assert_eq!(subjects, expected, "each ticket is one commit");
    for id in ids {
        assert_eq!(site.merged_file(&board, &format!("src/{id}")), "here\n");
    }
    let mut seen: BTreeMap<(String, String, u64), usize> = BTreeMap::new();
    for event in site.log(id) {
        let name = event["type"].as_str().unwrap();
        if ["work_started", "submitted", "checked", "merged"].contains(&name) {
            let ticket = event["ticket"].as_str().unwrap().to_owned();
            let attempt = event["attempt"].as_u64().unwrap_or_default();
            *seen.entry((ticket, name.to_owned(), attempt)).or_default() += 1;
        }
    }
    assert!(seen.values().all(|times| *times == 1), "{seen:#?}");
    assert_eq!(seen.keys().filter(|(_, name, _)| name == "merged").count(), ids.len());
}

#[track_caller]
fn finishes(process: Process) {
    let (code, lines) = process.ends();
    assert_eq!((code, &lines.last().unwrap()["phase"]), (0, &json!("finished")));
}

// 6.
#[test]
fn processes_on_one_file_complete_each_ticket_once() {
    let (ids, database) = (ids(8), Database::sqlite());
    let site = site_of(&database, &ids);
    let (id, others) = lose_one(&site);
    others.into_iter().for_each(finishes);
    check(&site, &id, &ids);
}

// 6.
#[test]
fn processes_on_one_postgres_complete_each_ticket_once() {
    let Some(database) = block_on(testkit::postgres()) else { return };
    let ids = ids(24);
    let site = site_of(&database, &ids);
    let (id, others) = lose_one(&site);

    let begun = site.log(&id).len();
    let of = |ticket: &str| events_of(&site, &id, ticket);
    let asked = |ticket: &str| site.rehearsed.requests().iter().filter(|it| it["model"] == ticket).count();
    for goes_on in [GoesOn::Lost, GoesOn::Worked] {
        let (at, Claim { ticket, token }) = pause_one(&site, &id, &others, begun);
        let ticket = ticket.as_str();
        let asked_before = asked(ticket);
        until("the ticket is taken over", || (token_of(&site, ticket) > token).then_some(()));
        let is_merged = || of(ticket).iter().any(|it| it["type"] == "merged").then_some(());
        match goes_on {
            GoesOn::Lost => {}
            GoesOn::Worked => {
                until("another one asks the model", || (asked(ticket) > asked_before).then_some(()));
            }
        }
        others[at].signal(Signal::CONT);
        until("the ticket is merged", is_merged);
        let events = of(ticket);
        let held_up = |it: &&Value| it["type"] == "faulted" || it["type"] == "reported_blocked";
        assert!(!events.iter().any(|it| held_up(&it)), "{goes_on:?}: {events:#?}");
    }
    others.into_iter().for_each(finishes);
    check(&site, &id, &ids);
    block_on(database.remove());
}
