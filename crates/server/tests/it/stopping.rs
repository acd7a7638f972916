//! How the server stops.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{code, open, stop_reason};
use crate::running::{PATIENCE, send, start};
use crate::sessions::world::World;

/// A stream of the newer era that waits for changes of the prompts.
async fn listen(port: u16) -> BufReader<TcpStream> {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let length = body.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n\
         accept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let mut reader = BufReader::new(send(port, &request).await);
    let mut line = String::new();
    while !line.contains("notifications/subscriptions/acknowledged") {
        line.clear();
        timeout(PATIENCE, reader.read_line(&mut line)).await.expect("in time").expect("a line");
        assert!(!line.is_empty(), "the stream ended");
    }
    reader
}

#[tokio::test]
async fn a_stop_lets_streams_say_their_last_word() {
    let running = start().await;
    let mut stream = listen(running.port).await;
    let idle = TcpStream::connect(("127.0.0.1", running.port)).await.expect("a connection");
    running.stop.send(()).expect("the server runs");
    let mut rest = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut rest)).await.expect("in time").expect("the rest");
    assert!(rest.contains(r#""id":1"#) && rest.contains(r#""resultType":"complete""#), "{rest}");
    timeout(PATIENCE, running.task).await.expect("in time").expect("a task").expect("an end");
    drop(idle);
    assert!(TcpStream::connect(("127.0.0.1", running.port)).await.is_err(), "the port is closed");
}

/// A load balancer learns that the server stops, and clients why they are refused.
#[tokio::test(flavor = "multi_thread")]
async fn new_clients_of_a_stopping_server_are_refused_with_a_reason() {
    let words = "word ".repeat(60);
    let world = World::start(&format!("[[reply]]\npace_ms = 20\ntext = \"{words}\"\n")).await;
    let port = world.served.port;
    let session = world.session().await;
    let mut opened = world.say(&session, "Talk.").await;
    opened.until("text_delta").await;
    let refused = async {
        let health = loop {
            let health = open(port, "GET", "/readyz", &[], None).await;
            if health.status == 503 {
                break health;
            }
        };
        assert_eq!((health.header("connection"), health.header("retry-after")), (Some("close"), Some("5")));
        assert_eq!(health.json().await["status"], "unavailable");
        let body = format!("{{\"content\": \"{}\"}}", "x".repeat(100_000));
        for (method, path, body) in [
            ("GET", "/", None),
            ("GET", "/api/sessions", None),
            ("POST", "/mcp", Some("{}")),
            ("POST", &*format!("{session}/messages"), Some(&*body)),
        ] {
            let answer = open(port, method, path, &[], body).await;
            assert_eq!((answer.status, answer.header("connection")), (503, Some("close")), "{path}");
            assert_eq!(answer.header("retry-after"), Some("5"), "{path}");
            let problem = answer.json().await;
            assert_eq!((code(&problem), &problem["may_have_happened"]), ("server_stopping", &false.into()));
        }
    };
    // The reply that is under way ends as if nothing happened; then the port is closed.
    let (_, (), rest) = tokio::join!(world.served.stop(), refused, opened.rest());
    assert_eq!(stop_reason(&rest), "end_turn");
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err(), "the port is closed");
}
