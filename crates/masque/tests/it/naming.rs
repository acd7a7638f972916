//! `[KIND] NAME` in every command that takes an entity.

use serde_json::{Value, json};

use crate::home::{Home, contains};

/// A home with a part and a skill of one name, and a part of a name of its own.
fn home() -> Home {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--part-type", "tone", "--content", "Speak slowly."]);
    home.ok(&["create", "part", "both", "--part-type", "tone", "--content", "A part."]);
    home.ok(&["create", "skill", "both", "--content", "A skill."]);
    home
}

fn kind_and_name(answer: &Value) -> (&str, &str) {
    (answer["kind"].as_str().unwrap(), answer["name"].as_str().unwrap())
}

#[test]
fn a_clear_name_needs_no_kind() {
    let home = home();
    assert_eq!(home.json(&["show", "calm"])["part_type"], "tone");
    for change in [
        &["update", "calm", "--content", "Speak very slowly."][..],
        &["update", "--content", "Slower.", "calm", "--message", "why", "--if-revision", "2"],
        &["rename", "calm", "quiet"],
        &["mv", "quiet", "calm"],
        &["rollback", "calm", "1"],
        &["rm", "calm"],
        // The history still has a deleted entity.
        &["rollback", "calm", "2"],
    ] {
        let written = home.json(change);
        assert_eq!(written["kind"], "part", "{change:?}: {written}");
    }
    assert_eq!(kind_and_name(&home.json(&["cp", "calm", "calmer"])), ("part", "calmer"));
    assert_eq!(kind_and_name(&home.json(&["history", "calm"])), ("part", "calm"));
    assert_eq!(kind_and_name(&home.json(&["diff", "calm", "1", "2"])), ("part", "calm"));
    assert_eq!(kind_and_name(&home.json(&["tag", "calm", "1", "first"])), ("part", "calm"));
    let bundle = home.json(&["export", "calm", "mentor"])["bundle"].as_str().unwrap().to_owned();
    assert!(bundle.contains("[parts.calm]") && bundle.contains("[personas.mentor]"), "{bundle}");
    assert_eq!(kind_and_name(&home.json(&["promote", "calm", "--to", "global"])), ("part", "calm"));
    home.ok(&["new", "mine", "--template", "mentor"]);
    home.ok(&["link", "mine", "calm"]);
    home.ok(&["unlink", "mine", "calm"]);
}

#[test]
fn a_kind_is_written_in_the_singular_or_plural() {
    let home = home();
    for kind in ["part", "parts", "Parts"] {
        assert_eq!(home.json(&["show", kind, "calm"])["part_type"], "tone");
        assert_eq!(kind_and_name(&home.json(&["history", kind, "calm"])), ("part", "calm"));
    }
    for kind in ["parts", "Parts", "PART"] {
        assert_eq!(
            home.ok(&["list", kind, "--query", "slowly"]),
            home.ok(&["list", "part", "--query", "slowly"])
        );
        assert_eq!(
            home.json(&["create", kind, kind, "--part-type", "tone", "--content", "x"])["kind"],
            "part"
        );
        assert_eq!(home.json(&["update", kind, kind, "--content", "y"])["changed"], true);
    }
    for kind in ["tool-preset", "tool-presets", "tool_preset", "tool_presets", "Tool-Preset"] {
        assert_eq!(home.json(&["create", kind, "mine", "--description", "x"])["kind"], "tool_preset");
        assert_eq!(home.json(&["update", kind, "mine", "--description", "y"])["kind"], "tool_preset");
        assert_eq!(home.json(&["delete", kind, "mine"])["deleted"], true);
    }
    home.ok(&["new", "mine", "--template", "mentor"]);
    home.ok(&["link", "mine", "parts", "calm"]);
    home.ok(&["unlink", "mine", "parts", "calm"]);
    assert_eq!(home.ok(&["compile", "personas", "mentor"]), home.ok(&["compile", "mentor"]));
    assert_eq!(home.json(&["manifest", "persona", "mentor"])["name"], "mentor");
    assert!(home.json(&["export", "parts", "calm", "both"])["bundle"].as_str().unwrap().contains("A part."));
    // The flag of earlier versions.
    assert!(
        home.json(&["export", "both", "--kind", "skill"])["bundle"].as_str().unwrap().contains("A skill.")
    );
    home.ok(&["promote", "skills", "both", "--to", "global"]);
    home.ok(&["promote", "both", "--kind", "part", "--to", "global"]);
}

#[test]
fn a_persona_wins_over_pieces_of_its_name() {
    let home = home();
    home.ok(&["create", "persona", "calm", "--system-prompt", "You are calm."]);
    assert_eq!(home.json(&["update", "calm", "--summary", "Calm."])["kind"], "persona");
    assert_eq!(kind_and_name(&home.json(&["history", "calm"])), ("persona", "calm"));
    assert_eq!(kind_and_name(&home.json(&["history", "part", "calm"])), ("part", "calm"));
    // A requested scope decides first.
    home.ok(&["create", "persona", "calm", "--system-prompt", "Yours.", "--scope", "global"]);
    home.ok(&["create", "skill", "spare", "--content", "Theirs."]);
    home.ok(&["create", "persona", "spare", "--system-prompt", "x", "--scope", "global"]);
    assert_eq!(kind_and_name(&home.json(&["history", "spare", "--scope", "shared"])), ("skill", "spare"));
}

#[test]
fn several_kinds_are_an_error_that_lists_them() {
    let home = home();
    for command in [
        &["show", "both"][..],
        &["update", "both", "--content", "x"],
        &["delete", "both"],
        &["edit", "both"],
        &["rename", "both", "other"],
        &["duplicate", "both", "other"],
        &["history", "both"],
        &["diff", "both"],
        &["rollback", "both", "1"],
        &["tag", "both", "production"],
        &["export", "both"],
        &["promote", "both", "--to", "global"],
        &["link", "mentor", "both"],
    ] {
        let error = home.refused("ambiguous_kind", command).about("name", "both").offers("use_one_of").0;
        assert_eq!(error["candidates"], json!(["part", "skill"]), "{command:?}");
    }
    assert_eq!(home.json(&["show", "skill", "both"])["content"], "A skill.");
}

#[test]
fn a_wrong_word_is_explained() {
    let home = home();
    home.refused("unknown_word", &["update", "prat", "calm", "--content", "x"]).suggests("part");
    home.refused("unknown_word", &["delete", "prat", "calm"]).suggests("part");
    home.refused("missing_field", &["show", "part"]);
    home.refused("not_found", &["show", "persona", "nothing"]).about("kind", "persona");
    home.refused("not_found", &["link", "mentor", "nothing"]).about("name", "nothing").offers("list_kind");
    home.refused("not_for_kind", &["link", "mentor", "arc", "mentors-path"]).about("kind", "arc");
    home.refused("not_for_kind", &["compile", "part", "calm"]).offers("list_kind");
    home.refused("not_for_kind", &["show", "calm", "--compiled"]).about("kind", "part");
    // A flag of another kind.
    home.refused("unknown_field", &["update", "calm", "--system-prompt", "x"])
        .about("field", "--system-prompt");
    home.refused("invalid_value", &["update", "calm", "--part-type", "tonne"]).suggests("tone");
}

/// Commands for one kind take it before the name, too.
#[test]
fn a_kind_may_be_written_where_only_one_is_taken() {
    let home = home();
    home.ok(&["new", "persona", "mine", "--template", "mentor"]);
    for kind in ["persona", "personas"] {
        contains(&home.ok(&["run", kind, "mine", "hi"]), &["Rehearsal: "]);
        contains(&home.run_with_input(&["chat", kind, "mine"], "hi\n").ok(), &["Rehearsal: "]);
    }
    assert_eq!(home.json(&["arc", "advance", "persona", "mine"])["stage"], "coach");
    assert_eq!(home.json(&["arc", "reset", "persona", "mine"])["stage"], "guide");
    home.ok(&["arc", "unassign", "persona", "mine"]);
    assert_eq!(home.json(&["arc", "assign", "persona", "mine", "mentors-path"])["persona"], "mine");
    home.ok(&["create", "arc", "growth", "--summary", "x"]);
    home.ok(&["arc", "add-stage", "arc", "growth", "--order", "1", "first"]);
    home.ok(&["arc", "add-part", "arc", "growth", "first", "calm"]);
    home.ok(&["arc", "remove-part", "arc", "growth", "first", "calm"]);
    home.ok(&["arc", "remove-stage", "arc", "growth", "first"]);
    home.ok(&["link", "persona", "mine", "part", "calm"]);
    home.ok(&["unlink", "persona", "mine", "calm"]);
    // The persona is found, and has nothing to test.
    home.ok(&["create", "persona", "bare", "--system-prompt", "You are bare."]);
    home.ok(&["update", "bare", "--summary", "Bare."]);
    home.ok(&["tag", "bare", "1", "first"]);
    for kind in [&[][..], &["persona"], &["Personas"]] {
        for (command, rest) in [
            ("test", &["bare"][..]),
            ("test", &["bare@first"]),
            ("compare", &["bare", "first"]),
            ("compare", &["bare", "first", "2"]),
        ] {
            let command = [&[command], kind, rest].concat();
            home.refused("no_test_inputs", &command).about("name", "bare");
        }
    }
    home.refused("invalid_name", &["test", "bare@"]);
    home.refused("invalid_usage", &["test", "bare", "first"]);
    for command in [
        &["chat", "part", "calm"][..],
        &["run", "part", "calm", "hi"],
        &["arc", "advance", "part", "calm"],
        &["compile", "part", "calm"],
        &["test", "part", "calm"],
        &["compare", "part", "calm"],
        &["manifest", "part", "calm"],
        &["new", "part", "other", "--template", "mentor"],
    ] {
        // A chat has no JSON output.
        let error = match command[0] {
            "chat" => home.fails(2, command),
            _ => home.refused("not_for_kind", command).about("kind", "part").0["message"].to_string(),
        };
        contains(&error, &["takes personas only"]);
    }
    home.refused("not_for_kind", &["arc", "add-stage", "part", "calm", "first"]);
    home.refused("invalid_usage", &["compile", "mentor", "calm"]);
}

/// Two words after `run` are a name and a message, whatever the words are.
#[test]
fn a_message_is_never_mistaken_for_a_name() {
    let home = home();
    home.refused("not_found", &["run", "persona", "mentor"]).about("name", "persona");
    home.ok(&["create", "persona", "persona", "--system-prompt", "You are one."]);
    contains(&home.ok(&["run", "persona", "mentor"]), &["Rehearsal: "]);
    assert_eq!(home.json(&["sessions"])["items"][0]["persona"], "persona");
    contains(&home.ok(&["run", "persona", "persona", "hi"]), &["Rehearsal: "]);
    home.refused("invalid_usage", &["run", "mentor", "how", "are", "you"]).offers("write_as");
    home.refused("invalid_usage", &["run", "mentor", "hello", "there"]).offers("write_as");
    home.refused("missing_field", &["run"]);
}

/// Without a kind, every kind was searched, and names of every kind are near.
#[test]
fn an_unknown_name_is_of_no_kind() {
    let home = home();
    for command in [
        &["show", "clam"][..],
        &["update", "clam", "--content", "x"],
        &["edit", "clam"],
        &["rename", "clam", "other"],
        &["duplicate", "clam", "other"],
        &["promote", "clam", "--to", "global"],
        &["export", "clam"],
        &["history", "clam"],
        &["diff", "clam"],
        &["rollback", "clam", "1"],
        &["tag", "clam", "production"],
    ] {
        let error = home.refused("not_found", command).about("name", "clam").suggests("calm").0;
        assert_eq!(error["subject"]["kind"], Value::Null, "{command:?}: {error:#}");
    }
    home.refused("not_found", &["show", "zzzzzz"]).offers("list_kind");
    let gone = home.run(&["rm", "clam"]);
    contains(&gone.stderr, &["calm"]);
    assert_eq!(gone.ok(), "nothing to delete: nothing is named clam\n");
    assert_eq!(home.ok(&["rm", "part", "clam"]), "nothing to delete: no part is named clam\n");
}
