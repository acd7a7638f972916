//! MCP servers as tool sets.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tools::{McpServers, ServerProblem, ServerSettings, Toolbox, Transport};

use crate::mcp_server::{Server, edited_as, started_as};
use crate::processes::{PATIENCE, ended, is_running};
use crate::{called, contains};

fn one(settings: ServerSettings) -> McpServers {
    McpServers::new(BTreeMap::from([("told".to_owned(), settings)]))
}

async fn toolbox(servers: &McpServers) -> Toolbox {
    let (tools, problems) = servers.list().await;
    let is_about_huge =
        |problem: &ServerProblem| problem.server == "told" && problem.message.contains("\"huge\"");
    assert!(problems.len() == 1 && is_about_huge(&problems[0]), "{problems:?}");
    let mut toolbox = Toolbox::new();
    assert!(toolbox.add(tools).is_empty());
    toolbox
}

async fn say(toolbox: &Toolbox, tool: &str) -> String {
    let answer = toolbox.call(&format!("mcp__told__{tool}"), called(json!({}))).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    answer.text
}

async fn http_server(server: Server) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    serve_on(listener, server);
    url
}

fn serve_on(listener: tokio::net::TcpListener, server: Server) -> tokio::task::AbortHandle {
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(true);
    let service: StreamableHttpService<Server, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(server.clone()), Default::default(), config);
    let check = |request: axum::extract::Request, next: axum::middleware::Next| async move {
        if request.headers().get("x-key").is_none_or(|key| key != "open sesame") {
            return axum::response::IntoResponse::into_response(http::StatusCode::UNAUTHORIZED);
        }
        next.run(request).await
    };
    let router = axum::Router::new().nest_service("/mcp", service).layer(axum::middleware::from_fn(check));
    tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle()
}

fn over_http(url: String, key: &str) -> ServerSettings {
    let headers = BTreeMap::from([("X-Key".to_owned(), key.to_owned())]);
    ServerSettings::new(Transport::Http { url, headers, headers_env: BTreeMap::new() })
}

/// Everything that holds for a server whatever it is reached by.
async fn is_usable(servers: &McpServers) {
    let toolbox = toolbox(servers).await;
    let answer = toolbox.call("mcp__told__echo", called(json!({ "text": "hello" }))).await;
    assert_eq!((answer.text.as_str(), answer.is_error), ("echo: hello", false));
    let answer = toolbox.call("mcp__told__echo", called(json!({ "text": 5 }))).await;
    assert!(answer.is_error && answer.text.contains("/text: 5"), "{}", answer.text);

    let answer = toolbox.call("mcp__told__fail", called(json!({}))).await;
    assert_eq!((answer.text.as_str(), answer.is_error), ("it did not work", true));
    let answer = toolbox.call("mcp__told__refuse", called(json!({}))).await;
    assert_eq!((answer.text.as_str(), answer.is_error), ("MCP server told: not like this", true));
    assert_eq!(say(&toolbox, "structured").await, "{\"answer\":42}");
    assert_eq!(say(&toolbox, "parts").await, "one\n[image, image/png, 3 bytes]\ntwo");
    assert!(say(&toolbox, "empty").await.starts_with('['), "a note instead of an empty answer");
    let flood = say(&toolbox, "flood").await;
    let note = flood.lines().last().unwrap_or_default();
    assert!(flood.len() <= agent::limits::TOOL_OUTPUT_BYTES && note.contains("1000000 bytes"), "{note}");

    // Both names come out alike; each tool has its own all the same.
    assert_eq!(say(&toolbox, "get_issue").await, "get.issue: ");
    let other =
        toolbox.names().find(|name| name.starts_with("mcp__told__get_issue-")).expect("the other").to_owned();
    assert_eq!(toolbox.call(&other, called(json!({}))).await.text, "get/issue: ");
    assert!(toolbox.get("mcp__told__wordy").is_some_and(|tool| tool.tool.description.len() <= 4_096));
}

async fn speaks(servers: &McpServers, version: &str) {
    assert_eq!(say(&toolbox(servers).await, "protocol").await, version);
}

async fn follows_changes(servers: &McpServers) {
    let before = toolbox(servers).await;
    assert!(before.get("mcp__told__added_0").is_none());
    for round in 0..2 {
        say(&before, "add").await;
        let started = Instant::now();
        while toolbox(servers).await.get(&format!("mcp__told__added_{round}")).is_none() {
            assert!(started.elapsed() < PATIENCE, "the change did not arrive");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn a_server_over_standard_input_is_usable() {
    for (role, version) in [("modern", "2026-07-28"), ("legacy", "2025-11-25")] {
        let servers = one(started_as(role));
        speaks(&servers, version).await;
        is_usable(&servers).await;
        follows_changes(&servers).await;
    }
}

#[tokio::test]
async fn a_server_over_http_is_usable() {
    for (is_legacy, version) in [(false, "2026-07-28"), (true, "2025-11-25")] {
        let url = http_server(Server::new(is_legacy)).await;
        let servers = one(over_http(url, "open sesame"));
        speaks(&servers, version).await;
        is_usable(&servers).await;
        follows_changes(&servers).await;
    }
}

#[tokio::test]
async fn a_header_from_the_environment_stays_secret() {
    let url = http_server(Server::new(false)).await;
    let (tools, problems) = one(over_http(url.clone(), "s3cret")).list().await;
    assert!(tools.is_empty() && problems.len() == 1, "{problems:?}");
    assert!(!problems[0].to_string().contains("s3cret"), "{}", problems[0]);
    let headers_env = BTreeMap::from([("X-Key".to_owned(), "MASQUE_TEST_NO_SUCH_VARIABLE".to_owned())]);
    let transport = Transport::Http { url, headers: BTreeMap::new(), headers_env };
    let (_, problems) = one(ServerSettings::new(transport)).list().await;
    assert_eq!(problems[0].server, "told");
    contains(&problems[0].message, &["X-Key", "MASQUE_TEST_NO_SUCH_VARIABLE"]);
}

#[tokio::test]
async fn absent_annotations_count_as_the_worst() {
    let servers = one(started_as("modern"));
    let toolbox = toolbox(&servers).await;
    let hints = |name: &str| {
        let hints = toolbox.get(&format!("mcp__told__{name}")).expect(name).tool.annotations;
        (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
    };
    assert_eq!(hints("echo"), (false, true, false, true));
    assert_eq!(hints("liar"), (true, true, false, true));
    assert_eq!(hints("both"), (false, true, false, true), "a tool that claims both destroys");
    assert_eq!(hints("harmless"), (false, false, true, false));
    assert!(toolbox.tools().all(|tool| tool.set == "mcp"));
}

/// The attack: a server takes the hint back that had its tool run in plan mode.
#[tokio::test]
async fn a_tool_that_lost_its_hint_is_known_before_it_runs() {
    for (role, trust_hints) in [("modern", true), ("legacy", false)] {
        let servers = one(ServerSettings { trust_hints, ..started_as(role) });
        let toolbox = toolbox(&servers).await;
        let turncoat = toolbox.get("mcp__told__turncoat").expect("it is listed");
        let hints = turncoat.hints().await;
        assert!(hints.read_only_hint);
        assert_eq!(hints.is_known_to_read(), trust_hints, "a server's word is not enough");
        say(&toolbox, "add").await;
        let started = Instant::now();
        while turncoat.hints().await.read_only_hint {
            assert!(started.elapsed() < PATIENCE, "the change did not arrive");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        servers.close().await;
    }
}

/// Whatever is odd about a tool, the server's others are there.
#[tokio::test]
async fn one_odd_tool_takes_no_other_away() {
    for role in ["modern", "legacy"] {
        let edit = r#"s/"readOnlyHint":true/"readOnlyHint":"true"/; s/"name":"get.issue"/"name":7/"#;
        let servers = one(edited_as(role, edit));
        let (tools, problems) = servers.list().await;
        let problems: Vec<String> = problems.iter().map(ServerProblem::to_string).collect();
        assert_eq!(problems.len(), 3, "{problems:?}");
        // Each page has one tool whose name is a number.
        let left_out = "of its list is not as the protocol has it, and is left out: ";
        assert!(problems[0].starts_with(&format!("MCP server told: tool 3 {left_out}")), "{problems:?}");
        assert!(problems[1].starts_with(&format!("MCP server told: tool 1 {left_out}")), "{problems:?}");
        let hints = |name: &str| {
            let named = format!("mcp__told__{name}");
            tools.iter().find(|tool| tool.tool.name == named).expect(name).tool.annotations
        };
        assert!(!hints("liar").read_only_hint, "only a boolean is a hint");
        assert!(hints("harmless").idempotent_hint, "a boolean is a hint");
        let mut toolbox = Toolbox::new();
        toolbox.add(tools);
        assert_eq!(say(&toolbox, "echo").await, "echo: ");
    }
}

#[tokio::test]
async fn an_address_is_shown_without_its_query() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let place = listener.local_addr().expect("an address");
    drop(listener);
    let servers = one(over_http(format!("http://{place}/mcp?key=hunter2"), "x"));
    let (_, problems) = servers.list().await;
    let problem = problems[0].to_string();
    assert!(problem.contains(&place.to_string()) && !problem.contains("hunter2"), "{problem}");
    assert!(!problem.contains("rmcp"), "{problem}");
}

#[tokio::test]
async fn a_server_without_tools_is_reported() {
    let servers = one(edited_as("legacy", r#"s/"tools":\[/"tolls":[/"#));
    let (tools, problems) = servers.list().await;
    assert!(tools.is_empty());
    assert_eq!((problems.len(), problems[0].server.as_str()), (1, "told"), "{problems:?}");
    contains(&problems[0].message, &["no tools"]);
}

#[tokio::test]
async fn nothing_is_started_before_it_is_needed_nor_listed_twice() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut settings = started_as("modern");
    if let Transport::Stdio { args, .. } = &mut settings.transport {
        args[1] = format!("touch {}; {}", dir.path().join("started").display(), args[1]);
    }
    let servers = one(settings);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!dir.path().join("started").exists());
    let toolbox = toolbox(&servers).await;
    assert!(dir.path().join("started").exists());
    let id = say(&toolbox, "pid").await;
    for _ in 0..1_000 {
        servers.list().await;
    }
    assert_eq!(say(&toolbox, "pid").await, id, "it is the same process");
}

#[tokio::test]
async fn servers_start_at_the_same_time_and_a_broken_one_takes_no_other_down() {
    let mut settings = BTreeMap::new();
    for (name, role) in [("one", "modern"), ("two", "legacy"), ("mute", "mute"), ("off", "modern")] {
        let mut server = started_as(role);
        server.enabled = name != "off";
        server.startup_timeout = Duration::from_secs(4);
        settings.insert(name.to_owned(), server);
    }
    for (name, command) in [("missing", "no-such-program-anywhere"), ("ends", "false")] {
        let (args, env, env_pass, cwd) = Default::default();
        let transport = Transport::Stdio { command: command.to_owned(), args, env, env_pass, cwd };
        settings.insert(name.to_owned(), ServerSettings::new(transport));
    }
    let servers = McpServers::new(settings);
    let (tools, problems) = servers.list().await;
    for name in ["mcp__one__echo", "mcp__two__echo"] {
        assert!(tools.iter().any(|tool| tool.tool.name == name), "{name}");
    }
    assert!(!tools.iter().any(|tool| tool.tool.name.starts_with("mcp__off__")));
    let of = |server: &str| {
        let found =
            problems.iter().find(|problem| problem.server == server && !problem.message.contains("huge"));
        found.map(|problem| problem.message.clone()).unwrap_or_default()
    };
    contains(&of("missing"), &["no-such-program-anywhere"]);
    contains(&of("ends"), &["exit status: 1"]);
    contains(&of("mute"), &["4 s"]);
    assert_eq!(of("one"), "");
}

#[tokio::test]
async fn a_server_that_dies_is_started_again_for_the_next_call() {
    let servers = one(started_as("modern"));
    let toolbox = toolbox(&servers).await;
    let first = say(&toolbox, "pid").await;
    let answer = toolbox.call("mcp__told__die", called(json!({}))).await;
    assert!(answer.is_error && answer.text.contains("gone"), "{}", answer.text);
    assert_ne!(say(&toolbox, "pid").await, first);
}

#[tokio::test]
async fn a_server_over_http_that_was_gone_is_used_again_when_it_is_back() {
    for is_legacy in [false, true] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = serve_on(listener, Server::new(is_legacy));
        let servers = one(over_http(format!("http://{address}/mcp"), "open sesame"));
        let toolbox = toolbox(&servers).await;
        say(&toolbox, "echo").await;
        serving.abort();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let answer = toolbox.call("mcp__told__echo", called(json!({}))).await;
        assert!(answer.is_error, "{}", answer.text);
        serve_on(tokio::net::TcpListener::bind(address).await.expect("the port"), Server::new(is_legacy));
        say(&toolbox, "echo").await;
    }
}

#[tokio::test]
async fn requests_of_a_server_are_declined() {
    let servers = one(started_as("legacy"));
    assert_eq!(say(&toolbox(&servers).await, "ask").await, "declined");
    let servers = one(started_as("modern"));
    let toolbox = toolbox(&servers).await;
    let answer = toolbox.call("mcp__told__ask", called(json!({}))).await;
    assert!(answer.is_error && answer.text.contains("input"), "{}", answer.text);
    assert_eq!(say(&toolbox, "again").await, "done after half");
}

#[tokio::test]
async fn a_call_that_may_have_been_done_is_not_done_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("count");
    let servers = one(started_as("modern"));
    let toolbox = toolbox(&servers).await;
    let answer = toolbox.call("mcp__told__count", called(json!({ "text": file }))).await;
    assert!(answer.is_error, "{}", answer.text);
    assert_eq!(std::fs::read_to_string(&file).expect("a count"), "x");
}

#[tokio::test]
async fn a_server_that_keeps_dying_is_left_alone_for_a_while() {
    let servers = one(started_as("modern"));
    let toolbox = toolbox(&servers).await;
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(toolbox.call("mcp__told__die", called(json!({}))).await.text);
    }
    let last = answers.last().expect("answers");
    assert!(last.contains(" again in "), "the next attempt waits: {answers:?}");
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    say(&toolbox, "echo").await;
}

#[tokio::test]
async fn a_call_has_a_time_limit_and_can_be_cancelled() {
    let server = Server::new(false);
    let url = http_server(server.clone()).await;
    let mut settings = over_http(url, "open sesame");
    settings.call_timeout = Duration::from_secs(1);
    let servers = one(settings);
    let toolbox = toolbox(&servers).await;
    let answer = toolbox.call("mcp__told__slow", called(json!({}))).await;
    assert_eq!((answer.text.as_str(), answer.is_error), ("MCP server told: no answer within 1 s", true));

    let call = called(json!({}));
    let cancelled = call.cancelled.clone();
    let later = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancelled.cancel();
    };
    let (answer, ()) = futures::future::join(toolbox.call("mcp__told__slow", call), later).await;
    assert!(answer.is_error && answer.text.starts_with("cancelled"), "{}", answer.text);
    let started = Instant::now();
    while *server.cancelled.lock().expect("no panic") < 2 {
        assert!(started.elapsed() < PATIENCE, "the server was not notified");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    say(&toolbox, "echo").await;
}

#[tokio::test]
async fn patterns_say_which_tools_there_are() {
    let mut settings = started_as("modern");
    settings.allow_tools = vec!["get*".to_owned(), "echo".to_owned(), "huge".to_owned()];
    settings.deny_tools = vec!["get/*".to_owned(), "huge".to_owned()];
    let (tools, problems) = one(settings).list().await;
    let names: Vec<&str> = tools.iter().map(|tool| tool.tool.name.as_str()).collect();
    assert_eq!(names, ["mcp__told__get_issue", "mcp__told__echo"]);
    assert!(problems.is_empty(), "{problems:?}");
}

#[tokio::test]
async fn a_server_sees_only_the_variables_that_it_is_given() {
    let mut settings = started_as("modern");
    if let Transport::Stdio { env, env_pass, .. } = &mut settings.transport {
        env.insert("SERVICE_TOKEN".to_owned(), "given".to_owned());
        env_pass.push("CARGO_PKG_NAME".to_owned());
    }
    let servers = one(settings);
    let text = say(&toolbox(&servers).await, "environment").await;
    let seen: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&seen["SERVICE_TOKEN"], &seen["CARGO_PKG_NAME"]), (&json!("given"), &json!("tools")));
    assert!(seen["PATH"].is_string() && seen["CARGO_MANIFEST_DIR"].is_null(), "{text}");
}

#[tokio::test]
async fn dropping_and_closing_end_a_server_with_its_children() {
    for closes in [false, true] {
        let servers = one(started_as("modern"));
        let toolbox = toolbox(&servers).await;
        let ids: [u32; 2] = [
            say(&toolbox, "pid").await.parse().expect("an id"),
            say(&toolbox, "child").await.parse().expect("an id"),
        ];
        assert!(ids.iter().all(|id| is_running(*id)));
        if closes {
            servers.close().await;
        } else {
            drop(servers);
            let answer = toolbox.call("mcp__told__echo", called(json!({}))).await;
            assert!(answer.is_error, "{}", answer.text);
        }
        for id in ids {
            assert!(ended(id).await, "{id} is still there");
        }
    }
}

#[tokio::test]
async fn progress_of_a_call_is_reported_while_it_runs() {
    let (url, servers) = (http_server(Server::new(false)).await, ["modern", "legacy"].map(started_as));
    let servers = servers.into_iter().chain([over_http(url, "open sesame")]);
    for servers in servers.map(one) {
        let toolbox = toolbox(&servers).await;
        let (events, mut reported) = tools::EventSender::channel();
        let invocation = tools::Invocation { events, ..called(json!({})) };
        let outcome = toolbox.call("mcp__told__progress", invocation).await;
        assert_eq!((outcome.text.as_str(), outcome.is_error), ("done", false));
        let mut steps = Vec::new();
        while let Ok(tools::ToolEvent { call_id, event }) = reported.try_recv() {
            assert_eq!(call_id, "call_1");
            steps.push(event);
        }
        steps.sort_by_key(|step| step["progress"].as_f64().map(f64::to_bits));
        let step = |at: f64| json!({ "type": "progress", "progress": at, "total": 2.0, "message": format!("step {at}") });
        assert_eq!(steps, [step(1.0), step(2.0)]);
    }
}
