//! Told to plan only, the agent proposes changes as data. The user applies exactly those.

use serde_json::{Value, json};

use super::world::{World, on_each, results};

const PROPOSES: &str = r#"
[[reply]]
when = { mode = "plan", last_user = "rework", tool_result_of = "add_persona_part" }
text = "I propose a drier Ada."
[[reply]]
when = { mode = "plan", last_user = "rework" }
say = [
  { tool = "get_persona", id = "toolu_1", input = {} },
  { tool = "update_system_prompt", id = "toolu_2", input = { systemPrompt = "You are Ada, and dry." } },
  { tool = "get_persona", id = "toolu_3", input = {} },
  { tool = "create_test_input", id = "toolu_4", input = { content = "Fresh?" } },
  { tool = "delete_test_input", id = "toolu_5", input = { id = "sum" } },
  { tool = "create_agent_part", id = "toolu_6", input = { name = "dry", part_type = "tone", content = "Be dry." } },
  { tool = "add_persona_part", id = "toolu_7", input = { part = "dry" } },
]
[[reply]]
when = { mode = "plan", last_user = "rename", tool_result_of = "update_persona_name" }
text = "I propose a name."
[[reply]]
when = { mode = "plan", last_user = "rename" }
say = [{ tool = "update_persona_name", id = "toolu_8", input = { name = "Grace" } }]
[[reply]]
when = { last_user = "write", tool_result_of = "update_system_prompt" }
text = "Written."
[[reply]]
when = { last_user = "write" }
say = [{ tool = "update_system_prompt", id = "toolu_9", input = { systemPrompt = "You are someone else." } }]
[[reply]]
text = "Hello."
"#;

async fn prepare(world: &World) {
    world.put("test_input/sum", &json!({ "entity": { "content": "What is 2+2?" } })).await;
    world.amend("persona/ada", &json!({ "test_inputs": ["sum"] })).await;
    world.put("persona/bob", &json!({ "entity": { "summary": "Bob.", "test_inputs": ["sum"] } })).await;
}

/// Each change as `kind name base:fields`, in order of names; a deletion ends in `gone`.
fn changes(proposal: &Value) -> Vec<String> {
    let changes = proposal["changes"].as_array().expect("changes").iter();
    let worded = changes.map(|change| {
        let fields = change["fields"].as_array().expect("fields").iter();
        let fields: Vec<&str> = fields.filter_map(|field| field["field"].as_str()).collect();
        let (kind, name) =
            (change["kind"].as_str().expect("a kind"), change["name"].as_str().expect("a name"));
        let gone = if change.get("after").is_none() { " gone" } else { "" };
        format!("{kind} {name} {}:{}{gone}", change["ifRevision"], fields.join(","))
    });
    let mut worded: Vec<String> = worded.collect();
    worded.sort();
    worded
}

async fn revisions(world: &World) -> Vec<Value> {
    let mut revisions = Vec::new();
    for entity in ["persona/ada", "persona/bob", "test_input/sum"] {
        revisions.push(world.entity(entity).await["revision"].clone());
    }
    revisions
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_is_data_and_is_applied_exactly() {
    on_each(PROPOSES, async |world| {
        prepare(world).await;
        assert_eq!(world.proposal("ada").await, Value::Null, "never used");
        let before = revisions(world).await;
        let events = world.plan("ada", "rework her").await;
        let results = results(&events);
        assert!(results.iter().all(|(_, is_error)| !is_error), "{results:?}");
        // The agent sees what it has proposed so far.
        assert!(results[2].0.contains("You are Ada, and dry."), "{results:?}");
        assert_eq!(revisions(world).await, before, "nothing is written");
        assert_eq!(world.status_of("part/dry").await, 404);

        let proposal = world.proposal("ada").await;
        assert_eq!(proposal["message"], "rework her");
        assert_eq!(
            changes(&proposal),
            [
                "part dry 0:content,part_type",
                "persona ada 2:parts,system_prompt,test_inputs",
                "persona bob 1:test_inputs",
                "test_input fresh 0:content",
                "test_input sum 1:content gone",
            ]
        );
        let ada = proposal["changes"].as_array().and_then(|all| all.iter().find(|it| it["name"] == "ada"));
        let ada = ada.expect("Ada");
        assert_eq!(ada["before"]["system_prompt"], "You are Ada.");
        assert_eq!(ada["after"]["system_prompt"], "You are Ada, and dry.");
        assert_eq!((&ada["scope"], &ada["isCurrent"]), (&json!("shared"), &json!(true)));
        assert!(ada["beforeToml"].as_str().is_some_and(|toml| toml.contains("[personas.ada]")), "{ada}");

        let (status, applied) = world.apply("ada", &proposal).await;
        assert_eq!((status, &applied["id"]), (200, &proposal["id"]), "{applied}");
        assert_eq!(applied["applied"].as_array().map(Vec::len), Some(5), "{applied}");
        let stored = world.stored("ada").await;
        assert_eq!(stored["systemPrompt"], "You are Ada, and dry.");
        assert_eq!(stored["testInputIds"], json!(["fresh"]));
        assert_eq!(world.entity("persona/ada").await["parts"][0]["name"], "dry");
        assert_eq!(world.stored("bob").await["testInputIds"], json!([]));
        assert_eq!(world.status_of("test_input/sum").await, 404);
        let revision = world.revision("persona/ada").await;
        assert_eq!((&revision["message"], &revision["author"]), (&json!("rework her"), &json!("tester")));

        // It is applied once, and undone as one step.
        assert_eq!(world.proposal("ada").await, Value::Null);
        let (status, problem) = world.apply("ada", &proposal).await;
        assert_eq!((status, &problem["code"]), (404, &json!("no_proposal")), "{problem}");
        let body = json!({ "personaId": "ada" });
        let (status, undone) = world.ask("POST", "/api/persona-agent/undo", Some(&body)).await;
        assert_eq!((status, &undone["kept"]), (200, &json!([])), "{undone}");
        let stored = world.stored("ada").await;
        assert_eq!(
            (&stored["systemPrompt"], &stored["testInputIds"]),
            (&json!("You are Ada."), &json!(["sum"]))
        );
        assert_eq!(world.status_of("part/dry").await, 404);
        assert_eq!(world.entity("test_input/sum").await["content"], "What is 2+2?");
    })
    .await;
}

/// A change in between keeps all of it out, not only the part that it concerns.
#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_does_not_overwrite_later_edits() {
    on_each(PROPOSES, async |world| {
        prepare(world).await;
        world.plan("ada", "rework her").await;
        world.amend("persona/bob", &json!({ "summary": "By hand." })).await;
        let before = revisions(world).await;
        let proposal = world.proposal("ada").await;
        let stale: Vec<&Value> = proposal["changes"]
            .as_array()
            .expect("changes")
            .iter()
            .filter(|change| change["isCurrent"] == false)
            .map(|change| &change["name"])
            .collect();
        assert_eq!(stale, ["bob"]);
        let (status, problem) = world.apply("ada", &proposal).await;
        assert_eq!((status, &problem["code"]), (409, &json!("stale_revision")), "{problem}");
        assert_eq!(revisions(world).await, before);
        assert_eq!(world.status_of("part/dry").await, 404);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_planning_turn_proposes_anew() {
    on_each(PROPOSES, async |world| {
        prepare(world).await;
        world.plan("ada", "rework her").await;
        let first = world.proposal("ada").await;
        world.plan("ada", "rename her").await;
        let second = world.proposal("ada").await;
        assert_eq!(changes(&second), ["persona ada 2:display_name"]);
        let (status, problem) = world.apply("ada", &first).await;
        assert_eq!((status, &problem["code"]), (404, &json!("no_proposal")), "{problem}");
        // A turn without changes leaves it, and so does a conversation that goes on.
        world.plan("ada", "hello").await;
        assert_eq!(world.proposal("ada").await["id"], second["id"]);
        let (status, _) = world.apply("ada", &second).await;
        assert_eq!((status, world.stored("ada").await["name"].as_str()), (200, Some("Grace")));
        // A fresh conversation proposes nothing.
        world.plan("ada", "rework her").await;
        world.clear("ada").await;
        assert_eq!(world.proposal("ada").await, Value::Null);
        let body = json!({ "personaId": "ada" });
        let (status, problem) = world.ask("POST", "/api/persona-agent/apply", Some(&body)).await;
        assert_eq!((status, &problem["code"]), (404, &json!("no_proposal")), "{problem}");
    })
    .await;
}

/// What the agent only proposed, it has not seen in the library: an edit by hand with the revision that the
/// proposal would have made is not taken for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_proposed_text_is_not_the_stored_one() {
    on_each(PROPOSES, async |world| {
        prepare(world).await;
        world.plan("ada", "rework her").await;
        world.amend("persona/ada", &json!({ "system_prompt": "By hand." })).await;
        let events = world.tell("ada", "write").await;
        assert!(results(&events)[0].1, "{events:?}");
        assert_eq!(world.stored("ada").await["systemPrompt"], "By hand.");
    })
    .await;
}

const PROPOSES_COPY: &str = r#"
[[reply]]
when = { mode = "plan", tool_result_of = "update_agent_part" }
text = "I propose whispers."
[[reply]]
when = { mode = "plan" }
say = [
  { tool = "get_entity", id = "toolu_1", input = { kind = "part", name = "optimist-voice" } },
  { tool = "update_agent_part", id = "toolu_2", input = { name = "optimist-voice", summary = "Whispers." } },
]
"#;

/// The copy of a builtin is part of the proposal, and takes the conversation along.
#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_is_copied_when_a_proposal_is_applied() {
    on_each(PROPOSES_COPY, async |world| {
        let events = world.plan("optimist", "Let it whisper").await;
        assert!(results(&events).iter().all(|(_, is_error)| !is_error), "{events:?}");
        for entity in ["persona/optimist", "part/optimist-voice"] {
            assert_eq!(world.entity(entity).await["scope"], "builtin", "{entity}");
        }
        let proposal = world.proposal("optimist").await;
        let (status, applied) = world.apply("optimist", &proposal).await;
        assert_eq!(status, 200, "{applied}");
        for entity in ["persona/optimist", "part/optimist-voice"] {
            assert_eq!(world.entity(entity).await["scope"], "shared", "{entity}");
        }
        assert_eq!(world.entity("part/optimist-voice").await["summary"], "Whispers.");
        assert!(!world.history("optimist").await.is_empty());
        let body = json!({ "personaId": "optimist" });
        let (status, undone) = world.ask("POST", "/api/persona-agent/undo", Some(&body)).await;
        assert_eq!((status, &undone["kept"]), (200, &json!([])), "{undone}");
        assert_eq!(world.entity("persona/optimist").await["scope"], "builtin");
    })
    .await;
}

/// A message through the session itself names the right request.
#[tokio::test(flavor = "multi_thread")]
async fn its_session_takes_no_other_messages() {
    on_each(PROPOSES, async |world| {
        let id = world.clear("ada").await;
        let body = json!({ "content": "Call her Grace" });
        let (status, problem) = world.ask("POST", &format!("/api/sessions/{id}/messages"), Some(&body)).await;
        assert_eq!((status, &problem["code"]), (409, &json!("editing_session")), "{problem}");
        assert!(
            problem["detail"].as_str().is_some_and(|text| text.contains("POST /api/persona-agent/chat")),
            "{problem}"
        );
        assert!(world.history("ada").await.is_empty());
        assert_eq!(super::world::texts(&world.tell("ada", "hello").await), ["Hello."], "the chat goes on");
    })
    .await;
}
