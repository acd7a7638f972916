//! Bases through the library: what is refused when it is written, what is explained, what is flat.

use app::inputs::List;
use app::outputs::ListItem;
use app::{Code, Remedy, Report};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, at_field, in_each_world, input, not_found, refused, suggested, with_files};

async fn extends(world: &World, scope: Scope, persona: &str, base: &str) -> Result<(), app::Error> {
    let update = json!({ "name": persona, "scope": scope, "extends": base });
    world.library.update_persona(&world.author, input(update)).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_must_be_there_and_must_not_lead_back() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            for persona in ["base", "middle", "top"] {
                world.persona(scope, json!({ "name": persona, "summary": persona })).await;
            }
            extends(world, scope, "middle", "base").await.unwrap();
            extends(world, scope, "top", "middle").await.unwrap();
            let near = extends(world, scope, "top", "bsae").await;
            assert_eq!(suggested(near), (Code::BaseNotFound, Some("base".to_owned())));
            let circle = refused(extends(world, scope, "base", "top").await);
            assert_eq!((circle.code, circle.subject.name.as_deref()), (Code::BaseCycle, Some("base")));
            assert_eq!(circle.remedies[0], Remedy::RemoveExtends);
            let none = refused(extends(world, scope, "base", "nobody-like-this").await);
            assert_eq!((none.code, none.remedies), (Code::BaseNotFound, vec![list_personas()]));
            let blank = extends(world, scope, "top", " base").await;
            assert_eq!(at_field(blank), (Code::InvalidName, Some("extends".to_owned())));
            assert_eq!(world.view(json!({ "name": "top", "scope": scope })).await["summary"], "top");
        }
        let stronger = refused(extends(world, Scope::Shared, "base", "project:top").await);
        let promote = Remedy::PromoteTo { scope: Scope::Shared };
        assert_eq!((stronger.code, stronger.remedies), (Code::OutOfReach, vec![promote]));
        let misspelt = extends(world, Scope::Shared, "base", "globl:top").await;
        assert_eq!(suggested(misspelt), (Code::UnknownWord, Some("global".to_owned())));
    })
    .await;
}

fn list_personas() -> Remedy {
    Remedy::ListKind { kind: Kind::Persona, part_type: None }
}

fn remove_or_extend(base: &str) -> Vec<Remedy> {
    vec![Remedy::RemoveExtends, Remedy::OtherBase { base: base.to_owned() }]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_does_not_extend_itself_but_its_namesake() {
    in_each_world(async |world| {
        world.persona(Scope::Global, json!({ "name": "coder", "system_prompt": "You code." })).await;
        let same = json!({ "name": "coder", "extends": "coder" });
        let circle = refused(world.try_create(Kind::Persona, Scope::Project, same).await);
        assert_eq!((circle.code, circle.remedies), (Code::BaseCycle, remove_or_extend("global:coder")));
        world
            .persona(Scope::Project, json!({ "name": "coder", "extends": "global:coder", "tags": ["ours"] }))
            .await;
        let shown = world.view(json!({ "name": "coder", "detail": true })).await;
        assert_eq!((&shown["scope"], &shown["system_prompt"]), (&json!("project"), &json!("You code.")));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_that_is_suggested_is_there_and_may_be_extended() {
    let project = "[personas.mentor]\nextends = \"mentor\"\n[personas.alone]\nextends = \"global:alone\"\n\
                   [personas.critic]\nextends = \"global:critic\"\n[personas.stronger]\n";
    with_files("", project, async |world| {
        let load = async |persona: &str| {
            refused(world.library.get_persona(&input(json!({ "name": persona }))).await)
        };
        let circle = load("mentor").await;
        assert_eq!((circle.code, circle.remedies), (Code::BaseCycle, remove_or_extend("builtin:mentor")));
        let alone = load("alone").await;
        assert_eq!((alone.code, alone.remedies), (Code::BaseMissing, vec![list_personas()]));
        let critic = load("critic").await;
        assert_eq!((critic.code, critic.candidates), (Code::BaseMissing, vec!["builtin:critic".to_owned()]));

        let create =
            async |persona: Value| refused(world.try_create(Kind::Persona, Scope::Shared, persona).await);
        let circle = create(json!({ "name": "mentor", "extends": "mentor" })).await;
        assert_eq!((circle.code, circle.remedies), (Code::BaseCycle, remove_or_extend("builtin:mentor")));
        let circle = create(json!({ "name": "alone", "extends": "alone" })).await;
        assert_eq!((circle.code, circle.remedies), (Code::BaseCycle, vec![Remedy::RemoveExtends]));
        // The persona that is being written counts; those of stronger scopes do not.
        let missing = create(json!({ "name": "critic", "extends": "shared:critik" })).await;
        assert_eq!(
            (missing.code, missing.candidates),
            (Code::BaseNotFound, vec!["builtin:critic".to_owned()])
        );
        let missing = create(json!({ "name": "weak", "extends": "stronge" })).await;
        assert_eq!((missing.code, missing.remedies), (Code::BaseNotFound, vec![list_personas()]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_personas_are_deep_enough() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": "p1", "summary": "The first" })).await;
            for at in 2..=16 {
                let persona = json!({ "name": format!("p{at}"), "extends": format!("p{}", at - 1) });
                world.persona(scope, persona).await;
            }
            assert_eq!(world.view(json!({ "name": "p16", "scope": scope })).await["summary"], "The first");
            let deeper = json!({ "name": "p17", "extends": "p16" });
            let refusal = refused(world.try_create(Kind::Persona, scope, deeper).await);
            assert_eq!((refusal.code, refusal.subject.name.as_deref()), (Code::TooManyBases, Some("p17")));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_base_in_use_is_not_deleted_unless_forced() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": "base" })).await;
            world.persona(scope, json!({ "name": "top", "extends": "base" })).await;
            let delete = json!({ "name": "base", "scope": scope });
            let used = refused(world.library.delete(&world.author, Kind::Persona, input(delete)).await);
            assert_eq!(used.code, Code::InUse);
            assert_eq!(used.subject.users, ["persona top"]);
            let delete = json!({ "name": "base", "scope": scope, "force": true });
            let deleted = world.library.delete(&world.author, Kind::Persona, input(delete)).await.unwrap();
            assert_eq!(deleted.unlinked.len(), 1);
            assert_eq!(world.entity(Kind::Persona, scope, "top").await["extends"], Value::Null);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_a_file_with_a_broken_chain_reports_it() {
    let project = "[personas.base]\n[personas.lost]\nextends = \"bse\"\n[personas.far]\nextends = \"qqqqqqq\"\n[personas.round]\nextends = \"round\"\n";
    with_files("", project, async |world| {
        let load = async |persona: &str| -> Report {
            let get = input(json!({ "name": persona }));
            let plain = refused(world.library.get_persona(&get).await);
            let explained = refused(world.library.explain(&input(json!({ "name": persona }))).await);
            assert_eq!(plain, explained);
            plain
        };
        let lost = load("lost").await;
        assert_eq!((lost.code, lost.candidates), (Code::BaseMissing, vec!["base".to_owned()]));
        let far = load("far").await;
        assert_eq!((far.code, far.remedies), (Code::BaseMissing, vec![list_personas()]));
        let round = load("round").await;
        assert_eq!((round.code, round.remedies), (Code::BaseCycle, vec![Remedy::RemoveExtends]));
    })
    .await;
}

const GLOBAL: &str = r#"
[personas.coder]
extends = "shared:base"
system_prompt = "You code in small steps."
system_prompt_mode = "append"
parts = ["calm"]
tags = ["mine"]

[parts.calm]
part_type = "tone"
content = "Be calm."
"#;

const PROJECT: &str = r#"
[personas.coder]
extends = "global:coder"
description = "Codes here"
parts = ["ours"]
remove_traits = ["curious"]

[parts.ours]
part_type = "context"
content = "This is a compiler."
"#;

async fn with_a_base(world: &World) {
    let base = json!({ "name": "base", "system_prompt": "You are careful.", "traits": ["curious", "patient"], "tags": ["team"] });
    world.persona(Scope::Shared, base).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_and_part_says_where_it_came_from() {
    with_files(GLOBAL, PROJECT, async |world| {
        with_a_base(world).await;
        let explained = world.library.explain(&input(json!({ "name": "coder" }))).await.unwrap();
        let layers: Vec<String> =
            explained.layers.iter().map(|layer| format!("{}:{}", layer.scope, layer.name)).collect();
        assert_eq!(layers, ["shared:base", "global:coder", "project:coder"]);
        let prompt = explained.fields.iter().find(|field| field.field == "system_prompt").unwrap();
        assert_eq!(
            (prompt.from.as_str(), prompt.appends_to.as_slice()),
            ("global:coder", &["shared:base".to_owned()][..])
        );
        let parts: Vec<(&str, &str, Option<Scope>)> = explained
            .parts
            .iter()
            .map(|part| (part.name.as_str(), part.from.as_str(), part.piece_scope))
            .collect();
        assert_eq!(
            parts,
            [("calm", "global:coder", Some(Scope::Global)), ("ours", "project:coder", Some(Scope::Project))]
        );
        let removed: Vec<(&str, &str)> =
            explained.removed.iter().map(|gone| (gone.name.as_str(), gone.by.as_str())).collect();
        assert_eq!(removed, [("curious", "project:coder")]);
        let patient = explained.items.iter().find(|item| item.name == "patient").unwrap();
        assert_eq!((patient.from.as_str(), patient.piece_scope), ("shared:base", Some(Scope::Shared)));

        let weaker =
            world.library.explain(&input(json!({ "name": "coder", "scope": "global" }))).await.unwrap();
        assert_eq!((weaker.scope, weaker.layers.len(), weaker.parts.len()), (Scope::Global, 2, 1));
        let unknown = world.library.explain(&input(json!({ "name": "coderr" }))).await;
        assert_eq!(suggested(unknown), not_found("coder"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flat_persona_says_all_that_it_inherits() {
    with_files(GLOBAL, PROJECT, async |world| {
        with_a_base(world).await;
        let flat = world.library.flat(&input(json!({ "name": "coder" }))).await.unwrap();
        assert_eq!(flat.extends, None);
        assert_eq!(flat.system_prompt.as_deref(), Some("You are careful.\n\nYou code in small steps."));
        assert_eq!(flat.tags, ["team", "mine"]);
        let parts: Vec<&str> = flat.parts.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(parts, ["calm", "ours"]);
        // Written in place of the layers, it makes the same prompt.
        let prompt = json!({ "name": "coder", "detail": true });
        let layered = world.library.prompt(&input(prompt.clone())).await.unwrap();
        world.persona(Scope::Project, serde_json::to_value(&flat).unwrap()).await;
        assert_eq!(world.library.prompt(&input(prompt)).await.unwrap(), layered);
    })
    .await;
}

/// Each listed persona as `name | summary | description`, without the builtins.
fn lines(items: &[ListItem]) -> Vec<String> {
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    items
        .iter()
        .filter(|item| item.scope != Scope::Builtin)
        .map(|item| format!("{} | {} | {}", item.name, shown(&item.summary), shown(&item.description)))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_show_inherited_fields() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            for persona in [
                json!({ "name": "a-base", "summary": "b", "description": "d" }),
                json!({ "name": "b-kid", "extends": "a-base", "tags": ["kin"] }),
                json!({ "name": "c-grandkid", "extends": "b-kid", "description": "own" }),
                json!({ "name": "d-speaker", "extends": "a-base", "system_prompt": "I speak. Much." }),
                json!({ "name": "e-text", "system_prompt": "I am text. Only." }),
                json!({ "name": "f-kid", "extends": "e-text" }),
                json!({ "name": "g-own", "extends": "a-base", "summary": "s", "description": "t" }),
            ] {
                world.persona(scope, persona).await;
            }
            let expected = [
                "a-base | b | d",
                "b-kid | b | d",
                "c-grandkid | b | own",
                "d-speaker | b | d",
                "e-text | I am text. Only. | -",
                "f-kid | I am text. Only. | -",
                "g-own | s | t",
            ];
            let page =
                world.library.list(Kind::Persona, input::<List>(json!({ "scope": scope }))).await.unwrap();
            assert_eq!(lines(&page.items), expected, "{scope}");
            let page = world.library.list(Kind::Persona, input::<List>(json!({}))).await.unwrap();
            assert_eq!(lines(&page.items), expected, "{scope}");
            let mut recent = lines(&world.library.recent_personas(50).await.unwrap());
            recent.sort();
            assert_eq!(recent, expected, "{scope}");
            let search = input(json!({ "query": "b-kid", "scope": scope }));
            let found = lines(&world.library.search(search).await.unwrap().items);
            assert!(found.contains(&"b-kid | b | d".to_owned()), "{found:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_that_breaks_off_does_not_break_a_list() {
    let project = "[personas.kid]\nextends = 'gone'\n[personas.one]\nextends = 'two'\n[personas.two]\nextends = 'one'\n[personas.up]\nextends = 'kid'\n";
    with_files("", project, async |world| {
        let list = input::<List>(json!({ "scope": "project" }));
        let page = world.library.list(Kind::Persona, list).await.unwrap();
        assert_eq!(lines(&page.items), ["kid | - | -", "one | - | -", "two | - | -", "up | - | -"]);
    })
    .await;
}
