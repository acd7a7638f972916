//! Only the user grants: what a program can write to the user's own file, and what not.

use app::{Author, Code, Remedy, Resolution};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, code, input, name, refused, renaming, with_files};

/// The user's own preset and personas: `builder` has the preset, `critic` and `careful` do not.
const OWN: &str = r#"
[tool_presets.mykit.categories]
work = [{ name = "*", approval = "auto" }, { name = "fetch_url", approval = "ask" }]
[tool_presets.tame.categories]
work = [{ name = "*", approval = "ask" }]

[personas.builder]
system_prompt = "You build."
tool_preset = "mykit"
guardrails = ["no_deploys"]
[personas.critic]
system_prompt = "You doubt."
[personas.careful]
system_prompt = "You take care."
tool_preset = "tame"

[guardrails.no_deploys]
severity = "high"
content = "Do not deploy."
deny_tools = ["deploy"]
"#;

fn program() -> Author {
    Author::new("agent", "mcp")
}

async fn save(world: &World, author: &Author, kind: Kind, entity: Value) -> Result<(), app::Error> {
    let save = json!({ "kind": kind, "name": entity["name"], "entity": entity, "scope": "global" });
    world.library.save_entity(author, input(save)).await.map(drop)
}

/// The attack: a client points a persona at the user's own approvals, in every way there is.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_gives_no_persona_the_users_own_approvals() {
    with_files(OWN, "", async |world| {
        let text = world.text(Scope::Global);
        for fields in [
            json!({ "name": "critic", "system_prompt": "x", "tool_preset": "mykit" }),
            json!({ "name": "critic", "system_prompt": "x", "plan_persona": { "tool_preset": "mykit" } }),
            json!({ "name": "critic", "system_prompt": "x", "extends": "builder" }),
            json!({ "name": "critic", "extends": "global:builder" }),
            json!({ "name": "mentor", "extends": "builder" }),
            json!({ "name": "stranger", "system_prompt": "x", "tool_preset": "mykit" }),
            // Its own denial goes.
            json!({ "name": "builder", "system_prompt": "You build.", "tool_preset": "mykit" }),
        ] {
            let report = refused(save(world, &program(), Kind::Persona, fields.clone()).await);
            assert_eq!(report.code, Code::NeedsConsent, "{fields}");
            assert_eq!(report.subject.name.as_deref(), fields["name"].as_str());
            assert!(matches!(&report.remedies[..], [Remedy::LeaveToUser { .. }]), "{:?}", report.remedies);
        }
        let update = json!({ "name": "critic", "tool_preset": "mykit", "scope": "global" });
        let updated = world.library.update_persona(&program(), input(update)).await;
        assert_eq!(code(updated), Code::NeedsConsent);
        let import = "[personas.guest]\nsystem_prompt = \"x\"\ntool_preset = \"mykit\"\n";
        let import = app::TomlText::named("import", import);
        let imported = world.library.import(&program(), import, Some(Scope::Global), None).await;
        assert_eq!(code(imported), Code::NeedsConsent);
        let copy = json!({ "kind": "persona", "name": "builder", "new_name": "mentor", "scope": "global", "to": "global" });
        assert_eq!(code(world.library.duplicate(&program(), input(copy)).await), Code::NeedsConsent);
        let other = renaming(Kind::Persona, "builder", "mentor", Some(Scope::Global));
        assert_eq!(code(world.library.rename(&program(), other).await), Code::NeedsConsent);
        assert_eq!(world.text(Scope::Global), text, "nothing was written");
    })
    .await;
}

/// The attack: a client changes what a name means instead of the persona.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_changes_no_preset_below_a_persona() {
    with_files(OWN, "", async |world| {
        let auto = json!([{ "name": "*", "approval": "auto" }]);
        let preset = |name: &str, tools: &Value| json!({ "name": name, "categories": { "work": tools } });
        for (name, tools) in [("new", &auto), ("tame", &auto), ("full", &auto), ("mykit", &auto)] {
            let saved = save(world, &program(), Kind::ToolPreset, preset(name, tools)).await;
            assert_eq!(code(saved), Code::NeedsConsent, "{name}");
        }
        // Without the user's own, `tame` would mean the shared one, which the user may have confirmed.
        world.create(Kind::ToolPreset, Scope::Shared, preset("tame", &auto)).await;
        let delete = json!({ "kind": "tool_preset", "name": "tame", "scope": "global", "force": true });
        let deleted = world.library.delete_entity(&program(), input(delete)).await;
        assert_eq!(code(deleted), Code::NeedsConsent);
        let other = renaming(Kind::ToolPreset, "mykit", "kit", Some(Scope::Global));
        assert_eq!(code(world.library.rename(&program(), other).await), Code::NeedsConsent);
        let delete = json!({ "kind": "guardrail", "name": "no_deploys", "scope": "global", "force": true });
        let deleted = world.library.delete_entity(&program(), input(delete)).await;
        assert_eq!(code(deleted), Code::NeedsConsent);
        let unlink = json!({ "persona": "builder", "guardrail": "no_deploys", "scope": "global" });
        let unlinked = world.library.remove_guardrail(&program(), input(unlink)).await;
        assert_eq!(code(unlinked), Code::NeedsConsent);
        // From the shared library, neither the preset nor the persona brings approvals along.
        let wild = json!({ "name": "wild", "system_prompt": "x", "tool_preset": "tame" });
        world.persona(Scope::Shared, wild).await;
        let promote =
            json!({ "kind": "persona", "name": "wild", "scope": "shared", "to": "global", "replace": true });
        let promoted = world.library.promote(&program(), input(promote)).await;
        assert_eq!(code(promoted), Code::NeedsConsent);
    })
    .await;
}

/// The attack: a client brings approvals back that the user took away, or settles a conflict for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_brings_no_approval_back() {
    with_files(OWN, "", async |world| {
        let critic = |preset: Option<&str>| {
            json!({ "name": "critic", "system_prompt": "You doubt.", "tool_preset": preset })
        };
        let user = &world.author;
        save(world, user, Kind::Persona, critic(Some("mykit"))).await.unwrap();
        save(world, user, Kind::Persona, critic(None)).await.unwrap();
        let back = json!({ "kind": "persona", "name": "critic", "scope": "global", "revision": 2 });
        assert_eq!(code(world.library.rollback(&program(), input(back.clone())).await), Code::NeedsConsent);

        // A preset of the same content in the shared library, which the user did not confirm.
        let tools = json!([{ "name": "*", "approval": "auto" }, { "name": "fetch_url", "approval": "ask" }]);
        let preset = json!({ "name": "mykit", "categories": { "work": tools } });
        world.create(Kind::ToolPreset, Scope::Shared, preset).await;
        world.create(Kind::Persona, Scope::Shared, critic(Some("mykit"))).await;
        let merge = Resolution::Merge([("tool_preset".to_owned(), Scope::Shared)].into());
        let merged =
            world.library.resolve_conflict(&program(), Kind::Persona, &name("critic"), merge, None).await;
        assert_eq!(code(merged), Code::NeedsConsent);
        assert!(world.entity(Kind::Persona, Scope::Global, "critic").await["tool_preset"].is_null());

        world.library.rollback(user, input(back)).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_may_write_all_the_rest() {
    with_files(OWN, "", async |world| {
        for fields in [
            json!({ "name": "critic", "system_prompt": "Doubt more.", "tool_preset": "tame" }),
            json!({ "name": "critic", "system_prompt": "Doubt more.", "tool_preset": "full" }),
            json!({ "name": "guest", "extends": "mentor", "tool_preset": "read_only" }),
            json!({ "name": "builder", "system_prompt": "Build more.", "tool_preset": "mykit", "guardrails": ["no_deploys"] }),
            json!({ "name": "builder", "system_prompt": "Build less.", "tool_preset": "tame" }),
        ] {
            save(world, &program(), Kind::Persona, fields).await.unwrap();
        }
        let tools = json!([{ "name": "fetch_url", "approval": "ask" }, { "name": "*", "approval": "auto", "weight": 4 },
            { "name": "deploy", "approval": "deny" }]);
        let narrower = json!({ "name": "mykit", "description": "All.", "categories": { "work": tools } });
        save(world, &program(), Kind::ToolPreset, narrower).await.unwrap();
        // A copy of a builtin approves what the builtin does.
        let copy = json!({ "kind": "tool_preset", "name": "full", "scope": "global", "entity": { "description": "Mine." } });
        world.library.amend_entity(&program(), input(copy)).await.unwrap();
    })
    .await;
}

/// The user's own commands grant, a preview of an import included.
#[tokio::test(flavor = "multi_thread")]
async fn the_user_grants() {
    with_files(OWN, "", async |world| {
        let user = &world.author;
        let critic = json!({ "name": "critic", "system_prompt": "x", "tool_preset": "mykit" });
        save(world, user, Kind::Persona, critic).await.unwrap();
        let import = "[tool_presets.more.categories]\nwork = [{ name = \"*\", approval = \"auto\" }]\n";
        let text = || app::TomlText::named("import", import);
        world.library.plan_import(text(), Some(Scope::Global)).await.unwrap();
        world.library.import(user, text(), Some(Scope::Global), None).await.unwrap();
        // A program may keep what the user granted.
        let critic = json!({ "name": "critic", "system_prompt": "y", "tool_preset": "mykit" });
        save(world, &program(), Kind::Persona, critic).await.unwrap();
    })
    .await;
}
