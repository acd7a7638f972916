//! The users of an entity, over all scopes.

use app::Code;
use app::inputs::EntityUsage;
use app::outputs::UsagePage;
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, code, in_each_world, input, with_files};

async fn usage(world: &World, fields: Value) -> UsagePage {
    world.library.usage(input::<EntityUsage>(fields)).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Each user as `kind scope:name`.
fn users(page: &UsagePage) -> Vec<String> {
    page.items.iter().map(|user| format!("{} {}:{}", user.kind, user.scope, user.name)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_lists_users_of_every_kind_and_scope() {
    let project = "[personas.here]\nparts = [\"calm\"]\n[personas.other]\nparts = [\"plain\"]\n[parts.plain]\npart_type = \"tone\"\ncontent = \"x\"\n";
    with_files(
        "[personas.mine]\nextends = \"team\"\ntool_preset = \"read_only\"\n",
        project,
        async |world| {
            world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
            world.persona(Scope::Shared, json!({ "name": "team", "parts": [{ "name": "calm" }] })).await;
            let arc =
                json!({ "name": "growth", "stages": [{ "name": "young", "order": 1, "parts": ["calm"] }] });
            world.create(Kind::Arc, Scope::Shared, arc).await;
            let page = usage(world, json!({ "kind": "part", "name": "calm" })).await;
            assert_eq!(users(&page), ["persona project:here", "persona shared:team", "arc shared:growth"]);
            assert_eq!((page.total, page.next_cursor), (3, None));
            assert_eq!(
                users(&usage(world, json!({ "kind": "persona", "name": "team" })).await),
                ["persona global:mine"]
            );
            let presets = usage(world, json!({ "kind": "tool_preset", "name": "read_only" })).await;
            assert!(users(&presets).contains(&"persona global:mine".to_owned()), "{presets:?}");
            assert_eq!(
                users(&usage(world, json!({ "kind": "part", "name": "plain" })).await),
                ["persona project:other"]
            );
            // A file's own part hides the shared one from its personas.
            world.part(Scope::Project, "calm", "tone", "Ours.").await;
            let shared = usage(world, json!({ "kind": "part", "name": "calm", "scope": "shared" })).await;
            assert_eq!(users(&shared), ["persona shared:team", "arc shared:growth"]);
            assert_eq!(
                users(&usage(world, json!({ "kind": "part", "name": "calm" })).await),
                ["persona project:here"]
            );
            let builtin = usage(world, json!({ "kind": "part", "name": "review-identity" })).await;
            assert_eq!(users(&builtin), ["persona builtin:code_reviewer"]);
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_comes_in_pages() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
        for number in 0..5 {
            world
                .persona(
                    Scope::Shared,
                    json!({ "name": format!("p{number}"), "parts": [{ "name": "calm" }] }),
                )
                .await;
        }
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let mut fields = json!({ "kind": "part", "name": "calm", "limit": 2 });
            if let Some(cursor) = cursor {
                fields["cursor"] = Value::String(cursor);
            }
            let page = usage(world, fields).await;
            assert_eq!(page.total, 5);
            seen.extend(users(&page));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen.len(), 5);
        let refused = async |fields: Value| code(world.library.usage(input(fields)).await);
        assert_eq!(refused(json!({ "kind": "part", "name": "calm", "limit": 0 })).await, Code::OutOfRange);
        assert_eq!(
            refused(json!({ "kind": "part", "name": "calm", "cursor": "x" })).await,
            Code::InvalidCursor
        );
        assert_eq!(refused(json!({ "kind": "part", "name": "clam" })).await, Code::NotFound);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_are_the_builtin_personas() {
    in_each_world(async |world| {
        world.persona(Scope::Shared, json!({ "name": "mentor", "system_prompt": "Ours." })).await;
        let page = world.library.list_templates().await.unwrap();
        let names: Vec<&str> = page.items.iter().map(|item| item.name.as_str()).collect();
        let expected = [
            "code_reviewer",
            "code_worker",
            "critic",
            "doc_writer",
            "mentor",
            "optimist",
            "orchestrator",
            "qa_reviewer",
            "tech_lead",
            "test_writer",
        ];
        assert_eq!(names, expected);
        assert!(
            page.items.iter().all(|item| item.scope == Scope::Builtin && item.summary.is_some()),
            "{page:?}"
        );
    })
    .await;
}
