//! Files that are read while another program writes them: emptied first, then filled piece by piece.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use files::settle::{QUIET, QUIET_WHERE_EMPTY};
use persona::{AsReport as _, Code, Kind, Scope};
use scopes::Scopes;
use testkit::{Database, Files, on_each_engine};

use super::{brief, history, load, reread};
use crate::samples::{attribution, name};

/// How often a file is written.
const SAVES: usize = 50;
/// Bytes per write, and the pause between two writes.
const PIECE: usize = 60;
const REST: Duration = Duration::from_millis(3);
/// Saves that take longer than this are no longer one burst.
const BURST: Duration = Duration::from_millis(200);
/// A save that is not in force after this time counts as missed. Generous, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
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

/// The pace of a writer. A busy machine may delay it until its half-written file rightly counts as
/// finished; from then on it is not steady.
#[derive(Clone, Default)]
struct Pace(Arc<Mutex<Progress>>);

#[derive(Default)]
struct Progress {
    /// The last touch of a file that is being written, and how long it may be left alone: half of the
    /// time after which it counts as complete, because file systems keep coarse times.
    last: Option<(Instant, Duration)>,
    was_late: bool,
}

impl Pace {
    /// The file was emptied, and another thread is about to write it.
    fn emptied(&self) {
        self.0.lock().unwrap().touch(QUIET_WHERE_EMPTY / 2);
    }

    fn begin(&self) {
        self.0.lock().unwrap().touch(QUIET / 2);
    }

    fn wrote(&self) {
        self.0.lock().unwrap().touch(QUIET / 2);
    }

    fn end(&self) {
        let mut progress = self.0.lock().unwrap();
        progress.was_late = progress.is_late();
        progress.last = None;
    }

    fn is_steady(&self) -> bool {
        !self.0.lock().unwrap().is_late()
    }
}

impl Progress {
    fn touch(&mut self, allowed: Duration) {
        self.was_late = self.is_late();
        self.last = Some((Instant::now(), allowed));
    }

    fn is_late(&self) -> bool {
        self.was_late || self.last.is_some_and(|(at, allowed)| at.elapsed() >= allowed)
    }
}

/// Writes the file [`SAVES`] times on a thread of its own.
fn keep_writing(path: PathBuf, pace: Pace) -> (std::thread::JoinHandle<()>, Arc<AtomicBool>) {
    let done = Arc::new(AtomicBool::new(false));
    let is_done = done.clone();
    let writer = std::thread::spawn(move || {
        for save in 1..=SAVES {
            write_slowly(&path, &file(save), &pace);
            // Now and then the file is left alone for long enough to be read.
            std::thread::sleep(if save % 10 == 0 { Duration::from_millis(60) } else { REST });
        }
        is_done.store(true, Ordering::SeqCst);
    });
    (writer, done)
}

async fn nothing_is_missing(scopes: &Scopes, pace: &Pace) {
    for of in NAMES {
        let loaded = scopes.load(&name(of), None, &scopes::Overrides::new()).await.unwrap();
        let description = loaded.map(|loaded| loaded.bundle.persona.description.clone());
        let is_whole = description.as_ref().is_some_and(|text| text.as_deref() == Some("whole"));
        assert!(is_whole || !pace.is_steady(), "in force of {of}: {description:?}");
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
            // A command opens everything again.
            let fresh = files.open(database).await;
            nothing_is_missing(&fresh, &pace).await;
            // A writer is refused, or sees the whole file. A delayed save may leave half of it, which is a
            // mistake.
            match fresh.write(Scope::Project, attribution()).await {
                Ok(write) => drop(write),
                Err(error) if pace.is_steady() => assert_eq!(error.code(), Code::FileChanged, "{error}"),
                Err(error) => {
                    assert!(matches!(error.code(), Code::FileChanged | Code::FileHasErrors), "{error}");
                }
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

/// Of many saves in quick succession, only the last is read.
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
        let in_one_go = began.elapsed() < BURST;
        in_force(&scopes, &format!("save {}", burst * 100 + 20)).await;
        tokio::time::sleep(BURST).await;
        let now = history(&scopes, Scope::Project, Kind::Persona, "guide").await.len();
        assert!(now == revisions + 1 || !in_one_go, "{} reloads", now - revisions);
        revisions = now;
    }
    nothing_was_deleted(&scopes).await;
    scopes.close().await;
}

/// A process starts while the file is empty.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_empty_for_a_moment_is_not_deleted() {
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
            pace.emptied();
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

/// A file that stays empty takes effect like any other change.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_stays_empty_is_deleted() {
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
    // A process that starts later does not wait.
    std::fs::write(&path, "").unwrap();
    tokio::time::sleep(QUIET_WHERE_EMPTY * 2).await;
    let scopes = files.open(&database).await;
    assert!(scopes.all(Scope::Project).await.unwrap().is_empty());
    assert!(
        brief(&history(&scopes, Scope::Project, Kind::Persona, "guide").await)[0].starts_with("delete guide")
    );
    scopes.close().await;
}

/// The same holds for an included text.
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
