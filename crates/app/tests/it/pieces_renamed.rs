//! Going back where pieces have other names by now: they are followed by what they are.

use app::outputs::RolledBack;
use persona::{Kind, Scope};
use serde_json::json;

use crate::world::{World, in_each_world, input, pieces, renaming};

/// A coder with two parts, at its first revision.
async fn coder(world: &World, scope: Scope) {
    world.part(scope, "first", "goal", "One.").await;
    world.part(scope, "second", "goal", "Two.").await;
    let parts = json!([{ "name": "first", "order": 1 }, { "name": "second", "order": 2 }]);
    world.persona(scope, json!({ "name": "coder", "parts": parts })).await;
}

async fn rename(world: &World, scope: Scope, old: &str, new: &str) {
    let World { library, author, .. } = world;
    library.rename(author, renaming(Kind::Part, old, new, Some(scope))).await.unwrap();
}

async fn exchange(world: &World, scope: Scope) {
    rename(world, scope, "first", "aside").await;
    rename(world, scope, "second", "first").await;
    rename(world, scope, "aside", "second").await;
}

async fn back(world: &World, scope: Scope, with_pieces: bool) -> RolledBack {
    let back = json!({ "kind": "persona", "name": "coder", "scope": scope, "revision": 1, "with_pieces": with_pieces });
    world.library.rollback(&world.author, input(back)).await.unwrap()
}

async fn contents(world: &World, scope: Scope) -> Vec<String> {
    let shown = world.view(json!({ "name": "coder", "scope": scope, "detail": true })).await;
    let parts = shown["parts"].as_array().unwrap().iter();
    parts.map(|part| part["content"].as_str().unwrap().to_owned()).collect()
}

fn renamed(done: &RolledBack) -> Vec<(&str, &str)> {
    done.renamed.iter().map(|piece| (piece.was.as_str(), piece.name.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn swapped_names_are_swapped_back() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            coder(world, scope).await;
            exchange(world, scope).await;
            world.persona(scope, json!({ "name": "coder" })).await;
            let done = back(world, scope, false).await;
            assert_eq!(renamed(&done), [("first", "second"), ("second", "first")], "{scope}");
            assert!(done.differing.is_empty(), "{scope}: {done:?}");
            assert_eq!(contents(world, scope).await, ["One.", "Two."], "{scope}");

            // Each text comes back under its current name.
            world.part(scope, "first", "goal", "Changed.").await;
            let done = back(world, scope, true).await;
            assert_eq!(pieces(&done.restored), [(Kind::Part, "first")], "{scope}");
            assert_eq!(contents(world, scope).await, ["One.", "Two."], "{scope}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_another_piece_took_is_not_meant() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            coder(world, scope).await;
            rename(world, scope, "first", "aside").await;
            world.part(scope, "first", "goal", "Another one.").await;
            world.persona(scope, json!({ "name": "coder" })).await;
            let done = back(world, scope, true).await;
            assert_eq!((renamed(&done), done.restored.len()), (vec![("first", "aside")], 0), "{scope}");
            assert_eq!(contents(world, scope).await, ["One.", "Two."], "{scope}");
            let other = world.entity(Kind::Part, scope, "first").await;
            assert_eq!(other["content"], "Another one.", "{scope}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_of_a_namesake_in_another_scope_is_not_followed() {
    in_each_world(async |world| {
        coder(world, Scope::Shared).await;
        let base = json!({ "name": "base", "parts": [{ "name": "first" }] });
        world.persona(Scope::Shared, base).await;
        world.part(Scope::Project, "first", "goal", "Ours.").await;
        let ours = json!({ "name": "coder", "extends": "shared:base", "parts": [{ "name": "first" }] });
        world.persona(Scope::Project, ours).await;
        rename(world, Scope::Shared, "first", "other").await;
        world.persona(Scope::Project, json!({ "name": "coder" })).await;
        let done = back(world, Scope::Project, false).await;
        assert_eq!(renamed(&done), []);
        let coder = world.entity(Kind::Persona, Scope::Project, "coder").await;
        assert_eq!(coder["parts"][0]["name"], "first");
    })
    .await;
}
