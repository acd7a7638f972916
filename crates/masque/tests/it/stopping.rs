//! A process that is asked to end stops its runs: nothing is lost, and no child process stays.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::home::{Home, contains};
use crate::rehearsed::Rehearsed;
use crate::terminal::{CONTROL_D, ENTER};

const SCRIPT: &str = r##"
[[reply]]
when = { last_user = "run it" }
say = [
  { text = "I run it." },
  { tool = "run_command", input = { command = "echo $$ > pid.new; mv pid.new pid; sleep 600; echo done" } },
]

[[reply]]
when = { tool_result_of = "run_command" }
text = "{{tool_result}}"

[[reply]]
when = { last_user = "get away" }
say = [{ tool = "run_command", input = { command = """
env -i setsid -f /bin/sh -c 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 600' > /dev/null 2>&1
while ! test -e daemon; do sleep 0.01; done
echo started; exit 3""" } }]

[[reply]]
when = { last_user = "write it" }
say = [{ tool = "write_file", input = { path = "out.txt", content = "hello\n" } }]

[[reply]]
when = { tool_result_of = "write_file" }
text = "Written."

[[reply]]
when = { last_user = "slowly" }
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
pace_ms = 300

[[reply]]
when = { last_user = "go on now" }
text = "I go on."

[[reply]]
when = { last_user = "for long" }
text = "one two three four"
pace_ms = 10000

[[reply]]
text = "You said {{last_user}}."
"##;

const SIGNALS: [(Signal, i32); 3] = [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)];
/// The longest wait on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ask(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[track_caller]
fn ends(child: &mut Child) -> i32 {
    until("it does not end", || child.try_wait().unwrap().is_some());
    child.wait().unwrap().code().unwrap_or(-1)
}

/// True if the process whose id is in a file exists.
fn lives(file: &Path) -> bool {
    let number: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    test_kill_process(Pid::from_raw(number).unwrap()).is_ok()
}

fn status(rehearsed: &Rehearsed, id: &str) -> Value {
    serde_json::from_str(&rehearsed.ok(&["sessions", "show", id, "--json"])).unwrap()
}

#[test]
fn a_command_ends_with_its_run_and_the_call_has_a_result() {
    for (signal, code) in SIGNALS {
        let rehearsed = Rehearsed::new(SCRIPT);
        let mut command = rehearsed.command(&["run", "worker", "run it", "--approve", "all"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = rehearsed.home.path("work/pid");
        until("the command did not start", || pid.exists());
        assert!(lives(&pid));
        ask(&child, signal);
        assert_eq!(ends(&mut child), code, "{signal:?}");
        until("the command lives on", || !lives(&pid));
        let answer = crate::home::CommandOutput::of(child.wait_with_output().unwrap());
        assert_eq!(answer.stdout, "I run it.\n", "{answer:?}");
        contains(&answer.stderr, &["✗ run_command", "stopped (cancelled)"]);
        let session = status(&rehearsed, &rehearsed.session());
        assert_eq!(session["status"], "idle", "{signal:?}: {session:#}");
        let types: Vec<&str> =
            session["turns"].as_array().unwrap().iter().map(|turn| turn["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["user", "assistant_text", "tool_call", "tool_result"], "{signal:?}");
    }
}

/// A program that leaves its process group, session and environment is still found.
#[cfg(target_os = "linux")]
#[test]
fn no_child_outlives_a_command() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let answer = rehearsed.run(&["run", "worker", "get away", "--approve", "all"]);
    contains(&answer.stdout, &["exit code 3 (", "started"]);
    assert!(!lives(&rehearsed.home.path("work/daemon")));
}

/// Only its keeper is left to end it.
#[cfg(target_os = "linux")]
#[test]
fn a_command_ends_when_its_process_is_killed() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut command = rehearsed.command(&["run", "worker", "run it", "--approve", "all"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = rehearsed.home.path("work/pid");
    until("the command did not start", || pid.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    until("the command lives on", || !lives(&pid));
}

#[test]
fn a_stopped_run_keeps_its_text_and_records_its_end() {
    for (signal, code) in SIGNALS {
        let rehearsed = Rehearsed::new(SCRIPT);
        let mut command = rehearsed.command(&["run", "worker", "slowly", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("text_delta")));
        ask(&child, signal);
        let last = lines.last().unwrap();
        assert_eq!(ends(&mut child), code, "{signal:?}");
        contains(&last, &["\"done\"", "\"cancelled\""]);
        contains(&rehearsed.ok(&["sessions", "export", &rehearsed.session()]), &["slowly", "one"]);
    }
}

#[test]
fn a_chat_ends_at_its_prompt_and_in_the_middle_of_an_answer() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let rehearsed = Rehearsed::new(SCRIPT);
        let mut terminal = rehearsed.terminal(&["chat", "worker"]);
        terminal.sees("worker build ›").presses("slowly").presses(ENTER).sees("one").sees("two");
        terminal.asks(signal);
        let (ended, screen) = terminal.ends();
        assert_eq!(ended, code, "{screen}");
        assert_eq!(screen.contains("masque chat --session"), signal == Signal::TERM, "{screen}");
        let id = rehearsed.session();
        assert_eq!(status(&rehearsed, &id)["status"], "idle");
        contains(&rehearsed.ok(&["sessions", "export", &id]), &["slowly", "one two"]);

        let mut terminal = rehearsed.terminal(&["chat", "--session", &id]);
        terminal.sees("2 turns so far").sees("worker build ›").asks(signal);
        assert_eq!(terminal.ends().0, code);
        // A session without a message is not stored.
        let mut terminal = rehearsed.terminal(&["chat", "worker"]);
        terminal.sees("worker build ›").asks(signal);
        assert_eq!(terminal.ends().0, code);
        assert_eq!(rehearsed.session(), id);
    }
}

#[test]
fn a_question_waits_when_the_terminal_is_closed() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let rehearsed = Rehearsed::new(SCRIPT);
        let mut terminal = rehearsed.terminal(&["chat", "worker"]);
        terminal.sees("worker build ›").presses("write it").presses(ENTER).sees("Allow it?").asks(signal);
        assert_eq!(terminal.ends().0, code);
        let id = rehearsed.session();
        assert_eq!(status(&rehearsed, &id)["status"], "waiting");
        // Keys typed before the question do not answer it.
        let mut terminal = rehearsed.terminal(&["sessions", "resume", &id]);
        terminal.presses("y").presses(ENTER).sees("Waiting for your approval").sees("Allow it?");
        std::thread::sleep(Duration::from_millis(300));
        assert!(!rehearsed.home.path("work/out.txt").exists());
        terminal.presses("y").presses(ENTER).sees("Written.").sees("worker build ›").presses(CONTROL_D);
        assert_eq!(terminal.ends().0, 0);
        assert_eq!(rehearsed.home.read("work/out.txt"), "hello\n");
    }
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let config = rehearsed.home.read(".config/masque/config.toml");
    // A server that never answers delays the message.
    let slow = "\n[mcp_servers.slow]\ncommand = \"sleep\"\nargs = [\"600\"]\n";
    rehearsed.home.write(".config/masque/config.toml", &format!("{config}{slow}"));
    let mut command = rehearsed.command(&["run", "worker", "hi", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("sessionId")));
    ask(&child, Signal::TERM);
    // A shell and `timeout` repeat the signal; that counts as one.
    std::thread::sleep(Duration::from_millis(100));
    ask(&child, Signal::TERM);
    std::thread::sleep(Duration::from_millis(900));
    assert!(child.try_wait().unwrap().is_none(), "it waits until the message is sent");
    ask(&child, Signal::TERM);
    assert_eq!(ends(&mut child), 143);
}

/// Also in the list, by a process that has never seen the other one.
#[test]
fn the_session_of_a_killed_process_is_free_at_once() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut child = answering(&rehearsed);
    child.kill().unwrap();
    child.wait().unwrap();
    let id = rehearsed.session();
    assert_eq!(status(&rehearsed, &id)["status"], "idle");
    let answer = rehearsed.run(&["run", "worker", "go on now", "--session", &id]);
    assert!(!answer.stderr.contains("Another process runs this session"), "{}", answer.stderr);
    assert_eq!(answer.ok(), "I go on.\n");
}

/// Without its lock file, only time shows that a process is gone.
#[test]
fn a_command_waits_for_a_process_that_may_be_dead() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut child = answering(&rehearsed);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_dir_all(rehearsed.home.path(".local/share/masque/masque.db-nodes")).unwrap();
    let answer = rehearsed.run(&["run", "worker", "go on now", "--session", &rehearsed.session()]);
    contains(&answer.stderr, &["Another process runs this session", "waiting up to 15 s"]);
    assert_eq!(answer.ok(), "I go on.\n");
}

#[test]
fn a_run_of_another_process_can_be_cancelled() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let mut child = answering(&rehearsed);
    let id = rehearsed.session();
    let busy = rehearsed.refused("not_sent", &["run", "worker", "hi", "--session", &id]);
    assert_eq!(busy.0["remedies"][1]["command"], format!("masque sessions cancel {id}"));
    contains(&rehearsed.ok(&["sessions", "cancel", &id]), &["cancelled", &id]);
    assert_eq!(ends(&mut child), 130);
}

/// A process in the middle of a slow answer.
fn answering(rehearsed: &Rehearsed) -> Child {
    let mut command = rehearsed.command(&["run", "worker", "for long", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("text_delta")));
    // It must not end because of a closed pipe.
    std::thread::spawn(move || lines.count());
    child
}

#[test]
fn a_server_stops_when_its_terminal_closes_except_under_nohup() {
    let home = Home::new();
    let start = |mut command: Command| {
        command.args(["--addr", "127.0.0.1:0", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        contains(&line, &["mcp_url"]);
        child
    };
    let mut command = home.command();
    command.arg("serve");
    let mut child = start(command);
    ask(&child, Signal::HUP);
    assert_eq!(ends(&mut child), 0);

    let masque = home.command();
    let mut command = Command::new("nohup");
    command.env_clear().envs(masque.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(home.path("")).stdin(Stdio::null()).arg(masque.get_program()).arg("serve");
    let mut child = start(command);
    ask(&child, Signal::HUP);
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it was started to outlive its terminal");
    ask(&child, Signal::TERM);
    assert_eq!(ends(&mut child), 0);
}
