//! Sessions survive a killed process and a copy of the database, and leave the library's cache alone.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use store::CopiedSessions;

use agent::TurnBody;
use database::Location;
use persona::{AsReport as _, Code};
use sessions::{BeginOutcome, Parent, RunChange, SessionFilter};
use store::Change;
use testkit::{Database, on_each_engine};
use uuid::Uuid;

use agent::RunOptions;

use super::{begin, claim, created, said, stock_sessions, takeover, user};
use crate::open;
use crate::samples::{change, keep, linking, name, sees, settle, tone};

/// The variable that tells a child process the database to write to.
const CHILD: &str = "MASQUE_TEST_CHILD_WRITES_SESSION";

/// Every turn that was announced before the process was killed is there, and the session goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_leaves_every_turn_that_it_announced() {
    if let Ok(location) = std::env::var(CHILD) {
        return write_until_killed(&location).await;
    }
    on_each_engine(async |database| {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "survival::a_killed_process_leaves_every_turn_that_it_announced",
                "--nocapture",
            ])
            .env(CHILD, &database.location)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        // A line that ends without a full stop was cut off when its writer was killed.
        let mut stored =
            lines.filter_map(|line| Some(line.strip_prefix("stored ")?.strip_suffix('.')?.to_owned()));
        let id = Uuid::parse_str(&stored.next().unwrap()).unwrap();
        let mut announced = Vec::new();
        while announced.len() < 50 {
            announced.push(stored.next().unwrap());
        }
        child.kill().unwrap();
        announced.extend(stored);
        child.wait().unwrap();

        let store = open(database).await;
        let after = super::last(&store, id).await;
        let next = takeover(&store, id, "next").await;
        let began =
            store.begin_run(id, &next, after, &[user("still there?")], None, RunOptions::default()).await;
        let began = began.unwrap();
        assert!(matches!(began, BeginOutcome::Started(started) if started.recovered), "{began:?}");
        let mut kept: Vec<String> = store
            .turns(id)
            .await
            .unwrap()
            .into_iter()
            .map(|turn| match turn.body {
                TurnBody::User { content } | TurnBody::AssistantText { content } => content,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(kept.pop().unwrap(), "still there?");
        // The last turn may be stored and not announced.
        assert!(kept.len() - announced.len() <= 1, "{} and {}", kept.len(), announced.len());
        assert_eq!(kept[..announced.len()], announced);
        store.close().await;
    })
    .await;
}

/// The child process of the test above.
async fn write_until_killed(location: &str) {
    let store = open(&Database::at(location)).await;
    let id = created(&store).await;
    eprintln!("stored {id}.");
    store.begin_run(id, &claim("killed"), 0, &[user("0")], None, RunOptions::default()).await.unwrap();
    eprintln!("stored 0.");
    // The parent kills this process long before the end.
    for at in 1..100_000 {
        store.append(id, "killed", &[said(&at.to_string())], &RunChange::default()).await.unwrap();
        eprintln!("stored {at}.");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_has_the_sessions_too() {
    on_each_engine(async |database| {
        let store = open(database).await;
        stock_sessions(&store).await;
        let any = SessionFilter { parent: Parent::Any, ..SessionFilter::default() };
        let sessions = store.sessions(&any).await.unwrap().items;
        assert_eq!(sessions.len(), 2);
        let targets = [Some(Database::sqlite()), testkit::postgres().await];
        for target in targets.into_iter().flatten() {
            store
                .library
                .copy_to(&Location::parse(&target.location).unwrap(), CopiedSessions::All, &mut |_| ())
                .await
                .unwrap();
            let copied = open(&target).await;
            assert_eq!(copied.sessions(&any).await.unwrap().items, sessions);
            for session in &sessions {
                let id = session.id;
                assert_eq!(copied.log(id, 0, 999).await.unwrap(), store.log(id, 0, 999).await.unwrap());
                assert_eq!(copied.turns(id).await.unwrap(), store.turns(id).await.unwrap());
                let requests = store.approvals(id, false).await.unwrap();
                assert_eq!(copied.approvals(id, false).await.unwrap(), requests);
            }
            // Life goes on there, and places count on where they were.
            let running = sessions.iter().find(|session| session.parent.is_none()).unwrap();
            let appended = copied.append(running.id, "node-a", &[said("on")], &RunChange::default()).await;
            assert_eq!(appended.unwrap().seq, 2);
            let occupied = copied
                .library
                .copy_to(&Location::parse(&database.location).unwrap(), CopiedSessions::All, &mut |_| ())
                .await;
            assert_eq!(occupied.unwrap_err().code(), Code::TargetNotEmpty);
            copied.close().await;
            target.remove().await;
        }
        store.close().await;
    })
    .await;
}

/// A copy leaves conversations out, unless the user asks for them.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_the_library_has_no_sessions() {
    on_each_engine(async |database| {
        let store = open(database).await;
        stock_sessions(&store).await;
        let target = Database::sqlite();
        let location = Location::parse(&target.location).unwrap();
        let report = store.library.copy_to(&location, CopiedSessions::None, &mut |_| ()).await.unwrap();
        assert!(report.left_sessions > 2, "{report:?}");
        let copied = open(&target).await;
        let any = SessionFilter { parent: Parent::Any, ..SessionFilter::default() };
        assert!(copied.sessions(&any).await.unwrap().items.is_empty());
        copied.close().await;
        target.remove().await;
        store.close().await;
    })
    .await;
}

/// A session's turns are no news of the library: what is cached of it stays.
#[tokio::test(flavor = "multi_thread")]
async fn turns_leave_the_cache_as_it_is() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let mut changes = store.library.changes();
        keep(&store.library, &tone("warm")).await;
        keep(&store.library, &linking("guide", &["warm"])).await;
        while !matches!(changes.recv().await.unwrap(), Change::Entity { name, .. } if name.as_str() == "guide") {}
        let id = created(&store).await;
        settle(&store.library, "guide").await;
        let before = store.library.load(&name("guide"), &[]).await.unwrap().unwrap();
        begin(&store, id, &claim("n")).await;
        for at in 0..20 {
            store.append(id, "n", &[said(&at.to_string())], &RunChange::default()).await.unwrap();
            let after = store.library.load(&name("guide"), &[]).await.unwrap().unwrap();
            assert!(Arc::ptr_eq(&before, &after), "append {at}");
        }
        let news = tokio::time::timeout(Duration::from_millis(700), changes.recv()).await;
        assert!(news.is_err(), "{news:?}");
        // Writes of other connections are still seen in between.
        let other = open(database).await;
        for at in 0..5 {
            let text = format!("Be warm, {at}.");
            store.append(id, "n", &[said("x")], &RunChange::default()).await.unwrap();
            change::<persona::Part>(&other.library, "warm", |part| part.content = Some(text.clone()))
                .await;
            store.append(id, "n", &[said("y")], &RunChange::default()).await.unwrap();
            let content = async || {
                let loaded = store.library.load(&name("guide"), &[]).await.unwrap().unwrap();
                loaded.bundle.parts[0].content.clone().unwrap()
            };
            sees(database, text, content).await;
        }
        store.close().await;
        other.close().await;
    })
    .await;
}

/// A writer that holds a SQLite file for long holds up no thread: everything else goes on.
#[tokio::test(flavor = "current_thread")]
async fn a_writer_that_takes_its_time_is_waited_for() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n")).await;
        let write = crate::samples::begin(&store.library).await;
        let (entries, change) = ([said("late")], RunChange::default());
        let append = store.append(id, "n", &entries, &change);
        let release = async {
            // On the only thread there is.
            tokio::time::sleep(Duration::from_millis(200)).await;
            write.commit().await.unwrap();
        };
        let (appended, ()) = tokio::join!(append, release);
        assert_eq!(appended.unwrap().seq, 2);
        store.close().await;
    })
    .await;
}
