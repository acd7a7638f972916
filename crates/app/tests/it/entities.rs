//! One door for all kinds: get, save, delete.

use app::inputs::{DeleteEntity, GetEntity, ListLibrary, SaveEntity};
use app::{Code, Remedy};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, at_field, code, in_each_world, input, not_found, refused, stale, suggested};

/// One lawful definition of each kind, with all that it refers to before it.
fn one_of_each() -> Vec<(Kind, Value)> {
    vec![
        (Kind::Part, json!({ "part_type": "tone", "content": "Be calm.", "summary": "Calm", "tags": ["x"] })),
        (Kind::Trait, json!({ "trait_type": "social", "instruction": "Listen." })),
        (Kind::Skill, json!({ "description": "When to use it", "content": "How to." })),
        (Kind::Guardrail, json!({ "severity": "critical", "content": "Never.", "deny_tools": ["rm*"] })),
        (
            Kind::Arc,
            json!({ "summary": "A way", "stages": [
                { "name": "b", "order": 2, "condition": "later", "parts": ["sample"] },
                { "name": "a", "order": 1 },
            ] }),
        ),
        (
            Kind::ToolPreset,
            json!({ "categories": { "read": [
                { "name": "read_*", "approval": "auto", "weight": 5, "parameter_bias": { "path": "near" } },
            ] } }),
        ),
        (Kind::BiasProfile, json!({ "multipliers": { "read": 1.5, "write": 0.0 } })),
        (
            Kind::ContextPreset,
            json!({ "entries": [{ "glob": "src/**/*.rs", "view": "skeleton" }, { "path": "README.md", "view": "full" }],
                    "token_budget": 2000 }),
        ),
        (Kind::TestInput, json!({ "content": "Try this.", "expectations": ["It answers."] })),
        (
            Kind::Persona,
            json!({
                "display_name": "A sample", "system_prompt": "You are a sample.", "system_prompt_mode": "append",
                "extends": "builtin:critic", "parts_mode": "append",
                "parts": [{ "name": "sample", "order": 3, "priority": 1 }],
                "traits": ["sample"], "skills": ["sample"], "guardrails": ["sample"], "arc": "sample",
                "tool_preset": "sample", "bias_profile": "sample", "context_preset": "sample",
                "aggregation_strategy": "skeleton", "max_tool_rounds": 20, "test_inputs": ["sample"],
                "plan_persona": { "instruction": "Plan.", "tool_preset": "read_only" },
                "preferred_models": [{ "provider": "p", "model": "m", "top_p": 0.9, "max_output_tokens": 100 }],
                "remove_parts": ["critic-flaw"], "remove_traits": ["skeptical"], "remove_tags": ["builtin"],
                "remove_test_inputs": [], "tags": ["one", "two"],
            }),
        ),
    ]
}

fn save(kind: Kind, scope: Scope, entity: &Value) -> SaveEntity {
    input(json!({ "kind": kind, "name": "sample", "entity": entity, "scope": scope }))
}

async fn try_save(world: &World, value: Value) -> Result<app::outputs::Written, app::Error> {
    world.library.save_entity(&world.author, input::<SaveEntity>(value)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_saved_read_and_deleted_in_every_scope() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            for (kind, entity) in one_of_each() {
                round(world, kind, scope, &entity).await;
            }
            assert_eq!(world.view(json!({ "name": "sample" })).await["scope"], json!(scope));
        }
        for scope in [Scope::Project, Scope::Global, Scope::Shared] {
            for (kind, _) in one_of_each().into_iter().rev() {
                let delete = json!({ "kind": kind, "name": "sample", "scope": scope });
                let deleted =
                    world.library.delete_entity(&world.author, input::<DeleteEntity>(delete)).await.unwrap();
                assert!(deleted.deleted && deleted.scope == scope && deleted.kind == kind, "{deleted:?}");
                assert_eq!(world.entity(kind, scope, "sample").await, Value::Null);
            }
        }
        assert_eq!(world.text(Scope::Global).trim(), "");
    })
    .await;
}

async fn round(world: &World, kind: Kind, scope: Scope, entity: &Value) {
    let written = world.library.save_entity(&world.author, save(kind, scope, entity)).await;
    let written = written.unwrap_or_else(|error| panic!("{kind} in {scope}: {error}"));
    assert_eq!((written.kind, written.scope, written.revision, written.changed), (kind, scope, 1, true));

    let read = world.entity(kind, scope, "sample").await;
    assert_eq!(
        (&read["name"], &read["scope"], &read["revision"]),
        (&json!("sample"), &json!(scope), &json!(1))
    );
    for (field, value) in entity.as_object().unwrap() {
        if field != "stages" && *value != json!([]) {
            assert_eq!(read[field], *value, "{kind} {field}");
        }
    }
    // An entity may be sent back as it was read, and sent again.
    for same in [&read, entity] {
        let again = world.library.save_entity(&world.author, save(kind, scope, same)).await.unwrap();
        assert_eq!((again.changed, again.revision), (false, 1), "{kind} in {scope}");
    }
    let list = json!({ "kind": kind, "scope": scope, "query": "sample" });
    let page = world.library.list(kind, input::<ListLibrary>(list)).await.unwrap();
    assert_eq!(page.items.len(), 1, "{kind} in {scope}: {page:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_in_another_order_are_no_change() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            for part in ["a", "b", "c"] {
                world.part(scope, part, "goal", "Do it.").await;
            }
            let links = json!([{ "name": "c", "order": 2 }, { "name": "b", "order": 1 }, { "name": "a", "order": 2 }]);
            let persona = json!({ "name": "coder", "parts": links });
            assert!(world.persona(scope, persona.clone()).await.changed);
            assert!(!world.persona(scope, persona).await.changed, "{scope}");
            let read = world.view(json!({ "name": "coder", "scope": scope })).await;
            let names: Vec<&str> =
                read["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["b", "a", "c"]);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_save_without_a_scope_goes_where_the_name_resolves() {
    in_each_world(async |world| {
        let mine = |tag: &str| {
            json!({ "kind": "bias_profile", "name": "mine", "entity": { "multipliers": { "read": 2 }, "tags": [tag] } })
        };
        assert_eq!(try_save(world, mine("a")).await.unwrap().scope, Scope::Shared);
        world.create(Kind::BiasProfile, Scope::Project, json!({ "name": "mine" })).await;
        assert_eq!(try_save(world, mine("b")).await.unwrap().scope, Scope::Project);
        // A builtin is replaced in the default scope.
        let balanced = json!({ "kind": "bias_profile", "name": "balanced", "entity": {}, "if_revision": 0 });
        let written = try_save(world, balanced.clone()).await.unwrap();
        assert_eq!((written.scope, written.revision), (Scope::Shared, 1));
        assert_eq!(code(try_save(world, balanced).await), Code::AlreadyExists);
        let gone = json!({ "kind": "bias_profile", "name": "nothing", "entity": {}, "if_revision": 4 });
        let gone = refused(try_save(world, gone).await);
        assert_eq!((gone.code, gone.subject.revision), stale(0));
        assert_eq!(gone.remedies, [Remedy::ReadAgain, Remedy::DropIfRevision]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_may_be_written_as_in_a_file() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            for part in ["a", "b", "c"] {
                world.part(scope, part, "goal", "Do it.").await;
            }
            let parts = json!(["c", { "name": "a", "priority": 2 }, { "name": "b", "order": -1 }]);
            let entity = json!({ "parts": parts });
            world.library.save_entity(&world.author, save(Kind::Persona, scope, &entity)).await.unwrap();
            let read = world.entity(Kind::Persona, scope, "sample").await;
            let place = |name: &str| {
                let parts = read["parts"].as_array().unwrap();
                let part = parts.iter().find(|part| part["name"] == name).unwrap();
                (part["order"].as_i64().unwrap(), part["priority"].as_i64().unwrap())
            };
            assert_eq!((place("c"), place("a"), place("b")), ((0, 0), (1, 2), (-1, 0)), "{scope}");
            for same in [&entity, &read] {
                let again = world.library.save_entity(&world.author, save(Kind::Persona, scope, same)).await;
                assert!(!again.unwrap().changed, "{scope}");
            }
            let arc = json!({ "stages": [{ "name": "young" }, { "name": "old" }] });
            world.library.save_entity(&world.author, save(Kind::Arc, scope, &arc)).await.unwrap();
            let read = world.entity(Kind::Arc, scope, "sample").await;
            assert_eq!(
                (&read["stages"][0]["name"], &read["stages"][1]["order"]),
                (&json!("young"), &json!(2))
            );
            let tools = json!({ "categories": { "read": ["read_*"] } });
            world.library.save_entity(&world.author, save(Kind::ToolPreset, scope, &tools)).await.unwrap();
            let read = world.entity(Kind::ToolPreset, scope, "sample").await;
            assert_eq!(read["categories"]["read"], json!([{ "name": "read_*" }]));
        }
        let odd = json!({ "kind": "persona", "name": "x", "entity": { "parts": ["two words"] } });
        let invalid = |field: &str| (Code::InvalidValue, Some(field.to_owned()));
        let invalid_name = (Code::InvalidName, Some("parts[0].name".to_owned()));
        assert_eq!(at_field(try_save(world, odd).await), invalid_name);
        let number = json!({ "kind": "persona", "name": "x", "entity": { "parts": [7] } });
        assert_eq!(at_field(try_save(world, number).await), invalid("parts[0]"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_entity_is_refused_with_the_field() {
    in_each_world(async |world| {
        let tool = |weight: u32| json!({ "categories": { "read": [{ "name": "cat", "weight": weight }] } });
        let bias = |parameter: &str| json!({ "categories": { "read": [{ "name": "cat", "parameter_bias": { parameter: "low" } }] } });
        let entry = |entry: Value| json!({ "entries": [entry] });
        let model = |temperature: f64| json!({ "preferred_models": [{ "provider": "p", "model": "m", "temperature": temperature }] });
        for (kind, entity, code, field) in [
            ("part", json!({ "part_type": "tone", "contents": "x" }), Code::UnknownField, "contents"),
            ("bias_profile", json!({ "zzz": 1 }), Code::UnknownField, "zzz"),
            ("part", json!({ "part_type": "tonne", "content": "x" }), Code::UnknownWord, "part_type"),
            ("part", json!({ "content": "x" }), Code::MissingField, "part_type"),
            ("part", json!({ "part_type": "tone" }), Code::InvalidField, "content"),
            ("skill", json!({ "name": "other", "content": "x" }), Code::ConflictingFields, "entity.name"),
            ("tool_preset", tool(6), Code::InvalidField, "categories.read[0].weight"),
            ("tool_preset", tool(300), Code::InvalidValue, "categories.read[0].weight"),
            ("tool_preset", bias(" "), Code::InvalidField, "categories.read[0].parameter_bias"),
            ("tool_preset", bias("two\nlines"), Code::InvalidField, "categories.read[0].parameter_bias"),
            ("persona", json!({ "plan_persona": { "model": " " } }), Code::InvalidField, "plan_persona.model"),
            ("arc", json!({ "stages": [{ "name": "a", "ordr": 1 }] }), Code::UnknownField, "stages[0].ordr"),
            ("bias_profile", json!({ "multipliers": { "read": 11 } }), Code::InvalidField, "multipliers.read"),
            ("context_preset", entry(json!({ "path": "../secrets" })), Code::InvalidField, "entries[0].path"),
            ("context_preset", entry(json!({ "view": "full" })), Code::InvalidField, "entries[0]"),
            ("persona", model(3.0), Code::InvalidField, "preferred_models[0].temperature"),
        ] {
            let save = json!({ "kind": kind, "name": "bad", "entity": entity, "scope": "project" });
            let refusal = at_field(try_save(world, save).await);
            assert_eq!(refusal, (code, Some(field.to_owned())), "{kind} {entity}");
        }
        let misspelt = json!({ "kind": "part", "name": "bad", "entity": { "part_type": "tone", "contents": "x" } });
        let near = (Code::UnknownField, Some("content".to_owned()));
        assert_eq!(suggested(try_save(world, misspelt).await), near);
        assert_eq!(world.text(Scope::Project), "", "nothing was written");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_texts_clear() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let full = json!({ "name": "coder", "summary": "S", "description": "D", "tags": ["t"] });
            world.persona(scope, full).await;
            let cleared = json!({ "name": "coder", "summary": "", "description": null, "tags": [] });
            let written = world.persona(scope, cleared.clone()).await;
            assert_eq!((written.changed, written.revision), (true, 2));
            assert!(!world.persona(scope, cleared).await.changed);
            let read = world.entity(Kind::Persona, scope, "coder").await;
            assert_eq!((&read["summary"], &read["description"]), (&Value::Null, &Value::Null));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_entity_comes_with_a_remedy() {
    in_each_world(async |world| {
        let get = async |value: Value| refused(world.library.get_entity(&input::<GetEntity>(value)).await);
        let near = get(json!({ "kind": "tool_preset", "name": "red_only" })).await;
        assert_eq!((near.code, near.remedies), (Code::NotFound, vec![Remedy::DidYouMean]));
        assert_eq!(near.candidates, ["read_only"]);
        let none = get(json!({ "kind": "test_input", "name": "qqqqqq" })).await;
        let list = Remedy::ListKind { kind: Kind::TestInput, part_type: None };
        assert_eq!((none.code, none.remedies), (Code::NotFound, vec![list]));
        let elsewhere = get(json!({ "kind": "tool_preset", "name": "read_only", "scope": "project" })).await;
        let duplicate = Remedy::DuplicateInto { scope: Scope::Project };
        assert_eq!(
            (elsewhere.code, elsewhere.remedies),
            (Code::InOtherScope, vec![Remedy::LeaveOutScope, duplicate])
        );
    })
    .await;
}

/// Every way to write refuses a preset that does not exist. A reference that was broken before does not
/// block other changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_preset_must_be_there() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            for (field, near) in
                [("tool_preset", "read_only"), ("bias_profile", "balanced"), ("context_preset", "docs_only")]
            {
                let wrong = format!("{near}y");
                let mut persona = json!({ "name": "guide", field: wrong, "scope": scope });
                let created = world.library.create_persona(&world.author, input(persona.clone())).await;
                assert_eq!(suggested(created), not_found(near));
                persona.as_object_mut().unwrap().remove("scope");
                let saved = world.try_create(Kind::Persona, scope, persona).await;
                assert_eq!(suggested(saved), not_found(near));
                world.persona(scope, json!({ "name": "guide" })).await;
                let update = json!({ "name": "guide", field: wrong, "scope": scope });
                let updated = world.library.update_persona(&world.author, input(update)).await;
                assert_eq!(suggested(updated), not_found(near));
                let right = json!({ "name": "guide", field: near, "scope": scope });
                world.library.update_persona(&world.author, input(right)).await.unwrap();
                let delete = input(json!({ "name": "guide", "scope": scope }));
                world.library.delete(&world.author, Kind::Persona, delete).await.unwrap();
            }
            let plan = json!({ "name": "guide", "plan_persona": { "tool_preset": "read_onyl" } });
            assert_eq!(code(world.try_create(Kind::Persona, scope, plan).await), Code::NotFound);
        }
        // A project's preset means nothing to what is shared.
        world.create(Kind::ToolPreset, Scope::Project, json!({ "name": "ours" })).await;
        let shared =
            world.try_create(Kind::Persona, Scope::Shared, json!({ "name": "a", "tool_preset": "ours" }));
        assert_eq!(code(shared.await), Code::OutOfReach);
        world.persona(Scope::Project, json!({ "name": "a", "tool_preset": "ours" })).await;
        world.edit(Scope::Project, "tool_preset = \"ours\"", "tool_preset = \"gone\"");
        let fresh = world.reopened(|_| ()).await;
        let update = json!({ "name": "a", "summary": "Still mine." });
        fresh.update_persona(&world.author, input(update)).await.unwrap();
        fresh.close().await;
    })
    .await;
}
