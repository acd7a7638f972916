//! Personas that say nothing.

use app::{Code, Remedy, TomlText};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, code, in_each_world, input, refused, with_files};

const SCOPES: [Scope; 3] = [Scope::Shared, Scope::Global, Scope::Project];

async fn create(
    world: &World,
    scope: Scope,
    mut persona: Value,
) -> Result<app::outputs::Written, app::Error> {
    persona["scope"] = json!(scope);
    world.library.create_persona(&world.author, input(persona)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_that_says_nothing_is_not_created() {
    in_each_world(async |world| {
        for scope in SCOPES {
            for silent in [
                json!({ "name": "mute" }),
                json!({ "name": "mute", "display_name": "Mute", "tags": ["x"], "greetings": ["Hello."] }),
                json!({ "name": "mute", "system_prompt": " ", "tool_preset": "read_only" }),
                json!({ "name": "mute", "system_prompt": "\u{200B}", "detail": "\u{2060}\n" }),
                json!({ "name": "mute", "system_prompt": "\u{2800}\u{2800}" }),
            ] {
                let report = refused(create(world, scope, silent.clone()).await);
                assert_eq!((report.code, report.subject.name.as_deref()), (Code::SaysNothing, Some("mute")));
                assert!(matches!(report.remedies[..], [Remedy::AddOneOf { .. }]), "{report:?}");
                assert_eq!(code(world.try_create(Kind::Persona, scope, silent).await), Code::SaysNothing);
            }
            let text = "[personas.mute]\n";
            let imported =
                world.library.import(&world.author, TomlText::named("x", text), Some(scope), None).await;
            assert_eq!(code(imported), Code::SaysNothing);
            assert_eq!(world.entity(Kind::Persona, scope, "mute").await, Value::Null);
        }
    })
    .await;
}

/// Agents create a persona first, and link its pieces then.
#[tokio::test(flavor = "multi_thread")]
async fn a_description_is_enough_to_begin_with() {
    in_each_world(async |world| {
        for scope in SCOPES {
            create(world, scope, json!({ "name": "guide", "description": "Guides." })).await.unwrap();
            create(world, scope, json!({ "name": "heir", "extends": "guide" })).await.unwrap();
            // Pieces may go before others come.
            let update = json!({ "name": "guide", "description": "", "scope": scope });
            world.library.update_persona(&world.author, input(update)).await.unwrap();
            let heir = create(world, scope, json!({ "name": "other", "extends": "guide" })).await;
            assert_eq!(code(heir), Code::SaysNothing, "its base says nothing");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_in_a_file_is_usable_with_a_warning() {
    let project = "[personas.guide]\nsummary = \"Guides.\"\n\n[personas.mute]\n";
    with_files("", project, async |world| {
        let view = world.view(json!({ "name": "mute" })).await;
        assert_eq!(view["name"], "mute");
        let problems = world.library.problems();
        let found: Vec<_> = problems.iter().map(|it| (it.cause, it.line, it.entry.clone())).collect();
        assert_eq!(found, [(Code::SaysNothing, 4, Some((Kind::Persona, "mute".to_owned())))]);
        let report = world.library.lint(app::LintOptions::default()).await.unwrap();
        let rules: Vec<String> = report
            .findings
            .iter()
            .filter(|it| it.name.as_deref() == Some("mute"))
            .map(|it| it.rule.to_string())
            .collect();
        assert_eq!(rules, ["no-prompt"]);
    })
    .await;
}
