use std::collections::BTreeMap;

use llm::Provider as _;

use super::{Key, Origin, ProviderInfo, Providers};
use crate::{Kind, ProviderSettings};

fn environment<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
}

fn build(settings: &[(&str, ProviderSettings)], variables: &[(&str, &str)]) -> Providers {
    let settings = settings.iter().map(|(name, settings)| ((*name).to_owned(), settings.clone())).collect();
    Providers::build(settings, &environment(variables)).expect("providers")
}

fn found<'a>(providers: &'a Providers, name: &str) -> &'a ProviderInfo {
    providers.found().find(|found| found.name == name).expect("a provider")
}

fn settings(kind: Kind, base_url: &str) -> ProviderSettings {
    ProviderSettings { base_url: Some(base_url.into()), ..ProviderSettings::new(kind) }
}

#[test]
fn keys_in_the_environment_configure_themselves() {
    let providers = build(&[], &[]);
    assert_eq!(providers.names().count(), 0);
    let variables = [("ANTHROPIC_API_KEY", "k1"), ("OPENAI_API_KEY", "k2"), ("GEMINI_API_KEY", "k3")];
    let providers = build(&[], &variables);
    assert_eq!(providers.names().collect::<Vec<_>>(), ["anthropic", "gemini", "openai"]);
    let openai = found(&providers, "openai");
    assert_eq!((openai.kind, openai.base_url.as_str()), (Kind::OpenaiResponses, "https://api.openai.com/v1"));
    assert_eq!(openai.from, Origin::Environment("OPENAI_API_KEY".into()));
    assert_eq!(openai.key, Key::Present("OPENAI_API_KEY".into()));
    assert_eq!(build(&[], &[("ANTHROPIC_API_KEY", " ")]).names().count(), 0, "set to nothing is not set");
}

#[test]
fn the_official_variables_for_addresses_are_honoured() {
    let variables = [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/x")];
    assert_eq!(found(&build(&[], &variables), "anthropic").base_url, "http://127.0.0.1:1/x");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "nonsense")];
    let error = Providers::build(BTreeMap::new(), &environment(&variables)).expect_err("no URL");
    assert!(error.to_string().starts_with("OPENAI_BASE_URL: invalid URL"), "{error}");
}

#[test]
fn a_configured_name_is_the_users() {
    let mine = settings(Kind::OpenaiChat, "http://127.0.0.1:1");
    let providers = build(&[("anthropic", mine)], &[("ANTHROPIC_API_KEY", "k")]);
    let found = found(&providers, "anthropic");
    assert_eq!((found.kind, &found.from, &found.key), (Kind::OpenaiChat, &Origin::Config, &Key::NotNeeded));
}

#[test]
fn the_usual_key_goes_to_the_usual_address_only() {
    let elsewhere = settings(Kind::Anthropic, "http://models.example.org");
    let providers = build(
        &[("a", elsewhere), ("b", ProviderSettings::new(Kind::Anthropic))],
        &[("ANTHROPIC_API_KEY", "k")],
    );
    assert_eq!(found(&providers, "a").key, Key::NotNeeded);
    assert_eq!(found(&providers, "b").key, Key::Present("ANTHROPIC_API_KEY".into()));
}

#[test]
fn nothing_shows_a_key() {
    let mut named = settings(Kind::OpenaiChat, "http://127.0.0.1:1");
    named.headers.insert("x-one".into(), "very-secret-1".into());
    named.headers_env.insert("x-two".into(), "TWO".into());
    named.api_key_env = Some("THREE".into());
    let providers = build(&[("mine", named)], &[("TWO", "very-secret-2"), ("THREE", "very-secret-3")]);
    let provider = providers.get("mine").expect("a provider");
    let shown = format!("{providers:?} {provider:?} {:?}", found(&providers, "mine"));
    assert!(shown.contains("mine") && !shown.contains("very-secret"), "{shown}");
}

#[test]
fn an_invalid_setting_fails_with_its_place() {
    let bad = settings(Kind::Gemini, "nonsense");
    let error = Providers::build([("g".to_owned(), bad)].into(), &|_| None).expect_err("no URL");
    assert_eq!(error.place, "providers.g.base_url");
}

#[tokio::test]
async fn clients_are_made_when_needed_and_shared() {
    let listed = |url: &str| ProviderSettings { models: vec!["m".into()], ..settings(Kind::OpenaiChat, url) };
    let providers = build(&[("a", listed("http://127.0.0.1:1")), ("b", listed("http://127.0.0.1:1/x"))], &[]);
    assert_eq!(providers.clients.count(), 0);
    for name in ["a", "b", "a"] {
        let _ = providers.entries[name].adapter.models().await;
        assert_eq!(providers.clients.count(), 1);
    }
}

/// A server that answers every GET with this JSON.
async fn serve(path: &'static str, server: &'static str, body: &'static str) -> reqwest::Url {
    let answer = move || async move { ([("server", server), ("content-type", "application/json")], body) };
    let router = axum::Router::new().route(path, axum::routing::get(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url.parse().expect("a URL")
}

#[tokio::test]
async fn local_servers_are_found() {
    let ollama = serve("/api/tags", "", r#"{"models":[]}"#).await;
    let llamacpp = serve("/v1/models", "llama.cpp", r#"{"data":[{"id":"m"}]}"#).await;
    let mut providers = build(&[], &[]);
    providers.find_local_at(Some(ollama.clone()), Some(llamacpp)).await;
    assert_eq!(providers.names().collect::<Vec<_>>(), ["llamacpp", "ollama"]);
    let found = found(&providers, "ollama");
    assert_eq!((found.kind, &found.from, &found.key), (Kind::OpenaiChat, &Origin::Local, &Key::NotNeeded));
    assert_eq!(found.base_url, format!("{ollama}v1"));
}

#[tokio::test]
async fn an_unidentified_server_is_not_a_model() {
    let other = serve("/v1/models", "nginx", r#"{"data":[{"id":"m","owned_by":"me"}]}"#).await;
    let web = serve("/", "nginx", "<html>").await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent_url = format!("http://{}", silent.local_addr().expect("an address")).parse().expect("a URL");
    let mut providers = build(&[], &[]);
    providers.find_local_at(Some(silent_url), Some(other)).await;
    providers.find_local_at(Some(web), Some("http://127.0.0.1:1".parse().expect("a URL"))).await;
    assert_eq!(providers.names().count(), 0);
    let mine = settings(Kind::OpenaiChat, "http://127.0.0.1:1");
    let mut providers = build(&[("ollama", mine)], &[]);
    let ollama = serve("/api/tags", "", r#"{"models":[]}"#).await;
    providers.find_local_at(Some(ollama), None).await;
    assert_eq!(found(&providers, "ollama").from, Origin::Config);
}

#[test]
fn all_missing_variables_are_named_the_key_first() {
    let mut named = settings(Kind::OpenaiChat, "http://127.0.0.1:1");
    named.api_key_env = Some("THREE".into());
    named.headers_env.insert("x-two".into(), "TWO".into());
    let of = |variables: &[(&str, &str)]| {
        let providers = build(&[("mine", named.clone())], variables);
        let ProviderInfo { key, problem, .. } = found(&providers, "mine").clone();
        (key, problem.unwrap_or_default())
    };
    let both = "no key: THREE is not set; no header x-two: TWO is not set";
    assert_eq!(of(&[]), (Key::Missing("THREE".into()), both.into()));
    let header = (Key::Missing("TWO".into()), "no header x-two: TWO is not set".into());
    assert_eq!(of(&[("THREE", "k")]), header);
    assert_eq!(of(&[("THREE", "k"), ("TWO", "t")]), (Key::Present("THREE".into()), String::new()));
    let (key, problem) = of(&[("THREE", "a\nb"), ("TWO", "t")]);
    assert_eq!(key, Key::Missing("THREE".into()));
    assert!(problem.contains("THREE holds characters"), "{problem}");
}
