//! Leases between processes whose clocks are wrong, or that were paused.

use std::time::Duration;

use agent::{End, Mode, SessionStatus};
use app::running::SendOptions;
use app::{Code, Remedy};
use sessions::AfterRun;
use testkit::Database;
use testkit::sessions::{done, end as ending, takeover};
use tokio::time::Instant;
use uuid::Uuid;

use super::gone::cut_off;
use super::stage::{PATIENCE, Stage, assert_whole, end, hear, on_stage, say, to_the_end, turns};
use crate::world::refused;

const TALKS: &str = r#"
[[reply]]
when = { last_user = "/slowly$/" }
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
pace_ms = 500
[[reply]]
text = "Here I am."
"#;

/// Moves the stored end of a lease, as a wrong clock would have set it.
async fn shift_lease(stage: &Stage<'_>, id: Uuid, hours: i32) {
    let database = Database::at(&stage.location().await);
    let moved = match database.engine {
        "sqlite" => format!("strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '{hours} hours')"),
        _ => format!("now() + interval '{hours} hours'"),
    };
    database.execute(&format!("UPDATE sessions SET lease_until = {moved} WHERE id = '{id}'")).await;
}

/// Others read a session for longer than its lease lasts, some of them with a clock that is ahead: they
/// would see a lease that ended hours ago.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_does_not_end_a_live_run() {
    on_stage(TALKS, async |stage| {
        let others = [stage.restarted().await, stage.restarted().await];
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "slowly".to_owned(), SendOptions::default()).await.unwrap();
        hear(&mut events, "text_delta", 1).await;
        let is_sqlite = Database::at(&stage.location().await).engine == "sqlite";
        let watched = Instant::now();
        while watched.elapsed() < Duration::from_secs(5) {
            for other in &others {
                if is_sqlite {
                    shift_lease(stage, id, -3).await;
                }
                assert_eq!(other.session(id).await.unwrap().session.status, SessionStatus::Running);
                let listed = other.sessions(Default::default()).await.unwrap().items;
                assert_eq!(listed[0].status, SessionStatus::Running);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(end(&to_the_end(events).await), Some(End::EndTurn));
        for other in others {
            other.stop().await;
        }
    })
    .await;
}

/// The clock was an hour ahead when the process was killed, so the stored end of its lease is far away.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_after_a_kill_whatever_the_clock_says() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        cut_off(stage, id).await;
        shift_lease(stage, id, 1).await;
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Running, "a reader does not wait");
        let events = tokio::time::timeout(PATIENCE, stage.say(id, "hello")).await.expect("it is answered");
        assert_eq!(end(&events), Some(End::EndTurn));
        assert_whole(&stage.view(id).await);
    })
    .await;
}

/// A reader does not wait, but its look is enough to recover the session.
#[tokio::test(flavor = "multi_thread")]
async fn one_look_recovers_a_session_soon() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        cut_off(stage, id).await;
        shift_lease(stage, id, 1).await;
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Running);
        let store = stage.store().await;
        let recovered = async {
            while store.session(id).await.unwrap().unwrap().status != SessionStatus::Idle {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, recovered).await.expect("it is recovered");
        store.close().await;
    })
    .await;
}

/// Changes wait for a session whose process may be gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_waits_until_the_process_is_known_to_be_gone() {
    on_stage(TALKS, async |stage| {
        let [changed, deleted] = [stage.session(Mode::Build).await, stage.session(Mode::Build).await];
        for id in [changed, deleted] {
            cut_off(stage, id).await;
            shift_lease(stage, id, 1).await;
        }
        let (changing, deleting) =
            tokio::join!(stage.runtime.undo(changed), stage.runtime.delete_session(deleted));
        assert_eq!(changing.unwrap(), "work");
        assert!(deleting.unwrap());
        assert_eq!(stage.view(changed).await.session.status, SessionStatus::Idle);
    })
    .await;
}

/// Another process took the session while this one was paused: the run that lost it adds nothing more.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_process_finds_out_that_it_lost_its_session() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "slowly".to_owned(), SendOptions::default()).await.unwrap();
        hear(&mut events, "text_delta", 1).await;
        let store = stage.store().await;
        let claim = takeover(&store, id, "taker.1").await;
        store.recover_run(id, &claim).await.unwrap();
        store.append(id, "taker.1", &[done()], &ending(AfterRun::Idle)).await.unwrap();
        // The same process takes the session again: its lost run still cannot write.
        let answered = say(&stage.runtime, id, "hello").await;
        assert_eq!(end(&answered), Some(End::EndTurn));
        let before = store.log(id, 0, 99).await.unwrap();
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        assert_eq!(store.log(id, 0, 99).await.unwrap(), before);
        assert_eq!(turns(&stage.view(id).await), "user user assistant_text");
        store.close().await;
    })
    .await;
}

/// A session that is busy here is refused at once, with what to do about it.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_session_is_refused_with_a_remedy() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "slowly".to_owned(), SendOptions::default()).await.unwrap();
        hear(&mut events, "text_delta", 1).await;
        let busy = refused(stage.runtime.send(id, "hello".to_owned(), SendOptions::default()).await);
        assert_eq!((busy.code, busy.remedies), (Code::SessionBusy, vec![Remedy::WaitOrCancel]));
        assert!(stage.runtime.cancel(id).await.unwrap());
        assert_eq!(end(&to_the_end(events).await), Some(End::Cancelled));
    })
    .await;
}
