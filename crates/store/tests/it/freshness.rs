//! Several handles on one library, like several processes and nodes: each sees the others' writes, cached or
//! not, and is notified.

use std::sync::Arc;
use std::time::Duration;

use persona::{CharacterArc, Kind, Part, Persona, View};
use store::{Action, Change, Filter, Store};
use testkit::on_each_engine;
use tokio::sync::broadcast::Receiver;

use crate::samples::{
    arc, begin, change, held, keep, linking, name, open, persona, remove, render, sees, settle, stage, tone,
};

async fn content(store: &Store) -> Option<String> {
    let loaded = store.load(&name("guide"), &[]).await.unwrap()?;
    loaded.bundle.parts.first().and_then(|part| part.content.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_seen_by_the_other_handle() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &tone("warm")).await;
        keep(&one, &linking("guide", &["warm"])).await;
        for round in 0..20 {
            settle(&two, "guide").await;
            let text = format!("Be warm, {round}.");
            change::<Part>(&one, "warm", |part| part.content = Some(text.clone())).await;
            assert_eq!(content(&one).await.as_deref(), Some(text.as_str()), "the writer reads its own");
            sees(database, Some(text), async || content(&two).await).await;
        }
        // The other way round, and for what is not there any more.
        settle(&one, "guide").await;
        change::<Persona>(&two, "guide", |persona| persona.name = name("leader")).await;
        sees(database, None, async || content(&one).await).await;
        settle(&one, "leader").await;
        remove::<Persona>(&two, "leader").await;
        sees(database, true, async || one.load(&name("leader"), &[]).await.unwrap().is_none()).await;
        one.close().await;
        two.close().await;
    })
    .await;
}

/// State changes reach the others too, though they make no revision.
#[tokio::test(flavor = "multi_thread")]
async fn state_is_seen_too() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &arc("path", vec![stage("a", 1, &[]), stage("b", 2, &[])])).await;
        keep(&one, &Persona { arc: Some(name("path")), ..persona("guide") }).await;
        let standing = async |of: &str| {
            let loaded = two.load(&name(of), &[]).await.unwrap().unwrap();
            loaded.bundle.stage.as_ref().unwrap().stage.to_string()
        };
        settle(&two, "guide").await;
        let mut write = begin(&one).await;
        let guide = held::<Persona>(&mut write, "guide").await;
        write.set_stage(&guide, &name("path"), &name("b")).await.unwrap();
        write.commit().await.unwrap();
        sees(database, "b".to_owned(), async || standing("guide").await).await;
        settle(&two, "guide").await;
        change::<CharacterArc>(&one, "path", |arc| arc.stages.truncate(1)).await;
        sees(database, "a".to_owned(), async || standing("guide").await).await;

        let mentor = &builtins::of::<Persona>()[&name("mentor")];
        let arc = &builtins::of::<CharacterArc>()[mentor.arc.as_ref().unwrap()];
        let last = &arc.walk().last().unwrap().name;
        settle(&two, "mentor").await;
        let mut write = begin(&one).await;
        write.set_builtin_stage(&mentor.name, &arc.name, last).await.unwrap();
        write.commit().await.unwrap();
        sees(database, last.to_string(), async || standing("mentor").await).await;
        one.close().await;
        two.close().await;
    })
    .await;
}

/// Answers are cached by themselves, and are out of date as soon as anything in them is.
#[tokio::test(flavor = "multi_thread")]
async fn answers_are_fresh_too() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &tone("warm")).await;
        keep(&one, &linking("guide", &["warm"])).await;
        let answer = async |view: View| -> String {
            two.rendered(&name("guide"), view, render)
                .await
                .unwrap()
                .map_or_else(String::new, |answer| answer.json().to_owned())
        };
        for round in 0..5 {
            for view in [View::Summary, View::Detail] {
                settle_answer(&two, view).await;
            }
            let text = format!("Be warm, {round}.");
            change::<Part>(&one, "warm", |part| part.content = Some(text.clone())).await;
            sees(database, true, async || answer(View::Detail).await.contains(&text)).await;
            sees(database, true, async || answer(View::Summary).await.contains(&text)).await;
        }
        remove::<Persona>(&one, "guide").await;
        sees(database, String::new(), async || answer(View::Summary).await).await;
        one.close().await;
        two.close().await;
    })
    .await;
}

async fn settle_answer(store: &Store, view: View) {
    for _ in 0..100 {
        let one = store.rendered(&name("guide"), view, render).await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        if Arc::ptr_eq(&one, &store.rendered(&name("guide"), view, render).await.unwrap().unwrap()) {
            return;
        }
    }
    panic!("the answer is never cached");
}

/// Lists and searches are never cached: they see everything at once, on both engines.
#[tokio::test(flavor = "multi_thread")]
async fn lists_are_never_out_of_date() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        for at in 0..10 {
            keep(&one, &tone(&format!("narwhal-{at}"))).await;
            let filter = Filter { limit: Some(200), ..Filter::default() };
            let listed = two.list(Kind::Part, &filter).await.unwrap().items;
            assert!(listed.iter().any(|found| found.name.as_str() == format!("narwhal-{at}")));
            assert_eq!(two.search("narwhal", &[], None, None).await.unwrap().items.len(), at + 1);
        }
        assert_eq!(two.names_with_prefix(Kind::Part, "narwhal", 50).await.unwrap().len(), 10);
        one.close().await;
        two.close().await;
    })
    .await;
}

/// The next change that is not about what was there before.
async fn next(changes: &mut Receiver<Change>) -> Change {
    tokio::time::timeout(Duration::from_secs(60), changes.recv()).await.expect("news in time").unwrap()
}

fn entity(kind: Kind, of: &str, listed: bool) -> Change {
    Change::Entity { kind, name: name(of), listed }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_announced_to_every_handle() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        let (mut here, mut there) = (one.changes(), two.changes());
        keep(&one, &tone("warm")).await;
        keep(&one, &linking("guide", &["warm"])).await;
        change::<Part>(&one, "warm", |part| part.content = Some("Be warm.".to_owned())).await;
        let mut write = begin(&one).await;
        let guide = held::<Persona>(&mut write, "guide").await;
        write.replace(&guide, &persona("guide"), Action::Link).await.unwrap();
        write.commit().await.unwrap();
        change::<Part>(&one, "warm", |part| part.name = name("warmer")).await;
        remove::<Persona>(&one, "guide").await;
        let expected = [
            entity(Kind::Part, "warm", true),
            entity(Kind::Persona, "guide", true),
            entity(Kind::Part, "warm", false),
            entity(Kind::Persona, "guide", false),
            entity(Kind::Part, "warm", true),
            entity(Kind::Part, "warmer", true),
            entity(Kind::Persona, "guide", true),
        ];
        for changes in [&mut here, &mut there] {
            for change in &expected {
                assert_eq!(next(changes).await, *change);
            }
        }
        // A transaction announces all that it did, and only once it is committed.
        let mut write = begin(&two).await;
        write.insert(&tone("a"), Action::Create).await.unwrap();
        write.insert(&linking("b", &["a"]), Action::Create).await.unwrap();
        assert!(here.try_recv().is_err() && there.try_recv().is_err());
        write.commit().await.unwrap();
        for changes in [&mut here, &mut there] {
            assert_eq!(next(changes).await, entity(Kind::Part, "a", true));
            assert_eq!(next(changes).await, entity(Kind::Persona, "b", true));
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

/// A node announces its own changes of state.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_state_are_announced() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &arc("path", vec![stage("a", 1, &[]), stage("b", 2, &[])])).await;
        keep(&store, &Persona { arc: Some(name("path")), ..persona("guide") }).await;
        let mut changes = store.changes();
        let mut write = begin(&store).await;
        let guide = held::<Persona>(&mut write, "guide").await;
        write.set_stage(&guide, &name("path"), &name("b")).await.unwrap();
        write.commit().await.unwrap();
        let stage = entity(Kind::Persona, "guide", false);
        while next(&mut changes).await != stage {}
        store.close().await;
    })
    .await;
}

/// A write with more changes than a notification holds says "everything".
#[tokio::test(flavor = "multi_thread")]
async fn a_large_write_is_announced_whole() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &persona("guide")).await;
        settle(&two, "guide").await;
        let before = two.load(&name("guide"), &[]).await.unwrap().unwrap();
        let mut changes = two.changes();
        let mut write = begin(&one).await;
        for at in 0..300 {
            write
                .insert(&tone(&format!("a-rather-long-name-for-a-part-{at:03}")), Action::Create)
                .await
                .unwrap();
        }
        write.commit().await.unwrap();
        let first = next(&mut changes).await;
        match database.engine {
            "sqlite" => assert_eq!(first, entity(Kind::Part, "a-rather-long-name-for-a-part-000", true)),
            _ => assert_eq!(first, Change::Everything),
        }
        let again = two.load(&name("guide"), &[]).await.unwrap().unwrap();
        assert!(!Arc::ptr_eq(&before, &again), "any write anywhere takes everything out of the cache");
        one.close().await;
        two.close().await;
    })
    .await;
}

/// A late subscriber gets no old changes.
#[tokio::test(flavor = "multi_thread")]
async fn old_changes_are_ignored() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        keep(&one, &tone("old")).await;
        // Longer than news takes on either engine.
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        let (mut here, mut there) = (one.changes(), two.changes());
        keep(&one, &tone("new")).await;
        assert_eq!(next(&mut here).await, entity(Kind::Part, "new", true));
        assert_eq!(next(&mut there).await, entity(Kind::Part, "new", true));
        one.close().await;
        two.close().await;
    })
    .await;
}
