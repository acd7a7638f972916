//! A database that refuses writes for a while, in the middle of a run.

use std::time::Duration;

use agent::{End, Event, Mode, SessionStatus};
use app::ErrorKind;
use app::running::{ApprovalPolicy, SendOptions, Subscription};
use testkit::{Database, on_each_engine};
use uuid::Uuid;

use super::stage::{Stage, assert_whole, end, hear, names, results, say, to_the_end, turns};
use crate::world::{World, refused};

/// Tools that answer once a file exists.
const WAITS: &str = r#"
[[reply]]
when = { last_user = "/hello$/" }
text = "Here I am."
[[reply]]
when = { last_user = "/work$/" }
say = [
    { text = "I work." },
    { tool = "run_command", input = { command = "until test -e go; do sleep 0.02; done" } },
]
[[reply]]
say = [{ tool = "run_command", input = { command = "until test -e enough; do sleep 0.05; done" } }]
"#;

const ANYTHING: SendOptions =
    SendOptions { policy: ApprovalPolicy::All, detached: true, max_tool_rounds: None };

/// From now on nothing is added to a log.
async fn refuse(database: &Database) {
    let sql = match database.engine {
        "sqlite" => {
            "CREATE TRIGGER refuse BEFORE INSERT ON session_log \
             BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        }
        _ => {
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$; \
             CREATE TRIGGER refuse BEFORE INSERT ON session_log FOR EACH ROW EXECUTE FUNCTION refuse()"
        }
    };
    database.execute(sql).await;
}

async fn allow(database: &Database) {
    let sql = match database.engine {
        "sqlite" => "DROP TRIGGER refuse",
        _ => "DROP FUNCTION refuse CASCADE",
    };
    database.execute(sql).await;
}

/// A run whose tool has answered while the answer could not be kept.
async fn cut_off(stage: &Stage<'_>, database: &Database) -> (Uuid, Subscription) {
    let id = stage.session(Mode::Build).await;
    let mut events = stage.runtime.send(id, "work".to_owned(), ANYTHING).await.unwrap();
    hear(&mut events, "usage", 1).await;
    refuse(database).await;
    std::fs::write(stage.file("go"), "").unwrap();
    let told = hear(&mut events, "error", 1).await;
    let Some(Event::Error { code: agent::ErrorCode::Storage, message }) = told.last() else {
        panic!("{}", names(&told))
    };
    assert!(message.contains("the disk is full"), "{message}");
    assert_eq!(end(&told), None, "a run ends only once its end is stored");
    (id, events)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_be_kept_ends_on_record_once_the_database_is_back() {
    on_each_engine(async |database| {
        let world = World::open(database, "", "").await;
        let stage = Stage::set(&world, WAITS).await;
        let (id, events) = cut_off(&stage, database).await;
        let elsewhere = stage.restarted().await;
        let mut theirs = elsewhere.events(id, None).await.unwrap();
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Running);
        let early = stage.runtime.send(id, "hello".to_owned(), SendOptions::default()).await;
        assert_eq!(refused(early).kind, ErrorKind::Conflict);
        allow(database).await;
        let rest = to_the_end(events).await;
        assert_eq!(names(&rest), "tool_result error done");
        assert_eq!(end(&rest), Some(End::Failed));
        assert_eq!(hear(&mut theirs, "done", 1).await, rest);
        let view = stage.view(id).await;
        assert_eq!(view.session.status, SessionStatus::Idle);
        assert_eq!(turns(&view), "user assistant_text tool_call tool_result");
        assert!(results(&view)[0].0.contains("was interrupted"), "{:?}", results(&view));
        assert_eq!(end(&stage.say(id, "hello").await), Some(End::EndTurn));
        assert_whole(&stage.view(id).await);
        stage.runtime.stop().await;
        elsewhere.stop().await;
        world.library.close().await;
    })
    .await;
}

/// If even the end cannot be stored, the session is released although the process lives on.
#[tokio::test(flavor = "multi_thread")]
async fn an_undriven_session_is_not_held_forever() {
    on_each_engine(async |database| {
        let world = World::open(database, "", "").await;
        let stage = Stage::set(&world, WAITS).await;
        let (id, events) = cut_off(&stage, database).await;
        // Stopping does not wait for the database.
        tokio::time::timeout(Duration::from_secs(5), stage.runtime.stop()).await.unwrap();
        let rest = to_the_end(events).await;
        assert_eq!(names(&rest), "done");
        assert_eq!(end(&rest), Some(End::Failed));
        allow(database).await;
        let other = stage.session(Mode::Build).await;
        let mut at_work = stage.runtime.send(other, "wait".to_owned(), ANYTHING).await.unwrap();
        hear(&mut at_work, "usage", 1).await;
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Running, "its end was not stored");
        // A heartbeat later it is not this process's any more; the other one is still.
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        let elsewhere = stage.restarted().await;
        assert_eq!(end(&say(&elsewhere, id, "hello").await), Some(End::EndTurn));
        let view = stage.view(id).await;
        assert_whole(&view);
        assert_eq!(turns(&view), "user assistant_text tool_call tool_result user assistant_text");
        let busy = elsewhere.send(other, "hello".to_owned(), SendOptions::default()).await;
        assert_eq!(refused(busy).kind, ErrorKind::Conflict);
        stage.runtime.stop().await;
        elsewhere.stop().await;
        world.library.close().await;
    })
    .await;
}
