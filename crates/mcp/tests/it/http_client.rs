//! A client that speaks HTTP by hand, so that every header is under the test's control.

use app::Library;
use mcp::McpOptions;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::wire::{PATIENCE, modern_meta};

/// A server on a port of its own.
pub(crate) struct Server {
    pub(crate) port: u16,
}

impl Server {
    pub(crate) async fn start(library: Library) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let router = mcp::http::router(library, McpOptions::default());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Request {
        let host = format!("127.0.0.1:{}", self.port);
        Request {
            port: self.port,
            head: format!("{method} {path} HTTP/1.1\r\n"),
            headers: vec![
                ("host".to_owned(), host),
                ("connection".to_owned(), "close".to_owned()),
                ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
                ("content-type".to_owned(), "application/json".to_owned()),
            ],
            body: Vec::new(),
        }
    }

    /// A request of the newer era.
    pub(crate) fn modern(&self, path: &str, method: &str, mut params: Value) -> Request {
        params["_meta"] = modern_meta();
        let name =
            params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(str::to_owned);
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let request = self
            .request("POST", path)
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
            .json(&message);
        match name {
            Some(name) => request.header("mcp-name", &name),
            None => request,
        }
    }

    /// A handshake of the older era; returns the session's id.
    pub(crate) async fn initialize(&self, path: &str) -> String {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "http", "version": "1.0" },
        });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let response = self.request("POST", path).json(&message).send().await;
        assert_eq!(response.status, 200, "{response:?}");
        let id = response.header("mcp-session-id").expect("a session").to_owned();
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = self.session(path, &id, &done).send().await;
        assert_eq!(accepted.status, 202, "{accepted:?}");
        id
    }

    /// A message within a session.
    pub(crate) fn session(&self, path: &str, id: &str, message: &Value) -> Request {
        self.request("POST", path)
            .header("mcp-session-id", id)
            .header("mcp-protocol-version", "2025-11-25")
            .json(message)
    }
}

pub(crate) struct Request {
    port: u16,
    head: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// Sets a header in place of what was there.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body(body.to_string().into_bytes())
    }

    pub(crate) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }

    /// Sends it and opens what comes back as a stream of lines.
    pub(crate) async fn open(self) -> Stream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.expect("a connection");
        let mut head = self.head;
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        stream.write_all(head.as_bytes()).await.expect("a head is written");
        // A server that refuses early may close before it has read everything.
        let _ = stream.write_all(&self.body).await;
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            timeout(PATIENCE, reader.read_line(&mut line)).await.expect("in time").expect("a line");
            if line.trim_end().is_empty() {
                break;
            }
            lines.push(line.trim_end().to_owned());
        }
        let status = lines[0].split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let headers = lines[1..].iter().filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
        Stream { response: Response { status, headers, body: String::new() }, reader }
    }

    pub(crate) async fn send(self) -> Response {
        let Stream { mut response, mut reader } = self.open().await;
        let mut body = Vec::new();
        timeout(PATIENCE, reader.read_to_end(&mut body)).await.expect("in time").expect("a body");
        response.body = String::from_utf8(body).expect("text");
        response
    }
}

pub(crate) struct Stream {
    pub(crate) response: Response,
    reader: BufReader<TcpStream>,
}

impl Stream {
    /// The next message of a stream of events.
    pub(crate) async fn message(&mut self) -> Value {
        loop {
            let mut line = String::new();
            timeout(PATIENCE, self.reader.read_line(&mut line)).await.expect("in time").expect("a line");
            assert!(!line.is_empty(), "the stream ended");
            if let Some(message) =
                line.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok())
            {
                return message;
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The JSON of the body, or of the last event in it.
    pub(crate) fn json(&self) -> Value {
        let event = self
            .body
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("data: ").filter(|data| !data.is_empty()));
        let text = event.unwrap_or_else(|| self.body.trim());
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }
}
