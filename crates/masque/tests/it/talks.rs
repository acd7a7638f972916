//! `masque sessions`, `masque plan` and `masque models`.

use serde_json::Value;

use crate::home::{Home, contains};
use crate::rehearsed::Rehearsed;
use crate::terminal::{ENTER, Terminal};

const SCRIPT: &str = r##"
[[reply]]
when = { last_user = "make a plan", mode = "plan" }
say = [{ text = "Here it is." }, { tool = "plan_exit", input = { plan = "# The plan\n\n1. Do it." } }]

[[reply]]
when = { last_user = "shorter", mode = "plan" }
say = [{ tool = "plan_exit", input = { plan = "# The short plan" } }]

[[reply]]
when = { last_user = "Carry out", mode = "build" }
text = "It is done."

[[reply]]
when = { last_user = "list" }
say = [{ tool = "list_files", input = {} }]

[[reply]]
when = { tool_result_of = "list_files" }
text = "That is all."

[[reply]]
text = "You said {{last_user}}."
"##;

fn ids(rehearsed: &Rehearsed) -> Vec<String> {
    let list: Value = serde_json::from_str(&rehearsed.ok(&["sessions", "list", "--json"])).unwrap();
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn sessions_are_listed_shown_exported_and_deleted() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let empty = rehearsed.run(&["sessions"]);
    contains(&empty.stderr, &["masque chat"]);
    assert_eq!(empty.ok(), "");
    rehearsed.ok(&["run", "worker", "list"]);
    rehearsed.ok(&["run", "other", "hello\nthere"]);
    let list = rehearsed.ok(&["sessions"]);
    contains(&list, &["ID", "PERSONA", "FIRST MESSAGE", "worker", "list", "other", "hello there"]);
    assert!(list.find("other") < list.find("worker"), "the last used first: {list}");
    let only = rehearsed.ok(&["sessions", "--persona", "worker"]);
    assert!(only.contains("worker") && !only.contains("other"), "{only}");
    contains(&rehearsed.run(&["sessions", "--limit", "1"]).stderr, &["More sessions exist"]);

    // A listed id is enough to name a session.
    let short: Vec<&str> = list.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert!(short.iter().all(|id| id.len() < 36), "{list}");
    let shown = rehearsed.ok(&["sessions", "show", short[1]]);
    contains(&shown, &["worker", "build", "test/scripted", "› list", "✓ list_files", "That is all."]);

    let markdown = rehearsed.ok(&["sessions", "export", short[1]]);
    contains(
        &markdown,
        &["# list\n", "## You\n\nlist\n", "Call of `list_files`", "notes.txt", "## worker\n\nThat is"],
    );
    let json: Value =
        serde_json::from_str(&rehearsed.ok(&["sessions", "export", short[1], "--format", "json"])).unwrap();
    assert_eq!(json["persona"], "worker");
    let types: Vec<&str> =
        json["turns"].as_array().unwrap().iter().map(|turn| turn["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["user", "tool_call", "tool_result", "assistant_text"]);

    contains(&rehearsed.ok(&["sessions", "delete", short[1]]), &["deleted session"]);
    assert_eq!(ids(&rehearsed).len(), 1);
    rehearsed.refused("unknown_session", &["sessions", "show", short[1]]).offers("list_sessions");
    // Deleting a missing session succeeds.
    contains(&rehearsed.ok(&["sessions", "delete", short[1]]), &["nothing to delete"]);
    let deleted: Value =
        serde_json::from_str(&rehearsed.ok(&["sessions", "delete", short[0], "--json"])).unwrap();
    assert_eq!(deleted["deleted"], true);
}

#[test]
fn deleting_a_session_asks_on_a_terminal() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.ok(&["run", "worker", "one"]);
    rehearsed.ok(&["run", "worker", "two"]);
    let sessions = ids(&rehearsed);
    let delete = |id: &str| Terminal::start(rehearsed.command(&["sessions", "delete", id]));
    let mut terminal = delete(&sessions[0]);
    terminal.sees("with worker: two").sees(&format!("Delete session {}?", sessions[0])).presses(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["nothing was deleted"]);
    assert_eq!(ids(&rehearsed).len(), 2);
    let mut terminal = delete(&sessions[0]);
    terminal.sees("Delete session").presses("y").presses(ENTER);
    contains(&terminal.ends().1, &["deleted session"]);
    let yes = Terminal::start(rehearsed.command(&["sessions", "delete", &sessions[1], "--yes"]));
    contains(&yes.ends().1, &["deleted session"]);
    assert_eq!(ids(&rehearsed), Vec::<String>::new());
    let (code, screen) = delete("ffff").ends();
    assert_eq!(code, 0, "nothing to ask about: {screen}");
}

#[test]
fn a_short_id_must_be_unique() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.ok(&["run", "worker", "one"]);
    rehearsed.ok(&["run", "worker", "two"]);
    let ids = ids(&rehearsed);
    // Ids begin with the time, and both sessions are new.
    let shared = &ids[0][..6];
    assert!(ids[1].starts_with(shared));
    rehearsed.refused("ambiguous_session", &["sessions", "show", shared]);
    rehearsed.refused("ambiguous_session", &["sessions", "delete", shared]);
    rehearsed.refused("invalid_session_id", &["sessions", "show", "01"]).offers("list_sessions");
    rehearsed.refused("invalid_session_id", &["sessions", "show", "nothing"]).offers("list_sessions");
    contains(&rehearsed.run(&["sessions", "show", "zzzzzz"]).fails(2), &["hexadecimal digits"]);
    // No id can begin like this, or no session's id does.
    rehearsed.refused("invalid_session_id", &["sessions", "show", "01-99"]).offers("list_sessions");
    rehearsed.refused("unknown_session", &["sessions", "show", "ffff"]).offers("list_sessions");
    contains(&rehearsed.ok(&["sessions", "delete", "ffff"]), &["nothing to delete"]);
    // The end of an id is random, so a few of its characters are enough.
    let end = &ids[0][30..];
    assert_ne!(end, &ids[1][30..]);
    contains(&rehearsed.ok(&["sessions", "show", end]), &[&ids[0]]);
    contains(&rehearsed.ok(&["sessions", "show", &end.to_uppercase()]), &[&ids[0]]);
    contains(&rehearsed.ok(&["sessions", "show", &ids[0][20..].replace('-', "")]), &[&ids[0]]);
    let listed = rehearsed.ok(&["sessions"]);
    assert!(ids.iter().all(|id| listed.contains(&id[30..]) && !listed.contains(&id[..13])), "{listed}");
    // The shortest unique prefix, with and without dashes.
    let same = ids[0].bytes().zip(ids[1].bytes()).take_while(|(a, b)| a == b).count();
    let clear = &ids[0][..=same];
    contains(&rehearsed.ok(&["sessions", "show", clear]), &[&ids[0]]);
    contains(&rehearsed.ok(&["sessions", "show", &clear.replace('-', "")]), &[&ids[0]]);
    contains(&rehearsed.ok(&["sessions", "show", &ids[0].to_uppercase()]), &[&ids[0]]);

    // The error lists the five newest candidates.
    for more in ["three", "four", "five", "six"] {
        rehearsed.ok(&["run", "worker", more]);
    }
    let all = self::ids(&rehearsed);
    let refused = rehearsed.refused("ambiguous_session", &["sessions", "show", &all[0][..4]]);
    assert_eq!(refused.0["candidates"], serde_json::json!(all[..5]));
}

#[test]
fn a_plan_is_printed_sent_back_and_approved() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "make a plan", "--plan"]);
    contains(&answer.stderr, &["--approve", "--send-back"]);
    assert_eq!(answer.ok(), "Here it is.\n\n# The plan\n\n1. Do it.\n");
    let id = rehearsed.session();
    let plan = rehearsed.run(&["plan", &id[..13]]);
    contains(&plan.stderr, &["Not decided yet"]);
    assert_eq!(plan.ok(), "# The plan\n\n1. Do it.\n");
    let json: Value = serde_json::from_str(&rehearsed.ok(&["plan", &id, "--json"])).unwrap();
    assert_eq!((&json["status"], &json["mode"]), (&"proposed".into(), &"plan".into()));

    rehearsed.refused("missing_field", &["plan", &id, "--send-back", " "]).offers("write_as");
    assert_eq!(rehearsed.ok(&["plan", &id, "--send-back", "shorter"]), "# The short plan\n");
    contains(&rehearsed.ok(&["plan", &id, "--approve"]), &["approved", "build mode"]);
    contains(&rehearsed.run(&["plan", &id]).stderr, &["Approved."]);
    assert_eq!(rehearsed.ok(&["run", "worker", "Carry out the plan.", "--session", &id]), "It is done.\n");
    contains(&rehearsed.ok(&["sessions", "export", &id]), &["## Plan\n\n# The short plan"]);

    rehearsed.ok(&["run", "worker", "hi"]);
    let other = ids(&rehearsed).into_iter().find(|other| *other != id).unwrap();
    for arguments in
        [&["plan", &*other][..], &["plan", &other, "--approve"], &["plan", &other, "--send-back", "x"]]
    {
        rehearsed.refused("no_plan", arguments);
    }
    rehearsed.refused("conflicting_fields", &["plan", &id, "--approve", "--send-back", "x"]);
}

#[test]
fn models_lists_providers_and_their_errors() {
    let rehearsed = Rehearsed::new(SCRIPT);
    contains(&rehearsed.ok(&["models"]), &["MODEL", "test/scripted"]);
    contains(&rehearsed.ok(&["models", "test"]), &["test/scripted"]);
    rehearsed.refused("not_set_up", &["models", "tset"]).suggests("test");
    let config = rehearsed.home.read(".config/masque/config.toml");
    let dead = "\n[providers.dead]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    rehearsed.home.write(".config/masque/config.toml", &format!("{config}{dead}"));
    contains(&rehearsed.ok(&["models"]), &["test/scripted", "dead does not answer", "masque doctor"]);
    let json: Value = serde_json::from_str(&rehearsed.ok(&["models", "--json"])).unwrap();
    let found = |name: &str| {
        json["items"].as_array().unwrap().iter().find(|found| found["name"] == name).unwrap().clone()
    };
    assert_eq!(found("test")["models"][0]["id"], "scripted");
    assert!(found("dead")["error"].is_string(), "{json:#}");
    let only = rehearsed.run(&["models", "dead"]);
    assert_eq!(only.code, 1, "{only:?}");
    contains(&only.stdout, &["dead does not answer"]);

    let home = Home::new();
    let none = home.run(&["models"]);
    assert_eq!((none.code, none.stdout.as_str()), (1, ""));
    contains(&none.stderr, &["No model is configured", "ANTHROPIC_API_KEY"]);
}
