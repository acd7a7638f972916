//! A temporary cluster: a free port on the loopback address, nothing kept, nothing synced.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::binaries::Installation;
use crate::chores::port;
use crate::chores::watchdog::Guarded;

/// How long a new cluster may take until it answers; initdb alone takes seconds on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Another program may take the port between our look at it and the server's start.
const PORT_ATTEMPTS: u32 = 3;

/// Tests open pools in parallel, on both sides of a cluster.
const MAX_CONNECTIONS: u32 = 200;

/// Makes the cluster and becomes its server. It runs under the watchdog from the start, so that an interrupted
/// initdb leaves nothing either. C.UTF-8 is not known to every system, C is.
const INIT_AND_RUN: &str = r#"
initdb=$1
postgres=$2
shift 2
init() {
    "$initdb" --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --no-sync --locale="$1"
}
init C.UTF-8 || { rm -rf data && init C; } || exit 1
exec "$postgres" -D data "$@"
"#;

pub(crate) struct Cluster {
    /// Held for its end: dropping it stops the server and removes the data.
    server: Guarded,
    url: String,
    description: String,
}

impl Cluster {
    pub(super) fn start(installation: &Installation) -> Result<Self> {
        let mut attempt = 1;
        loop {
            match Self::start_once(installation) {
                Err(error) if attempt < PORT_ATTEMPTS && error.to_string().contains("in use") => {
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    fn start_once(installation: &Installation) -> Result<Self> {
        let directory = directory_for(installation)?;
        let port = port::free()?;
        let mut command = Command::new("sh");
        command
            .args(["-c", INIT_AND_RUN, "postgres"])
            .arg(installation.directory.join("initdb"))
            .arg(installation.directory.join("postgres"))
            .args(["-p", &port.to_string()])
            .args(settings(directory.path()))
            // A developer's own settings for libpq must not leak into the server.
            .env_remove("PGDATA")
            .env_remove("PGPORT");
        // SIGQUIT is PostgreSQL's immediate shutdown: no checkpoint for data that is thrown away, and
        // connections that were left open can't delay it.
        let server = Guarded::start(&command, "QUIT", directory, installation.user)?;
        let mut cluster = Self {
            server,
            url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            description: format!("own cluster on port {port}, from {}", installation.directory.display()),
        };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn describe(&self) -> String {
        self.description.clone()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let lock_file = self.server.directory().join("data/postmaster.pid");
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            if fs::read_to_string(&lock_file).is_ok_and(|text| says_ready(&text)) {
                return Ok(());
            }
            if let Some(status) = self.server.ended()? {
                bail!("PostgreSQL did not start ({status}):\n{}", self.server.log_tail());
            }
            if Instant::now() > deadline {
                bail!("PostgreSQL was not ready after {START_TIMEOUT:?}:\n{}", self.server.log_tail());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// The eighth line of the server's lock file is its state; pg_ctl waits for the same word.
fn says_ready(lock_file: &str) -> bool {
    lock_file.lines().nth(7).is_some_and(|state| state.trim() == "ready")
}

fn settings(directory: &Path) -> Vec<String> {
    let options = [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("unix_socket_directories={}", directory.display()),
        format!("max_connections={MAX_CONNECTIONS}"),
        "fsync=off".to_owned(),
        "synchronous_commit=off".to_owned(),
        "full_page_writes=off".to_owned(),
    ];
    let pairs = options.into_iter().flat_map(|option| ["-c".to_owned(), option]);
    pairs.collect()
}

/// A directory that the server's user owns. Root's TMPDIR may lie where that user can't go, /tmp does not.
fn directory_for(installation: &Installation) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("masque-postgres-");
    let directory = match installation.user {
        Some(_) => builder.tempdir_in("/tmp"),
        None => builder.tempdir(),
    }
    .context("could not make a temporary directory")?;
    if let Some(user) = installation.user {
        std::os::unix::fs::chown(directory.path(), Some(user.uid), Some(user.gid))?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests;
