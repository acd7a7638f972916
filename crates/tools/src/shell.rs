//! Running commands.
//!
//! A command may do whatever the user may: it starts in the session's root and is not confined to it.
//! That is why the set is never read-only, and why it asks unless a preset says otherwise.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agent::{Annotations, Schema, Tool};
use futures::future::BoxFuture;
use process_wrap::tokio::ChildWrapper;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::input::{object, parsed};
use crate::process::Family;
use crate::{Handler, Invocation, Outcome, Registered, Root, environment, limits};

mod output;
use output::Output;

/// `[tools.shell]` of the user's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShellSettings {
    /// Names of variables that commands get, in addition to harmless ones. A name that looks like a key is
    /// never passed on: the model reads everything that a command prints.
    pub env_pass: Vec<String>,
    /// The default time limit of a command in seconds: 120, at most 600.
    pub timeout_s: Option<u64>,
    /// A program that calls `kept_command` and `keep` first, so that everything that a command starts ends
    /// with it. Without it, a daemon can escape.
    #[cfg(target_os = "linux")]
    #[serde(skip)]
    pub keeper: Option<PathBuf>,
}

/// The set `shell`: `run_command`.
pub fn shell(root: &Root, settings: &ShellSettings) -> Vec<Registered> {
    let most = limits::MOST_COMMAND_TIME.as_secs();
    let default = settings.timeout_s.unwrap_or(limits::COMMAND_TIME.as_secs()).clamp(1, most);
    let tool = Tool {
        name: "run_command".to_owned(),
        set: "shell",
        description: "Runs a command line with sh in the root and answers its exit code and what it wrote. \
            It has no standard input and no terminal, and whatever it leaves running is ended with it."
            .to_owned(),
        input_schema: Schema::new(object(
            &["command"],
            json!({
                "command": { "type": "string", "minLength": 1, "maxLength": limits::COMMAND_BYTES },
                "timeout_s": {
                    "type": "integer", "minimum": 1, "maximum": most,
                    "description": format!("Seconds until it is ended; {default} by default"),
                },
            }),
        )),
        annotations: Annotations {
            read_only_hint: false,
            destructive_hint: true,
            idempotent_hint: false,
            open_world_hint: true,
            is_claimed: false,
        },
    };
    let handler = RunCommand {
        root: root.clone(),
        settings: settings.clone(),
        default_time: Duration::from_secs(default),
    };
    vec![Registered::new(tool, Arc::new(handler))]
}

#[derive(Debug)]
struct RunCommand {
    root: Root,
    settings: ShellSettings,
    default_time: Duration,
}

#[derive(Debug, Deserialize)]
struct Input {
    command: String,
    timeout_s: Option<u64>,
}

impl Handler for RunCommand {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let input: Input = match parsed(invocation.call.input) {
                Ok(input) => input,
                Err(message) => return Outcome::error(message),
            };
            if input.command.contains('\0') {
                return Outcome::error("a command cannot hold a NUL character");
            }
            let time = input.timeout_s.map_or(self.default_time, Duration::from_secs);
            let time = time.min(limits::MOST_COMMAND_TIME);
            if !self.root.is_current() {
                return Outcome::error("the session's root was moved or replaced; nothing was run");
            }
            match self.start(&input.command) {
                Ok(running) => running.finish(time, &invocation.cancelled).await,
                Err(error) => Outcome::error(format!("the command could not be started: {error}")),
            }
        })
    }
}

impl ShellSettings {
    /// Names of this process's variables that commands do not get.
    pub fn withheld(&self) -> Vec<String> {
        let all: Vec<_> = std::env::vars_os().collect();
        let passed = environment::for_commands(all.clone().into_iter(), &self.env_pass);
        let is_passed = |name: &std::ffi::OsString| passed.iter().any(|(passed, _)| passed == name);
        let withheld = all.into_iter().map(|(name, _)| name).filter(|name| !is_passed(name));
        withheld.filter_map(|name| name.into_string().ok()).collect()
    }

    /// The keeper of a command line, if configured.
    fn keeper(&self, line: &str) -> Option<Command> {
        #[cfg(target_os = "linux")]
        return self.keeper.as_ref().map(|program| crate::keeper::command(program, line));
        #[cfg(not(target_os = "linux"))]
        None
    }
}

impl RunCommand {
    fn start(&self, line: &str) -> io::Result<Running> {
        // One pipe for both keeps what is written in order.
        let (reader, writer) = io::pipe()?;
        let variables: Vec<_> = std::env::vars_os().collect();
        let keeper = self.settings.keeper(line);
        let is_kept = keeper.is_some();
        let mut command = keeper.unwrap_or_else(|| {
            let mut command = Command::new("sh");
            command.arg("-c").arg(line);
            command
        });
        command
            .current_dir(self.root.path())
            .env_clear()
            .envs(environment::for_commands(variables.into_iter(), &self.settings.env_pass))
            .env("PWD", self.root.path())
            // No user can turn a page or type a password.
            .env("PAGER", "cat")
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let (family, child) = if is_kept { Family::spawn_kept(command)? } else { Family::spawn(command)? };
        Ok(Running {
            family,
            child,
            reader: Receiver::from_owned_fd(OwnedFd::from(reader))?,
            output: Output::default(),
        })
    }
}

/// A running command. Dropping it kills the command and everything that it started.
struct Running {
    family: Family,
    child: Box<dyn ChildWrapper>,
    reader: Receiver,
    output: Output,
}

enum Ended {
    Exited(io::Result<ExitStatus>),
    Time,
    Cancelled,
    Flood,
}

impl Running {
    async fn finish(self, time: Duration, cancelled: &CancellationToken) -> Outcome {
        let (ended, left_over, output) = self.run_to_end(time, cancelled).await;
        let (first, is_error) = match ended {
            Ended::Exited(Ok(status)) => (said(status, left_over), !status.success()),
            Ended::Exited(Err(error)) => (format!("its end could not be awaited: {error}"), true),
            Ended::Time => (
                format!(
                    "ended after {} s without finishing; a longer timeout_s may help, at most {}",
                    time.as_secs(),
                    limits::MOST_COMMAND_TIME.as_secs()
                ),
                true,
            ),
            Ended::Cancelled => ("cancelled".to_owned(), true),
            Ended::Flood => (format!("ended after it had written {} MiB", limits::OUTPUT_BYTES >> 20), true),
        };
        Outcome { text: format!("{first}\n{}", output.into_text()), is_error, ..Outcome::default() }
    }

    /// Waits for the end, and ends what is left running. True if something was.
    async fn run_to_end(mut self, time: Duration, cancelled: &CancellationToken) -> (Ended, bool, Output) {
        let mut ended = self.watch(time, cancelled).await;
        let report = self.family.let_go(self.child.as_mut()).await;
        if let (Ended::Exited(_), Some(report)) = (&ended, report) {
            ended = Ended::Exited(Ok(ExitStatus::from_raw(report.status)));
        }
        let left_over = self.family.kill() || report.is_some_and(|report| report.left_over);
        // With all writers dead the pipe has an end; a process that escaped must not hold the answer up.
        let mut buffer = vec![0; 16 * 1024];
        let drain = async {
            while let Ok(count @ 1..) = self.reader.read(&mut buffer).await {
                self.output.push(&buffer[..count]);
            }
        };
        let _ = tokio::time::timeout(limits::DRAIN_TIME, drain).await;
        (ended, left_over, self.output)
    }

    async fn watch(&mut self, time: Duration, cancelled: &CancellationToken) -> Ended {
        let deadline = tokio::time::sleep(time);
        tokio::pin!(deadline);
        let mut buffer = vec![0; 16 * 1024];
        let mut is_open = true;
        loop {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => return Ended::Cancelled,
                () = &mut deadline => return Ended::Time,
                read = self.reader.read(&mut buffer), if is_open => match read {
                    Ok(count @ 1..) => {
                        self.output.push(&buffer[..count]);
                        if self.output.total() > limits::OUTPUT_BYTES {
                            return Ended::Flood;
                        }
                    }
                    _ => is_open = false,
                },
                status = self.child.wait() => return Ended::Exited(status),
            }
        }
    }
}

/// The end of a command line of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEnd {
    /// Absent if it did not end by itself.
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    /// The beginning and the end of what it wrote.
    pub output: String,
}

/// Runs a command line of the user's own in a root, as `run_command` does.
pub async fn run_line(
    root: &Root,
    settings: &ShellSettings,
    line: &str,
    time: Duration,
    cancelled: &CancellationToken,
) -> io::Result<LineEnd> {
    let command = RunCommand { root: root.clone(), settings: settings.clone(), default_time: time };
    let (ended, _, output) = command.start(line)?.run_to_end(time, cancelled).await;
    let exit_code = match &ended {
        Ended::Exited(Ok(status)) => status.code(),
        _ => None,
    };
    let timed_out = matches!(ended, Ended::Time);
    Ok(LineEnd { exit_code, timed_out, output: output.into_text() })
}

fn said(status: ExitStatus, left_over: bool) -> String {
    let mut text = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    };
    if left_over {
        text.push_str(" (what it had left running was ended)");
    }
    text
}
