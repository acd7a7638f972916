//! Tool presets, bias profiles, context presets and test inputs.

use serde_json::{Value, json};

use crate::home::{Home, contains, entities, outcome};

const TOOLS: &str = r#"
name = "careful"
description = "Reads, and asks before it writes."

[[categories.read]]
name = "read_*"
approval = "auto"
weight = 4

[[categories.write]]
name = "write_file"
approval = "ask"
[categories.write.parameter_bias]
path = "Stay inside src."
"#;

const CONTEXT: &str =
    r#"{"name": "sources", "entries": [{"glob": "src/**", "view": "skeleton"}, {"path": "README.md"}]}"#;

#[test]
fn a_number_is_cleared_by_0() {
    let home = Home::new();
    let budget = |home: &Home| home.json(&["show", "context-preset", "few"]).get("token_budget").cloned();
    home.ok(&["create", "context-preset", "few", "--token-budget", "900"]);
    assert_eq!(budget(&home), Some(json!(900)));
    home.ok(&["update", "context-preset", "few", "--token-budget", "0"]);
    assert_eq!(budget(&home), None);
    for (kind, flag) in [("context-preset", "--token-budget"), ("persona", "--max-tool-rounds")] {
        let help = home.ok(&["update", kind, "--help"]);
        let after = help.split_once(flag).unwrap().1;
        assert!(after.lines().take(2).any(|line| line.contains("0 clears it")), "{help}");
    }
}

#[test]
fn builtin_presets_are_listed_and_shown() {
    let home = Home::new();
    for (kind, names) in [
        ("tool-preset", ["read_only", "editor", "full"]),
        ("bias_profile", ["balanced", "discovery_heavy", "execution_focused"]),
        ("context-presets", ["codebase_full", "codebase_skeleton", "docs_only"]),
    ] {
        contains(&home.ok(&["list", kind]), &names);
        for name in names {
            contains(&home.ok(&["show", kind, name]), &[name, "(builtin)", "description"]);
        }
    }
    contains(&home.ok(&["show", "tool_preset", "read_only"]), &["read_file", "auto, weight 4"]);
    contains(&home.ok(&["show", "bias_profile", "discovery_heavy"]), &["Multipliers", "read"]);
    contains(
        &home.ok(&["show", "context_preset", "docs_only"]),
        &["token budget", "Entries", "**/*.md  full"],
    );
    contains(&home.ok(&["show", "read_only"]), &["read_file", "auto, weight 4"]);
}

/// An entity of a kind: its definition, a change of it, and the field with its new value.
struct Life {
    kind: &'static str,
    spoken: &'static str,
    definition: &'static str,
    change: &'static [&'static str],
    field: &'static str,
    value: Value,
}

fn lives() -> [Life; 4] {
    [
        Life {
            kind: "tool-preset",
            spoken: "tool preset",
            definition: TOOLS,
            change: &["--description", "two"],
            field: "description",
            value: json!("two"),
        },
        Life {
            kind: "bias-profile",
            spoken: "bias profile",
            definition: "name = 'careful'\nmultipliers = { read = 2 }\n",
            change: &["--multiplier", "read=1.5", "--multiplier", "write=0.5"],
            field: "multipliers",
            value: json!({ "read": 1.5, "write": 0.5 }),
        },
        Life {
            kind: "context-preset",
            spoken: "context preset",
            definition: CONTEXT,
            change: &["--token-budget", "900"],
            field: "token_budget",
            value: json!(900),
        },
        Life {
            kind: "test-input",
            spoken: "test input",
            definition: "name = 'careful'\ncontent = 'Hello.'\n",
            change: &["--expectation", "It greets.", "--expectation", "It is short."],
            field: "expectations",
            value: json!(["It greets.", "It is short."]),
        },
    ]
}

#[test]
fn every_kind_is_created_changed_and_deleted() {
    let home = Home::new();
    for Life { kind, spoken, definition, change, field, value } in lives() {
        let create = ["create", kind, "mine"];
        contains(&home.run_with_input(&create, definition).ok(), &[spoken, "mine (shared, revision 1)"]);
        let again = home.run_with_input(&["--json", "create", kind, "mine"], definition);
        again.refused_with("already_exists").about("kind", kind.replace('-', "_")).about("name", "mine");
        let update = [&["update", kind, "mine"], change].concat();
        let outcome = |answer: &Value| (answer["changed"].clone(), answer["revision"].clone());
        assert_eq!(outcome(&home.json(&update)), (json!(true), json!(2)));
        assert_eq!(outcome(&home.json(&update)), (json!(false), json!(2)));
        let shown = home.json(&["show", kind, "mine"]);
        assert_eq!(shown[field], value, "{shown}");
        contains(&home.ok(&["show", kind, "mine"]), &["mine (shared, revision 2)"]);
        home.refused("stale_revision", &[&update[..], &["--if-revision", "1"]].concat());
        home.refused("nothing_to_change", &["update", kind, "mine"]);
        home.refused("not_found", &[&["update", kind, "nobody"], change].concat());
        assert_eq!(home.json(&["delete", kind, "mine"])["deleted"], true);
        assert_eq!(home.json(&["delete", kind, "mine"])["deleted"], false);
    }
}

#[test]
fn update_keeps_fields_that_are_not_given() {
    let home = Home::new();
    home.write("tools.toml", TOOLS);
    home.ok(&["create", "tool_preset", "--file", "tools.toml", "--tag", "a"]);
    home.ok(&["update", "tool_preset", "careful", "--description", ""]);
    let shown = home.json(&["show", "tool_preset", "careful"]);
    assert_eq!((shown.get("description"), &shown["tags"]), (None, &json!(["a"])));
    assert_eq!(shown["categories"]["write"][0]["parameter_bias"]["path"], "Stay inside src.");
    // The shown JSON can be edited and sent back, unless the entity changed meanwhile.
    home.write("shown.json", &shown.to_string());
    contains(&home.ok(&["update", "tool_preset", "careful", "--file", "shown.json"]), &["nothing to change"]);
    home.ok(&["update", "tool_preset", "careful", "--description", "Mine."]);
    home.refused("stale_revision", &["update", "tool_preset", "careful", "--file", "shown.json"])
        .about("revision", "3");
}

#[test]
fn short_forms_work_as_in_a_file() {
    let home = Home::new();
    let preset = "name = \"tpx\"\n[categories]\nread = [\"read_file\", { name = \"list_*\", weight = 5 }]\n";
    home.run_with_input(&["create", "tool-preset", "--file", "-"], preset).ok();
    let tools = |home: &Home| home.json(&["show", "tool_preset", "tpx"])["categories"].clone();
    assert_eq!(tools(&home), json!({ "read": [{ "name": "read_file" }, { "name": "list_*", "weight": 5 }] }));
    let change = "[categories]\nrun = [\"run_command\"]\n";
    home.run_with_input(&["update", "tool-preset", "tpx", "--file", "-"], change).ok();
    assert_eq!(tools(&home), json!({ "run": [{ "name": "run_command" }] }));
    let refused =
        home.run_with_input(&["--json", "create", "tool-preset", "x"], "categories = { read = [5] }");
    refused.refused_with("invalid_value").about("field", "categories.read[0]");

    let arc = "name = \"path\"\nstages = [{ name = \"zero\" }, { name = \"after\" }]\n";
    home.run_with_input(&["create", "arc", "--file", "-"], arc).ok();
    let stages = home.json(&["show", "arc", "path"])["stages"].clone();
    assert_eq!((&stages[0]["order"], &stages[1]["order"]), (&json!(1), &json!(2)));
}

#[test]
fn a_builtin_is_copied_before_it_is_changed() {
    let home = Home::new();
    let updated = home.json(&["update", "bias-profile", "balanced", "--description", "Mine."]);
    assert_eq!(outcome(&updated), "changed bias_profile shared:balanced 2");
    assert_eq!(entities(&updated["copied"]), "bias_profile balanced");
    assert_eq!(home.json(&["show", "bias_profile", "balanced"])["scope"], "shared");
    assert_eq!(home.json(&["delete", "bias-profile", "balanced"])["in_force"], "builtin");
    let mut shown = home.json(&["show", "bias_profile", "balanced"]);
    home.write("same.json", &shown.to_string());
    contains(
        &home.ok(&["update", "bias-profile", "balanced", "--file", "same.json"]),
        &["nothing to change", "(builtin)"],
    );
    shown["description"] = json!("Other.");
    home.write("other.json", &shown.to_string());
    let told = home.ok(&["update", "bias-profile", "balanced", "--file", "other.json", "--scope", "global"]);
    contains(&told, &["(global, revision 2)"]);
    contains(&home.read(".config/masque/personas.toml"), &["[bias_profiles.balanced]", "Other."]);
}

#[test]
fn invalid_definitions_are_refused() {
    let home = Home::new();
    let create = |kind: &'static str, text: &str, code: &str, field: &str| {
        let output = home.run_with_input(&["--json", "create", kind, "x"], text);
        output.refused_with(code).about("field", field)
    };
    create("tool-preset", "categoris = {}", "unknown_field", "categoris").suggests("categories");
    let approval = "[[categories.read]]\nname = 'a'\napproval = 'maybe'";
    create("tool-preset", approval, "unknown_word", "categories.read[0].approval").suggests("auto");
    let weight = "[[categories.read]]\nname = 'a'\nweight = 9";
    create("tool-preset", weight, "invalid_field", "categories.read[0].weight");
    create("context-preset", "entries = [{ glob = '../x' }]", "invalid_field", "entries[0].glob");
    home.refused("invalid_value", &["create", "bias-profile", "x", "--multiplier", "read"]);
    home.refused("invalid_field", &["create", "bias-profile", "x", "--multiplier", "read=11"])
        .about("field", "multipliers.read");
    home.refused("invalid_value", &["update", "bias-profile", "balanced", "--multiplier", "read=NaN"]);
}

#[test]
fn a_persona_names_its_presets_and_inputs() {
    let home = Home::new();
    home.ok(&["create", "test-input", "greeting", "--content", "Hello."]);
    let create = ["create", "persona", "p", "--summary", "P.", "--tool-preset", "read_only"];
    home.ok(&[&create[..], &["--test-input", "greeting"]].concat());
    contains(&home.ok(&["show", "p", "--explain"]), &["tool_preset", "read_only", "test input greeting"]);
    home.refused("in_use", &["delete", "test-input", "greeting"]).offers("unlink_first");
    let deleted = home.json(&["delete", "test-input", "greeting", "--force"]);
    assert_eq!(entities(&deleted["unlinked"]), "persona p");
    home.refused("not_found", &["create", "persona", "q", "--test-input", "nowhere"])
        .about("name", "nowhere");
}

#[test]
fn show_prints_the_settings_of_a_persona() {
    let home = Home::new();
    let settings = ["--tool-preset", "editor", "--bias-profile", "balanced", "--context-preset", "docs_only"];
    home.ok(&[&["create", "persona", "base", "--summary", "B."], &settings[..]].concat());
    let own = ["--extends", "base", "--aggregation-strategy", "skeleton", "--tool-preset", "read_only"];
    home.ok(&[&["create", "persona", "guide"], &own[..]].concat());
    contains(
        &home.ok(&["show", "guide"]),
        &[
            "tool preset    read_only\n",
            "bias profile   balanced\n",
            "context preset docs_only\n",
            "aggregation    skeleton\n",
        ],
    );
    let shown = home.json(&["show", "guide"]);
    assert_eq!(
        (
            &shown["tool_preset"],
            &shown["bias_profile"],
            &shown["context_preset"],
            &shown["aggregation_strategy"]
        ),
        (&"read_only".into(), &"balanced".into(), &"docs_only".into(), &"skeleton".into())
    );
    home.ok(&["update", "persona", "guide", "--tool-preset", "full"]);
    assert_eq!(home.json(&["show", "guide", "--revision", "1"])["tool_preset"], "read_only");
    assert!(home.json(&["show", "mentor"]).get("bias_profile").is_none(), "an unset field is absent");
}

#[test]
fn an_unknown_preset_is_refused() {
    let home = Home::new();
    for command in ["create", "update"] {
        home.refused("not_found", &[command, "persona", "guide", "--tool-preset", "read_onyl"])
            .about("kind", "tool_preset")
            .about("name", "read_onyl")
            .suggests("read_only");
        if command == "create" {
            home.ok(&["create", "persona", "guide", "--summary", "Guides."]);
        }
    }
}
