//! A name that several entities had: every revision that its history lists can be asked for and
//! tagged.

use app::{Code, Remedy, RevisionRef};
use persona::{Kind, Scope};
use serde_json::json;

use crate::world::{World, at_revision, in_each_world, input, name, refused, renaming};

/// A world's personas of one scope.
struct Shelf<'a>(&'a World, Scope);

impl Shelf<'_> {
    async fn create(&self, of: &str, summary: &str) {
        self.0.persona(self.1, json!({ "name": of, "summary": summary })).await;
    }

    async fn delete(&self, of: &str) {
        let delete = json!({ "name": of, "scope": self.1 });
        self.0.library.delete(&self.0.author, Kind::Persona, input(delete)).await.unwrap();
    }

    async fn rename(&self, old: &str, new: &str) {
        let World { library, author, .. } = self.0;
        library.rename(author, renaming(Kind::Persona, old, new, Some(self.1))).await.unwrap();
    }

    async fn tag(&self, of: &str, revision: &str, tag: &str) {
        let wanted = RevisionRef::parse(revision);
        let World { library, author, .. } = self.0;
        library.tag(author, Kind::Persona, &name(of), Some(self.1), Some(&wanted), tag).await.unwrap();
    }

    async fn summary(&self, of: &str, revision: &str) -> app::Result<String> {
        let get = json!({ "kind": "persona", "name": of, "revision": revision, "scope": self.1 });
        let shown = self.0.library.get_entity(&input(get)).await?;
        Ok(shown.entity.to_json()["summary"].as_str().unwrap_or_default().to_owned())
    }

    /// The tags that a history lists, and whether they are another one's.
    async fn tags(&self, of: &str) -> Vec<(String, bool)> {
        let history = self.0.library.history(Kind::Persona, &name(of), Some(self.1), None).await.unwrap();
        let tagged = history.items.into_iter().flat_map(|item| item.tagged);
        tagged.map(|tag| (tag.tag, tag.of_another)).collect()
    }

    /// The references of a history with their summaries, newest first.
    async fn references(&self, of: &str) -> Vec<(String, String)> {
        let history = self.0.library.history(Kind::Persona, &name(of), Some(self.1), None).await.unwrap();
        let mut told = Vec::new();
        for item in history.items {
            let ask_for = item.ask_for.unwrap_or_else(|| item.revision.to_string());
            let summary = self.summary(of, &ask_for).await.unwrap();
            told.push((ask_for, summary));
        }
        told
    }
}

/// Two that had the name gave the same tag: neither is asked for by it now.
#[tokio::test(flavor = "multi_thread")]
async fn tags_of_earlier_entities_are_marked() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let shelf = Shelf(world, scope);
            for (of, summary) in [("moved", "FIRST"), ("gone", "SECOND")] {
                shelf.create("a", summary).await;
                let newest = world.entity(Kind::Persona, scope, "a").await["revision"].to_string();
                shelf.tag("a", &newest, "production").await;
                match of {
                    "moved" => shelf.rename("a", of).await,
                    _ => shelf.delete("a").await,
                }
            }
            shelf.create("a", "THIRD").await;
            let another = ("production".to_owned(), true);
            assert_eq!(shelf.tags("a").await, [another.clone(), another], "{scope}");
            let earlier = refused(shelf.summary("a", "production").await);
            assert_eq!(earlier.code, Code::UnknownRevision);
            assert!(matches!(earlier.remedies[..], [Remedy::AskForRevision { .. }]), "{earlier:?}");
            assert_eq!(shelf.tags("moved").await, [("production".to_owned(), false)], "{scope}");
            assert_eq!(shelf.summary("moved", "production").await.unwrap(), "FIRST");
        }
    })
    .await;
}

/// The name `a` with what it had been before: an OLD that was renamed away and came back, and a NEW
/// that had its name meanwhile.
async fn taken_back(shelf: &Shelf<'_>) {
    shelf.create("a", "OLD").await;
    shelf.rename("a", "b").await;
    shelf.create("a", "NEW").await;
    shelf.tag("a", "2", "production").await;
    shelf.delete("a").await;
    shelf.rename("b", "a").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_revision_of_a_name_can_be_asked_for() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            let shelf = Shelf(world, scope);
            taken_back(&shelf).await;
            let told = shelf.references("a").await;
            let summaries: Vec<&str> = told.iter().map(|(_, summary)| summary.as_str()).collect();
            assert_eq!(summaries, ["OLD", "OLD", "OLD", "NEW", "NEW"], "{scope} {told:?}");
            let numbers: Vec<&str> = told.iter().map(|(ask_for, _)| ask_for.as_str()).collect();
            let [newest, "2", "1", "3", earlier] = numbers[..] else { panic!("{scope} {numbers:?}") };
            assert_eq!(newest, "4", "{scope}");
            let tagged = refused(shelf.summary("a", "production").await);
            let ask = Remedy::AskForRevision { revision: earlier.to_owned() };
            assert_eq!((tagged.code, tagged.remedies), (Code::UnknownRevision, vec![ask]), "{scope}");
            shelf.tag("a", earlier, "production").await;
            assert_eq!(shelf.summary("a", "production").await.unwrap(), "NEW", "{scope}");
            let history = world.library.history(Kind::Persona, &name("a"), Some(scope), None).await.unwrap();
            let tags: Vec<&String> = history.items.iter().flat_map(|item| &item.tags).collect();
            assert_eq!(tags, ["production"], "{scope}: that of the earlier one means nothing now");
            let (entity, _) = earlier.split_once(':').unwrap();
            let wrong = format!("{entity}:9");
            let unknown = shelf.summary("a", &wrong).await;
            assert_eq!(at_revision(unknown), (Code::UnknownRevision, Some(wrong)), "{scope}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_were_exchanged_list_no_number_twice() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let shelf = Shelf(world, scope);
            shelf.create("a", "FIRST").await;
            shelf.create("b", "SECOND").await;
            shelf.rename("a", "c").await;
            shelf.rename("b", "a").await;
            shelf.rename("c", "b").await;
            for (of, own, other) in [("a", "SECOND", "FIRST"), ("b", "FIRST", "SECOND")] {
                let told = shelf.references(of).await;
                let owned = told.iter().take_while(|(_, summary)| summary == own).count();
                assert!(owned >= 2 && told[owned..].iter().all(|(_, summary)| summary == other), "{told:?}");
                let mut asked: Vec<&String> = told.iter().map(|(ask_for, _)| ask_for).collect();
                asked.sort();
                asked.dedup();
                assert_eq!(asked.len(), told.len(), "{scope} {told:?}");
                let diff =
                    world.library.diff(Kind::Persona, &name(of), Some(scope), None, None).await.unwrap();
                assert_eq!(
                    (diff.fields.len(), diff.note),
                    (0, None),
                    "{scope}: the rename is the last change"
                );
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_of_an_earlier_one_can_be_tagged() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let shelf = Shelf(world, scope);
            shelf.create("a", "OLD").await;
            shelf.delete("a").await;
            shelf.create("a", "NEW").await;
            shelf.create("a", "NEWER").await;
            shelf.tag("a", "1", "production").await;
            assert_eq!(shelf.summary("a", "production").await.unwrap(), "OLD", "{scope}");
            // It stays when old revisions are forgotten, and follows its persona to another name.
            world.library.prune(1).await.unwrap();
            shelf.rename("a", "b").await;
            assert_eq!(shelf.summary("b", "production").await.unwrap(), "OLD", "{scope}");
            // The history lists it, with what to ask for under this name.
            let told = shelf.references("b").await;
            assert!(
                told.iter().any(|(ask_for, summary)| ask_for.ends_with(":1") && summary == "OLD"),
                "{told:?}"
            );
            let tags = shelf.tags("b").await;
            assert_eq!(tags, [("production".to_owned(), false)], "{scope}");
            let untagged = world.library.untag(Kind::Persona, &name("b"), Some(scope), "production").await;
            assert!(untagged.unwrap());
            let World { library, author, .. } = world;
            let tag = library.tag(author, Kind::Persona, &name("b"), Some(scope), None, "1a2b3c4d:2").await;
            let refusal = refused(tag);
            assert_eq!((refusal.code, refusal.remedies), (Code::InvalidTag, vec![Remedy::OtherTag]));
        }
    })
    .await;
}
