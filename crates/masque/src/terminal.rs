//! The terminal that somebody types on.

#[cfg(unix)]
use std::io::Write as _;
#[cfg(unix)]
use std::sync::OnceLock;

#[cfg(unix)]
use rustix::termios::{self, OptionalActions, QueueSelector, Termios};

/// Shows the cursor, and ends the way in which pasted text is marked while a line is read.
#[cfg(unix)]
const AS_BEFORE: &[u8] = b"\x1b[?25h\x1b[?2004l\r\n";

/// The terminal as it was before a line or an answer was first read from it.
#[cfg(unix)]
static BEFORE: OnceLock<Option<Termios>> = OnceLock::new();

/// Notes how the terminal is, before something reads single keys from it.
#[cfg(unix)]
pub(crate) fn remember() {
    BEFORE.get_or_init(|| termios::tcgetattr(std::io::stdin()).ok());
}

/// Puts the terminal back to how it was. Whoever read from it may not come to do so where the
/// process is asked to end.
#[cfg(unix)]
pub(crate) fn restore() {
    let Some(Some(before)) = BEFORE.get() else { return };
    let stdin = std::io::stdin();
    let is_same = termios::tcgetattr(&stdin).is_ok_and(|now| now.local_modes == before.local_modes);
    // A process in the background that changes the terminal is stopped, and would not end.
    let is_ours = termios::tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp());
    if is_same || !is_ours {
        return;
    }
    if termios::tcsetattr(&stdin, OptionalActions::Now, before).is_ok() {
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(AS_BEFORE).and_then(|()| stderr.flush());
    }
}

/// Forgets what was typed and not read: it was meant for what stood there before.
#[cfg(unix)]
pub(crate) fn forget_typed() {
    let _ = termios::tcflush(std::io::stdin(), QueueSelector::IFlush);
}

#[cfg(not(unix))]
pub(crate) fn remember() {}

#[cfg(not(unix))]
pub(crate) fn restore() {}

#[cfg(not(unix))]
pub(crate) fn forget_typed() {}
