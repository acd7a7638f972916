//! Personas whose runs do less than their author may expect, and personas that say nothing.

use serde_json::Value;

use crate::home::{Home, contains};

#[test]
fn a_run_warns_of_what_it_does_not_do_for_its_persona() {
    let home = Home::new();
    let guest = ["create", "persona", "guest", "--scope", "shared", "--context-preset", "docs_only"];
    home.ok(&[&guest[..], &["--system-prompt", "You help ${env.TEAM}."]].concat());
    let answer = home.run(&["run", "guest", "hi"]);
    contains(&answer.stderr, &["warning: ", "${env.TEAM} in persona guest system_prompt"]);
    contains(&answer.ok(), &["Rehearsal: "]);
    let events = home.run(&["run", "guest", "hi", "--json"]).ok();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let notices = events.filter(|event| event["type"] == "notice");
    let codes: Vec<Value> = notices.map(|event| event["code"].clone()).collect();
    assert_eq!(codes, ["unfilled_placeholders"]);
}

#[test]
fn a_persona_that_says_nothing_is_refused() {
    let home = Home::new();
    home.refused("says_nothing", &["create", "persona", "mute", "--tag", "x"])
        .about("name", "mute")
        .offers("add_one_of");
    home.write("mute.toml", "[personas.mute]\n");
    home.refused("says_nothing", &["import", "mute.toml", "--yes"]).about("name", "mute");
}

#[test]
fn one_in_a_file_runs_with_a_warning() {
    let home = Home::new();
    home.write("personas.toml", "[personas.mute]\n");
    let events = home.run(&["run", "mute", "hi", "--json"]).ok();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let codes: Vec<Value> =
        events.filter(|event| event["type"] == "notice").map(|event| event["code"].clone()).collect();
    assert_eq!(codes, ["says_nothing"]);
    contains(&home.run(&["compile", "mute"]).stderr, &["says nothing"]);
}
