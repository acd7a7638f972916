//! Edits made by hand are recorded once, by any process, and attributed to the file.

use std::time::Duration;
use store::CopiedSessions;

use persona::{Kind, Part, Persona, Scope};
use scopes::Scopes;
use store::{Action, RevisionRef};
use testkit::{Database, Files, on_each_engine};

use super::{author, brief, change_in, history, keep_in, load, remove_in, reread};
use crate::samples::{attribution, name, persona, tone};

const FIRST: &str =
    "[personas.guide]\nsummary = \"one\"\n\n[parts.voice]\npart_type = \"voice\"\ncontent = \"x\"\n";

async fn revisions(local: &Database) -> usize {
    local.texts("SELECT CAST(id AS text) FROM agent_revisions").await.len()
}

/// Two libraries over the same files, as two processes have them.
async fn open_twice(files: &Files, database: &Database) -> (Scopes, Scopes) {
    (files.open(database).await, files.open(database).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_recorded_once() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FIRST);
        let (one, two) = open_twice(&files, database).await;
        let local = files.local(database);
        assert_eq!(revisions(&local).await, 2, "both saw what was there before");
        for round in 2..6 {
            files.write(Scope::Project, &FIRST.replace("one", &round.to_string()));
            tokio::join!(reread(&one, Scope::Project), reread(&two, Scope::Project));
            assert_eq!(revisions(&local).await, round + 1, "only what changed, and once");
            for scopes in [&one, &two] {
                let stored = scopes.get::<Persona>(&name("guide"), None).await.unwrap().unwrap();
                assert_eq!(stored.entity.summary, Some(round.to_string()));
                assert_eq!(stored.meta.revision, round as i64);
            }
        }
        let all = brief(&history(&one, Scope::Project, Kind::Persona, "guide").await);
        assert_eq!(all[0], "update guide 5 by personas.toml with file");
        assert_eq!(all.last().unwrap(), "create guide 1 by personas.toml with file");
        assert_eq!(history(&two, Scope::Project, Kind::Persona, "guide").await.len(), 5);
        // A third one that comes later, and what is only written differently, add nothing.
        files.open(database).await.close().await;
        files.write(
            Scope::Project,
            &format!("# A comment.\n\n{}", FIRST.replace("one", "5").replace(" = ", "   =   ")),
        );
        reread(&one, Scope::Project).await;
        reread(&two, Scope::Project).await;
        assert_eq!(revisions(&local).await, 6);
        one.close().await;
        two.close().await;
    })
    .await;
}

/// An edit made while no process runs is recorded by the next one.
#[tokio::test(flavor = "multi_thread")]
async fn edits_between_two_processes_are_recorded() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FIRST);
        files.open(database).await.close().await;
        files.write(Scope::Project, "[personas.guide]\nsummary = \"two\"\n\n[skills.new]\n");
        let scopes = files.open(database).await;
        let by_hand = "by personas.toml with file";
        assert_eq!(
            brief(&history(&scopes, Scope::Project, Kind::Persona, "guide").await),
            [format!("update guide 2 {by_hand}"), format!("create guide 1 {by_hand}")]
        );
        assert_eq!(
            brief(&history(&scopes, Scope::Project, Kind::Skill, "new").await),
            [format!("create new 1 {by_hand}")]
        );
        assert_eq!(
            brief(&history(&scopes, Scope::Project, Kind::Part, "voice").await),
            [format!("delete voice 2 {by_hand}"), format!("create voice 1 {by_hand}")]
        );
        let wanted = RevisionRef::Number(1);
        let first =
            scopes.revision(Scope::Project, Kind::Persona, &name("guide"), &wanted).await.unwrap().unwrap();
        assert_eq!(first.entity.to_json()["summary"], "one");
        scopes.close().await;
        std::fs::remove_file(files.path(Scope::Project)).unwrap();
        let scopes = files.open(database).await;
        assert!(scopes.all(Scope::Project).await.unwrap().is_empty() && scopes.problems().is_empty());
        assert_eq!(
            brief(&history(&scopes, Scope::Project, Kind::Skill, "new").await)[0],
            format!("delete new 2 {by_hand}")
        );
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_by_hand_keeps_the_history() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FIRST);
        let (one, two) = open_twice(&files, database).await;
        change_in::<Persona>(&one, Scope::Project, "guide", |guide| guide.summary = Some("two".to_owned()))
            .await;
        let second = history(&one, Scope::Project, Kind::Persona, "guide").await.remove(0);
        one.tag(Scope::Project, Kind::Persona, &name("guide"), &second, "good", attribution()).await.unwrap();
        files.write(
            Scope::Project,
            &files.read(Scope::Project).replace("[personas.guide]", "[personas.leader]"),
        );
        reread(&two, Scope::Project).await;
        reread(&one, Scope::Project).await;
        let expected = [
            "rename leader 3 by personas.toml with file",
            "update guide 2 by tester with test",
            "create guide 1 by personas.toml with file",
        ];
        for scopes in [&one, &two] {
            assert_eq!(brief(&history(scopes, Scope::Project, Kind::Persona, "leader").await), expected);
            let tagged = RevisionRef::parse("good");
            let tagged = scopes
                .revision(Scope::Project, Kind::Persona, &name("leader"), &tagged)
                .await
                .unwrap()
                .unwrap();
            assert_eq!(tagged.about.revision, 2);
            assert_eq!(scopes.get::<Persona>(&name("leader"), None).await.unwrap().unwrap().meta.revision, 3);
            assert!(scopes.get::<Persona>(&name("guide"), None).await.unwrap().is_none());
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

/// One save in which a persona, its base, an arc and the parts that they name have other names.
#[tokio::test(flavor = "multi_thread")]
async fn entities_renamed_together_keep_their_history() {
    const PARTS: &str = "[parts.{}]\npart_type = \"voice\"\ncontent = \"the same\"\n";
    let text = |prefix: &str| {
        let parts = [1, 2].map(|number| PARTS.replace("{}", &format!("{prefix}-part-{number}")));
        format!(
            "[personas.{prefix}-leaf]\nextends = \"{prefix}-root\"\narc = \"{prefix}-arc\"\n\n\
             [personas.{prefix}-root]\nparts = [\"{prefix}-part-2\"]\n\n\
             [personas.{prefix}-other]\nparts = [\"{prefix}-part-1\"]\nsummary = \"{prefix}\"\n\n\
             [arcs.{prefix}-arc]\nstages = [{{ name = \"one\", parts = [\"{prefix}-part-1\"] }}]\n\n{}",
            parts.concat()
        )
    };
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, &text("old"));
        let scopes = files.open(database).await;
        files.write(Scope::Project, &text("new"));
        reread(&scopes, Scope::Project).await;
        for (kind, of) in [
            (Kind::Part, "part-1"),
            (Kind::Part, "part-2"),
            (Kind::Arc, "arc"),
            (Kind::Persona, "root"),
            (Kind::Persona, "leaf"),
        ] {
            let all = brief(&history(&scopes, Scope::Project, kind, &format!("new-{of}")).await);
            let by_hand = "by personas.toml with file";
            assert_eq!(all, [format!("rename new-{of} 2 {by_hand}"), format!("create old-{of} 1 {by_hand}")]);
        }
        // An entry that differs in more than names is another one.
        let other = brief(&history(&scopes, Scope::Project, Kind::Persona, "new-other").await);
        assert_eq!(other, ["create new-other 1 by personas.toml with file"]);
        let gone = history(&scopes, Scope::Project, Kind::Persona, "old-other").await;
        assert_eq!(brief(&gone)[0], "delete old-other 2 by personas.toml with file");
        let wanted = RevisionRef::Number(gone[0].revision);
        let gone = scopes.revision(Scope::Project, Kind::Persona, &name("old-other"), &wanted).await;
        assert_eq!(gone.unwrap().unwrap().entity.to_json()["parts"][0]["name"], "old-part-1", "as it was");
        scopes.close().await;
    })
    .await;
}

/// Switching to another branch and back brings the same entries back, whatever happened to them there.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_put_back_by_hand_has_its_tags() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FIRST);
        let scopes = files.open(database).await;
        let tagged = async || {
            let wanted = RevisionRef::parse("good");
            let found = scopes.revision(Scope::Project, Kind::Persona, &name("guide"), &wanted).await;
            found.unwrap().map(|found| found.about.revision)
        };
        let first = history(&scopes, Scope::Project, Kind::Persona, "guide").await.remove(0);
        scopes
            .tag(Scope::Project, Kind::Persona, &name("guide"), &first, "good", attribution())
            .await
            .unwrap();
        for (text, expected) in [("", Some(1)), (FIRST, Some(1)), ("", Some(1))] {
            files.write(Scope::Project, text);
            reread(&scopes, Scope::Project).await;
            assert_eq!(tagged().await, expected, "{text}");
        }
        files.write(Scope::Project, &FIRST.replace("one", "another"));
        reread(&scopes, Scope::Project).await;
        assert_eq!(tagged().await, Some(1));
        assert_eq!(history(&scopes, Scope::Project, Kind::Persona, "guide").await.len(), 5);
        // A deleted entry that is created again with other content is another one.
        remove_in::<Persona>(&scopes, Scope::Project, "guide").await;
        keep_in(&scopes, Scope::Project, &persona("guide")).await;
        assert_eq!(tagged().await, None);
        scopes.close().await;
    })
    .await;
}

/// Another process watches the file: what Masque wrote is its author's all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_its_authors_though_others_watch() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FIRST);
        let (one, two) = open_twice(&files, database).await;
        let third = files.open(database).await;
        two.watch();
        third.watch();
        for round in 0..20 {
            let mut write = one.write(Scope::Project, author("Ada")).await.unwrap();
            write.insert(&tone(&format!("tone-{round}")), Action::Create).await.unwrap();
            write.commit().await.unwrap();
            change_in::<Persona>(&one, Scope::Project, "guide", |guide| guide.tags = vec![round.to_string()])
                .await;
        }
        // Wait until every process has seen the last edit.
        for scopes in [&two, &third] {
            let start = std::time::Instant::now();
            while load(scopes, "guide").await.persona.tags != ["19"] {
                assert!(start.elapsed() < Duration::from_secs(60), "it is never seen");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        for round in 0..20 {
            let of = format!("tone-{round}");
            let all = brief(&history(&one, Scope::Project, Kind::Part, &of).await);
            assert_eq!(all, [format!("create {of} 1 by Ada with test")]);
        }
        let all = brief(&history(&two, Scope::Project, Kind::Persona, "guide").await);
        assert_eq!(all.len(), 21, "{all:?}");
        assert!(all[..20].iter().all(|line| line.ends_with("by tester with test")), "{all:?}");
        for scopes in [one, two, third] {
            scopes.close().await;
        }
    })
    .await;
}

/// A copy of the library leaves the files' history behind; a backup has all of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_has_no_history_of_files_and_a_backup_has() {
    let database = Database::sqlite();
    let files = Files::new();
    files.write(Scope::Project, FIRST);
    let scopes = files.open(&database).await;
    keep_in(&scopes, Scope::Shared, &persona("team")).await;
    keep_in(&scopes, Scope::Project, &tone("warm")).await;
    let newest = history(&scopes, Scope::Project, Kind::Part, "warm").await.remove(0);
    scopes.tag(Scope::Project, Kind::Part, &name("warm"), &newest, "mine", attribution()).await.unwrap();
    on_each_engine(async |target| {
        let location = database::Location::parse(&target.location).unwrap();
        let report = scopes.database().copy_to(&location, CopiedSessions::All, &mut |_| ()).await.unwrap();
        let rows = |of: &str| report.tables.iter().find(|(table, _)| *table == of).unwrap().1;
        assert_eq!((rows("agent_revisions"), rows("agent_revision_tags")), (1, 0));
        assert_eq!((rows("file_entries"), rows("file_origins"), rows("agent_personas")), (0, 0, 1));
        let kept = target.texts("SELECT scope || ' ' || name FROM agent_revisions").await;
        assert_eq!(kept, ["shared team"]);
    })
    .await;
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("backup.db");
    scopes.database().backup(&path, &mut |_| ()).await.unwrap();
    scopes.close().await;
    // With the backup in the place of the database, everything is known.
    let restored = Database::sqlite_at(&path);
    let again = files.open(&restored).await;
    assert_eq!(
        brief(&history(&again, Scope::Project, Kind::Part, "warm").await),
        ["create warm 1 by tester with test"]
    );
    let tagged =
        again.revision(Scope::Project, Kind::Part, &name("warm"), &RevisionRef::parse("mine")).await.unwrap();
    assert!(tagged.is_some());
    let read = again.get::<Part>(&name("warm"), None).await.unwrap().unwrap();
    assert_eq!(read.meta.revision, 1);
    again.close().await;
}
