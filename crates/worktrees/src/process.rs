//! The processes of a started program, and their end.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::limits;

/// The variable by which processes of a command are found again, whatever group they moved to.
pub(crate) const MARK: &str = "MASQUE_WORKTREE";

/// A process group. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// The group that a child leads.
    pub(crate) fn of(child: &tokio::process::Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// Kills what is alive. Returns true if there was anything.
    pub(crate) fn kill(&self) -> bool {
        self.0.is_some_and(|leader| kill_process_group(leader, Signal::KILL).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills every process that bears the mark, until none is left. Returns true if there was any.
pub(crate) fn kill_marked(mark: &str) -> bool {
    let mut found = false;
    for _ in 0..limits::KILL_ROUNDS {
        let marked = marked(mark);
        if marked.is_empty() {
            break;
        }
        found = true;
        for handle in marked {
            end(handle);
        }
        // Their children, just being started, are seen in the next round.
        std::thread::sleep(limits::KILL_PAUSE);
    }
    found
}

/// The number of living processes that bear the mark.
pub(crate) fn count_marked(mark: &str) -> usize {
    marked(mark).len()
}

/// True if a process other than this one has its working directory in a directory. `None` if the system
/// does not show that.
#[cfg(target_os = "linux")]
pub(crate) fn works_in(directory: &Path) -> Option<bool> {
    let own = std::process::id().to_string();
    let mut others = std::fs::read_dir("/proc").ok()?.flatten().filter(|it| it.file_name() != own.as_str());
    Some(others.any(|it| std::fs::read_link(it.path().join("cwd")).is_ok_and(|at| at.starts_with(directory))))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn works_in(_directory: &Path) -> Option<bool> {
    None
}

#[cfg(target_os = "linux")]
type Handle = std::os::fd::OwnedFd;
#[cfg(not(target_os = "linux"))]
type Handle = std::convert::Infallible;

#[cfg(target_os = "linux")]
fn end(handle: Handle) {
    // The process may end by itself just now.
    let _ = rustix::process::pidfd_send_signal(handle, Signal::KILL);
}

#[cfg(not(target_os = "linux"))]
fn end(handle: Handle) {
    match handle {}
}

#[cfg(target_os = "linux")]
fn marked(mark: &str) -> Vec<Handle> {
    use rustix::process::{PidfdFlags, pidfd_open};

    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let bears_mark = |pid: Pid| {
        // Take the handle first: the number cannot pass to another process meanwhile.
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
        let is_marked = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        is_marked.then_some(handle)
    };
    ids.filter_map(Pid::from_raw).filter_map(bears_mark).collect()
}

/// Only Linux shows environments. Elsewhere the process group has to do.
#[cfg(not(target_os = "linux"))]
fn marked(_mark: &str) -> Vec<Handle> {
    Vec::new()
}
