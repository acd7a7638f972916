//! Sessions as things: made, listed, taken back, deleted.

use serde_json::{Value, json};

use super::world::{World, conversation};
use crate::client::stop_reason;

const QUICK: &str = "[[reply]]\ntext = \"Quick as a flash.\"\n";

#[tokio::test]
async fn a_new_session_is_what_get_shows() {
    let world = World::start(QUICK).await;
    let opened = world.open("POST", "/api/sessions", Some(&json!({ "persona": "guide" }))).await;
    assert_eq!(opened.status, 201);
    let location = opened.header("location").expect("a location").to_owned();
    let created = opened.json().await;
    assert_eq!(location, format!("/api/sessions/{}", created["id"].as_str().expect("an id")));
    assert_eq!(world.get(&location).await, (200, created.clone()));
    assert_eq!(
        (&created["mode"], &created["status"], &created["turns"]),
        (&json!("build"), &json!("idle"), &json!([]))
    );
    let root = world.project_file("").canonicalize().expect("a directory");
    assert_eq!(created["root"], json!(root.display().to_string()));
}

#[tokio::test]
async fn a_session_opens_with_a_greeting_only_if_asked() {
    let world = World::start(QUICK).await;
    let greetings =
        json!({ "name": "host", "system_prompt": "You host.", "greetings": ["Welcome.", "You again."] });
    world.persona(greetings).await;
    for (greeting, expected) in [
        (Value::Null, None),
        (json!(0), None),
        (json!("first"), Some("Welcome.")),
        (json!(1), Some("Welcome.")),
        (json!(2), Some("You again.")),
    ] {
        let input = json!({ "persona": "host", "greeting": greeting });
        let opened = world.open("POST", "/api/sessions", Some(&input)).await;
        assert_eq!(opened.status, 201, "{greeting}");
        let location = opened.header("location").expect("a location").to_owned();
        let created = opened.json().await;
        assert_eq!(world.get(&location).await, (200, created.clone()), "{greeting}");
        let turns = created["turns"].as_array().expect("turns");
        let said: Vec<(&Value, &Value)> =
            turns.iter().map(|turn| (&turn["type"], &turn["content"])).collect();
        let expected = expected.map(|text| (json!("assistant_text"), json!(text)));
        assert_eq!(said, expected.iter().map(|(of, text)| (of, text)).collect::<Vec<_>>(), "{greeting}");
    }

    let input = json!({ "persona": "host", "greeting": 2 });
    let session = world.session_with(&input).await;
    world.hear(&session, "Hello.").await;
    let sent = world.sent();
    let roles: Vec<&Value> =
        sent[0]["messages"].as_array().expect("a list").iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert!(sent[0]["messages"][1].to_string().contains("You again."), "{}", sent[0]["messages"]);

    let (status, problem) =
        world.ask("POST", "/api/sessions", Some(&json!({ "persona": "host", "greeting": 3 }))).await;
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_greeting")), "{problem}");
    assert_eq!(problem["candidates"], json!(["1", "2"]));
    let (status, problem) =
        world.ask("POST", "/api/sessions", Some(&json!({ "persona": "host", "greeting": "last" }))).await;
    assert_eq!((status, &problem["code"]), (400, &json!("invalid_value")), "{problem}");
    // A persona without greetings has no first one, which is no mistake.
    world.session_with(&json!({ "persona": "guide", "greeting": "first" })).await;
}

#[tokio::test]
async fn a_session_may_choose_its_model_and_its_directory() {
    let world = World::start(QUICK).await;
    std::fs::create_dir(world.project_file("inside")).expect("a directory");
    let input = json!({ "persona": "guide", "model": "stage/other", "root": "inside", "mode": "plan" });
    let session = world.session_with(&input).await;
    let (_, view) = world.get(&session).await;
    assert!(view["root"].as_str().expect("a directory").ends_with("/inside"), "{view}");
    assert_eq!((&view["model"], &view["mode"]), (&json!("stage/other"), &json!("plan")));
    world.hear(&session, "Go.").await;
    assert_eq!(world.sent()[0]["model"], "other");
}

#[tokio::test]
async fn another_model_or_persona_may_go_on() {
    let world = World::start(QUICK).await;
    world.persona(json!({ "name": "ranger", "system_prompt": "You range." })).await;
    let session = world.session().await;
    world.hear(&session, "One.").await;
    let (status, view) = world.ask("PATCH", &session, Some(&json!({ "model": "stage/other" }))).await;
    assert_eq!((status, &view["model"], &view["persona"]), (200, &json!("stage/other"), &json!("guide")));
    world.hear(&session, "Two.").await;
    let both = json!({ "model": null, "persona": "ranger" });
    let (status, view) = world.ask("PATCH", &session, Some(&both)).await;
    assert_eq!((status, view.get("model"), &view["persona"]), (200, None, &json!("ranger")), "{view}");
    world.hear(&session, "Three.").await;
    let sent = world.sent();
    let models: Vec<&Value> = sent.iter().map(|body| &body["model"]).collect();
    assert_eq!(models, ["actor", "other", "actor"]);
    assert!(sent[2]["system"].to_string().contains("You range."), "{}", sent[2]["system"]);
    assert_eq!(conversation(&sent[2]).len(), 5, "the talk goes on");

    // A refused change changes nothing.
    for (body, status, code, field) in [
        (json!({}), 400, "missing_field", json!("persona")),
        (json!({ "model": "other" }), 400, "invalid_value", json!("model")),
        (json!({ "model": "nowhere/x" }), 400, "unknown_provider", json!("model")),
        (json!({ "mode": "plan" }), 400, "unknown_field", json!("mode")),
        (json!({ "persona": "rangr", "model": "stage/other" }), 404, "not_found", Value::Null),
        (json!({ "persona": "guide", "model": "nowhere/x" }), 400, "unknown_provider", json!("model")),
    ] {
        let (answered, problem) = world.ask("PATCH", &session, Some(&body)).await;
        let found = (answered, &problem["code"], &problem["subject"]["field"]);
        assert_eq!(found, (status, &json!(code), &field), "{body}: {problem}");
    }
    let (_, after) = world.get(&session).await;
    assert_eq!((after.get("model"), &after["persona"]), (None, &json!("ranger")));
    let unknown = "/api/sessions/01a1e2ad-5cab-77db-a49b-fb57ff641b2d";
    assert_eq!(world.ask("PATCH", unknown, Some(&json!({ "model": null }))).await.0, 404);
}

fn ids(list: &Value) -> Vec<String> {
    let sessions = list["items"].as_array().expect("sessions");
    sessions.iter().map(|session| session["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn sessions_are_listed_in_pages() {
    let world = World::start(QUICK).await;
    world.persona(json!({ "name": "other", "summary": "Other." })).await;
    let mut made = Vec::new();
    for number in 0..5 {
        let persona = if number == 2 { "other" } else { "guide" };
        let session = world.session_with(&json!({ "persona": persona })).await;
        made.push(session.trim_start_matches("/api/sessions/").to_owned());
    }
    made.reverse();
    let (status, all) = world.get("/api/sessions").await;
    assert_eq!((status, ids(&all), all.get("next_cursor")), (200, made.clone(), None), "the newest first");
    let mut seen = Vec::new();
    let mut path = "/api/sessions?limit=2".to_owned();
    loop {
        let (status, page) = world.get(&path).await;
        assert!(status == 200 && ids(&page).len() <= 2, "{page}");
        seen.extend(ids(&page));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/sessions?limit=2&cursor={}", cursor.replace(':', "%3A"));
    }
    assert_eq!(seen, made);
    let (_, others) = world.get("/api/sessions?persona=other").await;
    assert_eq!(ids(&others), [made[2].clone()]);
    for (path, field) in [
        ("/api/sessions?limit=many", "limit"),
        ("/api/sessions?limit=-1", "limit"),
        ("/api/sessions?persna=guide", "persna"),
        ("/api/sessions?limit=1&limit=2", "limit"),
    ] {
        let (status, problem) = world.get(path).await;
        assert_eq!((status, &problem["subject"]["field"]), (400, &json!(field)), "{path}: {problem}");
    }
}

#[tokio::test]
async fn deleting_a_missing_session_succeeds() {
    let world = World::start(QUICK).await;
    let session = world.session().await;
    world.hear(&session, "Hello!").await;
    for _ in 0..2 {
        let opened = world.open("DELETE", &session, None).await;
        assert_eq!((opened.status, opened.text().await), (204, String::new()));
        assert_eq!(world.get(&session).await.0, 404);
    }
}

#[tokio::test]
async fn a_message_can_be_taken_back() {
    let world = World::start(QUICK).await;
    let session = world.session().await;
    let (status, problem) = world.ask("POST", &format!("{session}/undo"), None).await;
    assert_eq!(status, 404, "{problem}");
    world.hear(&session, "One.").await;
    world.hear(&session, "Two.").await;
    let (status, undone) = world.ask("POST", &format!("{session}/undo"), None).await;
    assert_eq!((status, undone), (200, json!({ "content": "Two." })));
    world.hear(&session, "Three.").await;
    let sent = world.sent().pop().expect("a request");
    assert_eq!(conversation(&sent), ["user: One.", "assistant: Quick as a flash.", "user: Three."]);
}

/// A running session refuses changes.
#[tokio::test]
async fn a_running_session_is_neither_changed_nor_deleted_nor_taken_back() {
    let words = "word ".repeat(100);
    let world = World::start(&format!("[[reply]]\npace_ms = 20\ntext = \"{words}\"\n")).await;
    let session = world.session().await;
    let mut opened = world.say(&session, "Talk.").await;
    opened.until("text_delta").await;
    for (method, path) in [("DELETE", session.clone()), ("POST", format!("{session}/undo"))] {
        let (status, problem) = world.ask(method, &path, None).await;
        assert_eq!((status, &problem["code"]), (409, &json!("session_busy")), "{method} {path}: {problem}");
        assert_eq!(problem["remedies"], json!([{ "action": "wait_or_cancel" }]), "{problem}");
    }
    for body in [json!({ "model": "stage/other" }), json!({ "persona": "guide" })] {
        let (status, problem) = world.ask("PATCH", &session, Some(&body)).await;
        assert_eq!((status, &problem["code"]), (409, &json!("session_busy")), "{body}: {problem}");
    }
    assert_eq!(stop_reason(&opened.rest().await), "end_turn");
    assert_eq!(world.open("DELETE", &session, None).await.status, 204);
}

#[tokio::test]
async fn models_are_listed_with_their_providers() {
    let world = World::start(QUICK).await;
    let opened = world.open("GET", "/api/models", None).await;
    let (status, text) = (opened.status, opened.text().await);
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let providers = answer["items"].as_array().expect("providers");
    let stage = providers.iter().find(|provider| provider["name"] == "stage").expect("the configured one");
    assert_eq!((status, &stage["kind"], stage.get("error")), (200, &json!("anthropic"), None), "{answer}");
    assert_eq!(stage["models"][0]["id"], "actor", "{stage}");
    assert_eq!(text.matches(r#""models":"#).count(), providers.len(), "no name is repeated: {text}");
}
