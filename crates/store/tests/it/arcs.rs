//! Arcs and the stages of personas: a stage is the same one as long as its name does not change.

use persona::{ActiveStage, CharacterArc, Name, Persona};
use store::{Action, Store};
use testkit::{Database, on_each_engine};

use crate::samples::{arc, begin, change, held, keep, name, names, open, persona, remove, stage, tone};

async fn stage_ids(database: &Database) -> Vec<String> {
    database.texts("SELECT name || ' ' || CAST(id AS text) FROM arc_stages ORDER BY name").await
}

/// The stage of a persona, as a transaction sees it and as a load shows it.
async fn standing(store: &Store, of: &str) -> Option<ActiveStage> {
    let mut write = begin(store).await;
    let held = held::<Persona>(&mut write, of).await;
    let stage = write.stage(&held).await.unwrap();
    drop(write);
    let loaded = store.load(&name(of), &[]).await.unwrap().unwrap();
    let active = loaded.bundle.stage.clone();
    assert_eq!(active.as_ref().map(|active| active.stage.clone()), stage);
    active
}

async fn assert_stage(store: &Store, of: &str, expected: &str) {
    assert_eq!(standing(store, of).await.unwrap().stage, name(expected), "{of}");
}

async fn put(store: &Store, of: &str, into: &str) {
    let mut write = begin(store).await;
    let held = held::<Persona>(&mut write, of).await;
    let arc = held.stored.entity.arc.clone().unwrap();
    write.set_stage(&held, &arc, &name(into)).await.unwrap();
    write.commit().await.unwrap();
}

fn walking(of: &str, arc: &str) -> Persona {
    Persona { arc: Some(name(arc)), ..persona(of) }
}

async fn open_with_arc(database: &Database) -> Store {
    let store = open(database).await;
    for of in ["calm", "stern"] {
        keep(&store, &tone(of)).await;
    }
    let stages =
        vec![stage("novice", 1, &["calm"]), stage("adept", 2, &["stern", "calm"]), stage("master", 3, &[])];
    keep(&store, &arc("path", stages)).await;
    store
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_starts_at_the_first_stage() {
    on_each_engine(async |database| {
        let store = open_with_arc(database).await;
        keep(&store, &arc("backwards", vec![stage("z", 2, &[]), stage("y", -1, &[]), stage("x", -1, &[])]))
            .await;
        keep(&store, &arc("empty", Vec::new())).await;
        keep(&store, &walking("pupil", "path")).await;
        let active = standing(&store, "pupil").await.unwrap();
        assert_eq!((active.position, active.of, active.order), (1, 3, 1));
        assert_eq!((active.arc, active.stage), (name("path"), name("novice")));
        put(&store, "pupil", "adept").await;
        let active = standing(&store, "pupil").await.unwrap();
        assert_eq!((active.position, active.of, active.order), (2, 3, 2));
        let parts: Vec<Name> = active.parts.into_iter().map(|part| part.name).collect();
        assert_eq!(parts, names(&["stern", "calm"]), "in the order of the stage");

        change::<Persona>(&store, "pupil", |persona| persona.summary = Some("new".to_owned())).await;
        assert_stage(&store, "pupil", "adept").await;
        change::<Persona>(&store, "pupil", |persona| persona.arc = Some(name("backwards"))).await;
        let active = standing(&store, "pupil").await.unwrap();
        assert_eq!((active.stage, active.position), (name("x"), 1), "by order, then name");
        change::<Persona>(&store, "pupil", |persona| persona.arc = Some(name("path"))).await;
        assert_stage(&store, "pupil", "novice").await;
        change::<Persona>(&store, "pupil", |persona| persona.arc = Some(name("empty"))).await;
        assert!(standing(&store, "pupil").await.is_none());
        change::<Persona>(&store, "pupil", |persona| persona.arc = None).await;
        assert!(standing(&store, "pupil").await.is_none());
        assert_eq!(database.texts("SELECT CAST(count(*) AS text) FROM persona_arc").await, ["0"]);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_stay_the_same_over_updates() {
    on_each_engine(async |database| {
        let store = open_with_arc(database).await;
        keep(&store, &walking("pupil", "path")).await;
        put(&store, "pupil", "adept").await;
        let before = stage_ids(database).await;

        change::<CharacterArc>(&store, "path", |arc| {
            arc.summary = Some("A longer way".to_owned());
            arc.stages[1].condition = Some("when ready".to_owned());
            arc.stages[1].parts = names(&["calm"]);
            arc.stages[0].order = 9;
        })
        .await;
        assert_eq!(stage_ids(database).await, before);
        let active = standing(&store, "pupil").await.unwrap();
        assert_eq!((active.stage, active.position, active.of), (name("adept"), 1, 3));
        assert_eq!(active.condition.as_deref(), Some("when ready"));
        assert_eq!(active.parts.len(), 1);

        change::<CharacterArc>(&store, "path", |arc| arc.name = name("way")).await;
        assert_eq!(stage_ids(database).await, before);
        assert_eq!(standing(&store, "pupil").await.unwrap().arc, name("way"));
        let read = store.get::<Persona>(&name("pupil")).await.unwrap().unwrap();
        assert_eq!(read.entity.arc, Some(name("way")));

        change::<CharacterArc>(&store, "way", |arc| arc.stages.push(stage("sage", 0, &[]))).await;
        let after = stage_ids(database).await;
        assert!(before.iter().all(|known| after.contains(known)) && after.len() == 4, "{after:?}");
        let active = standing(&store, "pupil").await.unwrap();
        assert_eq!((active.stage, active.position, active.of), (name("adept"), 2, 4));
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn personas_of_a_removed_stage_go_to_the_first() {
    on_each_engine(async |database| {
        let store = open_with_arc(database).await;
        for (of, at) in [("one", "novice"), ("two", "adept"), ("three", "adept"), ("four", "master")] {
            keep(&store, &walking(of, "path")).await;
            put(&store, of, at).await;
        }
        let mut write = begin(&store).await;
        let standing_there = write.personas_in_stage(&name("path"), &name("adept")).await.unwrap();
        assert_eq!(standing_there, names(&["three", "two"]));
        drop(write);

        change::<CharacterArc>(&store, "path", |arc| {
            arc.stages.retain(|stage| stage.name.as_str() != "adept");
        })
        .await;
        for (of, at) in [("one", "novice"), ("two", "novice"), ("three", "novice"), ("four", "master")] {
            assert_stage(&store, of, at).await;
        }
        change::<CharacterArc>(&store, "path", |arc| arc.stages.clear()).await;
        assert!(standing(&store, "two").await.is_none());
        change::<CharacterArc>(&store, "path", |arc| arc.stages = vec![stage("again", 5, &["stern"])]).await;
        for of in ["one", "two", "three", "four"] {
            assert_stage(&store, of, "again").await;
        }
        for of in ["one", "two", "three", "four"] {
            remove::<Persona>(&store, of).await;
        }
        remove::<CharacterArc>(&store, "path").await;
        assert_eq!(stage_ids(database).await, Vec::<String>::new(), "stages go with their arc");
        store.close().await;
    })
    .await;
}

/// Replacing an arc in the transaction that moved its stages loses no persona's stage.
#[tokio::test(flavor = "multi_thread")]
async fn an_arc_and_its_personas_change_together() {
    on_each_engine(async |database| {
        let store = open_with_arc(database).await;
        let mut write = begin(&store).await;
        write.insert(&walking("pupil", "path"), Action::Create).await.unwrap();
        let pupil = held::<Persona>(&mut write, "pupil").await;
        write.set_stage(&pupil, &name("path"), &name("master")).await.unwrap();
        let path = held::<CharacterArc>(&mut write, "path").await;
        let mut shorter = path.stored.entity.clone();
        shorter.stages.truncate(1);
        write.replace(&path, &shorter, Action::Update).await.unwrap();
        assert_eq!(write.stage(&pupil).await.unwrap(), Some(name("novice")));
        write.commit().await.unwrap();
        assert_stage(&store, "pupil", "novice").await;
        store.close().await;
    })
    .await;
}
