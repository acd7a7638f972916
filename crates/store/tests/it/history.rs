//! History: revisions by number and by tag, over renames and deletions, and pruning.

use persona::{AnyEntity, CharacterArc, Kind, Part, Persona, Scope, Stored};
use persona::{AsReport as _, Code};
use scopes::Scopes;
use store::{Action, FullRevision, Revision, RevisionRef, Store, Tag, TagOutcome, Tagging};
use testkit::on_each_engine;

use crate::samples::{
    arc, attribution, begin, change, extending, keep, linking, name, open, persona, remove, skill, stage,
    tone,
};

const ALL: usize = 1_000;

async fn history(store: &Store, kind: Kind, of: &str) -> Vec<Revision> {
    let scopes = Scopes::of_database(store.clone());
    scopes.history(Scope::Shared, kind, &name(of), ALL).await.unwrap()
}

fn brief(revisions: &[Revision]) -> Vec<String> {
    revisions.iter().map(|found| format!("{} {} {}", found.action, found.name, found.revision)).collect()
}

async fn revision(store: &Store, kind: Kind, of: &str, wanted: &str) -> Option<FullRevision> {
    let scopes = Scopes::of_database(store.clone());
    scopes.revision(Scope::Shared, kind, &name(of), &RevisionRef::parse(wanted)).await.unwrap()
}

async fn tag(store: &Store, kind: Kind, of: &str, wanted: &str, tag: &str) {
    let outcome = try_tag(store, kind, of, wanted, Tagging { tag, moves: true }).await;
    assert_ne!(outcome, TagOutcome::Taken);
}

async fn try_tag(store: &Store, kind: Kind, of: &str, wanted: &str, tag: Tagging<'_>) -> TagOutcome {
    let found = revision(store, kind, of, wanted).await.unwrap();
    let scopes = Scopes::of_database(store.clone());
    scopes.tag(Scope::Shared, kind, &name(of), &found.about, tag, attribution()).await.unwrap()
}

fn content(found: &FullRevision) -> &str {
    match &found.entity {
        AnyEntity::Part(part) => part.content.as_deref().unwrap(),
        other => panic!("{other:?}"),
    }
}

async fn edit(store: &Store, of: &str, content: &str) {
    change::<Part>(store, of, |part| part.content = Some(content.to_owned())).await;
}

fn names_of_tags(revision: &Revision) -> Vec<String> {
    revision.tags.iter().map(|tag| tag.tag.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_comes_first() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("warm")).await;
        keep(&store, &skill("warm")).await;
        edit(&store, "warm", "two").await;
        edit(&store, "warm", "three").await;
        let all = history(&store, Kind::Part, "warm").await;
        assert_eq!(brief(&all), ["update warm 3", "update warm 2", "create warm 1"]);
        assert_eq!((all[0].author.as_str(), all[0].front.as_str()), ("tester", "test"));
        assert_eq!(all[0].message.as_deref(), Some("because"));
        assert!(all[0].created_at >= all[2].created_at && all[0].tags.is_empty());
        let scopes = Scopes::of_database(store.clone());
        let some = scopes.history(Scope::Shared, Kind::Part, &name("warm"), 2).await.unwrap();
        assert_eq!(some, all[..2]);
        assert!(history(&store, Kind::Part, "nothing").await.is_empty());
        let builtin = scopes.history(Scope::Builtin, Kind::Persona, &name("critic"), 2).await.unwrap_err();
        assert_eq!(builtin.code(), Code::NoHistory);
        let project = scopes.history(Scope::Project, Kind::Part, &name("warm"), 2).await.unwrap_err();
        assert_eq!(project.code(), Code::ScopeNotOpen);

        for (number, text) in [("1", "Speak plainly."), ("2", "two"), ("3", "three")] {
            let found = revision(&store, Kind::Part, "warm", number).await.unwrap();
            assert_eq!((content(&found), found.about.revision.to_string()), (text, number.to_owned()));
        }
        for wanted in ["0", "4", "-1", "99999999999999999999", "production", ""] {
            assert!(revision(&store, Kind::Part, "warm", wanted).await.is_none(), "{wanted}");
        }
        assert!(revision(&store, Kind::Part, "nothing", "1").await.is_none());
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_survives_renames_and_deletions() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("warm")).await;
        edit(&store, "warm", "two").await;
        tag(&store, Kind::Part, "warm", "2", "good").await;
        change::<Part>(&store, "warm", |part| part.name = name("hot")).await;
        edit(&store, "hot", "four").await;
        let expected = ["update hot 4", "rename hot 3", "update warm 2", "create warm 1"];
        assert_eq!(brief(&history(&store, Kind::Part, "hot").await), expected);
        assert_eq!(brief(&history(&store, Kind::Part, "warm").await), expected, "by its old name too");
        assert_eq!(content(&revision(&store, Kind::Part, "hot", "1").await.unwrap()), "Speak plainly.");
        assert_eq!(content(&revision(&store, Kind::Part, "hot", "good").await.unwrap()), "two");

        remove::<Part>(&store, "hot").await;
        assert_eq!(brief(&history(&store, Kind::Part, "hot").await)[0], "delete hot 5");
        assert_eq!(content(&revision(&store, Kind::Part, "hot", "4").await.unwrap()), "four");
        assert_eq!(content(&revision(&store, Kind::Part, "hot", "good").await.unwrap()), "two");
        // A new entity of that name begins its own history, below which the old one stays readable.
        keep(&store, &tone("hot")).await;
        assert_eq!(brief(&history(&store, Kind::Part, "hot").await)[..2], ["create hot 6", "delete hot 5"]);
        assert_eq!(content(&revision(&store, Kind::Part, "hot", "4").await.unwrap()), "four");
        assert!(
            revision(&store, Kind::Part, "hot", "good").await.is_none(),
            "a tag names what it was put on"
        );
        store.close().await;
    })
    .await;
}

/// Puts an earlier content back after a deletion, as a rollback does.
async fn restore(store: &Store, of: &str, content: &str) -> Stored<Part> {
    let mut write = begin(store).await;
    let part = Part { content: Some(content.to_owned()), ..tone(of) };
    let stored = write.insert(&part, Action::Restore).await.unwrap();
    write.commit().await.unwrap();
    stored
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_entity_has_its_tags() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let tagged =
            async |of: &str| revision(&store, Kind::Part, of, "good").await.map(|found| found.about.revision);
        let made = keep(&store, &tone("warm")).await;
        edit(&store, "warm", "two").await;
        tag(&store, Kind::Part, "warm", "1", "good").await;
        remove::<Part>(&store, "warm").await;
        let back = restore(&store, "warm", "Speak plainly.").await;
        assert_eq!((back.meta.guid, back.meta.revision), (made.meta.guid, 4));
        assert_eq!(tagged("warm").await, Some(1));
        assert_eq!(
            brief(&history(&store, Kind::Part, "warm").await)[..2],
            ["restore warm 4", "delete warm 3"]
        );
        // It moves as it did before, rather than to be there twice.
        tag(&store, Kind::Part, "warm", "4", "good").await;
        let tags: Vec<_> = history(&store, Kind::Part, "warm").await.iter().map(names_of_tags).collect();
        assert_eq!(tags, [vec!["good"], vec![], vec![], vec![]]);

        // Made again just as it was, it is the same one; made differently, another.
        remove::<Part>(&store, "warm").await;
        keep(&store, &tone("warm")).await;
        assert_eq!(tagged("warm").await, Some(4));
        remove::<Part>(&store, "warm").await;
        keep(&store, &Part { content: Some("Another.".to_owned()), ..tone("warm") }).await;
        assert_eq!(tagged("warm").await, None);
        let first = restore(&store, "cold", "New.").await;
        assert_eq!((first.meta.revision, first.meta.guid == made.meta.guid), (1, false));
        store.close().await;
    })
    .await;
}

/// A deletion may be all that is left of a name whose entity came back and goes by another now.
#[tokio::test(flavor = "multi_thread")]
async fn an_entity_under_another_name_is_not_restored() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("warm")).await;
        remove::<Part>(&store, "warm").await;
        tag(&store, Kind::Part, "warm", "2", "gone").await;
        let back = restore(&store, "warm", "Back.").await;
        change::<Part>(&store, "warm", |part| part.name = name("hot")).await;
        store.prune(1).await.unwrap();
        let left = brief(&history(&store, Kind::Part, "hot").await);
        assert_eq!(left, ["rename hot 4", "restore warm 3", "delete warm 2"]);
        let other = restore(&store, "warm", "Speak plainly.").await;
        assert_ne!(other.meta.guid, back.meta.guid);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_name_one_revision_each() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let scopes = Scopes::of_database(store.clone());
        for of in ["warm", "cold"] {
            keep(&store, &tone(of)).await;
            edit(&store, of, "two").await;
        }
        tag(&store, Kind::Part, "warm", "1", "production").await;
        tag(&store, Kind::Part, "warm", "1", "it's \"odd\" é").await;
        tag(&store, Kind::Part, "cold", "2", "production").await;
        let number = async |of: &str, tag: &str| {
            revision(&store, Kind::Part, of, tag).await.map(|found| found.about.revision)
        };
        assert_eq!(
            (number("warm", "production").await, number("cold", "production").await),
            (Some(1), Some(2))
        );
        assert_eq!(number("warm", "it's \"odd\" é").await, Some(1));
        let all = history(&store, Kind::Part, "warm").await;
        assert_eq!(names_of_tags(&all[1]), ["it's \"odd\" é", "production"]);
        let Tag { author, front, message, .. } = &all[1].tags[1];
        let given = [author, front, message].map(Option::as_deref);
        assert_eq!(given, [Some("tester"), Some("test"), Some("because")]);
        assert!(all[0].tags.is_empty());
        // Put on another revision, it moves on request; put on the same one, it stays.
        let put = async |moves| {
            try_tag(&store, Kind::Part, "warm", "2", Tagging { tag: "production", moves }).await
        };
        assert_eq!(put(false).await, TagOutcome::Taken);
        assert_eq!(number("warm", "production").await, Some(1));
        assert_eq!(put(true).await, TagOutcome::Tagged);
        assert_eq!((put(false).await, put(true).await), (TagOutcome::Unchanged, TagOutcome::Unchanged));
        assert_eq!(number("warm", "production").await, Some(2));
        let all = history(&store, Kind::Part, "warm").await;
        assert_eq!((names_of_tags(&all[0]), all[1].tags.len()), (vec!["production".to_owned()], 1));

        let untag = async |of: &str, tag: &str| {
            scopes.untag(Scope::Shared, Kind::Part, &name(of), tag).await.unwrap()
        };
        assert!(untag("warm", "production").await);
        assert!(!untag("warm", "production").await && !untag("nothing", "production").await);
        assert_eq!((number("warm", "production").await, number("cold", "production").await), (None, Some(2)));
        let makes_none = history(&store, Kind::Part, "warm").await.len();
        assert_eq!(makes_none, 2, "tags make no revision");
        store.close().await;
    })
    .await;
}

async fn numbers(store: &Store, kind: Kind, of: &str) -> Vec<i64> {
    history(store, kind, of).await.iter().map(|found| found.revision).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn old_revisions_are_forgotten_but_for_tagged_ones() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let scopes = Scopes::of_database(store.clone());
        keep(&store, &tone("warm")).await;
        for at in 2..=6 {
            edit(&store, "warm", &at.to_string()).await;
        }
        keep(&store, &tone("gone")).await;
        edit(&store, "gone", "two").await;
        remove::<Part>(&store, "gone").await;
        keep(&store, &tone("single")).await;
        tag(&store, Kind::Part, "warm", "2", "good").await;
        assert_eq!(scopes.prune(0).await.unwrap_err().code(), Code::OutOfRange);
        assert_eq!(scopes.prune(10).await.unwrap(), 0);
        assert_eq!(scopes.prune(3).await.unwrap(), 2, "1 and 3 of warm");
        assert_eq!(numbers(&store, Kind::Part, "warm").await, [6, 5, 4, 2]);
        assert_eq!(scopes.prune(1).await.unwrap(), 4);
        assert_eq!(numbers(&store, Kind::Part, "warm").await, [6, 2]);
        assert_eq!(numbers(&store, Kind::Part, "gone").await, [3], "that it was deleted, and what it was");
        assert_eq!(numbers(&store, Kind::Part, "single").await, [1]);
        assert_eq!(content(&revision(&store, Kind::Part, "warm", "good").await.unwrap()), "2");
        assert_eq!(scopes.prune(1).await.unwrap(), 0);
        // Numbers go on where they were.
        edit(&store, "warm", "seven").await;
        assert_eq!(numbers(&store, Kind::Part, "warm").await, [7, 6, 2]);
        assert_eq!(keep(&store, &tone("gone")).await.meta.revision, 4);
        scopes.untag(Scope::Shared, Kind::Part, &name("warm"), "good").await.unwrap();
        assert_eq!(scopes.prune(1).await.unwrap(), 2);
        assert_eq!(numbers(&store, Kind::Part, "warm").await, [7]);
        store.close().await;
    })
    .await;
}

/// References of tagged revisions survive pruning at any depth; others do not.
#[tokio::test(flavor = "multi_thread")]
async fn references_of_tagged_revisions_stay() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let scopes = Scopes::of_database(store.clone());
        for of in ["warm", "staged", "loose"] {
            keep(&store, &tone(of)).await;
        }
        keep(&store, &arc("path", vec![stage("one", 1, &["staged"])])).await;
        keep(&store, &Persona { arc: Some(name("path")), ..linking("root", &["warm"]) }).await;
        keep(&store, &extending("leaf", "root")).await;
        tag(&store, Kind::Persona, "leaf", "1", "v1").await;
        for at in 0..3 {
            for of in ["warm", "staged", "loose"] {
                edit(&store, of, &at.to_string()).await;
            }
            change::<CharacterArc>(&store, "path", |path| path.summary = Some(at.to_string())).await;
            change::<Persona>(&store, "root", |root| root.summary = Some(at.to_string())).await;
            change::<Persona>(&store, "leaf", |leaf| leaf.summary = Some(at.to_string())).await;
        }
        scopes.prune(1).await.unwrap();
        for (kind, of) in [(Kind::Part, "warm"), (Kind::Part, "staged"), (Kind::Arc, "path")] {
            assert_eq!(numbers(&store, kind, of).await, [4, 1], "{kind} {of}");
        }
        for of in ["root", "leaf"] {
            assert_eq!(numbers(&store, Kind::Persona, of).await, [4, 1], "{of}");
        }
        assert_eq!(numbers(&store, Kind::Part, "loose").await, [4]);
        // The same name of another kind is another thing.
        keep(&store, &persona("warm")).await;
        change::<Persona>(&store, "warm", |warm| warm.summary = Some("x".to_owned())).await;
        scopes.prune(1).await.unwrap();
        assert_eq!(numbers(&store, Kind::Persona, "warm").await, [2]);
        store.close().await;
    })
    .await;
}

/// An old number would fit another entity otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_was_given_up_counts_on_after_forgetting() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("warm")).await;
        edit(&store, "warm", "two").await;
        change::<Part>(&store, "warm", |part| part.name = name("mild")).await;
        edit(&store, "mild", "four").await;
        assert_eq!(store.prune(1).await.unwrap(), 2, "the first of warm and of mild");
        assert_eq!(brief(&history(&store, Kind::Part, "mild").await), ["update mild 4", "update warm 2"]);
        assert_eq!(keep(&store, &tone("warm")).await.meta.revision, 3);
        store.close().await;
    })
    .await;
}

/// A revision that is tagged during pruning is there afterwards, or was not tagged.
#[tokio::test(flavor = "multi_thread")]
async fn tagging_and_forgetting_at_once_leaves_no_tag_of_nothing() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let scopes = Scopes::of_database(store.clone());
        keep(&store, &tone("warm")).await;
        keep(&store, &linking("guide", &["warm"])).await;
        for round in 0..20 {
            let newest = history(&store, Kind::Persona, "guide").await.remove(0);
            edit(&store, "warm", &round.to_string()).await;
            change::<Persona>(&store, "guide", |guide| guide.summary = Some(round.to_string())).await;
            let guide = name("guide");
            let good = Tagging { tag: "good", moves: true };
            let tagging = scopes.tag(Scope::Shared, Kind::Persona, &guide, &newest, good, attribution());
            let (tagged, forgotten) = tokio::join!(tagging, store.prune(1));
            forgotten.unwrap();
            match tagged {
                Err(error) => assert_eq!(error.code(), Code::ForgottenRevision, "{error}"),
                Ok(_) => {
                    let found = revision(&store, Kind::Persona, "guide", "good").await.unwrap();
                    scopes.frozen(Scope::Shared, &found).await.unwrap();
                }
            }
        }
        store.close().await;
    })
    .await;
}
