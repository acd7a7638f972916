//! `/metrics`.

use crate::client::open;
use crate::running::start;
use crate::sessions::world::World;

async fn metrics(port: u16) -> String {
    let answer = open(port, "GET", "/metrics", &[], None).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    answer.text().await
}

#[track_caller]
fn has(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
}

#[tokio::test]
async fn requests_loads_and_streams_are_counted() {
    let running = start().await;
    for path in ["/api/personas/mentor", "/api/personas/mentor", "/api/personas/nobody", "/nowhere", "/api/x"]
    {
        open(running.port, "GET", path, &[], None).await.text().await;
    }
    let stream = open(running.port, "GET", "/api/events", &[], None).await;
    let text = metrics(running.port).await;
    has(&text, r#"masque_http_requests_total{operation="get_agent_persona",status="200"} 2"#);
    has(&text, r#"masque_http_requests_total{operation="get_agent_persona",status="404"} 1"#);
    has(&text, r#"masque_http_requests_total{operation="page",status="404"} 1"#);
    has(&text, r#"masque_http_requests_total{operation="none",status="404"} 1"#);
    has(&text, r#"masque_http_request_duration_seconds_count{operation="get_agent_persona"} 3"#);
    has(&text, r#"masque_http_request_duration_seconds_bucket{operation="get_agent_persona",le="+Inf"} 3"#);
    has(&text, "masque_persona_loads_total 2");
    has(&text, r#"masque_open_streams{of="library"} 1"#);
    has(&text, r#"masque_open_streams{of="sessions"} 0"#);
    has(&text, r#"masque_open_streams{of="tests"} 0"#);
    has(&text, r#"masque_sessions{state="idle"} 0"#);
    assert!(text.contains("masque_open_connections "), "{text}");
    drop(stream);
    // Each family is declared once, before its samples.
    let mut declared: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let count = declared.len();
    declared.sort_unstable();
    declared.dedup();
    assert_eq!(declared.len(), count);
}

#[tokio::test]
async fn sessions_and_tokens_are_counted_by_persona_and_model() {
    let world = World::start("[[reply]]\ntext = \"Hello.\"\n").await;
    let session = world.session().await;
    let watched = world.watch(&session, None).await;
    world.hear(&session, "Hi.").await;
    world.hear(&session, "Hi again.").await;
    let text = metrics(world.served.port).await;
    let labels = r#"persona="guide",provider="stage",model="actor""#;
    has(&text, &format!("masque_model_calls_total{{{labels}}} 2"));
    let tokens = |direction: &str| {
        let start = format!("masque_model_tokens_total{{{labels},direction=\"{direction}\"}} ");
        let found = text.lines().find_map(|line| line.strip_prefix(&start)?.parse::<u64>().ok());
        found.unwrap_or_else(|| panic!("{start} is not in\n{text}"))
    };
    assert!(tokens("input") > 0 && tokens("output") > 0, "{text}");
    has(&text, r#"masque_sessions{state="idle"} 1"#);
    has(&text, "masque_runs 0");
    has(&text, r#"masque_open_streams{of="sessions"} 1"#);
    drop(watched);
}
