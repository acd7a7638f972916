//! A client as thin as can be: one connection, one request at a time, so that what is measured is
//! the server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// The token of the measured server. A bare one takes no notice of it.
pub(crate) const TOKEN: &str = "a-token-of-the-benchmarks-with-64-characters-as-a-real-one-has-0";

#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

/// A call of a tool as the stateless era of the protocol has it.
pub(crate) fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {
            "name": tool, "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            },
        },
    })
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), body: Vec::new() })
    }

    /// Posts a call of a tool and reads the whole answer.
    pub(crate) fn post(&mut self, tool: &str, body: &str) -> Result<&[u8]> {
        let length = body.len();
        self.exchange(&format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// Sends a request of the API, with a body unless it is empty, and reads the whole answer.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> Result<&[u8]> {
        self.exchange(&request(method, path, body))
    }

    /// The same without a body, and without compression of the answer.
    pub(crate) fn send_plain(&mut self, method: &str, path: &str) -> Result<&[u8]> {
        self.exchange(&request(method, path, "").replace("br, gzip", "identity"))
    }

    fn exchange(&mut self, request: &str) -> Result<&[u8]> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let ok = line.starts_with("HTTP/1.1 2");
        let mut content_length = None;
        loop {
            let mut header = String::new();
            self.stream.read_line(&mut header)?;
            if header.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                content_length = value.trim().parse::<usize>().ok();
            }
        }
        let content_length = content_length.context("the answer has no length")?;
        self.body.resize(content_length, 0);
        self.stream.read_exact(&mut self.body)?;
        ensure!(ok, "{}: {}", line.trim(), String::from_utf8_lossy(&self.body));
        Ok(&self.body)
    }
}

/// A request of the API, as it is sent.
pub(crate) fn request(method: &str, path: &str, body: &str) -> String {
    let content = match body.len() {
        0 => String::new(),
        length => format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
    };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Accept: text/html, */*\r\nAccept-Encoding: br, gzip\r\n{content}\r\n{body}"
    )
}
