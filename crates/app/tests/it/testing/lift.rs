//! The lift of a persona: the same inputs, model and tools without its text.

use app::inputs::TestPersona;
use app::testing::{RunOutcome, report};
use fidelity::{ComparisonVerdict, NO_PERSONA};
use persona::Scope;
use serde_json::{Value, json};

use super::{project, test, tested};
use crate::running::stage::{Stage, on_stage_with};
use crate::world::input;

const SCRIPT: &str = r#"
[[reply]]
when = { system = "Eve" }
text = "Which page?"
[[reply]]
when = { system = "Ada" }
text = "Which page?"
[[reply]]
when = { last_user = "fails alone" }
fault = { status = 401 }
[[reply]]
text = "Done."
"#;

const EXPECTATIONS: &str = "{ question = true, aspect = 'method' }, { words = { max = 80 } }";

/// The last request, which has a system text or none.
fn last(stage: &Stage<'_>, has_system: bool) -> Value {
    let is_system = |body: &Value| body["messages"][0]["role"] == "system";
    stage.sent().into_iter().rfind(|body| is_system(body) == has_system).expect("it was sent")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_persona_is_measured_against_its_model() {
    let toml = format!(
        "{}{}",
        project(EXPECTATIONS)
            .replace("'You are Eve.'", "'You are Eve.'\ntool_preset = 'eager'\nbias_profile = 'keen'"),
        "[tool_presets.eager.categories]\nfiles = [{ name = 'read_file', weight = 5 }]\n[bias_profiles.keen.multipliers]\nfiles = 1.5\n\
         [test_inputs.tools]\ncontent = 'go'\nexpectations = [{ calls_not = ['write_file'] }]\n"
    );
    on_stage_with(&toml, SCRIPT, async |stage| {
        let found = tested(stage, json!({ "lift": true, "inputs": ["hello", "tools"], "samples": 2 })).await;
        // The model alone fails, which is the point.
        assert_eq!(found.outcome(), RunOutcome::Passed);
        assert_eq!((found.columns.len(), found.cells.len(), found.estimate.calls), (1, 8, 8));
        let lift = found.lift.as_ref().unwrap();
        assert_eq!((lift.compared, lift.delta), (2, Some(0.25)));
        assert_eq!((lift.verdict, lift.inputs_needed.is_some()), (ComparisonVerdict::CannotTell, true));
        let discriminates: Vec<_> = lift.expectations.iter().map(|it| it.discriminates).collect();
        assert_eq!(discriminates, [Some(true), Some(false), Some(false)]);
        let baseline = found.baseline.as_ref().unwrap();
        assert_eq!((baseline.column.as_str(), baseline.model.as_str()), (NO_PERSONA, "stage/actor"));
        assert_eq!((baseline.summary.coverage, baseline.summary.cells.failed), (1.0, 2));
        // The same tools and settings; neither the persona's text nor the preset's.
        let (with, without) = (last(stage, true), last(stage, false));
        assert!(with["messages"][0].to_string().contains("read_file"), "{with}");
        assert_eq!(without["messages"].as_array().unwrap().len(), 1);
        assert_eq!(with["tools"], without["tools"]);
        assert_eq!(with["model"], without["model"]);
        // In every report.
        let text = report::text(&found);
        assert!(
            text.contains("lift +0.250: cannot tell") && text.contains("does not discriminate"),
            "{text}"
        );
        assert!(report::markdown(&found).contains("#### no persona"));
        assert!(report::junit(&found).contains("<property name=\"lift\""));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_the_persona_leaves_its_model_as_it_was() {
    on_stage_with(&project(EXPECTATIONS), SCRIPT, async |stage| {
        let first = tested(stage, json!({ "lift": true })).await;
        assert_eq!(first.spent.calls, 2);
        assert_eq!(tested(stage, json!({ "lift": true })).await.spent.calls, 0);
        stage.world.edit(Scope::Project, "You are Eve.", "You are Ada.");
        let edited = stage.restarted().await;
        let report = edited.test_persona(test(json!({ "lift": true }))).await.unwrap();
        assert_eq!(report.spent.calls, 1);
        assert_eq!(report.baseline.unwrap().subject, first.baseline.unwrap().subject);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_alone_is_an_error() {
    let toml = project(EXPECTATIONS).replace("'hi'", "'fails alone'");
    on_stage_with(&toml, SCRIPT, async |stage| {
        let found = tested(stage, json!({ "lift": true })).await;
        assert_eq!(found.outcome(), RunOutcome::Failed);
        assert_eq!(found.lift.as_ref().unwrap().compared, 0);
        assert!(report::text(&found).contains("hello #1 (no persona) error: "), "{}", report::text(&found));
    })
    .await;
}

#[test]
fn a_comparison_has_no_lift() {
    let _: TestPersona = input(json!({ "persona": "eve", "lift": true }));
    let refused =
        serde_json::from_value::<app::inputs::CompareTests>(json!({ "persona": "eve", "lift": true }));
    assert!(refused.unwrap_err().to_string().contains("lift"));
}
