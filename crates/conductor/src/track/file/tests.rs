use proptest::prelude::*;

use super::*;
use crate::limits::NESTING;

fn said(text: &str) -> String {
    match parse_track(text) {
        Ok(_) => "fine".to_owned(),
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(said(text), expected, "{text}");
}

/// Checks the lines of a track with one ticket.
#[track_caller]
fn ticket(lines: &str, expected: &str) {
    check(&format!("title = \"t\"\n[[tickets]]\nid = \"a\"\ntitle = \"t\"\n{lines}\n"), expected);
}

const WHOLE: &str = r#"
title = "Sign in"
goal = """
People sign in.
"""
base = "main"
check = "cargo test"
scope = ["src/**"]
concurrency = 2
step_approval = true
setup = { command = "npm ci", timeout = 60, copy = [".env"] }

[caps]
ticket = { tokens = 100_000, cost = 1 }
day = { cost = 2.5 }

[mma]
default_personas = { "Tier 1" = "orchestrator", "Tier 3" = "code_worker" }
default_models = { "Tier 3" = "anthropic/claude" }

[review]
rounds = 1

[[tickets]]
id = "T1"
title = "A form"
acceptance = "It has two fields."

[[tickets]]
id = "T2"
title = "A page"
tier = 3
depends_on = ["T1"]
acceptance = ["It has a form.", "It has a title."]
model_override = "a/b"
caps.tokens = 5
"#;

#[test]
fn a_whole_track_is_read() {
    let track = parse_track(WHOLE).expect("a track");
    assert_eq!(track.tickets.len(), 2);
    assert_eq!(track.tickets[0].acceptance, ["It has two fields."]);
    assert_eq!(track.tickets[1].caps.tokens, Some(5));
    assert_eq!(
        track.mma.default_personas.orchestrator.as_ref().map(persona::Name::as_str),
        Some("orchestrator")
    );
    assert_eq!(track.review.rounds, 1);
    assert!(track.review.enabled);
}

#[test]
fn keys() {
    check("title = \"t\"", "the track has no tickets");
    check("[[tickets]]\nid = \"a\"\ntitle = \"t\"", "1:1: title is missing; add title = …");
    ticket("titel = 1", "5:1: tickets[0].titel: unknown key; did you mean \"title\"?");
    ticket("dependson = []", "5:1: tickets[0].dependson: unknown key; did you mean \"depends_on\"?");
    ticket("caps.dollars = 1", "5:6: tickets[0].caps.dollars: unknown key");
    check("title = \"t\"\n[[tickets]]\ntitle = \"x\"", "2:1: tickets[0]: id is missing; add id = …");
    check("title = \"t\"\n[[ticket]]\nid = \"a\"", "2:3: ticket: unknown key; did you mean \"tickets\"?");
    check(
        "titel = \"t\"\n[mma]\ndefault_personas = { \"Tier 5\" = \"x\" }\n",
        "1:1: titel: unknown key; did you mean \"title\"? | 1:1: title is missing; add title = … | \
         3:22: mma.default_personas.\"Tier 5\": unknown key; did you mean \"Tier 1\", \"Tier 2\" or \"Tier 3\"?",
    );
}

#[test]
fn types() {
    ticket("depends_on = \"b\"", "5:14: tickets[0].depends_on: expected a list, found the text \"b\"");
    ticket("acceptance = 1", "5:14: tickets[0].acceptance: expected a text or a list, found 1");
    ticket("acceptance = [\"x\", 1]", "5:20: tickets[0].acceptance[1]: expected a text, found 1");
    ticket("tier = \"3\"", "5:8: tickets[0].tier: expected a whole number, found the text \"3\"");
    ticket("caps = 5", "5:8: tickets[0].caps: expected a table, found 5");
    ticket("check = 2020-01-01", "5:9: tickets[0].check: expected a text, found a date");
    check("title = \"t\"\ntickets = 1", "2:11: tickets: expected a list, found 1");
    check("title = \"t\"\ntickets = [1]", "2:12: tickets[0]: expected a table, found 1");
    check("title = \"t\"\n[setup]\ntimeout = 1.5", "3:11: setup.timeout: expected a whole number, found 1.5");
}

#[test]
fn values() {
    ticket("tier = 5", "5:8: tickets[0].tier: a tier is a number from 1 to 4, not 5");
    ticket(
        "model_override = \"gpt\"",
        "5:18: tickets[0].model_override: a model is written as provider/model",
    );
    ticket(
        "persona_id = \"my persona\"",
        "5:14: tickets[0].persona_id: the name \"my persona\" contains ' ' (expected letters, digits, \"_\" and \
         \"-\")",
    );
    ticket(
        "[tickets.caps]\ncost = -1",
        "6:8: tickets[0].caps.cost: an amount of money is a number from 0 to four billion",
    );
    ticket(
        "tier = 5\n[[tickets]]\nid = \"b\"\ntitle = \"t\"\ntier = 6",
        concat!(
            "5:8: tickets[0].tier: a tier is a number from 1 to 4, not 5 | ",
            "9:8: tickets[1].tier: a tier is a number from 1 to 4, not 6",
        ),
    );
}

#[test]
fn problems_of_the_track_have_places() {
    ticket("depends_on = [\"a\"]", "5:15: tickets[0].depends_on[0]: the ticket depends on itself");
    ticket("check = \"\"", "5:1: tickets[0].check: must not be empty");
    ticket(
        "depends_on = [\"b\"]\n[[tickets]]\nid = \"b\"\ntitle = \"t\"\ndepends_on = [\"a\"]",
        "5:1: the tickets wait for each other: a → b → a",
    );
    check(
        "title = \"t\"\nconcurrency = 0\n[[tickets]]\nid = \"a\"\ntitle = \"t\"",
        "2:1: concurrency: must be a number from 1 to 256, not 0",
    );
}

#[test]
fn what_is_not_toml() {
    check("title = \"t\"\ntitle = \"u\"", "2:1: not valid TOML: duplicate key");
    check("ü", "1:2: not valid TOML: key with no value, expected `=`");
    check("\u{feff}ü", "1:2: not valid TOML: key with no value, expected `=`");
    let deep = format!("title = \"t\"\nx{} = 1", ".x".repeat(50_000));
    check(&deep, "not valid TOML: recursion limit");
    let deep = format!("title = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    check(&deep, "1:89: not valid TOML: cannot recurse further; max recursion depth met");
    assert!(said(&" ".repeat(TRACK_BYTES + 1)).starts_with("the file has 16777217 bytes"));
}

#[test]
fn a_deep_value_is_refused_at_its_place() {
    let acceptance = format!("{}1{}", "[".repeat(NESTING + 8), "]".repeat(NESTING + 8));
    ticket(
        &format!("acceptance = {acceptance}"),
        "5:15: tickets[0].acceptance[0]: expected a text, found a list",
    );
}

#[test]
fn many_mistakes_are_counted() {
    let keys: String = (0..150).map(|at| format!("x{at} = 1\n")).collect();
    let said = said(&format!("title = \"t\"\n{keys}"));
    assert!(said.ends_with("101:1: x99: unknown key | 50 more problems"), "{said}");
}

#[test]
fn the_schema_describes_every_key() {
    let schema = track_schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let text = schema.to_string();
    assert!(!text.contains("$ref") && !text.contains("null"), "{text}");
    assert_eq!(schema["additionalProperties"], false);
    let ticket = &schema["properties"]["tickets"]["items"];
    assert_eq!(ticket["required"], serde_json::json!(["id", "title"]));
    assert_eq!(ticket["additionalProperties"], false);
    assert!(ticket["properties"]["depends_on"]["description"].is_string());
    let personas = &schema["properties"]["mma"]["properties"]["default_personas"]["properties"];
    assert_eq!(personas["Tier 4"]["type"], "string");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(?s)(\\PC|\n){0,200}") {
        let _ = parse_track(&text);
    }

    #[test]
    fn a_damaged_track_is_read_or_refused(at in 0..WHOLE.len(), length in 0..40_usize, other in "[\\]\\[{}\"'=.,a1 \n]{0,3}") {
        let mut text = WHOLE.as_bytes().to_vec();
        let end = (at + length).min(text.len());
        text.splice(at..end, other.bytes());
        let _ = parse_track(&String::from_utf8_lossy(&text));
    }
}
