//! Every answer has a warning while a file has errors.

use serde_json::{Value, json};
use tokio::time::{Duration, sleep, timeout};

use crate::wire::{Fixture, PATIENCE, Wire, save};

const GOOD: &str = "[personas.guide]\nsystem_prompt = \"You guide.\"\n";

/// The texts after the answer itself.
fn besides(result: &Value) -> Vec<&str> {
    let content = result["content"].as_array().expect("content");
    content.iter().skip(1).filter_map(|block| block["text"].as_str()).collect()
}

/// Calls until answers carry a warning, or carry none any more.
async fn until_warned(wire: &mut Wire, warned: bool) -> Value {
    let look = async {
        loop {
            let result = wire.result("get_agent_persona", json!({ "name": "guide", "detail": true })).await;
            if besides(&result).is_empty() != warned {
                return result;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, look).await.expect("in time")
}

#[tokio::test]
async fn every_answer_reports_a_broken_file_until_it_is_fixed() {
    let fixture = Fixture::with_project(GOOD).await;
    let mut wire = fixture.legacy().await;
    assert_eq!(besides(&until_warned(&mut wire, false).await), [""; 0]);
    save(&fixture.project_file(), &format!("{GOOD}\n[parts.calm\npart_type = \"tone\"\n"));
    let result = until_warned(&mut wire, true).await;
    // The last valid version stays in force.
    assert_eq!(result["structuredContent"]["system_prompt"], "You guide.");
    let [warning] = besides(&result)[..] else { panic!("one block: {result}") };
    assert!(warning.starts_with("warning: ") && warning.contains("personas.toml:4:"), "{warning}");
    assert!(warning.contains("4 | [parts.calm"), "the line itself: {warning}");
    for (tool, arguments) in [
        ("list_agent_personas", json!({})),
        ("search_library", json!({ "query": "guide" })),
        ("save_entity", json!({ "kind": "test_input", "name": "hello", "entity": { "content": "Hello?" } })),
        ("get_entity", json!({ "kind": "tool_preset", "name": "full" })),
    ] {
        let result = wire.result(tool, arguments.clone()).await;
        assert_eq!((besides(&result), &result["isError"]), (vec![warning], &json!(false)), "{tool}");
        wire.call(tool, arguments).await;
    }
    let refused = wire.result("get_agent_persona", json!({ "name": "nobody" })).await;
    assert_eq!((besides(&refused), &refused["isError"]), (vec![warning], &json!(true)));
    let prompt = wire.request("prompts/get", json!({ "name": "guide" })).await.expect("a prompt");
    assert!(!prompt.to_string().contains("warning: "), "{prompt}");
    let read = wire.request("resources/read", json!({ "uri": "persona://guide" })).await.expect("contents");
    assert!(!read.to_string().contains("warning: "), "{read}");
    save(&fixture.project_file(), GOOD);
    until_warned(&mut wire, false).await;
}

#[tokio::test]
async fn a_file_that_does_not_parse_is_not_written_to() {
    let broken = format!("{GOOD}\n[parts.calm\n");
    let fixture = Fixture::with_project(&broken).await;
    let mut wire = fixture.modern().await;
    let write = json!({ "name": "other", "scope": "project" });
    let refusal = wire.refusal("create_agent_persona", write).await;
    assert_eq!(refusal["code"], "file_has_errors", "{refusal}");
    assert_eq!(std::fs::read_to_string(fixture.project_file()).expect("a file"), broken);
}

#[tokio::test]
async fn one_bad_entry_does_not_hide_its_neighbours() {
    let bad = "[parts.calm]\npart_type = \"tonne\"\ncontent = \"Be calm.\"\n";
    let fixture = Fixture::with_project(&format!("{GOOD}\n{bad}")).await;
    let mut wire = fixture.modern().await;
    let result = until_warned(&mut wire, true).await;
    assert_eq!(result["structuredContent"]["scope"], "project");
    let [warning] = besides(&result)[..] else { panic!("one block: {result}") };
    assert!(warning.contains("part calm") && warning.contains("tone"), "{warning}");
}

/// A budget holds for everything that the caller receives.
#[tokio::test]
async fn a_warning_fits_the_budget_or_is_left_out() {
    use persona::TokenCounter as _;
    let parts: String = (0..20)
        .map(|at| {
            format!("[parts.p{at}]\npart_type = \"goal\"\ncontent = \"Reach goal number {at} on time.\"\n")
        })
        .collect();
    let links: Vec<String> = (0..20).map(|at| format!("p{at}")).collect();
    let persona = format!("[personas.guide]\nsystem_prompt = \"You guide.\"\nparts = {links:?}\n");
    let broken = "[parts.calm]\npart_type = \"tonne\"\ncontent = \"Be calm.\"\n";
    let fixture = Fixture::with_project(&format!("{persona}{parts}{broken}")).await;
    let mut wire = fixture.modern().await;
    until_warned(&mut wire, true).await;
    let (mut whole, mut brief, mut none) = (0, 0, 0);
    for most in (60..2_500).step_by(11) {
        let ask = json!({ "name": "guide", "detail": true, "max_tokens": most });
        let result = wire.result("get_agent_persona", ask).await;
        let blocks = result["content"].as_array().expect("content");
        let tokens: usize =
            blocks.iter().map(|block| app::Tokenizer.count(block["text"].as_str().expect("a text"))).sum();
        let is_over = result["structuredContent"]["budget"]["over_budget"] == true;
        assert!(tokens <= most || is_over, "asked {most}: {tokens} came: {result}");
        match besides(&result)[..] {
            [] => none += 1,
            ["warning: personas.toml has errors"] => brief += 1,
            _ => whole += 1,
        }
    }
    assert!(whole > 0 && brief > 0 && none > 0, "{whole} {brief} {none}");
}
