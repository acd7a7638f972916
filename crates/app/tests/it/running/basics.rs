//! The cases that every agent loop has to get right.

use agent::{End, Event, Mode, Turn, TurnBody};
use app::running::ApprovalPolicy;
use app::{Code, Remedy};
use serde_json::{Value, json};

use super::stage::{end, names, on_stage, turns};

const READ: &str = r#"
[[reply]]
when = { tool_result_of = "read_file" }
text = "It says {{tool_result}}"
[[reply]]
when = { last_user = "notes" }
say = [{ text = "I look." }, { tool = "read_file", input = { path = "notes.txt" } }]
[[reply]]
when = { last_user = "missing" }
say = [{ tool = "read_file", input = { path = "missing.txt" } }]
[[reply]]
text = "Hello, I am Ada."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_basic_reply() {
    on_stage(READ, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.say(id, "hello").await;
        assert_eq!(names(&events), "model_selected text_delta text_complete usage done");
        assert_eq!(end(&events), Some(End::EndTurn));
        let view = stage.view(id).await;
        assert_eq!(turns(&view), "user assistant_text");
        assert_eq!(view.session.title.as_deref(), Some("hello"));
        assert!(view.session.usage.output_tokens > 0);
        let sent = &stage.sent()[0];
        assert_eq!(sent["messages"][0]["role"], "system");
        assert_eq!(sent["messages"][0]["content"], "You are Ada.\n");
        assert_eq!(sent["temperature"], 0.5);
        assert_eq!(sent.get("top_p"), None, "only what the author set is sent");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_reads() {
    on_stage(READ, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.say(id, "read the notes").await;
        assert_eq!(
            names(&events),
            "model_selected text_delta text_complete tool_call usage tool_result text_delta text_complete usage done"
        );
        let view = stage.view(id).await;
        assert_eq!(turns(&view), "user assistant_text tool_call tool_result assistant_text");
        let result = view.turns.iter().find_map(|turn| match &turn.body {
            TurnBody::ToolResult { output, is_error, .. } => Some((output.clone(), *is_error)),
            _ => None,
        });
        let (output, is_error) = result.unwrap();
        assert!(output.contains("the answer is 42") && !is_error, "{output}");
        // The second request has the call and its result.
        let messages = stage.sent()[1]["messages"].as_array().unwrap().clone();
        let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool"]);
        assert_eq!(messages[2]["tool_calls"][0]["id"], messages[3]["tool_call_id"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_writes() {
    let script = r#"
        [[reply]]
        when = { tool_result_of = "write_file" }
        text = "Written."
        [[reply]]
        say = [{ tool = "write_file", input = { path = "new/plan.md", content = "one step" } }]
    "#;
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.say_with(id, "write it", ApprovalPolicy::All).await;
        assert_eq!(end(&events), Some(End::EndTurn));
        assert_eq!(std::fs::read_to_string(stage.file("new/plan.md")).unwrap(), "one step");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_tools_in_one_turn() {
    let script = r#"
        [[reply]]
        when = { tool_result_of = "list_files" }
        text = "Both."
        [[reply]]
        say = [
            { text = "First" }, { tool = "read_file", input = { path = "notes.txt" } },
            { text = "then" }, { tool = "list_files", input = {} },
        ]
    "#;
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Build).await;
        stage.say(id, "both").await;
        let view = stage.view(id).await;
        // Chat completions have one text before all calls; the other protocols interleave.
        let kinds = turns(&view);
        assert!(kinds.starts_with("user assistant_text"), "{kinds}");
        assert_eq!(kinds.matches("tool_call").count(), 2, "{kinds}");
        assert_eq!(kinds.matches("tool_result").count(), 2, "{kinds}");
        assert!(kinds.ends_with("tool_result tool_result assistant_text"), "{kinds}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_remembers_and_a_fresh_one_knows_nothing() {
    on_stage(READ, async |stage| {
        let id = stage.session(Mode::Build).await;
        stage.say(id, "my name is Bo").await;
        stage.say(id, "who am I?").await;
        let said = |request: &Value| request["messages"].to_string().contains("my name is Bo");
        assert!(said(&stage.sent()[1]));
        let other = stage.session(Mode::Build).await;
        stage.say(other, "who am I?").await;
        assert!(!said(&stage.sent()[2]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_fails_and_the_model_recovers() {
    on_stage(READ, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.say(id, "read what is missing").await;
        let failed = events.iter().find_map(|event| match event {
            Event::ToolResult { output, is_error: Some(true), .. } => Some(output.clone()),
            _ => None,
        });
        assert!(failed.unwrap().contains("missing.txt"));
        assert_eq!(end(&events), Some(End::EndTurn));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_cannot_be_read_become_a_result() {
    let script = r#"
        [[reply]]
        when = { call = 1 }
        say = [{ tool = "read_file", input = { path = "notes.txt" } }]
        fault = { malformed_tool_json = true }
        [[reply]]
        text = "I see."
    "#;
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.say(id, "go").await;
        let told = events.iter().find_map(|event| match event {
            Event::ToolResult { output, is_error: Some(true), .. } => Some(output.clone()),
            _ => None,
        });
        assert!(told.unwrap().contains("could not be read"));
        assert_eq!(end(&events), Some(End::EndTurn));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_end_has_its_name() {
    let script = r#"
        [[reply]]
        when = { last_user = "long" }
        text = "and so on"
        stop = "max_tokens"
        [[reply]]
        when = { last_user = "bad" }
        text = "no"
        stop = "refusal"
        [[reply]]
        when = { last_user = "same" }
        say = [{ tool = "list_files", input = {} }]
        [[reply]]
        when = { tool_result_of = "list_files" }
        say = [{ tool = "list_files", input = {} }]
        [[reply]]
        when = { last_user = "count" }
        say = [{ tool = "read_file", input = { path = "file-{{call}}" } }]
        [[reply]]
        when = { tool_result_of = "read_file" }
        say = [{ tool = "read_file", input = { path = "file-{{call}}" } }]
    "#;
    on_stage(script, async |stage| {
        for (said, expected) in [
            ("long", End::MaxTokens),
            ("bad", End::Refusal),
            ("same", End::LoopDetected),
            ("count", End::MaxToolRounds),
        ] {
            let id = stage.session(Mode::Build).await;
            let events = stage.say(id, said).await;
            assert_eq!(end(&events), Some(expected), "{said}");
            let view = stage.view(id).await;
            let kinds = turns(&view);
            assert_eq!(kinds.matches("tool_call").count(), kinds.matches("tool_result").count(), "{kinds}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_stops_at_once_and_keeps_the_text() {
    let script = r#"
        [[reply]]
        text = "one two three four five six seven eight nine ten eleven twelve"
        pace_ms = 100
    "#;
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "talk".to_owned(), Default::default()).await.unwrap();
        while !matches!(events.next().await.unwrap().unwrap().event, Event::TextDelta { .. }) {}
        assert!(stage.runtime.cancel(id).await.unwrap());
        let rest = super::stage::to_the_end(events).await;
        assert_eq!(end(&rest), Some(End::Cancelled));
        let view = stage.view(id).await;
        assert_eq!(turns(&view), "user assistant_text");
        assert_eq!(stage.say(id, "again").await.len().min(1), 1, "the session goes on");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_ends_its_run_unless_it_is_detached() {
    let script = r#"
        [[reply]]
        text = "one two three four five six seven eight nine ten"
        pace_ms = 60
    "#;
    on_stage(script, async |stage| {
        for (detached, expected) in [(false, End::Cancelled), (true, End::EndTurn)] {
            let id = stage.session(Mode::Build).await;
            let mut watching = stage.runtime.events(id, None).await.unwrap();
            let options = app::running::SendOptions { detached, ..Default::default() };
            let mut events = stage.runtime.send(id, "talk".to_owned(), options).await.unwrap();
            while !matches!(events.next().await.unwrap().unwrap().event, Event::TextDelta { .. }) {}
            drop(events);
            if !detached {
                drop(watching);
                watching = stage.runtime.events(id, Some(app::running::EventId::default())).await.unwrap();
            }
            loop {
                if let Event::Done { stop_reason } = watching.next().await.unwrap().unwrap().event {
                    assert_eq!(stop_reason, expected);
                    break;
                }
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_message_waits_its_turn() {
    let script = "[[reply]]\ntext = \"one two three four five\"\npace_ms = 100";
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.runtime.send(id, "talk".to_owned(), Default::default()).await.unwrap();
        let refused =
            crate::world::refused(stage.runtime.send(id, "more".to_owned(), Default::default()).await);
        assert_eq!((refused.code, refused.remedies), (Code::SessionBusy, vec![Remedy::WaitOrCancel]));
        super::stage::to_the_end(events).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_can_be_taken_back() {
    on_stage(READ, async |stage| {
        let id = stage.session(Mode::Build).await;
        stage.say(id, "my name is Bo").await;
        stage.say(id, "read the notes").await;
        assert_eq!(stage.runtime.undo(id).await.unwrap(), "read the notes");
        assert_eq!(turns(&stage.view(id).await), "user assistant_text");
        stage.say(id, "and now?").await;
        let sent = stage.sent().pop().unwrap().to_string();
        assert!(sent.contains("my name is Bo") && !sent.contains("read the notes"), "{sent}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_persona_is_resolved_with_each_message() {
    on_stage(READ, async |stage| {
        let id = stage.session(Mode::Build).await;
        stage.say(id, "hello").await;
        let change = json!({ "name": "ada", "system_prompt": "You are somebody else." });
        stage.world.library.update_persona(&stage.world.author, crate::world::input(change)).await.unwrap();
        stage.say(id, "hello").await;
        assert_eq!(stage.sent()[1]["messages"][0]["content"], "You are somebody else.\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_session_is_summed_up_and_stays_readable() {
    let script = r#"
        [[reply]]
        when = { system = "Sum up the conversation" }
        text = "Bo asked many things."
        [[reply]]
        text = "Yes."
    "#;
    on_stage(script, async |stage| {
        let mut options = super::stage::options(&stage.model, stage.root.path());
        let mut settings = providers::ProviderSettings::new(providers::Kind::OpenaiChat);
        settings.base_url = Some(format!("{}/v1", stage.model.url().trim_end_matches('/')));
        settings.context_tokens = Some(3_000);
        settings.max_output_tokens = Some(500);
        let named = std::collections::BTreeMap::from([("stage".to_owned(), settings)]);
        options.providers = providers::Providers::build(named, &|_| None).unwrap();
        let runtime = app::Runtime::new(stage.world.library.clone(), options);
        let id = stage.session(Mode::Build).await;
        for at in 0..8 {
            let words = format!("question {at}: {}", "apple pear plum ".repeat(60));
            super::stage::to_the_end(runtime.send(id, words, Default::default()).await.unwrap()).await;
        }
        let view = stage.view(id).await;
        let summaries =
            view.turns.iter().filter(|turn: &&Turn| matches!(turn.body, TurnBody::Summary { .. })).count();
        assert!(summaries >= 1, "{}", turns(&view));
        // The usage of summaries is reported and counted.
        let mut log = runtime.events(id, Some(Default::default())).await.unwrap();
        let used =
            super::stage::hear(&mut log, "done", 8).await.into_iter().filter_map(|event| match event {
                Event::Usage { usage, .. } => Some(usage),
                _ => None,
            });
        let used: Vec<_> = used.collect();
        assert_eq!(used.len(), 8 + summaries);
        assert_eq!(used.len(), stage.sent().len(), "one for each call of the model");
        let mut sum = llm::Usage::default();
        used.iter().for_each(|usage| sum += *usage);
        assert_eq!(view.session.usage, sum);
        assert_eq!(turns(&view).matches("user").count(), 8, "the originals stay");
        let last = stage.sent().pop().unwrap();
        let text = last.to_string();
        assert!(text.contains("Bo asked many things.") && !text.contains("question 0"), "{text}");
        assert_eq!(last["messages"][0]["content"], "You are Ada.\n", "the persona is never what gives way");
    })
    .await;
}
