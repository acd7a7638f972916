//! The pager for output that is longer than the screen.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// Variables that name the pager, the first first.
const VARIABLES: [&str; 2] = ["MASQUE_PAGER", "PAGER"];
/// The pager if none is named: quits if the output fits, passes colors, leaves the text on the screen.
const FALLBACK: &str = "less -FRX";
/// The options that `less` takes from the environment, unless the user has set some.
const LESS: &str = "FRX";

/// Holds output back until it is longer than the screen, then sends it to the pager.
#[derive(Debug)]
pub(super) struct Pager {
    command: Vec<String>,
    rows: usize,
    columns: usize,
    /// Rows of the screen that the held text fills.
    filled: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    Held(Vec<u8>),
    Paging(Process),
}

/// A running pager.
#[derive(Debug)]
struct Process {
    child: Child,
    /// Ctrl-C belongs to the pager while it is open.
    #[cfg(unix)]
    _interrupts: Option<tokio::signal::unix::Signal>,
}

impl Pager {
    /// The user's pager. None without a terminal of a known size, or if the user wants none.
    pub(super) fn find() -> Option<Self> {
        let (columns, rows) = terminal_size::terminal_size_of(io::stdout())?;
        let command = command(VARIABLES.into_iter().find_map(|name| std::env::var(name).ok()), is_on_path)?;
        let (columns, rows) = (usize::from(columns.0).max(1), usize::from(rows.0));
        Some(Self { command, rows, columns, filled: 0, state: State::Held(Vec::new()) })
    }

    /// Writes to the pager, once the text is longer than the screen.
    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.state {
            State::Paging(process) => process.write(text),
            State::Held(held) => {
                held.extend_from_slice(text);
                let lines = text.split_inclusive(|byte| *byte == b'\n');
                self.filled += lines.map(|line| line.len().div_ceil(self.columns)).sum::<usize>();
                // The prompt of the shell takes a row, too.
                if self.filled < self.rows { Ok(()) } else { self.open() }
            }
        }
    }

    /// Starts the pager with the held text. Without a pager, the text goes to standard output.
    fn open(&mut self) -> io::Result<()> {
        let State::Held(held) = &mut self.state else { return Ok(()) };
        let held = std::mem::take(held);
        match Process::start(&self.command) {
            Ok(mut process) => {
                let written = process.write(&held);
                self.state = State::Paging(process);
                written
            }
            Err(_) => {
                // Never fills the screen again: what follows is written with the next rows.
                self.filled = 0;
                io::stdout().write_all(&held)
            }
        }
    }

    /// Writes what is held, or waits until the user closes the pager.
    pub(super) fn finish(self) -> io::Result<()> {
        match self.state {
            State::Held(held) => {
                let mut stdout = io::stdout();
                stdout.write_all(&held)?;
                stdout.flush()
            }
            State::Paging(mut process) => {
                drop(process.child.stdin.take());
                process.child.wait().map(drop)
            }
        }
    }
}

impl Process {
    fn start(command: &[String]) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut pager = Command::new(program);
        pager.args(arguments).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            pager.env("LESS", LESS);
        }
        Ok(Self {
            child: pager.spawn()?,
            #[cfg(unix)]
            _interrupts: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok(),
        })
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.child.stdin {
            Some(stdin) => stdin.write_all(text),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// The command of the pager. None if the user wants none, or has none.
fn command(named: Option<String>, is_there: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    match named {
        Some(named) => {
            let words = shlex::split(&named)?;
            let is_none = words.first().is_none_or(|program| program.is_empty() || program == "cat");
            (!is_none).then_some(words)
        }
        None => {
            let words: Vec<String> = FALLBACK.split(' ').map(str::to_owned).collect();
            words.first().is_some_and(|program| is_there(program)).then_some(words)
        }
    }
}

/// True if a program of this name is on the PATH.
fn is_on_path(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::command;

    #[track_caller]
    fn check(named: Option<&str>, has_less: bool, expected: Option<&str>) {
        let found = command(named.map(str::to_owned), |_| has_less);
        assert_eq!(found.map(|words| words.join(" ")).as_deref(), expected, "{named:?}");
    }

    #[test]
    fn the_user_chooses_the_pager() {
        check(Some("bat --plain"), false, Some("bat --plain"));
        check(Some("'my pager' -x"), false, Some("my pager -x"));
        check(None, true, Some("less -FRX"));
    }

    #[test]
    fn there_may_be_no_pager() {
        for none in ["", "  ", "cat", "cat -v", "'"] {
            check(Some(none), true, None);
        }
        check(None, false, None);
    }
}
