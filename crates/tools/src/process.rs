//! Starts programs and leaves nothing of them behind.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::Command;

use crate::limits;

/// Marks every process that descends from a program, whatever group or session it moves to.
const MARK: &str = "MASQUE_PROCESS";

/// A program and everything that it started. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct Family {
    leader: Option<Pid>,
    mark: String,
    /// The connection to a keeper, which kills everything when this is closed.
    keeper: Option<UnixStream>,
}

/// A keeper's report, when everything has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeeperReport {
    /// The command's exit status.
    pub(crate) status: i32,
    /// True if the keeper had to kill processes after the command had ended.
    pub(crate) left_over: bool,
}

impl KeeperReport {
    const BYTES: usize = 5;

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let [a, b, c, d] = self.status.to_le_bytes();
        [a, b, c, d, u8::from(self.left_over)]
    }

    fn of_bytes([a, b, c, d, left_over]: [u8; Self::BYTES]) -> Self {
        Self { status: i32::from_le_bytes([a, b, c, d]), left_over: left_over != 0 }
    }
}

impl Family {
    /// Starts the command as the leader of a new session. Waiting for the returned program does not wait
    /// for its descendants.
    pub(crate) fn spawn(mut command: Command) -> io::Result<(Self, Box<dyn ChildWrapper>)> {
        let mark = uuid::Uuid::now_v7().simple().to_string();
        command.env(MARK, &mark);
        let mut command = CommandWrap::from(command);
        command.wrap(ProcessSession);
        let child = command.spawn()?.into_inner();
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok((Self { leader, mark, keeper: None }, child))
    }

    /// The same for a command below a keeper, which no process escapes.
    pub(crate) fn spawn_kept(mut keeper: Command) -> io::Result<(Self, Box<dyn ChildWrapper>)> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        keeper.stdin(OwnedFd::from(theirs));
        let (mut family, child) = Self::spawn(keeper)?;
        family.keeper = Some(UnixStream::from_std(ours)?);
        Ok((family, child))
    }

    /// Has the keeper end everything, and returns its report. None if there is no keeper, or if it was
    /// killed.
    pub(crate) async fn let_go(&mut self, child: &mut dyn ChildWrapper) -> Option<KeeperReport> {
        let mut keeper = self.keeper.take()?;
        let mut bytes = [0; KeeperReport::BYTES];
        let ended = async {
            keeper.shutdown().await.ok()?;
            keeper.read_exact(&mut bytes).await.ok()?;
            child.wait().await.ok()
        };
        tokio::time::timeout(limits::KEEPER_TIME, ended).await.ok()??;
        Some(KeeperReport::of_bytes(bytes))
    }

    /// Kills all remaining processes. Returns true if there were any.
    pub(crate) fn kill(&self) -> bool {
        let mut found = self.leader.is_some_and(|leader| kill_process_group(leader, Signal::KILL).is_ok());
        for _ in 0..limits::KILL_ROUNDS {
            match marked::kill_all(&self.mark) {
                // Their children, just being started, are seen in the next round.
                Round::Killed => found = true,
                Round::Unsure => std::thread::sleep(limits::KILL_PAUSE),
                Round::Clear => break,
            }
        }
        found
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        // The keeper notices the end of this process and must live to clean up.
        if self.keeper.is_none() {
            self.kill();
        }
    }
}

/// The outcome of one look at all processes.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux shows environments"))]
enum Round {
    Killed,
    /// None bears the mark, but one is just starting a program and has no environment yet.
    Unsure,
    Clear,
}

#[cfg(target_os = "linux")]
mod marked {
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::{MARK, Round};

    enum Found {
        Killed,
        Starting,
        Other,
    }

    /// Kills all processes whose environment bears the mark.
    pub(super) fn kill_all(mark: &str) -> Round {
        let wanted = format!("{MARK}={mark}");
        let Ok(entries) = fs::read_dir("/proc") else { return Round::Clear };
        let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let mut round = Round::Clear;
        for pid in ids.filter_map(Pid::from_raw) {
            match (kill(pid, &wanted), &round) {
                (Found::Killed, _) => round = Round::Killed,
                (Found::Starting, Round::Clear) => round = Round::Unsure,
                (Found::Starting | Found::Other, _) => {}
            }
        }
        round
    }

    fn kill(pid: Pid, wanted: &str) -> Found {
        // Take the handle first: the number cannot pass to another process meanwhile.
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return Found::Other };
        let id = pid.as_raw_nonzero();
        let Ok(environment) = fs::read(format!("/proc/{id}/environ")) else { return Found::Other };
        // A dead process and a thread of the kernel have no environment either, but no program.
        if environment.is_empty() && fs::read_link(format!("/proc/{id}/exe")).is_ok() {
            return Found::Starting;
        }
        let is_marked = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        if is_marked && pidfd_send_signal(handle, Signal::KILL).is_ok() {
            Found::Killed
        } else {
            Found::Other
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod marked {
    use super::Round;

    /// Elsewhere the process group has to do.
    pub(super) fn kill_all(_mark: &str) -> Round {
        Round::Clear
    }
}
