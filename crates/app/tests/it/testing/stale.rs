//! Results are stale once something that they depend on has changed, and say what.

use app::testing::TestReport;
use app::{NewTag, Runtime};
use persona::{Kind, Scope};
use serde_json::json;
use uuid::Uuid;

use super::{SCRIPT, project, test, tested};
use crate::running::stage::{Stage, on_stage_with};
use crate::world::{input, name};

async fn read(runtime: &Runtime, report: &TestReport) -> Vec<String> {
    let read = runtime.test_run(Uuid::parse_str(&report.id).unwrap()).await.unwrap();
    let listed = runtime.test_runs(input(json!({ "persona": "eve" }))).await.unwrap();
    let listed = listed.items.into_iter().find(|item| item.id == report.id).expect("listed");
    // A list marks its runs, too.
    assert_eq!(listed.columns[0].changed, read.columns[0].changed);
    read.columns.into_iter().next_back().unwrap().changed
}

async fn edited(stage: &Stage<'_>, old: &str, new: &str, report: &TestReport) -> Vec<String> {
    stage.world.edit(Scope::Project, old, new);
    read(&stage.restarted().await, report).await
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_and_presets_count() {
    let toml = format!(
        "{}{}",
        project("{ words = { min = 1 } }").replace(
            "'You are Eve.'",
            "'You are Eve.'\ntool_preset = 'tools'\nbias_profile = 'bias'\ncontext_preset = 'view'\narc = 'path'"
        ),
        "[test_inputs.other]\ncontent = 'other'\nexpectations = [{ words = { min = 1 } }]\n\
         [tool_presets.tools]\ndescription = 'tools'\n[tool_presets.tools.categories]\nfiles = ['read_file']\n\
         [bias_profiles.bias]\ndescription = 'bias'\n[context_presets.view]\ndescription = 'view'\n\
         [arcs.path]\ndescription = 'path'\n[[arcs.path.stages]]\nname = 'start'\norder = 1\n"
    );
    on_stage_with(&toml, SCRIPT, async |stage| {
        let report = tested(stage, json!({})).await;
        let pieces = &report.columns[0].pieces;
        let keys: Vec<&str> = pieces.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "arc:path",
                "bias_profile:bias",
                "context_preset:view",
                "persona:eve",
                "test_input:hello",
                "tool_preset:tools"
            ]
        );
        assert!(
            pieces.values().all(|piece| piece.revision == Some(1) && piece.hash.len() == 8),
            "{pieces:?}"
        );
        assert!(read(&stage.runtime, &report).await.is_empty());
        assert_eq!(edited(stage, "content = 'hi'", "content = 'hello'", &report).await, ["test_input:hello"]);
        assert_eq!(edited(stage, "content = 'hello'", "content = 'hi'", &report).await, [""; 0]);
        assert_eq!(
            edited(stage, "min = 1 } }]\n[test_inputs.other]", "min = 2 } }]\n[test_inputs.other]", &report)
                .await,
            ["test_input:hello"]
        );
        for (kind, text) in
            [("tool_preset", "tools"), ("bias_profile", "bias"), ("context_preset", "view"), ("arc", "path")]
        {
            let changed =
                edited(stage, &format!("description = '{text}'"), "description = 'new'", &report).await;
            let mut expected = [format!("{kind}:{text}"), "test_input:hello".to_owned()];
            expected.sort();
            assert_eq!(changed, expected);
            edited(stage, "description = 'new'", &format!("description = '{text}'"), &report).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_one_scope_is_not_stale_for_another() {
    on_stage_with(&project("{ words = { min = 1 } }"), SCRIPT, async |stage| {
        let shared = json!({
            "name": "eve", "system_prompt": "You are another Eve.", "test_inputs": ["plain"],
            "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        let plain = json!({ "name": "plain", "content": "hi", "expectations": [{ "words": { "min": 1 } }] });
        stage.world.create(Kind::TestInput, Scope::Shared, plain).await;
        stage.world.persona(Scope::Shared, shared).await;
        let report = tested(stage, json!({ "scope": "shared" })).await;
        assert_eq!(report.scope, Some(Scope::Shared));
        assert!(read(&stage.runtime, &report).await.is_empty());
        // The other Eve may change.
        assert_eq!(edited(stage, "You are Eve.", "You are rude.", &report).await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_stale_once_its_tag_has_moved() {
    on_stage_with(&project("{ words = { min = 1 } }"), SCRIPT, async |stage| {
        let library = &stage.world.library;
        let tag = || NewTag::from("production");
        library.tag(&stage.world.author, Kind::Persona, &name("eve"), None, None, tag()).await.unwrap();
        let report = tested(stage, json!({ "revision": "production" })).await;
        assert_eq!(report.columns[0].pieces["persona:eve"].revision, Some(1));
        assert!(read(&stage.runtime, &report).await.is_empty());
        // What is in use may change.
        assert_eq!(edited(stage, "You are Eve.", "You are rude.", &report).await, [""; 0]);
        let edited = stage.restarted().await;
        let moved = NewTag { moves: true, ..tag() };
        let library = edited.library();
        library.tag(&stage.world.author, Kind::Persona, &name("eve"), None, None, moved).await.unwrap();
        assert_eq!(read(&edited, &report).await, ["persona:eve"]);
        let again = edited.test_persona(test(json!({ "revision": "production" }))).await.unwrap();
        assert!(read(&edited, &again).await.is_empty());
    })
    .await;
}
