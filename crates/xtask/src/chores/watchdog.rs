//! Servers that never outlive us.
//!
//! A guarded server is the child of a small shell script in a process group of its own. The script holds the
//! reading end of a pipe whose writing end only we have: when we stop the server, panic, are interrupted or
//! killed, the pipe closes, and the script ends the server and removes its directory. Ctrl-C therefore needs
//! no signal handler here, and kill -9 leaves nothing behind either.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::chores::process;

/// Arguments: the signal that stops the server, the directory to remove, and the server's command line.
///
/// The signal is repeated, because a server that is still starting may miss the first one. The listener is
/// killed at the end, lest it signal a stranger who got the server's process id.
const SCRIPT: &str = r#"
signal=$1 directory=$2
shift 2
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
( read -r _; while kill -s "$signal" "$server"; do sleep 0.2; done ) <&3 2>/dev/null &
listener=$!
exec 3<&- </dev/null
wait "$server"
code=$?
kill -s KILL "$listener"
rm -rf -- "$directory"
exit "$code"
"#;

/// The unprivileged user that a server runs as when we are root.
#[derive(Clone, Copy)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

pub(crate) struct Guarded {
    script: Child,
    log: File,
    directory: TempDir,
}

impl Guarded {
    /// Starts `server` (program, arguments and environment are used) with `directory` as its home, which goes
    /// away with it. What the server prints is kept for the error message.
    pub(crate) fn start(
        server: &Command,
        stop_signal: &str,
        directory: TempDir,
        user: Option<User>,
    ) -> Result<Self> {
        let log = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(directory.path().join("log"))
            .context("could not write the server's log")?;
        let mut script = Command::new("sh");
        script
            .args(["-c", SCRIPT, "watchdog", stop_signal])
            .arg(directory.path())
            .arg(server.get_program())
            .args(server.get_args())
            .current_dir(directory.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?);
        for (key, value) in server.get_envs() {
            match value {
                Some(value) => script.env(key, value),
                None => script.env_remove(key),
            };
        }
        if let Some(user) = user {
            script.uid(user.uid).gid(user.gid);
        }
        let script = script.spawn().context("could not start sh")?;
        Ok(Self { script, log, directory })
    }

    pub(crate) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// The exit status if the server has ended, which is always too early.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.script.try_wait()?)
    }

    /// The end of what the server printed. Works after the end of the server too: our handle keeps the file.
    pub(crate) fn log_tail(&mut self) -> String {
        let mut text = Vec::new();
        let read = self.log.seek(SeekFrom::Start(0)).and_then(|_| self.log.read_to_end(&mut text));
        match read {
            Ok(_) => process::tail(&String::from_utf8_lossy(&text)),
            Err(error) => format!("(the log could not be read: {error})"),
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        if let Err(error) = self.script.wait() {
            eprintln!("xtask: the watchdog could not be waited for: {error}");
        }
    }
}

#[cfg(test)]
mod tests;
