//! History, diff, rollback, tags and retention.

use serde_json::{Value, json};

use crate::home::{Home, Refused, contains, entities, outcome};
use crate::terminal::Terminal;

/// A part with three revisions, in shared.
fn calm() -> Home {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--content", "You speak slowly.", "-m", "a start"]);
    home.ok(&["update", "part", "calm", "--content", "You speak very slowly.", "-m", "more of it"]);
    home.ok(&["update", "part", "calm", "--tag", "quiet"]);
    home
}

fn numbers(history: &Value) -> Vec<i64> {
    history["items"].as_array().unwrap().iter().map(|item| item["revision"].as_i64().unwrap()).collect()
}

#[test]
fn history_shows_author_time_and_message() {
    let home = calm();
    let text = home.ok(&["history", "part", "calm"]);
    contains(&text, &["REVISION", "WHEN", "tester (cli)", "create", "update", "a start", "more of it"]);
    let history = home.json(&["history", "part", "calm"]);
    assert_eq!(numbers(&history), [3, 2, 1]);
    assert_eq!(
        (&history["scope"], &history["items"][1]["message"]),
        (&json!("shared"), &json!("more of it"))
    );
    let newest = home.json(&["history", "part", "calm", "--limit", "1"]);
    assert_eq!((numbers(&newest), &newest["next_cursor"]), (vec![3], &json!("1")));
    let more = "More revisions exist; use a higher --limit";
    contains(&home.run(&["history", "part", "calm", "--limit", "2"]).stderr, &[more]);
    let whole = home.run(&["history", "part", "calm"]).stderr;
    assert!(!whole.contains(more) && history["next_cursor"].is_null(), "{whole}");
    for limit in ["0", "10001"] {
        home.refused("out_of_range", &["history", "part", "calm", "--limit", limit]).about("field", "limit");
    }
    home.refused("not_found", &["history", "part", "clam"]).suggests("calm");
    home.refused("unknown_word", &["history", "prat", "calm"]).suggests("part");
    for command in
        [&["history", "calm"][..], &["diff", "calm", "2"], &["rollback", "calm", "1"], &["tag", "calm", "x"]]
    {
        assert_eq!(home.json(command)["kind"], "part", "{command:?}: only a part has this name");
    }
    home.refused("no_history", &["history", "mentor"]).offers("duplicate_it");
}

#[test]
fn a_history_survives_a_rename() {
    let home = calm();
    home.ok(&["update", "part", "calm", "--rename", "quiet"]);
    assert_eq!(numbers(&home.json(&["history", "part", "quiet"])), [4, 3, 2, 1]);
    contains(&home.ok(&["history", "part", "quiet"]), &["NAMED", "calm", "rename"]);
}

#[test]
fn an_edit_by_hand_is_a_revision() {
    let home = Home::new();
    home.write("shop/personas.toml", "[skills.look]\ncontent = \"Look.\"\n");
    home.run_in("shop", &["list"]).ok();
    home.write("shop/personas.toml", "[skills.look]\ncontent = \"Look twice.\"\n");
    let history: Value =
        serde_json::from_str(&home.run_in("shop", &["history", "skill", "look", "--json"]).ok()).unwrap();
    assert_eq!(numbers(&history), [2, 1]);
    let newest = &history["items"][0];
    assert_eq!((&history["scope"], &newest["front"]), (&json!("project"), &json!("file")), "{history:#}");
    contains(&home.run_in("shop", &["rollback", "skill", "look", "1"]).ok(), &["(now revision 3, project)"]);
    assert_eq!(home.read("shop/personas.toml"), "[skills.look]\ncontent = \"Look.\"\n");
}

#[test]
fn two_revisions_are_compared() {
    let home = calm();
    let unified = home.ok(&["diff", "part", "calm", "1", "2"]);
    contains(
        &unified,
        &[
            "--- calm revision 1\n+++ calm revision 2\n@@ ",
            "\n-content = \"You speak slowly.\"\n+content = \"You speak very slowly.\"\n",
        ],
    );
    contains(
        &home.ok(&["diff", "part", "calm"]),
        &["--- calm revision 2\n+++ calm revision 3\n", "+tags = [\"quiet\"]"],
    );
    contains(&home.ok(&["diff", "part", "calm", "1"]), &["--- calm revision 1\n+++ calm revision 3\n"]);
    let answer = home.json(&["diff", "part", "calm", "1", "2"]);
    assert_eq!((&answer["from"], &answer["to"], &answer["scope"]), (&json!(1), &json!(2), &json!("shared")));
    assert_eq!(
        answer["fields"],
        json!([{ "field": "content", "from": "You speak slowly.", "to": "You speak very slowly." }])
    );
    assert_eq!(answer["unified"], unified.as_str());
    assert_eq!(home.ok(&["diff", "part", "calm", "1", "1"]), "");
    home.refused("unknown_revision", &["diff", "part", "calm", "9"]);
    home.ok(&["create", "skill", "s", "--content", "x"]);
    home.refused("single_revision", &["diff", "skill", "s"]).about("name", "s");
    home.refused("unknown_word", &["diff", "a", "b", "c", "d"]).offers("use_one_of");
}

#[test]
fn diff_compares_a_deletion() {
    let home = Home::new();
    home.ok(&["create", "persona", "x", "--scope", "shared", "--summary", "u"]);
    home.ok(&["delete", "persona", "x"]);
    for arguments in [&["diff", "x"][..], &["diff", "x", "1"]] {
        let answer = home.run(arguments);
        contains(&answer.stderr, &["persona x", "revision 2"]);
        contains(
            &answer.ok(),
            &["--- x revision 1\n+++ x revision 2 (deleted)\n@@ ", "\n-summary = \"u\"\n"],
        );
    }
    let answer = home.json(&["diff", "x", "1"]);
    assert_eq!(answer["fields"], json!([{ "field": "summary", "from": "u" }]));
    contains(answer["note"].as_str().unwrap(), &["persona x", "revision 2"]);
    home.ok(&["create", "persona", "x", "--scope", "shared", "--summary", "u"]);
    home.ok(&["update", "persona", "x", "--summary", "v"]);
    assert_eq!(home.json(&["diff", "x"]).get("note"), None);
}

#[test]
fn diff_tells_unlinking_from_linking() {
    let home = calm();
    home.ok(&["create", "persona", "x", "--scope", "shared", "--summary", "u"]);
    home.ok(&["link", "x", "part", "calm"]);
    home.ok(&["unlink", "x", "part", "calm"]);
    let history = home.json(&["history", "x"]);
    let actions = history["items"].as_array().unwrap().iter().map(|revision| &revision["action"]);
    assert_eq!(actions.collect::<Vec<_>>(), ["unlink", "link", "create"]);
}

#[test]
fn a_terminal_highlights_changed_words() {
    let home = calm();
    let mut command = home.command();
    command.args(["diff", "part", "calm", "1", "2"]);
    let (code, screen) = Terminal::start(command).ends();
    assert_eq!(code, 0);
    contains(&screen, &["\x1b[31m-\x1b[0m", "\x1b[1;4;32mvery \x1b[0m", "\x1b[32mslowly.", "\x1b[2m@@ "]);
    let mut plain = home.command();
    plain.args(["diff", "part", "calm", "1", "2"]).env("NO_COLOR", "1");
    let (_, screen) = Terminal::start(plain).ends();
    assert!(!screen.contains('\x1b'), "{screen:?}");
    contains(&screen, &["+content = \"You speak very slowly.\""]);
}

#[test]
fn rollback_makes_a_new_revision() {
    let home = calm();
    let rolled_back = home.json(&["rollback", "part", "calm", "1", "--message", "it was better"]);
    assert_eq!(outcome(&rolled_back), "changed part shared:calm 4");
    let part = home.json(&["show", "part", "calm"]);
    assert_eq!((&part["content"], &part["tags"]), (&json!("You speak slowly."), &json!([])));
    let history = home.json(&["history", "part", "calm"]);
    assert_eq!(
        (&history["items"][0]["message"], numbers(&history)),
        (&json!("it was better"), vec![4, 3, 2, 1])
    );
    assert_eq!(outcome(&home.json(&["rollback", "part", "calm", "1"])), "unchanged part shared:calm 4");
    home.refused("unknown_revision", &["rollback", "part", "calm", "7"]);
    home.refused("missing_field", &["rollback", "calm"]);
    home.refused("stale_revision", &["rollback", "part", "calm", "2", "--if-revision", "3"])
        .offers("read_again");
    home.ok(&["rollback", "part", "calm", "2", "--if-revision", "4"]);
    // A rollback restores a deleted entity.
    home.ok(&["delete", "part", "calm"]);
    home.ok(&["rollback", "part", "calm", "2"]);
    assert_eq!(home.json(&["show", "part", "calm"])["content"], "You speak very slowly.");
}

#[test]
fn a_tag_freezes_a_persona_with_its_pieces() {
    let home = calm();
    home.ok(&["create", "persona", "helper", "--part", "calm", "--summary", "First."]);
    let tagged = home.json(&["tag", "helper", "production"]);
    assert_eq!((&tagged["revision"], &tagged["scope"]), (&json!(1), &json!("shared")));
    home.ok(&["update", "part", "calm", "--content", "You shout."]);
    home.ok(&["update", "persona", "helper", "--summary", "Second."]);
    let compiled = |more: &[&str]| home.ok(&[&["compile", "helper"], more].concat());
    contains(&compiled(&[]), &["You shout."]);
    contains(&compiled(&["--revision", "production"]), &["You speak very slowly."]);
    contains(&compiled(&["--revision", "2"]), &["You shout."]);
    let shown = home.json(&["show", "helper", "--revision", "production"]);
    assert_eq!(shown["summary"], "First.");
    contains(
        &home.ok(&["diff", "helper", "production"]),
        &["-summary = \"First.\"", "--- part calm in helper revision 1", "+content = \"You shout.\""],
    );
    contains(
        &home.ok(&["diff", "helper", "production", "--compiled"]),
        &["-You speak very slowly.", "+You shout."],
    );
    let diff = home.json(&["diff", "helper", "production", "--compiled"]);
    assert_eq!(
        (&diff["pieces"][0]["name"], diff["pieces"].as_array().map(Vec::len)),
        (&json!("calm"), Some(1))
    );
    contains(diff["compiled"]["to"].as_str().unwrap(), &["You shout."]);
    home.run(&["diff", "part", "calm", "--compiled"]).fails(2);
    let both = home.json(&["compile", "helper", "--revision", "production"]);
    contains(both["compiled_detail"].as_str().unwrap(), &["very slowly"]);
    assert_eq!((&both["scope"], &both["revision"]), (&json!("shared"), &json!(1)));
    assert_eq!(home.json(&["show", "part", "calm", "--revision", "1"])["content"], "You speak slowly.");
    contains(
        &home.ok(&["show", "part", "calm", "--revision", "1"]),
        &["(shared, revision 1)", "You speak slowly."],
    );
    home.refused("unknown_revision", &["show", "helper", "--revision", "producton"]).suggests("production");

    contains(&home.ok(&["history", "helper"]), &["TAGS", "production"]);
    contains(
        &home.ok(&["tag", "helper", "2", "production", "--move", "--message", "it passed"]),
        &["moved tag production of persona helper in shared from revision 1 to 2"],
    );
    contains(&home.ok(&["history", "helper"]), &["production (tester: it passed)"]);
    let tagged = &home.json(&["history", "helper"])["items"];
    let tagged = tagged.as_array().unwrap().iter().find(|item| item["revision"] == 2).unwrap();
    assert_eq!(tagged["tags"], json!(["production"]));
    assert_eq!(
        (&tagged["tagged"][0]["front"], &tagged["tagged"][0]["message"]),
        (&json!("cli"), &json!("it passed"))
    );
    assert_eq!(home.json(&["show", "helper", "--revision", "production"])["summary"], "Second.");
    assert_eq!(home.json(&["tag", "part", "calm", "1", "old"])["revision"], 1);
    contains(&home.ok(&["diff", "part", "calm", "old"]), &["--- calm revision 1", "You shout."]);
    home.refused("tag_taken", &["tag", "helper", "1", "production"])
        .about("revision", "2")
        .offers("move_tag");
    contains(&home.ok(&["tag", "helper", "2", "production"]), &["nothing to change", "production"]);
    let moved = home.ok(&["tag", "helper", "1", "production", "--move"]);
    contains(&moved, &["moved tag production of persona helper in shared from revision 2 to 1"]);
    assert_eq!(home.json(&["tag", "helper", "2", "production", "--move"])["moved_from"], "1");
    home.refused("conflicting_fields", &["tag", "helper", "--move", "--delete", "production"]);
    contains(&home.ok(&["tag", "helper", "--delete", "production"]), &["deleted tag production"]);
    contains(&home.ok(&["tag", "helper", "--delete", "production"]), &["nothing to delete"]);
    assert_eq!(home.json(&["tag", "part", "calm", "--delete", "old"])["deleted"], true);
    home.refused("invalid_tag", &["tag", "helper", "1", "7"]).offers("other_tag");
    home.refused("missing_field", &["tag", "helper"]).offers("write_as");
}

/// The advice applies to the shown definition, not to the one in force.
#[test]
fn advice_names_the_scope_of_an_overridden_definition() {
    let home = Home::new();
    home.write("shop/personas.toml", "[personas.helper]\nsummary = \"Ours.\"\n");
    home.ok(&["create", "persona", "helper", "--summary", "All's."]);
    let advice = |arguments: &[&str]| home.run_in("shop", arguments).stderr;
    contains(
        &advice(&["history", "helper", "--scope", "shared"]),
        &["`masque diff helper REV --scope shared`", "`masque rollback helper REV --scope shared`"],
    );
    for arguments in [&["history", "helper"][..], &["history", "helper", "--scope", "project"]] {
        contains(&advice(arguments), &["`masque diff helper REV`", "`masque rollback helper REV`"]);
    }
    home.ok(&["create", "skill", "look", "--content", "Look."]);
    contains(
        &advice(&["history", "look"]),
        &["`masque diff skill look REV`", "`masque rollback skill look REV`"],
    );
}

#[test]
fn rollback_reports_changed_pieces() {
    let home = calm();
    home.ok(&["create", "persona", "helper", "--part", "calm", "--summary", "You help."]);
    home.ok(&["tag", "helper", "good"]);
    home.ok(&["update", "part", "calm", "--content", "Faster."]);
    let told = home.ok(&["rollback", "helper", "good"]);
    contains(&told, &["`masque rollback part calm 3`", "`masque rollback helper good --with-pieces`"]);
    let json = home.json(&["rollback", "helper", "good"]);
    let calm = json!({ "scope": "shared", "kind": "part", "name": "calm", "revision": 3, "deleted": false });
    assert_eq!((&json["changed"], &json["differing"]), (&json!(false), &json!([calm])));
    let whole = home.json(&["rollback", "helper", "good", "--with-pieces"]);
    assert_eq!(entities(&whole["restored"]), "part calm");
    assert_eq!(home.json(&["show", "part", "calm"])["content"], "You speak very slowly.");
    let again = home.json(&["rollback", "helper", "good", "--with-pieces"]);
    assert_eq!(outcome(&again), "unchanged persona shared:helper 1");
    // A renamed piece is the same piece.
    home.ok(&["rename", "part", "calm", "quiet"]);
    home.ok(&["update", "persona", "helper", "--summary", "You listen."]);
    contains(&home.ok(&["rollback", "helper", "good"]), &["part calm", "quiet"]);
    let shown = home.json(&["show", "helper"]);
    assert_eq!((&shown["summary"], &shown["parts"][0]["name"]), (&json!("You help."), &json!("quiet")));
    home.ok(&["unlink", "helper", "part", "quiet"]);
    home.ok(&["delete", "part", "quiet"]);
    home.refused("piece_gone", &["rollback", "helper", "good"]).offers("roll_back_first");
    home.ok(&["rollback", "helper", "good", "--with-pieces"]);
    assert!(!home.json(&["show", "helper"])["parts"].as_array().unwrap().is_empty());
}

#[test]
fn rollback_keeps_tags() {
    let home = Home::new();
    home.write("shop/personas.toml", "");
    for scope in ["shared", "project"] {
        let masque = |arguments: &[&str]| {
            home.run_in("shop", &[arguments, &["--scope", scope, "--json"]].concat()).ok();
        };
        masque(&["create", "persona", "helper", "--summary", "First."]);
        masque(&["update", "persona", "helper", "--summary", "Second."]);
        masque(&["tag", "helper", "good"]);
        masque(&["delete", "persona", "helper"]);
        masque(&["rollback", "helper", "1"]);
        let shown = home.run_in("shop", &["show", "helper", "--scope", scope, "--revision", "good"]).ok();
        contains(&shown, &["Second."]);
        masque(&["delete", "persona", "helper"]);
        masque(&["create", "persona", "helper", "--summary", "Another one."]);
        let Refused(error) = home
            .refused_in(
                "shop",
                "unknown_revision",
                &["show", "helper", "--scope", scope, "--revision", "good"],
            )
            .about("revision", "good");
        assert_eq!(error["remedies"], json!([{ "action": "ask_for_revision", "revision": "2" }]));
        assert_eq!(error["candidates"], json!(["2"]));
    }
}

#[test]
fn prune_forgets_old_revisions() {
    let home = calm();
    home.ok(&["tag", "part", "calm", "1", "first"]);
    home.refused("missing_field", &["db", "prune"]).about("field", "--keep");
    home.refused("invalid_value", &["db", "prune", "--keep", "0"]);
    contains(&home.ok(&["db", "prune", "--keep", "1"]), &["deleted 1 revision;"]);
    assert_eq!(numbers(&home.json(&["history", "part", "calm"])), [3, 1]);
    home.ok(&["tag", "part", "calm", "--delete", "first"]);
    home.write(".config/masque/config.toml", "[history]\nkeep = 1\n");
    assert_eq!(home.json(&["db", "prune"]), json!({ "keep": 1, "forgotten": 1 }));
    assert_eq!(numbers(&home.json(&["history", "part", "calm"])), [3]);
}

#[test]
fn tags_are_shown_beside_long_reasons() {
    let home = Home::new();
    home.ok(&["create", "skill", "look", "--content", "Look."]);
    let why = "the words of the house are shorter now, and there are fewer of them than ever before";
    home.ok(&["update", "look", "--content", "Look twice.", "--message", why]);
    home.ok(&["tag", "look", "production"]);
    let mut command = home.command();
    command.env("NO_COLOR", "1").env("PAGER", "").args(["history", "look"]);
    let (_, screen) = Terminal::sized(command, 40, 100).ends();
    let line = screen.lines().find(|line| line.starts_with('2')).unwrap_or_default();
    assert!(line.contains("production"), "{screen}");
    assert!(line.contains("the words of") && !line.contains("ever before"), "{screen}");
    assert!(screen.lines().take(3).all(|line| line.chars().count() <= 100), "{screen}");
}
