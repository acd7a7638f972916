//! The rest of what the agent can do: parts, traits, skills, guardrails, models, presets, plans.

use serde_json::{Value, json};

use super::world::results as results_of;
use super::world::{calls, on_each, results};

fn failures(events: &[Value]) -> Vec<&str> {
    results(events).into_iter().filter(|(_, is_error)| *is_error).map(|(output, _)| output).collect()
}

const BUILDS: &str = r#"
[[reply]]
when = { call = 10 }
text = "Built."
[[reply]]
when = { call = 9 }
say = [{ tool = "update_agent_persona", id = "toolu_8", input = { tool_preset = "careful", preferred_models = [{ provider = "stage", model = "actor" }], plan_persona = { instruction = "Plan in three steps." } } }]
[[reply]]
when = { call = 8 }
say = [{ tool = "get_entity", id = "toolu_9", input = { kind = "persona", name = "ada" } }]
[[reply]]
when = { call = 7 }
say = [{ tool = "save_entity", id = "toolu_7", input = { kind = "tool_preset", name = "careful", entity = { description = "Asks.", categories = { all = [{ name = "*", approval = "ask" }] } } } }]
[[reply]]
when = { call = 6 }
say = [
  { tool = "create_agent_guardrail", id = "toolu_6a", input = { name = "no-guessing", severity = "high", content = "Do not guess." } },
  { tool = "add_persona_guardrail", id = "toolu_6b", input = { guardrail = "no-guessing" } },
]
[[reply]]
when = { call = 5 }
say = [
  { tool = "create_agent_skill", id = "toolu_5a", input = { name = "prove", description = "Proofs.", content = "Prove it." } },
  { tool = "add_persona_skill", id = "toolu_5b", input = { skill = "prove" } },
]
[[reply]]
when = { call = 4 }
say = [
  { tool = "create_agent_trait", id = "toolu_4a", input = { name = "exact", trait_type = "cognitive", instruction = "Be exact." } },
  { tool = "add_persona_trait", id = "toolu_4b", input = { trait = "exact" } },
]
[[reply]]
when = { call = 3 }
say = [{ tool = "update_agent_part", id = "toolu_3", input = { name = "dry-tone", content = "Be very dry." } }]
[[reply]]
when = { call = 2 }
say = [{ tool = "get_entity", id = "toolu_2", input = { kind = "part", name = "dry-tone" } }]
[[reply]]
say = [
  { tool = "create_agent_part", id = "toolu_1a", input = { name = "dry-tone", part_type = "tone", content = "Be dry." } },
  { tool = "add_persona_part", id = "toolu_1b", input = { part = "dry-tone", priority = 10 } },
]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn it_builds_a_persona_of_pieces() {
    on_each(BUILDS, async |world| {
        let events = world.tell("ada", "Make her exact and dry").await;
        assert_eq!(failures(&events), Vec::<&str>::new());
        assert_eq!(calls(&events).len(), 13);
        let ada = world.entity("persona/ada").await;
        assert_eq!(ada["parts"], json!([{ "name": "dry-tone", "order": 0, "priority": 10 }]));
        assert_eq!((&ada["traits"], &ada["skills"]), (&json!(["exact"]), &json!(["prove"])));
        assert_eq!((&ada["guardrails"], &ada["tool_preset"]), (&json!(["no-guessing"]), &json!("careful")));
        assert_eq!(ada["plan_persona"]["instruction"], "Plan in three steps.");
        assert_eq!(ada["preferred_models"][0]["model"], "actor");
        assert_eq!(world.entity("part/dry-tone").await["content"], "Be very dry.");
        for entity in ["part/dry-tone", "trait/exact", "guardrail/no-guessing", "tool_preset/careful"] {
            assert_eq!(world.revision(entity).await["message"], "Make her exact and dry", "{entity}");
        }
    })
    .await;
}

const LOOKS: &str = r#"
[[reply]]
when = { call = 2 }
text = "I have looked around."
[[reply]]
say = [
  { tool = "list_personas", id = "toolu_1", input = { query = "mentor" } },
  { tool = "inspect_persona", id = "toolu_2", input = { name = "mentor", detail = true } },
  { tool = "list_models", id = "toolu_3", input = {} },
  { tool = "list_library", id = "toolu_4", input = { kind = "tool_preset" } },
  { tool = "search_library", id = "toolu_5", input = { query = "review" } },
]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn it_looks_at_others() {
    on_each(LOOKS, async |world| {
        let events = world.tell("ada", "What do the others do?").await;
        assert_eq!(failures(&events), Vec::<&str>::new());
        // Tools that only read run at the same time, so their results come in any order.
        let said = |id: &str| {
            let is_result = |event: &&Value| event["type"] == "tool_result" && event["toolUseId"] == id;
            events.iter().find(is_result).and_then(|event| event["output"].as_str()).unwrap_or_default()
        };
        assert!(said("toolu_1").contains("\"mentor\""), "{events:?}");
        assert!(said("toolu_2").contains("system_prompt"), "{events:?}");
        assert!(said("toolu_3").contains("stage") && said("toolu_4").contains("read_only"), "{events:?}");
    })
    .await;
}

const CHANGES_BUILTIN_PART: &str = r#"
[[reply]]
when = { call = 4 }
text = "Done."
[[reply]]
when = { call = 3 }
say = [{ tool = "update_agent_part", id = "toolu_3", input = { name = "optimist-voice", summary = "Whispers." } }]
[[reply]]
when = { call = 2 }
say = [{ tool = "get_entity", id = "toolu_2", input = { kind = "part", name = "optimist-voice" } }]
[[reply]]
say = [{ tool = "update_agent_part", id = "toolu_1", input = { name = "optimist-voice", summary = "Whispers." } }]
"#;

/// A piece is read first. A builtin persona is copied before one of its pieces changes, so that it uses the
/// changed one.
#[tokio::test(flavor = "multi_thread")]
async fn a_piece_of_a_builtin_changes_with_its_copy() {
    on_each(CHANGES_BUILTIN_PART, async |world| {
        let events = world.tell("optimist", "Let it whisper").await;
        let results = results(&events);
        assert!(results[0].1 && results[0].0.contains("not read"), "{results:?}");
        assert!(!results[2].1, "{results:?}");
        for entity in ["persona/optimist", "part/optimist-voice"] {
            assert_eq!(world.entity(entity).await["scope"], "shared", "{entity}");
        }
        assert_eq!(world.entity("part/optimist-voice").await["summary"], "Whispers.");
        // The conversation went with it, and undo takes the copy away.
        assert!(!world.history("optimist").await.is_empty());
        let body = json!({ "personaId": "optimist" });
        let (status, undone) = world.ask("POST", "/api/persona-agent/undo", Some(&body)).await;
        assert_eq!((status, &undone["kept"]), (200, &json!([])), "{undone}");
        for entity in ["persona/optimist", "part/optimist-voice"] {
            assert_eq!(world.entity(entity).await["scope"], "builtin", "{entity}");
        }
        assert!(!world.history("optimist").await.is_empty(), "it still has its conversation");
    })
    .await;
}

const TESTS: &str = r#"
[[reply]]
when = { mode = "plan", tool_result_of = "run_tests" }
text = "Tested, nothing changed."
[[reply]]
when = { mode = "plan" }
say = [{ tool = "run_tests", id = "toolu_4", input = { inputs = ["hello"] } }]
[[reply]]
when = { tool_result_of = "run_tests", tool_result = "does not fit its schema" }
text = "It is too long."
[[reply]]
when = { tool_result_of = "run_tests", tool_result = "max_calls" }
say = [{ tool = "run_tests", id = "toolu_3", input = { model = "stage/actor" } }]
[[reply]]
when = { tool_result_of = "run_tests" }
say = [{ tool = "run_tests", id = "toolu_2", input = { inputs = ["hello"], samples = 5, max_calls = 1 } }]
[[reply]]
when = { last_user = "run her tests" }
say = [{ tool = "run_tests", id = "toolu_1", input = {} }]
[[reply]]
text = "Hello there, and a good day to you."
"#;

/// It tests the persona that it edits, within bounds, also while it only plans.
#[tokio::test(flavor = "multi_thread")]
async fn it_runs_the_tests_of_its_persona() {
    on_each(TESTS, async |world| {
        let expectations = json!([{ "words": { "max": 3 } }, { "contains": ["Hello"] }]);
        let hello = json!({ "entity": { "content": "Hi", "expectations": expectations } });
        world.put("test_input/hello", &hello).await;
        let bye = json!({ "entity": { "content": "Bye", "expectations": [{ "contains": ["day"] }] } });
        world.put("test_input/bye", &bye).await;
        let linked = json!({ "test_inputs": ["hello", "bye"], "preferred_models": [{ "provider": "stage", "model": "actor" }] });
        world.amend("persona/ada", &linked).await;
        let events = world.tell("ada", "run her tests").await;
        let results = results(&events);
        let summary = |at: usize| -> Value { serde_json::from_str(results[at].0).expect("JSON") };
        let all = summary(0);
        assert_eq!((&all["state"], &all["calls"]), (&json!("finished"), &json!(2)), "{all}");
        assert_eq!(all["tested"][0]["cells"]["passed"], 1, "{all}");
        let failed = all["not_passed"].as_array().expect("cells");
        assert_eq!(failed.len(), 1, "only what did not pass: {all}");
        assert_eq!((&failed[0]["input"], &failed[0]["state"]), (&json!("hello"), &json!("failed")));
        let broken = failed[0]["expectations"].as_array().expect("expectations");
        assert_eq!((broken.len(), &broken[0]["verdict"]), (1, &json!("broken")), "{all}");
        let capped = summary(1);
        assert_eq!((&capped["reached"], &capped["calls"]), (&json!("max_calls"), &json!(1)), "{capped}");
        assert_eq!(capped["state"], "unfinished", "{capped}");
        assert!(results[2].1, "the model is the user's to choose: {}", results[2].0);

        let events = world.plan("ada", "What do the tests say?").await;
        assert!(!results_of(&events)[0].1, "{events:?}");
        assert_eq!(world.proposal("ada").await, Value::Null);
    })
    .await;
}
