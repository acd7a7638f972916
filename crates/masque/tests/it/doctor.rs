//! `doctor`.

use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains};

#[test]
fn a_new_home_has_no_faults() {
    let home = Home::new();
    let report = home.run(&["doctor"]);
    contains(&report.stdout, &["masque 0.", "does not exist yet", "server", "claude-code", "not installed"]);
    assert!(!home.path(".local/share/masque/masque.db").exists(), "a check makes nothing");
    home.ok(&["list"]);
    let report = home.json(&["doctor"]);
    assert_eq!(report["database"]["state"], "answers");
    assert_eq!((&report["database"]["writable"], &report["problems"]), (&json!(true), &json!([])));
    assert_eq!(report["database"]["info"]["journal_mode"], "wal");
    contains(&home.ok(&["doctor"]), &["sqlite", "No problems found."]);
}

#[test]
fn clients_are_found() {
    let home = Home::new();
    home.write(".codex/config.toml", "model = 'x'\n");
    home.ok(&["connect", "cursor"]);
    let report = home.ok(&["doctor"]);
    contains(&report, &["connected: starts", "installed, not connected; run `masque connect codex`"]);
}

#[test]
fn faults_have_remedies() {
    let home = Home::new();
    home.write(".cursor/mcp.json", r#"{"mcpServers": {"masque": {"command": "/nowhere/masque"}}}"#);
    home.write("text.db", "this is not a database, but a text that is longer than a header");
    let report = home.run(&["--db", "text.db", "doctor"]);
    assert_eq!(report.code, 1, "{report:#?}");
    contains(
        &report.stdout,
        &["problem:", "/nowhere/masque, which does not exist", "masque connect cursor", "text.db"],
    );
    let report = home.run(&["--db", "text.db", "doctor", "--json"]);
    let value: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!((report.code, value["problems"].as_array().unwrap().len()), (1, 2), "{value:#}");
    assert_eq!(value["database"]["state"], "does not open");
}

/// The report of `doctor`.
fn report(home: &Home, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, Value, String) {
    let mut command = home.command();
    command.envs(environment.iter().copied()).arg("doctor").args(arguments);
    let text = CommandOutput::of(command.output().unwrap());
    let json = CommandOutput::of(command.arg("--json").output().unwrap());
    assert_eq!(text.code, json.code, "{text:#?}");
    let value = serde_json::from_str(&json.stdout).unwrap();
    (text.code, value, text.stdout + &text.stderr + &json.stdout + &json.stderr)
}

#[tokio::test(flavor = "multi_thread")]
async fn providers_are_shown_and_tried() {
    let script = Script::parse("models = [\"small\", \"large\"]\n[[reply]]\ntext = \"Hello.\"\n").unwrap();
    let model = Rehearsal::start_local(script).await.unwrap();
    let home = Home::new();
    let good = format!(
        "[providers.good]\nkind = \"openai-chat\"\nbase_url = \"{}/v1\"\napi_key_env = \"GOOD_KEY\"\n\
         headers = {{ x-secret = \"s3cret-header\" }}\n",
        model.url()
    );
    home.write(".config/masque/config.toml", &good);
    let set = [("GOOD_KEY", "s3cret-key")];
    let (code, value, text) = report(&home, &[], &set);
    assert_eq!((code, &value["problems"]), (0, &json!([])), "{text}");
    let provider = &value["providers"][0];
    assert_eq!(
        (&provider["name"], &provider["state"], &provider["models"]),
        (&json!("good"), &json!("answers"), &json!(2))
    );
    contains(
        &text,
        &["good: answers, 2 models", "openai-chat at http://127.0.0.1", "from config.toml; key in GOOD_KEY"],
    );
    assert!(!text.contains("s3cret"), "{text}");

    let (code, value, text) = report(&home, &[], &[]);
    assert_eq!((code, &value["providers"][0]["state"]), (1, &json!("key_missing")), "{text}");
    contains(&text, &["no key: GOOD_KEY is not set", "set it, or remove [providers.good]"]);

    model.stop().await;
    let (code, value, text) = report(&home, &[], &set);
    assert_eq!((code, &value["providers"][0]["state"]), (1, &json!("does_not_answer")), "{text}");
    contains(
        &text,
        &["good: does not answer", "provider good: cannot reach", "check that it runs, its base_url"],
    );
    assert!(!text.contains("s3cret"), "{text}");
}

#[test]
fn doctor_explains_how_to_get_a_provider() {
    contains(
        &Home::new().ok(&["doctor"]),
        &["Set ANTHROPIC_API_KEY", "a scripted rehearsal answers", "MCP servers"],
    );
}

#[test]
fn mcp_servers_start_only_on_request() {
    let home = Home::new();
    let masque = env!("CARGO_BIN_EXE_masque");
    let servers = format!(
        "[mcp_servers.library]\ncommand = \"{masque}\"\nargs = [\"mcp\", \"--tools\", \"load\"]\n\
         [mcp_servers.broken]\ncommand = \"sh\"\nargs = [\"-c\", \"touch started; exit 3\", \"s3cret\"]\n\
         [mcp_servers.off]\nurl = \"http://me:s3cret@127.0.0.1:9/mcp\"\nenabled = false\n"
    );
    home.write(".config/masque/config.toml", &servers);
    let (code, value, text) = report(&home, &[], &[]);
    assert_eq!(code, 0, "{text}");
    let states = |value: &Value| -> Vec<String> {
        let servers = value["mcp_servers"].as_array().unwrap().iter();
        servers.map(|server| format!("{} {}", server["name"], server["state"]).replace('"', "")).collect()
    };
    assert_eq!(states(&value), ["broken not_tried", "library not_tried", "off disabled"]);
    assert!(!home.path("started").exists() && !text.contains("s3cret"), "{text}");
    let (code, value, text) = report(&home, &["--try"], &[]);
    assert_eq!(
        (code, states(&value)),
        (1, ["broken does_not_answer", "library answers", "off disabled"].map(String::from).to_vec()),
        "{text}"
    );
    assert!(value["mcp_servers"][1]["tools"].as_u64().unwrap() > 5, "{value:#}");
    contains(&text, &["problem: MCP server broken", "check [mcp_servers.broken]"]);
    assert!(home.path("started").exists() && !text.contains("s3cret"), "{text}");
}

#[test]
fn the_trust_of_the_project_is_shown() {
    let home = Home::new();
    home.write("shop/personas.toml", "[mcp_servers.mark]\ncommand = \"sh\"\n");
    let report = home.run_in("shop", &["doctor"]).ok();
    contains(&report, &["trusted", "no; `masque trust` explains", "defines MCP servers (mark)"]);
    home.run_in("shop", &["trust", "--yes"]).ok();
    let report = home.run_in("shop", &["doctor"]).ok();
    contains(&report, &["mark (sh, from the project)"]);
    assert!(!report.contains("not started until"), "{report}");
}
