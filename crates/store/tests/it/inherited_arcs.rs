//! An arc that a persona inherits: the stage is its own, kept beside it, and goes where it goes.

use persona::{ActiveStage, CharacterArc, Persona};
use store::Store;
use testkit::{Database, on_each_engine};

use crate::samples::{
    arc, base, begin, change, extending, held, keep, name, names, open, persona, remove, stage, tone,
};

async fn standing(store: &Store, of: &str) -> Option<ActiveStage> {
    store.load(&name(of), &[]).await.unwrap().unwrap().bundle.stage.clone()
}

async fn assert_stage(store: &Store, of: &str, expected: &str) {
    assert_eq!(standing(store, of).await.unwrap().stage, name(expected), "{of}");
}

async fn put(store: &Store, of: &str, arc: &str, into: &str) {
    let mut write = begin(store).await;
    let held = held::<Persona>(&mut write, of).await;
    write.set_stage(&held, &name(arc), &name(into)).await.unwrap();
    assert_eq!(write.stage(&held).await.unwrap(), Some(name(into)));
    write.commit().await.unwrap();
}

async fn kept(database: &Database) -> Vec<String> {
    database.texts("SELECT name || ' ' || arc || ' ' || stage FROM persona_state ORDER BY name").await
}

/// `root` walks the path, `leaf` and `twin` build on it.
async fn open_with_heirs(database: &Database) -> Store {
    let store = open(database).await;
    keep(&store, &tone("calm")).await;
    keep(&store, &tone("stern")).await;
    let stages = vec![stage("novice", 1, &["calm"]), stage("adept", 2, &["stern"]), stage("master", 3, &[])];
    keep(&store, &arc("path", stages)).await;
    keep(&store, &Persona { arc: Some(name("path")), ..persona("root") }).await;
    keep(&store, &extending("leaf", "root")).await;
    keep(&store, &extending("twin", "root")).await;
    store
}

#[tokio::test(flavor = "multi_thread")]
async fn each_heir_walks_by_itself() {
    on_each_engine(async |database| {
        let store = open_with_heirs(database).await;
        let first = standing(&store, "leaf").await.unwrap();
        assert_eq!((first.arc, first.stage, first.position, first.of), (name("path"), name("novice"), 1, 3));
        let path = store.get::<CharacterArc>(&name("path")).await.unwrap().unwrap().entity;
        let before = database.texts("SELECT CAST(count(*) AS text) FROM agent_revisions").await;
        for expected in ["adept", "master"] {
            let now = standing(&store, "leaf").await.unwrap().stage;
            let next = path.stage_after(now.as_str()).unwrap().name.clone();
            put(&store, "leaf", "path", next.as_str()).await;
            assert_stage(&store, "leaf", expected).await;
        }
        put(&store, "leaf", "path", "adept").await;
        let active = standing(&store, "leaf").await.unwrap();
        assert_eq!((active.position, active.parts), (2, vec![tone("stern")]));
        assert_stage(&store, "root", "novice").await;
        assert_stage(&store, "twin", "novice").await;
        put(&store, "root", "path", "master").await;
        assert_stage(&store, "leaf", "adept").await;
        assert_eq!(kept(database).await, ["leaf path adept"], "root's own stage is in its row");
        let after = database.texts("SELECT CAST(count(*) AS text) FROM agent_revisions").await;
        assert_eq!(before, after, "state makes no revision");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stage_goes_with_the_persona() {
    on_each_engine(async |database| {
        let store = open_with_heirs(database).await;
        put(&store, "leaf", "path", "adept").await;
        put(&store, "twin", "path", "master").await;
        change::<Persona>(&store, "leaf", |leaf| leaf.name = name("petal")).await;
        assert_stage(&store, "petal", "adept").await;
        assert_eq!(kept(database).await, ["petal path adept", "twin path master"]);
        // Onto a name that another persona had before: its stage is not taken over.
        remove::<Persona>(&store, "twin").await;
        assert_eq!(kept(database).await, ["petal path adept"]);
        keep(&store, &extending("twin", "root")).await;
        assert_stage(&store, "twin", "novice").await;
        remove::<Persona>(&store, "twin").await;
        change::<Persona>(&store, "petal", |petal| petal.name = name("twin")).await;
        assert_stage(&store, "twin", "adept").await;
        remove::<Persona>(&store, "twin").await;
        assert_eq!(kept(database).await, Vec::<String>::new());
        store.close().await;
    })
    .await;
}

/// The stage belongs to one arc: in another one the persona begins at the beginning.
#[tokio::test(flavor = "multi_thread")]
async fn another_arc_begins_at_its_beginning() {
    on_each_engine(async |database| {
        let store = open_with_heirs(database).await;
        keep(&store, &arc("climb", vec![stage("foot", 1, &[]), stage("adept", 2, &[])])).await;
        put(&store, "leaf", "path", "adept").await;
        change::<Persona>(&store, "root", |root| root.arc = Some(name("climb"))).await;
        let active = standing(&store, "leaf").await.unwrap();
        assert_eq!((active.arc, active.stage), (name("climb"), name("foot")), "not the adept of another arc");
        let mut write = begin(&store).await;
        let leaf = held::<Persona>(&mut write, "leaf").await;
        assert_eq!(write.stage(&leaf).await.unwrap(), None, "nor does a change see it there");
        drop(write);
        change::<Persona>(&store, "root", |root| root.arc = None).await;
        assert!(standing(&store, "leaf").await.is_none());
        // Its own arc is stronger than an inherited one.
        change::<Persona>(&store, "root", |root| root.arc = Some(name("path"))).await;
        change::<Persona>(&store, "leaf", |leaf| leaf.arc = Some(name("climb"))).await;
        assert_stage(&store, "leaf", "foot").await;
        put(&store, "leaf", "climb", "adept").await;
        assert_stage(&store, "leaf", "adept").await;
        assert_eq!(standing(&store, "leaf").await.unwrap().arc, name("climb"));
        store.close().await;
    })
    .await;
}

/// The personas in a stage include those that inherit the arc.
#[tokio::test(flavor = "multi_thread")]
async fn heirs_are_among_those_in_a_stage() {
    on_each_engine(async |database| {
        let store = open_with_heirs(database).await;
        let in_adept =
            async || begin(&store).await.personas_in_stage(&name("path"), &name("adept")).await.unwrap();
        assert!(in_adept().await.is_empty());
        put(&store, "root", "path", "adept").await;
        put(&store, "leaf", "path", "adept").await;
        assert_eq!(in_adept().await, names(&["root", "leaf"]));
        // An arc of its own: what is kept of the inherited one says nothing any more.
        change::<Persona>(&store, "leaf", |leaf| leaf.arc = Some(name("path"))).await;
        assert_eq!(in_adept().await, names(&["root"]));
        change::<Persona>(&store, "leaf", |leaf| leaf.arc = None).await;
        change::<Persona>(&store, "leaf", |leaf| leaf.extends = None).await;
        assert_eq!(in_adept().await, names(&["root"]));
        store.close().await;
    })
    .await;
}

/// A renamed arc is the same arc, and its personas keep their stages.
#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_arc_is_the_same_arc() {
    on_each_engine(async |database| {
        let store = open_with_heirs(database).await;
        put(&store, "root", "path", "adept").await;
        put(&store, "leaf", "path", "master").await;
        change::<CharacterArc>(&store, "path", |path| path.name = name("way")).await;
        for (of, expected) in [("root", "adept"), ("leaf", "master"), ("twin", "novice")] {
            assert_stage(&store, of, expected).await;
            assert_eq!(standing(&store, of).await.unwrap().arc, name("way"));
        }
        // A stage that goes takes the heirs in it back to the first.
        change::<CharacterArc>(&store, "way", |way| way.stages.truncate(2)).await;
        assert_stage(&store, "leaf", "novice").await;
        store.close().await;
    })
    .await;
}

/// Through a chain, and from a builtin: the strongest base that has an arc gives it.
#[tokio::test(flavor = "multi_thread")]
async fn arcs_come_down_the_whole_chain() {
    on_each_engine(async |database| {
        let store = open_with_heirs(database).await;
        keep(&store, &extending("under", "leaf")).await;
        put(&store, "under", "path", "master").await;
        put(&store, "leaf", "path", "adept").await;
        assert_stage(&store, "under", "master").await;
        assert_stage(&store, "leaf", "adept").await;
        keep(&store, &extending("pupil", "builtin:mentor")).await;
        let mentors = &builtins::of::<CharacterArc>()[&name("mentors-path")];
        let walk = mentors.walk();
        assert_stage(&store, "pupil", walk[0].name.as_str()).await;
        put(&store, "pupil", "mentors-path", walk[1].name.as_str()).await;
        let active = standing(&store, "pupil").await.unwrap();
        assert_eq!((active.stage, active.parts.len()), (walk[1].name.clone(), walk[1].parts.len()));
        assert_stage(&store, "mentor", walk[0].name.as_str()).await;
        change::<Persona>(&store, "under", |under| under.extends = base("pupil")).await;
        assert_stage(&store, "under", walk[0].name.as_str()).await;
        store.close().await;
    })
    .await;
}
