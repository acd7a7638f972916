//! A process between Masque and a command, from which nothing that the command starts escapes.
//!
//! On Linux an orphan goes to the nearest ancestor that adopts orphans. The keeper does, and does
//! little else: it starts the command, and when the command ends, or Masque releases it or dies, it
//! kills every descendant, however independent. Masque cannot adopt orphans itself: it would get
//! those of all its programs, and could not tell them apart.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ExitCode};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper, wait,
};

use crate::process::KeeperReport;

/// The first argument of a program that is to be a keeper; the second is the command line.
const KEEP: &str = "__keep";
/// The exit code of a shell that cannot start a command.
const NOT_STARTED: u8 = 127;
/// The pause before looking for survivors again.
const AGAIN: Duration = Duration::from_millis(5);
/// How long killed processes may take to be gone.
const PATIENCE: Duration = Duration::from_millis(500);

/// A command that starts `program`, which calls [`kept_command`] and [`keep`] before anything else.
pub(crate) fn command(program: &Path, line: &str) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    command.arg0("masque").arg(KEEP).arg(line);
    command
}

/// The command line to [`keep`], if that is what a program was started for.
pub fn kept_command(arguments: impl IntoIterator<Item = OsString>) -> Option<OsString> {
    let mut arguments = arguments.into_iter().skip(1);
    let is_keeper = arguments.next().is_some_and(|first| first == KEEP);
    arguments.next().filter(|_| is_keeper)
}

/// Runs a command line with sh. Ends with it and with everything that it started, or when standard
/// input ends because Masque has gone. Standard input is a socket and gets the report.
pub fn keep(line: &OsStr) -> ExitCode {
    let orphans = set_child_subreaper(Some(getpid()));
    let mut command = std::process::Command::new("sh");
    // A group of its own: a command may well kill its group.
    command.arg("-c").arg(line).stdin(std::process::Stdio::null()).process_group(0);
    let started = orphans.map_err(io::Error::from).and_then(|()| command.spawn());
    let child = match started {
        Ok(child) => child,
        Err(error) => {
            let _ = writeln!(io::stderr(), "the command could not be started: {error}");
            return ExitCode::from(NOT_STARTED);
        }
    };
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        loop {
            kill_below();
            std::thread::sleep(AGAIN);
        }
    });
    let status = status_of(&child);
    let left_over = kill_below();
    bury();
    report(status.unwrap_or_default(), left_over);
    ExitCode::SUCCESS
}

/// Waits for the killed processes, but not for long: those of another user cannot be killed.
fn bury() {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Err(Errno::CHILD) => return,
            _ if Instant::now() >= deadline => return,
            _ => {
                kill_below();
                std::thread::sleep(AGAIN);
            }
        }
    }
}

fn report(status: i32, left_over: bool) {
    let stdin = io::stdin();
    let Ok(socket) = rustix::io::dup(&stdin) else { return };
    let _ = std::os::unix::net::UnixStream::from(socket)
        .write_all(&KeeperReport { status, left_over }.to_bytes());
}

/// Waits for the command itself, and reaps orphans that die before it.
fn status_of(child: &Child) -> Option<i32> {
    let child = Pid::from_child(child);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == child => return Some(status.as_raw()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Kills every descendant. Returns true if one was alive.
fn kill_below() -> bool {
    let parents = parents();
    let keeper = getpid().as_raw_nonzero().get();
    let is_below = |id: i32| {
        let mut above = parents.get(&id);
        // Process numbers change while they are read: there may be a cycle.
        for _ in 0..parents.len() {
            match above {
                Some(parent) if *parent == keeper => return true,
                Some(parent) => above = parents.get(parent),
                None => return false,
            }
        }
        false
    };
    parents.iter().filter(|(id, parent)| is_below(**id) && kill(**id, **parent)).count() > 0
}

fn kill(id: i32, parent: i32) -> bool {
    let Some(pid) = Pid::from_raw(id) else { return false };
    // Take the handle first: the number cannot pass to another process meanwhile.
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    parent_of(id) == Some(parent) && pidfd_send_signal(handle, Signal::KILL).is_ok()
}

/// Every process that is alive, with its parent.
fn parents() -> BTreeMap<i32, i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Some((id, parent_of(id)?))).collect()
}

/// None for a zombie.
fn parent_of(id: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in brackets, may hold anything, brackets included.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let is_dead = matches!(fields.next()?, "Z" | "X");
    fields.next()?.parse().ok().filter(|_| !is_dead)
}
