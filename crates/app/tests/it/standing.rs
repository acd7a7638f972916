//! Stages of personas in files whose arc is in a weaker scope.

use app::{Code, OpenOptions};
use persona::{Kind, Scope};
use serde_json::json;

use crate::world::{World, in_each_world, input, refused, renaming, view};

/// An arc of a scope, a base that walks it, and personas of the project and of the user's file that
/// inherit or name it, all in the second stage.
async fn on_the_way(world: &World, scope: Scope) {
    let stages = json!([{ "name": "one", "order": 1 }, { "name": "two", "order": 2 }]);
    world.create(Kind::Arc, scope, json!({ "name": "path", "stages": stages })).await;
    world.persona(scope, json!({ "name": "root", "arc": "path" })).await;
    world.persona(Scope::Project, json!({ "name": "heir", "extends": "root" })).await;
    world.persona(Scope::Project, json!({ "name": "walker", "arc": "path" })).await;
    world.persona(Scope::Project, json!({ "name": "grandchild", "extends": "walker" })).await;
    world.persona(Scope::Global, json!({ "name": "users-heir", "extends": "root" })).await;
    for of in HEIRS {
        world.library.advance_stage(&input(json!({ "persona": of }))).await.unwrap();
    }
}

const HEIRS: [&str; 4] = ["heir", "walker", "grandchild", "users-heir"];

async fn stage(world: &World, of: &str) -> String {
    let shown = world.view(json!({ "name": of })).await;
    let stage = &shown["arc"];
    format!("{} {}", stage["name"].as_str().unwrap_or_default(), stage["stage"].as_str().unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn heirs_of_other_scopes_keep_their_stage_when_the_arc_is_renamed() {
    for scope in [Scope::Shared, Scope::Global] {
        in_each_world(async |world| {
            on_the_way(world, scope).await;
            let World { library, author, .. } = world;
            let renamed = library.rename(author, renaming(Kind::Arc, "path", "road", Some(scope))).await;
            assert_eq!(renamed.unwrap().not_followed, []);
            for of in HEIRS {
                assert_eq!(stage(world, of).await, "road two", "{of}, of {scope}'s arc");
            }
        })
        .await;
    }
}

/// By hand too, seen by the project itself or while it is not open.
#[tokio::test(flavor = "multi_thread")]
async fn heirs_keep_their_stage_when_the_arc_is_renamed_by_hand() {
    for project_is_open in [true, false] {
        in_each_world(async |world| {
            on_the_way(world, Scope::Global).await;
            world.edit(Scope::Global, "path", "road");
            let close = |options: &mut OpenOptions| {
                let files = options.files.as_mut().expect("it has files");
                files.project = files.project.take().filter(|_| project_is_open);
            };
            world.reopened(close).await.close().await;
            world.edit(Scope::Project, "path", "road");
            let again = world.reopened(|_| ()).await;
            for of in HEIRS {
                let arc = &view(&again, json!({ "name": of })).await["arc"];
                assert_eq!((&arc["name"], &arc["stage"]), (&json!("road"), &json!("two")), "{of}");
            }
            again.close().await;
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stage_in_use_is_removed_by_force_only() {
    in_each_world(async |world| {
        on_the_way(world, Scope::Shared).await;
        let remove = |force: bool| input(json!({ "arc": "path", "stage": "two", "force": force }));
        let used = refused(world.library.remove_stage(&world.author, remove(false)).await);
        assert_eq!(used.code, Code::InUse);
        let users = ["users-heir of global", "grandchild of project", "heir of project", "walker of project"];
        assert_eq!(used.subject.users, users);
        // From where the project is not open, it is not forgotten either.
        let elsewhere = world.reopened(|options| options.files.as_mut().expect("files").project = None).await;
        let used = refused(elsewhere.remove_stage(&world.author, remove(false)).await);
        assert_eq!(used.subject.users[..2], ["users-heir of global", "grandchild of another project file"]);
        elsewhere.close().await;
        world.library.remove_stage(&world.author, remove(true)).await.unwrap();
        assert_eq!(stage(world, "heir").await, "path one");
    })
    .await;
}
