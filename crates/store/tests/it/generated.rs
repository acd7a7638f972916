//! The bulk loader of the testkit writes what the store would have written: otherwise benchmarks
//! would measure something else.

use std::collections::BTreeSet;
use store::CopiedSessions;

use database::Location;
use persona::{Guardrail, Kind, Part, Persona, Skill, Trait};
use store::{Filter, Store};
use testkit::{Database, fill, generate, on_each_engine};

use crate::samples::{change, keep, name, open, tone};

const PERSONAS: u64 = 130;
const SEED: u64 = 11;

/// Everything in the search index.
async fn index(database: &Database) -> BTreeSet<String> {
    let rows = match database.engine {
        "sqlite" => {
            database.execute("CREATE VIRTUAL TABLE seen USING fts5vocab('library_search', 'instance')").await;
            database.texts("SELECT doc || ' ' || col || ' ' || term FROM seen").await
        }
        _ => database.texts("SELECT concat(kind, ' ', entity_id, ' ', words) FROM library_search").await,
    };
    rows.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filled_library_is_a_library() {
    on_each_engine(async |database| {
        fill(&database.location, PERSONAS, SEED).await;
        let store = open(database).await;
        let library = generate(SEED, PERSONAS);
        let counts = store.info().await.unwrap().counts;
        let count = |kind: Kind| counts.iter().find(|(of, _)| *of == kind).unwrap().1 as u64;
        assert_eq!(count(Kind::Persona), PERSONAS);
        assert_eq!(count(Kind::Part), library.part_count());
        for at in [0, 1, 77, PERSONAS - 1] {
            let expected = library.persona(at);
            let stored = store.get::<Persona>(&expected.name).await.unwrap().unwrap();
            assert_eq!((&stored.entity, stored.meta.revision), (&expected, 1));
            let loaded = store.load(&expected.name, &[]).await.unwrap().unwrap();
            assert_eq!(loaded.bundle.persona, expected);
            assert_eq!((loaded.bundle.parts.len(), loaded.bundle.traits.len()), (6, 2));
            assert_eq!((loaded.bundle.skills.len(), loaded.bundle.guardrails.len()), (1, 1));
        }
        for at in [0, 17, 59] {
            let expected = library.part(at);
            assert_eq!(store.get::<Part>(&expected.name).await.unwrap().unwrap().entity, expected);
        }
        let expected = library.trait_(3);
        assert_eq!(store.get::<Trait>(&expected.name).await.unwrap().unwrap().entity, expected);
        let expected = library.skill(3);
        assert_eq!(store.get::<Skill>(&expected.name).await.unwrap().unwrap().entity, expected);
        let expected = library.guardrail(3);
        assert_eq!(store.get::<Guardrail>(&expected.name).await.unwrap().unwrap().entity, expected);

        let tag = &library.personas().find(|persona| !persona.tags.is_empty()).unwrap().tags[0];
        let tagged = library.personas().filter(|persona| persona.tags.contains(tag)).count();
        let filter = Filter { tags: vec![tag.clone()], limit: Some(200), ..Filter::default() };
        let page = store.list(Kind::Persona, &filter).await.unwrap();
        assert_eq!(page.items.iter().filter(|found| found.name.as_str().starts_with("p0")).count(), tagged);

        // Life goes on: ids, revisions and guids go on where the loader ended.
        keep(&store, &tone("afterwards")).await;
        let changed = change::<Persona>(&store, "p0000000", |persona| persona.parts.clear()).await;
        assert_eq!(changed.meta.revision, 2);
        assert!(store.load(&name("p0000000"), &[]).await.unwrap().unwrap().bundle.parts.is_empty());
        store.close().await;
    })
    .await;
}

/// A copy makes the index anew, so that it shows what the store would have written.
#[tokio::test(flavor = "multi_thread")]
async fn a_filled_index_is_the_stores_own() {
    on_each_engine(async |database| {
        fill(&database.location, PERSONAS, SEED).await;
        let store = open(database).await;
        let copy = match database.engine {
            "sqlite" => Database::sqlite(),
            _ => testkit::postgres().await.unwrap(),
        };
        store
            .copy_to(&Location::parse(&copy.location).unwrap(), CopiedSessions::All, &mut |_| ())
            .await
            .unwrap();
        let (filled, made) = (index(database).await, index(&copy).await);
        assert!(filled.len() > 100);
        assert_eq!(filled, made);
        let words = "SELECT name FROM agent_parts ORDER BY name";
        assert_eq!(database.texts(words).await, copy.texts(words).await);
        store.close().await;
        copy.remove().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "is not empty")]
async fn only_an_empty_library_is_filled() {
    let database = Database::sqlite();
    let store: Store = open(&database).await;
    keep(&store, &tone("there")).await;
    store.close().await;
    fill(&database.location, 1, 1).await;
}
