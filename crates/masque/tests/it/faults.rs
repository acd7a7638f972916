//! Faults of the surroundings: a database that stops, fills up or refuses, and too few descriptors.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wire::Server;

mod crowded;
mod disks;
mod postgres;

/// Longer than any bound of the server, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// An answer of the HTTP API.
#[derive(Debug)]
struct Answer {
    status: u16,
    /// In lower case.
    head: String,
    body: Value,
}

impl Answer {
    fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// Checks a problem that may pass by itself.
    #[track_caller]
    fn is_temporary(&self, code: &str, may_have_happened: bool) {
        assert_eq!((self.status, self.code()), (503, code), "{self:?}");
        assert!(self.head.contains("retry-after: "), "{self:?}");
        assert_eq!(self.body["may_have_happened"], may_have_happened, "{self:?}");
    }
}

/// Sends a request over a connection of its own.
fn ask(server: &Server, method: &str, path: &str, headers: &str, body: &Value) -> Answer {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (token, length) = (&server.token, body.len());
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    read(stream)
}

/// Reads an answer to its end.
fn read(stream: TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "no answer: {head:?}");
    }
    let mut body = String::new();
    reader.read_to_string(&mut body).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: serde_json::from_str(&body).unwrap_or(Value::Null) }
}

fn part(content: &str) -> Value {
    json!({ "entity": { "part_type": "tone", "content": content } })
}

fn put(server: &Server, name: &str, content: &str) -> Answer {
    ask(server, "PUT", &format!("/api/library/part/{name}"), "", &part(content))
}

fn get(server: &Server, name: &str) -> Answer {
    ask(server, "GET", &format!("/api/library/part/{name}"), "", &Value::Null)
}

/// Asks again until the answer is as wanted.
fn until(wanted: impl Fn(&Answer) -> bool, again: impl Fn() -> Answer) -> Answer {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = again();
        if wanted(&answer) {
            return answer;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
