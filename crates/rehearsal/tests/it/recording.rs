//! Recordings of a real wire play back, and report where a client differs.

use std::path::Path;

use rehearsal::{Cassette, Protocol, Recorder, RecordingOptions, Rehearsal, Replay, Tempo};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::client::{asking, get, path, post, rehearse};

const SCRIPT: &str = "[[reply]]\nwhen = { last_user = 'cut' }\ntext = 'one two three'\nfault = { cut_after = 1 }\n\
     [[reply]]\nwhen = { last_user = 'busy' }\nfault = { status = 429, retry_after_s = 3 }\n\
     [[reply]]\nreasoning = 'Hm.'\ntext = 'Grüße, {{last_user}}'\n";

async fn port() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a port")
}

async fn record(upstream: &Rehearsal, cassette: &Path, kind: Option<Protocol>) -> Recorder {
    let options =
        RecordingOptions { upstream: format!("{}/v1", upstream.url()), kind, cassette: cassette.to_owned() };
    Recorder::start(options, port().await).expect("a recorder")
}

async fn replay(cassette: &Path) -> Replay {
    let cassette = Cassette::read(cassette).expect("a cassette");
    Replay::start(cassette, Tempo::AtOnce, port().await).expect("a replay")
}

#[tokio::test]
async fn a_recording_plays_back_unchanged() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["tape.toml", "tape.json"] {
        let cassette = directory.path().join(name);
        let upstream = rehearse(SCRIPT).await;
        let recorder = record(&upstream, &cassette, None).await;
        let mut asked = Vec::new();
        for protocol in Protocol::ALL {
            for (text, streams) in [("hello", true), ("hello", false), ("cut", true), ("busy", true)] {
                asked.push((path(protocol, streams), asking(protocol, text, streams)));
            }
        }
        let mut answers = Vec::new();
        for (path, body) in &asked {
            answers.push(post(recorder.address(), path, body).await);
        }
        let models = get(recorder.address(), "/v1beta/models?key=sk-secret", "").await;
        assert_eq!(recorder.stop().await.expect("a written cassette"), asked.len() + 1);
        upstream.stop().await;
        let written = std::fs::read_to_string(&cassette).expect("the cassette");
        assert!(!written.contains("sk-secret"), "a key was written");

        let replay = replay(&cassette).await;
        for ((path, body), before) in asked.iter().zip(&answers) {
            let after = post(replay.address(), path, body).await;
            assert_eq!(
                (after.status, &after.body, after.is_whole),
                (before.status, &before.body, before.is_whole)
            );
            for header in ["content-type", "retry-after", "request-id"] {
                assert_eq!(after.header(header), before.header(header), "{header} of {path}");
            }
        }
        assert_eq!(get(replay.address(), "/v1beta/models?key=sk-other", "").await.body, models.body);
        assert_eq!((replay.remaining(), replay.differences()), (0, Vec::new()));
    }
}

#[tokio::test]
async fn a_difference_has_its_place_and_both_values() {
    let directory = tempfile::tempdir().expect("a directory");
    let cassette = directory.path().join("tape.toml");
    let upstream = rehearse(SCRIPT).await;
    let recorder = record(&upstream, &cassette, None).await;
    let body = asking(Protocol::Anthropic, "hello", true);
    post(recorder.address(), "/v1/messages", &body).await;
    recorder.stop().await.expect("a written cassette");

    let replay = replay(&cassette).await;
    let other = post(replay.address(), "/v1/messages", &asking(Protocol::Anthropic, "hullo", true)).await;
    assert_eq!(other.status, 409);
    let expected =
        json!({ "at": "/messages/0/content", "recorded": "hello", "sent": "hullo", "exchange": 1 });
    assert_eq!(other.json()["error"]["difference"], expected);
    let path = post(replay.address(), "/v1/responses", &body).await.json();
    assert_eq!(path["error"]["difference"]["at"], "path");
    // The place was kept open for the request that does not differ.
    assert_eq!(post(replay.address(), "/v1/messages", &body).await.status, 200);
    let over = post(replay.address(), "/v1/messages", &body).await;
    assert_eq!(over.status, 409);
    assert!(over.body.contains("only 1 exchange\""), "{}", over.body);
    let told = replay.differences();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], "exchange 1: /messages/0/content differs: recorded \"hello\", sent \"hullo\"");
}

#[tokio::test]
async fn keys_reach_the_provider_and_other_kinds_do_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let upstream = rehearse(SCRIPT).await;
    let recorder = record(&upstream, &directory.path().join("tape.json"), Some(Protocol::OpenaiChat)).await;
    let sent =
        post(recorder.address(), "/v1/chat/completions", &asking(Protocol::OpenaiChat, "a", false)).await;
    assert_eq!(sent.status, 200);
    assert_eq!(upstream.requests()[0].header("x-api-key"), Some("[hidden]"));
    let other = post(recorder.address(), "/v1/messages", &asking(Protocol::Anthropic, "a", false)).await;
    assert_eq!((other.status, upstream.requests().len()), (404, 1));
    upstream.stop().await;
    let gone =
        post(recorder.address(), "/v1/chat/completions", &asking(Protocol::OpenaiChat, "a", false)).await;
    assert_eq!(gone.status, 502);
    assert_eq!(recorder.stop().await.expect("a written cassette"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_cut_by_the_recorders_stop_is_recorded() {
    let directory = tempfile::tempdir().expect("a directory");
    let cassette = directory.path().join("tape.json");
    let upstream = rehearse("[[reply]]\ntext = 'one two'\nfault = { stall_ms = 60000, after = 1 }\n").await;
    let recorder = record(&upstream, &cassette, None).await;
    let address = recorder.address();
    let asked = asking(Protocol::Anthropic, "hello", true);
    let client = tokio::spawn(async move { post(address, "/v1/messages", &asked).await });
    while upstream.open_streams() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    // The first token is on its way; nothing else comes before the stop.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_eq!(recorder.stop().await.expect("a written cassette"), 1);
    assert!(!client.await.expect("an answer").is_whole);
    let written = std::fs::read_to_string(&cassette).expect("the cassette");
    assert!(written.contains("\"cut\": true") && written.contains("one"), "{written}");
}

#[tokio::test]
async fn invalid_recording_options_fail_at_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    for (upstream, name, words) in [
        ("ftp://example.com", "a.toml", "https://"),
        ("example", "a.toml", "invalid provider address"),
        ("http://example.com/?key=1", "a.toml", "it has a ? or a #"),
        ("http://example.com", "a.txt", ".toml or .json"),
        ("http://example.com", "none/a.toml", "cannot write"),
    ] {
        let cassette = directory.path().join(name);
        let options = RecordingOptions { upstream: upstream.to_owned(), kind: None, cassette };
        let error = Recorder::start(options, port().await).expect_err(upstream).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn an_invalid_cassette_fails() {
    let directory = tempfile::tempdir().expect("a directory");
    let good = json!({ "version": 1, "exchange": [{
        "request": { "method": "POST", "path": "/v1/messages", "body": "{}" },
        "response": { "status": 200, "chunks": [{ "at_ms": 1, "base64": "AA==" }] },
    }] });
    let with = |pointer: &str, value: Value| {
        let mut changed = good.clone();
        *changed.pointer_mut(pointer).expect("a place") = value;
        changed
    };
    for (text, words) in [
        (good.to_string(), ""),
        ("{".to_owned(), "EOF"),
        (with("/version", json!(2)).to_string(), "version 2"),
        (with("/exchange/0/request/body", json!("{")).to_string(), "not JSON"),
        (with("/exchange/0/response/status", json!(7)).to_string(), "status"),
        (with("/exchange/0/response/chunks/0/base64", json!("?")).to_string(), "not valid base64"),
        (with("/exchange/0/response", json!({ "status": 1, "x": 1 })).to_string(), "unknown field"),
    ] {
        let path = directory.path().join("tape.json");
        std::fs::write(&path, text).expect("a file");
        match Cassette::read(&path) {
            Ok(cassette) => assert_eq!((cassette.exchanges(), words), (1, "")),
            Err(error) => assert!(!words.is_empty() && error.to_string().contains(words), "{error}"),
        }
    }
}
