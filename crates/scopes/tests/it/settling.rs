//! Files that are looked at while somebody writes them: emptied first, then filled piece by piece.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use persona::ErrorKind;
use persona::{Kind, Scope};
use scopes::Scopes;
use testkit::{Database, Files, on_each_engine};

use super::{brief, history, load, reread};
use crate::samples::{name, somebody};

/// How often a file is written anew.
const SAVES: usize = 50;
/// Bytes that are written at a time, and how long the writer rests in between.
const PIECE: usize = 60;
const REST: Duration = Duration::from_millis(3);
/// How long a file has to be left alone to count as finished.
const QUIET: Duration = Duration::from_millis(25);
/// How long a save may take until it is in force, and how long anybody waits for it on a busy machine.
const BOUND: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(5);
const NAMES: [&str; 3] = ["guide", "leader", "writer"];

fn file(save: usize) -> String {
    let entry = |name: &&str| {
        format!("[personas.{name}]\nsummary = \"save {save}\"\ndescription = \"whole\"\narc = \"way\"\n\n")
    };
    let way = "[arcs.way]\nstages = [{ name = \"one\" }, { name = \"two\" }]\n";
    NAMES.iter().map(entry).collect::<String>() + way
}

/// Empties a file and fills it, as some editors and every shell do.
fn write_slowly(path: &Path, text: &str, pace: &Pace) {
    pace.begin();
    let mut open = std::fs::File::create(path).unwrap();
    for piece in text.as_bytes().chunks(PIECE) {
        std::thread::sleep(REST);
        open.write_all(piece).unwrap();
        pace.wrote();
    }
    pace.end();
}

/// How a writer gets on. One that a busy machine keeps waiting leaves its file half written for so
/// long that it looks finished.
#[derive(Clone, Default)]
struct Pace(Arc<Mutex<Rests>>);

#[derive(Default)]
struct Rests {
    /// When the file was last touched, while it is being written.
    last: Option<Instant>,
    longest: Duration,
}

impl Pace {
    fn begin(&self) {
        self.0.lock().unwrap().last = Some(Instant::now());
    }

    fn wrote(&self) {
        let mut rests = self.0.lock().unwrap();
        rests.longest = rests.now();
        rests.last = Some(Instant::now());
    }

    fn end(&self) {
        self.0.lock().unwrap().last = None;
    }

    fn is_steady(&self) -> bool {
        self.0.lock().unwrap().now() < QUIET
    }
}

impl Rests {
    /// The longest, that of this moment included.
    fn now(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |last| last.elapsed()).max(self.longest)
    }
}

/// Writes the file over and over on a thread of its own, until it has done so often enough.
fn keep_writing(path: PathBuf, pace: Pace) -> (std::thread::JoinHandle<()>, Arc<AtomicBool>) {
    let done = Arc::new(AtomicBool::new(false));
    let told = done.clone();
    let writer = std::thread::spawn(move || {
        for save in 1..=SAVES {
            write_slowly(&path, &file(save), &pace);
            // Now and then somebody looks at what was written.
            std::thread::sleep(if save % 10 == 0 { Duration::from_millis(60) } else { REST });
        }
        told.store(true, Ordering::SeqCst);
    });
    (writer, done)
}

async fn nothing_is_missing(scopes: &Scopes, pace: &Pace) {
    for of in NAMES {
        let loaded = scopes.load(&name(of), None, &scopes::Overrides::new()).await.unwrap();
        let description = loaded.map(|loaded| loaded.bundle.persona.description.clone());
        let is_whole = description.as_ref().is_some_and(|text| text.as_deref() == Some("whole"));
        assert!(is_whole || !pace.is_steady(), "of {of}, what is in force is {description:?}");
    }
    assert!(!scopes.has_errors() || !pace.is_steady(), "{:?}", scopes.problems());
}

async fn nothing_was_deleted(scopes: &Scopes) {
    for of in NAMES {
        let all = brief(&history(scopes, Scope::Project, Kind::Persona, of).await);
        assert!(all.last().unwrap().starts_with("create "), "{all:?}");
        assert!(all[..all.len() - 1].iter().all(|line| line.starts_with("update ")), "{all:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_written_in_pieces_is_never_seen_in_pieces() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, &file(0));
        let watched = files.open(database).await;
        watched.watch();
        let pace = Pace::default();
        let (writer, done) = keep_writing(files.path(Scope::Project), pace.clone());
        while !done.load(Ordering::SeqCst) {
            nothing_is_missing(&watched, &pace).await;
            // As a command does, which opens everything anew.
            let fresh = files.open(database).await;
            nothing_is_missing(&fresh, &pace).await;
            // Whoever wants to write is refused, or sees all of it.
            match fresh.write(Scope::Project, somebody()).await {
                Ok(write) => drop(write),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
            nothing_is_missing(&fresh, &pace).await;
            fresh.close().await;
        }
        writer.join().unwrap();
        in_force(&watched, &format!("save {SAVES}")).await;
        if pace.is_steady() {
            nothing_was_deleted(&watched).await;
        }
        watched.close().await;
    })
    .await;
}

async fn in_force(scopes: &Scopes, summary: &str) {
    let start = Instant::now();
    let now = async || {
        let loaded = scopes.load(&name("guide"), None, &scopes::Overrides::new()).await.unwrap();
        loaded.and_then(|loaded| loaded.bundle.persona.summary.clone())
    };
    while now().await.as_deref() != Some(summary) {
        assert!(start.elapsed() < PATIENCE, "{summary} is not in force");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Many saves at once: all that is seen of them is the last.
#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_slow_saves_is_one_reload() {
    let database = Database::sqlite();
    let files = Files::new();
    files.write(Scope::Project, &file(0));
    let scopes = files.open(&database).await;
    scopes.watch();
    let path = files.path(Scope::Project);
    let mut revisions = 1;
    for burst in 1..=5 {
        let began = Instant::now();
        for save in 1..=20 {
            let text = file(burst * 100 + save);
            std::fs::File::create(&path).unwrap();
            std::thread::sleep(REST);
            std::fs::write(&path, text).unwrap();
            std::thread::sleep(REST);
        }
        // On a busy machine the saves may lie so far apart that they are several bursts.
        let in_one_go = began.elapsed() < BOUND;
        in_force(&scopes, &format!("save {}", burst * 100 + 20)).await;
        tokio::time::sleep(BOUND).await;
        let now = history(&scopes, Scope::Project, Kind::Persona, "guide").await.len();
        assert!(now == revisions + 1 || !in_one_go, "{} reloads", now - revisions);
        revisions = now;
    }
    nothing_was_deleted(&scopes).await;
    scopes.close().await;
}

/// A fresh process that looks in the moment in which there is nothing.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_empty_for_a_moment_is_not_deleted() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, &file(0));
        files.open(database).await.close().await;
        let path = files.path(Scope::Project);
        for (empty, save) in [(Some(""), 1), (Some("\n \n"), 2), (None, 3)] {
            match empty {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let (later, pace) = (path.clone(), Pace::default());
            let writer = std::thread::spawn({
                let pace = pace.clone();
                move || {
                    std::thread::sleep(Duration::from_millis(40));
                    write_slowly(&later, &file(save), &pace);
                }
            });
            let scopes = files.open(database).await;
            nothing_is_missing(&scopes, &pace).await;
            writer.join().unwrap();
            reread(&scopes, Scope::Project).await;
            assert_eq!(load(&scopes, "guide").await.persona.summary, Some(format!("save {save}")));
            if pace.is_steady() {
                nothing_was_deleted(&scopes).await;
            }
            scopes.close().await;
        }
    })
    .await;
}

/// What stays empty is what somebody wants, and in force as soon as any other change.
#[tokio::test(flavor = "multi_thread")]
async fn what_stays_empty_is_deleted() {
    let database = Database::sqlite();
    let files = Files::new();
    let path = files.path(Scope::Project);
    files.write(Scope::Project, &file(0));
    let scopes = files.open(&database).await;
    scopes.watch();
    for turn in 0..6 {
        match turn % 2 {
            0 => std::fs::write(&path, "\n").unwrap(),
            _ => std::fs::remove_file(&path).unwrap(),
        }
        let start = Instant::now();
        while !scopes.all(Scope::Project).await.unwrap().is_empty() {
            assert!(start.elapsed() < PATIENCE, "it is still in force");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        files.write(Scope::Project, &file(turn));
        in_force(&scopes, &format!("save {turn}")).await;
    }
    scopes.close().await;
    // A process that starts later on waits for nobody.
    std::fs::write(&path, "").unwrap();
    tokio::time::sleep(BOUND).await;
    let scopes = files.open(&database).await;
    assert!(scopes.all(Scope::Project).await.unwrap().is_empty());
    assert!(
        brief(&history(&scopes, Scope::Project, Kind::Persona, "guide").await)[0].starts_with("delete guide")
    );
    scopes.close().await;
}

/// The same holds for a text that stands in a file of its own.
#[tokio::test(flavor = "multi_thread")]
async fn an_included_text_is_never_seen_in_pieces() {
    let database = Database::sqlite();
    let files = Files::new();
    files.write(Scope::Project, "[personas.guide]\nsystem_prompt_file = \"guide.md\"\n");
    let text = |save: usize| format!("{}{save}", "Guide them. ".repeat(20));
    files.write_beside(Scope::Project, "guide.md", &text(0));
    let watched = files.open(&database).await;
    watched.watch();
    let path = files.directory_of(Scope::Project).join("guide.md");
    let pace = Pace::default();
    for save in 1..=10 {
        let (path, new) = (path.clone(), text(save));
        let writer = std::thread::spawn({
            let pace = pace.clone();
            move || write_slowly(&path, &new, &pace)
        });
        while !writer.is_finished() {
            let fresh = files.open(&database).await;
            for scopes in [&watched, &fresh] {
                let prompt = load(scopes, "guide").await.persona.system_prompt.unwrap_or_default();
                assert!(prompt.len() >= text(0).len() || !pace.is_steady(), "{prompt:?}");
            }
            fresh.close().await;
        }
        writer.join().unwrap();
    }
    reread(&watched, Scope::Project).await;
    assert_eq!(load(&watched, "guide").await.persona.system_prompt, Some(text(10)));
    watched.close().await;
}
