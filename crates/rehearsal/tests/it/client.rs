//! A client that shows the raw bytes on the wire.

use std::net::SocketAddr;

use rehearsal::{Fixed, Options, Protocol, Rehearsal, Script};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A script on a port, with ids and times that do not change.
pub(crate) async fn rehearse(script: &str) -> Rehearsal {
    let script = Script::parse(script).expect("a script");
    let options = Options { fixed: Some(Fixed { created: 1_700_000_000 }), ..Options::default() };
    Rehearsal::start_with(script, ([127, 0, 0, 1], 0).into(), options).await.expect("a port")
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// Without the frames of chunks.
    pub(crate) body: String,
    /// True if the body reached its announced end.
    pub(crate) is_whole: bool,
}

impl Raw {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

pub(crate) async fn post(address: SocketAddr, path: &str, body: &Value) -> Raw {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nx-api-key: sk-secret\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    exchange(address, &format!("{head}{body}")).await
}

pub(crate) async fn get(address: SocketAddr, path: &str, header: &str) -> Raw {
    exchange(address, &format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{header}connection: close\r\n\r\n"))
        .await
}

pub(crate) async fn exchange(address: SocketAddr, request: &str) -> Raw {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a request");
    let mut bytes = Vec::new();
    // A reset connection counts as closed.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let mut raw = Raw { status, head: head.to_owned(), body: body.to_owned(), is_whole: false };
    if raw.header("transfer-encoding") == Some("chunked") {
        (raw.body, raw.is_whole) = unchunk(body);
    } else {
        raw.is_whole = raw.header("content-length") == Some(&body.len().to_string());
    }
    raw
}

fn unchunk(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("the size of a chunk");
        if size == 0 {
            return (body, true);
        }
        let end = size.min(after.len());
        body.push_str(&after[..end]);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

pub(crate) fn path(protocol: Protocol, streams: bool) -> &'static str {
    match (protocol, streams) {
        (Protocol::Anthropic, _) => "/v1/messages",
        (Protocol::OpenaiResponses, _) => "/v1/responses",
        (Protocol::OpenaiChat, _) => "/v1/chat/completions",
        (Protocol::Gemini, true) => "/v1beta/models/gem-1:streamGenerateContent?alt=sse",
        (Protocol::Gemini, false) => "/v1beta/models/gem-1:generateContent",
    }
}

/// A request with one text, in each protocol's words.
pub(crate) fn asking(protocol: Protocol, text: &str, streams: bool) -> Value {
    match protocol {
        Protocol::Anthropic => json!({
            "model": "model-1",
            "max_tokens": 100,
            "stream": streams,
            "messages": [{ "role": "user", "content": text }],
        }),
        Protocol::OpenaiResponses => json!({
            "model": "model-1",
            "stream": streams,
            "include": ["reasoning.encrypted_content"],
            "input": text,
        }),
        Protocol::OpenaiChat => json!({
            "model": "model-1",
            "stream": streams,
            "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": text }],
        }),
        Protocol::Gemini => json!({ "contents": [{ "role": "user", "parts": [{ "text": text }] }] }),
    }
}

pub(crate) async fn ask(rehearsal: &Rehearsal, protocol: Protocol, text: &str, streams: bool) -> Raw {
    post(rehearsal.address(), path(protocol, streams), &asking(protocol, text, streams)).await
}
