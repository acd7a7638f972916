//! Writes that only propose: each sees those before it, and the library stays as it is.

use std::sync::Arc;

use persona::{AnyEntity, Kind, Part, Persona, Scope, Skill};
use scopes::{Error, Proposal, ProposedChange, Scopes};
use testkit::{Files, on_each_engine};

use super::{begin_in, change_in, held_in, keep_in, remove_in};
use crate::samples::{linking, name, skill, tone};

async fn opened(database: &testkit::Database) -> (Files, Scopes, Scopes, Arc<Proposal>) {
    let files = Files::new();
    files.write(Scope::Project, "[skills.mine]\ncontent = 'By hand.' # kept\n");
    let scopes = files.open(database).await;
    let proposal = Arc::new(Proposal::default());
    let proposing = scopes.proposing(Arc::clone(&proposal));
    (files, scopes, proposing, proposal)
}

/// Each change as `scope kind name base`, `-` before one that deletes.
fn words(changes: &[ProposedChange]) -> Vec<String> {
    let worded = changes.iter().map(|change| {
        let gone = if change.after.is_none() { "-" } else { "" };
        format!("{gone}{} {} {} {}", change.scope, change.kind, change.name, change.base())
    });
    worded.collect()
}

async fn content(scopes: &Scopes, of: &str) -> Option<String> {
    let skill = scopes.get::<Skill>(&name(of), None).await.unwrap()?;
    skill.entity.content
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_add_up_without_a_trace() {
    on_each_engine(async |database| {
        let (files, scopes, proposing, proposal) = opened(database).await;
        let text = files.read(Scope::Project);
        keep_in(&scopes, Scope::Shared, &skill("first")).await;
        for turn in 1..=3 {
            for (scope, of) in [(Scope::Shared, "first"), (Scope::Project, "mine")] {
                let edit = |skill: &mut Skill| skill.content = Some(format!("Turn {turn}."));
                let changed = change_in::<Skill>(&proposing, scope, of, edit).await;
                assert_eq!(content(&proposing, of).await, Some(format!("Turn {turn}.")));
                // The next write begins with the revision that this read has.
                let read = proposing.get::<Skill>(&name(of), None).await.unwrap().unwrap();
                let mut write = begin_in(&proposing, scope).await;
                let held = held_in::<Skill>(&mut write, of).await;
                assert_eq!(held.stored.meta.revision, read.meta.revision, "{of}, {changed:?}");
            }
        }
        // New ones refer to each other, in one scope and across scopes.
        keep_in(&proposing, Scope::Shared, &tone("voice")).await;
        keep_in(&proposing, Scope::Shared, &linking("ada", &["voice"])).await;
        assert_eq!(proposing.scopes_of(Kind::Persona, &name("ada")).await.unwrap(), [Scope::Shared]);
        assert_eq!(
            words(&proposal.all()),
            ["shared part voice 0", "shared skill first 1", "project skill mine 1", "shared persona ada 0",]
        );
        assert_eq!(files.read(Scope::Project), text);
        assert_eq!(content(&scopes, "first").await, skill("first").content);
        assert_eq!(scopes.get::<Persona>(&name("ada"), None).await.unwrap(), None);
        let history = scopes.history(Scope::Shared, Kind::Skill, &name("first"), 10).await.unwrap();
        assert_eq!(history.len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_taken_back_is_none() {
    on_each_engine(async |database| {
        let (_files, scopes, proposing, proposal) = opened(database).await;
        keep_in(&scopes, Scope::Shared, &tone("calm")).await;
        change_in::<Part>(&proposing, Scope::Shared, "calm", |part| part.content = Some("New.".to_owned()))
            .await;
        assert_eq!(words(&proposal.take_new()), ["shared part calm 1"]);
        change_in::<Part>(&proposing, Scope::Shared, "calm", |it| *it = tone("calm")).await;
        let news = proposal.take_new();
        let entity =
            |stored: &Option<persona::Stored<AnyEntity>>| stored.as_ref().map(|it| it.entity.clone());
        assert_eq!(entity(&news[0].before), entity(&news[0].after));
        assert!(proposal.all().is_empty() && proposal.take_new().is_empty());
        // A deletion, and a new one in its place.
        remove_in::<Part>(&proposing, Scope::Shared, "calm").await;
        assert_eq!(words(&proposal.all()), ["-shared part calm 1"]);
        assert_eq!(proposing.get::<Part>(&name("calm"), None).await.unwrap(), None);
        keep_in(&proposing, Scope::Shared, &tone("calm")).await;
        assert!(proposal.all().is_empty());
    })
    .await;
}

/// Nothing is built on a state that is gone. The next attempt begins with what is there.
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_in_between_ends_a_proposed_change() {
    on_each_engine(async |database| {
        let (_files, scopes, proposing, proposal) = opened(database).await;
        keep_in(&scopes, Scope::Shared, &skill("first")).await;
        let by = |text: &'static str| move |skill: &mut Skill| skill.content = Some(text.to_owned());
        change_in::<Skill>(&proposing, Scope::Shared, "first", by("Proposed.")).await;
        change_in::<Skill>(&scopes, Scope::Shared, "first", by("By hand.")).await;
        let refused = proposing.write(Scope::Shared, crate::attribution()).await;
        assert!(matches!(refused, Err(Error::Store(store::Error::Raced { .. }))), "{refused:?}");
        assert!(proposal.all().is_empty());
        assert_eq!(content(&proposing, "first").await.as_deref(), Some("By hand."));
        begin_in(&proposing, Scope::Shared).await;
    })
    .await;
}
