//! `masque test` and `masque compare`: reports, exit codes, and the cache between processes.

use serde_json::{Value, json};

use crate::home::contains;
use crate::rehearsed::Rehearsed;
use crate::wire::{Client as _, start_mcp_with};

const SCRIPT: &str = r#"
[[reply]]
when = { model = "judge", last_user = "Proposition: Greets" }
text = '{"evidence": "Hello", "reason": "It greets.", "verdict": "held"}'
[[reply]]
when = { model = "judge" }
text = "a solid 9 out of 10"
[[reply]]
when = { model = "lost" }
fault = { status = 401 }
[[reply]]
when = { model = "critic", last_user = "Proposition" }
text = '{"evidence": "", "reason": "It does not.", "verdict": "broken"}'
[[reply]]
when = { system = "rude" }
text = "Go away."
[[reply]]
text = "Hello, friend."
"#;

const PERSONAS: &str = r#"
[personas.eve]
system_prompt = "You are Eve."
test_inputs = ["hello"]
[personas.eve.fidelity]
judge = "test/judge"
[test_inputs.hello]
content = "hi"
expectations = ["Greets the user.", { lacks = ["As an AI"], must = true }]

[personas.odd]
system_prompt = "You are Odd."
test_inputs = ["odd"]
[personas.odd.fidelity]
judge = "test/judge"
[test_inputs.odd]
content = "hi"
expectations = ["Scores well.", { words = { max = 1 } }]
"#;

fn rehearsed() -> Rehearsed {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.home.write(".config/masque/personas.toml", PERSONAS);
    rehearsed
}

#[test]
fn a_test_prints_what_held_and_exits_by_it() {
    let rehearsed = rehearsed();
    let passed = rehearsed.run(&["test", "eve"]);
    assert_eq!(passed.code, 0, "{passed:?}");
    contains(
        &passed.stdout,
        &["eve (now) on test/scripted, judged by test/judge", "Greets the user.", "1/1", "score 1.00"],
    );
    contains(&passed.stderr, &["1 cell, about 2 calls (replies 1, verdicts 1)"]);
    // Another process pays for nothing.
    let again = rehearsed.run(&["test", "eve", "--json"]);
    let report: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&report["spent"]["calls"], &report["cells"][0]["cached"]), (&0.into(), &true.into()));
    assert_eq!(rehearsed.requests().len(), 2);
    let failed = rehearsed.run(&["test", "odd"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    contains(&failed.stdout, &["odd #1 failed", "words at most 1: broken: 2 words", "not in form"]);
}

#[test]
fn formats() {
    let rehearsed = rehearsed();
    let junit = rehearsed.run(&["test", "odd", "--format", "junit"]);
    assert_eq!(junit.code, 1);
    contains(&junit.stdout, &["<?xml", "failures=\"1\"", "<failure type=\"expectation\"", "Hello, friend."]);
    let markdown = rehearsed.run(&["test", "eve", "--format", "markdown"]);
    contains(&markdown.stdout, &["### eve (now)", "| hello | Greets the user. | 1/1 |"]);
}

#[test]
fn a_budget_leaves_cells_unfinished_and_the_same_command_goes_on() {
    let rehearsed = rehearsed();
    let capped = rehearsed.run(&["test", "eve", "--samples", "3", "--max-calls", "1"]);
    assert_eq!(capped.code, 7, "{capped:?}");
    contains(&capped.stdout, &["max_calls is reached", "1 call,"]);
    assert_eq!(rehearsed.requests().len(), 1);
    let none = rehearsed.run(&["test", "eve", "--fresh", "--max-tokens", "1"]);
    assert_eq!((none.code, rehearsed.requests().len()), (7, 1), "{none:?}");
    contains(&none.stdout, &["max_tokens is reached", "0 calls, 0 tokens"]);
    let done = rehearsed.run(&["test", "eve", "--samples", "3"]);
    assert_eq!(done.code, 0, "{done:?}");
    rehearsed.refused("unpriced", &["test", "eve", "--max-cost", "1"]);
}

#[test]
fn a_lift_is_shown_in_every_format() {
    let rehearsed = rehearsed();
    let run = |format: &str| rehearsed.run(&["test", "odd", "--lift", "--format", format]).stdout;
    contains(&run("table"), &["no persona: score", "lift +0.000: cannot tell", "does not discriminate"]);
    contains(&run("junit"), &["<property name=\"lift\"", "<property name=\"does not discriminate\""]);
    contains(
        &run("markdown"),
        &["#### no persona", "| input | with | coverage | without | coverage | lift |"],
    );
    let report: Value = serde_json::from_str(&run("json")).unwrap();
    assert_eq!(report["lift"]["expectations"][1]["discriminates"], false, "{report:#}");
    assert_eq!(report["baseline"]["column"], "no persona");
}

#[test]
fn verdicts_of_a_model_about_itself_do_not_gate() {
    let rehearsed = rehearsed();
    let own = ["test", "eve", "--model", "test/critic", "--judge", "test/critic"];
    let advisory = rehearsed.run(&own);
    assert_eq!(advisory.code, 0, "{advisory:?}");
    contains(
        &advisory.stdout,
        &["hello #1 failed, advisory", "broken (advisory): It does not.", "do not gate"],
    );
    let firm = rehearsed.run(&["test", "eve", "--judge", "test/critic"]);
    assert_eq!(firm.code, 1, "{firm:?}");
    assert!(!firm.stdout.contains("advisory"), "{firm:?}");
}

#[test]
fn a_comparison_without_replies_fails() {
    let rehearsed = rehearsed();
    rehearsed.ok(&["tag", "eve", "production"]);
    let lost = rehearsed.run(&["compare", "eve", "--model", "test/lost"]);
    assert_eq!(lost.code, 1, "{lost:?}");
    contains(&lost.stdout, &["cannot tell", "1 error", "hello #1 (production) error: ", "coverage 0 %"]);
    let junit = rehearsed.run(&["compare", "eve", "--model", "test/lost", "--format", "junit"]);
    assert_eq!(junit.code, 1);
    contains(&junit.stdout, &["tests=\"3\"", "errors=\"2\"", "<error type=\"error\""]);
}

#[test]
fn an_earlier_version_is_tested_and_compared() {
    let rehearsed = rehearsed();
    rehearsed.ok(&["tag", "eve", "production"]);
    let rude = PERSONAS.replace("You are Eve.", "You are rude.");
    rehearsed.home.write(".config/masque/personas.toml", &rude);
    let then = rehearsed.run(&["test", "eve@production", "--json"]);
    let report: Value = serde_json::from_str(&then.stdout).unwrap();
    assert_eq!(report["cells"][0]["reply"], "Hello, friend.");
    let compared = rehearsed.run(&["compare", "eve"]);
    // One input never tells.
    assert_eq!(compared.code, 0, "{compared:?}");
    contains(&compared.stdout, &["eve: now against production: cannot tell", "at least 5"]);
    rehearsed.refused("unknown_revision", &["compare", "eve", "nope"]);
}

#[test]
fn mistakes_are_told_before_any_call() {
    let rehearsed = rehearsed();
    rehearsed.refused("no_test_inputs", &["test", "persona_editor"]);
    rehearsed.refused("not_found", &["test", "nobody"]);
    rehearsed.refused("invalid_value", &["test", "eve", "--samples", "0"]);
    assert!(rehearsed.requests().is_empty());
}

#[test]
fn an_agent_tests_a_persona_over_mcp() {
    let rehearsed = rehearsed();
    let (running, mut client) = start_mcp_with(&rehearsed.home, &[]);
    let report = client.ask("test_persona", json!({ "persona": "eve", "samples": 2 }));
    assert_eq!(report["state"], "finished");
    assert_eq!(report["cells"][1]["state"], "passed", "{report:#}");
    let refused = client.call("compare_persona", json!({ "persona": "eve" })).unwrap();
    contains(&refused.unwrap_err(), &["production"]);
    drop(client);
    drop(running);
}
