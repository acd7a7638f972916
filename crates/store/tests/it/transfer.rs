//! Whole libraries on the move: from engine to engine and back, with everything in them.

use std::collections::BTreeMap;
use store::CopiedSessions;

use database::Location;
use persona::{AsReport as _, Code};
use persona::{Kind, Name, Part, Persona};
use store::{Change, Error, Filter, Progress, Store};
use testkit::{Database, on_each_engine};

use crate::samples::{change, held, keep, name, open, remove, tone};
use crate::stock::{dump, dump_without_files, stock};

fn location(of: &Database) -> Location {
    Location::parse(&of.location).unwrap()
}

/// Everything that a reader can get: every persona with all its pieces, and search results.
async fn answers(store: &Store) -> Vec<String> {
    let mut answers = Vec::new();
    let personas = store.names_with_prefix(Kind::Persona, "", 10_000).await.unwrap();
    for name in &personas {
        let loaded = store.load(name, &[]).await.unwrap().unwrap();
        answers.push(serde_json::to_string(&loaded.bundle).unwrap());
    }
    for kind in Kind::ALL {
        let filter = Filter { limit: Some(200), ..Filter::default() };
        answers.push(format!("{:?}", store.list(*kind, &filter).await.unwrap().items));
    }
    for query in ["review", "naïve", "東京", "the reader", "p0000", "tone-00", "don't", "team a", "stag"] {
        let page = store.search(query, &[], Some(200), None).await.unwrap();
        let mut found: Vec<String> =
            page.items.iter().map(|found| format!("{query}: {} {}", found.kind, found.name)).collect();
        found.sort();
        answers.append(&mut found);
    }
    answers
}

/// Steps and tables as they were reported, and that each table was reported to its end.
#[derive(Default)]
struct Reported(Vec<Progress>);

impl Reported {
    fn check(&self, rows: &[(&'static str, u64)]) {
        let mut steps: Vec<&str> = self.0.iter().map(|progress| progress.step).collect();
        steps.dedup();
        assert_eq!(steps, ["copy", "index", "compare"]);
        let mut copied = BTreeMap::new();
        for progress in &self.0 {
            assert!(progress.done <= progress.total, "{progress:?}");
            if progress.step == "copy" {
                copied.insert(progress.what, (progress.done, progress.total));
            }
        }
        for (table, count) in rows.iter().filter(|(_, count)| *count > 0) {
            assert_eq!(copied[table], (*count, *count), "{table}");
        }
    }
}

/// Tables that a copy leaves empty: they are about the files of one machine.
const OF_FILES: [&str; 2] = ["file_entries", "file_origins"];

async fn copy(from: &Store, to: &Database) {
    let mut reported = Reported::default();
    let report = from
        .copy_to(&location(to), CopiedSessions::All, &mut |progress| reported.0.push(progress))
        .await
        .unwrap();
    assert_eq!(report.rows, report.tables.iter().map(|(_, count)| count).sum::<u64>());
    let stays = |table: &str| OF_FILES.contains(&table);
    assert!(
        report.tables.iter().all(|(table, count)| (*count > 0) != stays(table)),
        "the stock fills every table: {report:?}"
    );
    reported.check(&report.tables);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_and_back_nothing_differs() {
    for seed in [1, 2] {
        let (first, last) = (Database::sqlite(), Database::sqlite());
        let store = open(&first).await;
        stock(&store, &first, seed).await;
        let expected = answers(&store).await;
        if let Some(middle) = testkit::postgres().await {
            copy(&store, &middle).await;
            let on_postgres = open(&middle).await;
            assert_eq!(answers(&on_postgres).await, expected, "seed {seed}");
            copy(&on_postgres, &last).await;
            on_postgres.close().await;
            middle.remove().await;
        } else {
            copy(&store, &last).await;
        }
        let back = open(&last).await;
        assert_eq!(answers(&back).await, expected, "seed {seed}");
        store.close().await;
        back.close().await;
        let (before, after) = (dump_without_files(&first).await, dump(&last).await);
        assert_eq!(before.len(), after.len(), "seed {seed}: what is of files stays behind");
        for (one, two) in before.iter().zip(&after) {
            assert_eq!(one, two, "seed {seed}");
        }
    }
}

/// After a copy life goes on: ids, revisions, the index and the stages of personas.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_can_be_written_to() {
    let first = Database::sqlite();
    let store = open(&first).await;
    stock(&store, &first, 7).await;
    on_each_engine(async |database| {
        copy(&store, database).await;
        let copied = open(database).await;
        for (kind, count) in copied.info().await.unwrap().counts {
            assert!(count > 0, "{kind}");
        }
        let new = keep(&copied, &tone("platypus")).await;
        assert_eq!(new.meta.revision, 1);
        assert_eq!(copied.search("platypus", &[], None, None).await.unwrap().items.len(), 1);
        let before = copied.get::<Persona>(&name("p0000002")).await.unwrap().unwrap();
        let changed =
            change::<Persona>(&copied, "p0000002", |persona| persona.summary = Some("echidna".to_owned()))
                .await;
        assert_eq!(changed.meta.revision, before.meta.revision + 1);
        assert_eq!(copied.search("echidna", &[], None, None).await.unwrap().items.len(), 1);
        // A name that was deleted before the copy counts on after it.
        let again = keep(&copied, &tone("deleted-part")).await;
        assert!(again.meta.revision > 2, "{}", again.meta.revision);
        keep(&copied, &crate::samples::arc("fresh", vec![crate::samples::stage("s", 1, &["platypus"])]))
            .await;
        keep(&copied, &crate::samples::trait_("fresh")).await;
        keep(&copied, &crate::samples::skill("fresh")).await;
        keep(&copied, &crate::samples::guardrail("fresh")).await;
        keep(&copied, &crate::samples::persona("fresh")).await;
        let mut write = crate::samples::begin(&copied).await;
        let fresh = held::<Part>(&mut write, "platypus").await;
        assert_eq!(write.users(&fresh).await.unwrap(), [(Kind::Arc, name("fresh"))]);
        drop(write);
        copied.close().await;
    })
    .await;
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_one_file() {
    on_each_engine(async |database| {
        let store = open(database).await;
        stock(&store, database, 5).await;
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("backup.db");
        let mut reported = Reported::default();
        store.backup(&path, &mut |progress| reported.0.push(progress)).await.unwrap();
        assert!(reported.0.iter().all(|progress| progress.done <= progress.total), "{:?}", reported.0);
        assert_eq!(reported.0[0].unit, if database.engine == "sqlite" { "pages" } else { "rows" });
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "only the user can read it");
        }
        let files: Vec<_> =
            std::fs::read_dir(&directory).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, ["backup.db"], "and nothing beside it");
        let again = store.backup(&path, &mut |_| ()).await.unwrap_err();
        assert!(
            matches!(&again, Error::Occupied(target) if *target == path.display().to_string()),
            "{again:?}"
        );

        let restored = Store::open(Location::Sqlite(path.clone()), false).await.unwrap();
        assert_eq!(answers(&restored).await, answers(&store).await);
        restored.close().await;
        store.close().await;
        if database.engine == "sqlite" {
            assert_eq!(dump(&Database::sqlite_at(&path)).await, dump(database).await);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_empty_library_is_copied_into() {
    let source = Database::sqlite();
    let store = open(&source).await;
    keep(&store, &tone("mine")).await;
    on_each_engine(async |database| {
        let other = open(database).await;
        keep(&other, &tone("theirs")).await;
        let refused = store.copy_to(&location(database), CopiedSessions::All, &mut |_| ()).await.unwrap_err();
        assert_eq!(refused.code(), Code::TargetNotEmpty, "{refused}");
        let known = other.names_with_prefix(Kind::Part, "theirs", 5).await.unwrap();
        assert_eq!(known, [name("theirs")]);
        assert!(other.get::<Part>(&name("mine")).await.unwrap().is_none());
        // History alone is something, too.
        remove::<Part>(&other, "theirs").await;
        store.copy_to(&location(database), CopiedSessions::All, &mut |_| ()).await.unwrap_err();
        other.close().await;
    })
    .await;
    let itself = store.copy_to(&location(&source), CopiedSessions::All, &mut |_| ()).await.unwrap_err();
    assert_eq!(itself.code(), Code::TargetNotEmpty, "{itself}");
    store.close().await;
}

/// A row that cannot be read ends the copy: nothing of it is left, and the next one succeeds.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_copy_leaves_nothing_behind() {
    on_each_engine(async |database| {
        let source = Database::sqlite();
        let store = open(&source).await;
        stock(&store, &source, 9).await;
        // The last table of all, so that everything else was copied before.
        source.execute("INSERT INTO agent_persona_usage VALUES ('broken', 'not a time')").await;
        let last = "SELECT max(id) FROM agent_revisions WHERE scope = 'shared'";
        source.execute(&format!("UPDATE agent_revisions SET refs = '[half' WHERE id = ({last})")).await;
        store.copy_to(&location(database), CopiedSessions::All, &mut |_| ()).await.unwrap_err();
        let target = open(database).await;
        assert!(target.info().await.unwrap().counts.iter().all(|(_, count)| *count == 0));
        for table in ["agent_revisions", "agent_persona_parts", "library_search", "agent_persona_usage"] {
            let sql = format!("SELECT CAST(count(*) AS text) FROM {table}");
            assert_eq!(database.texts(&sql).await, ["0"], "{table}");
        }
        target.close().await;

        source.execute("DELETE FROM agent_persona_usage WHERE name = 'broken'").await;
        source.execute("UPDATE agent_revisions SET refs = '[]' WHERE refs = '[half'").await;
        copy(&store, database).await;
        store.close().await;
    })
    .await;
}

/// The remains of an interrupted backup do not stop the next one.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_starts_afresh() {
    let source = Database::sqlite();
    let store = open(&source).await;
    keep(&store, &tone("mine")).await;
    let directory = tempfile::TempDir::new().unwrap();
    for end in ["", "-journal", "-wal", "-shm"] {
        let of = format!("backup.db.partial{end}");
        std::fs::write(directory.path().join(of), "left by a crash").unwrap();
    }
    let path = directory.path().join("backup.db");
    store.backup(&path, &mut |_| ()).await.unwrap();
    let restored = Store::open(Location::Sqlite(path), false).await.unwrap();
    assert!(restored.get::<Part>(&name("mine")).await.unwrap().is_some());
    restored.close().await;
    store.close().await;
}

/// A copy is one state of the source, whatever is written meanwhile. Open handles on the target see it.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_a_snapshot_and_is_announced() {
    let hidden: &Name = builtins::of::<Persona>().keys().next().unwrap();
    on_each_engine(async |database| {
        let source = Database::sqlite();
        let store = open(&source).await;
        for at in 0..20 {
            keep(&store, &tone(&format!("early-{at}"))).await;
        }
        keep(&store, &Persona::new(hidden.clone())).await;
        let target = open(database).await;
        crate::samples::settle(&target, hidden.as_str()).await;
        let mut changes = target.changes();
        let (writer, late) = (store.clone(), std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
        let (runtime, done) = (tokio::runtime::Handle::current(), late.clone());
        store
            .copy_to(&location(database), CopiedSessions::All, &mut |_| {
                if !done.swap(true, std::sync::atomic::Ordering::SeqCst) {
                    let writer = writer.clone();
                    let written = runtime.spawn(async move { keep(&writer, &tone("late")).await });
                    tokio::task::block_in_place(|| runtime.block_on(written)).unwrap();
                }
            })
            .await
            .unwrap();
        assert!(late.load(std::sync::atomic::Ordering::SeqCst));
        assert!(target.get::<Part>(&name("late")).await.unwrap().is_none());
        assert_eq!(target.names_with_prefix(Kind::Part, "early", 50).await.unwrap().len(), 20);
        let scope = async || target.load(hidden, &[]).await.unwrap().unwrap().bundle.meta.scope;
        crate::samples::sees(database, persona::Scope::Shared, scope).await;
        let news = tokio::time::timeout(std::time::Duration::from_secs(60), changes.recv()).await;
        assert!(matches!(news.unwrap().unwrap(), Change::Everything | Change::Entity { .. }));
        store.close().await;
        target.close().await;
    })
    .await;
}

/// A backup is one state of the library, whatever others write while its pages are copied.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_a_snapshot() {
    const PARTS: usize = 40;
    let source = Database::sqlite();
    let store = open(&source).await;
    let content = "long ".repeat(48 * 1024);
    for at in 0..PARTS {
        keep(&store, &crate::samples::part(&format!("early-{at}"), persona::PartType::Tone, &content)).await;
    }
    let before = dump(&source).await;
    // Another process, as far as SQLite can tell.
    let writer = open(&source).await;
    let (runtime, directory) = (tokio::runtime::Handle::current(), tempfile::TempDir::new().unwrap());
    let (path, mut reports) = (directory.path().join("backup.db"), 0);
    store
        .backup(&path, &mut |_| {
            let (writer, late) = (writer.clone(), format!("late-{reports}"));
            let written = runtime.spawn(async move { keep(&writer, &tone(&late)).await });
            tokio::task::block_in_place(|| runtime.block_on(written)).unwrap();
            reports += 1;
        })
        .await
        .unwrap();
    assert!(reports > 3, "the copy took {reports} steps");
    let copy = Database::sqlite_at(&path);
    assert_eq!(dump(&copy).await, before);
    assert_eq!(writer.names_with_prefix(Kind::Part, "late", 1_000).await.unwrap().len(), reports);
    let restored = open(&copy).await;
    keep(&restored, &tone("life")).await;
    let found = restored.search("early", &[Kind::Part], Some(200), None).await.unwrap().items;
    assert_eq!(found.iter().filter(|found| found.name.as_str().starts_with("early-")).count(), PARTS);
    restored.close().await;
    writer.close().await;
    let second = directory.path().join("second.db");
    store.backup(&second, &mut |_| ()).await.unwrap();
    store.close().await;
    assert_eq!(dump(&Database::sqlite_at(&second)).await, dump(&source).await);
}

/// A backup that fails leaves no file, whole or half.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_backup_leaves_nothing_behind() {
    let source = Database::sqlite();
    let store = open(&source).await;
    stock(&store, &source, 9).await;
    let directory = tempfile::TempDir::new().unwrap();
    let nowhere = store.backup(&directory.path().join("missing/backup.db"), &mut |_| ()).await.unwrap_err();
    assert_eq!(nowhere.code(), Code::FileFailed, "{nowhere}");
    store.close().await;
    let root = "SELECT CAST(rootpage AS text) FROM sqlite_schema WHERE name = 'arc_stage_parts'";
    let root: u64 = source.texts(root).await[0].parse().unwrap();
    let size: u64 =
        source.texts("SELECT CAST(page_size AS text) FROM pragma_page_size").await[0].parse().unwrap();
    {
        use std::io::{Seek as _, SeekFrom, Write as _};
        let mut file = std::fs::OpenOptions::new().write(true).open(&source.location).unwrap();
        file.seek(SeekFrom::Start((root - 1) * size)).unwrap();
        file.write_all(&[0xff; 64]).unwrap();
    }
    let store = open(&source).await;
    let damaged = store.backup(&directory.path().join("backup.db"), &mut |_| ()).await.unwrap_err();
    assert!(matches!(damaged, Error::Database(database::Error::DamagedCopy { .. })), "{damaged}");
    assert_eq!(damaged.code(), Code::DatabaseFailed);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    store.close().await;
}

/// A file that appears while the copy runs is not replaced.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_never_replaces_a_file() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("mine")).await;
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("backup.db");
        let refused =
            store.backup(&path, &mut |_| std::fs::write(&path, "another's").unwrap()).await.unwrap_err();
        assert_eq!(refused.code(), Code::TargetNotEmpty, "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "another's");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "nothing half written");
        store.close().await;
    })
    .await;
}
