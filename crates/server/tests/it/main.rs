//! The server on a real port.

use std::time::{Duration, Instant};

use app::{Library, OpenOptions};
use server::ServerOptions;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Nothing that a test waits for takes as long as this.
const PATIENCE: Duration = Duration::from_secs(10);

struct Running {
    port: u16,
    library: Library,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
    _directory: TempDir,
}

async fn start() -> Running {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = directory.path().join("masque.db").display().to_string();
    let library = Library::open(OpenOptions { database, create: true }).await.expect("a library");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let router = server::router(library.clone(), ServerOptions::default());
    let (stop, stopped) = oneshot::channel();
    let shutdown = async {
        let _ = stopped.await;
    };
    let task = tokio::spawn(server::serve(listener, router, shutdown));
    Running { port, library, stop, task, _directory: directory }
}

async fn send(port: u16, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a request is written");
    stream
}

async fn get(port: u16, path: &str, host: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    let mut stream = send(port, &request).await;
    let mut answer = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut answer)).await.expect("in time").expect("an answer");
    answer
}

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
async fn health_follows_the_database() {
    let running = start().await;
    let answer = get(running.port, "/healthz", "localhost").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#""status":"ok""#) && answer.contains(env!("CARGO_PKG_VERSION")), "{answer}");
    running.library.close().await;
    let answer = get(running.port, "/healthz", "localhost").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains(r#""reason":"#), "{answer}");
}

#[tokio::test]
async fn every_route_is_guarded() {
    let running = start().await;
    for path in ["/healthz", "/mcp", "/nowhere"] {
        let answer = get(running.port, path, "evil.example.com").await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
        assert!(answer.contains("127.0.0.1"), "{path}: {answer}");
    }
    let answer = get(running.port, "/nowhere", "localhost").await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(answer.contains("application/problem+json") && answer.contains("/healthz"), "{answer}");
}

#[tokio::test]
async fn a_stop_lets_streams_say_their_last_word() {
    let running = start().await;
    let mut stream = listen(running.port).await;
    let idle = TcpStream::connect(("127.0.0.1", running.port)).await.expect("a connection");
    let began = Instant::now();
    running.stop.send(()).expect("the server runs");
    let mut rest = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut rest)).await.expect("in time").expect("the rest");
    assert!(rest.contains(r#""id":1"#) && rest.contains(r#""resultType":"complete""#), "{rest}");
    timeout(PATIENCE, running.task).await.expect("in time").expect("a task").expect("an end");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    drop(idle);
    assert!(TcpStream::connect(("127.0.0.1", running.port)).await.is_err(), "nobody listens any more");
}
