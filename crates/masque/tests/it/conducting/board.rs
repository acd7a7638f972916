//! The live board, on a terminal.

use rustix::termios::{LocalModes, tcgetattr};
use serde_json::{Value, json};

use super::site::{Site, adds, ask, calls, done, states, then, ticket, write_file};
use crate::home::contains;
use crate::terminal::{CONTROL_C, DOWN, ENTER, Terminal};

/// The sequences that enter and leave the other screen.
const ENTERS: &str = "\x1b[?1049h";
const LEAVES: &str = "\x1b[?1049l";

/// Waits for the end. The terminal is as it was before, and shows what comes after the board.
#[track_caller]
fn ends(terminal: Terminal) -> (i32, String) {
    let device = terminal.device();
    let (code, screen) = terminal.ends();
    assert!(screen.contains(ENTERS), "{screen}");
    let (_, after) = screen.rsplit_once(LEAVES).unwrap_or_else(|| panic!("it is still there: {screen}"));
    let modes = tcgetattr(&device).unwrap().local_modes;
    assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON), "{modes:?}");
    (code, after.to_owned())
}

#[test]
fn the_board_shows_the_tickets_until_the_user_leaves() {
    let site = Site::new(&[calls("worker", "# T1:", &[ask("Which name?")]), adds("T2")]);
    site.write_track(&json!({ "tickets": [ticket("T1", &[]), ticket("T2", &["T1"])] }));
    let mut terminal = site.terminal(&["conduct"]);
    // What the worker asks, and what waits for it.
    terminal.shows("Needs you (1)").shows("asks: Which name?").shows("Blocked (1)");
    terminal.shows("T1 ").shows("needs input").shows("Say T2").shows("code_worker").shows("waiting for you");
    terminal.presses(DOWN).shows("waits for T1");
    terminal.presses("q");
    let (code, after) = ends(terminal);
    assert_eq!(code, 7, "{after}");
    contains(&after, &["T1 asks: Which name?", "masque conduct answer ", "masque conduct --resume "]);
    assert_eq!(site.rehearsed.requests().len(), 2);
    // The track is there, and nobody works it.
    let board = site.json(&["conduct", "list"])["items"][0].clone();
    assert_eq!(board["phase"], "waiting");
}

#[test]
fn questions_results_and_calls_are_decided_by_keys() {
    let site = Site::new(&[
        calls("worker", "# T1:", &[write_file("src/more", "m\n"), ask("Which name?")]),
        calls("worker", "Name it more.", &[("run_command", json!({ "command": "echo more > src/more" }))]),
        then("worker", "Name it more.", "run_command", &[done("I named it.")]),
        calls("worker", "Twice.", &[write_file("src/more", "more\nmore\n"), done("I said it twice.")]),
    ]);
    let mut track = super::site::track(&json!({}));
    track.as_object_mut().unwrap().remove("check");
    site.write("track.toml", &toml::to_string(&track).unwrap());
    let mut terminal = site.terminal(&["conduct"]);
    terminal.shows("asks: Which name?");
    terminal
        .presses("a")
        .shows("Answer to T1:")
        .presses("Name it more.")
        .shows("Name it more.")
        .presses(ENTER);
    // A call that needs permission: it is shown before anybody allows it.
    terminal.shows("waits for permission to call run_command");
    terminal.presses("a").shows("echo more > src/more").shows("Allow run_command?").presses("y");
    terminal.shows("has no check");
    terminal.presses("n").shows("What is wrong with T1:").presses("Twice.").shows("Twice.").presses(ENTER);
    terminal.shows("attempt 2, session").shows("Needs you (1)");
    terminal.presses("a").shows("Accept the result of T1 as it is?").presses("y");
    // The end of the track is the end of the board.
    let (code, after) = ends(terminal);
    assert_eq!(code, 0, "{after}");
    contains(&after, &["finished: 1 completed", "masque conduct merge "]);
    let id = site.json(&["conduct", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    let board: Value = site.board(&id);
    assert_eq!(states(&board), "T1 merged");
    assert_eq!(site.merged_file(&board, "src/more"), "more\nmore\n");
}

#[test]
fn the_board_pauses_and_ends_by_a_signal() {
    let site = Site::new(&[calls("worker", "# T1:", &[ask("Which name?")])]);
    site.write_track(&json!({}));
    let mut terminal = site.terminal(&["conduct"]);
    terminal.shows("asks: Which name?").presses("p").shows("p: resume").presses("p").shows("p: pause");
    terminal.presses(CONTROL_C);
    let (code, after) = ends(terminal);
    assert_eq!(code, 130, "{after}");

    // Killed from outside, it tidies up too.
    let mut terminal = site.terminal(&["conduct", "--resume"]);
    terminal.shows("asks: Which name?").asks(rustix::process::Signal::TERM);
    assert_eq!(ends(terminal).0, 143);
}
