//! Imports of many entities, and imports of the same file again.

use app::outputs::{ImportChange, ImportPlan};
use app::{Progress, RevisionRef, TomlText, toml_of};
use persona::{AnyEntity, Kind, Scope};
use serde_json::{Value, json};
use testkit::samples::{
    arc, bias_profile, context_preset, full_persona, guardrail, linking, skill, stage, test_input, tone,
    tool_preset, trait_,
};

use crate::world::{World, in_each_world, name};

/// An entity of every kind, with all fields of a persona.
fn everything() -> Vec<AnyEntity> {
    let mut all = vec![AnyEntity::from(full_persona("full"))];
    all.extend(["warm", "cold"].map(|of| AnyEntity::from(tone(of))));
    all.extend(["patient", "bold"].map(|of| AnyEntity::from(trait_(of))));
    all.push(skill("tracing").into());
    all.push(guardrail("honest").into());
    all.extend(["morning", "evening"].map(|of| AnyEntity::from(test_input(of))));
    all.push(arc("path", vec![stage("start", 1, &["cold"]), stage("end", 2, &[])]).into());
    all.extend(["tools", "reading"].map(|of| AnyEntity::from(tool_preset(of))));
    all.push(bias_profile("bias").into());
    all.push(context_preset("context").into());
    all
}

async fn import(world: &World, toml: &str, scope: Scope) -> ImportPlan {
    world.library.import(&world.author, TomlText::named("import", toml), Some(scope), None).await.unwrap()
}

/// Every entity with its revision and times, and its history with its tags.
async fn state(world: &World, scope: Scope, entities: &[AnyEntity]) -> Vec<Value> {
    let mut all = Vec::new();
    for entity in entities {
        let (kind, name) = (entity.kind(), entity.name());
        let history = world.library.history(kind, name, Some(scope), None).await.unwrap();
        all.push(world.entity(kind, scope, name.as_str()).await);
        all.push(serde_json::to_value(&history.items).unwrap());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_import_changes_nothing() {
    in_each_world(async |world| {
        let entities = everything();
        assert!(Kind::ALL.iter().all(|kind| entities.iter().any(|entity| entity.kind() == *kind)));
        let toml = toml_of(&entities).unwrap();
        for scope in [Scope::Shared, Scope::Project] {
            let first = import(world, &toml, scope).await;
            assert!(first.items.iter().all(|item| item.change == ImportChange::Create), "{first:?}");
            for entity in &entities {
                let (kind, name) = (entity.kind(), entity.name());
                let one = RevisionRef::Number(1);
                world.library.tag(&world.author, kind, name, Some(scope), Some(&one), "v1").await.unwrap();
            }
            let before = state(world, scope, &entities).await;
            let text = world.text(Scope::Project);
            let again = import(world, &toml, scope).await;
            assert_eq!(again.items.len(), entities.len());
            assert!(again.items.iter().all(|item| item.change == ImportChange::Unchanged), "{again:?}");
            assert_eq!((again.changes(), again.copied), (0, Vec::new()));
            assert_eq!(state(world, scope, &entities).await, before, "{scope}: no revision, no moved tag");
            assert_eq!(world.text(Scope::Project), text);
            let exported = world.library.export(&[(Kind::Persona, name("full"))], Some(scope)).await.unwrap();
            let exported = exported.toml;
            // A bundle names a base of the builtins as its author did.
            assert_eq!(import(world, &exported, scope).await.changes(), 0, "{scope}");
        }
    })
    .await;
}

/// A link copies a builtin without the tag of builtins; the bundle has it with the tag.
#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_in_a_bundle_keeps_no_tag_of_builtins() {
    const INPUT: &str = "just-give-me-the-answer";
    in_each_world(async |world| {
        let ours = json!({ "name": "ours", "summary": "Ours.", "test_inputs": [INPUT] });
        world.persona(Scope::Project, ours).await;
        let bundle = world.library.export(&[(Kind::Persona, name("ours"))], None).await.unwrap().toml;
        assert!(bundle.contains("\"builtin\""), "{bundle}");
        let first = import(world, &bundle, Scope::Shared).await;
        assert_eq!((first.changes(), first.copied.len()), (1, 1), "{first:?}");
        let again = import(world, &bundle, Scope::Shared).await;
        assert!(again.items.iter().all(|item| item.change == ImportChange::Unchanged), "{again:?}");
        let copy = world.entity(Kind::TestInput, Scope::Shared, INPUT).await;
        assert_eq!(copy["revision"], 1);
        let tags = copy["tags"].as_array().unwrap();
        assert!(!tags.contains(&json!("builtin")), "{copy}");
    })
    .await;
}

/// Bases and pieces may follow their users in a file; thousands of entities are one write.
#[tokio::test(flavor = "multi_thread")]
async fn many_entities_are_imported_at_once() {
    const MANY: usize = 300;
    in_each_world(async |world| {
        let mut entities: Vec<AnyEntity> = Vec::new();
        for at in 0..MANY {
            let mut persona = linking(&format!("p{at:03}"), &[format!("t{at:03}").as_str(), "plain-tone"]);
            persona.extends = (at % 10 != 9).then(|| format!("p{:03}", at + 1).parse().unwrap());
            persona.tool_preset = Some(name("read_only"));
            entities.push(persona.into());
            entities.push(tone(&format!("t{at:03}")).into());
        }
        let toml = toml_of(&entities).unwrap();
        let mut reported: Vec<Progress> = Vec::new();
        let text = TomlText::named("import", &toml);
        let mut follow = |at: Progress| reported.push(at);
        let shared = Some(Scope::Shared);
        let done = world.library.follow_import(&world.author, text, shared, None, &mut follow).await.unwrap();
        assert_eq!((done.changes(), done.copied.len()), (2 * MANY, 1));
        let total = 2 * MANY as u64;
        assert!(reported.iter().all(|at| at.done < at.total && at.total == total), "{reported:?}");
        let mut steps: Vec<&str> = reported.iter().map(|at| at.step).collect();
        steps.dedup();
        assert_eq!(steps, ["compare", "store"]);
        let changed = toml.replacen("Speak plainly.", "Speak softly.", 1);
        assert_ne!(changed, toml);
        let again = import(world, &changed, Scope::Shared).await;
        assert_eq!(again.changes(), 1, "{:?}", again.items.iter().find(|item| !item.fields.is_empty()));
        assert_eq!(import(world, &changed, Scope::Shared).await.changes(), 0);
    })
    .await;
}
