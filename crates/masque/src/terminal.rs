//! Terminal modes: saving, restoring, discarding input.

#[cfg(unix)]
use std::io::Write as _;
#[cfg(unix)]
use std::sync::OnceLock;

#[cfg(unix)]
use rustix::termios::{self, OptionalActions, QueueSelector, Termios};

/// Shows the cursor and turns off bracketed paste.
#[cfg(unix)]
const RESET: &[u8] = b"\x1b[?25h\x1b[?2004l\r\n";

/// The terminal's mode before the first prompt.
#[cfg(unix)]
static SAVED: OnceLock<Option<Termios>> = OnceLock::new();

/// Saves the terminal's mode before a prompt changes it.
#[cfg(unix)]
pub(crate) fn save() {
    SAVED.get_or_init(|| termios::tcgetattr(std::io::stdin()).ok());
}

/// Restores the terminal's mode, which an interrupted prompt leaves changed.
#[cfg(unix)]
pub(crate) fn restore() {
    let Some(Some(before)) = SAVED.get() else { return };
    let stdin = std::io::stdin();
    let is_same = termios::tcgetattr(&stdin).is_ok_and(|now| now.local_modes == before.local_modes);
    // The system stops a background process that changes the terminal.
    let is_ours = termios::tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp());
    if is_same || !is_ours {
        return;
    }
    if termios::tcsetattr(&stdin, OptionalActions::Now, before).is_ok() {
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(RESET).and_then(|()| stderr.flush());
    }
}

/// Discards unread input, which was typed before the prompt.
#[cfg(unix)]
pub(crate) fn discard_input() {
    let _ = termios::tcflush(std::io::stdin(), QueueSelector::IFlush);
}

#[cfg(not(unix))]
pub(crate) fn save() {}

#[cfg(not(unix))]
pub(crate) fn restore() {}

#[cfg(not(unix))]
pub(crate) fn discard_input() {}
