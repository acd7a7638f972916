//! Minimal clients of the protocol, over pipes and over HTTP.
//!
//! Unlike an SDK, they never retry: an answer is complete, or the server is gone.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::Home;

/// No answer takes this long on any machine. A test that waits longer fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running `masque`, which is killed when the test ends.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    /// Its standard error: a file, which never fills up like a pipe.
    errors: File,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let errors = tempfile::tempfile().unwrap();
        command.stdout(Stdio::piped()).stderr(errors.try_clone().unwrap());
        Self { child: command.spawn().unwrap(), errors }
    }

    /// Kills it with `kill -9`, so that it cannot finish anything.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Stops the process. Returns its exit code and its standard error.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        (code, self.errors())
    }

    /// Waits until the process ends by itself. Returns its exit code and its standard error.
    pub(crate) fn finish(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "it does not end: {}", self.errors());
            std::thread::sleep(Duration::from_millis(5));
        }
        let code = self.child.wait().unwrap().code();
        (code, self.errors())
    }

    fn errors(&mut self) -> String {
        let mut errors = String::new();
        self.errors.rewind().unwrap();
        self.errors.read_to_string(&mut errors).unwrap();
        errors
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The result of a tool: its structured content, or the advice of a refusal.
pub(crate) type ToolResult = Result<Value, String>;

/// One connection. An `io::Error` always means that the server is gone.
pub(crate) trait Client: Send {
    fn request(&mut self, method: &str, params: Value) -> io::Result<Value>;

    fn call(&mut self, tool: &str, arguments: Value) -> io::Result<ToolResult> {
        let reply = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        let result = &reply["result"];
        assert!(result.is_object(), "{tool} ended in a protocol error: {reply}");
        if result["isError"] == true {
            return Ok(Err(result["content"][0]["text"].as_str().unwrap().to_owned()));
        }
        Ok(Ok(result["structuredContent"].clone()))
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let shown = format!("{tool}({arguments})");
        let answer = self.call(tool, arguments).unwrap_or_else(|error| panic!("{shown}: {error}"));
        answer.unwrap_or_else(|refusal| panic!("{shown}: {refusal}"))
    }
}

/// Starts `masque mcp` and waits until it is ready.
pub(crate) fn start_mcp(home: &Home, database: &str) -> (Running, Pipes) {
    start_mcp_with(home, &["--db", database])
}

/// The same with other arguments.
pub(crate) fn start_mcp_with(home: &Home, arguments: &[&str]) -> (Running, Pipes) {
    let mut command = home.command();
    command.arg("mcp").args(arguments);
    let (running, pipes) = try_start_mcp(command);
    (running, pipes.unwrap())
}

/// Starts an MCP server that may be gone before it is ready.
pub(crate) fn try_start_mcp(mut command: Command) -> (Running, io::Result<Pipes>) {
    command.stdin(Stdio::piped());
    let mut running = Running::start(command);
    let stdin = running.child.stdin.take().unwrap();
    let stdout = BufReader::new(running.child.stdout.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut pipes = Pipes { stdin, lines, last_id: 0, news: Vec::new() };
    let ready = pipes.initialize();
    (running, ready.map(|()| pipes))
}

/// A client over standard input and output, in the older of the protocol's eras.
#[derive(Debug)]
pub(crate) struct Pipes {
    stdin: ChildStdin,
    lines: Receiver<String>,
    last_id: u64,
    /// Notifications that arrived before an answer.
    news: Vec<Value>,
}

impl Pipes {
    fn initialize(&mut self) -> io::Result<()> {
        let client = json!({ "name": "wire", "version": "0" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let reply = self.request("initialize", params)?;
        assert_eq!(reply["result"]["serverInfo"]["name"], "masque", "{reply}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        self.stdin.write_all(format!("{message}\n").as_bytes())
    }

    fn receive(&mut self, patience: Duration) -> io::Result<Value> {
        match self.lines.recv_timeout(patience) {
            // A killed process may leave half a line.
            Ok(line) => serde_json::from_str(&line).map_err(|_| io::ErrorKind::UnexpectedEof.into()),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(RecvTimeoutError::Timeout) => panic!("no answer within {patience:?}"),
        }
    }

    /// Waits for an update of a subscribed resource.
    pub(crate) fn hear_of(&mut self, uri: &str) {
        let deadline = Instant::now() + PATIENCE;
        let is_it = |message: &Value| {
            message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
        };
        let mut heard = std::mem::take(&mut self.news);
        while !heard.iter().any(is_it) {
            let left = deadline.saturating_duration_since(Instant::now());
            heard.push(self.receive(left).unwrap());
        }
    }
}

impl Client for Pipes {
    fn request(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let message = self.receive(PATIENCE)?;
            if message["id"] == id {
                return Ok(message);
            }
            self.news.push(message);
        }
    }
}

/// A `masque serve` on its own port.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) address: String,
    pub(crate) token: String,
}

/// The token in the address of a page that a server announced.
pub(crate) fn token_of(announced: &Value) -> String {
    let page = announced["page_url"].as_str().unwrap();
    page.split_once("?token=").map(|(_, token)| token.to_owned()).unwrap_or_default()
}

impl Server {
    /// Starts a server and waits until it is ready.
    pub(crate) fn start(home: &Home, database: &str) -> Self {
        Self::start_with(home, &["--db", database])
    }

    /// The same with other arguments.
    pub(crate) fn start_with(home: &Home, arguments: &[&str]) -> Self {
        Self::start_command(home.command(), arguments)
    }

    /// Starts a server by a command that runs the program.
    pub(crate) fn start_command(mut command: Command, arguments: &[&str]) -> Self {
        command.args(["serve", "--addr", "127.0.0.1:0", "--json"]).args(arguments);
        let mut running = Running::start(command);
        let mut announced = String::new();
        BufReader::new(running.child.stdout.take().unwrap()).read_line(&mut announced).unwrap();
        assert!(!announced.is_empty(), "the server did not start: {}", running.errors());
        let announced: Value = serde_json::from_str(&announced).unwrap();
        let address = announced["address"].as_str().unwrap().to_owned();
        Self { running, address, token: token_of(&announced) }
    }

    pub(crate) fn connect(&self) -> Http {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (address, token) = (self.address.clone(), self.token.clone());
        Http { address, token, stream: BufReader::new(stream), last_id: 0 }
    }
}

/// A client over one HTTP connection, in the newer of the protocol's eras.
#[derive(Debug)]
pub(crate) struct Http {
    address: String,
    token: String,
    stream: BufReader<TcpStream>,
    last_id: u64,
}

impl Http {
    fn receive(&mut self) -> io::Result<Value> {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body).unwrap())
    }
}

impl Client for Http {
    fn request(&mut self, method: &str, mut params: Value) -> io::Result<Value> {
        const VERSION: &str = "2026-07-28";
        self.last_id += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body =
            json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }).to_string();
        let head = [
            "POST /mcp HTTP/1.1".to_owned(),
            format!("Host: {}", self.address),
            format!("Authorization: Bearer {}", self.token),
            "Content-Type: application/json".to_owned(),
            "Accept: application/json, text/event-stream".to_owned(),
            format!("MCP-Protocol-Version: {VERSION}"),
            format!("Mcp-Method: {method}"),
            format!("Mcp-Name: {name}"),
            format!("Content-Length: {}", body.len()),
        ];
        let request = format!("{}\r\n\r\n{body}", head.join("\r\n"));
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.receive()
    }
}
