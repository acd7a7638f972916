//! `masque chat` on a terminal and on a pipe.

use crate::home::{Home, contains};
use crate::rehearsed::{Rehearsed, tools};
use crate::terminal::{CONTROL_C, CONTROL_D, DOWN, ENTER, ESCAPE, Terminal};

const SCRIPT: &str = r##"
[[reply]]
when = { last_user = "are you there" }
text = "I am."

[[reply]]
when = { system = "the other one", last_user = "write for me" }
say = [{ tool = "write_file", input = { path = "theirs.txt", content = "theirs\n" } }]

[[reply]]
when = { tool_result_of = "delegate" }
text = "The other one says: {{tool_result}}"

[[reply]]
when = { last_user = "let the other" }
say = [{ tool = "delegate", input = { persona = "other", task = "write for me" } }]

[[reply]]
when = { tool_result_of = "read_file" }
text = "# Found\n\nThe file says **one** and two."

[[reply]]
when = { tool_result_of = "write_file", tool_result = "too early" }
text = "Later, then."

[[reply]]
when = { tool_result_of = "write_file", tool_result = "did not allow" }
text = "As you wish."

[[reply]]
when = { tool_result_of = "write_file", tool_result = "no user to ask" }
text = "Nobody allowed it."

[[reply]]
when = { tool_result_of = "write_file" }
text = "Written."

[[reply]]
when = { last_user = "read it" }
say = [{ text = "Let me look." }, { tool = "read_file", input = { path = "notes.txt" } }]

[[reply]]
when = { last_user = "write it" }
say = [{ tool = "write_file", input = { path = "out.txt", content = "hello\n" } }]

[[reply]]
when = { last_user = "write both" }
say = [
  { tool = "write_file", input = { path = "a.txt", content = "a\n" } },
  { tool = "write_file", input = { path = "b.txt", content = "b\n" } },
]

[[reply]]
when = { last_user = "make a plan", mode = "plan" }
say = [{ tool = "plan_exit", input = { plan = "# The plan\n\n1. Do it." } }]

[[reply]]
when = { last_user = "shorter", mode = "plan" }
say = [{ tool = "plan_exit", input = { plan = "# The short plan" } }]

[[reply]]
when = { last_user = "Carry out the plan.", mode = "build" }
text = "It is done."

[[reply]]
when = { last_user = "slowly" }
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
pace_ms = 300

[[reply]]
when = { last_user = "too much" }
text = "An answer that is"
stop = "max_tokens"

[[reply]]
when = { last_user = "breaks" }
fault = { status = 401, message = "invalid key" }

[[reply]]
text = "You said {{last_user}}."
"##;

/// Types a line and presses Enter.
fn says<'a>(terminal: &'a mut Terminal, line: &str) -> &'a mut Terminal {
    terminal.presses(line).presses(ENTER)
}

#[test]
fn an_answer_streams_and_tools_are_a_line() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("/help").sees("worker build ›");
    says(&mut terminal, "read it").sees("test/scripted").sees("Let me look.").sees("… read_file notes.txt");
    terminal
        .sees("✓ read_file notes.txt (2 lines)")
        .sees("Found")
        .sees("The file says")
        .sees("worker build ›");
    // A backslash at the end continues a line.
    terminal.presses("first\\").presses(ENTER);
    says(&mut terminal, "second").sees("You said first").sees("second.").sees("worker build ›");
    says(&mut terminal, "/quit").sees("masque chat --session");
    assert_eq!(terminal.ends().0, 0);
    let session = rehearsed.session();
    contains(&rehearsed.ok(&["sessions", "export", &session]), &["first\nsecond", "Call of `read_file`"]);
    // The history recalls each typed line, and only its owner can read it.
    let history = rehearsed.home.path(".local/share/masque/chat_history");
    contains(&std::fs::read_to_string(&history).unwrap(), &["read it"]);
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›").presses("\x1b[A\x1b[A\x1b[A\x1b[A").presses(ENTER).sees("Let me look.");
    terminal.sees("worker build ›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn markdown_is_coloured() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut command = rehearsed.command(&["chat", "worker"]);
    command.env_remove("NO_COLOR");
    let mut terminal = Terminal::start(command);
    terminal.sees("›");
    says(&mut terminal, "read it").sees("\x1b[0;1mFound\x1b[0m").sees("\x1b[0;1mone\x1b[0m and two.");
    terminal.sees("›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn chat_asks_for_approval() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›");
    says(&mut terminal, "write it").sees("write_file needs your approval").sees("out.txt").sees("+ hello");
    says(terminal.sees("Allow it?"), "n too early").sees("✗ write_file out.txt").sees("Later, then.");
    assert!(!rehearsed.home.path("work/out.txt").exists());
    contains(&rehearsed.last_request()["messages"].to_string(), &["The user did not allow this: too early"]);
    says(terminal.sees("worker build ›"), "write it").sees("Allow it?");
    says(&mut terminal, "n").sees("As you wish.").sees("worker build ›");
    says(&mut terminal, "write it").sees("Allow it?");
    says(&mut terminal, "y").sees("✓ write_file out.txt").sees("Written.").sees("worker build ›");
    assert_eq!(rehearsed.home.read("work/out.txt"), "hello\n");
    // "Always" also covers the other call of the reply and later ones.
    says(&mut terminal, "write both").sees("Allow it?");
    says(&mut terminal, "a").sees("✓ write_file a.txt").sees("✓ write_file b.txt").sees("Written.");
    says(terminal.sees("worker build ›"), "write it").sees("✓ write_file out.txt").sees("worker build ›");
    terminal.presses(CONTROL_D);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0);
    assert_eq!(screen.matches("needs your approval").count(), 4, "{screen}");
}

#[test]
fn run_reports_refused_calls_of_a_delegate() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "let the other do it"]);
    contains(&answer.stderr, &["refused ", "delegate other", "--approve"]);
    contains(&answer.ok(), &["Nobody allowed it.", "Some calls were not run: they need approval"]);
}

#[test]
fn chat_asks_for_a_delegates_approval() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›");
    says(&mut terminal, "let the other do it").sees("write_file needs your approval").sees("theirs.txt");
    terminal.sees("Allow it?");
    // The question survives the process.
    terminal.dies();
    let id = rehearsed.session();
    let mut terminal = rehearsed.terminal(&["chat", "--session", &id]);
    terminal.sees("write_file needs your approval").sees("theirs.txt");
    says(terminal.sees("Allow it?"), "y").sees("✓ delegate other").sees("The other one says: Written.");
    terminal.sees("worker build ›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(rehearsed.home.read("work/theirs.txt"), "theirs\n");
}

#[test]
fn ctrl_c_at_a_question_stops_the_answer() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›");
    says(&mut terminal, "write both").sees("Allow it?").sees("with a reason]").presses(CONTROL_C);
    // The question is cleared from the screen.
    terminal.sees("\r\x1b[J").sees("✗ write_file a.txt").sees("stopped (cancelled)").sees("worker build ›");
    says(&mut terminal, "are you there?").sees("I am.").sees("worker build ›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
    assert!(!rehearsed.home.path("work/a.txt").exists());
}

#[test]
fn chat_resumes_a_waiting_session_after_a_crash() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›");
    says(&mut terminal, "write it").sees("Allow it?");
    terminal.dies();
    contains(&rehearsed.ok(&["sessions"]), &["write it", "waiting for approval"]);
    let id = rehearsed.session();
    contains(&rehearsed.ok(&["sessions", "show", &id]), &["needs approval"]);
    let mut terminal = rehearsed.terminal(&["sessions", "resume", &id[..13]]);
    says(terminal.sees("needs your approval").sees("Allow it?"), "y").sees("Written.");
    terminal.sees("worker build ›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(rehearsed.home.read("work/out.txt"), "hello\n");
}

#[test]
fn slash_commands_control_the_chat() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›");
    says(&mut terminal, "/mod").sees("did you mean /mode?").sees("›");
    says(&mut terminal, "/mode plan").sees("read-only tools").sees("worker plan ›");
    says(&mut terminal, "alpha").sees("You said alpha.").sees("›");
    assert!(!tools(&rehearsed.last_request()).contains(&"write_file".to_owned()));
    says(&mut terminal, "/mode build").sees("worker build ›");
    says(&mut terminal, "beta").sees("You said beta.").sees("›");
    assert!(tools(&rehearsed.last_request()).contains(&"write_file".to_owned()));
    says(&mut terminal, "/undo").sees("undone: beta\r\n").sees("Files are unchanged.\r\n").sees("›");
    says(&mut terminal, "A sentence.").sees("You said A sentence.").sees("›");
    says(&mut terminal, "/undo").sees("undone: A sentence.\r\n").sees("›");
    says(&mut terminal, "gamma").sees("You said gamma.").sees("›");
    let sent = rehearsed.last_request()["messages"].to_string();
    assert!(sent.contains("alpha") && !sent.contains("beta"), "{sent}");
    says(&mut terminal, "/history").sees("› alpha").sees("You said alpha.").sees("› gamma").sees("build ›");
    says(&mut terminal, "/persona nobody").sees("error: ").sees("worker build ›");
    says(&mut terminal, "/persona other").sees("continuing with other").sees("other build ›");
    says(&mut terminal, "delta").sees("You said delta.").sees("›");
    contains(&rehearsed.last_request()["messages"].to_string(), &["You are the other one.", "alpha"]);
    says(&mut terminal, "/model").sees("test/scripted answered last").sees("›");
    says(&mut terminal, "/model test/understudy").sees("using test/understudy").sees("›");
    says(&mut terminal, "epsilon").sees("You said epsilon.").sees("›");
    assert_eq!(rehearsed.last_request()["model"], "understudy");
    says(&mut terminal, "/model nowhere/x").sees("error: ").sees("nowhere").sees("›");
    says(&mut terminal, "/model").sees("test/understudy, your choice").sees("›");
    says(&mut terminal, "/model default").sees("the persona chooses the model").sees("›");
    says(&mut terminal, "zeta").sees("You said zeta.").sees("›");
    assert_eq!(rehearsed.last_request()["model"], "scripted");
    says(&mut terminal, "/plan").sees("No plan yet").sees("›");
    says(&mut terminal, "/help").sees("/undo").sees("›");
    says(&mut terminal, "/exit");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn ctrl_c_interrupts_an_answer_and_keeps_its_text() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›");
    says(&mut terminal, "slowly").sees("one").sees("two");
    terminal.interrupts().sees("stopped (cancelled)").sees("worker build ›");
    says(&mut terminal, "hi").sees("You said hi.").sees("›");
    contains(&rehearsed.last_request()["messages"].to_string(), &["slowly", "one two"]);
    // At the prompt, it takes two.
    terminal.presses(CONTROL_C).sees("Ctrl-C again").sees("›").presses(CONTROL_C);
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn chat_continues_after_a_failure() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker"]);
    terminal.sees("worker build ›");
    says(&mut terminal, "breaks").sees("error: ").sees("invalid key").sees("masque doctor").sees("(failed)");
    says(terminal.sees("›"), "too much").sees("An answer that is").sees("max_tokens").sees("›");
    says(&mut terminal, "hi").sees("You said hi.").sees("›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn chat_shows_a_plan_and_asks_for_a_decision() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut terminal = rehearsed.terminal(&["chat", "worker", "--plan"]);
    terminal.sees("worker plan ›");
    says(&mut terminal, "make a plan")
        .sees("# The plan")
        .sees("1. Do it.")
        .sees("What to do with this plan?");
    terminal.sees("Approve: ").sees("Keep planning").presses(DOWN).presses(ENTER);
    says(terminal.sees("What should be different?"), "shorter").sees("# The short plan");
    terminal
        .sees("What to do with this plan?")
        .sees("Keep planning")
        .presses(DOWN)
        .presses(DOWN)
        .presses(ENTER);
    terminal.sees("The plan is kept").sees("worker plan ›");
    says(&mut terminal, "/plan").sees("# The short plan").sees("/plan approve").sees("worker plan ›");
    says(&mut terminal, "/plan approve").sees("It is done.").sees("worker build ›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
    let plan = rehearsed.ok(&["plan", &rehearsed.session()]);
    assert_eq!(plan, "# The short plan\n");
}

#[test]
fn without_a_terminal_each_line_is_a_message() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run_with_input(&["chat", "worker"], "one\n\nwrite it\n/mode plan\ntwo\n");
    assert_eq!(answer.stdout, "You said one.\n\nNobody allowed it.\n\nYou said two.\n");
    contains(&answer.stderr, &["✗ write_file out.txt", "no user to ask", "plan mode"]);
    assert!(!answer.stderr.contains('\x1b') && !answer.stdout.contains('\x1b'));
    assert!(!rehearsed.home.path("work/out.txt").exists());
    let answer = rehearsed.run_with_input(&["chat", "worker"], "too much\n");
    assert_eq!((answer.code, answer.stdout.as_str()), (7, "An answer that is\n"));
    let answer = rehearsed.run_with_input(&["chat", "worker"], "/nonsense\nhi\n");
    contains(&answer.fails(2), &["unknown command /nonsense"]);
    rehearsed.refused("no_json", &["chat", "worker", "--json"]).offers("run");
    contains(&rehearsed.run_with_input(&["chat"], "hi\n").fails(2), &["missing argument NAME"]);
    // A chat without a message leaves no session.
    let before = rehearsed.ok(&["sessions", "--json"]);
    rehearsed.run_with_input(&["chat", "worker"], "\n").ok();
    assert_eq!(rehearsed.ok(&["sessions", "--json"]), before);
}

#[test]
fn the_rehearsal_introduces_itself_once() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["chat", "mentor"]).env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command);
    terminal.sees("mentor build ›");
    says(&mut terminal, "hello").sees("No model is configured").sees("Rehearsal: ").sees("mentor build ›");
    says(&mut terminal, "list the files").sees("✓ list_files").sees("mentor build ›").presses(CONTROL_D);
    let (code, screen) = terminal.ends();
    assert_eq!((code, screen.matches("No model is configured").count()), (0, 1), "{screen}");
}

#[test]
fn a_persona_is_chosen_from_a_list() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.ok(&["run", "worker", "are you there"]);
    let mut terminal = rehearsed.terminal(&["chat"]);
    // The names come first, although the text about another persona has "documentation".
    terminal.sees("Chat with which persona?").sees("worker").presses("ment").sees("mentor: ").presses(ENTER);
    terminal.sees("Chat with which persona? mentor\x1b[K").sees("mentor build ›").presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
    let mut terminal = rehearsed.terminal(&["chat"]);
    terminal.sees("Chat with which persona?").presses("other").sees("other").presses(ENTER);
    says(terminal.sees("other build ›"), "are you there").sees("I am.");
    terminal.presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
    // Esc and Ctrl-C say the same, and neither is an error.
    for (key, code) in [(ESCAPE, 1), (CONTROL_C, 130)] {
        let mut terminal = rehearsed.terminal(&["chat"]);
        terminal.sees("Chat with which persona?").presses(key);
        let (ended, screen) = terminal.ends();
        assert_eq!(ended, code, "{screen}");
        contains(&screen, &["cancelled; nothing was changed"]);
        assert!(!screen.contains("error"), "{screen}");
    }
    // Without a terminal there is no list.
    let refused = rehearsed.run_with_input(&["chat"], "hello\n").fails(2);
    contains(&refused, &["masque chat mentor"]);
}

#[test]
fn the_last_session_is_continued() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let nothing = rehearsed.run_with_input(&["chat", "--continue"], "hello\n").fails(3);
    contains(&nothing, &["masque chat NAME", "masque sessions"]);
    rehearsed.ok(&["run", "worker", "are you there"]);
    rehearsed.ok(&["run", "other", "are you there"]);
    let turns = |persona: &str| {
        let listed = rehearsed.ok(&["sessions", "--persona", persona, "--json"]);
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let sessions = listed["items"].as_array().unwrap().clone();
        assert_eq!(sessions.len(), 1, "{listed}");
        let shown = rehearsed.ok(&["sessions", "export", sessions[0]["id"].as_str().unwrap(), "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        shown["turns"].as_array().unwrap().len()
    };
    assert_eq!((turns("worker"), turns("other")), (2, 2));
    rehearsed.run_with_input(&["chat", "--continue"], "are you there\n").ok();
    assert_eq!((turns("worker"), turns("other")), (2, 4), "the last one");
    rehearsed.run_with_input(&["chat", "worker", "-c"], "are you there\n").ok();
    assert_eq!((turns("worker"), turns("other")), (4, 4), "the last one with the worker");
    // A session of another directory is another project's.
    std::fs::create_dir_all(rehearsed.home.path("elsewhere")).unwrap();
    rehearsed.home.run_in_with_input("elsewhere", &["chat", "--continue"], "x\n").fails(3);
}

#[test]
fn a_session_of_a_project_inside_is_not_continued() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.home.write("work/vendor/lib/personas.toml", "");
    rehearsed.ok(&["run", "worker", "outside"]);
    rehearsed.home.run_in("work/vendor/lib", &["run", "worker", "inside"]).ok();
    // The chat begins with the last message and its answer.
    let mut terminal = rehearsed.terminal(&["chat", "--continue"]);
    terminal.sees("2 turns so far").sees("› outside").sees("You said outside.").sees("worker build ›");
    terminal.presses(CONTROL_D);
    assert_eq!(terminal.ends().0, 0);
    let inside = rehearsed.home.run_in_with_input("work/vendor/lib", &["chat", "-c"], "are you there\n").ok();
    assert_eq!(inside, "I am.\n");
    contains(&rehearsed.last_request()["messages"].to_string(), &["inside"]);
}

#[test]
fn a_session_may_have_other_parts() {
    let rehearsed = Rehearsed::new(SCRIPT);
    rehearsed.ok(&["create", "part", "dry", "--part-type", "tone", "--content", "Be very dry."]);
    let system = || rehearsed.last_request()["messages"][0].to_string();
    rehearsed.ok(&["run", "worker", "are you there", "--override", "tone=dry"]);
    contains(&system(), &["Be very dry."]);
    rehearsed.run_with_input(&["chat", "worker", "--override", "tone=dry"], "are you there\n").ok();
    contains(&system(), &["Be very dry."]);
    let twice = ["run", "worker", "x", "--override", "tone=dry", "--override", "tone=plain-tone"];
    rehearsed.refused("named_twice", &twice);
    rehearsed.refused(
        "conflicting_fields",
        &["run", "worker", "x", "--session", "4f9c1e", "--override", "tone=dry"],
    );
    rehearsed.refused("conflicting_fields", &["chat", "worker", "-c", "--override", "tone=dry"]);
    rehearsed.refused("unknown_override", &["run", "worker", "x", "--override", "tone=wet"]);
}
