//! Tracks before they are worked: plans, drafts and the schema of their files.

use serde_json::{Value, json};

use super::site::{Site, adds, calls, states, ticket, track};
use crate::home::contains;

#[test]
fn a_plan_calls_no_model_and_stores_nothing() {
    let site = Site::new(&[]);
    let mut second = ticket("T2", &["T1"]);
    second["persona_id"] = json!("ghost");
    site.write_track(
        &json!({ "tickets": [second, ticket("T1", &[])], "caps": { "ticket": { "tokens": 5_000 } } }),
    );
    let plan = site.json(&["conduct", "--dry-run"]);
    let ids: Vec<&Value> = plan["tickets"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["T1", "T2"], "in an order in which they can be worked");
    assert_eq!((&plan["isolate"], &plan["concurrency"]), (&json!(true), &json!(3)));
    let [first, second] = [&plan["tickets"][0], &plan["tickets"][1]];
    assert_eq!((&first["persona"], &first["models"]), (&json!("code_worker"), &json!(["test/worker"])));
    assert_eq!((&second["depth"], &second["fell_back"][0]["persona"]), (&json!(1), &json!("ghost")));
    assert!(first["tokens"].as_u64().unwrap() > 100, "{first}");
    let shown = site.run(&["conduct", "--dry-run", "track.toml"]);
    contains(&shown.stderr, &["Nothing was started, and no model was called."]);
    let expected =
        ["Two words", "each in a worktree of its own", "persona ghost cannot be used", "check: ./check.sh"];
    contains(&shown.ok(), &expected);
    assert_eq!(site.rehearsed.requests().len(), 0);
    assert_eq!(site.json(&["conduct", "list"])["items"], json!([]));
    assert!(!site.git(&["for-each-ref"]).contains("masque"));
}

/// A track as a model hands it in.
fn drafted() -> Value {
    track(&json!({ "goal": "The project greets.", "tickets": [ticket("T1", &[]), ticket("T2", &["T1"])] }))
}

#[test]
fn a_draft_is_a_file_to_read_until_somebody_works_it() {
    let hand_in = calls("planner", "# The epic", &[("submit_track", drafted())]);
    let site = Site::new(&[hand_in, adds("T1"), adds("T2")]);
    let config = site.rehearsed.home.read(".config/masque/config.toml");
    let planner = "\n[mma]\ndefault_models = { \"Tier 1\" = \"test/planner\" }\n";
    site.rehearsed.home.write(".config/masque/config.toml", &format!("{config}{planner}"));
    site.write("EPIC.md", "Greet everybody.\n");

    let printed = site.run(&["conduct", "--draft", "EPIC.md"]);
    contains(&printed.stderr, &["A model drafts the track", "masque sessions show "]);
    let parsed: Value = toml::from_str(&printed.ok()).unwrap();
    assert_eq!((&parsed["goal"], &parsed["tickets"][1]["id"]), (&json!("The project greets."), &json!("T2")));
    contains(&site.rehearsed.last_request().to_string(), &["Greet everybody."]);

    let drafted = site.json(&["conduct", "--draft", "EPIC.md", "--output", "track.toml"]);
    assert_eq!(drafted["file"], "track.toml");
    assert_eq!(drafted["toml"], std::fs::read_to_string(site.path("track.toml")).unwrap());
    let said = site.run(&["conduct", "--draft", "EPIC.md", "--output", "track.toml"]);
    contains(&said.stderr, &["work it with `masque conduct track.toml`"]);
    assert_eq!(said.ok(), "wrote track.toml with 2 tickets\n");
    assert_eq!(site.json(&["conduct", "list"])["items"], json!([]), "nothing runs before a person wants it");

    // The file that it wrote can be worked.
    let board = site.conduct(0, &[]).pop().unwrap();
    assert_eq!(states(&board), "T1 merged, T2 merged");
    // With --yes, the draft is worked at once.
    let lines = site.ok(&["conduct", "--draft", "EPIC.md", "--yes", "--output", "again.toml"]);
    contains(&lines, &["wrote again.toml", "started the track, in worktrees", "finished: 2 completed"]);
    let tracks = site.json(&["conduct", "list"]);
    assert_eq!(tracks["items"].as_array().unwrap().len(), 2);
}

#[test]
fn a_draft_that_nobody_hands_in_is_an_error() {
    let says = json!({ "when": { "last_user": "" }, "text": "It is a good epic." });
    let site = Site::new(&[says]);
    site.write("EPIC.md", "Greet everybody.\n");
    let refused = site.run(&["conduct", "--draft", "EPIC.md", "--output", "track.toml"]);
    assert_ne!(refused.code, 0);
    contains(&refused.stderr, &["error: the model drafted no track"]);
    assert!(!site.path("track.toml").exists());
    site.refused("file_not_found", &["conduct", "--draft", "NONE.md"]);
}

/// The first example of the documentation.
fn example() -> String {
    let text = include_str!("../../../../../docs/conducting.md");
    let from = text.find("```toml\n").unwrap() + "```toml\n".len();
    let length = text[from..].find("```").unwrap();
    text[from..from + length].to_owned()
}

#[test]
fn the_schema_of_a_track_holds_for_the_example_and_not_for_mistakes() {
    let site = Site::new(&[]);
    let schema: Value = serde_json::from_str(&site.ok(&["schema", "track"])).unwrap();
    assert_eq!(schema, site.json(&["schema", "track"]));
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    let schema = jsonschema::validator_for(&schema).unwrap();
    let check = |text: &str, holds: bool| {
        let track: Value = toml::from_str(text).unwrap();
        let mistakes: Vec<String> = schema.iter_errors(&track).map(|error| error.to_string()).collect();
        assert_eq!(mistakes.is_empty(), holds, "{text}\n{mistakes:#?}");
    };
    check(&example(), true);
    check(&toml::to_string(&drafted()).unwrap(), true);
    check(&example().replace("title = ", "titel = "), false);
    check(&example().replace("id = \"names\"", "id = \"two words\""), false);
    check(&example().replace("depends_on = [\"names\"]", "depends_on = 5"), false);
    check(&format!("colour = \"blue\"\n{}", example()), false);
    // The example can be worked here: its tickets and their order are understood.
    site.write("track.toml", &example());
    let plan = site.json(&["conduct", "--dry-run"]);
    let ids: Vec<&Value> = plan["tickets"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["names", "languages", "readme"]);
}
