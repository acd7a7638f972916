//! `${env.NAME}`: filled in for the model only.

use std::sync::Arc;

use agent::{ErrorCode, Event, Mode};
use app::Runtime;
use app::running::{CreateSession, EventId};
use persona::{Kind, Scope};
use serde_json::json;

use super::stage::{Stage, hear, on_stage_with, say, system};
use crate::world::input;

const SECRET: &str = "hunter2-and-then-some";

const PROJECT: &str = r#"
[personas.keeper]
system_prompt = "The key is ${env.KEY}."
preferred_models = [{ provider = "stage", model = "actor" }]
plan_persona = { instruction = "Plan with ${env.KEY}." }
parts = ["tone", "reach"]
skills = ["opening"]
[parts.tone]
part_type = "tone"
content = "Speak like ${env.KEY}."
[parts.reach]
part_type = "goal"
description = "Reach ${env.KEY}."
[skills.opening]
description = "Opens doors."
content = "Turn ${env.KEY} twice."

[personas.planless]
system_prompt = "You plan."
preferred_models = [{ provider = "stage", model = "actor" }]
plan_persona = { instruction = "Plan with ${env.UNSET}." }

[personas.forgetful]
system_prompt = "Unset: ${env.UNSET}. Not allowed: ${env.OTHER}."
preferred_models = [{ provider = "stage", model = "actor" }]
"#;

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "load_skill" }
text = "Thank you."
[[reply]]
when = { last_user = "open" }
say = [{ tool = "load_skill", input = { name = "opening" } }]
[[reply]]
text = "Hello."
"#;

async fn runtime(stage: &Stage<'_>) -> Runtime {
    let values = |name: &str| (name == "KEY" || name == "OTHER").then(|| SECRET.to_owned());
    stage
        .restarted_with(|options| {
            options.env_allow = ["KEY", "UNSET"].map(str::to_owned).into();
            options.environment = Arc::new(values);
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_value_reaches_the_model_only() {
    on_stage_with(PROJECT, SCRIPT, async |stage| {
        let runtime = runtime(stage).await;
        for mode in [Mode::Build, Mode::Plan] {
            let create: CreateSession = input(json!({ "persona": "keeper", "mode": mode.to_string() }));
            let id = runtime.create_session(create).await.unwrap().session.id;
            say(&runtime, id, "hello").await;
            say(&runtime, id, "open it").await;
            let sent = stage.sent();
            stage.model.clear();
            let prompt = system(&sent[0]);
            assert!(prompt.contains(&format!("The key is {SECRET}.")), "{prompt}");
            assert!(prompt.contains(&format!("Speak like {SECRET}.")), "{prompt}");
            assert!(prompt.contains(&format!("Reach {SECRET}.")), "{prompt}");
            assert_eq!(prompt.contains(&format!("Plan with {SECRET}.")), mode == Mode::Plan, "{prompt}");
            let skill = sent.last().unwrap()["messages"].to_string();
            assert!(skill.contains(&format!("Turn {SECRET} twice.")), "{skill}");

            let view = serde_json::to_string(&runtime.session(id).await.unwrap()).unwrap();
            assert!(!view.contains(SECRET), "{view}");
            assert!(view.contains("Turn ${env.KEY} twice."), "{view}");
            let mut events = runtime.events(id, Some(EventId::default())).await.unwrap();
            let heard = hear(&mut events, "done", 2).await;
            let told = serde_json::to_string(&heard).unwrap();
            assert!(!told.contains(SECRET), "{told}");
            assert!(!heard.iter().any(|event| event.name() == "error"), "{told}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unset_or_forbidden_placeholders_stay_and_are_reported() {
    on_stage_with(PROJECT, SCRIPT, async |stage| {
        let runtime = runtime(stage).await;
        let create: CreateSession = input(json!({ "persona": "forgetful" }));
        let id = runtime.create_session(create).await.unwrap().session.id;
        let events = say(&runtime, id, "hello").await;
        let told: Vec<String> = events
            .iter()
            .filter_map(|event| match event {
                Event::Error { code: ErrorCode::Persona, message } => Some(message.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told.iter().all(|message| message.starts_with("persona forgetful system_prompt: ")),
            "{told:?}"
        );
        assert!(told[0].contains("UNSET") && told[1].contains("OTHER"), "{told:?}");
        assert_eq!(system(&stage.sent()[0]), "Unset: ${env.UNSET}. Not allowed: ${env.OTHER}.\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn placeholders_of_the_plan_instruction_are_reported_in_plan_mode_only() {
    on_stage_with(PROJECT, SCRIPT, async |stage| {
        let runtime = runtime(stage).await;
        let id = stage.session_of("planless", Mode::Build).await;
        for (mode, expected) in [(Mode::Build, 0), (Mode::Plan, 1), (Mode::Build, 0)] {
            runtime.set_mode(id, mode).await.unwrap();
            let events = say(&runtime, id, "hello").await;
            let told = events.iter().filter_map(|event| match event {
                Event::Error { code: ErrorCode::Persona, message } => Some(message),
                _ => None,
            });
            let told: Vec<_> = told.collect();
            assert_eq!(told.len(), expected, "{mode}: {told:?}");
            let place = "persona planless plan_persona.instruction: ";
            assert!(told.iter().all(|message| message.starts_with(place)), "{told:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_of_the_database_reads_nothing() {
    on_stage_with("", SCRIPT, async |stage| {
        let persona = json!({
            "name": "thief", "system_prompt": "Give me ${env.KEY}.", "plan_persona": { "instruction": "${env.KEY}!" },
            "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        stage.world.persona(Scope::Shared, persona).await;
        let runtime = runtime(stage).await;
        let create: CreateSession = input(json!({ "persona": "thief", "mode": "plan" }));
        let id = runtime.create_session(create).await.unwrap().session.id;
        say(&runtime, id, "hello").await;
        let prompt = system(&stage.sent()[0]).to_owned();
        assert!(prompt.contains("Give me ${env.KEY}.") && prompt.contains("${env.KEY}!"), "{prompt}");
        assert!(!prompt.contains(SECRET));
    })
    .await;
}

const PRESET: &str = r#"
[personas.keeper]
system_prompt = "You keep."
preferred_models = [{ provider = "stage", model = "actor" }]
tool_preset = "ours"
bias_profile = "keen"
plan_persona = { tool_preset = "planning" }

[tool_presets.ours.categories]
read = [{ name = "read_file", parameter_bias = { path = "Begin with ${env.KEY}." } }]
[tool_presets.planning.categories]
read = [{ name = "read_file", parameter_bias = { path = "Look for ${env.UNSET}." } }]
[bias_profiles.keen]
description = "Mind ${env.KEY}."
multipliers = { read = 2.0 }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_presets_are_filled_in() {
    on_stage_with(PRESET, SCRIPT, async |stage| {
        let runtime = runtime(stage).await;
        for (mode, hint, errors) in [
            (Mode::Build, format!("Begin with {SECRET}."), 0),
            (Mode::Plan, "Look for ${env.UNSET}.".to_owned(), 1),
        ] {
            let create: CreateSession = input(json!({ "persona": "keeper", "mode": mode.to_string() }));
            let id = runtime.create_session(create).await.unwrap().session.id;
            let events = say(&runtime, id, "hello").await;
            let sent = stage.sent().pop().unwrap();
            assert!(system(&sent).contains(&format!("Mind {SECRET}.")), "{sent}");
            assert!(sent["tools"].to_string().contains(&hint), "{sent}");
            let told = serde_json::to_string(&events).unwrap();
            let place = "tool preset planning categories.read[0].parameter_bias.path: ${env.UNSET}";
            assert_eq!(told.matches(place).count(), errors, "{told}");
        }
        let preset = stage.world.entity(Kind::ToolPreset, Scope::Project, "ours").await.to_string();
        assert!(preset.contains("${env.KEY}") && !preset.contains(SECRET), "{preset}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_quotes_what_it_was_sent_gives_nothing_away() {
    for fault in ["status = 400", "status = 503", "status = 429"] {
        let script = format!(
            "[[reply]]\nfault = {{ {fault}, message = \"system: The key is {SECRET}. is not taken\" }}\n"
        );
        on_stage_with(PROJECT, &script, async |stage| {
            let runtime = runtime(stage).await;
            let create: CreateSession = input(json!({ "persona": "keeper" }));
            let id = runtime.create_session(create).await.unwrap().session.id;
            let events = say(&runtime, id, "hello").await;
            let told = serde_json::to_string(&events).unwrap();
            assert!(told.contains("The key is ${env.KEY}. is not taken"), "{told}");
            let kept = serde_json::to_string(&runtime.session(id).await.unwrap()).unwrap();
            assert!(!told.contains(SECRET) && !kept.contains(SECRET), "{told} {kept}");
        })
        .await;
    }
}

const STAGED: &str = r#"
[personas.climber]
system_prompt = "You climb."
preferred_models = [{ provider = "stage", model = "actor" }]
arc = "climb"
[arcs.climb]
stages = [{ name = "foot", parts = ["eager", "team-voice"] }]
[parts.eager]
part_type = "tone"
content = "Eager for ${env.KEY}."

[personas.guest]
system_prompt = "You visit."
preferred_models = [{ provider = "stage", model = "actor" }]
parts = ["namesake"]
arc = "team-climb"
[parts.namesake]
part_type = "goal"
content = "The project's goal: ${env.KEY}."

[parts.aim]
part_type = "goal"
content = "Aim for ${env.KEY} and ${env.UNSET}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_stages_and_overrides_are_filled_in_where_they_are_from_a_file() {
    on_stage_with(STAGED, SCRIPT, async |stage| {
        let world = stage.world;
        world.part(Scope::Shared, "team-voice", "voice", "The team's voice: ${env.KEY}.").await;
        world.part(Scope::Shared, "namesake", "tone", "The team's tone: ${env.KEY}.").await;
        let stages = json!([{ "name": "one", "order": 1, "parts": ["namesake"] }]);
        world.create(Kind::Arc, Scope::Shared, json!({ "name": "team-climb", "stages": stages })).await;
        let runtime = runtime(stage).await;
        let prompted = async |create| {
            let id = runtime.create_session(input::<CreateSession>(create)).await.unwrap().session.id;
            let events = say(&runtime, id, "hello").await;
            let told = serde_json::to_string(&events).unwrap();
            assert!(!told.contains(SECRET), "{told}");
            (system(stage.sent().last().unwrap()).to_owned(), told)
        };

        let (prompt, told) = prompted(json!({ "persona": "climber" })).await;
        assert!(prompt.contains(&format!("Eager for {SECRET}.")), "{prompt}");
        assert!(prompt.contains("The team's voice: ${env.KEY}."), "{prompt}");
        assert!(!told.contains("is not"), "{told}");
        // The part of the shared stage has the name of the persona's own.
        let (prompt, _) = prompted(json!({ "persona": "guest" })).await;
        assert!(prompt.contains(&format!("The project's goal: {SECRET}.")), "{prompt}");
        assert!(prompt.contains("The team's tone: ${env.KEY}."), "{prompt}");

        let overrides = json!({ "goal": "aim", "voice": "team-voice" });
        let (prompt, told) = prompted(json!({ "persona": "guest", "overrides": overrides })).await;
        assert!(prompt.contains(&format!("Aim for {SECRET} and ${{env.UNSET}}.")), "{prompt}");
        assert!(prompt.contains("The team's voice: ${env.KEY}."), "{prompt}");
        assert!(told.contains("part aim content: ${env.UNSET}"), "{told}");

        // Only the model sees it.
        let shown = world.view(json!({ "name": "climber", "detail": true })).await.to_string();
        let overrides = json!({ "goal": "aim" });
        let overridden = json!({ "name": "climber", "detail": true, "overrides": overrides });
        let overridden = world.view(overridden).await.to_string();
        let climber = input(json!({ "name": "climber" }));
        let compiled = world.library.compile_persona(&climber).await.unwrap();
        let compiled = serde_json::to_string(&compiled).unwrap();
        for text in [&shown, &overridden, &compiled] {
            assert!(text.contains("Eager for ${env.KEY}.") && !text.contains(SECRET), "{text}");
        }
        assert!(overridden.contains("Aim for ${env.KEY}"), "{overridden}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_and_an_explanation_say_where_parts_of_a_stage_are_from() {
    on_stage_with(STAGED, SCRIPT, async |stage| {
        let world = stage.world;
        world.part(Scope::Shared, "team-voice", "voice", "The team's voice.").await;
        let climber = input(json!({ "name": "climber" }));
        let manifest = world.library.manifest(&climber).await.unwrap();
        let places = manifest.parts.iter().map(|part| (part.name.as_str(), part.scope));
        assert_eq!(places.collect::<Vec<_>>(), [("eager", None), ("team-voice", Some(Scope::Shared))]);
        let explanation = world.library.explain(&climber).await.unwrap();
        let places = explanation.parts.iter().map(|part| (part.from.as_str(), part.piece_scope));
        let from = "project:climb/foot";
        assert_eq!(places.collect::<Vec<_>>(), [(from, Some(Scope::Project)), (from, Some(Scope::Shared))]);
    })
    .await;
}
