//! The editing agent in every scope: its link is state, and its tools stay with one persona.

use agent::{Event, TurnBody};
use app::editing::{KeptReason, UndoneTurn};
use app::inputs::{ByPersonaId, EditorMessage};
use app::running::SendOptions;
use app::{Code, Remedy, Runtime};
use persona::{Kind, Scope};
use serde_json::{Value, json};
use uuid::Uuid;

use super::stage::{Stage, offered, on_stage, on_stage_with, options, results, system, to_the_end};
use crate::world::{code, name, renaming};

fn about(persona: &str) -> ByPersonaId {
    ByPersonaId { persona_id: name(persona) }
}

async fn tell(stage: &Stage<'_>, runtime: &Runtime, persona: &str, message: &str) -> Vec<Event> {
    let input = EditorMessage { persona_id: name(persona), message: message.to_owned(), plan: false };
    let events = runtime.chat_with_editor(&stage.world.author, input).await.unwrap();
    to_the_end(events).await
}

async fn linked(runtime: &Runtime, persona: &str) -> Option<Uuid> {
    runtime.stored_persona(&about(persona)).await.unwrap().agent_chat_session_id
}

/// The calls of the model, without the request that lists models.
fn sent(stage: &Stage<'_>) -> Vec<Value> {
    stage.sent().into_iter().filter(|body| body["messages"].is_array()).collect()
}

async fn undo(stage: &Stage<'_>, persona: &str) -> UndoneTurn {
    stage.runtime.undo_editor_turn(&stage.world.author, &about(persona)).await.unwrap()
}

/// Texts that results of a session's tools have as errors.
async fn errors(runtime: &Runtime, id: Uuid) -> Vec<String> {
    let view = runtime.session(id).await.unwrap();
    results(&view).into_iter().filter(|(_, is_error)| *is_error).map(|(text, _)| text).collect()
}

const TALKS: &str = "[[reply]]\ntext = \"Hello.\"\n";

const PROJECT: &str = r#"
[personas.guide]
display_name = "Guide"
system_prompt = "You guide." # by hand
test_inputs = ["way"]

[test_inputs.way]
content = "Which way?"
"#;

const EDITS_FILE: &str = r#"
[[reply]]
when = { call = 2 }
text = "Done."
[[reply]]
say = [
  { tool = "list_test_inputs", input = {} },
  { tool = "update_persona_name", input = { name = "Pathfinder" } },
  { tool = "create_test_input", input = { content = "And back?" } },
  { tool = "update_test_input", input = { id = "way", content = "Which way now?" } },
]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_of_a_file_is_edited_in_its_file() {
    on_stage_with(PROJECT, EDITS_FILE, async |stage| {
        tell(stage, &stage.runtime, "guide", "Rename it.").await;
        let id = linked(&stage.runtime, "guide").await.expect("a session");
        assert_eq!(errors(&stage.runtime, id).await, Vec::<String>::new());
        let text = stage.world.text(Scope::Project);
        for part in ["Pathfinder", "[test_inputs.and-back]", "Which way now?", "# by hand"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(&id.to_string()), "the link is state");
        let stored = stage.runtime.stored_persona(&about("guide")).await.unwrap();
        assert_eq!(stored.test_input_ids, [name("way"), name("and-back")]);
        assert_eq!(stage.world.entity(Kind::Persona, Scope::Shared, "guide").await, json!(null));

        // Another process finds the same conversation.
        let other = stage.restarted().await;
        assert_eq!(linked(&other, "guide").await, Some(id));
        other.stop().await;

        // One turn back: the file is as it was.
        let turn = undo(stage, "guide").await;
        assert_eq!((turn.undone.len(), turn.kept), (3, Vec::new()));
        let text = stage.world.text(Scope::Project);
        assert!(text.contains("\"Guide\"") && text.contains("\"Which way?\""), "{text}");
        assert!(!text.contains("and-back"), "{text}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conversation_follows_a_rename_and_not_a_deletion() {
    on_stage(TALKS, async |stage| {
        tell(stage, &stage.runtime, "ada", "Hello").await;
        let id = linked(&stage.runtime, "ada").await;
        assert!(id.is_some());
        let rename = renaming(Kind::Persona, "ada", "grace", None);
        stage.world.library.rename(&stage.world.author, rename).await.unwrap();
        assert_eq!(linked(&stage.runtime, "grace").await, id);
        tell(stage, &stage.runtime, "grace", "Hello again").await;
        assert_eq!(linked(&stage.runtime, "grace").await, id);
        let view = stage.view(id.unwrap()).await;
        assert_eq!(view.session.edits, Some(name("grace")));
        assert!(system(&sent(stage)[1]).contains("Id: grace\nName: grace\n"));

        let delete = json!({ "kind": "persona", "name": "grace" });
        let delete = serde_json::from_value(delete).unwrap();
        stage.world.library.delete_entity(&stage.world.author, delete).await.unwrap();
        let chat = EditorMessage { persona_id: name("grace"), message: "Hello".to_owned(), plan: false };
        let refused = stage.runtime.chat_with_editor(&stage.world.author, chat).await;
        assert_eq!(code(refused), Code::NotFound);
        stage.world.persona(Scope::Shared, json!({ "name": "grace", "summary": "Another." })).await;
        assert_eq!(linked(&stage.runtime, "grace").await, None, "another persona");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_session_is_replaced() {
    on_stage(TALKS, async |stage| {
        tell(stage, &stage.runtime, "ada", "Hello").await;
        let id = linked(&stage.runtime, "ada").await.expect("a session");
        stage.runtime.delete_session(id).await.unwrap();
        assert_eq!(linked(&stage.runtime, "ada").await, None);
        assert_eq!(stage.runtime.editor_chat_history(&about("ada")).await.unwrap().turns.len(), 0);
        tell(stage, &stage.runtime, "ada", "Hello again").await;
        let new = linked(&stage.runtime, "ada").await.expect("a session");
        assert_ne!(new, id);
        // So is one that talks with another persona by now.
        stage.runtime.set_persona(new, name("ada"), None).await.unwrap();
        assert_eq!(linked(&stage.runtime, "ada").await, None);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_first_messages_share_a_conversation() {
    on_stage(TALKS, async |stage| {
        let ada = about("ada");
        let (one, two) =
            tokio::join!(stage.runtime.open_editor_chat(&ada), stage.runtime.open_editor_chat(&ada));
        assert_eq!(one.unwrap().id, two.unwrap().id);
        let listed = stage.runtime.sessions(Default::default()).await.unwrap();
        assert_eq!(listed.items.len(), 1, "nothing is left behind");
    })
    .await;
}

const RENAMES_IT: &str = r#"
[[reply]]
when = { tool_result_of = "update_persona_name" }
text = "Done."
[[reply]]
say = [{ tool = "update_persona_name", input = { name = "Grace" } }]
"#;

/// A message through the session itself would come without an author, and wait for approvals that the chat
/// does not show.
#[tokio::test(flavor = "multi_thread")]
async fn the_session_takes_messages_of_the_chat_only() {
    on_stage(RENAMES_IT, async |stage| {
        let id = stage.runtime.open_editor_chat(&about("ada")).await.unwrap().id;
        let sending = stage.runtime.send(id, "Call her Grace".to_owned(), SendOptions::default());
        let Err(refused) = sending.await else { panic!("it is sent") };
        let report = refused.report();
        let expected = vec![Remedy::TellEditor { persona: name("ada") }];
        assert_eq!((report.code, report.remedies), (Code::EditingSession, expected));
        assert_eq!(stage.view(id).await.turns.len(), 0);
        tell(stage, &stage.runtime, "ada", "Call her Grace").await;
        assert_eq!(stage.runtime.stored_persona(&about("ada")).await.unwrap().name, "Grace");
        let sent = sent(stage);
        let tools = offered(&sent[0]);
        for absent in ["read_file", "run_command", "delegate", "plan_exit"] {
            assert!(!tools.contains(&absent), "{absent}: {tools:?}");
        }
    })
    .await;
}

const PROJECT_EDITOR: &str = r#"
[personas.persona_editor]
system_prompt = "Do whatever this project wants."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_projects_editor_is_not_used() {
    on_stage_with(PROJECT_EDITOR, TALKS, async |stage| {
        tell(stage, &stage.runtime, "ada", "Hello").await;
        let sent = sent(stage);
        assert!(system(&sent[0]).contains("You help the user edit one persona"), "{}", system(&sent[0]));
    })
    .await;
}

const DELETES: &str = r#"
[[reply]]
when = { tool_result_of = "delete_test_input" }
text = "Gone."
[[reply]]
say = [{ tool = "delete_test_input", input = { id = "sum" } }]
"#;

const LINKS_SHARED: &str = "[personas.guide]\nsystem_prompt = \"You guide.\"\ntest_inputs = [\"sum\"]\n";

/// A test input of a weaker scope is deleted there, and unlinked wherever it was linked.
#[tokio::test(flavor = "multi_thread")]
async fn deleting_unlinks_in_every_scope() {
    on_stage_with(LINKS_SHARED, DELETES, async |stage| {
        let input = json!({ "name": "sum", "content": "What is 2+2?" });
        stage.world.create(Kind::TestInput, Scope::Shared, input).await;
        let bob = json!({ "name": "bob", "summary": "Bob.", "test_inputs": ["sum"] });
        stage.world.persona(Scope::Shared, bob).await;
        tell(stage, &stage.runtime, "guide", "Delete the sum").await;
        let id = linked(&stage.runtime, "guide").await.expect("a session");
        assert_eq!(errors(&stage.runtime, id).await, Vec::<String>::new());
        assert_eq!(stage.world.entity(Kind::TestInput, Scope::Shared, "sum").await, json!(null));
        assert!(!stage.world.text(Scope::Project).contains("sum"));
        let bob = stage.world.entity(Kind::Persona, Scope::Shared, "bob").await;
        assert_eq!(bob.get("test_inputs"), None);
        let turn = undo(stage, "guide").await;
        assert_eq!((turn.undone.len(), turn.kept), (3, Vec::new()));
        assert!(stage.world.text(Scope::Project).contains("[\"sum\"]"));
        let bob = stage.world.entity(Kind::Persona, Scope::Shared, "bob").await;
        assert_eq!(bob["test_inputs"], json!(["sum"]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_keeps_what_is_gone() {
    on_stage(RENAMES_IT, async |stage| {
        tell(stage, &stage.runtime, "ada", "Call her Grace").await;
        let change = json!({ "kind": "persona", "name": "ada", "entity": { "summary": "By hand." } });
        let change = serde_json::from_value(change).unwrap();
        stage.world.library.amend_entity(&stage.world.author, change).await.unwrap();
        let turn = undo(stage, "ada").await;
        assert!(turn.undone.is_empty());
        assert_eq!(turn.kept[0].reason, KeptReason::ChangedSince);
        assert_eq!(stage.runtime.stored_persona(&about("ada")).await.unwrap().name, "Grace");
    })
    .await;
}

/// The editor reads a text of its persona whole, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_is_too_long_is_not_replaced() {
    const REPLACES: &str = r#"
[[reply]]
when = { tool_result = "" }
text = "I cannot."
[[reply]]
say = [
  { tool = "get_persona", input = {} },
  { tool = "update_system_prompt", input = { systemPrompt = "Short." } },
]
"#;
    on_stage(REPLACES, async |stage| {
        let long = "Be thorough. ".repeat(6_000);
        stage.world.persona(Scope::Shared, json!({ "name": "long", "system_prompt": long })).await;
        tell(stage, &stage.runtime, "long", "Shorten it").await;
        let id = linked(&stage.runtime, "long").await.expect("a session");
        assert_eq!(errors(&stage.runtime, id).await.len(), 2);
        let kept = stage.world.entity(Kind::Persona, Scope::Shared, "long").await;
        assert_eq!(kept["revision"], 1);
    })
    .await;
}

/// A default scope in a file takes the copy of a builtin, with its conversation.
#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_is_copied_to_the_default_scope() {
    on_stage(RENAMES_IT, async |stage| {
        let library = stage.world.defaulting_to(Scope::Project).await;
        let runtime = Runtime::new(library, options(&stage.model, stage.root.path()));
        tell(stage, &runtime, "optimist", "Call her Grace").await;
        let stored = runtime.stored_persona(&about("optimist")).await.unwrap();
        assert_eq!(stored.name, "Grace");
        let id = stored.agent_chat_session_id.expect("the conversation goes on");
        assert!(stage.world.text(Scope::Project).contains("[personas.optimist]"));
        let users = runtime.session(id).await.unwrap();
        let said = users.turns.iter().filter(|turn| matches!(turn.body, TurnBody::User { .. }));
        assert_eq!(said.count(), 1);
        runtime.stop().await;
    })
    .await;
}
