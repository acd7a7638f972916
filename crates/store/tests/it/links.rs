//! The links of a persona: stored in order, replaced as a whole, deleted with the persona.

use persona::{AsReport as _, Code};
use persona::{
    BiasProfile, CharacterArc, ContextPreset, Guardrail, Kind, Part, Persona, Skill, TestInput, ToolPreset,
    Trait,
};
use store::{Action, Error, Keep};
use testkit::on_each_engine;

use crate::samples::{
    arc, begin, bias_profile, change, context_preset, extending, full_persona, guardrail, held, keep,
    keep_pieces, link, linking, name, names, open, persona, remove, skill, stage, test_input, tone,
    tool_preset, trait_,
};

const LINK_TABLES: [&str; 6] = [
    "agent_persona_parts",
    "agent_persona_traits",
    "agent_persona_skills",
    "agent_persona_guardrails",
    "agent_persona_test_inputs",
    "persona_arc",
];

#[tokio::test(flavor = "multi_thread")]
async fn links_keep_their_order() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for of in ["c", "a", "b", "d"] {
            keep(&store, &tone(of)).await;
            keep(&store, &trait_(of)).await;
            keep(&store, &skill(of)).await;
            keep(&store, &guardrail(of)).await;
            keep(&store, &test_input(of)).await;
        }
        let mut ordered = persona("ordered");
        // Parts are read back by order, then name.
        ordered.parts = vec![link("d", 9, 1), link("b", 0, 2), link("c", -3, 3), link("a", 0, 4)];
        ordered.traits = names(&["d", "a", "c", "b"]);
        ordered.skills = names(&["b", "a"]);
        ordered.guardrails = names(&["c", "d", "a"]);
        ordered.test_inputs = names(&["d", "b", "c"]);
        keep(&store, &ordered).await;
        let read = store.get::<Persona>(&name("ordered")).await.unwrap().unwrap().entity;
        assert_eq!(read.parts, [link("c", -3, 3), link("a", 0, 4), link("b", 0, 2), link("d", 9, 1)]);
        assert_eq!(read.traits, ordered.traits);
        assert_eq!(read.skills, ordered.skills);
        assert_eq!(read.guardrails, ordered.guardrails);
        assert_eq!(read.test_inputs, ordered.test_inputs);

        let new = change::<Persona>(&store, "ordered", |persona| {
            persona.parts = vec![link("a", 1, 0), link("d", 2, 0)];
            persona.traits = names(&["b", "d"]);
            persona.skills = Vec::new();
            persona.guardrails.reverse();
            persona.test_inputs = names(&["c", "d"]);
        })
        .await;
        assert_eq!(store.get::<Persona>(&name("ordered")).await.unwrap().unwrap(), new);
        // Renaming a piece keeps its links.
        change::<Trait>(&store, "b", |entity| entity.name = name("bb")).await;
        let read = store.get::<Persona>(&name("ordered")).await.unwrap().unwrap().entity;
        assert_eq!(read.traits, names(&["bb", "d"]));
        change::<TestInput>(&store, "d", |input| input.name = name("dd")).await;
        let read = store.get::<Persona>(&name("ordered")).await.unwrap().unwrap().entity;
        assert_eq!(read.test_inputs, names(&["c", "dd"]));
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_go_with_the_persona() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        keep(&store, &full_persona("linked")).await;
        for table in LINK_TABLES {
            assert_ne!(database.texts(&count(table)).await, ["0"], "{table}");
        }
        remove::<Persona>(&store, "linked").await;
        for table in LINK_TABLES {
            assert_eq!(database.texts(&count(table)).await, ["0"], "{table}");
        }
        assert!(store.get::<Part>(&name("warm")).await.unwrap().is_some(), "the pieces stay");
        store.close().await;
    })
    .await;
}

fn count(table: &str) -> String {
    format!("SELECT CAST(count(*) AS text) FROM {table}")
}

async fn users<T: Keep + persona::Entity>(store: &store::Store, of: &str) -> Vec<(Kind, String)> {
    let mut write = begin(store).await;
    let held = held::<T>(&mut write, of).await;
    let users = write.users(&held).await.unwrap();
    users.into_iter().map(|(kind, name)| (kind, name.to_string())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_piece_knows_its_users() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        keep(&store, &arc("Another", vec![stage("x", 1, &["warm"]), stage("y", 2, &["warm", "cold"])])).await;
        for of in ["b", "a", "B"] {
            keep(&store, &full_persona(of)).await;
        }
        keep(&store, &linking("only-warm", &["warm"])).await;
        let personas = |of: &[&str]| -> Vec<(Kind, String)> {
            of.iter().map(|name| (Kind::Persona, (*name).to_owned())).collect()
        };
        let with_arcs = |of: &[&str], arcs: &[&str]| {
            let arcs = arcs.iter().map(|name| (Kind::Arc, (*name).to_owned()));
            personas(of).into_iter().chain(arcs).collect::<Vec<_>>()
        };
        assert_eq!(
            users::<Part>(&store, "warm").await,
            with_arcs(&["B", "a", "b", "only-warm"], &["Another"])
        );
        assert_eq!(users::<Part>(&store, "cold").await, with_arcs(&["B", "a", "b"], &["Another", "path"]));
        assert_eq!(users::<Trait>(&store, "patient").await, personas(&["B", "a", "b"]));
        assert_eq!(users::<Skill>(&store, "tracing").await, personas(&["B", "a", "b"]));
        assert_eq!(users::<Guardrail>(&store, "honest").await, personas(&["B", "a", "b"]));
        assert_eq!(users::<CharacterArc>(&store, "path").await, personas(&["B", "a", "b"]));
        assert_eq!(users::<TestInput>(&store, "evening").await, personas(&["B", "a", "b"]));
        assert_eq!(users::<CharacterArc>(&store, "Another").await, []);
        store.close().await;
    })
    .await;
}

/// Bases and presets are named rather than linked, and yet they know who names them.
#[tokio::test(flavor = "multi_thread")]
async fn an_entity_knows_its_users() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tool_preset("tools")).await;
        keep(&store, &tool_preset("reading")).await;
        keep(&store, &bias_profile("bias")).await;
        keep(&store, &context_preset("context")).await;
        keep_pieces(&store).await;
        keep(&store, &full_persona("full")).await;
        keep(&store, &persona("root")).await;
        keep(&store, &extending("near", "root")).await;
        keep(&store, &extending("exact", "shared:root")).await;
        keep(&store, &extending("other", "builtin:root")).await;
        keep(&store, &Persona { tool_preset: Some(name("reading")), ..persona("reader") }).await;
        let personas = |of: &[&str]| -> Vec<(Kind, String)> {
            of.iter().map(|name| (Kind::Persona, (*name).to_owned())).collect()
        };
        assert_eq!(users::<Persona>(&store, "root").await, personas(&["exact", "near"]));
        assert_eq!(users::<Persona>(&store, "near").await, []);
        assert_eq!(users::<ToolPreset>(&store, "tools").await, personas(&["full"]));
        assert_eq!(
            users::<ToolPreset>(&store, "reading").await,
            personas(&["full", "reader"]),
            "while planning"
        );
        assert_eq!(users::<BiasProfile>(&store, "bias").await, personas(&["full"]));
        assert_eq!(users::<ContextPreset>(&store, "context").await, personas(&["full"]));
        store.close().await;
    })
    .await;
}

async fn stays<T: Keep + persona::Entity>(store: &store::Store, of: &str) {
    let mut write = begin(store).await;
    let held = held::<T>(&mut write, of).await;
    let refused = write.remove(&held).await.unwrap_err();
    assert_eq!(refused.code(), Code::ChangedMeanwhile, "{} {of}: {refused}", T::KIND);
    drop(write);
    assert!(store.get::<T>(&name(of)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_entity_is_not_removed() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        keep(&store, &full_persona("user")).await;
        stays::<Part>(&store, "warm").await;
        stays::<Part>(&store, "cold").await;
        stays::<Trait>(&store, "bold").await;
        stays::<Skill>(&store, "tracing").await;
        stays::<Guardrail>(&store, "honest").await;
        stays::<CharacterArc>(&store, "path").await;
        stays::<TestInput>(&store, "morning").await;
        remove::<Persona>(&store, "user").await;
        stays::<Part>(&store, "cold").await;
        remove::<CharacterArc>(&store, "path").await;
        remove::<Part>(&store, "cold").await;
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_entity_cannot_be_linked() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        type Edit = fn(&mut Persona);
        let edits: [(Kind, Edit); 6] = [
            (Kind::Part, |persona| persona.parts.push(link("gone", 9, 0))),
            (Kind::Trait, |persona| persona.traits.push(name("gone"))),
            (Kind::Skill, |persona| persona.skills.push(name("gone"))),
            (Kind::Guardrail, |persona| persona.guardrails.push(name("gone"))),
            (Kind::TestInput, |persona| persona.test_inputs.push(name("gone"))),
            (Kind::Arc, |persona| persona.arc = Some(name("gone"))),
        ];
        let is_gone = |error: &Error, of: Kind| matches!(error, Error::Deleted { kind, name } if *kind == of && name.as_str() == "gone");
        for (of, edit) in edits {
            let mut broken = full_persona("broken");
            edit(&mut broken);
            let mut write = begin(&store).await;
            let error = write.insert(&broken, Action::Create).await.unwrap_err();
            assert!(is_gone(&error, of), "{error:?}");
            drop(write);
            assert!(store.get::<Persona>(&name("broken")).await.unwrap().is_none());
        }
        let mut write = begin(&store).await;
        let error =
            write.insert(&arc("broken", vec![stage("x", 1, &["gone"])]), Action::Create).await.unwrap_err();
        assert!(is_gone(&error, Kind::Part), "{error:?}");
        drop(write);
        for table in LINK_TABLES.into_iter().chain(["agent_personas"]) {
            assert_eq!(database.texts(&count(table)).await, ["0"], "{table}");
        }
        store.close().await;
    })
    .await;
}
