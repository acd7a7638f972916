//! Changing the persona or the model of a session.

use agent::Mode;
use app::inputs::UpdateSession;
use app::running::SessionView;
use app::{Code, Result};
use persona::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

use super::stage::{Stage, approved, hear, on_stage, requests, to_the_end};
use crate::world::input;

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Done."
[[reply]]
when = { last_user = "write" }
say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
[[reply]]
text = "Hello."
"#;

async fn update(stage: &Stage<'_>, id: Uuid, mut fields: Value) -> Result<SessionView> {
    fields["id"] = json!(id);
    stage.runtime.update_session(input::<UpdateSession>(fields)).await
}

/// The code of a refused change.
async fn code(stage: &Stage<'_>, id: Uuid, fields: Value) -> Code {
    update(stage, id, fields).await.expect_err("the change is refused").code()
}

fn choice(view: &SessionView) -> (&str, Option<String>) {
    (view.session.persona.as_str(), view.session.model.as_ref().map(ToString::to_string))
}

#[tokio::test(flavor = "multi_thread")]
async fn persona_and_model_change_together() {
    on_stage(SCRIPT, async |stage| {
        stage.world.persona(Scope::Shared, json!({ "name": "bob", "system_prompt": "You are Bob." })).await;
        let id = stage.session(Mode::Build).await;
        let changed = update(stage, id, json!({ "persona": "bob", "model": "stage/actor" })).await.unwrap();
        assert_eq!(choice(&changed), ("bob", Some("stage/actor".to_owned())));
        let freed = update(stage, id, json!({ "model": null })).await.unwrap();
        assert_eq!(choice(&freed), ("bob", None));
        assert_eq!(choice(&stage.view(id).await), ("bob", None));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_choice_leaves_the_session_as_it_is() {
    on_stage(SCRIPT, async |stage| {
        let id = stage.session(Mode::Build).await;
        stage.say(id, "Hi").await;
        let before = stage.view(id).await;
        let after = update(stage, id, json!({ "persona": "ada", "model": null })).await.unwrap();
        assert_eq!(choice(&after), choice(&before));
        assert_eq!(after.session.last_seq, before.session.last_seq);
        assert_eq!(after.turns, before.turns);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_change_changes_nothing() {
    on_stage(SCRIPT, async |stage| {
        stage.world.persona(Scope::Shared, json!({ "name": "bob", "system_prompt": "You are Bob." })).await;
        let id = stage.session(Mode::Build).await;
        assert_eq!(code(stage, id, json!({})).await, Code::MissingField);
        assert_eq!(code(stage, id, json!({ "persona": "nobody" })).await, Code::NotFound);
        let half = json!({ "persona": "bob", "model": "elsewhere/actor" });
        assert_eq!(code(stage, id, half).await, Code::UnknownProvider);
        assert_eq!(choice(&stage.view(id).await), ("ada", None));
        assert_eq!(code(stage, Uuid::nil(), json!({ "persona": "bob" })).await, Code::UnknownSession);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_waits_for_approval_is_not_changed() {
    on_stage(SCRIPT, async |stage| {
        stage.world.persona(Scope::Shared, json!({ "name": "bob", "system_prompt": "You are Bob." })).await;
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "write".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        assert_eq!(code(stage, id, json!({ "persona": "bob" })).await, Code::SessionBusy);
        assert_eq!(choice(&stage.view(id).await), ("ada", None));

        stage.runtime.decide(id, &asked[0].1, approved()).await.unwrap();
        to_the_end(events).await;
        let changed = update(stage, id, json!({ "persona": "bob" })).await.unwrap();
        assert_eq!(choice(&changed), ("bob", None));
    })
    .await;
}
