//! Live reload: however a file is saved, it takes effect, and listeners learn what changed.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use files::settle::{LIMIT, QUIET, QUIET_WHERE_EMPTY};
use persona::{Kind, Scope};
use scopes::Scopes;
use store::Change;
use testkit::{Database, Files};
use tokio::sync::broadcast::Receiver;

use super::{brief, history, load};
use crate::samples::name;

/// A save that is not in force after this time counts as missed. Generous, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Saves in each manner. `cargo xtask bench files` measures how long they take.
const SAVES: usize = 7;

fn file(summary: &str) -> String {
    format!("[personas.guide]\nsummary = \"{summary}\"\n")
}

async fn summary(scopes: &Scopes) -> Option<String> {
    let loaded = scopes.load(&name("guide"), None, &scopes::Overrides::new()).await.unwrap();
    loaded.and_then(|loaded| loaded.bundle.persona.summary.clone())
}

/// Waits until the condition holds.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < PATIENCE, "{what} is not in force after {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Saves several times in one manner. Each save takes effect.
async fn check(scopes: &Scopes, manner: &str, save: impl Fn(&str)) {
    for at in 0..SAVES {
        let text = format!("{manner} {at}");
        save(&text);
        until(&text, async || summary(scopes).await.as_ref() == Some(&text)).await;
        // The next save is another one, not part of this burst.
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
}

async fn open_watched(files: &Files, database: &Database) -> Scopes {
    let scopes = files.open(database).await;
    assert!(scopes.watching().is_none());
    scopes.watch();
    assert!(scopes.watching().is_some());
    scopes
}

fn rename_over(path: &Path, text: &str) {
    let beside = path.with_extension("new");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, path).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_manner_of_saving_is_seen() {
    let database = Database::sqlite();
    let files = Files::new();
    files.write(Scope::Project, &file("first"));
    let scopes = open_watched(&files, &database).await;
    let path = files.path(Scope::Project);
    check(&scopes, "renamed over", |text| rename_over(&path, &file(text))).await;
    check(&scopes, "truncated and written", |text| {
        use std::io::Write as _;
        let mut open = std::fs::File::create(&path).unwrap();
        let text = file(text);
        let (head, tail) = text.split_at(text.len() / 2);
        open.write_all(head.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        open.write_all(tail.as_bytes()).unwrap();
    })
    .await;
    let longest_absence = Cell::new(Duration::ZERO);
    check(&scopes, "moved away and written again", |text| {
        let backup = path.with_extension("toml~");
        std::fs::rename(&path, &backup).unwrap();
        let moved = Instant::now();
        std::fs::write(&path, file(text)).unwrap();
        longest_absence.set(longest_absence.get().max(moved.elapsed()));
        std::fs::remove_file(&backup).unwrap();
    })
    .await;
    let all = brief(&history(&scopes, Scope::Project, Kind::Persona, "guide").await);
    // On a busy machine the file may be away for so long that it is rightly seen as deleted.
    if longest_absence.get() < QUIET_WHERE_EMPTY {
        assert_eq!(all.len(), 3 * SAVES + 1, "each save once, none of them half: {all:?}");
        assert!(all[..3 * SAVES].iter().all(|line| line.starts_with("update guide")), "{all:?}");
    }
    scopes.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(unix)]
async fn a_link_that_is_turned_is_seen() {
    let database = Database::sqlite();
    let files = Files::new();
    let path = files.path(Scope::Project);
    let elsewhere = files.directory_of(Scope::Global).join("versions");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("0.toml"), file("first")).unwrap();
    std::os::unix::fs::symlink(elsewhere.join("0.toml"), &path).unwrap();
    let scopes = open_watched(&files, &database).await;
    check(&scopes, "link turned", |text| {
        let target = elsewhere.join(format!("{}.toml", text.replace(' ', "-")));
        std::fs::write(&target, file(text)).unwrap();
        let beside = path.with_extension("link");
        std::os::unix::fs::symlink(&target, &beside).unwrap();
        std::fs::rename(&beside, &path).unwrap();
    })
    .await;
    check(&scopes, "behind the link", |text| {
        rename_over(&std::fs::read_link(&path).unwrap(), &file(text));
    })
    .await;
    scopes.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_included_text_is_seen() {
    let database = Database::sqlite();
    let files = Files::new();
    let text = "[personas.guide]\nsummary_file = \"texts/summary.md\"\n";
    files.write(Scope::Project, &text.replace("summary_file", "system_prompt_file"));
    files.write_beside(Scope::Project, "texts/summary.md", "first");
    let scopes = open_watched(&files, &database).await;
    let prompt = async || load(&scopes, "guide").await.persona.system_prompt;
    assert_eq!(prompt().await.as_deref(), Some("first"), "{:?}", scopes.problems());
    for at in 0..SAVES {
        let text = format!("text {at}");
        files.write_beside(Scope::Project, "texts/summary.md", &text);
        until(&text, async || prompt().await.as_ref() == Some(&text)).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    // One that is named only from now on is followed from now on.
    files.write_beside(Scope::Project, "texts/other.md", "other");
    files.write(Scope::Project, "[personas.guide]\nsystem_prompt_file = \"texts/other.md\"\n");
    until("another file", async || prompt().await.as_deref() == Some("other")).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    files.write_beside(Scope::Project, "texts/other.md", "changed");
    until("its change", async || prompt().await.as_deref() == Some("changed")).await;
    scopes.close().await;
}

/// Neither the file nor its directory need be there when following begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_comes_into_being_is_seen() {
    let database = Database::sqlite();
    let files = Files::new();
    std::fs::remove_dir(files.directory_of(Scope::Global)).unwrap();
    let scopes = open_watched(&files, &database).await;
    files.write(Scope::Project, &file("in the project"));
    until("the project's", async || summary(&scopes).await.as_deref() == Some("in the project")).await;
    files.write_beside(Scope::Global, "personas.toml", "[personas.user]\n");
    let user = async || scopes.scopes_of(Kind::Persona, &name("user")).await.unwrap();
    until("the user's", async || user().await == [Scope::Global]).await;
    std::fs::remove_file(files.path(Scope::Project)).unwrap();
    until("its end", async || summary(&scopes).await.is_none()).await;
    scopes.close().await;
}

fn news(changes: &mut Receiver<Change>) -> Vec<Change> {
    std::iter::from_fn(|| changes.try_recv().ok()).collect()
}

fn entity(kind: Kind, of: &str, listed: bool) -> Change {
    Change::Entity { kind, name: name(of), listed }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_announced() {
    // With a PostgreSQL, the local database is another one.
    let databases = [Some(Database::sqlite()), testkit::postgres().await];
    for database in databases.into_iter().flatten() {
        let files = Files::new();
        files.write(Scope::Project, &file("first"));
        let scopes = open_watched(&files, &database).await;
        let mut changes = scopes.changes();
        let mut heard = async |expected: &[Change]| {
            let start = Instant::now();
            let mut all = Vec::new();
            while !expected.iter().all(|change| all.contains(change)) {
                assert!(start.elapsed() < PATIENCE, "{all:?} instead of {expected:?}");
                tokio::time::sleep(Duration::from_millis(5)).await;
                all.extend(news(&mut changes));
            }
            let strange: Vec<&Change> = all.iter().filter(|change| !expected.contains(change)).collect();
            assert!(strange.is_empty(), "{strange:?} besides {expected:?}");
            tokio::time::sleep(Duration::from_millis(150)).await;
        };
        files.write(Scope::Project, &file("second"));
        heard(&[entity(Kind::Persona, "guide", false)]).await;
        files.write(
            Scope::Project,
            &format!("{}[parts.voice]\npart_type = \"voice\"\ncontent = \"x\"\n", file("second")),
        );
        heard(&[entity(Kind::Part, "voice", true)]).await;
        files.write(Scope::Project, "[personas.leader]\nsummary = \"second\"\n");
        heard(&[
            entity(Kind::Persona, "guide", true),
            entity(Kind::Persona, "leader", true),
            entity(Kind::Part, "voice", true),
        ])
        .await;
        files.write(Scope::Project, "[personas.leader\n");
        heard(&[Change::Everything]).await;
        assert!(scopes.has_errors());
        files.write(Scope::Project, "[personas.leader]\nsummary = \"second\"\n");
        heard(&[Change::Everything]).await;
        assert!(!scopes.has_errors());
        // Masque's own writes are announced as well.
        super::keep_in(&scopes, Scope::Project, &crate::samples::tone("warm")).await;
        heard(&[entity(Kind::Part, "warm", true)]).await;
        scopes.close().await;
        database.remove().await;
    }
}

/// A burst of saves is read when it is over, not at every save.
#[tokio::test(flavor = "multi_thread")]
async fn a_burst_is_one_reload() {
    let database = Database::sqlite();
    let files = Files::new();
    files.write(Scope::Project, &file("first"));
    let scopes = open_watched(&files, &database).await;
    let mut changes = scopes.changes();
    let path = files.path(Scope::Project);
    let began = Instant::now();
    let (mut last, mut pauses) = (began, 0);
    for at in 0..20 {
        rename_over(&path, &file(&format!("save {at}")));
        pauses += usize::from(last.elapsed() >= QUIET);
        last = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
    }
    // A busy machine makes pauses in which the file counts as finished, and reaches the limit of waiting.
    let limits = usize::try_from(began.elapsed().as_millis() / LIMIT.as_millis()).unwrap();
    let most = 4 + pauses + limits;
    until("the last save", async || summary(&scopes).await.as_deref() == Some("save 19")).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let announced = news(&mut changes);
    assert!(announced.len() <= most, "{announced:?}");
    let all = history(&scopes, Scope::Project, Kind::Persona, "guide").await;
    assert!(all.len() <= most + 1, "{:?}", brief(&all));
    scopes.close().await;
}
