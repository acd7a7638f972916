//! Failures and their messages.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use llm::{FailureKind, ReplyEvent};
use providers::{Kind, ProviderSettings};

use crate::server::{Server, call, error_body, events, fails, hello, lost, provider, stalled, status};

#[tokio::test]
async fn statuses_of_every_kind() {
    for kind in Kind::ALL {
        for (code, body, expected) in [
            (500, String::new(), FailureKind::Transport),
            (529, error_body("overloaded_error", "Overloaded"), FailureKind::Transport),
            (408, String::new(), FailureKind::Transport),
            (429, error_body("rate_limit_error", "slow down"), FailureKind::RateLimited),
            (401, error_body("authentication_error", "no"), FailureKind::Unauthorized),
            (403, error_body("permission_error", "no"), FailureKind::Unauthorized),
            (404, error_body("not_found_error", "model: model-1"), FailureKind::UnknownModel),
            (400, error_body("exceed_context_size_error", "too much"), FailureKind::ContextExceeded),
            (400, error_body("invalid_request_error", "odd"), FailureKind::Rejected),
        ] {
            let answer = body.clone();
            let server = Server::start(move |_| {
                status(code, &[("request-id", "req-7"), ("retry-after", "3")], answer.clone())
            })
            .await;
            let failure = fails(&*provider(server.settings(kind), &[])).await;
            assert_eq!((failure.kind, failure.status), (expected, Some(code)), "{kind} {body}");
            assert_eq!(failure.request_id.as_deref(), Some("req-7"));
            assert_eq!(failure.retry_after, Some(Duration::from_secs(3)));
            assert!(failure.message.starts_with(&format!("mine: HTTP {code}: ")), "{failure}");
            assert_eq!(server.seen().len(), 1, "whether to try again is not decided here");
        }
    }
}

#[tokio::test]
async fn a_missing_key_fails_without_a_request() {
    let server = Server::start(|_| events(hello(Kind::Anthropic))).await;
    let mut settings = server.settings(Kind::Anthropic);
    settings.api_key_env = Some("MY_KEY".into());
    let provider_without = provider(settings.clone(), &[]);
    let failure = fails(&*provider_without).await;
    assert_eq!(failure.kind, FailureKind::Unauthorized);
    assert!(failure.message.contains("set the variable MY_KEY"), "{failure}");
    assert_eq!(provider_without.models().await.expect_err("no key").kind, FailureKind::Unauthorized);
    let failure = fails(&*provider(settings, &[("MY_KEY", "two\nlines")])).await;
    assert!(failure.message.contains("MY_KEY") && !failure.message.contains("lines"), "{failure}");
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn a_key_that_a_server_repeats_is_not_passed_on() {
    let server = Server::start(|seen| {
        let key = seen.header("x-api-key").unwrap_or_default().to_owned();
        status(401, &[], error_body("authentication_error", &format!("wrong key {key}!")))
    })
    .await;
    let settings = ProviderSettings { api_key_env: Some("KEY".into()), ..server.settings(Kind::Anthropic) };
    let failure = fails(&*provider(settings, &[("KEY", "very-secret")])).await;
    assert_eq!(failure.message, "mine: HTTP 401: wrong key [secret]!");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::start(|_| events(hello(Kind::Anthropic))).await;
    let target = elsewhere.url.clone();
    let server = Server::start(move |_| status(307, &[("location", &target)], "")).await;
    let failure = fails(&*provider(server.settings(Kind::Anthropic), &[])).await;
    assert_eq!((failure.kind, failure.status), (FailureKind::Rejected, Some(307)));
    assert_eq!(elsewhere.seen().len(), 0);
}

#[tokio::test]
async fn an_answer_without_an_event_stream() {
    for kind in Kind::ALL {
        for content_type in ["application/json", "text/html", ""] {
            let server =
                Server::start(move |_| status(200, &[("content-type", content_type)], hello(kind))).await;
            let (told, failure) = call(&*provider(server.settings(kind), &[])).await;
            let failure = failure.expect("a failure");
            assert_eq!((told.len(), failure.kind), (0, FailureKind::Transport), "{kind} {content_type}");
            assert!(failure.message.starts_with("mine: "), "{failure}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_ends_too_early_or_is_lost() {
    for kind in Kind::ALL {
        let first = hello(kind).find("Hi").map(|at| at + hello(kind)[at..].find("\n\n").expect("an end") + 2);
        let part = &hello(kind)[..first.expect("a text")];
        for half in [part, &part[..part.len() - 5]] {
            let server = Server::start(move |_| events(half)).await;
            let (told, failure) = call(&*provider(server.settings(kind), &[])).await;
            let failure = failure.expect("a failure");
            assert_eq!(failure.kind, FailureKind::Transport, "{kind}");
            assert_eq!(failure.request_id.as_deref(), Some("req-1"));
            assert!(!told.iter().any(|event| matches!(event, ReplyEvent::Finished { .. })));
        }
        let server = Server::start(move |_| events(lost(&[part]))).await;
        let (told, failure) = call(&*provider(server.settings(kind), &[])).await;
        assert!(told.contains(&ReplyEvent::TextDelta("Hi".into())), "{kind}: {told:?}");
        let failure = failure.expect("a failure");
        assert_eq!(failure.kind, FailureKind::Transport);
        assert!(failure.message.starts_with("mine: "), "{failure}");
    }
}

#[tokio::test]
async fn events_before_a_failure_are_passed_on() {
    let body = concat!(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}\n\n",
    );
    let server = Server::start(move |_| events(body)).await;
    let (told, failure) = call(&*provider(server.settings(Kind::OpenaiChat), &[])).await;
    assert_eq!(told.last(), Some(&ReplyEvent::TextDelta("Hi".into())));
    let failure = failure.expect("a failure");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::RateLimited, "mine: slow down"));
}

#[tokio::test]
async fn a_silent_stream_fails_after_the_idle_timeout() {
    let server = Server::start(|_| events(stalled(&[": nothing yet\n\n"]))).await;
    let idle = ProviderSettings { idle_timeout_s: Some(1), ..server.settings(Kind::OpenaiChat) };
    let failure = fails(&*provider(idle, &[])).await;
    assert_eq!(failure.kind, FailureKind::Transport);
    assert!(failure.message.contains("silent for 1 s (idle_timeout_s)"), "{failure}");
}

#[tokio::test]
async fn a_silent_server_fails() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let settings = ProviderSettings {
        base_url: Some(url),
        idle_timeout_s: Some(1),
        ..ProviderSettings::new(Kind::OpenaiChat)
    };
    let failure = fails(&*provider(settings, &[])).await;
    assert!(failure.message.contains("idle_timeout_s"), "{failure}");
}

#[tokio::test]
async fn a_whole_call_has_an_end_though_bytes_keep_coming() {
    let server = Server::start(|_| {
        events(Body::from_stream(stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Some((Ok::<_, std::io::Error>(": tick\n\n"), ()))
        })))
    })
    .await;
    let settings = ProviderSettings { timeout_s: Some(1), ..server.settings(Kind::OpenaiChat) };
    let failure = fails(&*provider(settings, &[])).await;
    assert_eq!(failure.kind, FailureKind::Transport);
    assert!(failure.message.contains("not done within 1 s (timeout_s)"), "{failure}");
}

#[tokio::test]
async fn an_address_without_a_server() {
    let settings = ProviderSettings {
        base_url: Some("http://127.0.0.1:1".into()),
        ..ProviderSettings::new(Kind::OpenaiChat)
    };
    let failure = fails(&*provider(settings, &[])).await;
    assert_eq!((failure.kind, failure.status), (FailureKind::Transport, None));
    assert!(failure.message.starts_with("mine: cannot reach http://127.0.0.1:1: "), "{failure}");
    assert!(failure.message.contains("refused"), "{failure}");
}

/// A body without an end, of this piece again and again.
fn endless(piece: &'static str) -> Body {
    let piece = Bytes::from(piece.repeat(1_000));
    Body::from_stream(stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone())))
}

#[tokio::test]
async fn answers_without_an_end_are_given_up() {
    let server = Server::start(|_| status(400, &[], endless("x"))).await;
    let failure = fails(&*provider(server.settings(Kind::OpenaiChat), &[])).await;
    assert_eq!(failure.kind, FailureKind::Rejected);
    for piece in ["x", "data: x\n"] {
        let server = Server::start(move |_| events(endless(piece))).await;
        let failure = fails(&*provider(server.settings(Kind::OpenaiChat), &[])).await;
        assert_eq!(failure.kind, FailureKind::Transport);
        assert!(failure.message.contains("too long"), "{failure}");
    }
}
