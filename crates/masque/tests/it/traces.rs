//! Traces that reach a collector.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains};
use crate::rehearsed::Rehearsed;
use crate::wire::{Client as _, PATIENCE, Server, start_mcp_with};

const SCRIPT: &str = r##"
[[reply]]
when = { tool_result_of = "read_file" }
text = "The secret-answer is one."
usage = { input = 120, output = 7, cache_read = 100 }

[[reply]]
when = { last_user = "wrong key" }
fault = { status = 401, message = "invalid secret-key" }

[[reply]]
when = { last_user = "read nothing" }
say = [{ tool = "read_file", input = { path = "secret-nothing.txt" }, id = "call_2" }]

[[reply]]
when = { last_user = "read it" }
reasoning = "secret-thought"
say = [{ text = "secret-preamble" }, { tool = "read_file", input = { path = "secret-notes.txt" }, id = "call_1" }]
usage = { input = 30, output = 12 }

[[reply]]
text = "secret-reply"
"##;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector on loopback that keeps the bodies of its requests.
struct Collector {
    url: String,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || take(stream.unwrap(), &kept));
            }
        });
        Self { url, bodies }
    }

    fn settings(&self) -> [(&'static str, &str); 2] {
        [("OTEL_EXPORTER_OTLP_ENDPOINT", &self.url), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")]
    }

    /// The requests so far, which must be JSON.
    fn requests(&self) -> Vec<Value> {
        let bodies = self.bodies.lock().unwrap();
        bodies.iter().map(|body| serde_json::from_slice(body).unwrap()).collect()
    }

    /// All spans so far.
    fn spans(&self) -> Vec<Value> {
        let requests = self.requests();
        let scopes =
            requests.iter().flat_map(|body| body["resourceSpans"][0]["scopeSpans"].as_array().unwrap());
        scopes.flat_map(|scope| scope["spans"].as_array().unwrap()).cloned().collect()
    }

    /// Waits until a span has come that is the last of its trace.
    fn wait_for(&self, name: &str) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let spans = self.spans();
            if spans.iter().any(|span| span["name"] == name) {
                return spans;
            }
            assert!(Instant::now() < deadline, "no {name} in {spans:#?}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Answers the requests of one connection.
fn take(stream: TcpStream, kept: &Mutex<Vec<Vec<u8>>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
            let header = std::mem::take(&mut line).trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        if length == 0 || stream.read_exact(&mut body).is_err() {
            return;
        }
        kept.lock().unwrap().push(body);
        stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
    }
}

/// The attributes of a span, without their types.
fn attributes(span: &Value) -> Value {
    let plain = |value: &Value| match value.as_object().unwrap().iter().next().unwrap() {
        (kind, Value::String(number)) if kind == "intValue" => number.parse::<i64>().unwrap().into(),
        (kind, list) if kind == "arrayValue" => {
            list["values"].as_array().unwrap().iter().map(|word| word["stringValue"].clone()).collect()
        }
        (_, value) => value.clone(),
    };
    let pairs = span["attributes"].as_array().unwrap().iter();
    pairs.map(|pair| (pair["key"].as_str().unwrap().to_owned(), plain(&pair["value"]))).collect()
}

#[track_caller]
fn named<'a>(spans: &'a [Value], name: &str) -> Vec<&'a Value> {
    let found: Vec<_> = spans.iter().filter(|span| span["name"] == name).collect();
    let names: Vec<_> = spans.iter().map(|span| &span["name"]).collect();
    assert!(!found.is_empty(), "no {name} in {names:?}");
    found
}

fn post(server: &Server, path: &str, headers: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = body.to_string();
    let (address, token, length) = (&server.address, &server.token, body.len());
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn traced(rehearsed: &Rehearsed, collector: &Collector, arguments: &[&str]) -> Command {
    let mut command = rehearsed.command(arguments);
    command.envs(collector.settings());
    command
}

#[test]
fn a_message_over_http_is_one_trace() {
    let (rehearsed, collector) = (Rehearsed::new(SCRIPT), Collector::start());
    rehearsed.home.write("work/secret-notes.txt", "secret-file\n");
    let persona = "[personas.worker]\nsystem_prompt = \"secret-prompt\"\n\n\
                   [[personas.worker.preferred_models]]\nprovider = \"test\"\nmodel = \"scripted\"\n\
                   temperature = 0.5\ntop_p = 0.25\nmax_output_tokens = 500\n";
    rehearsed.home.write(".config/masque/personas.toml", persona);
    let server = Server::start_command(traced(&rehearsed, &collector, &[]), &["--project", "."]);
    let created = post(&server, "/api/sessions", "", &json!({ "persona": "worker" }));
    let created: Value = serde_json::from_str(created.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let id = created["id"].as_str().unwrap();
    let headers = format!("traceparent: 00-{TRACE}-{PARENT}-01\r\nx-request-id: request-7\r\n");
    let path = format!("/api/sessions/{id}/messages");
    let answer = post(&server, &path, &headers, &json!({ "content": "read it, secret-question" }));
    contains(&answer, &["event: done"]);
    let spans = collector.wait_for("invoke_agent worker");
    let all = Value::from(collector.requests()).to_string();
    assert!(!all.contains("secret"), "no text of prompts, messages, tools or replies: {all}");
    assert!(!all.contains(&server.token));

    let request = named(&spans, "POST /api/sessions/{id}/messages")[0];
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!(request["kind"], 2);
    assert_eq!(
        attributes(request),
        json!({
            "http.request.method": "POST", "http.route": "/api/sessions/{id}/messages",
            "http.response.status_code": 200, "url.scheme": "http", "url.path": path,
            "masque.request_id": "request-7", "masque.operation": "send_message",
        })
    );
    let run = named(&spans, "invoke_agent worker")[0];
    assert_eq!((&run["traceId"], &run["parentSpanId"]), (&json!(TRACE), &request["spanId"]));
    assert_eq!(
        attributes(run),
        json!({
            "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "worker",
            "gen_ai.conversation.id": id, "gen_ai.provider.name": "test",
            "gen_ai.request.model": "scripted", "masque.run.end": "end_turn",
        })
    );
    let calls = named(&spans, "chat scripted");
    let figures = [(30, 12, Value::Null, "tool_call"), (120, 7, json!(100), "stop")];
    assert_eq!(calls.len(), figures.len());
    for (call, (input, output, cached, reason)) in calls.iter().zip(figures) {
        assert_eq!((&call["traceId"], &call["parentSpanId"]), (&json!(TRACE), &run["spanId"]));
        assert_eq!((&call["kind"], call.get("status")), (&json!(3), None));
        let mut expected = json!({
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "test",
            "gen_ai.request.model": "scripted", "gen_ai.response.model": "scripted",
            "gen_ai.request.temperature": 0.5, "gen_ai.request.top_p": 0.25, "gen_ai.request.max_tokens": 500,
            "gen_ai.agent.name": "worker", "gen_ai.conversation.id": id,
            "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output,
            "gen_ai.response.finish_reasons": [reason],
        });
        if !cached.is_null() {
            expected["gen_ai.usage.cache_read.input_tokens"] = cached;
        }
        assert_eq!(attributes(call), expected);
    }
    let tool = named(&spans, "execute_tool read_file")[0];
    assert_eq!((&tool["traceId"], &tool["parentSpanId"]), (&json!(TRACE), &run["spanId"]));
    assert_eq!(
        attributes(tool),
        json!({
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_file",
            "gen_ai.tool.call.id": "call_1", "gen_ai.tool.type": "function",
            "gen_ai.agent.name": "worker", "gen_ai.conversation.id": id,
        })
    );
    assert_eq!(
        attributes(&collector.requests()[0]["resourceSpans"][0]["resource"])["service.name"],
        "masque"
    );
}

#[test]
fn commands_send_their_spans_before_they_end() {
    let (rehearsed, collector) = (Rehearsed::new(SCRIPT), Collector::start());
    let run = |message: &str| {
        collector.bodies.lock().unwrap().clear();
        let answer =
            CommandOutput::of(traced(&rehearsed, &collector, &["run", "worker", message]).output().unwrap());
        (answer.code, collector.spans())
    };
    let (code, spans) = run("hello");
    assert_eq!((code, spans.len()), (0, 2), "{spans:#?}");
    assert_eq!(named(&spans, "invoke_agent worker")[0].get("parentSpanId"), None);

    let (code, spans) = run("read nothing");
    let tool = named(&spans, "execute_tool read_file")[0];
    assert_eq!((code, &tool["status"]["code"]), (0, &json!(2)));
    assert_eq!(attributes(tool)["error.type"], "tool_error");

    let (code, spans) = run("wrong key");
    assert_ne!(code, 0);
    for name in ["chat scripted", "invoke_agent worker"] {
        let span = named(&spans, name)[0];
        assert_eq!(
            (&span["status"]["code"], &attributes(span)["error.type"]),
            (&json!(2), &json!("unauthorized"))
        );
    }
    assert!(!Value::from(spans).to_string().contains("secret"));
}

#[test]
fn calls_over_mcp_are_spans() {
    let (rehearsed, collector) = (Rehearsed::new(SCRIPT), Collector::start());
    let server = Server::start_command(traced(&rehearsed, &collector, &[]), &[]);
    server.connect().ask("list_agent_personas", json!({}));
    let spans = collector.wait_for("tools/call list_agent_personas");
    let (call, request) = (named(&spans, "tools/call list_agent_personas")[0], named(&spans, "POST /mcp")[0]);
    assert_eq!((&call["parentSpanId"], &call["traceId"]), (&request["spanId"], &request["traceId"]));
    assert_eq!(attributes(request)["masque.operation"], "mcp");

    // The endpoint of the file counts for clients that set no variables.
    let (home, collector) = (Home::new(), Collector::start());
    home.write(".config/masque/config.toml", &format!("[telemetry]\nendpoint = \"{}\"\n", collector.url));
    let (running, mut pipes) = start_mcp_with(&home, &[]);
    pipes.ask("list_agent_personas", json!({}));
    drop(pipes);
    assert_eq!(running.finish(), (Some(0), String::new()));
    // Protobuf, where texts are as they are.
    let sent = String::from_utf8_lossy(&collector.bodies.lock().unwrap().concat()).into_owned();
    contains(&sent, &["tools/call list_agent_personas", "service.name"]);
}

#[test]
fn a_collector_that_is_away_changes_nothing() {
    let rehearsed = Rehearsed::new(SCRIPT);
    // It accepts connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut command = rehearsed.command(&["run", "worker", "hello"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    let started = Instant::now();
    let answer = CommandOutput::of(command.output().unwrap());
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "secret-reply\n", ""));
    assert!(started.elapsed() < PATIENCE / 2, "{:?}", started.elapsed());
    // Invalid settings are a warning.
    let mut command = rehearsed.command(&["run", "worker", "hello"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url).env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let answer = CommandOutput::of(command.output().unwrap());
    contains(&answer.stderr, &["there are no traces", "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"]);
    assert_eq!(answer.ok(), "secret-reply\n");
}

#[test]
fn doctor_asks_the_collector() {
    let home = Home::new();
    assert_eq!(home.json(&["doctor"])["traces"], json!({ "state": "off" }));
    let collector = Collector::start();
    let doctor = |endpoint: &str| {
        let mut command = home.command();
        command.args(["doctor", "--json"]).envs(collector.settings());
        let output = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).output().unwrap();
        let report: Value = serde_json::from_str(&CommandOutput::of(output).stdout).unwrap();
        report
    };
    let report = doctor(&collector.url);
    assert_eq!((&report["problems"], &report["traces"]["state"]), (&json!([]), &json!("answers")));
    assert_eq!(report["traces"]["endpoint"], format!("{}/v1/traces", collector.url));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let report = doctor(&format!("http://me:s3cret@{free}"));
    assert_eq!(report["traces"]["state"], "does_not_answer");
    assert!(!report.to_string().contains("s3cret"), "{report:#}");
    contains(&report["problems"][0]["advice"].to_string(), &["4318"]);
    assert_eq!(doctor("nowhere")["traces"]["state"], "invalid");
}
