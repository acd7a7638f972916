use std::sync::Arc;
use std::time::Duration;

use agent::limits::TOOL_OUTPUT_BYTES;
use agent::{Annotations, Refusal, Tool, ToolCall};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Toolbox;
use crate::{Handler, Invocation, Outcome, Registered};

/// Does what its input says.
#[derive(Debug)]
struct Obedient;

impl Handler for Obedient {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        assert_ne!(invocation.call.input["do"], "panic at once", "as told");
        Box::pin(async move {
            match invocation.call.input["do"].as_str().unwrap_or_default() {
                "panic" => panic!("as told"),
                "hang" => std::future::pending().await,
                "heed" => {
                    invocation.cancelled.cancelled().await;
                    Outcome::text("heeded")
                }
                "flood" => Outcome::text("ü".repeat(TOOL_OUTPUT_BYTES)),
                "nul" => Outcome::text("a\0b"),
                other => Outcome::text(format!("did {other}")),
            }
        })
    }
}

fn tool(name: &str, input_schema: Value) -> Registered {
    let tool = Tool {
        name: name.to_owned(),
        set: "files",
        description: String::new(),
        input_schema: agent::Schema::new(input_schema),
        annotations: Annotations::default(),
    };
    Registered::new(tool, Arc::new(Obedient))
}

fn toolbox() -> Toolbox {
    let mut toolbox = Toolbox::new();
    let schema = json!({
        "type": "object",
        "properties": { "do": { "type": "string", "maxLength": 20 }, "times": { "type": "integer", "minimum": 1 } },
        "required": ["do"],
        "additionalProperties": false,
    });
    let refused = toolbox.add([tool("obey", schema), tool("broken", json!({ "type": "nonsense" }))]);
    assert!(refused.is_empty());
    toolbox
}

fn input(value: Value) -> Map<String, Value> {
    let Value::Object(input) = value else { panic!("an input is an object") };
    input
}

fn invocation(value: Value) -> Invocation {
    Invocation { call: ToolCall { input: input(value), ..ToolCall::default() }, ..Invocation::default() }
}

async fn call(name: &str, value: Value) -> Outcome {
    toolbox().call(name, invocation(value)).await
}

#[tokio::test]
async fn valid_input_reaches_the_handler() {
    assert_eq!(call("obey", json!({ "do": "it" })).await, Outcome::text("did it"));
}

#[tokio::test]
async fn each_violation_has_its_place_and_the_expected_type() {
    let answer = call("obey", json!({ "do": 5, "times": 0, "tims": 1 })).await;
    assert!(answer.is_error);
    assert_eq!(answer.refusal, Some(Refusal::InvalidArguments));
    for expected in ["/do: 5", "\"string\"", "/times: 0", "tims", "{do: string, times?: integer}"] {
        assert!(answer.text.contains(expected), "{expected} in {}", answer.text);
    }
    let answer = call("obey", json!({})).await;
    assert!(answer.text.contains("\"do\""), "{}", answer.text);
}

#[tokio::test]
async fn a_violation_does_not_repeat_a_huge_input() {
    let answer = call("obey", json!({ "do": "x".repeat(1_000_000) })).await;
    assert!(answer.is_error && answer.text.len() < 1_000, "{}", answer.text.len());
}

#[tokio::test]
async fn a_tool_with_a_broken_schema_fails() {
    let answer = call("broken", json!({})).await;
    assert!(answer.is_error && answer.text.contains("schema"), "{}", answer.text);
}

#[tokio::test]
async fn a_pattern_that_backtracks_forever_is_bounded() {
    let schema = json!({ "type": "object", "properties": { "do": { "pattern": "^(?=(a+)+$)(a+)+\\1b$" } } });
    let text = "a".repeat(40) + "!";
    // Without the bound this call takes years.
    let answer = tool("bomb", schema).call(invocation(json!({ "do": text }))).await;
    assert_eq!((answer.is_error, answer.refusal), (true, Some(Refusal::InvalidArguments)));
}

#[tokio::test]
async fn a_schema_that_refers_to_the_network_or_to_a_file_is_not_followed() {
    for reference in ["http://127.0.0.1:1/schema.json", "file:///etc/passwd"] {
        let answer = tool("far", json!({ "$ref": reference })).call(Invocation::default()).await;
        assert!(answer.is_error && answer.text.contains("not valid"), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_panic_is_an_error_answer() {
    for how in ["panic", "panic at once"] {
        let answer = call("obey", json!({ "do": how })).await;
        assert!(answer.is_error && answer.text.contains("obey"), "{}", answer.text);
    }
}

#[tokio::test]
async fn long_output_is_cut_between_characters() {
    let answer = call("obey", json!({ "do": "flood" })).await;
    assert!(answer.text.len() <= TOOL_OUTPUT_BYTES && answer.text.len() > TOOL_OUTPUT_BYTES - 200);
    let note = answer.text.lines().last().expect("a note");
    let shown = answer.text.len() - note.len() - 1;
    let numbers = format!("{} of {} bytes", 2 * TOOL_OUTPUT_BYTES - shown, 2 * TOOL_OUTPUT_BYTES);
    assert!(note.contains(&numbers), "{note}");
}

#[tokio::test]
async fn nul_does_not_reach_the_store() {
    assert_eq!(call("obey", json!({ "do": "nul" })).await.text, "a\u{FFFD}b");
}

#[tokio::test]
async fn a_cancelled_call_ends_whether_or_not_its_handler_heeds_it() {
    for (how, expected) in [("hang", "cancelled; the work may be done"), ("heed", "heeded")] {
        let cancelled = CancellationToken::new();
        let call = Invocation { cancelled: cancelled.clone(), ..invocation(json!({ "do": how })) };
        let toolbox = toolbox();
        let answer = toolbox.call("obey", call);
        let later = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            cancelled.cancel();
        };
        let (answer, ()) = futures::future::join(answer, later).await;
        assert!(answer.text.starts_with(expected), "{}", answer.text);
        assert_eq!(answer.refusal, answer.is_error.then_some(Refusal::Cancelled));
    }
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_the_known_ones() {
    let answer = call("oby", json!({})).await;
    assert_eq!(answer.text, "Unknown tool \"oby\"; available tools: broken, obey.");
    assert_eq!(answer.refusal, Some(Refusal::NotOffered));
}

#[test]
fn a_taken_name_stays_with_the_tool_that_has_it() {
    let mut toolbox = toolbox();
    let refused = toolbox.add([tool("obey", json!({})), tool("other", json!({}))]);
    assert_eq!(refused, ["obey"]);
    assert_eq!(toolbox.names().collect::<Vec<_>>(), ["broken", "obey", "other"]);
    assert!(toolbox.get("obey").is_some_and(|tool| *tool.tool.input_schema != json!({})));
}
