//! Rollbacks, and the pieces that an earlier revision knew.

use app::ErrorKind;
use app::inputs::Rollback;
use app::outputs::{PieceThen, RolledBack};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, in_each_world, input, name, pieces, refused};

async fn back(world: &World, scope: Scope, more: Value) -> app::Result<RolledBack> {
    let mut fields = json!({ "kind": "persona", "name": "coder", "scope": scope });
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.library.rollback(&world.author, input::<Rollback>(fields)).await
}

/// A persona with a part and a preset, tagged `good`.
async fn tagged(world: &World, scope: Scope) {
    world.part(scope, "calm", "tone", "Be calm.").await;
    world.create(Kind::ToolPreset, scope, json!({ "name": "tools" })).await;
    let coder =
        json!({ "name": "coder", "parts": [{ "name": "calm" }], "tool_preset": "tools", "summary": "One" });
    world.persona(scope, coder).await;
    world.library.tag(&world.author, Kind::Persona, &name("coder"), Some(scope), None, "good").await.unwrap();
}

async fn content(world: &World, scope: Scope) -> String {
    let shown = world.view(json!({ "name": "coder", "detail": true, "scope": scope })).await;
    shown["parts"][0]["content"].as_str().unwrap().to_owned()
}

fn then(scope: Scope, kind: Kind, of: &str, revision: i64, deleted: bool) -> PieceThen {
    PieceThen { scope, kind, name: name(of), revision, deleted }
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_that_changed_since_are_told_and_go_back_where_that_is_asked_for() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            tagged(world, scope).await;
            let same = back(world, scope, json!({ "revision": "good" })).await.unwrap();
            assert_eq!((same.written.changed, same.differing), (false, vec![]), "{scope}");
            world.part(scope, "calm", "tone", "Be brisk.").await;
            world.create(Kind::ToolPreset, scope, json!({ "name": "tools", "description": "Mine." })).await;
            let told = back(world, scope, json!({ "revision": "good" })).await.unwrap();
            assert!(!told.written.changed && told.restored.is_empty());
            let changed =
                [then(scope, Kind::Part, "calm", 1, false), then(scope, Kind::ToolPreset, "tools", 1, false)];
            assert_eq!(told.differing, changed, "{scope}");
            assert_eq!(content(world, scope).await, "Be brisk.", "nobody asked for that");
            let all = json!({ "revision": "good", "with_pieces": true });
            let whole = back(world, scope, all.clone()).await.unwrap();
            assert_eq!(pieces(&whole.restored), [(Kind::Part, "calm"), (Kind::ToolPreset, "tools")]);
            assert_eq!((whole.written.changed, whole.differing), (false, vec![]));
            assert_eq!(content(world, scope).await, "Be calm.");
            let history = world.library.history(Kind::Part, &name("calm"), Some(scope), None).await.unwrap();
            let why = history.revisions[0].message.as_deref();
            assert_eq!(why, Some("persona coder goes back to revision 1"), "{scope}");
            let again = back(world, scope, all).await.unwrap();
            assert!(again.restored.is_empty() && again.differing.is_empty(), "{again:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_that_were_deleted_come_back_with_it() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            tagged(world, scope).await;
            for (kind, of) in [(Kind::Persona, "coder"), (Kind::Part, "calm"), (Kind::ToolPreset, "tools")] {
                let delete = input(json!({ "name": of, "scope": scope }));
                assert!(world.library.delete(&world.author, kind, delete).await.unwrap().deleted);
            }
            let (kind, said) = refused(back(world, scope, json!({ "revision": 1 })).await);
            assert_eq!(kind, ErrorKind::Missing);
            let why = format!(
                "revision 1 of persona \"coder\" refers to part \"calm\" of {scope}, which is not there now; \
                 roll that back to its revision 1 first, or repeat with with_pieces"
            );
            assert_eq!(said, why);
            let whole = back(world, scope, json!({ "revision": 1, "with_pieces": true })).await.unwrap();
            assert_eq!(pieces(&whole.restored), [(Kind::Part, "calm"), (Kind::ToolPreset, "tools")]);
            assert!(whole.written.changed);
            assert_eq!(content(world, scope).await, "Be calm.");
            let good = json!({ "name": "coder", "scope": scope, "revision": "good" });
            assert_eq!(world.view(good).await["parts"][0]["name"], "calm", "{scope}: it has its tag");
            // The project would find these.
            for (kind, of) in [(Kind::Persona, "coder"), (Kind::Part, "calm"), (Kind::ToolPreset, "tools")] {
                let delete = input(json!({ "name": of, "scope": scope }));
                world.library.delete(&world.author, kind, delete).await.unwrap();
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_piece_with_another_name_is_meant_by_that() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            tagged(world, scope).await;
            for (kind, old, new) in [(Kind::Part, "calm", "quiet"), (Kind::ToolPreset, "tools", "kit")] {
                let (library, author) = (&world.library, &world.author);
                library.rename(author, kind, &name(old), name(new), Some(scope), None).await.unwrap();
            }
            let update = json!({ "name": "coder", "summary": "Two", "scope": scope });
            world.library.update_persona(&world.author, input(update)).await.unwrap();
            let done = back(world, scope, json!({ "revision": "good" })).await.unwrap();
            let renamed: Vec<(&str, &str)> =
                done.renamed.iter().map(|piece| (piece.was.as_str(), piece.name.as_str())).collect();
            assert_eq!(renamed, [("calm", "quiet"), ("tools", "kit")], "{scope}");
            assert!(done.written.changed && done.differing.is_empty(), "{done:?}");
            let coder = world.entity(Kind::Persona, scope, "coder").await;
            assert_eq!(
                (&coder["summary"], &coder["parts"][0]["name"], &coder["tool_preset"]),
                (&json!("One"), &json!("quiet"), &json!("kit"))
            );
            world.part(scope, "quiet", "tone", "Be silent.").await;
            let whole = back(world, scope, json!({ "revision": "good", "with_pieces": true })).await.unwrap();
            assert_eq!(pieces(&whole.restored), [(Kind::Part, "quiet")]);
            assert_eq!(content(world, scope).await, "Be calm.");
            assert_eq!(world.entity(Kind::Part, scope, "calm").await, Value::Null, "there is one of it");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_of_other_scopes_are_told_and_left_alone() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
        let coder = json!({ "name": "coder", "parts": [{ "name": "calm" }] });
        world.persona(Scope::Project, coder).await;
        world.part(Scope::Shared, "calm", "tone", "Be brisk.").await;
        let all = json!({ "revision": 1, "with_pieces": true });
        let done = back(world, Scope::Project, all).await.unwrap();
        assert!(done.restored.is_empty());
        assert_eq!(done.differing, [then(Scope::Shared, Kind::Part, "calm", 1, false)]);
        assert_eq!(content(world, Scope::Project).await, "Be brisk.");
    })
    .await;
}
