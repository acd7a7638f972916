//! Lists of models, and what they hold.

use llm::FailureKind;
use providers::{Kind, ProviderSettings};
use serde_json::json;

use crate::server::{Server, provider, status};

async fn server(code: u16, body: serde_json::Value) -> Server {
    Server::start(move |_| status(code, &[("content-type", "application/json")], body.to_string())).await
}

#[tokio::test]
async fn every_kind_is_asked_for_its_list() {
    let plain = json!({"data": [{"id": "a"}, {"id": "b"}]});
    let gemini = json!({"models": [{"name": "models/a"}, {"name": "models/b"}]});
    for (kind, body, path) in [
        (Kind::Anthropic, &plain, "/v1/models?limit=1000"),
        (Kind::OpenaiResponses, &plain, "/v1/models"),
        (Kind::OpenaiChat, &plain, "/v1/models"),
        (Kind::Gemini, &gemini, "/v1beta/models?pageSize=1000"),
    ] {
        let server = server(200, body.clone()).await;
        let models = provider(server.settings(kind), &[]).models().await.expect("models");
        assert_eq!(models.iter().map(|model| model.id.as_str()).collect::<Vec<_>>(), ["a", "b"], "{kind}");
        let seen = &server.seen()[0];
        assert_eq!((seen.method.as_str(), seen.uri.to_string().as_str()), ("GET", path));
    }
}

#[tokio::test]
async fn context_sizes_of_a_list_are_remembered() {
    let server =
        server(200, json!({"data": [{"id": "m", "meta": {"n_ctx": 4096}}, {"id": "gpt-4.1"}]})).await;
    let provider = provider(server.settings(Kind::OpenaiChat), &[]);
    assert_eq!(provider.context_tokens("m"), None);
    let models = provider.models().await.expect("models");
    assert_eq!(provider.context_tokens("m"), Some(4096));
    assert_eq!(
        models.iter().map(|model| model.context_tokens).collect::<Vec<_>>(),
        [Some(4096), Some(1_047_576)]
    );
}

#[tokio::test]
async fn the_settings_know_better() {
    let server = server(200, json!({"data": [{"id": "m", "meta": {"n_ctx": 4096}}, {"id": "n"}]})).await;
    let settings = ProviderSettings {
        context_tokens: Some(100),
        models: vec!["x".into(), "m".into()],
        ..server.settings(Kind::OpenaiChat)
    };
    let models = provider(settings, &[]).models().await.expect("models");
    let models: Vec<_> = models.iter().map(|model| (model.id.as_str(), model.context_tokens)).collect();
    assert_eq!(models, [("x", Some(100)), ("m", Some(100))]);
}

#[tokio::test]
async fn a_server_without_a_list_has_the_models_of_the_settings() {
    let without = server(404, json!("no")).await;
    let settings = ProviderSettings { models: vec!["x".into()], ..without.settings(Kind::OpenaiChat) };
    assert_eq!(provider(settings, &[]).models().await.expect("models")[0].id, "x");
    let failure = provider(without.settings(Kind::OpenaiChat), &[]).models().await.expect_err("no list");
    assert_eq!(failure.kind, FailureKind::Rejected);
    let broken = server(401, json!("no")).await;
    let settings = ProviderSettings { models: vec!["x".into()], ..broken.settings(Kind::OpenaiChat) };
    let failure = provider(settings, &[]).models().await.expect_err("no key");
    assert_eq!(failure.kind, FailureKind::Unauthorized, "a list must not hide a wrong key");
}

#[tokio::test]
async fn a_list_that_cannot_be_read() {
    let server = Server::start(|_| status(200, &[], "<html>")).await;
    let failure = provider(server.settings(Kind::OpenaiChat), &[]).models().await.expect_err("no list");
    assert_eq!(failure.kind, FailureKind::Transport);
    assert!(failure.message.starts_with("mine: "), "{failure}");
    let long = Server::start(|_| status(200, &[], "x".repeat(5_000_000))).await;
    let failure = provider(long.settings(Kind::OpenaiChat), &[]).models().await.expect_err("too long");
    assert_eq!(failure.kind, FailureKind::Transport);
    assert!(failure.message.contains("too long"), "{failure}");
}
