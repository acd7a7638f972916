//! Models that fail, and the next ones that answer in their place.

mod faults;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{End, ErrorCode, Event, Mode, SelectionReason, TurnBody};
use app::running::{CreateSession, SessionView};
use app::{Code, Runtime, RuntimeOptions};
use futures::future::join_all;
use persona::Scope;
use providers::{Kind, Providers};
use serde_json::json;

use super::stage::{Stage, end, hear, names, on_stage, provider, to_the_end, turns};
use crate::world::{input, refused};

/// The persona `climber` prefers these models, all of the scripted provider but where it says another.
async fn climber(stage: &Stage<'_>, models: &[&str]) {
    let models: Vec<_> = models
        .iter()
        .map(|model| {
            let (provider, model) = model.split_once('/').unwrap_or(("stage", model));
            json!({ "provider": provider, "model": model })
        })
        .collect();
    let persona = json!({ "name": "climber", "system_prompt": "You climb.", "preferred_models": models });
    stage.world.persona(Scope::Shared, persona).await;
}

/// Which models were said to answer, and why.
fn chosen(events: &[Event]) -> Vec<(String, SelectionReason)> {
    let chosen = events.iter().filter_map(|event| match event {
        Event::ModelSelected { model, reason, .. } => Some((model.clone(), *reason)),
        _ => None,
    });
    chosen.collect()
}

fn escalated(events: &[Event]) -> Vec<(String, String, ErrorCode)> {
    let escalated = events.iter().filter_map(|event| match event {
        Event::ModelEscalated { from, to, code, message } => {
            assert!(!message.is_empty());
            Some((from.model.clone(), to.model.clone(), *code))
        }
        _ => None,
    });
    escalated.collect()
}

/// The persona's stored texts.
fn said(view: &SessionView) -> Vec<String> {
    let texts = view.turns.iter().filter_map(|turn| match &turn.body {
        TurnBody::AssistantText { content } => Some(content.clone()),
        _ => None,
    });
    texts.collect()
}

/// How often each model was asked for what a user said.
fn asked(stage: &Stage<'_>, user: &str) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for sent in stage.sent() {
        let last = sent["messages"].as_array().unwrap().iter().rfind(|message| message["role"] == "user");
        if last.is_some_and(|message| message["content"].to_string().contains(user)) {
            *asked.entry(sent["model"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    asked
}

const FAULTS: &str = r#"
[[reply]]
when = { model = "first", last_user = "case-500" }
fault = { status = 500 }
[[reply]]
when = { model = "first", last_user = "case-503" }
fault = { status = 503 }
[[reply]]
when = { model = "first", last_user = "case-cut" }
text = "void void void void void void"
fault = { cut_after = 3 }
[[reply]]
when = { model = "first", last_user = "case-half" }
text = "void void void void void void"
fault = { cut_after = 3, half_event = true }
[[reply]]
when = { model = "first", last_user = "case-clean" }
text = "void void void void void void"
fault = { cut_after = 3, clean = true }
[[reply]]
when = { model = "first", last_user = "case-429" }
fault = { status = 429, retry_after_s = 60 }
[[reply]]
when = { model = "first", last_user = "case-400" }
fault = { status = 400 }
[[reply]]
when = { model = "first", last_user = "case-401" }
fault = { status = 401 }
[[reply]]
when = { model = "first", last_user = "case-long" }
fault = { context_exceeded = true }
[[reply]]
when = { model = "second" }
text = "Second here."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_fault_is_tried_twice_again_and_then_the_next_model_answers() {
    on_stage(FAULTS, async |stage| {
        climber(stage, &["first", "second"]).await;
        let cases = ["case-500", "case-503", "case-cut", "case-half", "case-clean"];
        join_all(cases.map(async |case| {
            let id = stage.session_of("climber", Mode::Build).await;
            let events = stage.say(id, case).await;
            assert_eq!(end(&events), Some(End::EndTurn), "{case}");
            let counts = asked(stage, case);
            assert_eq!(counts, BTreeMap::from([("first".to_owned(), 3), ("second".to_owned(), 1)]), "{case}");
            let chain = ("first".to_owned(), "second".to_owned(), ErrorCode::Transport);
            assert_eq!(escalated(&events), [chain], "{case}");
            let reasons = [SelectionReason::Preferred, SelectionReason::Escalated];
            assert!(chosen(&events).iter().map(|(_, reason)| *reason).eq(reasons), "{case}");
            // Void text is taken back each time.
            let voided = events.iter().filter(|event| event.name() == "text_discarded").count();
            let streamed = events
                .iter()
                .any(|event| matches!(event, Event::TextDelta { content } if content.contains("void")));
            assert_eq!(voided, if streamed { 3 } else { 0 }, "{case}: {}", names(&events));
            assert_eq!(streamed, !case.starts_with("case-5"), "{case}");
            let view = stage.view(id).await;
            assert_eq!(
                (turns(&view).as_str(), said(&view)),
                ("user assistant_text", vec!["Second here.".to_owned()])
            );
            assert_eq!(view.session.answered_by.unwrap().model, "second");
        }))
        .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_moves_on_at_once() {
    on_stage(FAULTS, async |stage| {
        climber(stage, &["first", "second"]).await;
        for (case, code) in [
            ("case-429", ErrorCode::RateLimited),
            ("case-400", ErrorCode::Rejected),
            ("case-401", ErrorCode::Unauthorized),
            ("case-long", ErrorCode::ContextExceeded),
        ] {
            let id = stage.session_of("climber", Mode::Build).await;
            let events = stage.say(id, case).await;
            assert!(!names(&events).contains("waiting"), "only the last waits: {}", names(&events));
            assert_eq!(escalated(&events), [("first".to_owned(), "second".to_owned(), code)], "{case}");
            let counts = asked(stage, case);
            assert_eq!(counts, BTreeMap::from([("first".to_owned(), 1), ("second".to_owned(), 1)]), "{case}");
            assert_eq!(said(&stage.view(id).await), ["Second here."]);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_model_waits_for_as_long_as_it_asks() {
    let script = r#"
        [[reply]]
        when = { model = "first" }
        fault = { status = 429, retry_after_s = 60 }
        [[reply]]
        when = { model = "second" }
        times = 1
        fault = { status = 429, retry_after_s = 1 }
        [[reply]]
        text = "Now."
    "#;
    on_stage(script, async |stage| {
        climber(stage, &["first", "second"]).await;
        let id = stage.session_of("climber", Mode::Build).await;
        let started = Instant::now();
        let events = stage.say(id, "hello").await;
        let took = started.elapsed();
        assert_eq!(end(&events), Some(End::EndTurn));
        assert!(took >= Duration::from_secs(1), "{took:?}");
        assert_eq!(asked(stage, "hello")["second"], 2);
        // Viewers learn why the run waits. The event is not stored.
        let waits: Vec<_> = events.iter().filter(|event| event.name() == "waiting").collect();
        let [Event::Waiting { provider, model, seconds, code, message }] = waits[..] else {
            panic!("{}", names(&events))
        };
        assert_eq!((provider.as_str(), model.as_str(), *code), ("stage", "second", ErrorCode::RateLimited));
        assert!((*seconds - 1.0).abs() < 0.01 && !message.is_empty(), "{seconds} {message}");
        let elsewhere = stage.restarted().await;
        let mut log = elsewhere.events(id, Some(Default::default())).await.unwrap();
        assert!(!names(&hear(&mut log, "done", 1).await).contains("waiting"));
        // Cancelling does not wait for it.
        stage.model.clear();
        let id = stage.session_of("climber", Mode::Build).await;
        let mut events = stage.runtime.send(id, "hello".to_owned(), Default::default()).await.unwrap();
        hear(&mut events, "model_selected", 2).await;
        stage.runtime.cancel(id).await.unwrap();
        assert_eq!(end(&to_the_end(events).await), Some(End::Cancelled));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_too_long_fails_with_its_length() {
    let script = "[[reply]]\nfault = { status = 429, retry_after_s = 3600 }";
    on_stage(script, async |stage| {
        let id = stage.session(Mode::Build).await;
        let events = stage.say(id, "hello").await;
        assert_eq!(end(&events), Some(End::Failed));
        let told = events.iter().find_map(|event| match event {
            Event::Error { code: ErrorCode::RateLimited, message } => Some(message.clone()),
            _ => None,
        });
        let told = told.unwrap_or_else(|| panic!("{}", names(&events)));
        assert!(told.ends_with("; try again in 3600 s"), "{told}");
    })
    .await;
}

/// A runtime whose provider speaks Anthropic's protocol, in which a call is whole before the answer is.
async fn anthropic(stage: &Stage<'_>) -> Runtime {
    let providers = provider("stage", Kind::Anthropic, &stage.model.url());
    stage.restarted_with(|options| options.providers = providers).await
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_of_a_failed_attempt_are_taken_back_with_the_text() {
    let script = r#"
        [[reply]]
        when = { last_user = "go" }
        times = 1
        say = [
            { text = "void one" }, { tool = "read_file", input = { path = "notes.txt" } },
            { text = "two three four five six seven eight nine ten eleven twelve" },
        ]
        pace_ms = 20
        fault = { cut_after = 14 }
        [[reply]]
        text = "Whole."
    "#;
    on_stage(script, async |stage| {
        let runtime = anthropic(stage).await;
        // The second time, the mode switches meanwhile: its note is between the turns.
        for switches in [false, true] {
            stage.model.clear();
            let id = stage.session(Mode::Build).await;
            let mut events = runtime.send(id, "go".to_owned(), Default::default()).await.unwrap();
            let mut heard = hear(&mut events, "text_delta", 1).await;
            if switches {
                runtime.set_mode(id, Mode::Plan).await.unwrap();
            }
            heard.extend(to_the_end(events).await);
            assert_eq!(end(&heard), Some(End::EndTurn));
            let kept: Vec<_> = heard
                .iter()
                .filter_map(|event| match event {
                    Event::TextComplete { id, content } if content.starts_with("void") => Some(*id),
                    Event::ToolCall { id, .. } => Some(*id),
                    _ => None,
                })
                .collect();
            assert_eq!(kept.len(), 2, "{}", names(&heard));
            let voided = heard.iter().find_map(|event| match event {
                Event::TextDiscarded { turn_ids } => Some(turn_ids.clone()),
                _ => None,
            });
            assert_eq!(voided, Some(kept), "{}", names(&heard));
            let view = runtime.session(id).await.unwrap();
            assert_eq!(turns(&view), "user assistant_text", "switches: {switches}");
            assert_eq!(said(&view), ["Whole."]);
            let last = stage.model.requests().pop().unwrap().body.to_string();
            assert!(last.contains("\"go\"") && !last.contains("void"), "{last}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_that_answered_is_kept_for_a_while() {
    let script = r#"
        [[reply]]
        when = { model = "first" }
        times = 1
        fault = { status = 400 }
        [[reply]]
        text = "I am {{model}}."
    "#;
    on_stage(script, async |stage| {
        climber(stage, &["first", "second"]).await;
        let cooldown = Duration::from_millis(2_500);
        let runtime = stage.restarted_with(|options| options.cooldown = cooldown).await;
        let create: CreateSession = input(json!({ "persona": "climber" }));
        let id = runtime.create_session(create).await.unwrap().session.id;
        let say = async |text: &str| {
            to_the_end(runtime.send(id, text.to_owned(), Default::default()).await.unwrap()).await
        };
        let first = chosen(&say("one").await);
        assert_eq!(first.last().unwrap(), &("second".to_owned(), SelectionReason::Escalated));
        assert_eq!(chosen(&say("two").await), [("second".to_owned(), SelectionReason::Cooldown)]);
        tokio::time::sleep(cooldown).await;
        assert_eq!(chosen(&say("three").await), [("first".to_owned(), SelectionReason::Preferred)]);
        let view = runtime.session(id).await.unwrap();
        assert_eq!(said(&view), ["I am second.", "I am second.", "I am first."]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_fails_with_its_last_model() {
    let script = r#"
        [[reply]]
        when = { last_user = "/hello$/" }
        text = "Better now."
        [[reply]]
        when = { model = "second" }
        fault = { status = 401, message = "that key is no good" }
        [[reply]]
        fault = { status = 400 }
    "#;
    on_stage(script, async |stage| {
        climber(stage, &["first", "second"]).await;
        let id = stage.session_of("climber", Mode::Build).await;
        let events = stage.say(id, "go").await;
        assert!(names(&events).ends_with("error done"), "{}", names(&events));
        assert_eq!(end(&events), Some(End::Failed));
        let told = events.iter().find_map(|event| match event {
            Event::Error { code, message } => Some((*code, message.clone())),
            _ => None,
        });
        let (code, message) = told.unwrap();
        assert_eq!(code, ErrorCode::Unauthorized);
        assert!(message.contains("that key is no good"), "{message}");
        assert_eq!(turns(&stage.view(id).await), "user");
        assert_eq!(end(&stage.say(id, "hello").await), Some(End::EndTurn));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn providers_that_are_not_configured_are_passed_over_and_a_requested_model_is_not() {
    on_stage("[[reply]]\ntext = \"I am {{model}}.\"", async |stage| {
        climber(stage, &["elsewhere/big", "stage/small"]).await;
        let id = stage.session_of("climber", Mode::Build).await;
        assert_eq!(chosen(&stage.say(id, "hello").await), [("small".to_owned(), SelectionReason::Preferred)]);

        let create: CreateSession = input(json!({ "persona": "climber", "model": "stage/huge" }));
        let id = stage.runtime.create_session(create).await.unwrap().session.id;
        assert_eq!(chosen(&stage.say(id, "hello").await), [("huge".to_owned(), SelectionReason::Requested)]);
        assert_eq!(stage.sent().pop().unwrap()["model"], "huge");

        let create: CreateSession = input(json!({ "persona": "climber", "model": "elsewhere/big" }));
        assert_eq!(refused(stage.runtime.create_session(create).await).code, Code::UnknownProvider);

        // None of a persona's providers is there: the first that is configured.
        let persona =
            json!({ "name": "stranger", "preferred_models": [{ "provider": "elsewhere", "model": "big" }] });
        stage.world.persona(Scope::Shared, persona).await;
        let id = stage.session_of("stranger", Mode::Build).await;
        let chosen = chosen(&stage.say(id, "hello").await);
        assert_eq!(chosen, [("rehearsal".to_owned(), SelectionReason::Default)], "the provider's first");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_provider_a_rehearsal_answers() {
    on_stage("[[reply]]\ntext = \"unused\"", async |stage| {
        let mut options = RuntimeOptions::new(Providers::build(BTreeMap::new(), &|_| None).unwrap());
        options.environment = Arc::new(|name| (name == "OLLAMA_HOST").then(|| "127.0.0.1:1".to_owned()));
        let runtime = Runtime::new(stage.world.library.clone(), options);
        let id = runtime.create_session(input(json!({ "persona": "ada" }))).await.unwrap().session.id;
        let events =
            to_the_end(runtime.send(id, "hello".to_owned(), Default::default()).await.unwrap()).await;
        assert!(stage.sent().is_empty());
        // A model on this machine answers in place of the rehearsal.
        if !runtime.local_providers().await.is_empty() {
            assert_eq!(chosen(&events)[0].1, SelectionReason::Default);
            return;
        }
        assert_eq!(end(&events), Some(End::EndTurn));
        assert_eq!(chosen(&events), [("rehearsal".to_owned(), SelectionReason::Rehearsal)]);
        let told = said(&runtime.session(id).await.unwrap()).join("\n").to_lowercase();
        assert!(told.contains("rehearsal"), "{told}");
    })
    .await;
}
