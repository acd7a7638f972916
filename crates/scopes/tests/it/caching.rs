//! Answers for personas of files are cached, and never older than what they are made of.

use std::sync::Arc;

use persona::{CompiledText, Part, Persona, Scope, View};
use scopes::{Overrides, Scopes};
use store::Rendered;
use testkit::{Database, Files, on_each_engine};

use super::{begin_in, change_in, held_in, load, reread};
use crate::samples::{change, keep, linking, name, open, part, persona, render, sees};

const FILE: &str = "[personas.guide]\nparts = [\"voice\", \"shared-voice\"]\narc = \"path\"\n\
                    [parts.voice]\npart_type = \"voice\"\ncontent = \"Round 0.\"\n\
                    [arcs.path]\nstages = [{ name = \"one\" }, { name = \"two\" }]\n";

async fn answer(scopes: &Scopes, of: &str) -> Option<Arc<Rendered>> {
    scopes.rendered(&name(of), None, View::Detail, render).await.unwrap()
}

async fn says(scopes: &Scopes, of: &str, text: &str) -> bool {
    answer(scopes, of).await.unwrap().json().contains(text)
}

/// Waits until an answer comes from the cache: until no news of earlier writes is under way.
async fn settle(scopes: &Scopes, of: &str) {
    for _ in 0..100 {
        let one = answer(scopes, of).await.unwrap();
        let whole = scopes.load(&name(of), None, &Overrides::new()).await.unwrap().unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let again = scopes.load(&name(of), None, &Overrides::new()).await.unwrap().unwrap();
        if Arc::ptr_eq(&one, &answer(scopes, of).await.unwrap()) && Arc::ptr_eq(&whole, &again) {
            return;
        }
    }
    panic!("{of} is never cached");
}

/// Each arrangement of the two databases: one file for both, or the local one apart.
async fn in_each_arrangement(test: impl AsyncFn(&Database, &Files, &Scopes)) {
    on_each_engine(async |database| {
        for apart in [false, true] {
            let fresh;
            let database = match (apart, database.engine) {
                (true, "sqlite") => {
                    fresh = Database::sqlite();
                    &fresh
                }
                (true, _) => continue,
                _ => database,
            };
            let files = Files::new();
            let store = open(database).await;
            keep(&store, &part("shared-voice", persona::PartType::Voice, "Shared 0.")).await;
            keep(&store, &linking("plain", &["shared-voice"])).await;
            store.close().await;
            files.write(Scope::Project, FILE);
            let scopes = if apart { files.open_apart(database).await } else { files.open(database).await };
            test(database, &files, &scopes).await;
            scopes.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_in_the_next_answer() {
    in_each_arrangement(async |_, files, scopes| {
        for round in 1..10 {
            settle(scopes, "guide").await;
            let text = format!("Round {round}.");
            files.write(Scope::Project, &FILE.replace("Round 0.", &text));
            reread(scopes, Scope::Project).await;
            assert!(says(scopes, "guide", &text).await, "round {round}");
            assert_eq!(load(scopes, "guide").await.parts[0].content, Some(text));
        }
        settle(scopes, "guide").await;
        change_in::<Part>(scopes, Scope::Project, "voice", |voice| {
            voice.content = Some("Written.".to_owned());
        })
        .await;
        assert!(says(scopes, "guide", "Written.").await);
    })
    .await;
}

/// The answer includes data from the database and state.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_database_is_in_the_next_answer() {
    in_each_arrangement(async |_, _, scopes| {
        settle(scopes, "guide").await;
        change::<Part>(scopes.database(), "shared-voice", |voice| {
            voice.content = Some("Shared 1.".to_owned());
        })
        .await;
        assert!(says(scopes, "guide", "Shared 1.").await && says(scopes, "plain", "Shared 1.").await);
        settle(scopes, "guide").await;
        let mut write = begin_in(scopes, Scope::Project).await;
        let guide = held_in::<Persona>(&mut write, "guide").await;
        write.set_stage(&guide, &name("path"), &name("two")).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(load(scopes, "guide").await.stage.unwrap().stage, name("two"));
        settle(scopes, "guide").await;
        let text = CompiledText {
            summary: "Compiled.".to_owned(),
            detail: "Compiled.".to_owned(),
            fingerprint: persona::fingerprint(&load(scopes, "guide").await.assembled()),
        };
        scopes.store_compiled(Scope::Project, &name("guide"), &text).await.unwrap();
        assert!(says(scopes, "guide", "Compiled.").await);
    })
    .await;
}

/// Another process over the same files and databases, which does not watch them.
#[tokio::test(flavor = "multi_thread")]
async fn another_process_is_in_the_next_answer() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &part("shared-voice", persona::PartType::Voice, "Shared 0.")).await;
        store.close().await;
        files.write(Scope::Project, FILE);
        let (one, two) = (files.open(database).await, files.open(database).await);
        settle(&two, "guide").await;
        let mut write = begin_in(&one, Scope::Project).await;
        let guide = held_in::<Persona>(&mut write, "guide").await;
        write.set_stage(&guide, &name("path"), &name("two")).await.unwrap();
        write.commit().await.unwrap();
        let standing = async || load(&two, "guide").await.stage.unwrap().stage.to_string();
        assert_eq!(standing().await, "two", "the local database is looked at before each answer");
        settle(&two, "guide").await;
        change::<Part>(one.database(), "shared-voice", |voice| voice.content = Some("Shared 1.".to_owned()))
            .await;
        sees(database, true, async || says(&two, "guide", "Shared 1.").await).await;
        one.close().await;
        two.close().await;
    })
    .await;
}

/// A name goes from shared to a file and back: no answer of one is ever given for the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_changes_its_scope_is_never_mistaken() {
    in_each_arrangement(async |database, files, scopes| {
        let hiding = format!("{FILE}[personas.plain]\nsummary = \"in the file\"\n");
        files.write(Scope::Project, &hiding);
        reread(scopes, Scope::Project).await;
        assert!(says(scopes, "plain", "in the file").await);
        scopes.close().await;
        // In a process that finds everything recorded already, every count starts anew.
        let local_is_apart = std::path::Path::new(&files.local_apart().location).exists();
        let open = async || {
            if local_is_apart { files.open_apart(database).await } else { files.open(database).await }
        };
        for round in 0..6 {
            files.write(Scope::Project, &hiding);
            open().await.close().await;
            let scopes = open().await;
            // Cached at different counts of the two databases.
            for at in 0..round {
                keep(scopes.database(), &persona(&format!("other-{round}-{at}"))).await;
            }
            for turn in 0..4 {
                assert!(says(&scopes, "plain", "in the file").await, "{round} {turn}");
                assert_eq!(load(&scopes, "plain").await.meta.scope, Scope::Project, "{round} {turn}");
                files.write(Scope::Project, FILE);
                reread(&scopes, Scope::Project).await;
                assert!(!says(&scopes, "plain", "in the file").await, "{round} {turn}");
                assert_eq!(load(&scopes, "plain").await.meta.scope, Scope::Shared, "{round} {turn}");
                files.write(Scope::Project, &hiding);
                reread(&scopes, Scope::Project).await;
            }
            scopes.close().await;
        }
    })
    .await;
}
