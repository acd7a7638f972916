//! Renaming: what refers to an entity follows, wherever that can be written to.

use app::Code;
use app::outputs::{LeftBehind, ScopedEntityRef, Written};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, code, in_each_world, input, name, not_found, renaming, suggested, view};

async fn rename(world: &World, kind: Kind, old: &str, new: &str, scope: Option<Scope>) -> Written {
    let renamed = world.library.rename(&world.author, renaming(kind, old, new, scope)).await;
    renamed.unwrap_or_else(|error| panic!("{error}"))
}

fn places(listed: &[ScopedEntityRef]) -> Vec<String> {
    listed.iter().map(|place| format!("{}:{}", place.scope, place.name)).collect()
}

/// Entities that did not follow, and why.
fn left(listed: &[LeftBehind]) -> Vec<String> {
    let told =
        listed.iter().map(|LeftBehind { place, why }| format!("{}:{}: {why}", place.scope, place.name));
    told.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn references_follow_in_every_scope() {
    in_each_world(async |world| {
        world.create(Kind::ToolPreset, Scope::Shared, json!({ "name": "tools" })).await;
        world.persona(Scope::Shared, json!({ "name": "base", "tool_preset": "tools" })).await;
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            let planning = json!({ "instruction": "Plan.", "tool_preset": "tools" });
            let user = json!({ "name": format!("in-{scope}"), "extends": "base", "plan_persona": planning });
            world.persona(scope, user).await;
        }
        let by_scope = json!({ "name": "by-scope", "extends": "shared:base" });
        world.persona(Scope::Project, by_scope).await;

        let renamed = rename(world, Kind::Persona, "base", "root", None).await;
        assert_eq!((renamed.scope, renamed.name.as_str()), (Scope::Shared, "root"));
        assert_eq!(
            places(&renamed.followed),
            ["shared:in-shared", "global:in-global", "project:by-scope", "project:in-project"]
        );
        assert_eq!(renamed.not_followed, []);
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            assert_eq!(world.entity(Kind::Persona, scope, &format!("in-{scope}")).await["extends"], "root");
        }
        assert_eq!(world.entity(Kind::Persona, Scope::Project, "by-scope").await["extends"], "shared:root");

        let renamed = rename(world, Kind::ToolPreset, "tools", "kit", None).await;
        assert_eq!(
            places(&renamed.followed),
            ["shared:in-shared", "shared:root", "global:in-global", "project:in-project"]
        );
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "root").await["tool_preset"], "kit");
        assert!(
            world.text(Scope::Project).contains("\"kit\"") && !world.text(Scope::Project).contains("tools")
        );
        // The history goes on under the new name.
        let history = world.library.history(Kind::Persona, &name("root"), None, None).await.unwrap();
        let names: Vec<&str> = history.items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names, ["root", "root", "base"]);
        assert_eq!(history.items[1].message.as_deref(), Some("base is root now"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_of_the_database_and_of_files_follow() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", "Be calm.").await;
            let arc = json!({ "name": "path", "stages": [{ "name": "one", "parts": ["calm"] }] });
            world.create(Kind::Arc, scope, arc).await;
            world
                .persona(scope, json!({ "name": "coder", "parts": [{ "name": "calm" }], "arc": "path" }))
                .await;
            let renamed = rename(world, Kind::Part, "calm", "quiet", Some(scope)).await;
            assert_eq!(
                places(&renamed.followed),
                [format!("{scope}:coder"), format!("{scope}:path")],
                "{scope}"
            );
            let coder = world.entity(Kind::Persona, scope, "coder").await;
            assert_eq!(coder["parts"][0]["name"], "quiet");
            assert_eq!(world.entity(Kind::Arc, scope, "path").await["stages"][0]["parts"], json!(["quiet"]));
            // So that going back to it finds the part under the name that it has.
            for (kind, of) in [(Kind::Persona, "coder"), (Kind::Arc, "path")] {
                let history = world.library.history(kind, &name(of), Some(scope), None).await.unwrap();
                let newest = &history.items[0];
                assert_eq!(
                    (newest.revision, newest.message.as_deref()),
                    (2, Some("calm is quiet now")),
                    "{of} in {scope}"
                );
            }
        }
        // A removal from a base is a reference too.
        let renamed = {
            world
                .persona(
                    Scope::Project,
                    json!({ "name": "bare", "extends": "coder", "remove_parts": ["quiet"] }),
                )
                .await;
            rename(world, Kind::Part, "quiet", "still", Some(Scope::Project)).await
        };
        assert!(places(&renamed.followed).contains(&"project:bare".to_owned()), "{renamed:?}");
        assert_eq!(
            world.entity(Kind::Persona, Scope::Project, "bare").await["remove_parts"],
            json!(["still"])
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namesake_in_another_scope_is_left_alone() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm, all.").await;
        world.part(Scope::Project, "calm", "tone", "Be calm here.").await;
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            world.persona(scope, json!({ "name": "coder", "parts": [{ "name": "calm" }] })).await;
        }
        let renamed = rename(world, Kind::Part, "calm", "quiet", Some(Scope::Shared)).await;
        assert_eq!(places(&renamed.followed), ["shared:coder", "global:coder"]);
        let content = async |scope: Scope| {
            let shown = world.view(json!({ "name": "coder", "scope": scope, "detail": true })).await;
            shown["parts"][0]["content"].as_str().unwrap().to_owned()
        };
        assert_eq!(content(Scope::Global).await, "Be calm, all.");
        assert_eq!(content(Scope::Project).await, "Be calm here.");
        // Under this name the project's personas would mean another part.
        world.part(Scope::Project, "hush", "tone", "Hush.").await;
        world.persona(Scope::Project, json!({ "name": "user", "parts": [{ "name": "quiet" }] })).await;
        let renamed = rename(world, Kind::Part, "quiet", "hush", None).await;
        assert_eq!(left(&renamed.not_followed), ["project:user: there, \"hush\" means project's own"]);
        assert_eq!(world.entity(Kind::Persona, Scope::Project, "user").await["parts"][0]["name"], "quiet");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn references_in_read_only_files_are_listed() {
    in_each_world(async |world| {
        world.persona(Scope::Shared, json!({ "name": "base" })).await;
        world.persona(Scope::Shared, json!({ "name": "in-shared", "extends": "base" })).await;
        world.persona(Scope::Project, json!({ "name": "in-project", "extends": "base" })).await;
        let reader =
            world.reopened(|options| options.files.as_mut().expect("it has files").writable = false).await;
        let renamed = reader.rename(&world.author, renaming(Kind::Persona, "base", "root", None)).await;
        let renamed = renamed.unwrap();
        assert_eq!(places(&renamed.followed), ["shared:in-shared"]);
        let [told] = &left(&renamed.not_followed)[..] else { panic!("{renamed:?}") };
        assert!(told.starts_with("project:in-project: "), "{told}");
        assert!(world.text(Scope::Project).contains("extends = \"base\""));
        // By an update as well.
        let update = json!({ "name": "root", "new_name": "base", "summary": "The root" });
        reader.update_persona(&world.author, input(update)).await.unwrap();
        let update = json!({ "name": "base", "new_name": "floor" });
        let updated = reader.update_persona(&world.author, input(update)).await.unwrap();
        assert_eq!(places(&updated.followed), ["shared:in-shared"]);
        assert!(left(&updated.not_followed)[0].starts_with("project:in-project: "), "{updated:?}");
        reader.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_with_a_new_name_renames_as_well() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": "base" })).await;
            world.persona(scope, json!({ "name": "top", "extends": "base" })).await;
            let update = json!({ "name": "base", "new_name": "root", "summary": "The root", "scope": scope });
            let written = world.library.update_persona(&world.author, input(update)).await.unwrap();
            assert_eq!((written.name.as_str(), written.scope), ("root", scope));
            assert_eq!(places(&written.followed), [format!("{scope}:top")]);
            assert_eq!(written.not_followed, []);
            assert_eq!(world.entity(Kind::Persona, scope, "top").await["extends"], "root");
            assert_eq!(world.entity(Kind::Persona, scope, "base").await, Value::Null);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_goes_with_its_persona() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": "guide", "extends": "builtin:mentor" })).await;
            let guide = input(json!({ "persona": "guide", "scope": scope }));
            assert_eq!(world.library.advance_stage(&guide).await.unwrap().position, 2);
            rename(world, Kind::Persona, "guide", "leader", Some(scope)).await;
            let shown = world.view(json!({ "name": "leader", "scope": scope })).await;
            assert_eq!(shown["arc"]["position"], 2, "{scope}");
        }
    })
    .await;
}

async fn stage(world: &World, persona: &str, scope: Scope) -> String {
    let shown = world.view(json!({ "name": persona, "scope": scope })).await;
    format!("{}/{}", shown["arc"]["name"].as_str().unwrap(), shown["arc"]["stage"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_stays_in_its_stage_when_the_arc_is_renamed() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let arc = json!({ "name": "path", "stages": [{ "name": "one" }, { "name": "two", "order": 1 }] });
            world.create(Kind::Arc, scope, arc).await;
            world.persona(scope, json!({ "name": "guide", "arc": "path" })).await;
            world.persona(scope, json!({ "name": "heir", "extends": "guide" })).await;
            for persona in ["guide", "heir"] {
                let persona = input(json!({ "persona": persona, "scope": scope }));
                assert_eq!(world.library.advance_stage(&persona).await.unwrap().stage.as_str(), "two");
            }
            let renamed = rename(world, Kind::Arc, "path", "way", Some(scope)).await;
            assert_eq!(places(&renamed.followed), [format!("{scope}:guide")]);
            for persona in ["guide", "heir"] {
                assert_eq!(stage(world, persona, scope).await, "way/two", "{persona} in {scope}");
            }
        }
        // From another scope, too.
        world.persona(Scope::Global, json!({ "name": "mine", "arc": "way" })).await;
        let mine = input(json!({ "persona": "mine" }));
        assert_eq!(world.library.advance_stage(&mine).await.unwrap().stage.as_str(), "two");
        let renamed = rename(world, Kind::Arc, "way", "road", Some(Scope::Shared)).await;
        assert_eq!(places(&renamed.followed), ["shared:guide", "global:mine"]);
        assert_eq!(stage(world, "mine", Scope::Global).await, "road/two");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impossible_rename_is_refused() {
    in_each_world(async |world| {
        world.persona(Scope::Project, json!({ "name": "one" })).await;
        world.persona(Scope::Project, json!({ "name": "two" })).await;
        let (library, author) = (&world.library, &world.author);
        let taken = library.rename(author, renaming(Kind::Persona, "one", "two", None)).await;
        assert_eq!(code(taken), Code::AlreadyExists);
        let none = library.rename(author, renaming(Kind::Persona, "onne", "x", None)).await;
        assert_eq!(suggested(none), not_found("one"));
        let shared = Some(Scope::Shared);
        let elsewhere = library.rename(author, renaming(Kind::Persona, "one", "x", shared)).await;
        assert_eq!(code(elsewhere), Code::InOtherScope);
        // A builtin stays; its copy has the new name, and the answer says that there is one.
        let renamed = rename(world, Kind::Persona, "critic", "doubter", None).await;
        assert_eq!(renamed.scope, Scope::Shared);
        assert!(renamed.copied.iter().any(|piece| piece.name.as_str() == "critic"), "{renamed:?}");
        assert_eq!(view(library, json!({ "name": "critic" })).await["scope"], "builtin");
    })
    .await;
}
