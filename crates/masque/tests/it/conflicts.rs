//! Names that several scopes define.

use serde_json::json;

use crate::home::{Home, contains};
use crate::terminal::{CONTROL_C, DOWN, ENTER, Terminal};

const PROJECT: &str = "\
# The shop's own.
[personas.reviewer] # strict
summary = \"You review for the shop.\"
traits = [\"curious\"]
";

const GLOBAL: &str = "\
[personas.reviewer]
summary = \"You review for me.\"
description = \"Mine.\"
traits = [\"curious\"]
";

/// A reviewer in all three scopes, and two identical parts.
fn library() -> Home {
    let home = Home::new();
    home.write("shop/personas.toml", PROJECT);
    home.write(".config/masque/personas.toml", GLOBAL);
    home.ok(&["create", "persona", "reviewer", "--summary", "You review for all.", "--trait", "curious"]);
    home
}

/// Runs a command in the project.
fn in_shop<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["--project", "shop"], arguments].concat()
}

#[test]
fn conflicts_reports_that_there_are_none() {
    let home = Home::new();
    contains(&home.ok(&["conflicts"]), &["No conflicts."]);
    contains(&home.ok(&["conflicts", "mentor", "--check"]), &["No conflicts for mentor"]);
    assert_eq!(home.json(&["conflicts"]), json!({ "items": [] }));
    home.refused("not_found", &["conflicts", "mentor", "--use", "shared"]).about("name", "mentor");
}

#[test]
fn an_override_of_a_builtin_is_no_conflict() {
    let home = Home::new();
    home.write("shop/personas.toml", "[personas.mentor]\nsummary = \"Mine.\"\n");
    contains(&home.ok(&in_shop(&["conflicts", "mentor"])), &["persona mentor in project", "builtin"]);
    home.ok(&in_shop(&["conflicts", "mentor", "--check"]));
    home.refused("not_found", &in_shop(&["conflicts", "mentor", "--use", "project"])).offers("run");
    let over = json!([{ "scope": "project", "kind": "persona", "name": "mentor" }]);
    let answer = home.json(&in_shop(&["conflicts", "mentor"]));
    assert_eq!(answer, json!({ "items": [], "overrides": over }));
    contains(&home.ok(&in_shop(&["conflicts", "mentor", "--kind", "part"])), &["No conflicts for mentor"]);
}

#[test]
fn fields_are_compared() {
    let home = library();
    let text = home.ok(&in_shop(&["conflicts"]));
    contains(
        &text,
        &[
            "persona reviewer  in project, global, shared; project wins",
            "  summary\n    project  You review for the shop.\n    global   You review for me.\n    shared   You review for all.",
            "  description\n    project  not set\n    global   Mine.\n    shared   not set",
        ],
    );
    assert!(!text.contains("traits"), "equal fields do not conflict: {text}");
    let answer = home.json(&in_shop(&["conflicts", "reviewer", "--kind", "persona"]));
    let conflict = &answer["items"][0];
    assert_eq!(conflict["scopes"], json!(["project", "global", "shared"]));
    assert_eq!((&conflict["in_force"], &conflict["identical"]), (&json!("project"), &json!(false)));
    assert_eq!(
        conflict["fields"],
        json!([
            { "field": "description", "values": { "global": "Mine." } },
            { "field": "summary", "values": {
                "shared": "You review for all.",
                "global": "You review for me.",
                "project": "You review for the shop.",
            } },
        ])
    );
    assert_eq!(home.json(&in_shop(&["conflicts", "--kind", "part"])), json!({ "items": [] }));
}

#[test]
fn check_is_for_scripts() {
    let home = library();
    let answer = home.run(&in_shop(&["conflicts", "--check"]));
    assert_eq!(answer.code, 1, "{answer:#?}");
    contains(&answer.stdout, &["persona reviewer"]);
    let answer = home.run(&in_shop(&["conflicts", "--check", "--json"]));
    assert_eq!(answer.code, 1);
    contains(&answer.stdout, &["\"reviewer\""]);
    home.ok(&in_shop(&["conflicts"]));
}

#[test]
fn identical_definitions_are_marked() {
    let home = Home::new();
    let part = "[parts.calm]\npart_type = \"tone\"\nsummary = \"Calm.\"\n";
    home.write("shop/personas.toml", part);
    home.write(".config/masque/personas.toml", part);
    assert_eq!(home.json(&in_shop(&["conflicts"]))["items"][0]["identical"], true);
    contains(&home.ok(&in_shop(&["conflicts"])), &["part calm", "identical"]);
    let merged = home.json(&in_shop(&["conflicts", "calm", "--merge"]));
    assert_eq!((&merged["kept"], &merged["deleted"]), (&json!("project"), &json!(["global"])));
    contains(&home.ok(&in_shop(&["conflicts"])), &["No conflicts"]);
}

#[test]
fn one_definition_is_kept() {
    let home = library();
    let keep = in_shop(&["conflicts", "reviewer", "--use", "global", "--message", "one is enough"]);
    home.refused("needs_consent", &keep).offers("confirm");
    assert_eq!(home.read("shop/personas.toml"), PROJECT, "nothing was done yet");
    let kept = home.json(&[keep.as_slice(), &["--yes"]].concat());
    assert_eq!((&kept["kept"], &kept["deleted"]), (&json!("global"), &json!(["project", "shared"])));
    assert_eq!(home.json(&in_shop(&["show", "reviewer"]))["scope"], "global");
    contains(&home.ok(&in_shop(&["conflicts"])), &["No conflicts"]);
    // The printed commands restore the others.
    let undo = kept["undo"].as_array().unwrap();
    assert_eq!(undo.len(), 2, "{kept}");
    for command in undo {
        let words: Vec<&str> = command.as_str().unwrap().split(' ').skip(1).collect();
        home.ok(&in_shop(&words));
    }
    let conflict = &home.json(&in_shop(&["conflicts"]))["items"][0];
    assert_eq!(conflict["scopes"], json!(["project", "global", "shared"]));
    assert_eq!(conflict["fields"][1]["values"]["shared"], "You review for all.");
}

#[test]
fn a_scope_without_the_name_cannot_be_kept() {
    let home = library();
    home.ok(&["delete", "persona", "reviewer", "--scope", "shared"]);
    let keep = in_shop(&["conflicts", "reviewer", "--use", "shared", "--yes"]);
    let refused = home.refused("not_defined_there", &keep).about("scope", "shared");
    assert_eq!(refused.0["remedies"][0]["words"], json!(["project", "global"]));
    // If shared loses nothing, no confirmation is needed.
    home.ok(&in_shop(&["conflicts", "reviewer", "--use", "project"]));
}

#[test]
fn conflicts_keeps_definitions_that_others_use() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--summary", "Calm."]);
    home.ok(&["create", "persona", "helper", "--part", "calm"]);
    let file = "[parts.calm]\npart_type = \"tone\"\nsummary = \"Ours.\"\n";
    home.write("shop/personas.toml", file);
    home.refused("in_use", &in_shop(&["conflicts", "calm", "--use", "project", "--yes"]))
        .offers("keep_scope");
    assert_eq!(home.json(&["show", "helper"])["parts"][0]["name"], "calm");
    home.ok(&in_shop(&["conflicts", "calm", "--use", "shared"]));
    contains(&home.ok(&in_shop(&["conflicts"])), &["No conflicts"]);
}

#[test]
fn kinds_of_the_same_name_are_distinguished() {
    let home = library();
    let skill = "[skills.reviewer]\ncontent = \"Look.\"\n";
    home.write("shop/personas.toml", &format!("{PROJECT}{skill}"));
    home.write(".config/masque/personas.toml", &format!("{GLOBAL}{skill}"));
    let refused =
        home.refused("ambiguous_kind", &in_shop(&["conflicts", "reviewer", "--use", "project", "--yes"]));
    assert_eq!(refused.0["remedies"][0]["words"], json!(["`persona reviewer`", "`skill reviewer`"]));
    let one = ["conflicts", "reviewer", "--kind", "skill", "--use", "global", "--json"];
    let resolved: serde_json::Value = serde_json::from_str(&home.ok(&in_shop(&one))).unwrap();
    assert_eq!((&resolved["kept"], &resolved["deleted"]), (&json!("global"), &json!(["project"])));
    assert!(resolved["undo"][0].as_str().unwrap().starts_with("masque rollback skill reviewer "));
    assert_eq!(home.read("shop/personas.toml"), PROJECT);
}

#[test]
fn fields_are_merged_by_flags() {
    let home = library();
    let merge = |takes: &[&'static str]| {
        let takes = takes.iter().flat_map(|take| ["--take", *take]);
        let flags: Vec<&str> =
            ["conflicts", "reviewer", "--merge", "--yes"].into_iter().chain(takes).collect();
        in_shop(&flags)
    };
    home.refused("undecided_fields", &merge(&["summary=global"])).about("field", "description");
    home.refused("field_not_in_conflict", &merge(&["sumary=global"]))
        .about("field", "sumary")
        .suggests("summary");
    home.refused("not_defined_there", &merge(&["summary=builtin"])).offers("use_one_of");
    home.refused("invalid_value", &merge(&["summary=world"]));
    home.refused("invalid_value", &merge(&["summary"]));
    home.refused("named_twice", &merge(&["summary=global", "summary=shared"]));
    home.refused("missing_field", &["conflicts", "--merge"]).about("field", "<NAME>");
    home.refused("missing_field", &["conflicts", "x", "--take", "a=global"]).about("field", "--merge");
    let merged = home.json(&merge(&["summary=shared", "description=global"]));
    assert_eq!((&merged["kept"], &merged["deleted"]), (&json!("project"), &json!(["global", "shared"])));
    let shown = home.json(&in_shop(&["show", "reviewer"]));
    assert_eq!(shown["scope"], "project");
    assert_eq!((&shown["summary"], &shown["description"]), (&"You review for all.".into(), &"Mine.".into()));
    contains(&home.read("shop/personas.toml"), &["# The shop's own.\n", "[personas.reviewer] # strict\n"]);
}

#[test]
fn fields_are_merged_by_answers() {
    let home = library();
    let mut command = home.command();
    command.args(in_shop(&["conflicts", "reviewer", "--merge"]));
    let mut terminal = Terminal::start(command);
    terminal.sees("Which description?").sees("project: (not set)").presses(DOWN).presses(ENTER);
    terminal.sees("Which summary?").sees("shared: You review for all.").presses(ENTER);
    terminal.sees("from the shared database").presses("y").presses(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["merged persona reviewer into project"]);
    let shown = home.json(&in_shop(&["show", "reviewer"]));
    assert_eq!(
        (&shown["summary"], &shown["description"]),
        (&"You review for the shop.".into(), &"Mine.".into())
    );
}

#[test]
fn a_merge_that_is_interrupted_changes_nothing() {
    let home = library();
    let mut command = home.command();
    command.args(in_shop(&["conflicts", "reviewer", "--merge"]));
    let mut terminal = Terminal::start(command);
    terminal.sees("Which description?").presses(CONTROL_C);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    contains(&screen, &["cancelled; nothing was changed"]);
    assert_eq!(home.read("shop/personas.toml"), PROJECT);
}

#[test]
fn conflicts_accepts_no_as_an_answer() {
    let home = library();
    let mut command = home.command();
    command.args(in_shop(&["conflicts", "reviewer", "--use", "project"]));
    let mut terminal = Terminal::start(command);
    terminal.sees("from the shared database").presses(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["nothing changed"]);
    assert_eq!(home.json(&["show", "reviewer", "--scope", "shared"])["scope"], "shared");
}
