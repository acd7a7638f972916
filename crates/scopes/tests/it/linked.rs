//! A personas.toml that is a link, as those are who keep their files elsewhere.

use std::os::unix::fs::symlink;

use persona::{Code, Kind, Scope, Skill};
use testkit::{Database, Files};

use super::{brief, change_in, history, reread};
use crate::samples::name;

const TEXT: &str = "[skills.reading]\ncontent = \"Read.\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_link_in_the_place_of_a_file_goes_on_with_its_history() {
    let (database, files) = (Database::sqlite(), Files::new());
    files.write(Scope::Project, TEXT);
    let scopes = files.open(&database).await;
    let path = files.path(Scope::Project);
    for turn in ["one", "two"] {
        files.write_beside(Scope::Project, &format!("kept/{turn}.toml"), TEXT);
        std::fs::remove_file(&path).unwrap();
        symlink(format!("kept/{turn}.toml"), &path).unwrap();
        // A process that starts now and one that has run since before mean the same file.
        let fresh = files.open(&database).await;
        for scopes in [&scopes, &fresh] {
            reread(scopes, Scope::Project).await;
        }
        change_in::<Skill>(&fresh, Scope::Project, "reading", |skill| skill.content = Some(turn.to_owned()))
            .await;
        fresh.close().await;
        reread(&scopes, Scope::Project).await;
    }
    let recorded = brief(&history(&scopes, Scope::Project, Kind::Skill, "reading").await);
    assert_eq!(
        recorded,
        [
            "update reading 4 by tester with test",
            "update reading 3 by personas.toml with file",
            "update reading 2 by tester with test",
            "create reading 1 by personas.toml with file"
        ]
    );
    scopes.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_link_no_longer_finds_stays_in_force() {
    let (database, files) = (Database::sqlite(), Files::new());
    files.write_beside(Scope::Project, "disk/p.toml", TEXT);
    symlink("disk/p.toml", files.path(Scope::Project)).unwrap();
    let scopes = files.open(&database).await;
    let disk = files.directory_of(Scope::Project).join("disk");
    let away = files.directory_of(Scope::Project).join("away");
    std::fs::rename(&disk, &away).unwrap();
    let fresh = files.open(&database).await;
    for scopes in [&scopes, &fresh] {
        reread(scopes, Scope::Project).await;
        assert!(scopes.get::<Skill>(&name("reading"), None).await.unwrap().is_some());
        assert_eq!(scopes.problems()[0].cause, Code::FileNotFound);
    }
    std::fs::rename(&away, &disk).unwrap();
    reread(&scopes, Scope::Project).await;
    assert!(scopes.problems().is_empty());
    assert_eq!(history(&scopes, Scope::Project, Kind::Skill, "reading").await.len(), 1);
    // Without the link, there is nothing.
    std::fs::remove_file(files.path(Scope::Project)).unwrap();
    reread(&scopes, Scope::Project).await;
    assert!(scopes.get::<Skill>(&name("reading"), None).await.unwrap().is_none());
    scopes.close().await;
    fresh.close().await;
}
