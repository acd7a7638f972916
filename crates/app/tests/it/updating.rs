//! Changing some fields of an entity: which ones stay, which are cleared, and updates that change nothing.

use app::Code;
use persona::{CharacterArc, Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, at_field, in_each_world, input, with_files};

async fn try_update(world: &World, scope: Scope, mut fields: Value) -> app::Result<app::outputs::Written> {
    fields["name"] = "coder".into();
    fields["scope"] = json!(scope);
    world.library.update_persona(&world.author, input(fields)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_to_plan_is_changed_field_by_field() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let whole = json!({ "instruction": "Think.", "model": "small", "tool_preset": "read_only" });
            let create =
                json!({ "name": "coder", "summary": "Codes.", "plan_persona": whole, "scope": scope });
            world.library.create_persona(&world.author, input(create)).await.unwrap();
            for (given, left) in [
                (
                    json!({ "model": "big", "instruction": null }),
                    json!({ "instruction": "Think.", "model": "big", "tool_preset": "read_only" }),
                ),
                (json!({ "instruction": "" }), json!({ "model": "big", "tool_preset": "read_only" })),
                (json!({ "tool_preset": "" }), json!({ "model": "big" })),
                (
                    json!({ "instruction": "Think twice." }),
                    json!({ "instruction": "Think twice.", "model": "big" }),
                ),
                (json!({}), Value::Null),
                (json!({ "model": "small" }), json!({ "model": "small" })),
                (json!({ "model": "" }), Value::Null),
            ] {
                assert!(try_update(world, scope, json!({ "plan_persona": given })).await.unwrap().changed);
                let coder = world.entity(Kind::Persona, scope, "coder").await;
                assert_eq!(coder["plan_persona"], left, "{given} in {scope}");
            }
            // Agents fill in with null what they leave alone.
            try_update(world, scope, json!({ "plan_persona": { "model": "small" } })).await.unwrap();
            let nulls = json!({ "instruction": null, "model": null, "tool_preset": null });
            assert!(!try_update(world, scope, json!({ "plan_persona": nulls })).await.unwrap().changed);
            let blank = try_update(world, scope, json!({ "plan_persona": { "model": " " } })).await;
            assert_eq!(at_field(blank), (Code::InvalidField, Some("plan_persona.model".to_owned())));
            let misnamed =
                try_update(world, scope, json!({ "plan_persona": { "tool_preset": "a b" } })).await;
            let field = Some("plan_persona.tool_preset".to_owned());
            assert_eq!(at_field(misnamed), (Code::InvalidName, field));
        }
    })
    .await;
}

/// A file may list links and stages in another order than they count in.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_changes_nothing_writes_nothing() {
    let project = "[personas.coder]\nsummary = \"S\"\n\
                   parts = [{ name = \"two\", order = 2 }, { name = \"one\", order = 1 }]\n\
                   [parts.one]\npart_type = \"goal\"\ncontent = \"1\"\n\
                   [parts.two]\npart_type = \"goal\"\ncontent = \"2\"\n\
                   [arcs.path]\nstages = [{ name = \"late\", order = 2 }, { name = \"early\", order = 1 }]\n";
    with_files("", project, async |world| {
        let (library, author) = (&world.library, &world.author);
        let link = json!({ "persona": "coder", "part": "two", "part_order": 2 });
        let stage = json!({ "arc": "path", "name": "early", "stage_order": 1 });
        for written in [
            try_update(world, Scope::Project, json!({ "summary": "S" })).await,
            library.add_part(author, input(link)).await,
            library.add_stage(author, input(stage)).await,
        ] {
            let written = written.unwrap();
            assert_eq!((written.changed, written.revision), (false, 1), "{written:?}");
        }
        assert_eq!(world.text(Scope::Project), project);
        // A builtin is not copied for nothing either.
        let same =
            json!({ "name": "critic", "summary": world.view(json!({ "name": "critic" })).await["summary"] });
        let written = library.update_persona(author, input(same)).await.unwrap();
        assert_eq!((written.changed, written.scope, written.revision), (false, Scope::Builtin, 0));
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "critic").await, Value::Null);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changing_a_builtin_makes_a_copy() {
    in_each_world(async |world| {
        let update = json!({ "name": "critic", "summary": "Mine." });
        let written = world.library.update_persona(&world.author, input(update)).await.unwrap();
        assert_eq!(written.scope, Scope::Shared);
        let critic = world.entity(Kind::Persona, Scope::Shared, "critic").await;
        assert_eq!(critic["tags"], json!(["discussion", "critique"]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_of_a_new_arc_have_the_order_of_the_list() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let stages = json!([{ "name": "young" }, { "name": "grown", "order": 9 }, { "name": "able", "condition": "" }]);
            let arc = json!({ "name": "path", "stages": stages, "scope": scope });
            world.library.create::<CharacterArc>(&world.author, input(arc)).await.unwrap();
            let read = world.entity(Kind::Arc, scope, "path").await;
            let mut stages: Vec<(i64, &str)> = read["stages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|stage| (stage["order"].as_i64().unwrap(), stage["name"].as_str().unwrap()))
                .collect();
            stages.sort_unstable();
            assert_eq!(stages, [(1, "young"), (3, "able"), (9, "grown")], "{scope}");
        }
    })
    .await;
}
