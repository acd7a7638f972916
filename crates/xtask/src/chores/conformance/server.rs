//! The server of crates/conformance, on a free port with an empty database.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo;
use crate::chores::port;
use crate::chores::watchdog::Guarded;
use crate::chores::workspace::Workspace;

const START_TIMEOUT: Duration = Duration::from_secs(30);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct Server {
    process: Guarded,
    port: u16,
}

impl Server {
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        let binary = build(workspace)?;
        let directory = tempfile::Builder::new()
            .prefix("masque-conformance-")
            .tempdir()
            .context("could not make a temporary directory")?;
        let port = port::free()?;
        let mut command = Command::new(binary);
        command.arg(format!("127.0.0.1:{port}")).arg(directory.path().join("masque.db"));
        // SIGKILL: open event streams cannot delay the end, and the database is temporary.
        let process = Guarded::start(&command, "KILL", directory, None)?;
        let mut server = Self { process, port };
        server.wait_until_healthy()?;
        Ok(server)
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Stops the server and fails if the port still accepts connections.
    pub(super) fn stop(self) -> Result<()> {
        let port = self.port;
        drop(self);
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            bail!("the server was stopped, but port {port} still accepts connections");
        }
        Ok(())
    }

    fn wait_until_healthy(&mut self) -> Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        while !is_healthy(self.port) {
            if let Some(status) = self.process.ended()? {
                bail!("the conformance server ended ({status}):\n{}", self.process.log_tail());
            }
            if Instant::now() > deadline {
                bail!(
                    "GET /healthz did not answer 200 within {START_TIMEOUT:?}:\n{}",
                    self.process.log_tail()
                );
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }
}

/// Builds the server and asks cargo for its path, which depends on the developer's configuration.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let output = cargo()
        .current_dir(&workspace.root)
        .args(["build", "--package", "conformance", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        bail!("crates/conformance does not build");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable = messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_ours = message["target"]["name"] == "conformance";
        let path = message["executable"].as_str()?;
        is_ours.then(|| PathBuf::from(path))
    });
    executable.context("cargo built no binary called conformance")
}

fn is_healthy(port: u16) -> bool {
    let answer = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        let request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes())?;
        // The status line is all that counts: `HTTP/1.1 200 OK`.
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(String::from_utf8_lossy(&status).into_owned())
    };
    answer().is_ok_and(|status| status.ends_with(" 200"))
}
