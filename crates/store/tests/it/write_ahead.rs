//! Writes that read many entities ahead: they give the answers of a write that looks each of them up.

use std::collections::BTreeSet;

use persona::{Kind, Name, Part, Persona, Scope};
use store::{Action, HistoryKey, RevisionRef};
use testkit::on_each_engine;

use crate::samples::{begin, extending, held, keep, linking, name, open, remove, tone};

fn set(kind: Kind, names: &[&str]) -> BTreeSet<(Kind, Name)> {
    names.iter().map(|of| (kind, name(of))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_ahead_is_found() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let there = keep(&store, &tone("there")).await;
        let gone = keep(&store, &tone("gone")).await;
        remove::<Part>(&store, "gone").await;
        keep(&store, &tone("linked")).await;
        let mut write = begin(&store).await;
        let own = set(Kind::Part, &["there", "gone", "new"]);
        write.read_ahead(&own, &set(Kind::Part, &["there", "linked", "nowhere"])).await.unwrap();
        assert_eq!(held::<Part>(&mut write, "there").await.stored, there);
        for (of, has) in
            [("there", true), ("linked", true), ("gone", false), ("new", false), ("nowhere", false)]
        {
            assert_eq!(write.has(Kind::Part, &name(of)).await.unwrap(), has, "{of}");
            assert_eq!(write.find::<Part>(&name(of)).await.unwrap().is_some(), has, "{of}");
        }
        assert_eq!(write.insert(&tone("new"), Action::Create).await.unwrap().meta.revision, 1);
        assert!(write.has(Kind::Part, &name("new")).await.unwrap());
        // A name never reuses a number, and what comes back as it was is the same entity.
        let back = write.insert(&tone("gone"), Action::Create).await.unwrap().meta;
        assert_eq!((back.revision, back.guid), (3, gone.meta.guid));
        let held_there = held::<Part>(&mut write, "there").await;
        let changed = Part { content: Some("Changed.".to_owned()), ..tone("there") };
        assert_eq!(write.replace(&held_there, &changed, Action::Update).await.unwrap().meta.revision, 2);
        let now = held::<Part>(&mut write, "there").await.stored;
        assert_eq!((now.entity.content, now.meta.revision), (changed.content, 2), "not the one read ahead");
        write.commit().await.unwrap();
        store.close().await;
    })
    .await;
}

/// A rename changes the definitions of others, which may have been read ahead.
#[tokio::test(flavor = "multi_thread")]
async fn a_rename_outdates_what_was_read_ahead() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("old")).await;
        keep(&store, &linking("user", &["old"])).await;
        let mut write = begin(&store).await;
        let own = &set(Kind::Part, &["old"]) | &set(Kind::Persona, &["user"]);
        write.read_ahead(&own, &BTreeSet::new()).await.unwrap();
        let old = held::<Part>(&mut write, "old").await;
        write.replace(&old, &tone("young"), Action::Rename).await.unwrap();
        let user = held::<Persona>(&mut write, "user").await.stored.entity;
        assert_eq!(user.parts[0].name, name("young"));
        assert!(!write.has(Kind::Part, &name("old")).await.unwrap());
        drop(write);
        store.close().await;
    })
    .await;
}

/// Each revision freezes what it refers to, also what the same write made just before it.
#[tokio::test(flavor = "multi_thread")]
async fn a_revision_freezes_pieces_of_the_same_write() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let mut write = begin(&store).await;
        let own = &set(Kind::Part, &["a", "b"]) | &set(Kind::Persona, &["base", "top", "alone"]);
        write.read_ahead(&own, &own).await.unwrap();
        write.insert(&tone("a"), Action::Create).await.unwrap();
        write.insert(&tone("b"), Action::Create).await.unwrap();
        write.insert(&linking("base", &["a"]), Action::Create).await.unwrap();
        let top = Persona { parts: linking("top", &["b"]).parts, ..extending("top", "base") };
        write.insert(&top, Action::Create).await.unwrap();
        write.insert(&Persona::new(name("alone")), Action::Create).await.unwrap();
        write.commit().await.unwrap();
        let refs = async |of: &str| {
            let one = RevisionRef::Number(1);
            let found = store.revision(HistoryKey::SHARED, Kind::Persona, &name(of), &one).await.unwrap();
            let refs = found.unwrap().refs.into_iter();
            let mut refs: Vec<String> =
                refs.map(|found| format!("{} {} {:?}", found.kind, found.name, found.revision)).collect();
            refs.sort();
            refs
        };
        assert_eq!(refs("top").await, ["part a Some(1)", "part b Some(1)", "persona base Some(1)"]);
        assert_eq!(refs("base").await, ["part a Some(1)"]);
        assert_eq!(refs("alone").await, [""; 0]);
        let found = store.search("plainly", &[], None, None).await.unwrap().items;
        let indexed = found.iter().filter(|found| found.scope == Scope::Shared).count();
        assert_eq!(indexed, 2, "{found:?}");
        store.close().await;
    })
    .await;
}
