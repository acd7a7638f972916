//! The scripted model as a command: served, checked, recorded and replayed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::home::{Home, contains};
use crate::wire::PATIENCE;

/// A running `masque rehearse` and its announcement.
struct Rehearsing {
    child: Child,
    stdout: BufReader<ChildStdout>,
    announced: Value,
}

impl Rehearsing {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = home.command();
        command.arg("rehearse").args(arguments).arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let announced = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        Self { child, stdout, announced }
    }

    fn url(&self) -> &str {
        self.announced["url"].as_str().unwrap()
    }

    /// Status and body of the answer to a text.
    fn ask(&self, text: &str) -> (u16, String) {
        let body = json!({
            "model": "m",
            "max_tokens": 9,
            "messages": [{ "role": "user", "content": text }],
        })
        .to_string();
        let address = self.announced["address"].as_str().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\nx-api-key: sk-secret\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    /// Stops it. Returns its exit code and its output after the announcement.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (code, rest)
    }
}

impl Drop for Rehearsing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn without_a_script_the_rehearsal_introduces_itself() {
    let home = Home::new();
    let rehearsing = Rehearsing::start(&home, &[]);
    let told = &rehearsing.announced;
    assert_eq!(told["script"], "builtin");
    assert_eq!(told["base_urls"]["openai-chat"], format!("{}/v1", rehearsing.url()));
    assert_eq!(told["base_urls"]["anthropic"], rehearsing.url());
    let (status, answer) = rehearsing.ask("hello");
    assert_eq!(status, 200);
    contains(&answer, &["Rehearsal: no model", "ANTHROPIC_API_KEY", "masque doctor"]);
    assert_eq!(rehearsing.stop(), (Some(0), String::new()));
}

#[test]
fn a_script_is_played_and_checked() {
    let home = Home::new();
    home.write("good.toml", "[[reply]]\ntext = 'You said {{last_user}}.'\n");
    home.write("bad.toml", "[[reply]]\ntext = 'a'\n\n[[reply]]\ntxt = 'b'\n");
    assert_eq!(home.ok(&["rehearse", "--check", "good.toml"]), "good.toml is valid: 1 reply\n");
    assert_eq!(
        home.json(&["rehearse", "--check", "good.toml"]),
        json!({ "script": "good.toml", "replies": 1 })
    );
    home.refused("invalid_script", &["rehearse", "--check", "bad.toml"]).in_file("bad.toml");
    home.refused("invalid_script", &["rehearse", "--script", "bad.toml"]);
    home.refused("file_not_found", &["rehearse", "--script", "none.toml"]).in_file("none.toml");
    let rehearsing = Rehearsing::start(&home, &["--script", "good.toml"]);
    contains(&rehearsing.ask("hello").1, &["You said hello."]);
    assert_eq!(rehearsing.stop().0, Some(0));
}

#[test]
fn a_recording_is_replayed_and_a_difference_fails() {
    let home = Home::new();
    home.write("talk.toml", "[[reply]]\ntext = 'You said {{last_user}}.'\n");
    let model = Rehearsing::start(&home, &["--script", "talk.toml"]);
    let recording = ["--record", "tape.toml", "--upstream", model.url(), "--kind", "anthropic"];
    let recorder = Rehearsing::start(&home, &recording);
    assert_eq!(recorder.announced["base_urls"].as_object().map(serde_json::Map::len), Some(1));
    contains(&recorder.ask("hello").1, &["You said hello."]);
    let (code, told) = recorder.stop();
    assert_eq!(code, Some(0));
    contains(&told, &["\"exchanges\":1"]);
    assert!(!home.read("tape.toml").contains("sk-secret"));
    drop(model);

    let same = Rehearsing::start(&home, &["--replay", "tape.toml", "--at-once"]);
    contains(&same.ask("hello").1, &["You said hello."]);
    assert_eq!(same.stop(), (Some(0), "{\"differences\":[],\"played\":1,\"remaining\":0}\n".to_owned()));

    let other = Rehearsing::start(&home, &["--replay", "tape.toml"]);
    let (status, answer) = other.ask("hullo");
    assert_eq!(status, 409);
    contains(&answer, &["/messages/0/content", "\"recorded\":\"hello\"", "\"sent\":\"hullo\""]);
    let (code, told) = other.stop();
    assert_eq!(code, Some(1));
    contains(&told, &["\"remaining\":1", "/messages/0/content differs"]);
}

#[test]
fn invalid_scripts_and_addresses_are_refused() {
    let home = Home::new();
    let addressed = ["rehearse", "--listen", "0.0.0.0:0"];
    home.refused("address_not_local", &addressed).offers("other_address");
    home.refused("missing_field", &["rehearse", "--record", "a.toml"]);
    let kind = ["rehearse", "--record", "a.toml", "--upstream", "http://a", "--kind", "mine"];
    home.refused("invalid_value", &kind);
    let name = ["rehearse", "--record", "a.txt", "--upstream", "http://127.0.0.1:1"];
    home.refused("invalid_cassette", &name);
    let upstream = ["rehearse", "--record", "a.toml", "--upstream", "mine"];
    home.refused("invalid_value", &upstream);
    home.refused("file_not_found", &["rehearse", "--replay", "none.json"]).in_file("none.json");
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    home.refused("address_in_use", &["rehearse", "--listen", &taken]).offers("other_address");
}

#[test]
fn a_script_needs_no_flag_and_requests_are_recorded() {
    let home = Home::new();
    home.write(
        "talk.toml",
        "strict = true\n[[reply]]\nwhen = { last_user = 'hello' }\ntext = 'You said {{last_user}}.'\n",
    );
    let rehearsing = Rehearsing::start(&home, &["talk.toml", "--log"]);
    assert_eq!(rehearsing.announced["script"], "talk.toml");
    contains(&rehearsing.ask("hello").1, &["You said hello."]);
    rehearsing.ask("something else");
    let (code, told) = rehearsing.stop();
    assert_eq!(code, Some(0));
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<&Value> = told.iter().map(|request| &request["body"]["messages"][0]["content"]).collect();
    assert_eq!(said, ["hello", "something else"]);
    assert_eq!((&told[0]["method"], &told[0]["path"]), (&json!("POST"), &json!("/v1/messages")));
    assert_eq!((&told[0]["reply_line"], &told[1]["reply_line"]), (&json!(2), &Value::Null));
    assert!(!told.iter().any(|request| request.to_string().contains("sk-secret")));
    home.refused("conflicting_fields", &["rehearse", "talk.toml", "--script", "talk.toml"]);
}
