//! A file with a mistake: the last valid version stays in force, the file is not written, and a fix takes
//! effect.

use files::ProblemLevel;
use persona::{AsReport as _, Code};
use persona::{Kind, Part, Persona, Scope, Skill};
use scopes::{Error, Scopes};
use store::Action;
use testkit::{Files, on_each_engine};

use super::{begin_in, brief, change_in, held_in, history, keep_in, load, reread};
use crate::samples::{attribution, name, persona, skill};

const GOOD: &str = "[personas.guide]\nsummary = \"good\"\nparts = [\"voice\"]\n\n[parts.voice]\npart_type = \"voice\"\ncontent = \"Speak.\"\n";
const NOT_TOML: &str =
    "[personas.guide]\nsummary = \"better\"\nparts = [\"voice\"\n\n[parts.voice]\npart_type = \"voice\"\n";
/// One entry is wrong; the other is well, and changed.
const ONE_BAD: &str = "[personas.guide]\nsummary = 7\nparts = [\"voice\"]\n\n[parts.voice]\npart_type = \"voice\"\ncontent = \"Sing.\"\n";

async fn summary(scopes: &Scopes) -> Option<String> {
    load(scopes, "guide").await.persona.summary
}

async fn voice(scopes: &Scopes) -> Option<String> {
    scopes.get::<Part>(&name("voice"), Some(Scope::Project)).await.unwrap()?.entity.content
}

async fn refused(scopes: &Scopes) -> Error {
    scopes.write(Scope::Project, attribution()).await.map(|_| "it can be written to").unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_toml_changes_nothing() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, GOOD);
        let scopes = files.open(database).await;
        assert!(scopes.problems().is_empty() && !scopes.has_errors());
        files.write(Scope::Project, NOT_TOML);
        let error = refused(&scopes).await;
        assert_eq!(error.code(), Code::FileHasErrors);
        let Error::Problem(problem) = error else { panic!("{error:?}") };
        assert_eq!(
            (problem.line, problem.level, problem.cause),
            (5, ProblemLevel::Error, Code::NotToml),
            "{problem}"
        );
        assert_eq!(problem.source_line, "[parts.voice]");
        assert_eq!(files.read(Scope::Project), NOT_TOML, "it is never written to");
        assert!(scopes.has_errors());
        assert_eq!(scopes.problems(), [*problem.clone()]);
        assert_eq!(
            (summary(&scopes).await.as_deref(), voice(&scopes).await.as_deref()),
            (Some("good"), Some("Speak."))
        );
        assert_eq!(history(&scopes, Scope::Project, Kind::Persona, "guide").await.len(), 1);
        scopes.close().await;

        // In a fresh process the last good state is read from the history.
        let scopes = files.open(database).await;
        assert_eq!(scopes.problems(), [*problem]);
        assert_eq!(
            (summary(&scopes).await.as_deref(), voice(&scopes).await.as_deref()),
            (Some("good"), Some("Speak."))
        );
        let meta = scopes.get::<Persona>(&name("guide"), None).await.unwrap().unwrap().meta;
        assert_eq!((meta.scope, meta.revision), (Scope::Project, 1));
        assert_eq!(
            scopes
                .list(Kind::Persona, &store::Filter { scope: Some(Scope::Project), ..Default::default() })
                .await
                .unwrap()
                .items
                .len(),
            1
        );
        assert_eq!(refused(&scopes).await.code(), Code::FileHasErrors);
        assert_eq!(history(&scopes, Scope::Project, Kind::Persona, "guide").await.len(), 1);

        // Mended, it is in force.
        files.write(Scope::Project, &GOOD.replace("good", "better"));
        reread(&scopes, Scope::Project).await;
        assert!(scopes.problems().is_empty() && !scopes.has_errors());
        assert_eq!(summary(&scopes).await.as_deref(), Some("better"));
        let all = brief(&history(&scopes, Scope::Project, Kind::Persona, "guide").await);
        assert_eq!(all[0], "update guide 2 by personas.toml with file");
        keep_in(&scopes, Scope::Project, &skill("reading")).await;
        scopes.close().await;
    })
    .await;
}

/// A mistake that is undone leaves nothing in the history.
#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_that_is_undone_leaves_no_trace() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, GOOD);
        let scopes = files.open(database).await;
        let other = files.open(database).await;
        for bad in [NOT_TOML, ONE_BAD.split_once("[parts").unwrap().0, "\u{1}"] {
            files.write(Scope::Project, bad);
            reread(&scopes, Scope::Project).await;
            assert!(scopes.has_errors());
            assert_eq!(summary(&scopes).await.as_deref(), Some("good"), "{bad}");
            files.write(Scope::Project, GOOD);
            reread(&scopes, Scope::Project).await;
            assert!(!scopes.has_errors());
            assert_eq!(summary(&scopes).await.as_deref(), Some("good"));
            assert_eq!(history(&scopes, Scope::Project, Kind::Persona, "guide").await.len(), 1, "{bad}");
        }
        assert_eq!(summary(&other).await.as_deref(), Some("good"));
        other.close().await;
        scopes.close().await;
    })
    .await;
}

/// An unreadable file is reported, and the other scopes work.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_is_a_problem_like_others() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Global, GOOD);
        let path = files.path(Scope::Project);
        std::fs::create_dir_all(&path).unwrap();
        let scopes = files.open(database).await;
        let problem = scopes.problems().remove(0);
        assert_eq!((problem.path.as_path(), problem.cause), (path.as_path(), Code::NotAFile));
        assert_eq!(load(&scopes, "guide").await.meta.scope, Scope::Global);
        std::fs::remove_dir(&path).unwrap();
        files.write(Scope::Project, GOOD);
        reread(&scopes, Scope::Project).await;
        assert_eq!(load(&scopes, "guide").await.meta.scope, Scope::Project);
        // Too much of it later on: what was good stays in force.
        std::fs::write(&path, vec![b'#'; persona::limits::FILE_BYTES + 1]).unwrap();
        reread(&scopes, Scope::Project).await;
        assert_eq!(scopes.problems()[0].cause, Code::FileTooLarge, "{:?}", scopes.problems());
        assert_eq!(load(&scopes, "guide").await.meta.scope, Scope::Project);
        scopes.close().await;
    })
    .await;
}

/// A file that was never valid has no entries, and hides none of other scopes.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_never_good_has_nothing() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, NOT_TOML);
        files.write(Scope::Global, GOOD);
        std::fs::write(files.path(Scope::Project), b"[personas.caf\xe9]\n").unwrap();
        let scopes = files.open(database).await;
        let problem = scopes.problems().remove(0);
        assert_eq!((problem.line, problem.column, problem.cause), (1, 14, Code::NotUtf8));
        assert!(scopes.all(Scope::Project).await.unwrap().is_empty());
        assert_eq!(load(&scopes, "guide").await.meta.scope, Scope::Global);
        assert!(scopes.load(&name("critic"), None, &scopes::Overrides::new()).await.unwrap().is_some());
        keep_in(&scopes, Scope::Global, &skill("reading")).await;
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_entry_keeps_its_last_good_state() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, GOOD);
        let scopes = files.open(database).await;
        files.write(Scope::Project, ONE_BAD);
        reread(&scopes, Scope::Project).await;
        let check = async |scopes: &Scopes| {
            let problems = scopes.problems();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert_eq!(
                (problems[0].line, problems[0].entry.clone()),
                (2, Some((Kind::Persona, "guide".to_owned())))
            );
            assert!(scopes.has_errors());
            assert_eq!(summary(scopes).await.as_deref(), Some("good"), "as it was when it was last good");
            assert_eq!(voice(scopes).await.as_deref(), Some("Sing."), "its neighbours are as they are");
            assert_eq!(history(scopes, Scope::Project, Kind::Persona, "guide").await.len(), 1);
        };
        check(&scopes).await;
        scopes.close().await;
        let scopes = files.open(database).await;
        check(&scopes).await;
        files.write(Scope::Project, &ONE_BAD.replace("7", "\"better\""));
        reread(&scopes, Scope::Project).await;
        assert!(scopes.problems().is_empty());
        assert_eq!(summary(&scopes).await.as_deref(), Some("better"));
        scopes.close().await;
    })
    .await;
}

/// Other entries can be written meanwhile; the bad one is neither changed nor lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_bad_entry_does_not_keep_others_from_being_written() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, GOOD);
        let scopes = files.open(database).await;
        files.write(Scope::Project, ONE_BAD);
        keep_in(&scopes, Scope::Project, &skill("reading")).await;
        let text = files.read(Scope::Project);
        assert!(text.starts_with(ONE_BAD.trim_end()) && text.contains("[skills.reading]"), "{text}");
        change_in::<Part>(&scopes, Scope::Project, "voice", |voice| voice.content = Some("Hum.".to_owned()))
            .await;
        assert!(files.read(Scope::Project).contains("summary = 7"));
        assert_eq!(
            (summary(&scopes).await.as_deref(), voice(&scopes).await.as_deref()),
            (Some("good"), Some("Hum."))
        );
        assert!(scopes.has_errors());
        assert!(scopes.get::<Skill>(&name("reading"), None).await.unwrap().is_some());
        assert_eq!(history(&scopes, Scope::Project, Kind::Persona, "guide").await.len(), 1);
        assert_eq!(
            brief(&history(&scopes, Scope::Project, Kind::Part, "voice").await)[0],
            "update voice 3 by tester with test"
        );
        // The entry is unfinished work that no history has: only its author can fix it, or discard it.
        let mut write = begin_in(&scopes, Scope::Project).await;
        let guide = held_in::<Persona>(&mut write, "guide").await;
        let refused = write.replace(&guide, &persona("guide"), Action::Update).await.unwrap_err();
        let Error::Problem(problem) = refused else { panic!("{refused:?}") };
        assert_eq!((problem.line, problem.source_line.as_str()), (2, "summary = 7"));
        let refused = write.remove(&guide).await.unwrap_err();
        assert!(matches!(&refused, Error::Problem(problem) if problem.line == 2), "{refused}");
        drop(write);
        assert!(files.read(Scope::Project).contains("summary = 7"));
        let mut write = begin_in(&scopes, Scope::Project).await;
        let guide = held_in::<Persona>(&mut write, "guide").await;
        assert!(write.discard(Kind::Persona, &name("guide")).unwrap());
        write.remove(&guide).await.unwrap();
        write.commit().await.unwrap();
        assert!(scopes.problems().is_empty(), "{:?}", scopes.problems());
        let text = files.read(Scope::Project);
        assert!(!text.contains("guide") && text.contains("Hum."), "{text}");
        assert_eq!(
            brief(&history(&scopes, Scope::Project, Kind::Persona, "guide").await)[0],
            "delete guide 2 by tester with test"
        );
        scopes.close().await;
    })
    .await;
}

/// An entry that was never valid may still be wanted: it is not overwritten.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_was_never_good_is_not_written_over() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, ONE_BAD);
        let scopes = files.open(database).await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let error = write.insert(&persona("guide"), Action::Create).await.unwrap_err();
        assert!(matches!(&error, Error::Problem(problem) if problem.line == 2), "{error}");
        // Renaming another entry onto it is no better.
        write.insert(&persona("other"), Action::Create).await.unwrap();
        let other = held_in::<Persona>(&mut write, "other").await;
        let error = write.replace(&other, &persona("guide"), Action::Rename).await.unwrap_err();
        assert_eq!(error.code(), Code::FileHasErrors, "{error}");
        drop(write);
        assert_eq!(files.read(Scope::Project), ONE_BAD);
        assert_eq!(scopes.broken_in(Kind::Persona, &name("guide")), Some(Scope::Project));
        let mut write = begin_in(&scopes, Scope::Project).await;
        assert!(!write.discard(Kind::Part, &name("voice")).unwrap(), "a good entry has a history to go to");
        assert!(write.discard(Kind::Persona, &name("guide")).unwrap());
        write.commit().await.unwrap();
        let (_, voice) = ONE_BAD.split_once("[parts.voice]").unwrap();
        assert_eq!(files.read(Scope::Project), format!("[parts.voice]{voice}"));
        assert!(scopes.problems().is_empty(), "{:?}", scopes.problems());
        assert_eq!(scopes.broken_in(Kind::Persona, &name("guide")), None);
        scopes.close().await;
    })
    .await;
}

/// A value in place of a table of entries is a mistake like any other: no entry that it hides is deleted.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_another_shape_changes_nothing() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, GOOD);
        let scopes = files.open(database).await;
        let listed = "[skills.other]\n\n[[personas]]\nname = \"guide\"\nsummary = \"x\"\n";
        for (bad, line) in [(listed, 3), ("personas = 3\n", 1), ("parts = \"x\"\n[personas.guide]\n", 1)] {
            files.write(Scope::Project, bad);
            reread(&scopes, Scope::Project).await;
            let fresh = files.open(database).await;
            for scopes in [&scopes, &fresh] {
                let problem = scopes.problems().remove(0);
                assert_eq!((problem.line, problem.cause), (line, Code::InvalidDocument), "{problem}");
                let in_force = problem.in_force.expect("the last valid entries stay in force");
                assert_eq!((in_force.entries, in_force.since.is_some()), (2, true));
                assert_eq!(refused(scopes).await.code(), Code::FileHasErrors);
                assert_eq!(summary(scopes).await.as_deref(), Some("good"), "{bad}");
                assert_eq!(voice(scopes).await.as_deref(), Some("Speak."), "{bad}");
                assert_eq!(history(scopes, Scope::Project, Kind::Persona, "guide").await.len(), 1, "{bad}");
            }
            fresh.close().await;
        }
        assert!(scopes.get::<Skill>(&name("other"), None).await.unwrap().is_none());
        scopes.close().await;
    })
    .await;
}
