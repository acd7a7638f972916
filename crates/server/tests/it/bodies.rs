//! Requests that are refused before their body was read: the answer arrives all the same.

use serde_json::json;
use server::{Access, Token};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::ask;
use crate::running::{PATIENCE, start, start_for};

/// Rounds of every request: a reset needs the wrong timing.
const ROUNDS: usize = 3;

/// A request with a body of that many bytes.
fn request(line: &str, headers: &str, length: usize) -> Vec<u8> {
    let head = format!("{line} HTTP/1.1\r\n{headers}\r\ncontent-length: {length}\r\n\r\n");
    [head.into_bytes(), vec![b' '; length]].concat()
}

/// One answer of a connection: its head in lower case, and its body.
async fn answer(stream: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    Ok((head, body))
}

/// Sends everything before it reads, as simple clients do. Returns the head of the answer.
async fn refused(port: u16, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    let exchange = async {
        stream.write_all(bytes).await?;
        answer(&mut stream).await
    };
    let answered = timeout(PATIENCE, exchange).await.expect("in time");
    let (head, body) = answered.expect("the answer arrives, not a reset");
    serde_json::from_slice::<serde_json::Value>(&body).expect("a complete document");
    if head.contains("connection: close") {
        let mut rest = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("in time").expect("an end, no reset");
        assert!(rest.is_empty(), "{rest:?}");
    } else {
        // The connection serves the next request.
        let next = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(next).await.expect("a request");
        let (next, _) = timeout(PATIENCE, answer(&mut stream)).await.expect("in time").expect("an answer");
        assert!(next.starts_with("http/1.1 200"), "{head}{next}");
    }
    head
}

const JSON: &str = "host: localhost\r\ncontent-type: application/json";

#[tokio::test]
async fn every_early_refusal_reaches_its_client() {
    let running = start().await;
    let cases = [
        ("PUT /api/library/part/calm", "host: evil.example.com\r\ncontent-type: application/json", 403),
        (
            "PUT /api/library/part/calm",
            "host: localhost\r\norigin: http://evil.example.com\r\ncontent-type: application/json",
            403,
        ),
        ("POST /nowhere", JSON, 404),
        ("PUT /api/sessions", JSON, 405),
        ("PUT /api/library/thing/calm", JSON, 404),
        ("PUT /api/library/part/calm", "host: localhost\r\ncontent-type: text/plain", 415),
        ("PUT /api/library/part/calm?scope=shared", JSON, 400),
        ("DELETE /api/library/part/calm", JSON, 400),
        ("POST /healthz", JSON, 405),
        ("POST /mcp", "host: evil.example.com\r\ncontent-type: application/json", 403),
        ("POST /mcp", "host: localhost\r\ncontent-type: text/plain", 415),
    ];
    for (line, headers, status) in cases {
        // The first is read to its end, the others are not.
        for length in [100_000, 700_000, 3_000_000] {
            for _ in 0..ROUNDS {
                let head = refused(running.port, &request(line, headers, length)).await;
                assert!(head.starts_with(&format!("http/1.1 {status}")), "{line} {length}: {head}");
                assert_eq!(head.contains("connection: close"), length > 100_000, "{line} {length}: {head}");
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_answered() {
    let running = start().await;
    for path in ["PUT /api/library/part/calm", "POST /mcp"] {
        // The longer one is as large as a file that `masque import` takes.
        for length in [6_000_000, 60_000_000] {
            let head = refused(running.port, &request(path, JSON, length)).await;
            assert!(head.starts_with("http/1.1 413") && head.contains("connection: close"), "{path}: {head}");
        }
    }
}

/// The answer to a client that asks before it sends a body.
async fn leave(port: u16, line: &str, headers: &str, length: usize) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    let head =
        format!("{line} HTTP/1.1\r\n{headers}\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("a head");
    timeout(PATIENCE, answer(&mut stream)).await.expect("in time").expect("an answer").0
}

/// A client that asks first need not send what is refused.
#[tokio::test]
async fn a_client_that_waits_for_leave_gets_the_refusal_instead() {
    let running = start().await;
    let text = "host: localhost\r\ncontent-type: text/plain";
    let head = leave(running.port, "PUT /api/library/part/calm", text, 100_000).await;
    assert!(head.starts_with("http/1.1 415") && head.contains("connection: close"), "{head}");
}

/// An import takes as much as a file has, with its characters escaped, and from those who have the token only.
#[tokio::test]
async fn an_import_may_be_as_long_as_a_file() {
    const IMPORT: &str = "POST /api/import";
    let running = start().await;
    let comment = format!("# \"{}\"\n", "x".repeat(95));
    let text = format!("{}[skills.calm]\ncontent = 'Calm.'\n", comment.repeat(60_000));
    assert!(text.len() > 5 * 1024 * 1024);
    let import = json!({ "toml": text, "scope": "shared" });
    let (status, plan) = ask(running.port, "POST", "/api/import", Some(&import)).await;
    assert_eq!(status, 200, "{plan}");
    assert_eq!(ask(running.port, "GET", "/api/library/skill/calm", None).await.0, 200);

    let file = persona::limits::FILE_BYTES;
    assert!(leave(running.port, IMPORT, JSON, 2 * file).await.starts_with("http/1.1 100"));
    assert!(leave(running.port, IMPORT, JSON, 2 * file + 1).await.starts_with("http/1.1 413"));
    assert!(leave(running.port, "PUT /api/library/part/calm", JSON, file).await.starts_with("http/1.1 413"));
    let locked = start_for(Access::with_token(&Token::generate())).await;
    assert!(leave(locked.port, IMPORT, JSON, file).await.starts_with("http/1.1 401"));
}
