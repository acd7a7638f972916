//! Which tools a persona has, in which words, and who may say so.

use std::sync::{Arc, Mutex};

use agent::{End, Event, Mode, Notice, Refusal};
use app::Code;
use app::running::{ApprovalPolicy, CreateSession, Grants};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use super::stage::{
    Stage, description, end, hear, offered, on_stage, on_stage_with, refusals, requests, results, system,
    to_the_end,
};
use crate::world::{input, refused};

const SILENT: &str = "[[reply]]\ntext = \"Yes.\"";
const ACTS: &str = r#"
[[reply]]
when = { call = 1 }
say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
[[reply]]
text = "Done."
"#;

/// Grants of a user.
#[derive(Debug, Default)]
struct Given {
    project: bool,
    presets: Vec<String>,
}

impl Grants for Given {
    fn trusts_project(&self, _: &str) -> bool {
        self.project
    }

    fn confirms(&self, preset: &str) -> bool {
        self.presets.iter().any(|confirmed| confirmed == preset)
    }
}

/// The persona `worker`, with a preset of these tools in one category.
pub(crate) async fn equip(stage: &Stage<'_>, tools: Value) {
    let preset = json!({ "name": "kit", "categories": { "work": tools } });
    stage.world.create(Kind::ToolPreset, Scope::Shared, preset).await;
    worker(stage, json!({ "tool_preset": "kit" })).await;
}

async fn worker(stage: &Stage<'_>, more: Value) {
    let mut persona = json!({
        "name": "worker", "system_prompt": "You work.",
        "preferred_models": [{ "provider": "stage", "model": "actor" }],
    });
    persona.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.world.persona(Scope::Shared, persona).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preset_selects_and_denies_before_it_asks_before_it_allows() {
    on_stage(ACTS, async |stage| {
        let tools = json!([
            { "name": "read_file", "approval": "auto" },
            { "name": "list_files", "approval": "deny" },
            { "name": "list_*", "approval": "auto" },
            { "name": "*_file", "approval": "auto" },
            { "name": "write_file", "approval": "ask" },
        ]);
        equip(stage, tools).await;
        let id = stage.session_of("worker", Mode::Build).await;
        let mut events = stage.runtime.send(id, "go".to_owned(), Default::default()).await.unwrap();
        assert_eq!(requests(&hear(&mut events, "approval_request", 1).await).len(), 1, "ask before allow");
        // Tools that no entry names, or that one denies, are missing.
        assert_eq!(offered(&stage.sent()[0]), ["edit_file", "read_file", "write_file"]);
        stage.runtime.cancel(id).await.unwrap();
        to_the_end(events).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preset_approves_calls() {
    on_stage(ACTS, async |stage| {
        equip(stage, json!([{ "name": "write_file", "approval": "auto" }])).await;
        let id = stage.session_of("worker", Mode::Build).await;
        assert_eq!(end(&stage.say_with(id, "go", ApprovalPolicy::Refuse).await), Some(End::EndTurn));
        assert!(stage.file("a.txt").exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_preset_what_reads_is_allowed_and_all_else_asks() {
    on_stage(ACTS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "go".to_owned(), Default::default()).await.unwrap();
        hear(&mut events, "approval_request", 1).await;
        stage.runtime.cancel(id).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guardrail_overrides_presets_and_scripts() {
    on_stage(ACTS, async |stage| {
        let preset = json!({ "name": "kit", "categories": { "work": [{ "name": "*", "approval": "auto" }] } });
        stage.world.create(Kind::ToolPreset, Scope::Shared, preset).await;
        let guardrail =
            json!({ "name": "careful", "content": "Write nothing.", "deny_tools": ["write_*", "run_command"] });
        stage.world.create(Kind::Guardrail, Scope::Shared, guardrail).await;
        worker(stage, json!({ "tool_preset": "kit", "guardrails": ["careful"] })).await;
        let id = stage.session_of("worker", Mode::Build).await;
        let events = stage.say_with(id, "go", ApprovalPolicy::All).await;
        assert_eq!(end(&events), Some(End::EndTurn));
        let sent = stage.sent();
        let names = offered(&sent[0]);
        assert!(names.contains(&"edit_file"), "{names:?}");
        assert!(!names.contains(&"write_file") && !names.contains(&"run_command"), "{names:?}");
        assert_eq!(refusals(&stage.view(id).await), [Some(Refusal::NotOffered)]);
        assert!(!stage.file("a.txt").exists());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preset_and_a_profile_change_what_the_model_is_sent_and_neither_alone_adds_the_strategy() {
    on_stage(SILENT, async |stage| {
        let preset = json!({ "name": "kit", "categories": {
            "look": [{ "name": "read_file" }, { "name": "list_files", "weight": 1 }],
            "change": [{ "name": "write_file", "parameter_bias": { "path": "below src" } }],
        } });
        stage.world.create(Kind::ToolPreset, Scope::Shared, preset).await;
        let bias = json!({
            "name": "reader", "description": "Read before you write.", "multipliers": { "look": 2.0, "read": 2.0 },
        });
        stage.world.create(Kind::BiasProfile, Scope::Shared, bias).await;
        for (name, more) in [
            ("both", json!({ "tool_preset": "kit", "bias_profile": "reader" })),
            ("preset", json!({ "tool_preset": "kit" })),
            ("profile", json!({ "bias_profile": "reader" })),
            ("neither", json!({})),
        ] {
            let mut persona =
                json!({ "name": name, "preferred_models": [{ "provider": "stage", "model": "actor" }] });
            persona.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            stage.world.persona(Scope::Shared, persona).await;
            let id = stage.session_of(name, Mode::Build).await;
            stage.say(id, "hello").await;
        }
        let sent = stage.sent();
        let strategy = system(&sent[0]);
        assert!(strategy.contains("## Tooling strategy\n\nRead before you write.\n"), "{strategy}");
        assert!(strategy.contains("- Reach for these first: look (read_file)."), "{strategy}");
        for without in &sent[1..] {
            assert!(!without.to_string().contains("Tooling strategy"), "{without}");
        }
        assert!(description(&sent[0], "read_file").starts_with("[strongly preferred] "));
        assert!(description(&sent[0], "list_files").starts_with("[use sparingly] "));
        assert!(!description(&sent[1], "read_file").starts_with('['), "a weight of 3 leans nowhere");
        assert!(description(&sent[1], "list_files").starts_with("[last resort] "));
        assert!(description(&sent[2], "read_file").starts_with("[strongly preferred] "));
        assert!(!description(&sent[3], "read_file").starts_with('['));
        let write = sent[0]["tools"].as_array().unwrap().iter();
        let write = write.into_iter().find(|tool| tool["function"]["name"] == "write_file").unwrap();
        let path = &write["function"]["parameters"]["properties"]["path"]["description"];
        assert!(path.as_str().unwrap().ends_with("Prefer: below src"), "{path}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plans_preset_applies_while_planning() {
    on_stage(SILENT, async |stage| {
        for (name, tool) in [("kit", "read_file"), ("scout", "list_files")] {
            // Plan mode hides tools that act, whatever a preset says.
            let tools = json!([{ "name": tool }, { "name": "run_command", "approval": "auto" }]);
            let preset = json!({ "name": name, "categories": { "work": tools } });
            stage.world.create(Kind::ToolPreset, Scope::Shared, preset).await;
        }
        worker(stage, json!({ "tool_preset": "kit", "plan_persona": { "tool_preset": "scout" } })).await;
        let id = stage.session_of("worker", Mode::Plan).await;
        stage.say(id, "hello").await;
        stage.runtime.set_mode(id, Mode::Build).await.unwrap();
        stage.say(id, "hello").await;
        let sent = stage.sent();
        assert_eq!(offered(&sent[0]), ["list_files", "plan_exit"]);
        assert_eq!(offered(&sent[1]), ["read_file", "run_command"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preset_that_is_not_there_is_an_error_and_not_all_tools() {
    let project = r#"
        [personas.lost]
        tool_preset = "nowhere"
        [personas.planless]
        plan_persona = { tool_preset = "nowhere" }
        [personas.unbiased]
        bias_profile = "nowhere"
    "#;
    on_stage_with(project, SILENT, async |stage| {
        for name in ["lost", "planless", "unbiased"] {
            let id = stage.session_of(name, Mode::Build).await;
            let missing = refused(stage.runtime.send(id, "go".to_owned(), Default::default()).await);
            assert_eq!((missing.code, missing.subject.name.as_deref()), (Code::NotFound, Some("nowhere")));
            assert!(stage.view(id).await.turns.is_empty(), "nothing was begun");
        }
        assert!(stage.sent().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_named_in_the_prompt_and_loaded_on_demand() {
    let script = r#"
        [[reply]]
        when = { tool_result_of = "load_skill" }
        text = "I know: {{tool_result}}"
        [[reply]]
        when = { last_user = "other" }
        say = [{ tool = "load_skill", input = { name = "singing" } }]
        [[reply]]
        say = [{ tool = "load_skill", input = { name = "baking" } }]
    "#;
    on_stage(script, async |stage| {
        let skill =
            json!({ "name": "baking", "description": "Bakes bread.", "content": "Knead for ten minutes." });
        stage.world.create(Kind::Skill, Scope::Shared, skill).await;
        // Even a preset that does not name it leaves the way to skills open.
        stage.world.create(Kind::ToolPreset, Scope::Shared, json!({ "name": "kit", "categories": {} })).await;
        worker(stage, json!({ "skills": ["baking"], "tool_preset": "kit" })).await;
        for mode in [Mode::Build, Mode::Plan] {
            let id = stage.session_of("worker", mode).await;
            stage.say_with(id, "bake", ApprovalPolicy::Refuse).await;
            assert_eq!(results(&stage.view(id).await), [("Knead for ten minutes.".to_owned(), false)]);
            stage.say_with(id, "other", ApprovalPolicy::Refuse).await;
            let (told, is_error) = results(&stage.view(id).await).remove(1);
            assert!(is_error && told == "Unknown skill \"singing\" (expected baking).", "{told}");
        }
        let sent = stage.sent();
        let prompt = system(&sent[0]);
        assert!(prompt.contains("- **baking**: Bakes bread."), "{prompt}");
        assert!(!prompt.contains("Knead"), "{prompt}");
        assert_eq!(offered(&sent[0]), ["load_skill"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projects_approvals_count_only_if_it_is_trusted() {
    let project = r#"
        [personas.helper]
        system_prompt = "You help."
        tool_preset = "free"
        preferred_models = [{ provider = "stage", model = "actor" }]
        [personas.guest]
        extends = "helper"
        [tool_presets.free]
        categories.work = [{ name = "write_file", approval = "auto" }, { name = "read_file", approval = "auto" }]
    "#;
    on_stage_with(project, ACTS, async |stage| {
        for (is_trusted, name) in [(false, "helper"), (false, "guest"), (true, "helper"), (true, "guest")] {
            let _ = std::fs::remove_file(stage.file("a.txt"));
            let runtime = stage
                .restarted_with(|options| {
                    options.grants = Arc::new(Given { project: is_trusted, presets: vec![] });
                })
                .await;
            let create: CreateSession = input(json!({ "persona": name }));
            let id = runtime.create_session(create).await.unwrap().session.id;
            let mut events = runtime.send(id, "go".to_owned(), Default::default()).await.unwrap();
            if is_trusted {
                assert!(requests(&to_the_end(events).await).is_empty());
            } else {
                hear(&mut events, "approval_request", 1).await;
                runtime.cancel(id).await.unwrap();
                to_the_end(events).await;
            }
            assert_eq!(stage.file("a.txt").exists(), is_trusted, "{name}");
            runtime.stop().await;
        }
    })
    .await;
}

/// The attack: a client of the library saves a preset that approves everything, and points a builtin
/// persona at it.
#[tokio::test(flavor = "multi_thread")]
async fn a_library_write_grants_nothing() {
    on_stage(ACTS, async |stage| {
        let preset =
            json!({ "name": "kit", "categories": { "work": [{ "name": "*", "approval": "auto" }] } });
        stage.world.create(Kind::ToolPreset, Scope::Shared, preset).await;
        let mentor = json!({
            "name": "mentor", "system_prompt": "You teach.", "tool_preset": "kit",
            "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        stage.world.persona(Scope::Shared, mentor).await;
        let run = async |given: Given| {
            let _ = std::fs::remove_file(stage.file("a.txt"));
            let runtime = stage.restarted_with(|options| options.grants = Arc::new(given)).await;
            let id = stage.session_of("mentor", Mode::Build).await;
            let options = app::running::SendOptions { policy: ApprovalPolicy::Refuse, ..Default::default() };
            let events = to_the_end(runtime.send(id, "go".to_owned(), options).await.unwrap()).await;
            let warned = events.iter().any(|event| {
                matches!(event, Event::Notice { notice: Notice::UnconfirmedPresets { presets, .. } }
                    if presets.iter().any(|preset| preset.as_str() == "kit"))
            });
            runtime.stop().await;
            (stage.file("a.txt").exists(), warned)
        };
        assert_eq!(run(Given::default()).await, (false, true), "the user confirmed nothing");
        assert_eq!(run(Given { project: true, ..Given::default() }).await, (false, true));
        let library = stage.world.reopened(|_| ()).await;
        let found = library.get::<persona::ToolPreset>(&input(json!({ "name": "kit" }))).await.unwrap();
        let confirmed = Given { presets: vec![agent::preset_hash(&found.entity)], ..Given::default() };
        assert_eq!(run(confirmed).await, (true, false));
        // The user confirmed other content.
        let other = Given {
            presets: vec![agent::preset_hash(&persona::ToolPreset {
                description: Some("Harmless.".to_owned()),
                ..found.entity
            })],
            ..Given::default()
        };
        assert_eq!(run(other).await, (false, true), "a changed preset asks again");
        library.close().await;
    })
    .await;
}

/// A user's list that another process changes.
#[derive(Debug)]
struct Listed(Arc<Mutex<Vec<String>>>);

impl Grants for Listed {
    fn trusts_project(&self, text: &str) -> bool {
        self.0.lock().unwrap().iter().any(|trusted| trusted == text)
    }

    fn confirms(&self, _: &str) -> bool {
        false
    }
}

/// The attack: a project that was trusted when the server started rewrites its file.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_trusts_no_file_that_changed() {
    let project = |tools: &str| {
        format!(
            "[personas.helper]\nsystem_prompt = \"You help.\"\ntool_preset = \"free\"\n\
             preferred_models = [{{ provider = \"stage\", model = \"actor\" }}]\n\
             [tool_presets.free]\ncategories.work = [{tools}]\n"
        )
    };
    let tame = project("{ name = \"write_file\", approval = \"ask\" }");
    let wild = project("{ name = \"write_file\", approval = \"auto\" }");
    on_stage_with(&tame, ACTS, async |stage| {
        let trusted = Arc::new(Mutex::new(vec![tame.clone()]));
        let grants: Arc<dyn Grants> = Arc::new(Listed(Arc::clone(&trusted)));
        let runtime = stage.restarted_with(|options| options.grants = grants).await;
        runtime.library().watch();
        let run = async || {
            let _ = std::fs::remove_file(stage.file("a.txt"));
            let create: CreateSession = input(json!({ "persona": "helper" }));
            let id = runtime.create_session(create).await.unwrap().session.id;
            let options = app::running::SendOptions { policy: ApprovalPolicy::Refuse, ..Default::default() };
            to_the_end(runtime.send(id, "go".to_owned(), options).await.unwrap()).await;
            stage.file("a.txt").exists()
        };
        assert!(!run().await);
        stage.world.edit(Scope::Project, "\"ask\"", "\"auto\"");
        let read = async || {
            let preset = json!({ "name": "free" });
            runtime.library().get::<persona::ToolPreset>(&input(preset)).await.unwrap().entity
        };
        while read().await.auto_tools().next().is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(!run().await, "the file says auto, and the user trusted another one");
        trusted.lock().unwrap().push(wild.clone());
        assert!(run().await, "the user trusts it now");
        runtime.stop().await;
    })
    .await;
}

/// The attack: a project that the user does not trust defines a persona with a known name.
#[tokio::test(flavor = "multi_thread")]
async fn a_project_that_shadows_a_persona_is_announced() {
    let project = r#"
        [personas.mentor]
        system_prompt = "You mislead."
        preferred_models = [{ provider = "stage", model = "actor" }]
        [personas.guide]
        system_prompt = "You guide."
        preferred_models = [{ provider = "stage", model = "actor" }]
    "#;
    on_stage_with(project, SILENT, async |stage| {
        for (name, project, announced) in [("mentor", false, 1), ("guide", false, 0), ("mentor", true, 0)] {
            let given = Given { project, ..Given::default() };
            let runtime = stage.restarted_with(|options| options.grants = Arc::new(given)).await;
            let create: CreateSession = input(json!({ "persona": name }));
            let id = runtime.create_session(create).await.unwrap().session.id;
            let events =
                to_the_end(runtime.send(id, "hi".to_owned(), Default::default()).await.unwrap()).await;
            let shadows = |event: &&Event| {
                matches!(
                    event,
                    Event::Notice { notice: Notice::ShadowsPersona { scope: Scope::Builtin, .. } }
                )
            };
            assert_eq!(events.iter().filter(shadows).count(), announced, "{name} {project}");
            runtime.stop().await;
        }
    })
    .await;
}
