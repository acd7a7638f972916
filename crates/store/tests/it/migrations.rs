//! Opening: a fresh database, the same one again, many openers at once, and files that hold no library.

use std::path::Path;
use std::process::{Command, Stdio};

use database::Location;
use persona::{Aggregation, Kind, Part, Persona, Scope};
use persona::{AsReport as _, Code};
use scopes::Scopes;
use store::{Error, RevisionRef, Store};
use tempfile::TempDir;
use testkit::{Database, on_each_engine, on_postgres};
use tokio::task::JoinSet;

use crate::samples::{attribution, change, keep, name, open, tone};

/// The variable that tells a child process the library to open.
const CHILD: &str = "MASQUE_TEST_CHILD_OPENS";
const OPENERS: usize = 8;
/// The number of parts that each process writes.
const WRITTEN: usize = 10;

async fn versions(database: &Database) -> Vec<String> {
    database
        .texts("SELECT CAST(version AS text) FROM masque_migrations ORDER BY masque_migrations.version")
        .await
}

/// The versions of the scripts, in order.
fn written_migrations() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../database/migrations/postgres");
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let number = |name: std::ffi::OsString| name.to_str().unwrap()[..4].parse::<u32>().unwrap();
    let mut numbers: Vec<u32> = names.map(number).collect();
    numbers.sort_unstable();
    numbers.iter().map(ToString::to_string).collect()
}

async fn tables(database: &Database) -> Vec<String> {
    let sql = match database.engine {
        "sqlite" => "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
        _ => {
            "SELECT CAST(tablename AS text) FROM pg_tables WHERE schemaname IN ('masque', 'public') ORDER BY tablename"
        }
    };
    database.texts(sql).await
}

async fn refused(location: &str, create: bool) -> Error {
    let opened = Store::open(Location::parse(location).unwrap(), create).await;
    opened.map(|_| format!("{location} opened")).unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_database_is_migrated_once() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let newest = store.info().await.unwrap().schema_version.to_string();
        let expected = written_migrations();
        assert_eq!(expected.last(), Some(&newest));
        assert_eq!(versions(database).await, expected);
        keep(&store, &tone("warm")).await;
        let before = tables(database).await;
        let again = open(database).await;
        assert_eq!(versions(database).await, expected);
        store.close().await;
        again.close().await;
        let third = Store::open(Location::parse(&database.location).unwrap(), false).await.unwrap();
        assert_eq!(tables(database).await, before);
        assert_eq!(third.names_with_prefix(Kind::Part, "warm", 2).await.unwrap().len(), 1);
        third.close().await;
    })
    .await;
}

/// The first schema, and a persona with a revision as it was written then.
fn first_version(engine: &str) -> [&'static str; 4] {
    let schema = match engine {
        "sqlite" => include_str!("../../../database/migrations/sqlite/0001_library.sql"),
        _ => include_str!("../../../database/migrations/postgres/0001_library.sql"),
    };
    let table = "CREATE TABLE masque_migrations (version bigint PRIMARY KEY, applied_at text NOT NULL); \
                 INSERT INTO masque_migrations VALUES (1, 'then')";
    let entities = "INSERT INTO agent_parts (guid, name, part_type, content, created_at, updated_at) \
         VALUES ('018f0000-0000-7000-8000-000000000001', 'warm', 'tone', 'Be warm.', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'); \
         INSERT INTO agent_personas (guid, name, aggregation_strategy, created_at, updated_at) \
         VALUES ('018f0000-0000-7000-8000-000000000002', 'old', 'auto', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'); \
         INSERT INTO agent_personas (guid, name, aggregation_strategy, created_at, updated_at) \
         VALUES ('018f0000-0000-7000-8000-000000000003', 'set', 'full', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'); \
         INSERT INTO agent_persona_parts (persona_id, part_id) SELECT p.id, x.id FROM agent_personas p, agent_parts x WHERE p.name = 'old'";
    let revisions = r#"INSERT INTO agent_revisions (kind, guid, name, revision, action, author, front, entity, refs, created_at)
         VALUES ('part', '018f0000-0000-7000-8000-000000000001', 'warm', 1, 'create', 'Ada', 'cli',
         '{"name": "warm", "part_type": "tone", "content": "Be warm.", "tags": []}', '[]', '2026-01-01T00:00:00.000000Z'),
         ('persona', '018f0000-0000-7000-8000-000000000002', 'old', 1, 'create', 'Ada', 'cli',
         '{"name": "old", "aggregation_strategy": "auto", "parts": [{"name": "warm", "order": 0, "priority": 0}], "traits": [], "skills": [], "guardrails": [], "tags": []}',
         '[{"kind": "part", "name": "warm", "revision": 1}]', '2026-01-01T00:00:00.000000Z')"#;
    [schema, table, entities, revisions]
}

/// A library of an earlier Masque means the same to this one.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_library_is_brought_up_to_date() {
    on_each_engine(async |database| {
        for script in first_version(database.engine) {
            database.execute(script).await;
        }
        let store = open(database).await;
        assert_eq!(versions(database).await, written_migrations());
        let strategy = async |of: &str| {
            store.get::<Persona>(&name(of)).await.unwrap().unwrap().entity.aggregation_strategy
        };
        assert_eq!((strategy("old").await, strategy("set").await), (None, Some(Aggregation::Full)));
        // Its history is frozen as it was, though its references named no scope.
        change::<Part>(&store, "warm", |part| part.content = Some("Changed.".to_owned())).await;
        let scopes = Scopes::of_database(store.clone());
        let first = RevisionRef::Number(1);
        let first =
            scopes.revision(Scope::Shared, Kind::Persona, &name("old"), &first).await.unwrap().unwrap();
        let frozen = scopes.frozen(Scope::Shared, &first).await.unwrap().unwrap();
        assert_eq!(frozen.parts[0].content.as_deref(), Some("Be warm."));
        scopes
            .tag(Scope::Shared, Kind::Persona, &name("old"), &first.about, "v1", attribution())
            .await
            .unwrap();
        change::<Part>(&store, "warm", |part| part.content = Some("Again.".to_owned())).await;
        assert_eq!(scopes.prune(1).await.unwrap(), 1, "the second of three revisions of warm");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_tasks_open_at_once() {
    for _ in 0..5 {
        on_each_engine(async |database| {
            let mut tasks = JoinSet::new();
            for _ in 0..OPENERS {
                let location = Location::parse(&database.location).unwrap();
                tasks.spawn(Store::open(location, true));
            }
            while let Some(opened) = tasks.join_next().await {
                opened.unwrap().unwrap().close().await;
            }
            assert_eq!(versions(database).await, written_migrations());
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_open_and_write_at_once() {
    if let Ok(location) = std::env::var(CHILD) {
        return write_as_one_of_many_processes(&location).await;
    }
    for _ in 0..3 {
        on_each_engine(async |database| {
            let children: Vec<_> = (0..OPENERS)
                .map(|_| {
                    Command::new(std::env::current_exe().unwrap())
                        .args(["--exact", "migrations::many_processes_open_and_write_at_once", "--nocapture"])
                        .env(CHILD, &database.location)
                        .stdout(Stdio::piped())
                        .stderr(Stdio::piped())
                        .spawn()
                        .unwrap()
                })
                .collect();
            for child in children {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            }
            let store = open(database).await;
            let written = store.names_with_prefix(Kind::Part, "process-", 200).await.unwrap().len();
            assert_eq!(written, OPENERS * WRITTEN, "every write of every process is there");
            store.close().await;
        })
        .await;
    }
}

/// The child processes of the test above.
async fn write_as_one_of_many_processes(location: &str) {
    let store = Store::open(Location::parse(location).unwrap(), true).await.unwrap();
    for at in 0..WRITTEN {
        keep(&store, &tone(&format!("process-{}-{at}", std::process::id()))).await;
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_library_is_refused_untouched() {
    on_each_engine(async |database| {
        let table = "CREATE TABLE masque_migrations (version bigint PRIMARY KEY, applied_at text NOT NULL)";
        database.execute(table).await;
        let known = {
            // The version of a library that this Masque makes.
            let other = Database::sqlite();
            let store = open(&other).await;
            let newest = store.info().await.unwrap().schema_version;
            store.close().await;
            newest
        };
        let newer = known + 1;
        for version in 1..=newer {
            database.execute(&format!("INSERT INTO masque_migrations VALUES ({version}, 'then')")).await;
        }
        for create in [true, false] {
            let error = refused(&database.location, create).await;
            let Error::Database(database::Error::NewerSchema { found, known: newest }) = error else {
                panic!("{error:?}")
            };
            assert_eq!((found, newest), (newer, known));
        }
        assert_eq!(tables(database).await, ["masque_migrations"], "nothing was added");
        assert_eq!(versions(database).await.len() as i64, newer);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_location_without_a_library_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = |of: &str| directory.path().join(of).display().to_string();
    let check = async |of: &str, create: bool, code: Code| {
        let error = refused(&path(of), create).await;
        assert_eq!(error.code(), code, "{of}: {error}");
    };
    check("absent.db", false, Code::NoDatabase).await;
    assert!(!Path::new(&path("absent.db")).exists(), "looking makes nothing");

    let text =
        "This is not a database, but it is longer than the header of one, and then some more.\n".repeat(99);
    std::fs::write(path("notes.txt"), &text).unwrap();
    for create in [true, false] {
        check("notes.txt", create, Code::DatabaseUnavailable).await;
    }
    assert_eq!(std::fs::read_to_string(path("notes.txt")).unwrap(), text, "it is left as it was");

    std::fs::create_dir(path("folder")).unwrap();
    check("folder", true, Code::DatabaseUnavailable).await;
    check("notes.txt/below.db", true, Code::FileFailed).await;

    let store = Store::open(Location::parse(&path("real.db")).unwrap(), true).await.unwrap();
    keep(&store, &tone("warm")).await;
    store.close().await;
    let whole = std::fs::read(path("real.db")).unwrap();
    std::fs::write(path("cut.db"), &whole[..whole.len() / 3]).unwrap();
    let mut garbled = whole.clone();
    garbled[100..].fill(0xa5);
    std::fs::write(path("garbled.db"), garbled).unwrap();
    check("garbled.db", false, Code::DatabaseUnavailable).await;
    // Cut off in the middle: it may open, but no answer may be a wrong one.
    if let Ok(cut) = Store::open(Location::parse(&path("cut.db")).unwrap(), false).await {
        let read = cut.get::<Part>(&name("warm")).await;
        assert!(!matches!(read, Ok(Some(_))), "{read:?}");
        cut.close().await;
    }

    // An empty file is an empty database, and a folder on the way is made.
    std::fs::write(path("empty.db"), "").unwrap();
    for of in ["empty.db", "new/folder/library.db", "with space ?#%é.db"] {
        let store = Store::open(Location::parse(&path(of)).unwrap(), true).await.unwrap();
        keep(&store, &tone("warm")).await;
        store.close().await;
        assert!(Path::new(&path(of)).exists(), "{of}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_an_error() {
    let closed = refused("postgres://me:hidden@127.0.0.1:1/library", true).await;
    assert_eq!(closed.code(), Code::DatabaseUnavailable);
    let message = closed.to_string();
    assert!(message.contains("postgres://127.0.0.1:1/library"), "{message}");
    assert!(!message.contains("hidden"), "{message}");
    on_postgres(async |database| {
        let wrong = refused(&format!("{}_absent", database.location), true).await;
        assert_eq!(wrong.code(), Code::DatabaseUnavailable, "{wrong}");
    })
    .await;
}

#[tokio::test]
async fn a_file_of_another_program_is_left_alone() {
    let database = Database::sqlite();
    let file = std::fs::File::create(&database.location).unwrap();
    drop(file);
    database.execute("CREATE TABLE bookmarks (url text)").await;
    let refused = Store::open(Location::parse(&database.location).unwrap(), true).await.unwrap_err();
    assert_eq!(refused.code(), Code::ForeignDatabase, "{refused}");
    let tables = database.texts("SELECT name FROM sqlite_master").await;
    assert_eq!(tables, ["bookmarks"]);
}
