//! The command line of `serve` and `mcp`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains};

/// A server that stops when the test ends.
struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = home.command();
        command.args(["serve", "--addr", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    fn json(home: &Home) -> (Self, Value) {
        let mut server = Self::start(home, &["--json"]);
        let announced = serde_json::from_str(&server.line()).unwrap();
        (server, announced)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_prints_its_address_and_the_next_step() {
    let home = Home::new();
    let mut server = Server::start(&home, &[]);
    let first = server.line();
    contains(&first, &["masque 0.", "listens on http://127.0.0.1:"]);
    let rest: String = (0..10).map(|_| server.line()).collect();
    contains(
        &rest,
        &["open           http://127.0.0.1:", "/?token=", ".local/share/masque/token", "/api/docs"],
    );
    contains(&rest, &["/api/sessions", "tools access", "masque serve --project ."]);
    contains(&rest, &["/mcp", "/healthz", "masque connect claude-code --http http://127.0.0.1:"]);
}

#[test]
fn a_server_answers_and_stops_on_a_signal() {
    let home = Home::new();
    let (mut server, announced) = Server::json(&home);
    let address = announced["address"].as_str().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let deadline = Instant::now() + Duration::from_secs(10);
    let status = loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "the server did not stop");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_port_in_use_is_named() {
    let home = Home::new();
    let (_server, announced) = Server::json(&home);
    let address = announced["address"].as_str().unwrap();
    home.refused("address_in_use", &["serve", "--addr", address]).offers("other_address");
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap().to_string();
    home.refused("address_in_use", &["serve", "--addr", &address]).offers("other_address");
}

#[test]
fn only_loopback_is_served() {
    let home = Home::new();
    home.refused("address_not_local", &["serve", "--addr", "0.0.0.0:0"]).offers("other_address");
    home.refused("invalid_value", &["serve", "--addr", "example.org:80"]);
}

#[test]
fn a_client_is_served_over_standard_input_and_output() {
    let home = Home::new();
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } },
    });
    let mut command = home.command();
    command
        .args(["mcp", "--tools", "load"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    writeln!(stdin, "{request}").unwrap();
    stdout.read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "masque");
    drop(stdin);
    let ended = CommandOutput::of(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn a_port_or_localhost_is_enough() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["serve", "--addr", "localhost:4", "--port", "0", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut server = Server { child, stdout };
    let announced: Value = serde_json::from_str(&server.line()).unwrap();
    let address = announced["address"].as_str().unwrap();
    assert!(address.starts_with("127.0.0.1:") && !address.ends_with(":4"), "{announced}");
    let port = address.rsplit(':').next().unwrap();
    let in_use = home.refused("address_in_use", &["serve", "--port", port]).offers("other_address").0;
    assert_eq!(in_use["remedies"][0]["address"], "--port 0");
    home.refused("address_in_use", &["rehearse", "--port", port]);
    home.refused("address_in_use", &["rehearse", "--listen", &format!("localhost:{port}")]);
    for command in ["serve", "rehearse"] {
        // A host needs a port.
        home.refused("address_in_use", &[command, "--addr", "localhost", "--port", port]);
        home.refused("missing_field", &[command, "--addr", "localhost"]).offers("write_as");
        contains(&home.ok(&[command, "--help"]), &["--addr <HOST:PORT>"]);
        home.refused("invalid_value", &[command, "--port", "70000"]);
    }
}
