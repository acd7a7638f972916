//! Notices: what a run does not do for its persona.

use std::collections::BTreeMap;

use agent::{Event, Mode, Notice};
use app::running::{CreateSession, Decision};
use persona::Scope;
use serde_json::{Value, json};

use super::stage::{hear, on_stage, on_stage_with, requests, say, to_the_end};
use crate::world::name;

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Written."
[[reply]]
when = { last_user = "write" }
say = [{ tool = "write_file", input = { path = "new.txt", content = "x" } }]
[[reply]]
text = "Hello."
"#;

/// The notices among events, as the fronts send them.
fn notices(events: &[Event]) -> Vec<Value> {
    let notices = events.iter().filter(|event| matches!(event, Event::Notice { .. }));
    notices.map(|event| serde_json::to_value(event).expect("JSON")).collect()
}

fn unfilled() -> Vec<Value> {
    let place = |variable: &str, kind: &str, name: &str, field: &str| json!({ "variable": variable, "kind": kind, "name": name, "field": field });
    vec![json!({ "type": "notice", "code": "unfilled_placeholders", "placeholders": [
        place("TEAM", "persona", "guest", "system_prompt"),
        place("URL", "part", "rules", "content"),
    ] })]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_gives_notice_once_of_placeholders_without_effect() {
    on_stage(SCRIPT, async |stage| {
        stage.world.part(Scope::Shared, "rules", "goal", "The rules are at ${env.URL}, ${env.URL}.").await;
        let guest = json!({
            "name": "guest", "system_prompt": "You help ${env.TEAM}.", "parts": [{ "name": "rules" }],
            "context_preset": "docs_only", "aggregation_strategy": "full",
            "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        stage.world.persona(Scope::Shared, guest).await;
        let id = stage.session_of("guest", Mode::Build).await;
        for _ in 0..2 {
            assert_eq!(notices(&stage.say(id, "hello").await), unfilled());
        }
        // A run that waited is the same run.
        let mut events = stage.runtime.send(id, "write".to_owned(), Default::default()).await.unwrap();
        let asked = hear(&mut events, "approval_request", 1).await;
        assert_eq!(notices(&asked), unfilled());
        let (_, call) = requests(&asked).remove(0);
        let approved = Decision { approved: true, reason: None, remember: false };
        stage.runtime.decide(id, &call, approved).await.unwrap();
        assert_eq!(notices(&to_the_end(events).await), [] as [Value; 0]);
        let ada = stage.session(Mode::Build).await;
        assert_eq!(notices(&stage.say(ada, "hello").await), [] as [Value; 0]);
    })
    .await;
}

/// A heir in a file inherits a setting, and a shared part with a placeholder.
#[tokio::test(flavor = "multi_thread")]
async fn a_persona_of_a_file_has_notices_for_what_is_shared() {
    let project = "[personas.heir]\nextends = \"shared:base\"\nsystem_prompt = \"${env.KEY}\"\n";
    on_stage_with(project, SCRIPT, async |stage| {
        let base = json!({
            "name": "base", "description": "For ${env.TEAM}.", "aggregation_strategy": "auto",
            "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        stage.world.persona(Scope::Shared, base).await;
        let id = stage.session_of("heir", Mode::Build).await;
        let heard = stage.say(id, "hello").await;
        let found: Vec<&Notice> = heard
            .iter()
            .filter_map(|event| match event {
                Event::Notice { notice } => Some(notice),
                _ => None,
            })
            .collect();
        let [Notice::UnfilledPlaceholders { placeholders }, Notice::FilesShown { files, tokens, budget, .. }] =
            &found[..]
        else {
            panic!("{found:?}")
        };
        assert!(*files == 1 && tokens <= budget, "the strategy is inherited, too: {found:?}");
        let places: Vec<_> = placeholders.iter().map(|it| (it.variable.as_str(), it.name.as_str())).collect();
        assert_eq!(places, [("TEAM", "base")]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_about_files_have_no_effect_without_a_project() {
    on_stage(SCRIPT, async |stage| {
        let guest = json!({
            "name": "guest", "system_prompt": "You help.", "context_preset": "docs_only",
            "aggregation_strategy": "full", "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        stage.world.persona(Scope::Shared, guest).await;
        let homeless = stage.restarted_with(|options| options.root = None).await;
        let session = CreateSession {
            persona: name("guest"),
            scope: None,
            mode: None,
            model: None,
            overrides: BTreeMap::new(),
            root: None,
            greeting: None,
        };
        let id = homeless.create_session(session).await.unwrap().session.id;
        let fields = ["context_preset", "aggregation_strategy"];
        let expected = json!({ "type": "notice", "code": "unused_settings", "fields": fields });
        assert_eq!(notices(&say(&homeless, id, "hello").await), [expected]);
        homeless.stop().await;
    })
    .await;
}
