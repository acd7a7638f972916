//! `GET /api/events`: live changes, and missed ones for clients that reconnect.

use std::time::Duration;

use app::{Author, Library};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::running::{PATIENCE, send, start, start_with_project};

/// An open stream of events.
struct Events {
    head: String,
    reader: BufReader<TcpStream>,
}

#[derive(Debug, PartialEq, Eq)]
struct Event {
    id: String,
    event: String,
    data: Value,
}

impl Event {
    fn place(&self) -> u64 {
        let (_, place) = self.id.split_once('-').expect("an epoch and a place");
        place.parse().expect("a number")
    }
}

impl Events {
    async fn open(port: u16, last: Option<&str>) -> Self {
        let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        let request = format!("GET /api/events HTTP/1.1\r\nhost: localhost\r\n{last}\r\n");
        let mut reader = BufReader::new(send(port, &request).await);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = reader.read_line(&mut head);
            assert!(timeout(PATIENCE, read).await.expect("in time").expect("a line") > 0, "{head}");
        }
        Self { head, reader }
    }

    /// The next event. Chunks have their lengths in lines between those of the events.
    async fn next(&mut self) -> Event {
        let (mut id, mut event) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            timeout(PATIENCE, self.reader.read_line(&mut line)).await.expect("in time").expect("a line");
            assert!(!line.is_empty(), "the stream ended");
            match line.trim_end().split_once(": ") {
                Some(("id", value)) => id = value.to_owned(),
                Some(("event", value)) => event = value.to_owned(),
                Some(("data", value)) => {
                    return Event { id, event, data: serde_json::from_str(value).expect("JSON") };
                }
                _ => {}
            }
        }
    }

    /// The next event of a kind; others may come before it.
    async fn next_of(&mut self, kind: &str) -> Event {
        loop {
            let event = self.next().await;
            if event.event == kind {
                return event;
            }
        }
    }
}

async fn create(library: &Library, name: &str) {
    let input = serde_json::from_value(json!({ "name": name, "summary": "Helps." })).expect("an input");
    library.create_persona(&Author::new("somebody", "test"), input).await.expect("created");
}

fn created(name: &str) -> Value {
    json!({ "kind": "persona", "name": name, "listed": true })
}

#[tokio::test]
async fn changes_are_reported_as_they_happen() {
    let running = start().await;
    let mut events = Events::open(running.port, None).await;
    let head = events.head.to_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains("content-type: text/event-stream"), "{head}");
    assert!(head.contains("cache-control: no-cache") && head.contains("x-accel-buffering: no"), "{head}");
    let first = events.next().await;
    assert_eq!((first.event.as_str(), &first.data), ("problems", &json!({ "problems": [] })));
    let mut place = first.place();
    for name in ["one", "two", "three"] {
        create(&running.library, name).await;
        let event = events.next().await;
        assert_eq!((event.event.as_str(), &event.data), ("change", &created(name)));
        assert!(event.place() > place, "{event:?}");
        place = event.place();
    }
}

#[tokio::test]
async fn a_client_that_reconnects_gets_the_missed_events() {
    let running = start().await;
    let mut events = Events::open(running.port, None).await;
    let first = events.next().await.id;
    create(&running.library, "one").await;
    let one = events.next().await;
    drop(events);
    create(&running.library, "two").await;
    create(&running.library, "three").await;
    for (last, names) in [(&first, &["one", "two", "three"][..]), (&one.id, &["two", "three"])] {
        let mut events = Events::open(running.port, Some(last)).await;
        let again = events.next().await;
        assert_eq!((again.event.as_str(), &again.id), ("problems", last));
        for name in names {
            assert_eq!(events.next().await.data, created(name));
        }
    }
    let mut fresh = Events::open(running.port, None).await;
    let problems = fresh.next().await;
    assert_eq!((problems.event.as_str(), problems.place()), ("problems", one.place() + 2));
}

#[tokio::test]
async fn an_id_of_another_time_means_everything() {
    let running = start().await;
    create(&running.library, "one").await;
    for last in ["0123456789abcdef-3", "nonsense", "0123456789abcdef-999999"] {
        let mut events = Events::open(running.port, Some(last)).await;
        let everything = events.next().await;
        assert_eq!((everything.event.as_str(), &everything.data), ("everything", &json!({})), "{last}");
        assert_eq!(events.next().await.event, "problems");
        // From here on it is a stream like any other.
        create(&running.library, &format!("n{}", last.len())).await;
        let event = events.next().await;
        assert_eq!(event.event, "change");
        assert!(event.place() > everything.place());
    }
}

#[tokio::test]
async fn files_and_their_problems_are_reported() {
    let good = "[personas.guide]\nsystem_prompt = \"You guide.\"\n";
    let running = start_with_project(good).await;
    let path = running.project_file();
    let mut events = Events::open(running.port, None).await;
    assert_eq!(events.next().await.data, json!({ "problems": [] }));
    std::fs::write(&path, good.replace("guide.", "lead.")).expect("a file");
    let event = events.next().await;
    assert_eq!(event.data, json!({ "kind": "persona", "name": "guide", "listed": false }));
    std::fs::write(&path, format!("{good}[parts.calm\n")).expect("a file");
    let problems = events.next_of("problems").await;
    let problem = &problems.data["problems"][0];
    assert_eq!(
        (&problem["level"], &problem["path"], &problem["line"], &problem["source_line"]),
        (&json!("error"), &json!(path.display().to_string()), &json!(3), &json!("[parts.calm"))
    );
    // A new client gets them at once.
    let mut late = Events::open(running.port, None).await;
    assert_eq!(late.next().await.data, problems.data);
    std::fs::write(&path, good).expect("a file");
    for events in [&mut events, &mut late] {
        assert_eq!(events.next_of("problems").await.data, json!({ "problems": [] }));
    }
}

#[tokio::test]
async fn streams_are_bounded() {
    let running = start().await;
    let mut open = Vec::new();
    for _ in 0..512 {
        open.push(Events::open(running.port, None).await);
    }
    let mut refused = Events::open(running.port, None).await;
    let head = refused.head.to_lowercase();
    assert!(head.starts_with("http/1.1 503") && head.contains("retry-after: 5"), "{head}");
    assert!(head.contains("content-type: application/problem+json"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    refused.reader.read_exact(&mut body).await.expect("a body");
    let problem: Value = serde_json::from_slice(&body).expect("a problem document");
    assert_eq!(problem["code"], "overloaded", "{problem}");
    // A place that is given back is there for the next.
    drop(open.pop());
    let freed = async {
        while !Events::open(running.port, None).await.head.starts_with("HTTP/1.1 200") {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, freed).await.expect("in time");
    create(&running.library, "one").await;
    for events in &mut open {
        assert_eq!(events.next_of("change").await.data, created("one"));
    }
}

#[tokio::test]
async fn a_stop_ends_streams() {
    let running = start().await;
    let mut events = Events::open(running.port, None).await;
    events.next().await;
    running.stop.send(()).expect("the server runs");
    let mut rest = String::new();
    timeout(PATIENCE, events.reader.read_to_string(&mut rest)).await.expect("in time").expect("the rest");
    assert!(rest.ends_with("0\r\n\r\n"), "the stream is not cut off but ended: {rest:?}");
    timeout(PATIENCE, running.task).await.expect("in time").expect("a task").expect("an end");
}
