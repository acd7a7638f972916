//! Settings for runs, from the configuration and the persona, in commands and in a server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};

use crate::home::{Home, contains};
use crate::wire::token_of;

const CONFIG: &str = ".config/masque/config.toml";

async fn model(script: &str) -> Rehearsal {
    Rehearsal::start_local(Script::parse(script).unwrap()).await.unwrap()
}

fn provider(model: &Rehearsal) -> String {
    let url = model.url();
    format!("[providers.mine]\nkind = \"openai-chat\"\nbase_url = \"{url}/v1\"\nmodels = [\"rehearsal\"]\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_with_tools_are_limited_by_the_persona_then_by_the_settings() {
    // Each call differs, so that it does not count as a loop.
    let calls: String = (0..9)
        .map(|at| format!("[[reply]]\ntimes = 1\nsay = [{{ tool = \"list_files\", input = {{ path = \".\", depth = {} }} }}]\n", at + 1))
        .collect();
    let mine = model(&calls).await;
    let home = Home::new();
    home.write(CONFIG, &format!("[run]\nmax_tool_rounds = 3\n{}", provider(&mine)));
    home.ok(&["create", "persona", "plain", "--summary", "You look."]);
    home.ok(&["create", "persona", "brief", "--summary", "You look.", "--max-tool-rounds", "1"]);
    home.ok(&["create", "persona", "heir", "--extends", "brief"]);
    // The reply at the limit is still printed.
    for (persona, rounds) in [("plain", 3), ("brief", 1), ("heir", 1)] {
        mine.clear();
        let answer = home.run(&["run", persona, "Look.", "--json"]);
        let done: Value = serde_json::from_str(answer.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((answer.code, mine.request_count()), (7, rounds + 1), "{persona}: {done}");
        assert!(done.to_string().contains("max_tool_rounds"), "{persona}: {done}");
    }
    // 0 clears the limit; other invalid values are refused.
    home.ok(&["update", "persona", "brief", "--max-tool-rounds", "0"]);
    mine.clear();
    home.run(&["run", "brief", "Look."]);
    assert_eq!(mine.request_count(), 4);
    home.refused("invalid_field", &["update", "persona", "brief", "--max-tool-rounds", "1001"]);
    home.ok(&["update", "persona", "brief", "--max-tool-rounds", "4"]);
    contains(&home.ok(&["show", "heir", "--explain"]), &["max_tool_rounds", "4"]);
    contains(&home.ok(&["diff", "brief", "1", "3"]), &["max_tool_rounds"]);
}

/// A server of a directory, which stops with the test.
struct Serving {
    child: Child,
    address: String,
    token: String,
}

impl Serving {
    fn start(home: &Home, below: &str) -> Self {
        let mut command = home.command();
        command.current_dir(home.path(below)).args(["serve", "--addr", "127.0.0.1:0", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let announced: Value = serde_json::from_str(&line).unwrap();
        let address = announced["address"].as_str().unwrap().to_owned();
        Self { child, address, token: token_of(&announced) }
    }

    /// Sends a request and returns the connection with the unread answer.
    fn send(&self, method: &str, path: &str, body: &Value) -> TcpStream {
        let (address, token, body) = (&self.address, &self.token, body.to_string());
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> String {
        let mut answer = String::new();
        self.send(method, path, body).read_to_string(&mut answer).unwrap();
        answer
    }

    fn session(&self, persona: &str) -> Value {
        let answer = self.ask("POST", "/api/sessions", &json!({ "persona": persona }));
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Stops it. Returns the exit code and its standard error.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (code, errors)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_runs_personas_of_an_untrusted_project_without_its_programs() {
    let mine = model("[[reply]]\ntext = \"I answer.\"\n").await;
    let home = Home::new();
    home.write(CONFIG, &provider(&mine));
    home.write("shop/personas.toml", "[mcp_servers.mark]\ncommand = \"touch\"\nargs = [\"started\"]\n");
    std::fs::create_dir_all(home.path("empty")).unwrap();

    let server = Serving::start(&home, "shop");
    let session = server.session("mentor");
    assert_eq!(session["root"], json!(home.path("shop").canonicalize().unwrap()));
    assert_eq!(mine.request_count(), 0, "nothing is called before the first message");
    let path = format!("/api/sessions/{}/messages", session["id"].as_str().unwrap());
    contains(&server.ask("POST", &path, &json!({ "content": "Hello?" })), &["I answer.", "event: done"]);
    let (code, errors) = server.stop();
    assert_eq!(code, Some(0), "{errors}");
    contains(&errors, &["MCP servers (mark)", "`masque trust`"]);
    assert!(!home.path("shop/started").exists());

    // Without a project, a server gives access to no directory.
    let server = Serving::start(&home, "empty");
    assert_eq!(server.session("mentor")["root"], Value::Null);
    let answer = server.ask("POST", "/api/sessions", &json!({ "persona": "mentor", "root": "/" }));
    contains(&answer, &["no project is open here"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_stops_its_runs_and_keeps_their_text() {
    let slow = "[[reply]]\npace_ms = 50\ntext = \"".to_owned() + &"word ".repeat(2_000) + "\"\n";
    let mine = model(&slow).await;
    let home = Home::new();
    home.write(CONFIG, &provider(&mine));
    let server = Serving::start(&home, "");
    let id = server.session("mentor")["id"].as_str().unwrap().to_owned();
    let message = json!({ "content": "Hello?", "detached": true });
    let mut stream = server.send("POST", &format!("/api/sessions/{id}/messages"), &message);
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("text_delta") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&bytes[..count]);
    }
    let asked = Instant::now();
    let (code, errors) = server.stop();
    assert_eq!(code, Some(0), "{errors}");
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    let shown = home.json(&["sessions", "show", &id]);
    assert_eq!(shown["status"], "idle", "{shown:#}");
    contains(&shown["turns"].to_string(), &["Hello?", "word"]);
}
