//! How the server stops.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::running::{PATIENCE, send, start};

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
