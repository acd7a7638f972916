//! Deleting from a scope: what goes, what is in force afterwards, what refuses.

use app::inputs::Delete;
use app::outputs::Deleted;
use app::{Code, Remedy};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, at_revision, in_each_world, input, pieces, refused, stale};

async fn try_delete(world: &World, kind: Kind, delete: Value) -> Result<Deleted, app::Error> {
    world.library.delete(&world.author, kind, input::<Delete>(delete)).await
}

async fn delete(world: &World, kind: Kind, delete: Value) -> Deleted {
    try_delete(world, kind, delete).await.unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_acts_where_the_name_resolves() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            world.persona(scope, json!({ "name": "critic", "summary": scope })).await;
        }
        let named = delete(world, Kind::Persona, json!({ "name": "critic", "scope": "global" })).await;
        assert_eq!((named.deleted, named.scope, named.in_force), (true, Scope::Global, Some(Scope::Project)));
        let again = delete(world, Kind::Persona, json!({ "name": "critic", "scope": "global" })).await;
        assert_eq!(
            (again.deleted, again.scope, again.in_force),
            (false, Scope::Global, Some(Scope::Project))
        );
        for (scope, left) in [(Scope::Project, Scope::Shared), (Scope::Shared, Scope::Builtin)] {
            let gone = delete(world, Kind::Persona, json!({ "name": "critic" })).await;
            assert_eq!((gone.deleted, gone.scope, gone.in_force), (true, scope, Some(left)));
        }
        let builtin = refused(try_delete(world, Kind::Persona, json!({ "name": "critic" })).await);
        assert_eq!((builtin.code, builtin.remedies), (Code::BuiltinFixed, vec![Remedy::CreateInPlace]));
        let none = delete(world, Kind::Persona, json!({ "name": "nobody" })).await;
        assert_eq!((none.deleted, none.in_force), (false, None));
        assert_eq!(world.text(Scope::Project).trim(), "");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_piece_in_use_in_its_file_is_deleted_by_force_only() {
    in_each_world(async |world| {
        world.part(Scope::Project, "calm", "tone", "Be calm.").await;
        let arc = json!({ "name": "path", "stages": [{ "name": "first", "parts": ["calm"] }] });
        world.create(Kind::Arc, Scope::Project, arc).await;
        let coder = json!({ "name": "coder", "parts": [{ "name": "calm" }], "arc": "path" });
        world.persona(Scope::Project, coder).await;
        let used = refused(try_delete(world, Kind::Part, json!({ "name": "calm" })).await);
        assert_eq!((used.code, used.remedies), (Code::InUse, vec![Remedy::UnlinkFirst, Remedy::UseForce]));
        assert_eq!(used.subject.users, ["persona coder", "arc path"]);
        let forced = delete(world, Kind::Part, json!({ "name": "calm", "force": true })).await;
        assert_eq!(pieces(&forced.unlinked), [(Kind::Persona, "coder"), (Kind::Arc, "path")]);
        let text = world.text(Scope::Project);
        assert!(!text.contains("calm"), "{text}");
        assert_eq!(world.view(json!({ "name": "coder" })).await["arc"]["stage"], "first");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_weaker_definition_takes_the_place_of_a_deleted_one() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm, all of you.").await;
        world.part(Scope::Project, "calm", "tone", "Be calm, you.").await;
        world.persona(Scope::Project, json!({ "name": "coder", "parts": [{ "name": "calm" }] })).await;
        let detail = json!({ "name": "coder", "detail": true });
        assert_eq!(world.view(detail.clone()).await["parts"][0]["content"], "Be calm, you.");
        let gone = delete(world, Kind::Part, json!({ "name": "calm" })).await;
        assert_eq!(
            (gone.scope, gone.in_force, gone.unlinked.len()),
            (Scope::Project, Some(Scope::Shared), 0)
        );
        assert_eq!(world.view(detail).await["parts"][0]["content"], "Be calm, all of you.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_delete_is_refused() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", "Be calm.").await;
            world.part(scope, "calm", "tone", "Be very calm.").await;
            let late = json!({ "name": "calm", "scope": scope, "if_revision": 1 });
            assert_eq!(at_revision(try_delete(world, Kind::Part, late).await), stale(2));
            let fresh = json!({ "name": "calm", "scope": scope, "if_revision": 2 });
            assert!(delete(world, Kind::Part, fresh).await.deleted);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_piece_in_use_in_stronger_scopes_is_deleted_by_force_only() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
        let user = |of: &str| json!({ "name": of, "parts": [{ "name": "calm" }] });
        world.persona(Scope::Shared, user("team")).await;
        world.persona(Scope::Global, user("mine")).await;
        let arc = json!({ "name": "path", "stages": [{ "name": "first", "parts": ["calm"] }] });
        world.create(Kind::Arc, Scope::Project, arc).await;
        let used = refused(try_delete(world, Kind::Part, json!({ "name": "calm" })).await);
        assert_eq!(used.code, Code::InUse);
        assert_eq!(used.subject.users, ["persona team", "persona mine in global", "arc path in project"]);
        let forced = delete(world, Kind::Part, json!({ "name": "calm", "force": true })).await;
        assert_eq!(pieces(&forced.unlinked), [(Kind::Persona, "team")]);
        let left: Vec<(Scope, Kind, &str)> =
            forced.left_without.iter().map(|place| (place.scope, place.kind, place.name.as_str())).collect();
        assert_eq!(left, [(Scope::Global, Kind::Persona, "mine"), (Scope::Project, Kind::Arc, "path")]);
        assert!(world.text(Scope::Global).contains("calm"), "another scope's file is left alone");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_falls_back_to_a_weaker_scope() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global] {
            world.part(scope, "calm", "tone", &format!("Be calm in {scope}.")).await;
        }
        world.persona(Scope::Project, json!({ "name": "ours", "parts": [{ "name": "calm" }] })).await;
        // The user's is not seen from what is shared, and hides that from the project.
        for scope in [Scope::Shared, Scope::Global] {
            let gone = delete(world, Kind::Part, json!({ "name": "calm", "scope": scope })).await;
            assert_eq!(gone.left_without, [], "{scope}");
            world.part(scope, "calm", "tone", &format!("Be calm in {scope}.")).await;
        }
        // A reference that names a scope does not fall back.
        world.persona(Scope::Shared, json!({ "name": "critic" })).await;
        world.persona(Scope::Project, json!({ "name": "heir", "extends": "shared:critic" })).await;
        let used = refused(try_delete(world, Kind::Persona, json!({ "name": "critic" })).await);
        assert_eq!(used.code, Code::InUse);
        assert_eq!(used.subject.users, ["persona heir in project"]);
    })
    .await;
}
