//! Each fault in each protocol, as it is on the wire.

use std::time::{Duration, Instant};

use rehearsal::{Protocol, Rehearsal};
use serde_json::{Value, json};

use crate::client::{Raw, ask, asking, path, post, rehearse};

/// Six tokens, then what ends an answer.
async fn with(fault: &str) -> Rehearsal {
    rehearse(&format!("[[reply]]\ntext = 'one two three four five six'\nfault = {fault}\n")).await
}

/// The end of a whole stream of the protocol.
fn end(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Anthropic => "message_stop",
        Protocol::OpenaiResponses => "response.completed",
        Protocol::OpenaiChat => "[DONE]",
        Protocol::Gemini => "finishReason",
    }
}

/// The texts of a stream's whole events.
fn texts(raw: &Raw) -> String {
    let body = raw.body.replace("\r\n", "\n");
    let whole = body.split_inclusive("\n\n").filter(|event| event.ends_with("\n\n"));
    let events = whole.filter_map(|event| {
        let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
        serde_json::from_str::<Value>(data).ok()
    });
    let text = |event: Value| {
        let found = [
            &event["delta"]["text"],
            &event["choices"][0]["delta"]["content"],
            &event["candidates"][0]["content"]["parts"][0]["text"],
            &event["delta"],
        ];
        found.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned()
    };
    events.map(text).collect()
}

#[tokio::test]
async fn a_status_comes_with_retry_after_and_the_protocols_own_error() {
    let rehearsal = with("{ status = 429, retry_after_s = 2 }").await;
    for protocol in Protocol::ALL {
        for streams in [true, false] {
            let raw = ask(&rehearsal, protocol, "x", streams).await;
            assert_eq!((raw.status, raw.header("retry-after")), (429, Some("2")), "{protocol}");
            let error = raw.json()["error"].clone();
            match protocol {
                Protocol::Anthropic => assert_eq!(error["type"], "rate_limit_error"),
                Protocol::OpenaiResponses | Protocol::OpenaiChat => {
                    assert_eq!(error["code"], "rate_limit_exceeded");
                }
                Protocol::Gemini => {
                    assert_eq!(
                        (&error["code"], &error["status"]),
                        (&json!(429), &json!("RESOURCE_EXHAUSTED"))
                    );
                    assert_eq!(error["details"][0]["retryDelay"], "2s");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_status_may_have_a_body_of_its_own() {
    let rehearsal = with("{ status = 502, body = '<h1>Bad gateway</h1>', content_type = 'text/html' }").await;
    for protocol in Protocol::ALL {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert_eq!((raw.status, raw.body.as_str()), (502, "<h1>Bad gateway</h1>"));
        assert_eq!(raw.header("content-type"), Some("text/html"));
    }
    let rehearsal = with("{ status = 418, body = { error = { n = 1 } } }").await;
    assert_eq!(ask(&rehearsal, Protocol::Anthropic, "x", true).await.json(), json!({ "error": { "n": 1 } }));
    let rehearsal = with("{ status = 400, code = 'own', message = 'said' }").await;
    let error = ask(&rehearsal, Protocol::OpenaiChat, "x", true).await.json()["error"].clone();
    assert_eq!((&error["code"], &error["message"]), (&json!("own"), &json!("said")));
}

#[tokio::test]
async fn a_request_that_is_too_long_fails_in_the_protocols_form() {
    let rehearsal = with("{ context_exceeded = true }").await;
    for (protocol, words) in Protocol::ALL.into_iter().zip([
        "prompt is too long",
        "context_length_exceeded",
        "context_length_exceeded",
        "exceeds the maximum number of tokens",
    ]) {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert!(raw.status == 400 && raw.body.contains(words), "{protocol}: {raw:?}");
    }
}

#[tokio::test]
async fn a_cut_ends_the_connection_after_the_tokens() {
    let rehearsal = with("{ cut_after = 2 }").await;
    for protocol in Protocol::ALL {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert_eq!((raw.status, raw.is_whole, texts(&raw).as_str()), (200, false, "one two"), "{protocol}");
        let whole = ask(&rehearsal, protocol, "x", false).await;
        assert!(!whole.is_whole && whole.body.starts_with('{'), "{protocol}: {whole:?}");
    }
}

#[tokio::test]
async fn a_clean_cut_looks_like_an_end() {
    let rehearsal = with("{ cut_after = 99, clean = true }").await;
    for protocol in Protocol::ALL {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert_eq!((raw.is_whole, texts(&raw).as_str()), (true, "one two three four five six"), "{protocol}");
        assert!(!raw.body.contains(end(protocol)), "{protocol}: {}", raw.body);
        let whole = ask(&rehearsal, protocol, "x", false).await;
        assert!(
            whole.is_whole && serde_json::from_str::<Value>(&whole.body).is_err(),
            "{protocol}: {whole:?}"
        );
    }
}

#[tokio::test]
async fn half_an_event_is_sent_and_no_more() {
    for clean in [true, false] {
        let rehearsal = with(&format!("{{ half_event = true, cut_after = 1, clean = {clean} }}")).await;
        for protocol in Protocol::ALL {
            let raw = ask(&rehearsal, protocol, "x", true).await;
            assert_eq!((raw.is_whole, texts(&raw).as_str()), (clean, "one"), "{protocol}");
            assert!(!raw.body.ends_with('\n') && !raw.body.ends_with('}'), "{protocol}: {}", raw.body);
        }
    }
}

#[tokio::test]
async fn malformed_tool_json_ends_in_the_middle() {
    let script = "[[reply]]\nsay = [{ tool = 'read', input = { path = 'src/main.rs' } }]\n\
                  fault = { malformed_tool_json = true }\n";
    let rehearsal = rehearse(script).await;
    let half = r#"{"path":"src/m"#;
    for protocol in Protocol::ALL {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert!(raw.is_whole && raw.body.contains(end(protocol)), "{protocol}: {raw:?}");
        let whole = ask(&rehearsal, protocol, "x", false).await.json();
        match protocol {
            Protocol::Anthropic => assert_eq!(whole["content"][0]["input"], half),
            Protocol::OpenaiResponses => {
                assert_eq!(whole["output"][0]["arguments"], half);
                assert!(raw.body.contains(&Value::from(half).to_string()));
            }
            Protocol::OpenaiChat => {
                let call = &whole["choices"][0]["message"]["tool_calls"][0];
                assert_eq!(call["function"]["arguments"], half);
            }
            Protocol::Gemini => {
                assert_eq!(whole["candidates"][0]["finishReason"], "MALFORMED_FUNCTION_CALL");
                assert!(!raw.body.contains("functionCall"), "{}", raw.body);
            }
        }
    }
}

#[tokio::test]
async fn a_wrong_content_type_names_the_right_answer() {
    let rehearsal = with("{ content_type = 'text/html' }").await;
    for protocol in Protocol::ALL {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert_eq!((raw.status, raw.header("content-type")), (200, Some("text/html")), "{protocol}");
        assert!(raw.body.contains(end(protocol)));
    }
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    let rehearsal = with("{ error_event = 'overloaded_error', after = 2 }").await;
    for protocol in Protocol::ALL {
        let raw = ask(&rehearsal, protocol, "x", true).await;
        assert!(raw.body.contains("two") && !raw.body.contains("three"), "{protocol}: {}", raw.body);
        let last = raw.body.trim_end().lines().last().and_then(|line| line.strip_prefix("data: "));
        let last: Value = serde_json::from_str(last.expect("an event")).expect("JSON");
        let error = if last["error"].is_null() { &last["response"]["error"] } else { &last["error"] };
        assert_eq!(error["message"], "Overloaded", "{protocol}");
        assert!(raw.is_whole && !raw.body.contains(end(protocol)), "{protocol}");
        let whole = ask(&rehearsal, protocol, "x", false).await;
        assert!(whole.status >= 500, "{protocol}: {whole:?}");
    }
    let raw = ask(&rehearsal, Protocol::OpenaiResponses, "x", true).await;
    let numbers: Vec<u64> = raw
        .body
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
        .filter_map(|event| event["sequence_number"].as_u64())
        .collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{}", raw.body);
}

#[tokio::test]
async fn a_stall_holds_up_the_head_or_the_tokens() {
    let stall = Duration::from_millis(150);
    for fault in ["{ stall_ms = 150 }", "{ stall_ms = 150, after = 2 }", "{ stall_ms = 150, status = 503 }"] {
        let rehearsal = with(fault).await;
        for protocol in Protocol::ALL {
            let started = Instant::now();
            ask(&rehearsal, protocol, "x", true).await;
            assert!(started.elapsed() >= stall, "{protocol} {fault}: {:?}", started.elapsed());
        }
    }
}

#[tokio::test]
async fn before_a_stall_the_tokens_have_arrived() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let rehearsal = with("{ stall_ms = 60000, after = 2 }").await;
    for protocol in Protocol::ALL {
        let body = asking(protocol, "x", true).to_string();
        let mut stream = tokio::net::TcpStream::connect(rehearsal.address()).await.expect("a connection");
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n",
            path(protocol, true),
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
        let mut seen = String::new();
        let mut buffer = [0; 4096];
        while !seen.contains("two") {
            let count = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut buffer)).await;
            let count = count.expect("bytes before the stall").expect("bytes");
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        assert!(!seen.contains("three"), "{protocol}: {seen}");
        assert_eq!(rehearsal.open_streams(), 1);
        drop(stream);
        let gone = async {
            while rehearsal.open_streams() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), gone).await.expect("a stream that is given up");
    }
    assert_eq!(rehearsal.abandoned_streams(), 4);
}

#[tokio::test]
async fn a_fault_with_one_use_spares_the_next_attempt() {
    let rehearsal =
        rehearse("[[reply]]\nfault = { status = 503 }\ntimes = 1\n[[reply]]\ntext = 'now'\n").await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        let body = asking(Protocol::Anthropic, "x", true);
        statuses.push(post(rehearsal.address(), "/v1/messages", &body).await.status);
    }
    assert_eq!(statuses, [503, 200, 200]);
}
