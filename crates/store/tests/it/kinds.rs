//! Every kind, from its creation to its removal.

use std::collections::BTreeMap;
use std::fmt::Debug;

use persona::{AsReport as _, Code};
use persona::{
    BiasProfile, CharacterArc, ContextEntry, ContextPreset, ContextView, Guardrail, Kind, Part, PartType,
    Persona, Scope, Severity, Skill, TestInput, ToolPreset, Trait, TraitType,
};
use store::{Action, Filter, Keep, Store};
use testkit::on_each_engine;

use crate::samples::{
    arc, begin, bias_profile, context_preset, full_persona, guardrail, held, keep, keep_pieces, name, open,
    persona, skill, stage, test_input, tone, tool_preset, trait_, words,
};

async fn listed(store: &Store, kind: Kind) -> Vec<String> {
    let page = store.list(kind, &Filter { limit: Some(200), ..Filter::default() }).await.unwrap();
    let shared = page.items.into_iter().filter(|found| found.scope == Scope::Shared);
    shared.map(|found| found.name.to_string()).collect()
}

/// Creates `first`, turns it into `second` field by field, renames it and removes it.
async fn live<T: Keep + persona::Entity + Debug>(store: &Store, first: T, second: T) {
    let (kind, born, renamed) = (T::KIND, first.name().clone(), second.name().clone());
    assert!(store.get::<T>(&born).await.unwrap().is_none());

    let created = keep(store, &first).await;
    assert_eq!((created.meta.scope, created.meta.revision), (Scope::Shared, 1));
    assert!(created.meta.guid.is_some());
    assert_eq!(created.meta.created_at, created.meta.updated_at);
    assert_eq!(store.get::<T>(&born).await.unwrap().unwrap(), created, "{kind}");
    assert!(listed(store, kind).await.contains(&born.to_string()));

    let mut write = begin(store).await;
    assert!(write.has(kind, &born).await.unwrap());
    let again = write.insert(&first, Action::Create).await.unwrap_err();
    assert_eq!(again.code(), Code::AlreadyExists, "{again}");
    drop(write);

    let mut write = begin(store).await;
    let found = held::<T>(&mut write, born.as_str()).await;
    assert_eq!(found.stored, created);
    let mut changed = second.clone();
    changed.set_name(born.clone());
    let updated = write.replace(&found, &changed, Action::Update).await.unwrap();
    assert_eq!((updated.meta.revision, updated.meta.guid), (2, created.meta.guid));
    assert_eq!(updated.meta.created_at, created.meta.created_at);
    assert!(updated.meta.updated_at >= created.meta.updated_at);
    let raced = write.replace(&found, &first, Action::Update).await.unwrap_err();
    assert_eq!(raced.code(), Code::ChangedMeanwhile, "the held row is out of date: {raced}");
    drop(write);
    assert_eq!(store.get::<T>(&born).await.unwrap().unwrap(), created, "nothing was committed");

    let mut write = begin(store).await;
    let found = held::<T>(&mut write, born.as_str()).await;
    let updated = write.replace(&found, &changed, Action::Update).await.unwrap();
    write.commit().await.unwrap();
    assert_eq!(store.get::<T>(&born).await.unwrap().unwrap(), updated, "{kind}");

    let mut write = begin(store).await;
    let found = held::<T>(&mut write, born.as_str()).await;
    let moved = write.replace(&found, &second, Action::Rename).await.unwrap();
    write.commit().await.unwrap();
    assert_eq!((moved.meta.revision, moved.meta.guid), (3, created.meta.guid));
    assert!(store.get::<T>(&born).await.unwrap().is_none(), "the old name is free");
    assert_eq!(store.get::<T>(&renamed).await.unwrap().unwrap(), moved);
    let known = listed(store, kind).await;
    assert!(known.contains(&renamed.to_string()) && !known.contains(&born.to_string()), "{known:?}");

    let mut write = begin(store).await;
    let found = held::<T>(&mut write, renamed.as_str()).await;
    write.remove(&found).await.unwrap();
    write.commit().await.unwrap();
    assert!(store.get::<T>(&renamed).await.unwrap().is_none());
    assert!(begin(store).await.find::<T>(&renamed).await.unwrap().is_none());
    assert!(!listed(store, kind).await.contains(&renamed.to_string()));
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_live() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let second = Part {
            part_type: PartType::Voice,
            description: Some("How it sounds".to_owned()),
            summary: Some("A voice".to_owned()),
            content: None,
            tags: words(&["a", "b"]),
            ..tone("second")
        };
        live(&store, tone("first"), second).await;
        let second = Trait {
            trait_type: TraitType::Cognitive,
            description: None,
            instruction: None,
            tags: words(&["x"]),
            ..trait_("second")
        };
        live(&store, trait_("first"), second).await;
        let second = Skill { description: None, tags: words(&["x"]), ..skill("second") };
        live(&store, skill("first"), second).await;
        let second = Guardrail {
            severity: Severity::Critical,
            deny_tools: words(&["a", "b*"]),
            ..guardrail("second")
        };
        live(&store, guardrail("first"), second).await;
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn presets_and_test_inputs_live() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let mut second = ToolPreset { description: None, tags: words(&["a", "b"]), ..tool_preset("second") };
        second.categories.remove("shell");
        second.categories.insert("empty".to_owned(), Vec::new());
        live(&store, tool_preset("first"), second).await;
        let second =
            BiasProfile { multipliers: BTreeMap::new(), description: None, ..bias_profile("second") };
        live(&store, bias_profile("first"), second).await;
        let all = ContextView::ALL.iter().map(|view| ContextEntry {
            glob: Some(format!("{view}/**")),
            path: None,
            view: *view,
        });
        let second = ContextPreset {
            entries: all.collect(),
            token_budget: None,
            tags: words(&["x"]),
            ..context_preset("second")
        };
        live(&store, context_preset("first"), second).await;
        let second =
            TestInput { content: None, expectations: Vec::new(), description: None, ..test_input("second") };
        live(&store, test_input("first"), second).await;
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn personas_and_arcs_live() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        live::<Persona>(&store, persona("first"), full_persona("second")).await;
        live::<Persona>(&store, full_persona("third"), persona("fourth")).await;
        let mut second = arc("second", vec![stage("a", 1, &[]), stage("b", 2, &["cold", "warm"])]);
        second.stages[1].condition = Some("when asked".to_owned());
        second.summary = Some("A way".to_owned());
        live::<CharacterArc>(&store, arc("first", vec![stage("b", 1, &["warm"])]), second).await;
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_do_not_share_their_names() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("same")).await;
        keep(&store, &trait_("same")).await;
        keep(&store, &skill("same")).await;
        keep(&store, &guardrail("same")).await;
        keep(&store, &arc("same", Vec::new())).await;
        keep(&store, &tool_preset("same")).await;
        keep(&store, &bias_profile("same")).await;
        keep(&store, &context_preset("same")).await;
        keep(&store, &test_input("same")).await;
        keep(&store, &persona("same")).await;
        let info = store.info().await.unwrap();
        assert!(info.counts.iter().all(|(_, count)| *count == 1), "{:?}", info.counts);
        assert_eq!(info.engine, database.engine);
        assert!(info.bytes.is_some_and(|bytes| bytes > 0));
        store.ping().await.unwrap();
        store.close().await;
    })
    .await;
}

/// A name that only the builtins have is found, and is not in the shared scope.
#[tokio::test(flavor = "multi_thread")]
async fn builtins_are_there_and_not_shared() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let critic = name("critic");
        let stored = store.get::<Persona>(&critic).await.unwrap().unwrap();
        assert_eq!((stored.meta.scope, stored.meta.revision), (Scope::Builtin, 0));
        let mut write = begin(&store).await;
        assert!(!write.has(Kind::Persona, &critic).await.unwrap());
        assert!(write.find::<Persona>(&critic).await.unwrap().is_none());
        drop(write);
        keep(&store, &persona("critic")).await;
        assert_eq!(store.get::<Persona>(&critic).await.unwrap().unwrap().meta.scope, Scope::Shared);
        store.close().await;
    })
    .await;
}
