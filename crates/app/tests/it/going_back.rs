//! Rollbacks, and the pieces that an earlier revision knew.

use app::inputs::Rollback;
use app::outputs::{PieceThen, RolledBack, ScopedEntityRef};
use app::{Code, Remedy, RevisionRef};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, at_field, code, in_each_world, input, name, pieces, refused, renaming, suggested};

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
    PieceThen { scope, kind, name: name(of), revision, ask_for: None, deleted }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_pieces_are_listed_and_restored_on_request() {
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
            assert_eq!(content(world, scope).await, "Be brisk.", "the piece stays");
            let all = json!({ "revision": "good", "with_pieces": true });
            let whole = back(world, scope, all.clone()).await.unwrap();
            assert_eq!(pieces(&whole.restored), [(Kind::Part, "calm"), (Kind::ToolPreset, "tools")]);
            assert_eq!((whole.written.changed, whole.differing), (false, vec![]));
            assert_eq!(content(world, scope).await, "Be calm.");
            let history = world.library.history(Kind::Part, &name("calm"), Some(scope), None).await.unwrap();
            let why = history.items[0].message.as_deref();
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
            let gone = refused(back(world, scope, json!({ "revision": 1 })).await);
            let (kind, revision) = (Kind::Part, "1".to_owned());
            let first = Remedy::RollBackFirst { kind, name: name("calm"), revision };
            assert_eq!((gone.code, gone.remedies), (Code::PieceGone, vec![first, Remedy::WithPieces]));
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
                library.rename(author, renaming(kind, old, new, Some(scope))).await.unwrap();
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
async fn pieces_of_other_scopes_are_listed_and_stay() {
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

/// Parts of a call are the caller's, also where the persona is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_persona_is_shown_as_it_was_with_overrides() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            tagged(world, scope).await;
            world.part(Scope::Shared, "brisk", "tone", "Be brisk.").await;
            let delete = input(json!({ "name": "coder", "scope": scope }));
            world.library.delete(&world.author, Kind::Persona, delete).await.unwrap();
            for of in ["brisk", "mentor-tone"] {
                let overrides = json!({ "tone": of });
                let request =
                    json!({ "name": "coder", "scope": scope, "revision": "good", "overrides": overrides });
                assert_eq!(world.view(request).await["parts"][0]["name"], of, "{scope}");
            }
            let wrong = json!({ "name": "coder", "scope": scope, "revision": "good", "overrides": { "tone": "clam" } });
            let unknown = world.library.get_persona(&input(wrong)).await;
            assert_eq!(suggested(unknown), (Code::UnknownOverride, Some("calm".to_owned())));
        }
    })
    .await;
}

/// A deletion does not record references.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_neither_shown_nor_tagged() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            tagged(world, scope).await;
            let delete = input(json!({ "name": "coder", "scope": scope }));
            world.library.delete(&world.author, Kind::Persona, delete).await.unwrap();
            let get = json!({ "name": "coder", "scope": scope, "revision": 2 });
            let shown = world.library.get_persona(&input(get)).await.map(|_| ());
            let deletion = RevisionRef::Number(2);
            let World { library, author, .. } = world;
            let tag =
                library.tag(author, Kind::Persona, &name("coder"), Some(scope), Some(&deletion), "x").await;
            for refusal in [refused(shown), refused(tag)] {
                let remedies = vec![Remedy::OtherRevision, Remedy::RollBack];
                assert_eq!((refusal.code, refusal.remedies), (Code::DeletedRevision, remedies), "{scope}");
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_that_the_history_has_forgotten_are_listed() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", "Be calm.").await;
            world.persona(scope, json!({ "name": "coder", "parts": [{ "name": "calm" }] })).await;
            let update = json!({ "name": "coder", "summary": "Two", "scope": scope });
            world.library.update_persona(&world.author, input(update)).await.unwrap();
            for content in ["Be brisk.", "Be brisker."] {
                world.part(scope, "calm", "tone", content).await;
            }
            world.library.prune(2).await.unwrap();
            let get = json!({ "name": "coder", "scope": scope, "revision": 1 });
            assert_eq!(code(world.library.get_persona(&input(get)).await), Code::ForgottenRevision);
            let whole = refused(back(world, scope, json!({ "revision": 1, "with_pieces": true })).await);
            assert_eq!((whole.code, whole.remedies), (Code::ForgottenRevision, vec![Remedy::WithoutPieces]));
            let done = back(world, scope, json!({ "revision": 1 })).await.unwrap();
            assert!(done.written.changed && done.differing.is_empty(), "{done:?}");
            let forgotten = ScopedEntityRef { scope, kind: Kind::Part, name: name("calm") };
            assert_eq!(done.forgotten, [forgotten], "{scope}");
            assert_eq!(content(world, scope).await, "Be brisker.");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_says_that_there_is_more() {
    in_each_world(async |world| {
        for summary in ["One", "Two", "Three"] {
            world.persona(Scope::Shared, json!({ "name": "coder", "summary": summary })).await;
        }
        for (limit, expected) in [(Some(2), (2, true)), (Some(3), (3, false)), (None, (3, false))] {
            let history = world.library.history(Kind::Persona, &name("coder"), None, limit).await.unwrap();
            assert_eq!((history.items.len(), history.next_cursor.is_some()), expected, "{limit:?}");
        }
        for limit in [0, 10_001] {
            let refusal = world.library.history(Kind::Persona, &name("coder"), None, Some(limit)).await;
            assert_eq!(at_field(refusal), (Code::OutOfRange, Some("limit".to_owned())));
        }
    })
    .await;
}
