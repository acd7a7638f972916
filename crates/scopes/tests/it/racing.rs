//! Several writers of one file: no acknowledged change is lost, and a late writer gets a conflict.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use database::Location;
use files::{ReplaceError, disk};
use persona::ErrorKind;
use persona::{Kind, Persona, Scope};
use scopes::{Error, FileScopes, Scopes};
use store::{Action, Store};
use testkit::{Database, Files, on_each_engine};

use super::{author, begin_in, brief, history, keep_in};
use crate::samples::{name, persona, skill, tone};

/// The variable that tells a child process its targets: the library, the file, the local database,
/// the locks and its own number, a line each.
const CHILD: &str = "MASQUE_TEST_CHILD_WRITES_FILE";
const PROCESSES: usize = 2;
/// The parts that each process adds, and the number of saves by hand.
const WRITTEN: usize = 15;
/// Saves that overwrite the file without looking at it.
const SAVES: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changed_meanwhile_is_a_conflict() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open(database).await;
        let before = "[personas.guide]\nsummary = \"one\"\n";
        let after = "[personas.guide]\nsummary = \"two\"\n";
        for (start, meanwhile) in [(None, Some(after)), (Some(before), Some(after)), (Some(before), None)] {
            let put = |text: Option<&str>| match text {
                Some(text) => files.write(Scope::Project, text),
                None => drop(std::fs::remove_file(files.path(Scope::Project))),
            };
            put(start);
            let mut write = begin_in(&scopes, Scope::Project).await;
            write.insert(&skill("reading"), Action::Create).await.unwrap();
            put(meanwhile);
            let error = write.commit().await.unwrap_err();
            let path = files.path(Scope::Project).display().to_string();
            assert!(matches!(&error, Error::FileChanged { path: changed } if *changed == path), "{error:?}");
            let now = std::fs::read_to_string(files.path(Scope::Project)).ok();
            assert_eq!(now.as_deref(), meanwhile, "what was saved by hand stays");
            assert!(history(&scopes, Scope::Project, Kind::Skill, "reading").await.is_empty());
            assert!(scopes.get::<persona::Skill>(&name("reading"), None).await.unwrap().is_none());
            let left: Vec<_> = std::fs::read_dir(files.directory_of(Scope::Project)).unwrap().collect();
            assert!(left.len() <= 1, "nothing is left beside it: {left:?}");
        }
        // Repeated, it succeeds, and the edit is in the history.
        files.write(Scope::Project, after);
        keep_in(&scopes, Scope::Project, &skill("reading")).await;
        let text = files.read(Scope::Project);
        assert!(text.starts_with(after) && text.contains("[skills.reading]"), "{text}");
        scopes.close().await;
    })
    .await;
}

/// While one process changes a file, another waits for it, and then sees what it did.
#[tokio::test(flavor = "multi_thread")]
async fn writers_take_turns() {
    on_each_engine(async |database| {
        let files = Files::new();
        let (one, two) = (files.open(database).await, files.open(database).await);
        let mut first = begin_in(&one, Scope::Project).await;
        first.insert(&tone("first"), Action::Create).await.unwrap();
        let later = two.clone();
        let second = tokio::spawn(async move {
            let mut write = begin_in(&later, Scope::Project).await;
            let seen = write.has(Kind::Part, &name("first")).await.unwrap();
            write.insert(&tone("second"), Action::Create).await.unwrap();
            write.commit().await.unwrap();
            seen
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!second.is_finished(), "it waits");
        // The user's file is another one.
        keep_in(&two, Scope::Global, &tone("elsewhere")).await;
        first.commit().await.unwrap();
        assert!(second.await.unwrap(), "the second sees what the first wrote");
        let text = files.read(Scope::Project);
        assert!(text.contains("[parts.first]") && text.contains("[parts.second]"), "{text}");
        one.close().await;
        two.close().await;
    })
    .await;
}

fn spawn(files: &Files, database: &Database, number: usize) -> Child {
    let given = files.scopes(&files.local(database));
    let lines = [
        database.location.clone(),
        files.path(Scope::Project).display().to_string(),
        given.local.to_string(),
        given.locks.display().to_string(),
        number.to_string(),
    ];
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "racing::processes_and_a_person_lose_nothing", "--nocapture"])
        .env(CHILD, lines.join("\n"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The child processes of the test below.
async fn write_as_one_of_several(given: &str) {
    let given: Vec<&str> = given.lines().collect();
    let [database, project, local, locks, number] = given[..] else { panic!("{given:?}") };
    let files = FileScopes {
        global: None,
        project: Some(PathBuf::from(project)),
        local: Location::parse(local).unwrap(),
        locks: PathBuf::from(locks),
        writable: true,
    };
    let store = Store::open(Location::parse(database).unwrap(), true).await.unwrap();
    let scopes = Scopes::open(store, files).await.unwrap();
    scopes.watch();
    for at in 0..WRITTEN {
        while let Err(error) = add(&scopes, number, at).await {
            assert!(matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Busy), "{error:?}");
        }
    }
    scopes.close().await;
}

/// One acknowledged change: a part, and a persona that counts them.
async fn add(scopes: &Scopes, number: &str, at: usize) -> Result<(), Error> {
    let mut write = scopes.write(Scope::Project, author(&format!("process {number}"))).await?;
    write.insert(&tone(&format!("by-{number}-{at}")), Action::Create).await?;
    let of = name(&format!("counter-{number}"));
    let counted =
        Persona { summary: Some("Counts.".to_owned()), tags: vec![at.to_string()], ..persona(of.as_str()) };
    match write.find::<Persona>(&of).await? {
        Some(held) => write.replace(&held, &counted, Action::Update).await?,
        None => write.insert(&counted, Action::Create).await?,
    };
    write.commit().await
}

/// Saves by hand as a careful editor does: not over what it has not seen.
fn save_by_hand(path: &Path, at: usize) {
    loop {
        let old = std::fs::read_to_string(path).unwrap();
        let new = format!("{old}\n# Save {at}.\n[skills.hand-{at}]\n");
        match disk::replace(path, Some(old.as_bytes()), new.as_bytes()) {
            Ok(()) => return,
            Err(ReplaceError::Changed) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_and_a_person_lose_nothing() {
    if let Ok(given) = std::env::var(CHILD) {
        return write_as_one_of_several(&given).await;
    }
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, "# Several writers share this file.\n");
        let scopes = files.open(database).await;
        scopes.watch();
        let children: Vec<Child> = (0..PROCESSES).map(|number| spawn(&files, database, number)).collect();
        let path = files.path(Scope::Project);
        let by_hand = tokio::task::spawn_blocking(move || {
            for at in 0..WRITTEN {
                save_by_hand(&path, at);
                std::thread::sleep(Duration::from_millis(11));
            }
        });
        by_hand.await.unwrap();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        super::reread(&scopes, Scope::Project).await;
        assert!(scopes.problems().is_empty(), "{:?}", scopes.problems());
        let text = files.read(Scope::Project);
        assert!(text.starts_with("# Several writers share this file.\n"), "{text}");
        for at in 0..WRITTEN {
            assert!(text.contains(&format!("# Save {at}.\n")), "{at} is lost:\n{text}");
            let all = brief(&history(&scopes, Scope::Project, Kind::Skill, &format!("hand-{at}")).await);
            assert_eq!(all, [format!("create hand-{at} 1 by personas.toml with file")]);
            for number in 0..PROCESSES {
                let of = format!("by-{number}-{at}");
                assert_eq!(text.matches(&format!("[parts.{of}]")).count(), 1, "{of} is lost:\n{text}");
                let all = brief(&history(&scopes, Scope::Project, Kind::Part, &of).await);
                assert_eq!(all, [format!("create {of} 1 by process {number} with test")]);
            }
        }
        for number in 0..PROCESSES {
            let all =
                brief(&history(&scopes, Scope::Project, Kind::Persona, &format!("counter-{number}")).await);
            assert_eq!(all.len(), WRITTEN, "{all:?}");
            assert!(
                all.iter().all(|line| line.ends_with(&format!("by process {number} with test"))),
                "{all:?}"
            );
        }
        scopes.close().await;
    })
    .await;
}

/// A person who saves over whatever is there may undo a change in the file; it is in the history.
#[tokio::test(flavor = "multi_thread")]
async fn an_overwritten_version_is_in_the_history() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, "[personas.mine]\nsummary = \"Mine.\"\n");
        let (one, two) = (files.open(database).await, files.open(database).await);
        for scopes in [&one, &two] {
            scopes.watch();
        }
        let path = files.path(Scope::Project);
        let person = tokio::task::spawn_blocking(move || {
            let beside = path.with_file_name("personas.toml.new");
            for at in 0..SAVES {
                let old = std::fs::read_to_string(&path).unwrap();
                std::fs::write(&beside, format!("{old}\n[skills.hand-{at}]\n")).unwrap();
                std::fs::rename(&beside, &path).unwrap();
                std::thread::sleep(Duration::from_millis(23));
            }
        });
        let mut writers = tokio::task::JoinSet::new();
        for (number, scopes) in [("0", one.clone()), ("1", two.clone())] {
            writers.spawn(async move {
                for at in 0..WRITTEN {
                    while let Err(error) = add(&scopes, number, at).await {
                        // A part that was there already is one that a save brought back.
                        assert!(matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Busy), "{error:?}");
                        if matches!(error, Error::Store(store::Error::Exists { .. })) {
                            break;
                        }
                    }
                }
            });
        }
        while let Some(ended) = writers.join_next().await {
            ended.unwrap();
        }
        person.await.unwrap();
        super::reread(&one, Scope::Project).await;
        assert!(one.problems().is_empty(), "{:?}", one.problems());
        let text = files.read(Scope::Project);
        assert!(text.contains(&format!("[skills.hand-{}]", SAVES - 1)), "the last save stands:\n{text}");
        for number in ["0", "1"] {
            for at in 0..WRITTEN {
                let of = format!("by-{number}-{at}");
                let all = history(&two, Scope::Project, Kind::Part, &of).await;
                let kept = all.iter().any(|found| found.author == format!("process {number}"));
                assert!(kept, "{of} was acknowledged: {:?}", brief(&all));
                let there = text.contains(&format!("[parts.{of}]"));
                assert_eq!(there, all[0].action != "delete", "{of}: {:?}", brief(&all));
            }
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

/// A killed process leaves its temporary file behind. The next start removes it, unless another process
/// writes the file just now.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_removes_temporary_files_of_killed_processes() {
    let (files, database) = (Files::new(), Database::sqlite());
    let texts = files.directory_of(Scope::Project).join("texts");
    std::fs::create_dir(&texts).unwrap();
    std::fs::write(texts.join("calm.md"), "Be calm.").unwrap();
    files.write(Scope::Project, "[parts.calm]\npart_type = \"tone\"\ncontent_file = \"texts/calm.md\"\n");
    // The file was saved long before the temporary one was made.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let left = files.directory_of(Scope::Project).join(".personas-Ab12Cd.tmp");
    let beside_text = texts.join(".personas-Ef34Gh.tmp");
    for left in [&left, &beside_text] {
        std::fs::write(left, "[parts.calm]\npart_ty").unwrap();
    }
    let scopes = files.open(&database).await;
    assert!(!left.exists() && !beside_text.exists());

    let write = scopes.write(Scope::Project, author("Ada")).await.unwrap();
    std::fs::write(&left, "[parts.calm]\npart_ty").unwrap();
    let second = files.open(&database).await;
    assert!(left.exists(), "the file of a process that writes");
    drop(write);
    second.close().await;
    scopes.close().await;
    files.open(&database).await.close().await;
    assert!(!left.exists());
}
