//! Tests of personas behind a model that rehearses over real HTTP, on both engines.

mod budget;
mod files;
mod judging;
mod lift;
mod stale;

use std::collections::BTreeMap;

use agent::Mode;
use app::inputs::{CompareTests, TestPersona};
use app::testing::{RunOutcome, StartedTest, TestEvent, TestReport};
use app::{Code, Runtime};
use persona::{Kind, Scope};
use providers::{Kind as Protocol, Providers};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::running::stage::{Stage, offered, on_stage_with, settings};
use crate::world::{input, name, refused};

/// Judges are told apart by their model; a question is told apart by its proposition.
const SCRIPT: &str = r#"
[[reply]]
when = { model = "judge", last_user = "Proposition: Greets" }
text = '{"evidence": "Hello there", "reason": "It greets.", "verdict": "held"}'
[[reply]]
when = { model = "judge", last_user = "Proposition: Lies" }
text = '{"evidence": "I never said that", "reason": "Made up.", "verdict": "held"}'
[[reply]]
when = { model = "judge", last_user = "Proposition: Scores" }
text = "9/10, lovely"
[[reply]]
when = { model = "judge", last_user = "Proposition: Splits" }
times = 1
text = '{"evidence": "Hello", "reason": "One.", "verdict": "held"}'
[[reply]]
when = { model = "judge", last_user = "Proposition: Splits" }
times = 1
text = '{"evidence": "", "reason": "Two.", "verdict": "broken"}'
[[reply]]
when = { model = "judge", last_user = "Proposition: Splits" }
text = '{"evidence": "Hello there", "reason": "Three.", "verdict": "held"}'
[[reply]]
when = { model = "judge", last_user = "Proposition: The reply agrees" }
text = '{"evidence": "", "reason": "Nothing differs.", "verdict": "held"}'
[[reply]]
when = { model = "judge", last_user = "Proposition: Fails" }
fault = { status = 401 }
[[reply]]
when = { model = "judge" }
text = '{"evidence": "", "reason": "No occasion.", "verdict": "not_shown"}'
[[reply]]
when = { model = "lost" }
fault = { status = 401 }
[[reply]]
when = { system = "rude", last_user = "hi" }
text = "Go away."
[[reply]]
when = { tool_result_of = "read_file" }
text = "It says: {{tool_result}}"
[[reply]]
when = { last_user = "read" }
say = [{ tool = "read_file", input = { path = "notes.txt" } }]
[[reply]]
when = { tool_result_of = "write_file" }
text = "I could not write."
[[reply]]
when = { last_user = "write" }
say = [{ tool = "write_file", input = { path = "out.txt", content = "x" } }]
[[reply]]
when = { last_user = "slow" }
text = "one two three four five six seven eight nine ten eleven twelve"
pace_ms = 300
[[reply]]
when = { last_user = "broken" }
fault = { status = 401 }
[[reply]]
text = "Hello there, friend."
"#;

fn project(expectations: &str) -> String {
    format!(
        "[personas.eve]\nsystem_prompt = 'You are Eve.'\ntest_inputs = ['hello']\n\
         preferred_models = [{{ provider = 'stage', model = 'actor' }}]\n\
         [personas.eve.fidelity]\njudge = 'stage/judge'\n\
         [test_inputs.hello]\ncontent = 'hi'\nexpectations = [{expectations}]\n"
    )
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
fn test(fields: Value) -> TestPersona {
    let mut all = json!({ "persona": "eve" });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    input(all)
}

async fn tested(stage: &Stage<'_>, fields: Value) -> TestReport {
    stage.runtime.test_persona(test(fields)).await.unwrap()
}

/// Each cell as one line: state, score, and the verdicts.
fn shown(report: &TestReport) -> Vec<String> {
    let cell = |cell: &Value| {
        let verdicts =
            cell["expectations"].as_array().unwrap().iter().map(|it| it["verdict"].as_str().unwrap());
        let verdicts: Vec<&str> = verdicts.collect();
        format!("{} {} {}", cell["state"].as_str().unwrap(), cell["score"], verdicts.join(","))
    };
    serde_json::to_value(&report.cells).unwrap().as_array().unwrap().iter().map(cell).collect()
}

/// The calls of the persona's model and of the judge.
fn calls(stage: &Stage<'_>) -> (usize, usize) {
    let sent = stage.sent();
    let judged = sent.iter().filter(|body| body["model"] == "judge").count();
    (sent.len() - judged, judged)
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_are_checked_and_judged() {
    let expectations = "'Greets the user.', { lacks = ['As an AI'] }, { words = { max = 2 } }";
    on_stage_with(&project(expectations), SCRIPT, async |stage| {
        let report = tested(stage, json!({ "samples": 2 })).await;
        assert_eq!(shown(&report), vec!["failed 0.6666666666666666 held,held,broken"; 2]);
        assert_eq!(report.outcome(), RunOutcome::Failed);
        assert_eq!(report.estimate.calls, 4);
        // The second reply may find the verdict about the first one, which is the same.
        let (asked, judged) = calls(stage);
        assert!(asked == 2 && (1..=2).contains(&judged), "{asked} {judged}");
        assert_eq!(report.spent.calls, (asked + judged) as u64);
        let cell = &report.cells[0];
        assert_eq!(cell.reply.as_deref(), Some("Hello there, friend."));
        assert_eq!(cell.expectations[0].evidence.as_deref(), Some("Hello there"));
        assert!(!cell.expectations[0].self_judged && !cell.cached && cell.tokens > 0);
        let column = &report.columns[0];
        assert_eq!((column.column.as_str(), column.model.as_str()), ("now", "stage/actor"));
        assert!(column.pieces.contains_key("persona:eve"));
        // The judge sees one proposition and the fenced reply, and nothing of the persona.
        let judged = stage.sent().into_iter().find(|body| body["model"] == "judge").unwrap();
        assert_eq!(judged["temperature"], json!(0.0));
        let text = judged["messages"].to_string();
        assert!(
            text.contains("Greets the user.")
                && text.contains("BEGIN REPLY")
                && !text.contains("You are Eve")
        );
        assert!(stage.runtime.sessions(Default::default()).await.unwrap().items.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_run_costs_nothing_and_an_edit_costs_what_it_changes() {
    on_stage_with(&project("'Greets the user.'"), SCRIPT, async |stage| {
        let first = tested(stage, json!({})).await;
        assert_eq!(first.outcome(), RunOutcome::Passed);
        let second = tested(stage, json!({})).await;
        assert_eq!((second.spent.calls, second.cells[0].cached), (0, true));
        assert_eq!(second.columns[0].subject, first.columns[0].subject);
        let fresh = tested(stage, json!({ "fresh": true })).await;
        assert_eq!((fresh.spent.calls, fresh.cells[0].cached), (2, false));
        // Another sample is another reply; the judge has seen it.
        let more = tested(stage, json!({ "samples": 2 })).await;
        assert_eq!(more.spent.calls, 1);
        stage.world.edit(Scope::Project, "You are Eve.", "You are rude.");
        let edited = stage.restarted().await;
        let report = edited.test_persona(test(json!({}))).await.unwrap();
        assert_ne!(report.columns[0].subject, first.columns[0].subject);
        assert_eq!(report.cells[0].reply.as_deref(), Some("Go away."));
        // The old run is stale, and says why.
        let old = edited.test_run(Uuid::parse_str(&first.id).unwrap()).await.unwrap();
        assert_eq!(old.columns[0].changed, ["persona:eve"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_out_of_form_or_without_evidence_is_never_a_pass() {
    let expectations =
        "'Scores well.', 'Lies about it.', 'Shows nothing.', { holds = 'Shows little.', must_show = false }";
    on_stage_with(&project(expectations), SCRIPT, async |stage| {
        let report = tested(stage, json!({})).await;
        assert_eq!(shown(&report), ["failed 0.0 unjudged,unjudged,not_shown,not_shown"]);
        let results = &report.cells[0].expectations;
        assert!(results[0].reason.as_deref().unwrap().contains("not in form"));
        assert!(results[1].reason.as_deref().unwrap().contains("not in the reply"));
        assert!(!results[2].untested && results[3].untested);
        // Each bad answer is asked for twice, and none is kept.
        assert_eq!(calls(stage), (1, 6));
        let again = tested(stage, json!({})).await;
        assert_eq!(again.spent.calls, 4);
        assert!(again.cells[0].coverage < 1.0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn votes_that_split_are_counted() {
    let toml =
        project("'Splits the jury.'").replace("judge = 'stage/judge'", "judge = 'stage/judge'\nvotes = 3");
    on_stage_with(&toml, SCRIPT, async |stage| {
        let report = tested(stage, json!({})).await;
        assert_eq!(shown(&report), ["passed 1.0 held"]);
        let votes = report.cells[0].expectations[0].votes.unwrap();
        assert_eq!((votes.held, votes.broken), (2, 1));
        let split = report.columns[0].summary.split_votes;
        assert_eq!((split.yes, split.of), (1, 1));
        assert!(app::testing::report::text(&report).contains("votes differ in 1 of 1 question"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_judges_itself_is_advisory() {
    let toml =
        project("'Greets the user.', { question = false }").replace("judge = 'stage/judge'", "votes = 1");
    on_stage_with(&toml, SCRIPT, async |stage| {
        let report = tested(stage, json!({ "model": "stage/judge" })).await;
        assert_eq!(report.judge.as_deref(), Some("stage/judge"));
        // Its verdict is shown and does not gate.
        assert_eq!(shown(&report), ["unjudged 1.0 unjudged,held"]);
        assert!(report.cells[0].expectations[0].self_judged && report.cells[0].advisory);
        let summary = &report.columns[0].summary;
        assert!(summary.self_judged && summary.advisory == 1);
        assert_eq!(report.outcome(), RunOutcome::Passed);
        assert!(app::testing::report::text(&report).contains("do not gate"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_known_by_the_name_in_its_answers() {
    let toml = project("'Scores well.'").replace("judge = 'stage/judge'", "judge = 'mirror/actor'");
    let script = "[[reply]]\ntext = '9/10'\n";
    on_stage_with(&toml, script, async |stage| {
        // Another name for the same model.
        let runtime = stage
            .restarted_with(|options| {
                let provider =
                    |name: &str| (name.to_owned(), settings(Protocol::OpenaiChat, &stage.model.url()));
                let both = BTreeMap::from([provider("stage"), provider("mirror")]);
                options.providers = Providers::build(both, &|_| None).unwrap();
            })
            .await;
        let report = runtime.test_persona(test(json!({}))).await.unwrap();
        assert_eq!(report.judge.as_deref(), Some("mirror/actor"));
        assert!(report.cells[0].expectations[0].self_judged, "{report:?}");
        // Also where the reply is kept from before.
        let judge = json!({ "judge": "stage/judge" });
        let other = runtime.test_persona(test(judge)).await.unwrap();
        assert!(!other.cells[0].expectations[0].self_judged && other.cells[0].cached);
        let again = runtime.test_persona(test(json!({}))).await.unwrap();
        assert!(again.cells[0].expectations[0].self_judged && again.cells[0].cached);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_ends_a_run_which_then_goes_on() {
    on_stage_with(&project("'Greets the user.'"), SCRIPT, async |stage| {
        let capped = tested(stage, json!({ "samples": 4, "max_calls": 3 })).await;
        assert_eq!(capped.outcome(), RunOutcome::Unfinished);
        assert_eq!(capped.spent.calls, 3);
        assert_eq!(serde_json::to_value(capped.reached).unwrap(), "max_calls");
        assert!(capped.cells.iter().any(|cell| cell.error.as_deref() == Some("max_calls is reached")));
        let rest = tested(stage, json!({ "samples": 4 })).await;
        assert_eq!(rest.outcome(), RunOutcome::Passed);
        // Three replies are there already.
        assert!(rest.spent.calls <= 5, "{:?}", rest.spent);
        let tokens = tested(stage, json!({ "fresh": true, "samples": 3, "max_tokens": 1 })).await;
        assert_eq!(serde_json::to_value(tokens.reached).unwrap(), "max_tokens");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_has_turns_and_its_replies_are_chosen() {
    let toml = project(
        "{ consistent = true }, { contains = ['Hello'], on = 'every' }, { words = { min = 1 }, on = 2 }, \
         { words = { min = 1 }, on = 9, must_show = false }",
    )
    .replace("content = 'hi'", "content = 'hi'\nturns = ['and?', 'so?']");
    on_stage_with(&toml, SCRIPT, async |stage| {
        let report = tested(stage, json!({})).await;
        assert_eq!(shown(&report), ["passed 1.0 held,held,held,not_shown"]);
        assert_eq!(calls(stage), (3, 1));
        let last = stage.sent().into_iter().rfind(|body| body["model"] == "actor").unwrap();
        // System text, then three messages with two answers between them.
        assert_eq!(last["messages"].as_array().unwrap().len(), 6);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_offered_where_an_expectation_names_one_and_only_reading_runs() {
    let toml = "[personas.eve]\nsystem_prompt = 'You are Eve.'\ntest_inputs = ['reads', 'writes']\n\
                tool_preset = 'all'\npreferred_models = [{ provider = 'stage', model = 'actor' }]\n\
                [tool_presets.all.categories]\nfiles = [{ name = '*_file', approval = 'auto' }]\n\
                [test_inputs.reads]\ncontent = 'read'\nexpectations = [{ calls = ['read_file'] }, { contains = ['42'] }]\n\
                [test_inputs.writes]\ncontent = 'write'\nexpectations = [{ calls_not = ['write_file'] }]\n";
    on_stage_with(toml, SCRIPT, async |stage| {
        let report = tested(stage, json!({})).await;
        assert_eq!(shown(&report), ["passed 1.0 held,held", "failed 0.0 broken"]);
        assert!(offered(&stage.sent()[0]).contains(&"write_file"));
        assert!(!stage.file("out.txt").exists());
    })
    .await;
    let plain = project("{ words = { min = 1 } }");
    on_stage_with(&plain, SCRIPT, async |stage| {
        tested(stage, json!({})).await;
        assert!(offered(&stage.sent()[0]).is_empty());
        // A session has them.
        let session = stage.session_of("eve", Mode::Build).await;
        stage.say(session, "hi").await;
        assert!(!offered(&stage.sent()[1]).is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_model_or_judge_is_an_error_of_its_cell() {
    let toml = "[personas.eve]\nsystem_prompt = 'You are Eve.'\ntest_inputs = ['bad', 'unjudged', 'good']\n\
                preferred_models = [{ provider = 'stage', model = 'actor' }]\n\
                [personas.eve.fidelity]\njudge = 'stage/judge'\n\
                [test_inputs.bad]\ncontent = 'broken'\nexpectations = [{ words = { min = 1 } }]\n\
                [test_inputs.unjudged]\ncontent = 'hi'\nexpectations = ['Fails to judge.']\n\
                [test_inputs.good]\ncontent = 'hi'\nexpectations = [{ words = { min = 1 } }]\n";
    on_stage_with(toml, SCRIPT, async |stage| {
        let report = tested(stage, json!({})).await;
        assert_eq!(shown(&report), ["error null ", "error null ", "passed 1.0 held"]);
        assert!(report.cells[1].error.as_deref().unwrap().contains("the judge stage/judge"));
        assert_eq!(report.outcome(), RunOutcome::Failed);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_tell_of_every_cell_and_come_again() {
    on_stage_with(&project("{ words = { min = 1 } }"), SCRIPT, async |stage| {
        let StartedTest { id } = stage.runtime.start_test(test(json!({ "samples": 3 }))).await.unwrap();
        let heard = names(&stage.runtime, id).await;
        assert_eq!(heard.iter().filter(|name| **name == "cell_started").count(), 3);
        assert_eq!(heard.iter().filter(|name| **name == "cell_finished").count(), 3);
        assert_eq!(heard.last(), Some(&"run_finished"));
        assert_eq!(names(&stage.runtime, id).await, heard);
        // Another process has the cells and the end.
        let other = stage.restarted().await;
        let heard = names(&other, id).await;
        assert_eq!(heard, ["cell_finished", "cell_finished", "cell_finished", "run_finished"]);
        let list = other.test_runs(input(json!({ "persona": "eve" }))).await.unwrap();
        assert_eq!(list.items.iter().map(|run| run.id.clone()).collect::<Vec<_>>(), [id.to_string()]);
        assert!(other.test_runs(input(json!({ "persona": "ada" }))).await.unwrap().items.is_empty());
    })
    .await;
}

async fn names(runtime: &Runtime, id: Uuid) -> Vec<&'static str> {
    let mut events = runtime.test_events(id).await.unwrap();
    let mut names = Vec::new();
    while let Some(event) = events.next().await {
        names.push(event.name());
    }
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_is_unfinished_at_once() {
    let toml = project("{ words = { min = 1 } }").replace("content = 'hi'", "content = 'slow'");
    on_stage_with(&toml, SCRIPT, async |stage| {
        let StartedTest { id } = stage.runtime.start_test(test(json!({ "samples": 6 }))).await.unwrap();
        let mut events = stage.runtime.test_events(id).await.unwrap();
        assert!(matches!(events.next().await, Some(TestEvent::CellStarted { .. })));
        let started = std::time::Instant::now();
        let report = stage.runtime.cancel_test(id).await.unwrap();
        assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
        assert_eq!(serde_json::to_value(report.state).unwrap(), "cancelled");
        assert_eq!(report.outcome(), RunOutcome::Unfinished);
        // A run that is over stays as it is.
        let again = stage.runtime.cancel_test(id).await.unwrap();
        assert_eq!(again.state, report.state);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_compared() {
    let inputs: Vec<String> = (0..6).map(|at| format!("'i{at}'")).collect();
    let mut toml = format!(
        "[personas.eve]\nsystem_prompt = 'You are Eve.'\ntest_inputs = [{}]\n\
         preferred_models = [{{ provider = 'stage', model = 'actor' }}]\n",
        inputs.join(", ")
    );
    for at in 0..6 {
        toml.push_str(&format!(
            "[test_inputs.i{at}]\ncontent = 'hi {at}'\nexpectations = [{{ contains = ['Hello'] }}]\n"
        ));
    }
    on_stage_with(&toml, SCRIPT, async |stage| {
        let library = &stage.world.library;
        let tag = app::NewTag::from("production");
        library.tag(&stage.world.author, Kind::Persona, &name("eve"), None, None, tag).await.unwrap();
        let compare = |fields: Value| {
            let mut all = json!({ "persona": "eve" });
            all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            input::<CompareTests>(all)
        };
        let same = stage.runtime.compare_persona(compare(json!({}))).await.unwrap();
        let comparison = same.comparison.as_ref().unwrap();
        assert_eq!(serde_json::to_value(comparison.verdict).unwrap(), "no_worse", "{comparison:?}");
        assert_eq!(same.columns[0].subject, same.columns[1].subject);
        let names: Vec<&str> = same.columns.iter().map(|column| column.column.as_str()).collect();
        assert_eq!(names, ["production", "now"]);
        stage.world.edit(Scope::Project, "You are Eve.", "You are rude.");
        let edited = stage.restarted().await;
        let worse = edited.compare_persona(compare(json!({}))).await.unwrap();
        let comparison = worse.comparison.as_ref().unwrap();
        assert_eq!(serde_json::to_value(comparison.verdict).unwrap(), "regressed", "{comparison:?}");
        assert_eq!(worse.outcome(), RunOutcome::Failed);
        assert_eq!(comparison.delta, Some(-1.0));
        // A comparison needs both sides.
        let lost =
            edited.compare_persona(compare(json!({ "fresh": true, "model": "stage/lost" }))).await.unwrap();
        let comparison = lost.comparison.as_ref().unwrap();
        assert_eq!((comparison.compared, comparison.inputs_needed), (0, None));
        assert_eq!(lost.columns.iter().map(|it| it.summary.cells.error).collect::<Vec<_>>(), [6, 6]);
        assert_eq!(lost.outcome(), RunOutcome::Failed);
        // Fewer inputs never tell.
        let few = edited.compare_persona(compare(json!({ "inputs": ["i0", "i1"] }))).await.unwrap();
        let comparison = few.comparison.as_ref().unwrap();
        assert_eq!(serde_json::to_value(comparison.verdict).unwrap(), "cannot_tell");
        let report = refused(edited.compare_persona(compare(json!({ "a": "3", "b": "3" }))).await);
        assert_eq!(report.code, Code::ConflictingFields);
        assert_eq!(
            refused(edited.compare_persona(compare(json!({ "a": "nope" }))).await).code,
            Code::UnknownRevision
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_must_is_sampled_again() {
    let toml = project("{ contains = ['Hello'], must = true }");
    on_stage_with(&toml, SCRIPT, async |stage| {
        let tag = app::NewTag::from("production");
        let library = &stage.world.library;
        library.tag(&stage.world.author, Kind::Persona, &name("eve"), None, None, tag).await.unwrap();
        stage.world.edit(Scope::Project, "You are Eve.", "You are rude.");
        let edited = stage.restarted().await;
        let report = edited.compare_persona(input(json!({ "persona": "eve" }))).await.unwrap();
        // One sample on each side, then one more.
        assert_eq!(report.cells.len(), 4);
        let comparison = report.comparison.unwrap();
        assert_eq!(serde_json::to_value(comparison.verdict).unwrap(), "regressed", "{comparison:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_tested_is_refused_before_any_call() {
    let toml = format!(
        "{}\n[personas.bare]\nsystem_prompt = 'Bare.'\n[test_inputs.empty]\ndescription = 'd'\n\
         [test_inputs.odd]\ncontent = 'c'\nexpectations = [{{ matches = '(' }}]\n",
        project("'Greets the user.'")
    );
    on_stage_with(&toml, SCRIPT, async |stage| {
        let code = async |fields: Value| refused(stage.runtime.test_persona(test(fields)).await).code;
        assert_eq!(code(json!({ "persona": "nobody" })).await, Code::NotFound);
        assert_eq!(code(json!({ "persona": "bare" })).await, Code::NoTestInputs);
        assert_eq!(code(json!({ "inputs": ["hallo"] })).await, Code::NotFound);
        assert_eq!(code(json!({ "inputs": ["hello", "hello"] })).await, Code::NamedTwice);
        assert_eq!(code(json!({ "inputs": ["empty"] })).await, Code::Empty);
        assert_eq!(code(json!({ "inputs": ["odd"] })).await, Code::InvalidField);
        assert_eq!(code(json!({ "samples": 0 })).await, Code::OutOfRange);
        assert_eq!(code(json!({ "samples": 101 })).await, Code::OutOfRange);
        assert_eq!(code(json!({ "model": "nowhere/x" })).await, Code::UnknownProvider);
        assert_eq!(code(json!({ "judge": "nowhere/x" })).await, Code::UnknownProvider);
        assert_eq!(code(json!({ "max_cost": 1.0 })).await, Code::Unpriced);
        assert_eq!(code(json!({ "revision": "nope" })).await, Code::UnknownRevision);
        let unknown = stage.runtime.test_run(Uuid::nil()).await;
        assert_eq!(refused(unknown).code, Code::UnknownTest);
        assert_eq!(stage.sent().len(), 0);
    })
    .await;
}
