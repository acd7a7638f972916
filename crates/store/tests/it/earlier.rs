//! A library that Masque wrote at schema 7, before fields could be kept without columns of their own:
//! it opens, and nothing of it is lost.

use std::collections::BTreeMap;

use persona::{AnyEntity, Kind, Part, Persona, Stored};
use serde_json::Value;
use store::{HistoryKey, Store};
use testkit::Database;

use crate::samples::{change, name, open};

/// Every kind with every field set, some history, a tag, a deleted part, a renamed one and a persona
/// in the second stage of its arc.
const DUMP: &str = include_str!("earlier/schema_7.sql");

async fn earlier() -> (Database, Store) {
    let database = Database::sqlite();
    database.execute(DUMP).await;
    let store = open(&database).await;
    (database, store)
}

/// A definition with its links as they count: by order.
fn in_order(mut entity: AnyEntity) -> AnyEntity {
    if let AnyEntity::Persona(persona) = &mut entity {
        persona.parts.sort_by_key(|link| link.order);
    }
    entity
}

/// The newest definition of everything that there is, as history recorded it when it was written.
async fn recorded(database: &Database) -> BTreeMap<(String, String), AnyEntity> {
    let sql = "SELECT json_object('kind', r.kind, 'name', r.name, 'entity', json(r.entity)) FROM agent_revisions r \
               WHERE r.action <> 'delete' AND r.revision = (SELECT max(n.revision) FROM agent_revisions n WHERE n.guid = r.guid)";
    let rows = database.texts(sql).await;
    let entry = |row: &String| {
        let row: Value = serde_json::from_str(row).unwrap();
        let kind: Kind = row["kind"].as_str().unwrap().parse().unwrap();
        let entity = AnyEntity::from_json(kind, row["entity"].clone()).unwrap();
        ((kind.to_string(), row["name"].as_str().unwrap().to_owned()), in_order(entity))
    };
    rows.iter().map(entry).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_definition_is_as_it_was() {
    let (database, store) = earlier().await;
    let mut found = BTreeMap::new();
    for kind in Kind::ALL {
        for Stored { entity, .. } in store.definitions(*kind, None, 100).await.unwrap() {
            found.insert((kind.to_string(), entity.name().to_string()), in_order(entity));
        }
    }
    assert_eq!(found.len(), 13);
    assert_eq!(found, recorded(&database).await);
    let full = store.get::<Persona>(&name("full")).await.unwrap().unwrap();
    assert_eq!(full.meta.revision, 4);
    assert_eq!(full.entity.remove_parts, [name("lately")]);
    assert_eq!(full.entity.plan_persona.unwrap().model.as_deref(), Some("anthropic/m-3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn history_tags_and_stages_are_as_they_were() {
    let (_database, store) = earlier().await;
    let history = |kind, of: &str| {
        let (store, of) = (store.clone(), name(of));
        async move { store.history(HistoryKey::SHARED, kind, &of, 100).await.unwrap() }
    };
    let full = history(Kind::Persona, "full").await;
    let recorded: Vec<_> =
        full.iter().map(|it| (it.revision, it.action.as_str(), it.message.as_deref())).collect();
    assert_eq!(
        recorded,
        [
            (4, "link", Some("late is lately now")),
            (3, "update", None),
            (2, "update", Some("shorter")),
            (1, "create", Some("import")),
        ]
    );
    assert_eq!(full[2].tags[0].tag, "stable");
    let gone = history(Kind::Part, "gone").await;
    assert_eq!(gone.iter().map(|it| it.action.as_str()).collect::<Vec<_>>(), ["delete", "create"]);
    assert_eq!(store.shared_stage(&name("full")).await.unwrap(), Some(name("second")));
}

async fn found(store: &Store, query: &str) -> Vec<String> {
    let page = store.search(query, &[], None, None).await.unwrap();
    page.items.iter().map(|found| format!("{} {}", found.kind, found.name)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_word_still_finds_what_it_found() {
    let (_database, store) = earlier().await;
    for (words, entity) in [
        ("wdisplay wdesc wsummary wdetail wprompt wtag", "persona full"),
        ("wpartdesc wpartsum wpartcontent wparttag tone", "part calm"),
        ("wtraitdesc wtraitinstr wtraittag social", "trait warm"),
        ("wskilldesc wskillcontent wskilltag", "skill weigh"),
        ("wguarddesc wguardcontent wguardtag critical", "guardrail honest"),
        ("warcdesc warcsum warctag wstagedesc wstagecond second", "arc growth"),
        ("wtooldesc wtooltag wcategory wtool", "tool_preset reader"),
        ("wbiasdesc wbiastag wcategory", "bias_profile lean"),
        ("wctxdesc wctxtag wglob wpath", "context_preset code"),
        ("whellodesc whellocontent whellotag wexpect", "test_input hello"),
    ] {
        for word in words.split(' ') {
            let found = found(&store, word).await;
            assert!(found.iter().any(|hit| hit == entity), "{word}: {found:?}");
        }
    }
    assert_eq!(found(&store, "wgone").await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_persona_ignores_later_changes() {
    let (_database, store) = earlier().await;
    change::<Part>(&store, "calm", |part| part.content = Some("Stay wnew".to_owned())).await;
    assert_eq!(found(&store, "wnew").await, ["part calm"]);
    assert_eq!(found(&store, "wpartcontent").await, [""; 0]);
    assert_eq!(found(&store, "wpartsum").await, ["part calm"]);
    let before = store.get::<Persona>(&name("full")).await.unwrap().unwrap().entity;
    change::<Persona>(&store, "full", |persona| persona.display_name = None).await;
    let after = store.get::<Persona>(&name("full")).await.unwrap().unwrap().entity;
    assert_eq!(after, Persona { display_name: None, ..before });
}
