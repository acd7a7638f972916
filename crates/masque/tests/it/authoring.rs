//! Create, update and delete of every kind, from flags.

use serde_json::{Value, json};

use crate::home::{Home, contains, entities};
use crate::terminal::{ENTER, Terminal};

type Flags = &'static [&'static str];

/// For each kind: flags that create one, flags that change it, and the field with its new value.
const KINDS: [(&str, Flags, Flags, &str, &str); 6] = [
    ("persona", &["--description", "one"], &["--description", "two"], "description", "two"),
    ("part", &["--part-type", "tone", "--content", "one"], &["--content", "two"], "content", "two"),
    ("trait", &["--trait-type", "social"], &["--instruction", "two"], "instruction", "two"),
    ("skill", &["--content", "one", "--tag", "a"], &["--description", "two"], "description", "two"),
    ("guardrail", &["--severity", "high"], &["--severity", "critical"], "severity", "critical"),
    ("arc", &["--summary", "one", "--stage", "first"], &["--summary", "two"], "summary", "two"),
];

fn shown(home: &Home, kind: &str, name: &str) -> Value {
    home.json(&["show", kind, name])
}

#[test]
fn every_kind_is_created_changed_and_deleted() {
    let home = Home::new();
    for (kind, create, update, field, value) in KINDS {
        let created = home.ok(&[&["create", kind, "mine"], create].concat());
        assert_eq!(created, format!("created {kind} mine (shared, revision 1)\n"));
        home.refused("already_exists", &[&["create", kind, "mine"], create].concat());
        let updated = home.ok(&[&["update", kind, "mine"], update].concat());
        assert_eq!(updated, format!("updated {kind} mine (shared, revision 2)\n"));
        contains(&home.ok(&[&["update", kind, "mine"], update].concat()), &["nothing to change"]);
        assert_eq!(shown(&home, kind, "mine")[field], value, "{kind}");
        home.ok(&["update", kind, "mine", "--rename", "yours"]);
        home.refused("not_found", &["update", kind, "mine", "--tag", "x"]);
        let stale = ["delete", kind, "yours", "--if-revision", "2"];
        home.refused("stale_revision", &stale);
        assert_eq!(home.ok(&["delete", kind, "yours"]), format!("deleted {kind} yours from shared\n"));
        contains(&home.ok(&["delete", kind, "yours"]), &["nothing to delete"]);
        assert_eq!(home.json(&["delete", kind, "yours"])["deleted"], false);
    }
}

#[test]
fn an_empty_value_clears_a_field() {
    let home = Home::new();
    home.ok(&[
        "create",
        "part",
        "p",
        "--type",
        "goal",
        "--content",
        "c",
        "--summary",
        "s",
        "--tag",
        "a",
        "--tag",
        "b",
    ]);
    assert_eq!(shown(&home, "part", "p")["tags"], json!(["a", "b"]));
    home.ok(&["update", "part", "p", "--summary", "", "--tag", ""]);
    let part = shown(&home, "part", "p");
    assert_eq!((part.get("summary"), &part["tags"]), (None, &json!([])));

    home.ok(&[
        "create",
        "persona",
        "q",
        "--summary",
        "Q.",
        "--model",
        "anthropic/a",
        "--aggregation-strategy",
        "full",
    ]);
    home.ok(&["update", "persona", "q", "--model", "", "--aggregation-strategy", ""]);
    let shown = home.json(&["show", "q", "--flat"]);
    assert!(!shown.to_string().contains("anthropic") && !shown.to_string().contains("full"), "{shown}");
    home.refused("invalid_value", &["update", "persona", "q", "--aggregation-strategy", "ful"])
        .suggests("full");
}

#[test]
fn one_command_creates_a_whole_persona() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--part-type", "tone", "--summary", "You are calm."]);
    home.ok(&["create", "test-input", "greeting", "--content", "Hello."]);
    let create = [
        "create",
        "persona",
        "helper",
        "--display-name",
        "Helper",
        "--system-prompt",
        "You help.",
        "--part",
        "calm",
        "--part",
        "plain-tone",
        "--trait",
        "curious",
        "--skill",
        "hint-ladder",
        "--guardrail",
        "no-fabrication",
        "--arc",
        "mentors-path",
        "--tag",
        "x",
        "--model",
        "anthropic/claude-sonnet-4-5",
        "--model",
        "openrouter/meta/llama",
        "--plan-instruction",
        "Plan first.",
        "--aggregation-strategy",
        "skeleton",
        "--max-tool-rounds",
        "20",
        "--test-input",
        "greeting",
    ];
    contains(&home.ok(&create), &["created persona helper"]);
    let view = home.json(&["show", "helper", "--detail"]);
    assert_eq!(view["preferred_models"][1], json!({ "provider": "openrouter", "model": "meta/llama" }));
    assert_eq!(view["arc"]["stage"], "guide");
    contains(&home.ok(&["compile", "helper"]), &["You help."]);
    home.refused("invalid_value", &["create", "persona", "x", "--model", "sonnet"]);
    home.refused("not_found", &["create", "persona", "x", "--part", "clam"])
        .about("name", "clam")
        .suggests("calm");
    home.refused("not_found", &["show", "x"]).about("name", "x");
}

#[test]
fn long_texts_come_from_files() {
    let home = Home::new();
    home.write("prompt.md", "You are exact.\n");
    home.ok(&["create", "persona", "exact", "--system-prompt-file", "prompt.md"]);
    assert_eq!(home.json(&["show", "exact", "--detail"])["system_prompt"], "You are exact.\n");
    let piped = home.run_with_input(&["create", "skill", "s", "--content-file", "-"], "Do it.");
    contains(&piped.ok(), &["created skill s"]);
    assert_eq!(shown(&home, "skill", "s")["content"], "Do it.");
    home.refused("file_not_found", &["create", "skill", "t", "--content-file", "nowhere.md"])
        .in_file("nowhere.md");
    let both = ["create", "skill", "t", "--content", "x", "--content-file", "prompt.md"];
    home.refused("conflicting_fields", &both);
}

#[test]
fn delete_refuses_an_entity_in_use() {
    let home = Home::new();
    home.ok(&["create", "trait", "brisk", "--trait-type", "behavioral"]);
    home.ok(&["create", "persona", "runner", "--trait", "brisk"]);
    home.refused("in_use", &["delete", "trait", "brisk"]).offers("unlink_first");
    contains(&home.ok(&["delete", "trait", "brisk", "--force"]), &["deleted trait brisk", "persona runner"]);
    assert_eq!(home.json(&["manifest", "runner"])["traits"], json!([]));
}

#[test]
fn delete_refuses_an_entity_that_a_project_uses() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--content", "Calm."]);
    home.ok(&["create", "persona", "team", "--part", "calm"]);
    home.write("shop/personas.toml", "[personas.reviewer]\nparts = [\"calm\"]\n");
    let delete = ["--project", "shop", "delete", "part", "calm"];
    home.refused("in_use", &delete).offers("unlink_first");
    let forced = home.json(&[&delete[..], &["--force"]].concat());
    assert_eq!((&forced["deleted"], &forced["scope"]), (&json!(true), &json!("shared")));
    assert_eq!(entities(&forced["unlinked"]), "persona team");
    let left = json!([{ "scope": "project", "kind": "persona", "name": "reviewer" }]);
    assert_eq!(forced["left_without"], left);
    contains(
        &home.ok(&["--project", "shop", "show", "reviewer", "--explain"]),
        &["part calm", "not found, order 0, priority 0"],
    );
}

#[test]
fn rename_updates_references() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--content", "Calm."]);
    home.ok(&["create", "persona", "team", "--part", "calm"]);
    let updated = home.ok(&["update", "part", "calm", "--rename", "quiet"]);
    contains(&updated, &["  updated: persona team (shared)\n"]);
    let same = home.ok(&["update", "part", "quiet", "--content", "Calm."]);
    contains(&same, &["(shared, revision 2)"]);
    let place = json!([{ "scope": "shared", "kind": "persona", "name": "team" }]);
    assert_eq!(home.json(&["update", "part", "quiet", "--rename", "still"])["followed"], place);
}

#[test]
fn builtins_are_copied_before_they_are_changed() {
    let home = Home::new();
    let stale = ["update", "persona", "mentor", "--summary", "x", "--if-revision", "3"];
    home.refused("stale_revision", &stale).offers("drop_if_revision");
    let updated = home.json(&["update", "persona", "mentor", "--summary", "Mine."]);
    assert!(entities(&updated["copied"]).contains("persona mentor"), "{updated}");
    assert_eq!(home.json(&["show", "mentor"])["scope"], "shared");
    assert_eq!(home.json(&["delete", "persona", "mentor"])["in_force"], "builtin");
    assert_eq!(home.json(&["show", "mentor"])["scope"], "builtin");
    home.refused("builtin_fixed", &["delete", "persona", "mentor"]).offers("create_in_place");
}

#[test]
fn delete_says_who_uses_it_and_asks() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--summary", "Calm."]);
    home.ok(&["create", "persona", "team", "--part", "calm"]);
    home.write("shop/personas.toml", "[personas.ours]\nparts = [\"calm\"]\n");
    let delete = |arguments: &[&str]| {
        let mut command = home.command();
        command.args(["--project", "shop", "delete"]).args(arguments);
        Terminal::start(command)
    };
    let part = ["part", "calm", "--scope", "shared"];
    let mut terminal = delete(&part);
    terminal.sees("in shared: persona team").sees("still refer to it: persona ours (project)");
    terminal.sees("Delete part calm from shared?").presses("n").presses(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["nothing was deleted"]);
    home.ok(&["show", "part", "calm"]);
    // The default is no.
    let mut terminal = delete(&part);
    terminal.sees("Delete part calm from shared?").presses(ENTER);
    contains(&terminal.ends().1, &["nothing was deleted"]);
    // --yes does not ask, and is no --force.
    let (code, screen) = delete(&[&part[..], &["--yes"]].concat()).ends();
    assert_eq!(code, 4, "{screen}");
    let mut terminal = delete(&part);
    terminal.sees("Delete part calm from shared?").presses("y").presses(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["deleted part calm from shared, and unlinked it from persona team"]);
    home.refused("not_found", &["show", "part", "calm"]);
    let mut terminal = delete(&["persona", "team"]);
    terminal.sees("nothing else refers to persona team").sees("?").presses("y").presses(ENTER);
    assert_eq!(terminal.ends().0, 0);
    let (code, screen) = delete(&["persona", "team"]).ends();
    assert_eq!(code, 0, "nothing to ask about: {screen}");
    contains(&screen, &["nothing to delete"]);
}

#[test]
fn delete_names_users_that_fall_back_to_a_weaker_scope() {
    let home = Home::new();
    home.write(
        "shop/personas.toml",
        "[personas.reviewer]\nparts = [\"rules\"]\n[parts.rules]\npart_type = \"protocol\"\ncontent = \"x\"\n",
    );
    home.ok(&["--project", "shop", "promote", "reviewer", "--to", "shared"]);
    let delete = ["--project", "shop", "delete", "rules"];
    let mut command = home.command();
    command.args(delete);
    let mut terminal = Terminal::start(command);
    terminal
        .sees("persona reviewer (project) will use the shared one")
        .sees("Delete part rules from project?");
    terminal.presses("n").presses(ENTER);
    let (_, screen) = terminal.ends();
    assert!(!screen.contains("nothing else refers"), "{screen}");
    // Without a terminal, it needs --force like any other piece in use.
    home.refused("in_use", &delete).offers("use_force");
    let forced = home.json(&[&delete[..], &["--force"]].concat());
    assert_eq!(
        (entities(&forced["fall_back"]), &forced["fall_back_to"]),
        ("persona reviewer".to_owned(), &json!("shared"))
    );
    assert_eq!(home.json(&["--project", "shop", "show", "part", "rules"])["scope"], "shared");
}
