//! Deleting from a scope: what goes, what is in force afterwards, what refuses.

use app::inputs::Delete;
use app::outputs::{Deleted, ScopedEntityRef};
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

fn places(list: &[ScopedEntityRef]) -> Vec<(Scope, Kind, &str)> {
    list.iter().map(|place| (place.scope, place.kind, place.name.as_str())).collect()
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
        let gone = delete(world, Kind::Part, json!({ "name": "calm", "force": true })).await;
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
        assert_eq!(
            places(&forced.left_without),
            [(Scope::Global, Kind::Persona, "mine"), (Scope::Project, Kind::Arc, "path")]
        );
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
        // The user's hides the shared one from the project.
        let gone = delete(world, Kind::Part, json!({ "name": "calm", "scope": "shared" })).await;
        assert_eq!((gone.left_without, gone.fall_back, gone.fall_back_to), (vec![], vec![], None));
        world.part(Scope::Shared, "calm", "tone", "Be calm in shared.").await;
        // Without the user's, the project uses the shared one.
        let used = refused(try_delete(world, Kind::Part, json!({ "name": "calm" })).await);
        assert_eq!(
            (used.code, used.subject.users),
            (Code::InUse, vec!["persona ours in project".to_owned()])
        );
        let gone = delete(world, Kind::Part, json!({ "name": "calm", "force": true })).await;
        assert_eq!((gone.scope, gone.fall_back_to), (Scope::Global, Some(Scope::Shared)));
        assert_eq!(places(&gone.fall_back), [(Scope::Project, Kind::Persona, "ours")]);
        assert_eq!((gone.left_without, gone.unlinked), (vec![], vec![]));
        // A reference that names a scope does not fall back.
        world.persona(Scope::Shared, json!({ "name": "critic" })).await;
        world.persona(Scope::Project, json!({ "name": "heir", "extends": "shared:critic" })).await;
        let used = refused(try_delete(world, Kind::Persona, json!({ "name": "critic" })).await);
        assert_eq!(used.code, Code::InUse);
        assert_eq!(used.subject.users, ["persona heir in project"]);
    })
    .await;
}

/// A file's own entries keep their reference if a weaker scope has the name, as after `promote`.
#[tokio::test(flavor = "multi_thread")]
async fn entries_of_the_same_file_fall_back_too() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "rules", "protocol", &format!("Rules in {scope}.")).await;
        }
        let user = json!({ "name": "reviewer", "parts": [{ "name": "rules" }] });
        world.persona(Scope::Project, user).await;
        let planned = world.library.plan_delete(Kind::Part, input(json!({ "name": "rules" }))).await.unwrap();
        assert_eq!((planned.scope, planned.fall_back_to), (Scope::Project, Some(Scope::Shared)));
        assert_eq!(places(&planned.fall_back), [(Scope::Project, Kind::Persona, "reviewer")]);
        assert_eq!((planned.left_without, planned.unlinked), (vec![], vec![]));
        let used = refused(try_delete(world, Kind::Part, json!({ "name": "rules" })).await);
        assert_eq!((used.code, used.subject.users), (Code::InUse, vec!["persona reviewer".to_owned()]));
        let gone = delete(world, Kind::Part, json!({ "name": "rules", "force": true })).await;
        assert_eq!((gone.deleted, gone.fall_back_to), (true, Some(Scope::Shared)));
        assert!(world.text(Scope::Project).contains("\"rules\""), "the persona keeps its reference");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_lists_the_users_and_deletes_nothing() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
        world.persona(Scope::Shared, json!({ "name": "team", "parts": [{ "name": "calm" }] })).await;
        world.persona(Scope::Project, json!({ "name": "ours", "parts": [{ "name": "calm" }] })).await;
        let plan = async |delete: Value| world.library.plan_delete(Kind::Part, input(delete)).await;
        let planned = plan(json!({ "name": "calm" })).await.unwrap();
        assert_eq!((planned.deleted, planned.scope), (true, Scope::Shared));
        assert_eq!(pieces(&planned.unlinked), [(Kind::Persona, "team")]);
        let elsewhere: Vec<(Scope, &str)> =
            planned.left_without.iter().map(|it| (it.scope, it.name.as_str())).collect();
        assert_eq!(elsewhere, [(Scope::Project, "ours")]);
        let part = world.entity(Kind::Part, Scope::Shared, "calm").await;
        assert_eq!(part["content"], "Be calm.", "it is still there");
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "team").await["parts"][0]["name"], "calm");
        assert!(!plan(json!({ "name": "nothing" })).await.unwrap().deleted);
        assert_eq!(at_revision(plan(json!({ "name": "calm", "if_revision": 7 })).await), stale(1));
    })
    .await;
}
