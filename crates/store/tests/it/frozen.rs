//! A tagged persona keeps its whole prompt, whatever becomes of everything that it is made of.

use persona::{Bundle, CharacterArc, Guardrail, Kind, Part, Persona, Scope, Skill, Trait};
use scopes::Scopes;
use store::{FullRevision, RevisionRef, Store};
use testkit::{Database, on_each_engine};

use crate::samples::{
    arc, attribution, base, begin, change, full_persona, guardrail, held, keep, keep_pieces, linking, name,
    names, open, part, persona, prompt, remove, skill, stage, trait_,
};

async fn live(store: &Store, of: &str) -> Bundle {
    store.load(&name(of), &[]).await.unwrap().unwrap().bundle.clone()
}

async fn tagged(store: &Store, of: &str, wanted: &str) -> FullRevision {
    let scopes = Scopes::of_database(store.clone());
    let found = scopes.revision(Scope::Shared, Kind::Persona, &name(of), &RevisionRef::parse(wanted)).await;
    found.unwrap().unwrap_or_else(|| panic!("no {of} {wanted}"))
}

async fn tag_newest(store: &Store, of: &str, tag: &str) {
    let scopes = Scopes::of_database(store.clone());
    let newest = scopes.history(Scope::Shared, Kind::Persona, &name(of), 1).await.unwrap().remove(0);
    scopes.tag(Scope::Shared, Kind::Persona, &name(of), &newest, tag, attribution()).await.unwrap();
}

async fn frozen(store: &Store, of: &str, wanted: &str) -> Bundle {
    let scopes = Scopes::of_database(store.clone());
    let revision = tagged(store, of, wanted).await;
    scopes.frozen(Scope::Shared, &revision).await.unwrap().unwrap()
}

/// A persona that has all kinds of pieces itself and from two bases, the last of which is builtin.
async fn open_with_leaf(database: &Database) -> Store {
    let store = open(database).await;
    keep_pieces(&store).await;
    let stages = vec![stage("early", 1, &["hushed"]), stage("late", 2, &["loud"])];
    keep(&store, &part("hushed", persona::PartType::Voice, "Hush at first.")).await;
    keep(&store, &part("loud", persona::PartType::Voice, "Be loud in the end.")).await;
    keep(&store, &part("aim", persona::PartType::Goal, "Aim well.")).await;
    keep(&store, &arc("climb", stages)).await;
    keep(&store, &trait_("curious")).await;
    keep(&store, &skill("reading")).await;
    keep(&store, &guardrail("careful")).await;
    keep(&store, &Persona { arc: Some(name("climb")), ..full_persona("root") }).await;
    let leaf = Persona {
        extends: base("root"),
        system_prompt: Some("You are the leaf.".to_owned()),
        traits: names(&["curious"]),
        skills: names(&["reading"]),
        guardrails: names(&["careful"]),
        ..linking("leaf", &["aim"])
    };
    keep(&store, &leaf).await;
    store
}

async fn change_everything(store: &Store) {
    for of in ["warm", "cold", "hushed", "loud", "aim"] {
        change::<Part>(store, of, |part| part.content = Some(format!("{of} was changed."))).await;
    }
    change::<Trait>(store, "curious", |item| item.instruction = Some("Changed.".to_owned())).await;
    change::<Skill>(store, "reading", |skill| skill.description = Some("Changed.".to_owned())).await;
    change::<Guardrail>(store, "careful", |rail| rail.content = Some("Changed.".to_owned())).await;
    change::<CharacterArc>(store, "climb", |climb| {
        for stage in &mut climb.stages {
            stage.parts = names(&["aim"]);
        }
    })
    .await;
    change::<Persona>(store, "root", |root| {
        root.system_prompt = Some("Changed.".to_owned());
        root.parts.clear();
        root.extends = None;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_do_not_reach_tagged_revisions() {
    on_each_engine(async |database| {
        let store = open_with_leaf(database).await;
        tag_newest(&store, "leaf", "production").await;
        let before = live(&store, "leaf").await;
        let expected = prompt(&before);
        for text in ["You are the leaf.", "Aim well.", "Hush at first.", "Let them finish.", "Never lie."] {
            assert!(expected.contains(text), "{text} is not in\n{expected}");
        }
        let same = frozen(&store, "leaf", "production").await;
        assert_eq!(prompt(&same), expected, "nothing changed yet");
        assert_eq!((same.meta.revision, same.meta.scope), (before.meta.revision, Scope::Shared));

        change_everything(&store).await;
        change::<Persona>(&store, "leaf", |leaf| {
            leaf.extends = None;
            leaf.parts.clear();
            leaf.system_prompt = Some("Changed.".to_owned());
        })
        .await;
        assert_ne!(prompt(&live(&store, "leaf").await), expected);
        assert_eq!(prompt(&frozen(&store, "leaf", "production").await), expected);
        assert_eq!(prompt(&frozen(&store, "leaf", "1").await), expected, "by its number too");
        assert_ne!(prompt(&frozen(&store, "leaf", "2").await), expected);
        store.close().await;
    })
    .await;
}

/// Everything is deleted or renamed, the persona itself in the end.
#[tokio::test(flavor = "multi_thread")]
async fn deletions_do_not_reach_tagged_revisions() {
    on_each_engine(async |database| {
        let store = open_with_leaf(database).await;
        tag_newest(&store, "leaf", "production").await;
        let expected = prompt(&live(&store, "leaf").await);
        change::<Part>(&store, "aim", |part| part.name = name("goal")).await;
        change::<Persona>(&store, "leaf", |leaf| *leaf = persona("leaf")).await;
        remove::<Persona>(&store, "root").await;
        for of in ["climb", "path"] {
            remove::<CharacterArc>(&store, of).await;
        }
        for of in ["warm", "cold", "hushed", "loud", "goal"] {
            remove::<Part>(&store, of).await;
        }
        remove::<Trait>(&store, "curious").await;
        remove::<Skill>(&store, "reading").await;
        remove::<Guardrail>(&store, "careful").await;
        assert_eq!(prompt(&frozen(&store, "leaf", "production").await), expected);
        // Others that take the names are others.
        keep(&store, &part("aim", persona::PartType::Goal, "Of another author.")).await;
        keep(&store, &persona("root")).await;
        keep(&store, &Persona { system_prompt: Some("Not the builtin.".to_owned()), ..persona("critic") })
            .await;
        assert_eq!(prompt(&frozen(&store, "leaf", "production").await), expected);
        Scopes::of_database(store.clone()).prune(1).await.unwrap();
        assert_eq!(prompt(&frozen(&store, "leaf", "production").await), expected, "after forgetting");
        remove::<Persona>(&store, "leaf").await;
        assert_eq!(prompt(&frozen(&store, "leaf", "production").await), expected);
        store.close().await;
    })
    .await;
}

/// A persona may refer to missing pieces now; its frozen revision is complete.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_chain_does_not_reach_tagged_revisions() {
    on_each_engine(async |database| {
        let store = open_with_leaf(database).await;
        tag_newest(&store, "leaf", "production").await;
        let expected = prompt(&live(&store, "leaf").await);
        remove::<Persona>(&store, "root").await;
        assert!(store.load(&name("leaf"), &[]).await.is_err(), "its base is gone");
        assert_eq!(prompt(&frozen(&store, "leaf", "production").await), expected);
        store.close().await;
    })
    .await;
}

/// The stage is state: a frozen persona has the current stage, if the arc had it then.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_persona_has_its_current_stage() {
    on_each_engine(async |database| {
        let store = open_with_leaf(database).await;
        tag_newest(&store, "leaf", "v1").await;
        let early = prompt(&live(&store, "leaf").await);
        let put = async |arc: &str, into: &str| {
            let mut write = begin(&store).await;
            let leaf = held::<Persona>(&mut write, "leaf").await;
            write.set_stage(&leaf, &name(arc), &name(into)).await.unwrap();
            write.commit().await.unwrap();
        };
        put("climb", "late").await;
        let late = prompt(&live(&store, "leaf").await);
        assert!(late.contains("Be loud in the end.") && !late.contains("Hush"), "{late}");
        change_everything(&store).await;
        let again = frozen(&store, "leaf", "v1").await;
        assert_eq!((again.stage.as_ref().unwrap().stage.as_str(), prompt(&again)), ("late", late));
        change::<CharacterArc>(&store, "climb", |climb| climb.stages.push(stage("last", 3, &[]))).await;
        put("climb", "last").await;
        let before_it_was = frozen(&store, "leaf", "v1").await;
        assert_eq!(before_it_was.stage.as_ref().unwrap().stage, name("early"));
        assert_eq!(prompt(&before_it_was), early);
        // Under another name it is the same persona.
        put("climb", "late").await;
        change::<Persona>(&store, "leaf", |leaf| leaf.name = name("petal")).await;
        assert_eq!(frozen(&store, "petal", "v1").await.stage.unwrap().stage, name("late"));
        store.close().await;
    })
    .await;
}
