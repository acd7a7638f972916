//! Commands of the track: checks and setups. Their output is kept, their processes end with them.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;

use crate::process::{Group, MARK, count_marked, kill_marked};
use crate::{Error, Result, Tree, Worktree, limits};

mod counts;
pub use counts::TestCounts;

mod output;
use output::Output;

/// Variables of git that a command keeps. Others could name another repository, index or identity.
const KEPT: &[&str] =
    &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH", "GIT_SSH_COMMAND"];

/// A command line for `sh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub line: String,
    /// The command is killed after this time.
    pub time: Duration,
    pub variables: Variables,
}

/// How the environment of a command differs from that of this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// Names of variables that a command never gets, such as the keys of providers.
    pub withheld: Vec<String>,
    pub added: Vec<(String, String)>,
}

/// A sign of life of a running command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    pub elapsed: Duration,
    /// The time since it last wrote something.
    pub silent: Duration,
    /// Its living processes.
    pub processes: usize,
}

/// Hears the beats of commands. A silent command is alive as long as they come.
pub type Watcher<'a> = &'a (dyn Fn(Beat) + Send + Sync);

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", content = "number", rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckOutcome {
    pub exit: Exit,
    pub seconds: f64,
    /// The end of what it wrote.
    pub tail: String,
    /// Bytes before the tail that are left out.
    pub left_out: u64,
    /// As its runner of tests says, if that is one that we know.
    pub tests: Option<TestCounts>,
    /// True if it left processes running, which were killed.
    pub left_running: bool,
}

impl CheckOutcome {
    pub fn passed(&self) -> bool {
        self.exit == Exit::Code(0)
    }
}

impl Command {
    /// Fails if the line is empty, too long or cannot be passed to a program.
    pub(crate) fn validate(&self, field: &'static str) -> Result<()> {
        let line = &self.line;
        let is_bad = line.trim().is_empty() || line.len() > limits::COMMAND_BYTES || line.contains('\0');
        if is_bad { Err(Error::CommandLine { field }) } else { Ok(()) }
    }

    fn prepare(&self, tree: &Tree) -> tokio::process::Command {
        let mut command = tokio::process::Command::new("sh");
        command.arg("-c").arg(&self.line).current_dir(tree.path());
        for (name, _) in std::env::vars_os() {
            // Git of the command must find the worktree's repository, not that of Masque's caller.
            let is_git = name.to_str().is_some_and(|name| name.starts_with("GIT_") && !KEPT.contains(&name));
            if is_git {
                command.env_remove(name);
            }
        }
        for name in &self.variables.withheld {
            command.env_remove(name);
        }
        command.envs(Worktree::variables());
        let withheld = |name: &String| self.variables.withheld.contains(name);
        command.envs(self.variables.added.iter().filter(|(name, _)| !withheld(name)).map(|(k, v)| (k, v)));
        command
            .env("PWD", tree.path())
            .env("PAGER", "cat")
            .env(MARK, tree.mark())
            .process_group(0)
            .kill_on_drop(true);
        command
    }

    /// Runs the command in a tree until it ends or its time is over. Kills what it leaves running.
    pub(crate) async fn run(
        &self,
        tree: &Tree,
        log: Option<&Path>,
        watcher: Watcher<'_>,
    ) -> Result<CheckOutcome> {
        let failed = |source| Error::File { path: tree.path().to_path_buf(), source };
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let mut command = self.prepare(tree);
        command.stdin(Stdio::null()).stdout(writer.try_clone().map_err(failed)?).stderr(writer);
        let child = command.spawn().map_err(failed)?;
        // The command holds writing ends of the pipe, which must close with its last process.
        drop(command);
        let leftovers = Leftovers { group: Group::of(&child), mark: tree.mark() };
        let mut running = Running {
            child,
            reader: Receiver::from_owned_fd(OwnedFd::from(reader)).map_err(failed)?,
            output: Output::default(),
            log: log.map(|path| File::create(path).map_err(Error::file(path))).transpose()?,
            logged: 0,
            mark: tree.mark(),
        };
        let started = Instant::now();
        let exit = running.watch(self.time, watcher).await.map_err(failed)?;
        let killed = tokio::task::spawn_blocking(move || leftovers.kill()).await;
        running.drain().await;
        let (tail, left_out, tests) = running.output.finish();
        Ok(CheckOutcome {
            exit: exit.map_or(Exit::TimedOut, exit_of),
            seconds: started.elapsed().as_secs_f64(),
            tail,
            left_out,
            tests,
            left_running: exit.is_some() && killed.unwrap_or_default(),
        })
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// The processes of a command. Dropping it kills them, also if the caller stops waiting for the command.
struct Leftovers {
    group: Group,
    mark: String,
}

impl Leftovers {
    /// Kills what is alive. Returns true if there was anything.
    fn kill(&self) -> bool {
        self.group.kill() | kill_marked(&self.mark)
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        self.kill();
    }
}

struct Running {
    child: Child,
    reader: Receiver,
    output: Output,
    log: Option<File>,
    logged: u64,
    mark: String,
}

impl Running {
    /// Waits for the end. `None` if the time is over.
    async fn watch(&mut self, time: Duration, watcher: Watcher<'_>) -> std::io::Result<Option<ExitStatus>> {
        let started = Instant::now();
        let mut wrote = started;
        let deadline = tokio::time::sleep(time);
        tokio::pin!(deadline);
        let mut beats = tokio::time::interval(limits::BEAT);
        let mut buffer = vec![0; 16 * 1024];
        let mut is_open = true;
        loop {
            tokio::select! {
                // Output comes last: processes that always have more of it, and outlive the command, would
                // hide its end, its limit and its beats.
                biased;
                status = self.child.wait() => return status.map(Some),
                () = &mut deadline => return Ok(None),
                _ = beats.tick() => watcher(Beat {
                    elapsed: started.elapsed(),
                    silent: wrote.elapsed(),
                    processes: count_marked(&self.mark).max(1),
                }),
                read = self.reader.read(&mut buffer), if is_open => match read {
                    Ok(count @ 1..) => {
                        wrote = Instant::now();
                        self.keep(&buffer[..count]);
                    }
                    _ => is_open = false,
                },
            }
        }
    }

    /// With all writers dead the pipe has an end; a process that escaped must not hold it open.
    async fn drain(&mut self) {
        let mut buffer = vec![0; 16 * 1024];
        let drain = async {
            while let Ok(count @ 1..) = self.reader.read(&mut buffer).await {
                self.keep(&buffer[..count]);
            }
        };
        let _ = tokio::time::timeout(limits::DRAIN_TIME, drain).await;
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.output.push(bytes);
        let room = limits::LOG_BYTES.saturating_sub(self.logged);
        let fits = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.logged += fits as u64;
        if let Some(log) = &mut self.log {
            // The tail is in the outcome anyway; a full disk must not fail the check.
            let _ = log.write_all(&bytes[..fits]);
        }
    }
}
