//! The life of a persona, driven by the official MCP SDK for Python over both transports, in both
//! eras of the protocol. The script is in `tests/python`.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Once;

use testkit::Database;

use crate::home::{CommandOutput, Home};
use crate::wire::Server;

/// A python that has the SDK; `cargo xtask test` provides it.
const PYTHON: &str = "MASQUE_TEST_PYTHON";

#[derive(Debug, Clone, Copy)]
enum Era {
    /// 2025-11-25: with a handshake and a session.
    Legacy,
    /// 2026-07-28: each request is independent.
    Modern,
}

impl Era {
    fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

#[test]
fn a_life_over_stdio_in_the_legacy_era() {
    over_stdio(Era::Legacy);
}

#[test]
fn a_life_over_stdio_in_the_modern_era() {
    over_stdio(Era::Modern);
}

#[test]
fn a_life_over_http_in_the_legacy_era() {
    over_http(Era::Legacy, &Database::sqlite());
}

#[test]
fn a_life_over_http_in_the_modern_era() {
    over_http(Era::Modern, &Database::sqlite());
}

#[tokio::test]
async fn a_life_over_http_on_postgres() {
    let Some(database) = testkit::postgres().await else { return };
    over_http(Era::Modern, &database);
    database.remove().await;
}

fn over_stdio(era: Era) {
    let (home, database) = (Home::new(), Database::sqlite());
    let program = env!("CARGO_BIN_EXE_masque");
    live(&home, "", &["--era", era.as_str(), "--stdio", program, "--db", &database.location]);
}

fn over_http(era: Era, database: &Database) {
    let home = Home::new();
    let server = Server::start(&home, &database.location);
    let url = format!("http://{}/mcp", server.address);
    live(&home, &server.token, &["--era", era.as_str(), "--http", &url]);
    let (code, errors) = server.running.stop();
    assert_eq!((code, errors.as_str()), (Some(0), ""), "a server has no reason to complain of clients");
}

/// Runs the script. Shows its output if it fails.
fn live(home: &Home, token: &str, arguments: &[&str]) {
    let Some(python) = python() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/life.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path(""))
        .env("MASQUE_TOKEN", token)
        .env("PYTHONUTF8", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(home.path(""));
    let CommandOutput { code, stdout, stderr } = CommandOutput::of(command.output().unwrap());
    assert_eq!(code, 0, "the life ended early\n{stdout}{stderr}");
    assert_eq!(stderr, "", "neither the SDK nor the server has reason to complain after\n{stdout}");
}

fn python() -> Option<String> {
    let python = std::env::var(PYTHON).ok();
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(python.is_some() || !is_ci, "CI=true needs {PYTHON}; `cargo xtask test` provides it");
    if python.is_none() {
        static LOUD: Once = Once::new();
        LOUD.call_once(|| {
            // Bypasses the test harness, which hides the output of passing tests.
            let line = format!("!!! {PYTHON} is not set: the lives that the MCP SDK leads are SKIPPED\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
        });
    }
    python
}
