//! Requests that schemathesis makes up from the OpenAPI document, against the running program: none fails in
//! the server, and every answer is as documented. The script is in `tests/python`.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::home::CommandOutput;
use crate::rehearsed::Rehearsed;
use crate::wire::Server;

/// A python that has schemathesis; `cargo xtask test` provides it.
const PYTHON: &str = "MASQUE_TEST_PYTHON";

/// Random requests of each operation. The some sixty that probe the bounds of its fields come first.
const EXAMPLES: &str = "3";

/// The first message of a session lets a call wait for permission.
const SCRIPT: &str = r#"
models = ["scripted"]
[[reply]]
when = { last_user = "Write it.", tool_result_of = "write_file" }
text = "Written."
[[reply]]
when = { last_user = "Write it.", tools = ["write_file"] }
say = [{ tool = "write_file", input = { path = "new.txt", content = "one" } }]
[[reply]]
text = "Hello."
"#;

/// Operations that a run brings to success, at least. Of some 80, two are left out because their streams never end,
/// and a few need a state that the run may lose.
const LEAST_REACHED: usize = 60;

#[test]
fn no_request_fails_in_the_server_and_every_answer_is_as_documented() {
    let Some(python) = python() else { return };
    let rehearsed = Rehearsed::new(SCRIPT);
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schemathesis/library.toml");
    let database = rehearsed.home.path("masque.db").display().to_string();
    let import = ["--db", &database, "import", "--yes", "--scope", "shared", &library.display().to_string()];
    rehearsed.ok(&import);
    let server = Server::start_command(rehearsed.command(&["--db", &database, "--project", "."]), &[]);

    let reached = rehearsed.home.path("reached.json");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/fuzz.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .args([&format!("http://{}", server.address), EXAMPLES])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", rehearsed.home.path(""))
        .env("MASQUE_TOKEN", &server.token)
        .env("MASQUE_REACHED", &reached)
        .env("PYTHONUTF8", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(rehearsed.home.path(""));
    let CommandOutput { code, stdout, stderr } = CommandOutput::of(command.output().unwrap());
    assert_eq!(code, 0, "{stdout}{stderr}");

    // A run whose requests are all refused would find nothing.
    let reached: Vec<String> = serde_json::from_str(&rehearsed.home.read("reached.json")).unwrap();
    assert!(reached.len() >= LEAST_REACHED, "only these succeeded: {reached:?}\n{stdout}");
    let (code, errors) = server.running.stop();
    assert_eq!(code, Some(0), "{errors}");
}

/// `None` without python, after a loud line. In CI that is a failure.
fn python() -> Option<String> {
    let python = std::env::var(PYTHON).ok();
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(python.is_some() || !is_ci, "CI=true needs {PYTHON}; `cargo xtask test` provides it");
    if python.is_none() {
        // Bypasses the test harness, which hides the output of passing tests.
        let line = format!("!!! {PYTHON} is not set: the requests of schemathesis are SKIPPED\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    python
}
