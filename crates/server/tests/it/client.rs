//! A minimal HTTP client.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::running::{PATIENCE, send};

/// An answer whose head has arrived.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    reader: BufReader<TcpStream>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// Sends a request; the body is JSON where there is one.
pub(crate) async fn open(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
) -> Opened {
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(body) = body {
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request.push_str("content-type: application/json\r\n");
        }
        request.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    request.push_str("\r\n");
    request.push_str(body.unwrap_or_default());
    let mut reader = BufReader::new(send(port, &request).await);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = timeout(PATIENCE, reader.read_line(&mut head)).await.expect("in time").expect("a line");
        assert!(read > 0, "{method} {path} got no answer: {head:?}");
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Opened { status, head: head.to_lowercase(), reader }
}

/// Asks for something that is answered in JSON.
pub(crate) async fn ask(port: u16, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let opened = open(port, method, path, &[], body.map(Value::to_string).as_deref()).await;
    (opened.status, opened.json().await)
}

/// The code of a problem.
pub(crate) fn code(problem: &Value) -> &str {
    problem["code"].as_str().expect("a code")
}

/// True if the problem names this candidate.
pub(crate) fn suggests(problem: &Value, candidate: &str) -> bool {
    problem["candidates"].as_array().is_some_and(|all| all.iter().any(|it| it == candidate))
}

impl Opened {
    pub(crate) async fn text(mut self) -> String {
        let mut body = String::new();
        timeout(PATIENCE, self.reader.read_to_string(&mut body)).await.expect("in time").expect("a body");
        body
    }

    pub(crate) async fn json(self) -> Value {
        let head = self.head.clone();
        let body = self.text().await;
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {head}{body}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The next event; none when the stream has ended as it should. Pieces have their lengths in
    /// lines between those of the events.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let (mut id, mut name) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            timeout(PATIENCE, self.reader.read_line(&mut line)).await.expect("in time").expect("a line");
            assert!(!line.is_empty(), "the stream was cut off");
            if line == "0\r\n" {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("id", value)) => id = value.to_owned(),
                Some(("event", value)) => name = value.to_owned(),
                Some(("data", value)) => {
                    return Some(Event { id, name, data: serde_json::from_str(value).expect("JSON") });
                }
                _ => {}
            }
        }
    }

    /// Reads on to an event of that name; all that were read.
    pub(crate) async fn until(&mut self, name: &str) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("no {name}: {events:#?}"));
            let found = event.name == name;
            events.push(event);
            if found {
                return events;
            }
        }
    }

    /// All events to the end of the stream.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The names of events, a run of deltas as one.
pub(crate) fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    names.dedup_by(|next, last| next == last && *next == "text_delta");
    names
}

/// The one event of that name.
pub(crate) fn only<'a>(events: &'a [Event], name: &str) -> &'a Value {
    let mut found = events.iter().filter(|event| event.name == name);
    let (first, second) = (found.next(), found.next());
    assert!(second.is_none(), "{name} comes more than once: {events:#?}");
    &first.unwrap_or_else(|| panic!("no {name}: {events:#?}")).data
}

pub(crate) fn stop_reason(events: &[Event]) -> &str {
    only(events, "done")["stopReason"].as_str().expect("a reason")
}

/// All that was streamed, put together.
pub(crate) fn streamed(events: &[Event]) -> String {
    let deltas = events.iter().filter(|event| event.name == "text_delta");
    deltas.filter_map(|event| event.data["content"].as_str()).collect()
}

/// A whole stream to look at: one line for each event, what differs from run to run left out. How
/// much of a text arrives at once differs too.
pub(crate) fn redacted(events: &[Event]) -> String {
    let lines = joined(events).into_iter().map(|event| {
        let mut data = event.data.clone();
        redact(&mut data);
        let id = event.id.split('.').count();
        let kind = if id == 2 { "passing" } else { "kept" };
        format!("{kind} {} {data}", event.name)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The events with neighbouring pieces of text as one.
fn joined(events: &[Event]) -> Vec<Event> {
    let mut joined: Vec<Event> = Vec::new();
    for event in events {
        match joined.last_mut().filter(|last| last.name == "text_delta" && event.name == "text_delta") {
            Some(last) => {
                let text = |of: &Event| of.data["content"].as_str().unwrap_or_default().to_owned();
                last.data["content"] = Value::String(text(last) + &text(event));
            }
            None => joined.push(event.clone()),
        }
    }
    joined
}

pub(crate) fn redact(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "id" | "requestId" | "sessionId" | "session" => *value = "[id]".into(),
                    "created_at" | "updated_at" | "createdAt" | "answered_since" | "asked_at" => {
                        *value = "[time]".into();
                    }
                    "inputTokens" | "outputTokens" | "input_tokens" | "output_tokens" => {
                        *value = "[tokens]".into();
                    }
                    "root" => *value = "[root]".into(),
                    _ => redact(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        _ => {}
    }
}
