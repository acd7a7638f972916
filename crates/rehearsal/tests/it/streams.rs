//! Whole streams and whole answers of each protocol, byte by byte.

use rehearsal::Protocol;
use serde_json::json;

use crate::client::{ask, asking, get, path, post, rehearse};

/// Reasoning, text between parallel calls, usage with cached tokens.
const SCRIPT: &str = r#"
models = ["model-1", "model-2"]

[[reply]]
when = { last_user = "both" }
reasoning = "Two files."
say = [
  { text = "I read \"both\":" },
  { tool = "read_file", input = { path = "a.rs" } },
  { text = "and" },
  { tool = "read_file", input = { path = "ä b.rs" } },
]
usage = { input = 100, output = 20, cache_read = 60, cache_write = 10 }

[[reply]]
when = { last_user = "short" }
text = "No more."
stop = "max_tokens"
usage = { input = 10, output = 2 }

[[reply]]
when = { last_user = "bad" }
text = "I will not."
stop = "refusal"
usage = { input = 10, output = 3 }

[[reply]]
when = { last_user = "long" }
text = "Wait."
stop = "pause"
usage = { input = 10, output = 1 }
"#;

#[tokio::test]
async fn streams_are_as_the_protocols_say() {
    for protocol in Protocol::ALL {
        let rehearsal = rehearse(SCRIPT).await;
        let raw = ask(&rehearsal, protocol, "both", true).await;
        assert_eq!((raw.status, raw.is_whole), (200, true), "{protocol}");
        assert!(raw.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")));
        insta::assert_snapshot!(format!("{protocol}-stream"), raw.body);
    }
}

#[tokio::test]
async fn whole_answers_are_as_the_protocols_say() {
    for protocol in Protocol::ALL {
        let rehearsal = rehearse(SCRIPT).await;
        let raw = ask(&rehearsal, protocol, "both", false).await;
        assert_eq!((raw.status, raw.is_whole), (200, true), "{protocol}");
        assert_eq!(raw.header("content-type"), Some("application/json"));
        insta::assert_json_snapshot!(format!("{protocol}-whole"), raw.json());
    }
}

#[tokio::test]
async fn every_stop_reason_has_the_word_of_its_protocol() {
    let rehearsal = rehearse(SCRIPT).await;
    let mut told = Vec::new();
    for protocol in Protocol::ALL {
        for text in ["short", "bad", "long"] {
            let raw = ask(&rehearsal, protocol, text, false).await.json();
            told.push(match protocol {
                Protocol::Anthropic => raw["stop_reason"].clone(),
                Protocol::OpenaiChat => raw["choices"][0]["finish_reason"].clone(),
                Protocol::Gemini => raw["candidates"][0]["finishReason"].clone(),
                Protocol::OpenaiResponses => json!([
                    raw["status"],
                    raw["incomplete_details"]["reason"],
                    raw["output"][0]["content"][0]["type"],
                ]),
            });
        }
    }
    let expected = json!([
        "max_tokens",
        "refusal",
        "pause_turn",
        ["incomplete", "max_output_tokens", "output_text"],
        ["completed", null, "refusal"],
        ["completed", null, "output_text"],
        "length",
        "content_filter",
        "stop",
        "MAX_TOKENS",
        "SAFETY",
        "STOP",
    ]);
    assert_eq!(json!(told), expected);
}

#[tokio::test]
async fn gemini_streams_an_array_where_no_events_are_asked_for() {
    let rehearsal = rehearse(SCRIPT).await;
    let body = asking(Protocol::Gemini, "both", true);
    let raw = post(rehearsal.address(), "/v1beta/models/gem-1:streamGenerateContent", &body).await;
    let chunks = raw.json();
    let chunks = chunks.as_array().expect("an array");
    assert_eq!(
        chunks.first().map(|first| &first["candidates"][0]["content"]["parts"][0]["thought"]),
        Some(&json!(true))
    );
    assert_eq!(chunks.last().map(|last| &last["candidates"][0]["finishReason"]), Some(&json!("STOP")));
}

#[tokio::test]
async fn a_chat_without_usage_gets_none() {
    let rehearsal = rehearse(SCRIPT).await;
    let mut body = asking(Protocol::OpenaiChat, "short", true);
    body["stream_options"] = json!(null);
    let raw = post(rehearsal.address(), path(Protocol::OpenaiChat, true), &body).await;
    assert!(!raw.body.contains("usage") && raw.body.ends_with("data: [DONE]\n\n"), "{}", raw.body);
}

#[tokio::test]
async fn encrypted_reasoning_comes_only_where_it_is_asked_for() {
    let rehearsal = rehearse(SCRIPT).await;
    let mut body = asking(Protocol::OpenaiResponses, "both", false);
    let with = post(rehearsal.address(), "/v1/responses", &body).await.json();
    body["include"] = json!([]);
    let without = post(rehearsal.address(), "/v1/responses", &body).await.json();
    assert_eq!(with["output"][0]["encrypted_content"], "rehearsal-encrypted-0001_0");
    assert_eq!(without["output"][0]["encrypted_content"], json!(null));
}

#[tokio::test]
async fn models_are_listed_in_each_protocols_words() {
    let rehearsal = rehearse(SCRIPT).await;
    let address = rehearsal.address();
    let anthropic = get(address, "/v1/models", "anthropic-version: 2023-06-01\r\n").await.json();
    assert_eq!((&anthropic["data"][1]["id"], &anthropic["last_id"]), (&json!("model-2"), &json!("model-2")));
    let openai = get(address, "/v1/models", "").await.json();
    assert_eq!((&openai["object"], &openai["data"][0]["object"]), (&json!("list"), &json!("model")));
    let gemini = get(address, "/v1beta/models?key=sk-1", "").await.json();
    assert_eq!(gemini["models"][0]["name"], "models/model-1");
    let newer = get(address, "/v1/models", "x-goog-api-key: sk-1\r\n").await.json();
    assert_eq!(newer, gemini);
    let one = get(address, "/v1/models/model-2", "").await.json();
    assert_eq!(one["id"], "model-2");
    assert_eq!(get(address, "/v1beta/models/none", "").await.status, 404);
    let none = get(address, "/v2/models", "").await;
    assert_eq!(none.status, 404);
    assert!(none.body.contains("POST /v1/messages"), "{}", none.body);
}
