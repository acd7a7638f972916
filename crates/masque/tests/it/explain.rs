//! Inheritance on the command line: flags, `show --explain` and `show --flat`.

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains};

/// A user's coder, and a project's coder on top of it.
fn coder() -> Home {
    let home = Home::new();
    home.ok(&["create", "trait", "bold", "--trait-type", "behavioral", "--instruction", "Be bold."]);
    home.ok(&["create", "trait", "brief", "--trait-type", "social", "--scope", "global"]);
    home.ok(&["create", "part", "calm", "--type", "tone", "--content", "Calm.", "--scope", "global"]);
    let base = [
        "create",
        "persona",
        "coder",
        "--scope",
        "global",
        "--system-prompt",
        "You code.",
        "--part",
        "calm",
        "--trait",
        "brief",
        "--trait",
        "bold",
        "--tag",
        "code",
        "--summary",
        "Theirs.",
    ];
    home.ok(&base);
    let own = [
        "--project",
        ".",
        "create",
        "persona",
        "coder",
        "--extends",
        "global:coder",
        "--system-prompt",
        "You test first.",
        "--system-prompt-mode",
        "append",
        "--remove-trait",
        "bold",
        "--tag",
        "shop",
        "--summary",
        "Ours.",
        "--trait",
        "curious",
    ];
    contains(&home.ok(&own), &["(project, revision 1)"]);
    home
}

fn rows<'a>(explanation: &'a Value, list: &str, key: &str, name: &str) -> &'a Value {
    let items = explanation[list].as_array().unwrap();
    items.iter().find(|item| item[key] == name).unwrap_or_else(|| panic!("no {name} in {explanation:#}"))
}

#[test]
fn explain_names_the_origin_of_every_field() {
    let home = coder();
    let explanation = home.json(&["show", "coder", "--explain"]);
    assert_eq!(explanation["layers"][0]["scope"], "global");
    let summary = rows(&explanation, "fields", "field", "summary");
    assert_eq!(
        (&summary["from"], &summary["overrides"]),
        (&json!("project:coder"), &json!(["global:coder"]))
    );
    let prompt = rows(&explanation, "fields", "field", "system_prompt");
    assert_eq!(prompt["appends_to"], json!(["global:coder"]));
    assert_eq!(rows(&explanation, "items", "name", "curious")["piece_scope"], "builtin");
    assert_eq!(rows(&explanation, "removed", "name", "bold")["by"], "project:coder");
    let text = home.ok(&["show", "coder", "--explain"]);
    contains(
        &text,
        &[
            " < ● project:coder (revision 1) (the last wins)",
            "○ global:coder",
            "part calm",
            "tone, order 0, priority 0",
            "below global:coder",
            "instead of global:coder",
            "tag shop",
            "project:coder removes trait bold of global:coder",
        ],
    );
    let mut narrow = home.command();
    narrow.args(["show", "coder", "--explain"]).env("COLUMNS", "60");
    for line in CommandOutput::of(narrow.output().unwrap()).ok().lines().skip(4) {
        assert!(line.chars().count() <= 70, "{line}");
    }
}

#[test]
fn origins_stand_in_front_of_every_line() {
    let home = coder();
    let compiled = home.ok(&["compile", "coder"]);
    let origins = home.ok(&["compile", "coder", "--origins"]);
    assert_eq!(
        origins.lines().collect::<Vec<_>>(),
        [
            "○ base     persona coder, global          │ You code.",
            "○ base     persona coder, global          │",
            "● own      persona coder, project         │ You test first.",
            "● own      persona coder, project         │",
            "○ base     part calm, global (of coder)   │ ## Tone",
            "○ base     part calm, global (of coder)   │",
            "○ base     part calm, global (of coder)   │ Calm.",
            "○ base     part calm, global (of coder)   │",
            "○ base     trait brief, global (of coder) │ ## Traits",
            "○ base     trait brief, global (of coder) │",
            "○ base     trait brief, global (of coder) │ - **brief**",
        ]
        .into_iter()
        .map(str::to_owned)
        .chain(origins.lines().skip(11).map(str::to_owned))
        .collect::<Vec<_>>()
    );
    let lines = origins.lines().map(|line| line.split_once('│').unwrap().1.trim_start_matches(' '));
    let plain = compiled.lines().map(|line| line.trim_start_matches(' '));
    assert_eq!(lines.collect::<Vec<_>>(), plain.collect::<Vec<_>>());
    contains(&home.ok(&["compile", "coder", "--origins", "--override", "tone=plain-tone"]), &["▲ override"]);
    contains(&home.ok(&["compile", "mentor", "--origins"]), &["◆ stage", "● own"]);
    let json = home.json(&["compile", "coder", "--origins", "--summary"]);
    let text: String =
        json["blocks"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert_eq!(text, home.ok(&["compile", "coder", "--summary"]));
    let colored = home.ok(&["compile", "coder", "--origins", "--color", "always"]);
    contains(&colored, &["\x1b[34m○ base", "\x1b[32m● own"]);
    contains(
        &home.ok(&["show", "coder", "--explain", "--color", "always"]),
        &["\x1b[34m○ global:coder", "\x1b[32m● project:coder"],
    );
}

#[test]
fn a_flat_persona_is_written_out_whole() {
    let home = coder();
    let flat = home.ok(&["show", "coder", "--flat"]);
    assert!(flat.starts_with("[personas.coder]\n"), "{flat}");
    contains(
        &flat,
        &["You code.", "You test first.", "summary = \"Ours.\"", "traits = [\"brief\", \"curious\"]"],
    );
    assert!(!flat.contains("extends") && !flat.contains("remove_"), "{flat}");
    assert_eq!(home.json(&["show", "coder", "--flat"])["traits"], json!(["brief", "curious"]));
    // Imported again, it is the same persona.
    home.write("flat/personas.toml", &flat);
    let compiled = |project: &str| home.ok(&["--project", project, "compile", "coder"]);
    assert_eq!(compiled("flat"), compiled("."));
}

#[test]
fn flat_keeps_missing_names_and_warns() {
    let home = Home::new();
    home.write(
        "shop/personas.toml",
        "[personas.ours]\nparts = [\"gone\"]\ntraits = [\"lost\"]\ntool_preset = \"tools\"\ntest_inputs = [\"hello\"]\n",
    );
    let in_shop = |flag| ["--project", "shop", "show", "ours", flag];
    let text = home.ok(&in_shop("--explain"));
    contains(&text, &["not found, order 0, priority 0", "tools (not found)"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.ends_with("not found")).collect();
    assert_eq!(lines.len(), 2, "the trait and the test input: {text}");
    let explained = home.json(&in_shop("--explain"));
    for (list, key, name) in [
        ("parts", "name", "gone"),
        ("items", "name", "lost"),
        ("items", "name", "hello"),
        ("fields", "field", "tool_preset"),
    ] {
        assert_eq!(rows(&explained, list, key, name)["not_found"], true, "{name}");
    }
    let flat = home.run(&in_shop("--flat"));
    assert_eq!(flat.stderr, "");
    contains(&flat.ok(), &["gone", "lost", "tools", "hello"]);
}

#[test]
fn flat_warns_about_names_with_another_meaning() {
    let home = coder();
    assert_eq!(home.run(&["show", "coder", "--flat"]).stderr, "");
    let part = ["create", "part", "calm", "--type", "tone", "--content", "Ours.", "--scope", "project"];
    home.ok(&part);
    let flat = home.run(&["show", "coder", "--flat"]);
    contains(
        &flat.stderr,
        &[
            "Replacing coder in project with this changes its meaning;",
            "\n  part calm is global's here; in project the name means project's\n",
        ],
    );
    assert!(flat.ok().starts_with("[personas.coder]\n"));
}

#[test]
fn a_base_is_changed_and_removed() {
    let home = coder();
    home.ok(&["update", "persona", "coder", "--parts-mode", "append", "--remove-trait", ""]);
    assert_eq!(home.json(&["show", "coder", "--flat"])["traits"], json!(["brief", "bold", "curious"]));
    contains(&home.read("personas.toml"), &["parts_mode = \"append\""]);
    home.ok(&["update", "persona", "coder", "--extends", ""]);
    assert_eq!(home.json(&["show", "coder", "--flat"])["traits"], json!(["curious"]));
    home.refused("base_not_found", &["update", "persona", "coder", "--extends", "nobody"])
        .offers("list_kind");
    home.refused("base_cycle", &["update", "persona", "coder", "--extends", "project:coder"])
        .about("name", "coder");
    home.refused("invalid_value", &["update", "persona", "coder", "--parts-mode", "add"])
        .offers("use_one_of");
}

#[test]
fn only_personas_are_explained() {
    let home = Home::new();
    home.refused("not_for_kind", &["show", "part", "plain-tone", "--explain"]).about("field", "--explain");
    home.refused("not_for_kind", &["show", "tool-preset", "full", "--flat"]).about("field", "--flat");
    home.refused("conflicting_fields", &["show", "mentor", "--flat", "--explain"]);
    home.refused("not_for_kind", &["show", "plain-tone", "--explain"]).about("kind", "part");
}
