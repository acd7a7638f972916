//! Tools that cannot be had: the run goes without them, and says so.

use std::collections::BTreeMap;

use agent::{End, ErrorCode, Event, Mode};
use app::running::CreateSession;
use serde_json::json;
use tools::{McpServers, ServerSettings, Transport};

use super::stage::{approved, end, hear, on_stage, requests, say, to_the_end};
use crate::world::input;

const WRITES: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Written."
[[reply]]
when = { last_user = "write" }
say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
[[reply]]
text = "Hello."
"#;

fn broken() -> McpServers {
    let (args, env, env_pass, cwd) = Default::default();
    let command = "no-such-program-anywhere".to_owned();
    let transport = Transport::Stdio { command, args, env, env_pass, cwd };
    McpServers::new(BTreeMap::from([("broken".to_owned(), ServerSettings::new(transport))]))
}

fn told(events: &[Event]) -> Vec<String> {
    let told = events.iter().filter_map(|event| match event {
        Event::Error { code: ErrorCode::Tools, message } => Some(message.clone()),
        _ => None,
    });
    told.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_start_is_reported_once_per_run() {
    on_stage(WRITES, async |stage| {
        let runtime = stage.restarted_with(|options| options.mcp_servers = broken()).await;
        let id = stage.session(Mode::Build).await;
        let mut events = runtime.send(id, "write".to_owned(), Default::default()).await.unwrap();
        let mut heard = hear(&mut events, "approval_request", 1).await;
        // It goes on after a wait, which is the same run.
        let (session, call) = requests(&heard).remove(0);
        runtime.decide(session, &call, approved()).await.unwrap();
        heard.extend(to_the_end(events).await);
        assert_eq!(end(&heard), Some(End::EndTurn));
        let messages = told(&heard);
        assert_eq!(messages.len(), 1, "{messages:?}");
        let expected = "MCP server broken: no-such-program-anywhere could not be started";
        assert!(messages[0].starts_with(expected), "{messages:?}");
        assert_eq!(told(&say(&runtime, id, "hello").await).len(), 1, "the next run says it again");
        let mut log = runtime.events(id, Some(Default::default())).await.unwrap();
        assert_eq!(told(&hear(&mut log, "done", 2).await).len(), 2, "it is kept");
        runtime.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_directory_is_reported() {
    on_stage(WRITES, async |stage| {
        let directory = stage.file("inside");
        std::fs::create_dir(&directory).unwrap();
        let create: CreateSession = input(json!({ "persona": "ada", "root": directory }));
        let id = stage.runtime.create_session(create).await.unwrap().session.id;
        assert_eq!(told(&stage.say(id, "hello").await), [""; 0]);
        std::fs::remove_dir(&directory).unwrap();
        let events = stage.say(id, "hello").await;
        assert_eq!(end(&events), Some(End::EndTurn));
        let messages = told(&events);
        assert!(messages.len() == 1 && messages[0].contains("inside"), "{messages:?}");
    })
    .await;
}
