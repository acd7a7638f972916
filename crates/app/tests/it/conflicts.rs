//! Names that several scopes define.

use std::collections::BTreeMap;

use app::{Code, Remedy, Resolution};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, code, in_each_world, name, not_found, refused, suggested};

async fn settle(
    world: &World,
    kind: Kind,
    of: &str,
    how: Resolution,
) -> Result<app::outputs::Resolved, app::Error> {
    world.library.resolve_conflict(&world.author, kind, &name(of), how, None).await
}

fn take(fields: &[(&str, Scope)]) -> Resolution {
    Resolution::Merge(fields.iter().map(|(field, scope)| ((*field).to_owned(), *scope)).collect())
}

async fn three_coders(world: &World) {
    let (shared, global, project) = (Scope::Shared, Scope::Global, Scope::Project);
    world
        .persona(
            shared,
            json!({ "name": "coder", "summary": "Team", "tags": ["a"], "system_prompt": "Code." }),
        )
        .await;
    world
        .persona(
            global,
            json!({ "name": "coder", "summary": "Mine", "tags": ["a"], "system_prompt": "Code." }),
        )
        .await;
    world
        .persona(
            project,
            json!({ "name": "coder", "summary": "Ours", "detail": "Long", "system_prompt": "Code." }),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_in_several_scopes_are_listed_with_their_differences() {
    in_each_world(async |world| {
        three_coders(world).await;
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", "Be calm.").await;
            world.part(scope, &format!("only-{scope}"), "tone", "Be alone.").await;
        }
        world.part(Scope::Project, "plain-tone", "tone", "A builtin is there to be replaced.").await;

        let over = world.library.overrides(None, &name("plain-tone")).await.unwrap();
        let over: Vec<(Scope, Kind)> = over.iter().map(|place| (place.scope, place.kind)).collect();
        assert_eq!(over, [(Scope::Project, Kind::Part)]);
        assert_eq!(world.library.overrides(None, &name("calm")).await.unwrap(), []);
        assert_eq!(world.library.overrides(Some(Kind::Skill), &name("plain-tone")).await.unwrap(), []);
        let all = world.library.conflicts(None, None).await.unwrap();
        let listed: Vec<(Kind, &str, bool)> =
            all.iter().map(|found| (found.kind, found.name.as_str(), found.identical)).collect();
        assert_eq!(listed, [(Kind::Persona, "coder", false), (Kind::Part, "calm", true)]);
        let coder = &all[0];
        assert_eq!(
            (coder.in_force, coder.scopes.as_slice()),
            (Scope::Project, &[Scope::Project, Scope::Global, Scope::Shared][..])
        );
        let fields: BTreeMap<&str, Value> = coder
            .fields
            .iter()
            .map(|field| (field.field.as_str(), serde_json::to_value(&field.values).unwrap()))
            .collect();
        assert_eq!(
            serde_json::to_value(fields).unwrap(),
            json!({
                "detail": { "project": "Long" },
                "summary": { "shared": "Team", "global": "Mine", "project": "Ours" },
                "tags": { "shared": ["a"], "global": ["a"] },
            })
        );
        let calm = name("calm");
        assert_eq!(world.library.conflicts(Some(Kind::Part), None).await.unwrap().len(), 1);
        assert_eq!(world.library.conflicts(None, Some(&calm)).await.unwrap().len(), 1);
        assert_eq!(world.library.conflicts(Some(Kind::Trait), Some(&calm)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_scope_is_used_and_the_others_go() {
    in_each_world(async |world| {
        three_coders(world).await;
        let resolved = settle(world, Kind::Persona, "coder", Resolution::Use(Scope::Global)).await.unwrap();
        assert_eq!((resolved.kept, resolved.written), (Scope::Global, None));
        assert_eq!(resolved.deleted, [Scope::Project, Scope::Shared]);
        assert_eq!(world.library.conflicts(None, None).await.unwrap(), []);
        assert_eq!(world.view(json!({ "name": "coder" })).await["summary"], "Mine");
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "coder").await, Value::Null);

        let again = refused(settle(world, Kind::Persona, "coder", Resolution::Use(Scope::Global)).await);
        assert_eq!((again.code, again.subject.scope), (Code::NoConflict, Some(Scope::Global)));
        let unknown = settle(world, Kind::Persona, "codr", Resolution::Use(Scope::Global)).await;
        assert_eq!(suggested(unknown), not_found("coder"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_are_taken_from_the_scopes_that_are_named() {
    in_each_world(async |world| {
        three_coders(world).await;
        let some = take(&[("summary", Scope::Global)]);
        let open = refused(settle(world, Kind::Persona, "coder", some).await);
        assert_eq!(open.code, Code::UndecidedFields);
        assert_eq!(open.candidates, ["detail", "tags"]);
        let wrong = take(&[("sumary", Scope::Global)]);
        assert_eq!(
            suggested(settle(world, Kind::Persona, "coder", wrong).await),
            (Code::FieldNotInConflict, Some("summary".to_owned()))
        );
        let wrong = take(&[("summary", Scope::Builtin), ("detail", Scope::Shared), ("tags", Scope::Shared)]);
        for how in [wrong, Resolution::Use(Scope::Builtin)] {
            let refusal = refused(settle(world, Kind::Persona, "coder", how).await);
            assert_eq!((refusal.code, refusal.subject.scope), (Code::NotDefinedThere, Some(Scope::Builtin)));
            assert_eq!(refusal.candidates, ["shared", "global", "project"]);
        }
        assert_eq!(world.library.conflicts(None, None).await.unwrap().len(), 1, "nothing happened yet");

        let all = take(&[("summary", Scope::Shared), ("detail", Scope::Global), ("tags", Scope::Shared)]);
        let resolved = settle(world, Kind::Persona, "coder", all).await.unwrap();
        assert_eq!(
            (resolved.kept, resolved.deleted.as_slice()),
            (Scope::Project, &[Scope::Global, Scope::Shared][..])
        );
        assert!(resolved.written.is_some_and(|written| written.changed && written.scope == Scope::Project));
        let coder = world.entity(Kind::Persona, Scope::Project, "coder").await;
        assert_eq!(
            (&coder["summary"], &coder["tags"], &coder["detail"]),
            (&json!("Team"), &json!(["a"]), &Value::Null)
        );
        assert_eq!(coder["system_prompt"], "Code.");
        let history = world.library.history(Kind::Persona, &name("coder"), None, None).await.unwrap();
        assert_eq!(history.items[0].message.as_deref(), Some("settles a conflict between scopes"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_others_need_is_not_deleted() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", &format!("Be calm in {scope}.")).await;
        }
        world.persona(Scope::Shared, json!({ "name": "team", "parts": [{ "name": "calm" }] })).await;
        world.persona(Scope::Global, json!({ "name": "mine", "parts": [{ "name": "calm" }] })).await;
        world.persona(Scope::Project, json!({ "name": "ours", "parts": [{ "name": "calm" }] })).await;
        for how in [Resolution::Use(Scope::Project), take(&[("content", Scope::Project)])] {
            let refusal = refused(settle(world, Kind::Part, "calm", how).await);
            assert_eq!((refusal.code, refusal.subject.scope), (Code::InUse, Some(Scope::Shared)));
            assert_eq!(refusal.subject.users, ["shared:team", "global:mine"]);
            assert_eq!(refusal.remedies[0], Remedy::KeepScope { scope: Scope::Shared });
        }
        assert_eq!(world.library.conflicts(None, None).await.unwrap().len(), 1, "nothing happened");
        let resolved = settle(world, Kind::Part, "calm", Resolution::Use(Scope::Shared)).await.unwrap();
        assert_eq!(resolved.deleted, [Scope::Project]);
        let shown = world.view(json!({ "name": "ours", "detail": true })).await;
        assert_eq!(shown["parts"][0]["content"], "Be calm in shared.");
    })
    .await;
}

/// The documented way to change a weaker definition: whichever stays, those that build on each other go.
#[tokio::test(flavor = "multi_thread")]
async fn namesakes_that_build_on_each_other_go_together() {
    in_each_world(async |world| {
        world.persona(Scope::Shared, json!({ "name": "coder", "summary": "Team" })).await;
        world.persona(Scope::Global, json!({ "name": "coder", "extends": "shared:coder" })).await;
        world.persona(Scope::Project, json!({ "name": "coder", "extends": "global:coder" })).await;
        let resolved = settle(world, Kind::Persona, "coder", Resolution::Use(Scope::Shared)).await.unwrap();
        assert_eq!((resolved.kept, resolved.deleted), (Scope::Shared, vec![Scope::Project, Scope::Global]));
        assert_eq!(coders(world).await, [Scope::Shared]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namesake_that_is_built_on_is_not_deleted() {
    in_each_world(async |world| {
        world.persona(Scope::Global, json!({ "name": "coder", "system_prompt": "Code." })).await;
        world
            .persona(Scope::Project, json!({ "name": "coder", "extends": "global:coder", "tags": ["here"] }))
            .await;
        let refusal = refused(settle(world, Kind::Persona, "coder", Resolution::Use(Scope::Project)).await);
        assert_eq!((refusal.code, refusal.subject.scope), (Code::InUse, Some(Scope::Global)));
        assert_eq!(refusal.subject.users, ["project:coder"]);
        // Merged without a base, it needs no other definition.
        let merged =
            take(&[("extends", Scope::Global), ("system_prompt", Scope::Global), ("tags", Scope::Project)]);
        let resolved = settle(world, Kind::Persona, "coder", merged).await.unwrap();
        assert_eq!(resolved.deleted, [Scope::Global]);
        let shown = world.view(json!({ "name": "coder", "detail": true })).await;
        assert_eq!((&shown["system_prompt"], &shown["tags"]), (&json!("Code."), &json!(["here"])));
    })
    .await;
}

/// Which scopes have the coder, weakest first.
async fn coders(world: &World) -> Vec<Scope> {
    let mut scopes = Vec::new();
    for scope in [Scope::Shared, Scope::Global, Scope::Project] {
        if !world.entity(Kind::Persona, scope, "coder").await.is_null() {
            scopes.push(scope);
        }
    }
    scopes
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_where_one_of_the_scopes_cannot_be_written() {
    in_each_world(async |world| {
        three_coders(world).await;
        let merge =
            || take(&[("summary", Scope::Shared), ("detail", Scope::Global), ("tags", Scope::Shared)]);
        let reader =
            world.reopened(|options| options.files.as_mut().expect("it has files").writable = false).await;
        for how in [Resolution::Use(Scope::Global), Resolution::Use(Scope::Project), merge()] {
            let settled =
                reader.resolve_conflict(&world.author, Kind::Persona, &name("coder"), how, None).await;
            assert_eq!(refused(settled).code, Code::ReadOnlyScope);
        }
        reader.close().await;
        assert_eq!(coders(world).await, [Scope::Shared, Scope::Global, Scope::Project]);

        // Neither is the merged definition written before all others can go.
        let before = world.text(Scope::Project);
        world.edit(Scope::Global, "[personas.coder]", "[personas.coder");
        assert_eq!(code(settle(world, Kind::Persona, "coder", merge()).await), Code::FileHasErrors);
        assert_eq!(coders(world).await, [Scope::Shared, Scope::Global, Scope::Project]);
        assert_eq!(world.text(Scope::Project), before);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_is_not_taken_where_its_names_mean_something_else() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm, all.").await;
        world.part(Scope::Project, "calm", "tone", "Be calm here.").await;
        world.create(Kind::ToolPreset, Scope::Shared, json!({ "name": "tools" })).await;
        let mut shared = json!({ "name": "coder", "description": "Codes.", "parts": [{ "name": "calm" }] });
        shared["plan_persona"] = json!({ "tool_preset": "tools" });
        world.persona(Scope::Shared, shared).await;
        world.persona(Scope::Project, json!({ "name": "coder", "description": "Codes." })).await;
        let how = |parts| take(&[("parts", parts), ("plan_persona", Scope::Shared)]);
        let merged = refused(settle(world, Kind::Persona, "coder", how(Scope::Shared)).await);
        assert_eq!((merged.code, merged.subject.field.as_deref()), (Code::NameClash, Some("parts")));
        assert_eq!((merged.subject.kind, merged.subject.name.as_deref()), (Some(Kind::Part), Some("calm")));
        assert_eq!(coders(world).await, [Scope::Shared, Scope::Project]);
        // A field with the same meaning in both scopes is taken.
        world.part(Scope::Project, "calm", "tone", "Be calm, all.").await;
        settle(world, Kind::Persona, "coder", how(Scope::Shared)).await.unwrap();
        let coder = world.entity(Kind::Persona, Scope::Project, "coder").await;
        assert_eq!(
            (&coder["parts"][0]["name"], &coder["plan_persona"]["tool_preset"]),
            (&json!("calm"), &json!("tools"))
        );
    })
    .await;
}
