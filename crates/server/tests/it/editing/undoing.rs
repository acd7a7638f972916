//! A whole turn of the agent is one step back.

use serde_json::{Value, json};

use super::world::{World, on_each, results};

const EDITS: &str = r#"
[[reply]]
when = { last_user = "undo", tool_result_of = "undo" }
text = "Taken back."
[[reply]]
when = { last_user = "undo" }
say = [{ tool = "undo", input = {} }]
[[reply]]
when = { last_user = "rework", tool_result_of = "delete_test_input" }
text = "Reworked."
[[reply]]
when = { last_user = "rework", tool_result_of = "get_entity" }
say = [
  { tool = "update_agent_part", input = { name = "calm", content = "Be calmer." } },
  { tool = "create_agent_part", input = { name = "new-voice", part_type = "voice", content = "Low." } },
  { tool = "add_persona_part", input = { part = "new-voice" } },
  { tool = "create_test_input", input = { content = "Fresh?" } },
  { tool = "delete_test_input", input = { id = "sum" } },
]
[[reply]]
when = { last_user = "rework" }
say = [
  { tool = "get_persona", input = {} },
  { tool = "update_persona_name", input = { name = "Ada the Second" } },
  { tool = "update_system_prompt", input = { systemPrompt = "You are the second Ada." } },
  { tool = "get_entity", input = { kind = "part", name = "calm" } },
]
[[reply]]
when = { last_user = "rename", tool_result_of = "update_persona_name" }
text = "Renamed."
[[reply]]
when = { last_user = "rename" }
say = [{ tool = "update_persona_name", input = { name = "Ada the Third" } }]
"#;

async fn prepare(world: &World) {
    world.put("part/calm", &json!({ "entity": { "part_type": "tone", "content": "Be calm." } })).await;
    world.put("test_input/sum", &json!({ "entity": { "content": "What is 2+2?" } })).await;
    world.amend("persona/ada", &json!({ "parts": ["calm"], "test_inputs": ["sum"] })).await;
    world.put("persona/bob", &json!({ "entity": { "summary": "Bob.", "test_inputs": ["sum"] } })).await;
}

/// The definition without its revision and times.
async fn definition(world: &World, entity: &str) -> Value {
    let mut entity = world.entity(entity).await;
    for field in ["revision", "created_at", "updated_at", "guid"] {
        entity.as_object_mut().expect("an object").remove(field);
    }
    entity
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_turn_is_one_step() {
    on_each(EDITS, async |world| {
        prepare(world).await;
        let entities = ["persona/ada", "persona/bob", "part/calm", "test_input/sum"];
        let mut before = Vec::new();
        for entity in entities {
            before.push(definition(world, entity).await);
        }
        let events = world.tell("ada", "rework her").await;
        assert!(results(&events).iter().all(|(_, is_error)| !is_error), "{events:?}");
        assert_eq!(world.stored("ada").await["name"], "Ada the Second");
        assert_eq!(world.status_of("test_input/sum").await, 404);
        assert_eq!(world.stored("bob").await["testInputIds"], json!([]));

        let events = world.tell("ada", "undo that").await;
        let undone: Value = serde_json::from_str(results(&events)[0].0).expect("JSON");
        assert_eq!(undone["kept"], json!([]), "{undone}");
        assert_eq!(undone["undone"].as_array().map(Vec::len), Some(6), "{undone}");
        for (entity, before) in entities.iter().zip(before) {
            assert_eq!(definition(world, entity).await, before, "{entity}");
        }
        assert_eq!(world.status_of("part/new-voice").await, 404);
        assert_eq!(world.status_of("test_input/fresh").await, 404);
        assert_eq!(world.revision("persona/ada").await["message"], "undo that");
        // There is nothing left to take back.
        let events = world.tell("ada", "undo that").await;
        assert!(results(&events)[0].1, "{events:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_are_taken_back_one_by_one() {
    on_each(EDITS, async |world| {
        prepare(world).await;
        world.tell("ada", "rework her").await;
        world.tell("ada", "rename her").await;
        assert_eq!(world.stored("ada").await["name"], "Ada the Third");
        world.tell("ada", "undo").await;
        assert_eq!(world.stored("ada").await["name"], "Ada the Second");
        // By hand, and in mixed order.
        let body = json!({ "personaId": "ada" });
        let (status, undone) = world.ask("POST", "/api/persona-agent/undo", Some(&body)).await;
        assert_eq!((status, &undone["kept"]), (200, &json!([])), "{undone}");
        assert_eq!(world.stored("ada").await["name"], "Ada");
        let (_, problem) = world.ask("POST", "/api/persona-agent/undo", Some(&body)).await;
        assert_eq!(problem["code"], "nothing_to_undo");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn later_edits_by_hand_survive() {
    on_each(EDITS, async |world| {
        prepare(world).await;
        world.tell("ada", "rework her").await;
        world.amend("part/calm", &json!({ "content": "By hand." })).await;
        let bob = world.entity("persona/bob").await["parts"].clone();
        assert_eq!(bob, json!([]));
        world.amend("persona/bob", &json!({ "parts": ["new-voice"] })).await;
        let events = world.tell("ada", "undo that").await;
        let undone: Value = serde_json::from_str(results(&events)[0].0).expect("JSON");
        let kept: Vec<(&str, &str)> = undone["kept"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|kept| (kept["name"].as_str().expect("a name"), kept["reason"].as_str().expect("a reason")))
            .collect();
        assert_eq!(kept, [("calm", "changed_since"), ("bob", "changed_since"), ("new-voice", "in_use")]);
        assert_eq!(world.entity("part/calm").await["content"], "By hand.");
        assert_eq!(world.entity("persona/bob").await["parts"][0]["name"], "new-voice");
        let ada = world.stored("ada").await;
        assert_eq!((&ada["name"], &ada["testInputIds"]), (&json!("Ada"), &json!(["sum"])));
    })
    .await;
}
