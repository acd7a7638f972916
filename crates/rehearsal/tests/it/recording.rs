//! Recordings of a real wire play back, and report where a client differs.

use std::path::Path;

use rehearsal::{
    Cassette, CassetteError, Protocol, RecordError, Recorder, RecordingOptions, Rehearsal, Replay, Tempo,
};
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
    let told = replay.differences();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        ["/messages/0/content", "\"hello\"", "\"hullo\""].iter().all(|it| told[0].contains(it)),
        "{told:?}"
    );
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
    let mut sentences = String::new();
    for (given, name) in [
        ("ftp://example.com", "a.toml"),
        ("example", "a.toml"),
        ("http://example.com/?key=1", "a.toml"),
        ("http://example.com", "a.txt"),
        ("http://example.com", "none/a.toml"),
    ] {
        let cassette = directory.path().join(name);
        let options = RecordingOptions { upstream: given.to_owned(), kind: None, cassette };
        let error = Recorder::start(options, port().await).expect_err(given);
        let is_expected = match &error {
            RecordError::Upstream { upstream, .. } => upstream == given && name == "a.toml",
            RecordError::Cassette(CassetteError::Name { .. }) => name == "a.txt",
            RecordError::Cassette(CassetteError::Io { .. }) => name == "none/a.toml",
            _ => false,
        };
        assert!(is_expected, "{given} {name}: {error:?}");
        sentences += &format!("{error}\n").replace(&directory.path().display().to_string(), "DIR");
    }
    insta::assert_snapshot!("recording_errors", sentences);
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
    let path = directory.path().join("tape.json");
    let read = |text: String| {
        std::fs::write(&path, text).expect("a file");
        Cassette::read(&path)
    };
    assert_eq!(read(good.to_string()).expect("a cassette").exchanges(), 1);
    let mut sentences = String::new();
    for text in [
        "{".to_owned(),
        with("/version", json!(2)).to_string(),
        with("/exchange/0/request/body", json!("{")).to_string(),
        with("/exchange/0/response/status", json!(7)).to_string(),
        with("/exchange/0/response/chunks/0/base64", json!("?")).to_string(),
        with("/exchange/0/response", json!({ "status": 1, "x": 1 })).to_string(),
    ] {
        let error = read(text).expect_err("an invalid cassette");
        assert!(matches!(error, CassetteError::Malformed { .. }), "{error:?}");
        sentences += &format!("{error}\n").replace(&directory.path().display().to_string(), "DIR");
    }
    insta::assert_snapshot!("cassette_errors", sentences);
}
