//! The token of a server: its file, the address that shows it, the clients that get it, and where it must
//! not be.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::home::{Home, contains};
use crate::wire::{PATIENCE, Server};

const FILE: &str = ".local/share/masque/token";

/// Sends a request with these header lines. Returns the whole answer.
fn get(server: &Server, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}\r\n", server.address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

#[test]
fn a_first_start_makes_a_token_that_later_ones_use() {
    let home = Home::new();
    let server = Server::start_with(&home, &[]);
    assert_eq!(home.read(FILE).trim(), server.token);
    assert_eq!((server.token.len(), mode(&home.path(FILE))), (64, 0o600));
    assert_eq!(mode(home.path(FILE).parent().unwrap()), 0o700);
    assert_eq!(status(&get(&server, "/api/sessions", "")), "401");
    assert_eq!(status(&get(&server, "/api/sessions", &bearer(&server.token))), "200");
    let again = Server::start_with(&home, &["--db", "other.db"]);
    assert_eq!(again.token, server.token, "all servers of a user have one token");
    assert_eq!(status(&get(&again, "/api/sessions", &bearer(&server.token))), "200");
}

#[test]
fn the_token_is_in_no_log_error_or_process_list() {
    let home = Home::new();
    let mut command = home.command();
    command.env("MASQUE_LOG", "trace");
    let server = Server::start_command(command, &[]);
    let token = server.token.clone();
    let visit = get(&server, &format!("/?token={token}"), "accept: text/html\r\n");
    assert_eq!(status(&visit), "303");
    let location = visit.lines().find(|line| line.to_lowercase().starts_with("location:")).unwrap();
    assert_eq!(location.to_lowercase(), "location: /");
    let cookie = format!("cookie: masque_token={token}\r\n");
    for headers in [&cookie, &bearer(&token), &bearer(&format!("{token}x"))] {
        for path in ["/", "/api/sessions", "/api/nowhere", "/mcp", "/metrics"] {
            get(&server, path, headers);
            get(&server, &format!("{path}?token={token}"), headers);
        }
    }
    let id = server.running.id();
    let started = std::fs::read(format!("/proc/{id}/cmdline")).unwrap();
    assert!(!String::from_utf8_lossy(&started).contains(&token));
    let (code, log) = server.running.stop();
    assert_eq!(code, Some(0));
    contains(&log, &["request{id=", "answered", "status=401", "operation=\"list_sessions\""]);
    assert!(!log.contains(&token), "{log}");
}

#[test]
fn a_request_id_is_in_the_log() {
    let home = Home::new();
    let server = Server::start_with(&home, &["--verbose"]);
    get(&server, "/healthz", "x-request-id: trace-me-1\r\n");
    let (_, log) = server.running.stop();
    let line = log.lines().find(|line| line.contains("trace-me-1")).unwrap_or_else(|| panic!("{log}"));
    contains(line, &["request{id=trace-me-1}", "path=/healthz", "status=200"]);
}

#[test]
fn no_auth_lets_everyone_in_and_says_what_that_means() {
    let home = Home::new();
    let server = Server::start_with(&home, &["--no-auth"]);
    assert_eq!(server.token, "");
    assert_eq!(status(&get(&server, "/api/sessions", "")), "200");
    assert!(!home.path(FILE).exists());
    let help = home.ok(&["serve", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    contains(&help, &["--no-auth", "Every user of this machine", "run commands as you", "approve: all"]);
}

#[test]
fn a_token_can_be_the_users_own() {
    let home = Home::new();
    let token = "my-own-token-of-more-than-32-characters";
    home.write("secret", &format!("{token}\n"));
    let server = Server::start_with(&home, &["--token-file", "secret"]);
    assert_eq!(server.token, token);
    assert_eq!(status(&get(&server, "/api/sessions", &bearer(token))), "200");
    assert!(!home.path(FILE).exists());
    home.write("short", "hunter2\n");
    let arguments = ["serve", "--addr", "127.0.0.1:0", "--token-file", "short"];
    let refused = home.run(&[&["--json"], &arguments[..]].concat());
    assert!(!refused.stderr.contains("hunter2"), "{refused:#?}");
    refused.refused_with("invalid_config").in_file("short").offers("run");
}

/// The value of the header in a client's JSON file.
fn written(home: &Home, file: &str, servers: &str) -> String {
    let value: Value = serde_json::from_str(&home.read(file)).unwrap();
    value[servers]["masque"]["headers"]["Authorization"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_connected_client_gets_in() {
    let home = Home::new();
    // Before the server's first start.
    home.write(".cursor/mcp.json", "{}\n");
    let told = home.run(&["connect", "cursor", "--http"]);
    contains(&told.stderr, &["token", "only you can read it"]);
    let token = home.read(FILE).trim().to_owned();
    assert!(!told.stdout.contains(&token) && !told.stderr.contains(&token), "{told:#?}");
    let header = written(&home, ".cursor/mcp.json", "mcpServers");
    assert_eq!((header, mode(&home.path(".cursor/mcp.json"))), (format!("Bearer {token}"), 0o600));
    let server = Server::start_with(&home, &[]);
    assert_eq!(server.token, token);
    for (client, file) in [
        ("claude-code", ".claude.json"),
        ("vscode", ".config/Code/User/mcp.json"),
        ("codex", ".codex/config.toml"),
    ] {
        assert_eq!(home.json(&["connect", client, "--http"])["token"], "written");
        contains(&home.read(file), &[&format!("Bearer {token}")]);
        assert_eq!(mode(&home.path(file)), 0o600, "{client}");
        contains(&home.ok(&["connect", client, "--http"]), &["already connected"]);
        home.ok(&["connect", client]);
        assert!(!home.read(file).contains(&token), "{client}: a program needs no token");
    }
}

#[test]
fn a_file_that_a_team_shares_names_a_variable() {
    let home = Home::new();
    std::fs::create_dir(home.path("code")).unwrap();
    for (client, file, text) in [
        ("claude-code", "code/.mcp.json", "\"Bearer ${MASQUE_TOKEN}\""),
        ("cursor", "code/.cursor/mcp.json", "\"Bearer ${env:MASQUE_TOKEN}\""),
        ("vscode", "code/.vscode/mcp.json", "\"Bearer ${env:MASQUE_TOKEN}\""),
        ("codex", "code/.codex/config.toml", "bearer_token_env_var = \"MASQUE_TOKEN\""),
    ] {
        let told = home.run(&["connect", client, "--http", "--project", "code"]);
        contains(&told.stderr, &["export MASQUE_TOKEN=$(cat ", FILE]);
        told.ok();
        contains(&home.read(file), &[text]);
    }
    assert!(!home.path(FILE).exists(), "nothing needs the token yet");
}

#[test]
fn another_machine_does_not_learn_the_token() {
    let home = Home::new();
    for url in
        ["https://team.example.org/mcp", "http://127.0.0.1.evil.example/mcp", "http://10.0.0.1:4747/mcp"]
    {
        assert_eq!(home.json(&["connect", "cursor", "--http", url])["token"], Value::Null);
        assert_eq!(written(&home, ".cursor/mcp.json", "mcpServers"), "", "{url}");
    }
    assert!(!home.path(FILE).exists());
}

#[test]
fn an_error_shows_no_token() {
    let home = Home::new();
    home.write(".config/Code/User/mcp.json", "{ broken");
    let told = home.fails(2, &["connect", "vscode", "--http"]);
    contains(&told, &["add this yourself", "Bearer ${env:MASQUE_TOKEN}"]);
    assert!(!told.contains(home.read(FILE).trim()), "{told}");
}

#[test]
fn doctor_finds_a_client_that_is_not_let_in() {
    let home = Home::new();
    let url = "http://127.0.0.1:4747/mcp?tools=load";
    home.write(".cursor/mcp.json", &format!(r#"{{"mcpServers": {{"masque": {{"url": "{url}"}}}}}}"#));
    let problems = |home: &Home| {
        let report: Value = serde_json::from_str(&home.run(&["doctor", "--json"]).stdout).unwrap();
        report["problems"].to_string()
    };
    contains(&problems(&home), &["Cursor calls", "without the token", "masque connect cursor --http"]);
    home.ok(&["connect", "cursor", "--http"]);
    assert!(!problems(&home).contains("Cursor"), "{}", problems(&home));
    std::fs::remove_file(home.path(FILE)).unwrap();
    contains(&problems(&home), &["Cursor calls", "another token"]);
}

#[test]
fn a_token_that_others_could_read_is_replaced() {
    let home = Home::new();
    let first = Server::start_with(&home, &[]).token;
    std::fs::set_permissions(home.path(FILE), std::fs::Permissions::from_mode(0o640)).unwrap();
    let server = Server::start_with(&home, &[]);
    assert_ne!(server.token, first);
    assert_eq!((home.read(FILE).trim(), mode(&home.path(FILE))), (server.token.as_str(), 0o600));
    assert_eq!(status(&get(&server, "/api/sessions", &bearer(&first))), "401");
    let (_, errors) = server.running.stop();
    contains(&errors, &["other users", "connect clients again"]);
}

#[test]
fn a_server_without_a_data_directory_has_a_token_too() {
    let home = Home::new();
    let database = home.path("library.db").display().to_string();
    let mut command = home.command();
    command.env("XDG_DATA_HOME", "/proc/nowhere");
    let server = Server::start_command(command, &["--db", &database]);
    assert_eq!(status(&get(&server, "/api/sessions", "")), "401");
    assert_eq!(status(&get(&server, "/api/sessions", &bearer(&server.token))), "200");
    let (_, errors) = server.running.stop();
    contains(&errors, &["the token holds until the server stops"]);
}
