//! Concurrent writers: no change is lost, one of several wins a name, and the loser of a race gets an error.

use std::sync::Arc;
use std::time::Duration;

use persona::{AsReport as _, Code};
use persona::{CharacterArc, Kind, Part, Persona};
use store::{Action, Error, Store};
use testkit::on_each_engine;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::samples::{arc, begin, change, held, keep, linking, name, open, persona, stage, tone, trait_};

/// Writers that go at the same thing, half of them through a second handle.
const WRITERS: usize = 8;
const ROUNDS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn no_change_is_lost() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &persona("shared")).await;
        for at in 0..WRITERS {
            keep(&one, &trait_(&format!("trait-{at}"))).await;
        }
        let mut tasks = JoinSet::new();
        for at in 0..WRITERS {
            let store = if at % 2 == 0 { one.clone() } else { two.clone() };
            tasks.spawn(async move {
                for round in 0..ROUNDS {
                    change::<Persona>(&store, "shared", |persona| {
                        persona.tags.push(format!("{at}-{round}"));
                        if round == 0 {
                            persona.traits.push(name(&format!("trait-{at}")));
                        }
                    })
                    .await;
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        for store in [&one, &two] {
            let shared = store.get::<Persona>(&name("shared")).await.unwrap().unwrap();
            assert_eq!(shared.entity.tags.len(), WRITERS * ROUNDS);
            assert_eq!(shared.entity.traits.len(), WRITERS);
            assert_eq!(shared.meta.revision, (WRITERS * ROUNDS) as i64 + 1);
        }
        let revisions =
            "SELECT CAST(count(DISTINCT revision) AS text) FROM agent_revisions WHERE name = 'shared'";
        assert_eq!(database.texts(revisions).await, [(WRITERS * ROUNDS + 1).to_string()]);
        one.close().await;
        two.close().await;
    })
    .await;
}

async fn insert(store: Store, of: String) -> Result<(), Error> {
    let mut write = begin(&store).await;
    write.insert(&tone(&of), Action::Create).await?;
    write.commit().await
}

async fn rename(store: Store, of: String, to: String) -> Result<(), Error> {
    let mut write = begin(&store).await;
    let part = held::<Part>(&mut write, &of).await;
    write.replace(&part, &tone(&to), Action::Rename).await?;
    write.commit().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_has_one_winner() {
    on_each_engine(async |database| {
        let stores = [open(database).await, open(database).await];
        for at in 0..WRITERS {
            keep(&stores[0], &tone(&format!("part-{at}"))).await;
        }
        for renaming in [false, true] {
            let wanted = if renaming { "renamed" } else { "wanted" };
            let start = Arc::new(Barrier::new(WRITERS));
            let mut tasks = JoinSet::new();
            for at in 0..WRITERS {
                let (store, start) = (stores[at % 2].clone(), start.clone());
                tasks.spawn(async move {
                    start.wait().await;
                    if renaming {
                        rename(store, format!("part-{at}"), wanted.to_owned()).await
                    } else {
                        insert(store, wanted.to_owned()).await
                    }
                });
            }
            let mut winners = 0;
            while let Some(ended) = tasks.join_next().await {
                match ended.unwrap() {
                    Ok(()) => winners += 1,
                    Err(Error::Exists { kind: Kind::Part, name }) => assert_eq!(name.as_str(), wanted),
                    Err(other) => panic!("{other:?}"),
                }
            }
            assert_eq!(winners, 1);
            assert!(stores[1].get::<Part>(&name(wanted)).await.unwrap().is_some());
        }
        for store in stores {
            store.close().await;
        }
    })
    .await;
}

/// A part is deleted while another transaction links it: the second one fails, and leaves nothing behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_part_that_is_being_deleted_fails_cleanly() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &tone("doomed")).await;
        keep(&one, &arc("doomed", vec![stage("one", 1, &[])])).await;
        let mut deleting = begin(&one).await;
        let part = held::<Part>(&mut deleting, "doomed").await;
        deleting.remove(&part).await.unwrap();
        let way = held::<CharacterArc>(&mut deleting, "doomed").await;
        deleting.remove(&way).await.unwrap();

        let mut tasks = JoinSet::new();
        let linked = linking("linked", &["doomed"]);
        let walking = Persona { arc: Some(name("doomed")), ..persona("walking") };
        for new in [linked, walking] {
            let store = two.clone();
            tasks.spawn(async move {
                let mut write = begin(&store).await;
                write.insert(&new, Action::Create).await?;
                write.commit().await
            });
        }
        let store = two.clone();
        tasks.spawn(async move {
            let mut write = begin(&store).await;
            write.insert(&arc("staged", vec![stage("one", 1, &["doomed"])]), Action::Create).await?;
            write.commit().await
        });
        // Long enough for them to wait for the deletion, wherever the engine lets them wait.
        tokio::time::sleep(Duration::from_millis(200)).await;
        deleting.commit().await.unwrap();
        while let Some(ended) = tasks.join_next().await {
            let error = ended.unwrap().unwrap_err();
            assert_eq!(error.code(), Code::ChangedMeanwhile, "{error:?}");
        }
        for table in ["agent_personas", "character_arcs", "agent_persona_parts", "persona_arc"] {
            let sql = format!("SELECT CAST(count(*) AS text) FROM {table}");
            assert_eq!(database.texts(&sql).await, ["0"], "{table}");
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

/// The other way round: a part is linked while another transaction deletes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_of_a_part_that_is_being_linked_fails_cleanly() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &tone("wanted")).await;
        let mut linked = begin(&one).await;
        linked.insert(&linking("user", &["wanted"]), Action::Create).await.unwrap();
        let store = two.clone();
        let deleting = tokio::spawn(async move {
            let mut write = begin(&store).await;
            let part = held::<Part>(&mut write, "wanted").await;
            write.remove(&part).await?;
            write.commit().await
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        linked.commit().await.unwrap();
        let error = deleting.await.unwrap().unwrap_err();
        assert_eq!(error.code(), Code::ChangedMeanwhile, "{error:?}");
        let user = two.get::<Persona>(&name("user")).await.unwrap().unwrap();
        assert_eq!(user.entity.parts.len(), 1);
        one.close().await;
        two.close().await;
    })
    .await;
}

/// The same race without a script, many times over.
#[tokio::test(flavor = "multi_thread")]
async fn linking_and_deleting_race() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        for round in 0..30 {
            let of = format!("part-{round}");
            keep(&one, &tone(&of)).await;
            let start = Arc::new(Barrier::new(2));
            let (store, part, gate) = (one.clone(), of.clone(), start.clone());
            let linker = tokio::spawn(async move {
                gate.wait().await;
                let mut write = begin(&store).await;
                write.insert(&linking(&format!("user-{round}"), &[&part]), Action::Create).await?;
                write.commit().await
            });
            let (store, part) = (two.clone(), of.clone());
            let deleter = tokio::spawn(async move {
                start.wait().await;
                let mut write = begin(&store).await;
                let part = held::<Part>(&mut write, &part).await;
                write.remove(&part).await?;
                write.commit().await
            });
            let (linked, deleted) = (linker.await.unwrap(), deleter.await.unwrap());
            let user = two.get::<Persona>(&name(&format!("user-{round}"))).await.unwrap();
            let there = two.get::<Part>(&name(&of)).await.unwrap().is_some();
            assert_eq!(linked.is_ok(), user.is_some(), "{linked:?}");
            assert_eq!(deleted.is_ok(), !there, "{deleted:?}");
            assert!(linked.is_ok() != deleted.is_ok(), "{linked:?} {deleted:?}");
            for error in linked.err().into_iter().chain(deleted.err()) {
                assert_eq!(error.code(), Code::ChangedMeanwhile, "{error:?}");
            }
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

/// A name is freed by one transaction and taken by another at once: its count goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_taken_while_it_is_freed_counts_on() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        for renaming in [false, true] {
            let of = if renaming { "renamed" } else { "created" };
            keep(&one, &tone(of)).await;
            keep(&one, &tone(&format!("source-of-{of}"))).await;
            let mut deleting = begin(&one).await;
            let part = held::<Part>(&mut deleting, of).await;
            deleting.remove(&part).await.unwrap();
            let store = two.clone();
            let taking = tokio::spawn(async move {
                if renaming {
                    rename(store, format!("source-of-{of}"), of.to_owned()).await
                } else {
                    insert(store, of.to_owned()).await
                }
            });
            tokio::time::sleep(Duration::from_millis(200)).await;
            deleting.commit().await.unwrap();
            taking.await.unwrap().unwrap();
            let taken = two.get::<Part>(&name(of)).await.unwrap().unwrap();
            assert_eq!(taken.meta.revision, 3, "{of}: created at 1, deleted at 2");
            let newest =
                format!("SELECT CAST(max(revision) AS text) FROM agent_revisions WHERE name = '{of}'");
            assert_eq!(database.texts(&newest).await, ["3"]);
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

/// Readers are served, however many writers there are and whatever they wait for.
#[tokio::test(flavor = "multi_thread")]
async fn readers_do_not_wait_for_writers() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &persona("guide")).await;
        let mut holder = begin(&store).await;
        held::<Persona>(&mut holder, "guide").await;
        let mut tasks = JoinSet::new();
        for _ in 0..40 {
            let store = store.clone();
            tasks.spawn(async move {
                change::<Persona>(&store, "guide", |persona| persona.tags.push("x".to_owned())).await;
            });
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        let reads = async {
            for _ in 0..20 {
                store.get::<Persona>(&name("guide")).await.unwrap().unwrap();
                store.load(&name("guide"), &[]).await.unwrap().unwrap();
                // As those do who look for a name in the middle of a change.
                store.near_names(Kind::Persona, "giude").await.unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(60), reads).await.expect("readers are served");
        drop(holder);
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        let guide = store.get::<Persona>(&name("guide")).await.unwrap().unwrap();
        assert_eq!(guide.entity.tags.len(), 40);
        store.close().await;
    })
    .await;
}
