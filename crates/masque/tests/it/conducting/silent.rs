//! Silence: a long build that says nothing is no stuck worker, a run that only stays alive is one.

use std::time::Duration;

use serde_json::{Value, json};

use super::site::{Site, calls, done, states, then, ticket_of, with, write_file};
use crate::home::contains;

/// Seconds without an event that count as stuck.
const SILENCE: u64 = 5;
/// Longer than that, more than once.
const BUILD: &str = "11";
/// Longer than a test waits.
const FOR_EVER: u64 = 3_600_000;

fn impatient(fields: &Value) -> Value {
    let mut track = json!({ "escalation": { "split": false, "backoff": 0, "silence": SILENCE } });
    track.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    track
}

// 8.
#[test]
fn a_silent_long_build_survives() {
    let build = [write_file(".slow", BUILD), ("run_check", json!({}))];
    let site = Site::new(&[
        calls("worker", "# T1:", &build),
        then("worker", "# T1:", "run_check", &[write_file("src/T1", "here\n"), done("All tests pass.")]),
    ]);
    site.write_track(&impatient(&json!({})));
    let board = site.conduct(0, &[]).pop().unwrap();
    assert_eq!(states(&board), "T1 merged");
    let attempts = ticket_of(&board, "T1")["attempts"].as_array().unwrap();
    assert_eq!((attempts.len(), &attempts[0]["fault"]), (1, &Value::Null), "{attempts:#?}");
    // The build was in fact longer than the silence that a worker may keep.
    let log = site.log(board["id"].as_str().unwrap());
    assert!(log.iter().all(|event| event["type"] != "faulted"), "{log:#?}");
    let took = |attempt: &Value, at: &str| {
        attempt[at].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap()
    };
    let time = took(&attempts[0], "ended_at") - took(&attempts[0], "began_at");
    assert!(time.to_std().unwrap() > Duration::from_secs(2 * SILENCE), "{time}");
}

// 8.
#[test]
fn a_run_that_only_beats_its_heart_dies() {
    // The model is asked and never answers. The process renews its claims all the time.
    let stalls =
        with(calls("worker", "# T1:", &[done("Never said.")]), &json!({ "fault": { "stall_ms": FOR_EVER } }));
    let second = calls("second", "# T1:", &[write_file("src/T1", "here\n"), done("I added it.")]);
    let site = Site::new(&[stalls, second]);
    let personas = site.rehearsed.home.read(".config/masque/personas.toml");
    let two = "[[personas.pia.preferred_models]]\nprovider = \"test\"\nmodel = \"worker\"\n\
               [[personas.pia.preferred_models]]\nprovider = \"test\"\nmodel = \"second\"\n";
    let pia = format!("{personas}\n[personas.pia]\nsystem_prompt = \"You are Pia.\"\n{two}");
    site.rehearsed.home.write(".config/masque/personas.toml", &pia);
    let mut ticket = super::site::ticket("T1", &[]);
    ticket["persona_id"] = json!("pia");
    site.write_track(&impatient(&json!({ "tickets": [ticket] })));
    let board = site.conduct(0, &[]).pop().unwrap();
    assert_eq!(states(&board), "T1 merged");
    let attempts = ticket_of(&board, "T1")["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{attempts:#?}");
    assert_eq!(attempts[1]["model"], "test/second");
    assert_ne!(attempts[0]["session"], attempts[1]["session"]);
    contains(attempts[0]["fault"].as_str().unwrap(), &["the worker is stuck: nothing was heard of it for"]);
    let log = site.log(board["id"].as_str().unwrap());
    let fault = log.iter().find(|event| event["type"] == "faulted").unwrap();
    assert_eq!((&fault["step"], &fault["fault"]["signal"]["signal"]), (&json!("work"), &json!("silent")));
    // The next worker learns why.
    contains(&site.rehearsed.requests()[1].to_string(), &["nothing was heard of it for"]);
}
