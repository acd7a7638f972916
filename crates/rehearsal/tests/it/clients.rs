//! Reads the streams with foreign clients: the official libraries of Anthropic, OpenAI and Google for
//! Python. `tests/python` has their checks.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Once;

use tokio::process::Command;

use crate::client::rehearse;

/// A python that has the libraries; `cargo xtask test` provides it.
const PYTHON: &str = "MASQUE_TEST_PYTHON";

#[tokio::test]
async fn the_anthropic_library_reads_our_messages() {
    reads("anthropic_client.py").await;
}

#[tokio::test]
async fn the_openai_library_reads_our_responses() {
    reads("openai_responses_client.py").await;
}

#[tokio::test]
async fn the_openai_library_reads_our_chats() {
    reads("openai_chat_client.py").await;
}

#[tokio::test]
async fn the_google_library_reads_our_gemini() {
    reads("google_client.py").await;
}

async fn reads(script: &str) {
    let Some(python) = python() else { return };
    let rehearsal = rehearse(include_str!("../python/script.toml")).await;
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script))
        .arg(rehearsal.url())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("PYTHONUTF8", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("NO_PROXY", "*")
        // A warning about a value of the wrong type is a failure.
        .env("PYTHONWARNINGS", "error::UserWarning")
        .stdin(Stdio::null())
        .output()
        .await
        .expect("python runs");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{script} ended early\n{stdout}{stderr}");
    assert_eq!(stderr, "", "{script} complained after\n{stdout}");
    assert!(stdout.ends_with("understood\n"), "{script} did not come to its end\n{stdout}");
}

fn python() -> Option<String> {
    let python = std::env::var(PYTHON).ok();
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(python.is_some() || !is_ci, "CI=true needs {PYTHON}; `cargo xtask test` provides it");
    if python.is_none() {
        static LOUD: Once = Once::new();
        LOUD.call_once(|| {
            // Bypasses the harness, which hides the output of passing tests.
            let line =
                format!("!!! {PYTHON} is not set: the tests with the providers' own clients are SKIPPED\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
        });
    }
    python
}
