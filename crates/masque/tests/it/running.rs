//! `masque run`: one message and its answer.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::home::{Home, contains};
use crate::rehearsed::{Rehearsed, tools};
use crate::terminal::ENTER;

const SCRIPT: &str = r##"
[[reply]]
when = { tool_result_of = "read_file" }
text = "The file says **one** and two."

[[reply]]
when = { tool_result_of = "write_file", tool_result = "approval" }
text = "Nobody allowed it."

[[reply]]
when = { tool_result_of = "write_file", tool_result = "did not allow" }
text = "You did not allow it."

[[reply]]
when = { tool_result_of = "write_file" }
text = "Written."

[[reply]]
when = { last_user = "twice" }
say = [{ tool = "list_files", input = {} }]

[[reply]]
when = { tool_result_of = "list_files" }
say = [{ tool = "read_file", input = { path = "notes.txt" } }]

[[reply]]
when = { last_user = "read it" }
say = [{ text = "Let me look." }, { tool = "read_file", input = { path = "notes.txt" } }]

[[reply]]
when = { last_user = "read nothing" }
say = [{ tool = "read_file", input = { path = "nothing.txt" } }]

[[reply]]
when = { last_user = "write it" }
say = [{ tool = "write_file", input = { path = "out.txt", content = "hello\n" } }]

[[reply]]
when = { last_user = "too much" }
text = "An answer that is"
stop = "max_tokens"

[[reply]]
when = { last_user = "something evil" }
text = "No."
stop = "refusal"

[[reply]]
when = { last_user = "wrong key" }
fault = { status = 401, message = "invalid key" }

[[reply]]
when = { last_user = "wrong model" }
fault = { status = 404, code = "model_not_found", message = "no such model" }

[[reply]]
when = { last_user = "breaks off" }
times = 1
text = "This is the beginning of an answer that"
fault = { cut_after = 4 }

[[reply]]
when = { last_user = "breaks off" }
text = "This is the whole answer."

[[reply]]
when = { last_user = "slowly" }
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
pace_ms = 300

[[reply]]
when = { last_user = "think" }
reasoning = "The user wants me to think."
text = "I thought."

[[reply]]
text = "Hello from {{model}}."
usage = { input = 12, output = 5 }
"##;

#[test]
fn standard_output_has_only_the_answer() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "hi"]);
    assert_eq!(
        (answer.code, answer.stdout.as_str(), answer.stderr.as_str()),
        (0, "Hello from scripted.\n", "")
    );
    let request = rehearsed.last_request();
    contains(&request["messages"][0]["content"].to_string(), &["You are the worker."]);

    let answer = rehearsed.run(&["run", "worker", "read it"]);
    assert_eq!(answer.stdout, "Let me look.\n\nThe file says **one** and two.\n");
    assert_eq!(answer.stderr, "✓ read_file notes.txt (2 lines)\n");

    let answer = rehearsed.run(&["run", "worker", "think", "--verbose"]);
    assert_eq!(answer.stdout, "I thought.\n");
    contains(
        &answer.stderr,
        &["∴ The user wants me to think.", "test/scripted", "tokens in", "chat --session"],
    );
}

#[test]
fn piped_text_is_context() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.run_with_input(&["run", "worker", "Look at this:"], "a patch\n").ok();
    let said = |request: Value| request["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(said(rehearsed.last_request()), "Look at this:\n\n<stdin>\na patch\n</stdin>");
    rehearsed.run_with_input(&["run", "worker"], "only this").ok();
    assert_eq!(said(rehearsed.last_request()), "only this");
    let long = "x".repeat(1024 * 1024);
    let run = ["--json", "run", "worker", "p"];
    rehearsed.run_with_input(&run, &long).refused_with("too_long");
    rehearsed.run_with_input(&run, &format!("{long}x")).refused_with("too_long").offers("move_to_file");
    rehearsed.refused("empty", &["run", "worker"]).offers("write_as");
    assert_eq!(rehearsed.requests().len(), 2, "refused messages reach no model");
    let list: Value = serde_json::from_str(&rehearsed.ok(&["sessions", "--json"])).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 2, "refused messages leave no session");
}

#[test]
fn events_are_lines_of_json() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "read it", "--json"]);
    assert_eq!(answer.stderr, "");
    let events: Vec<Value> = answer
        .ok()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let mut shape = names.clone();
    shape.dedup();
    assert_eq!(
        shape,
        [
            "session",
            "model_selected",
            "text_delta",
            "text_complete",
            "tool_call",
            "usage",
            "tool_result",
            "text_delta",
            "text_complete",
            "usage",
            "done"
        ]
    );
    assert_eq!(events[0]["sessionId"], rehearsed.session());
    assert_eq!((&events[0]["persona"], &events[0]["mode"]), (&"worker".into(), &"build".into()));
    assert_eq!(events[1]["provider"], "test");
    assert_eq!(events[1]["reason"], "default");
    assert_eq!(events.last().unwrap()["stopReason"], "end_turn");
    let place = |event: &Value| {
        let id = event["eventId"].as_str().unwrap().to_owned();
        let (seq, delta) = id.split_once('.').unwrap_or((&id, "0"));
        (seq.parse::<u64>().unwrap(), delta.parse::<u64>().unwrap())
    };
    assert!(events[1..].is_sorted_by(|a, b| place(a) < place(b)), "{names:?}");
}

#[test]
fn calls_without_approval_are_refused() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "write it"]);
    contains(&answer.stderr, &["✗ write_file out.txt", "no user to ask"]);
    assert_eq!(answer.ok(), "Nobody allowed it.\n");
    rehearsed.ok(&["run", "worker", "write it", "--approve", "read"]);
    assert!(!rehearsed.home.path("work/out.txt").exists());
    assert_eq!(rehearsed.ok(&["run", "worker", "write it", "--approve", "all"]), "Written.\n");
    assert_eq!(rehearsed.home.read("work/out.txt"), "hello\n");
    // Plan mode never offers the tool.
    rehearsed.ok(&["run", "worker", "hi", "--plan", "--approve", "all"]);
    let offered = tools(&rehearsed.last_request());
    assert!(offered.contains(&"read_file".to_owned()), "{offered:?}");
    assert!(!offered.contains(&"write_file".to_owned()), "{offered:?}");
}

#[test]
fn a_terminal_asks_for_approval() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["run", "worker", "write it"]);
    terminal.sees("write_file needs your approval").sees("out.txt").sees("+ hello").sees("Allow it?");
    terminal.presses("maybe").presses(ENTER).sees("n and a reason");
    terminal.presses("\x7f\x7f\x7f\x7f\x7fy").presses(ENTER).sees("✓ write_file out.txt").sees("Written.");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(rehearsed.home.read("work/out.txt"), "hello\n");
}

#[test]
fn the_exit_code_names_the_end() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let too_much = rehearsed.run(&["run", "worker", "too much"]);
    assert_eq!((too_much.code, too_much.stdout.as_str()), (7, "An answer that is\n"));
    contains(&too_much.stderr, &["max_tokens"]);
    let refusal = rehearsed.run(&["run", "worker", "something evil"]);
    assert_eq!(refusal.code, 5, "{refusal:?}");
    contains(&refusal.stderr, &["error: ", "refused"]);
    rehearsed.refused("unauthorized", &["run", "worker", "wrong key"]).offers("run");
    rehearsed.refused("unknown_model", &["run", "worker", "wrong model"]).offers("run");
    let rounds = rehearsed.run(&["run", "worker", "twice", "--max-rounds", "1"]);
    assert_eq!(rounds.code, 7, "{rounds:?}");
    contains(&rounds.stderr, &["max_tool_rounds"]);
    // The flag is stronger than the persona.
    let own = "\n[personas.patient]\nsystem_prompt = \"You are patient.\"\nmax_tool_rounds = 1\n";
    let personas = rehearsed.home.read(".config/masque/personas.toml");
    rehearsed.home.write(".config/masque/personas.toml", &format!("{personas}{own}"));
    assert_eq!(rehearsed.run(&["run", "patient", "twice"]).code, 7);
    assert_eq!(rehearsed.run(&["run", "patient", "twice", "--max-rounds", "2"]).code, 0);
    rehearsed.refused("invalid_value", &["run", "worker", "hi", "--max-rounds", "0"]);
    rehearsed.refused("not_found", &["run", "nobody", "hi"]).about("name", "nobody");
    rehearsed.refused("invalid_value", &["run", "worker", "hi", "--model", "nix"]);
    rehearsed.refused("unknown_provider", &["run", "worker", "hi", "--model", "nix/x"]).suggests("test");
    rehearsed
        .refused("unknown_session", &["run", "worker", "hi", "--session", "0193abcd"])
        .offers("list_sessions");
}

#[test]
fn a_run_continues_after_a_failed_tool() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "read nothing"]);
    contains(&answer.stderr, &["✗ read_file nothing.txt: "]);
    assert_eq!(answer.ok(), "The file says **one** and two.\n");
}

#[test]
fn a_failed_attempt_never_reaches_a_pipe() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "breaks off"]);
    assert_eq!(answer.stdout, "This is the whole answer.\n", "{answer:?}");
    // A terminal shows the attempt and takes it back.
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["run", "worker", "breaks off"]);
    terminal.sees("This is").sees("the answer was cut off; trying again").sees("This is the whole answer.");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn ctrl_c_stops_a_run() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut command = rehearsed.command(&["run", "worker", "slowly", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("text_delta")));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let last = lines.last().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    contains(&last, &["\"done\"", "\"cancelled\""]);
    contains(&rehearsed.ok(&["sessions", "export", &rehearsed.session()]), &["slowly", "one"]);
}

#[test]
fn a_session_continues() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.ok(&["run", "worker", "my name is Ada"]);
    let id = rehearsed.session();
    rehearsed.ok(&["run", "worker", "and now?", "--session", &id[..13]]);
    contains(&rehearsed.last_request()["messages"].to_string(), &["my name is Ada", "and now?"]);
    // A new session has no memory.
    rehearsed.ok(&["run", "worker", "and now?"]);
    assert!(!rehearsed.last_request().to_string().contains("Ada"));
    // Another persona can continue it.
    rehearsed.ok(&["run", "other", "who are you?", "--session", &id]);
    let sent = rehearsed.last_request()["messages"].to_string();
    contains(&sent, &["You are the other one.", "my name is Ada"]);
    // Another model can continue it too.
    rehearsed.ok(&["run", "other", "hi", "--session", &id, "--model", "test/understudy"]);
    assert_eq!(rehearsed.ok(&["run", "other", "hi", "--session", &id]), "Hello from understudy.\n");
    rehearsed
        .refused("unknown_provider", &["run", "other", "hi", "--session", &id, "--model", "nix/x"])
        .suggests("test");
}

#[test]
fn tools_see_only_the_root() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.home.write("work/below/notes.txt", "three\n");
    rehearsed.ok(&["run", "worker", "read it", "--root", "below", "--project", "."]);
    let session: Value =
        serde_json::from_str(&rehearsed.ok(&["sessions", "show", &rehearsed.session(), "--json"])).unwrap();
    assert!(session["root"].as_str().unwrap().ends_with("work/below"), "{session:#}");
    assert_eq!(session["turns"][3]["output"], "three\n", "{session:#}");
    rehearsed.refused("outside_project", &["run", "worker", "read it", "--root", "..", "--project", "."]);
}

#[test]
fn without_a_provider_the_rehearsal_answers() {
    let home = Home::new();
    let answer = home.run(&["run", "mentor", "hello"]);
    contains(&answer.stderr, &["No model is configured", "ANTHROPIC_API_KEY", "masque doctor"]);
    assert!(answer.stdout.starts_with("Rehearsal: no model is set up"), "{answer:?}");
    assert_eq!(answer.code, 0);
    let lines = home.ok(&["run", "mentor", "hello", "--json"]);
    contains(&lines, &["\"reason\":\"rehearsal\"", "\"stopReason\":\"end_turn\""]);
}
