//! Whole calls, of every kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};
use llm::{ReplyEvent, StopReason, Usage};
use providers::{Kind, ProviderSettings};

use crate::server::{self, Server, answer, events, hello, provider, request};

fn expected() -> Vec<ReplyEvent> {
    let usage = Usage { input_tokens: 1, output_tokens: 2, ..Usage::default() };
    vec![
        ReplyEvent::Started { request_id: Some("req-1".into()) },
        ReplyEvent::TextDelta("Hi".into()),
        ReplyEvent::TextEnd { state: None },
        ReplyEvent::Finished { stop: StopReason::EndTurn, usage, model: None },
    ]
}

#[tokio::test]
async fn every_kind_asks_in_its_own_way() {
    for (kind, path, header, value) in [
        (Kind::Anthropic, "/v1/messages", "x-api-key", "very-secret"),
        (Kind::OpenaiResponses, "/v1/responses", "authorization", "Bearer very-secret"),
        (Kind::OpenaiChat, "/v1/chat/completions", "authorization", "Bearer very-secret"),
        (
            Kind::Gemini,
            "/v1beta/models/model-1:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            "very-secret",
        ),
    ] {
        let server = Server::start(move |_| events(hello(kind))).await;
        let mut settings = ProviderSettings { api_key_env: Some("KEY".into()), ..server.settings(kind) };
        settings.headers.insert("x-team".into(), "blue".into());
        settings.headers_env.insert("x-token".into(), "TOKEN".into());
        let provider = provider(settings, &[("KEY", " very-secret\n"), ("TOKEN", "another")]);
        assert_eq!(answer(&*provider).await, expected(), "{kind}");
        let seen = &server.seen()[0];
        assert_eq!((seen.method.as_str(), seen.uri.to_string().as_str()), ("POST", path));
        assert_eq!(seen.header(header), Some(value));
        assert_eq!((seen.header("x-team"), seen.header("x-token")), (Some("blue"), Some("another")));
        assert_eq!(seen.header("content-type"), Some("application/json"));
        assert_eq!(seen.header("accept"), Some("text/event-stream"));
        assert_eq!(seen.header("anthropic-version"), (kind == Kind::Anthropic).then_some("2023-06-01"));
        assert!(seen.body.to_string().contains("Be kind."), "{}", seen.body);
    }
}

#[tokio::test]
async fn a_base_url_with_a_path_keeps_it() {
    for (kind, base, path) in [
        (Kind::Anthropic, "/proxy", "/proxy/v1/messages"),
        (Kind::Anthropic, "/v1/", "/v1/messages"),
        (Kind::OpenaiChat, "/api/v3/", "/api/v3/chat/completions"),
        (Kind::OpenaiResponses, "/v1", "/v1/responses"),
        (Kind::Gemini, "/v1", "/v1/models/model-1:streamGenerateContent"),
    ] {
        let server = Server::start(move |_| events(hello(kind))).await;
        let settings = ProviderSettings {
            base_url: Some(format!("{}{base}", server.url)),
            ..ProviderSettings::new(kind)
        };
        answer(&*provider(settings, &[])).await;
        assert_eq!(server.seen()[0].uri.path(), path);
    }
}

#[tokio::test]
async fn an_answer_may_come_in_any_pieces() {
    for kind in Kind::ALL {
        let server = Server::start(move |_| {
            let pieces =
                hello(kind).as_bytes().chunks(7).map(Bytes::copy_from_slice).map(Ok::<_, std::io::Error>);
            let pieces: Vec<_> = pieces.collect();
            events(Body::from_stream(stream::iter(pieces).then(|piece| async {
                tokio::task::yield_now().await;
                piece
            })))
        })
        .await;
        assert_eq!(answer(&*provider(server.settings(kind), &[])).await, expected(), "{kind}");
    }
}

#[tokio::test]
async fn one_connection_serves_one_call_after_another() {
    for kind in Kind::ALL {
        let server = Server::start(move |_| events(hello(kind))).await;
        let provider = provider(server.settings(kind), &[]);
        for _ in 0..5 {
            // The caller does not wait for the end of the stream.
            let mut stream = provider.stream(request());
            while let Some(event) = stream.next().await {
                if matches!(event.expect("an event"), ReplyEvent::Finished { .. }) {
                    break;
                }
            }
        }
        assert_eq!(server.connections(), 1, "{kind}");
    }
}

#[tokio::test]
async fn a_connection_is_kept_though_the_body_ends_after_the_last_event() {
    for kind in [Kind::Anthropic, Kind::OpenaiResponses, Kind::OpenaiChat] {
        let server = Server::start(move |_| {
            let late = stream::once(async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok("\n")
            });
            events(Body::from_stream(stream::iter([Ok::<_, std::io::Error>(hello(kind))]).chain(late)))
        })
        .await;
        let provider = provider(server.settings(kind), &[]);
        for _ in 0..3 {
            assert_eq!(answer(&*provider).await, expected());
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(server.connections(), 1, "{kind}");
    }
}

#[tokio::test]
async fn a_body_that_stays_open_after_the_last_event_does_not_hold_up_the_answer() {
    let server = Server::start(|_| events(server::stalled(&[hello(Kind::Anthropic)]))).await;
    let provider = provider(server.settings(Kind::Anthropic), &[]);
    let answered = tokio::time::timeout(Duration::from_secs(2), answer(&*provider)).await;
    assert_eq!(answered.expect("in time"), expected());
}

#[tokio::test]
async fn requests_wait_for_a_place() {
    let now: Arc<AtomicUsize> = Arc::default();
    let most: Arc<AtomicUsize> = Arc::default();
    let (counted, kept) = (Arc::clone(&now), Arc::clone(&most));
    let server = Server::start(move |_| {
        let (now, most) = (Arc::clone(&counted), Arc::clone(&kept));
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        events(Body::from_stream(stream::once(async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, std::io::Error>(hello(Kind::OpenaiChat))
        })))
    })
    .await;
    let settings = ProviderSettings { max_concurrent: Some(2), ..server.settings(Kind::OpenaiChat) };
    let provider = provider(settings, &[]);
    let calls = (0..6).map(|_| answer(&*provider));
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(|events| *events == expected()));
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_call_that_is_dropped_gives_its_place_back_and_ends_at_the_server() {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let gone: Arc<AtomicUsize> = Arc::default();
    let counted = Arc::clone(&gone);
    let server = Server::start(move |_| {
        let guard = Gone(Arc::clone(&counted));
        let ticks = stream::unfold(guard, |guard| async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Some((Ok::<_, std::io::Error>(": tick\n\n"), guard))
        });
        events(Body::from_stream(ticks))
    })
    .await;
    let settings = ProviderSettings { max_concurrent: Some(1), ..server.settings(Kind::OpenaiChat) };
    let provider = provider(settings, &[]);
    for round in 1..=2 {
        let mut stream = provider.stream(request());
        assert!(matches!(stream.next().await, Some(Ok(ReplyEvent::Started { .. }))));
        drop(stream);
        for _ in 0..200 {
            if gone.load(Ordering::SeqCst) == round {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(gone.load(Ordering::SeqCst), round);
    }
}
