//! A history that cannot be written: the file counts all the same, and Masque does not write to it.

use persona::{Code, Kind, Scope, Skill};
use scopes::Error;
use store::Action;
use testkit::{Database, Files};

use super::{begin_in, brief, change_in, held_in, history, keep_in};
use crate::samples::{attribution, name, skill};

/// Makes every commit of a file's history fail, like a full disk.
const REFUSING: [&str; 3] = [
    "CREATE TABLE somewhere (id integer PRIMARY KEY)",
    "CREATE TABLE nowhere (id integer REFERENCES somewhere (id) DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TRIGGER refuse AFTER UPDATE ON file_origins BEGIN INSERT INTO nowhere VALUES (-1); END",
];

async fn refuse(local: &Database) {
    for sql in REFUSING {
        local.execute(sql).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_cannot_be_recorded_is_taken_back_from_all_files() {
    let (database, files) = (Database::sqlite(), Files::new());
    let text =
        "[skills.reading]\ncontent_file = \"prompts/reading.md\"\n\n[skills.writing]\ncontent = \"Write.\"\n";
    files.write_beside(Scope::Project, "prompts/reading.md", "Read slowly.");
    files.write(Scope::Project, text);
    let scopes = files.open(&database).await;
    refuse(&files.local(&database)).await;

    let mut write = begin_in(&scopes, Scope::Project).await;
    for of in ["reading", "writing"] {
        let held = held_in::<Skill>(&mut write, of).await;
        let changed = Skill { content: Some("Faster.".to_owned()), ..held.stored.entity.clone() };
        write.replace(&held, &changed, Action::Update).await.unwrap();
    }
    write.insert(&skill("singing"), Action::Create).await.unwrap();
    write.commit().await.unwrap_err();
    assert_eq!(files.read(Scope::Project), text);
    let prompts = files.directory_of(Scope::Project).join("prompts");
    assert_eq!(std::fs::read_to_string(prompts.join("reading.md")).unwrap(), "Read slowly.");
    assert_eq!(std::fs::read_dir(prompts).unwrap().count(), 1, "nothing is left behind");
    let read = scopes.get::<Skill>(&name("reading"), None).await.unwrap().unwrap();
    assert_eq!((read.entity.content.as_deref(), read.meta.revision), (Some("Read slowly."), 1));

    files.local(&database).execute("DROP TRIGGER refuse").await;
    let changed = change_in::<Skill>(&scopes, Scope::Project, "reading", |skill| {
        skill.content = Some("Now.".to_owned());
    });
    assert_eq!(changed.await.meta.revision, 2);
    scopes.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_by_hand_is_in_force_and_not_overwritten_before_it_is_recorded() {
    let (database, files) = (Database::sqlite(), Files::new());
    let scopes = files.open(&database).await;
    keep_in(&scopes, Scope::Project, &skill("reading")).await;
    refuse(&files.local(&database)).await;
    let by_hand = "[skills.reading]\ncontent = \"By hand.\"\n";
    files.write(Scope::Project, by_hand);
    let refused = scopes.write(Scope::Project, attribution()).await.unwrap_err();
    assert!(matches!(refused, Error::Store(store::Error::Database(_))), "{refused:?}");
    let read = scopes.get::<Skill>(&name("reading"), None).await.unwrap().unwrap();
    assert_eq!(read.entity.content.as_deref(), Some("By hand."));
    assert_eq!(files.read(Scope::Project), by_hand);
    assert_eq!(scopes.problems()[0].cause, Code::DatabaseFailed, "{:?}", scopes.problems());
    assert!(scopes.has_errors());

    files.local(&database).execute("DROP TRIGGER refuse").await;
    let changed = change_in::<Skill>(&scopes, Scope::Project, "reading", |skill| {
        skill.content = Some("Now.".to_owned());
    });
    assert_eq!(changed.await.meta.revision, 3);
    assert!(scopes.problems().is_empty());
    let recorded = brief(&history(&scopes, Scope::Project, Kind::Skill, "reading").await);
    assert_eq!(
        recorded,
        [
            "update reading 3 by tester with test",
            "update reading 2 by personas.toml with file",
            "create reading 1 by tester with test"
        ]
    );
    scopes.close().await;
}
