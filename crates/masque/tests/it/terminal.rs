//! A terminal with a user, who reads the screen and presses keys.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

mod grid;

/// The longest wait on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const ENTER: &str = "\r";
pub(crate) const DOWN: &str = "\x1b[B";
pub(crate) const ESCAPE: &str = "\x1b";
pub(crate) const CONTROL_C: &str = "\x03";
pub(crate) const CONTROL_D: &str = "\x04";

pub(crate) struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
    /// The length of the screen that was already matched.
    seen: usize,
    /// Rows and columns.
    size: (usize, usize),
}

impl Terminal {
    /// Starts a program whose input and output are a new terminal.
    pub(crate) fn start(command: Command) -> Self {
        Self::sized(command, 40, 120)
    }

    /// The same on a terminal of another size.
    pub(crate) fn sized(mut command: Command, rows: u16, columns: u16) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&ours, size).unwrap();
        let path = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = OpenOptions::new().read(true).write(true).open(path).unwrap();
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.env("TERM", "xterm").spawn().unwrap();
        // The command still holds the other end. Dropping it makes the end of the program visible.
        drop(command);
        let keys = File::from(ours);
        let screen = Arc::new(Mutex::new(String::new()));
        let reader = std::thread::spawn({
            let (mut ours, screen) = (keys.try_clone().unwrap(), Arc::clone(&screen));
            move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = ours.read(&mut bytes) {
                    screen.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
                }
            }
        });
        let size = (usize::from(rows), usize::from(columns));
        Self { child, keys, screen, reader, seen: 0, size }
    }

    /// Waits until a text appears after the last match.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(at) = screen[self.seen..].find(text) {
                self.seen += at + text.len();
                return self;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("{text:?} did not appear in:\n{screen}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a program of the whole screen shows a text in one of its rows.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let written = self.screen.lock().unwrap().clone();
            let rows = grid::shown(&written, self.size.0, self.size.1);
            if rows.iter().any(|row| row.contains(text)) {
                return self;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("{text:?} is not shown on:\n{}", rows.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Our end of the terminal, whose settings outlast the program.
    pub(crate) fn device(&self) -> File {
        self.keys.try_clone().unwrap()
    }

    pub(crate) fn presses(&mut self, keys: &str) -> &mut Self {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Sends the signal of Ctrl-C.
    pub(crate) fn interrupts(&mut self) -> &mut Self {
        self.asks(rustix::process::Signal::INT)
    }

    /// Asks the program to stop.
    pub(crate) fn asks(&mut self, signal: rustix::process::Signal) -> &mut Self {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
        self
    }

    /// Kills the program, like a power failure.
    pub(crate) fn dies(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end. Returns the exit code and the whole screen.
    pub(crate) fn ends(mut self) -> (i32, String) {
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("it does not end:\n{}", self.screen.lock().unwrap());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        self.reader.join().unwrap();
        let screen = self.screen.lock().unwrap().clone();
        (code, screen)
    }
}
