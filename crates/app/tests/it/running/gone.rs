//! Sessions whose process is gone are usable for the next process.

use agent::{End, Entry, ErrorCode, Event, Mode, RunOptions, SessionStatus, ToolCall, Turn, TurnBody};
use app::running::{EventId, SendOptions};
use app::{Code, ErrorKind, Remedy};
use chrono::Utc;
use sessions::{BeginOutcome, RunChange};
use testkit::sessions::{claim, release};
use uuid::Uuid;

use super::stage::{PATIENCE, Stage, assert_whole, end, hear, names, on_stage, results, to_the_end, turns};
use crate::world::{name, refused};

const TALKS: &str = r#"
[[reply]]
when = { last_user = "/slowly$/" }
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
pace_ms = 500
[[reply]]
text = "Here I am."
"#;

fn turn(body: TurnBody) -> Entry {
    Entry::Turn(Turn { id: Uuid::now_v7(), created_at: Utc::now(), body, provider_state: None })
}

/// Leaves a session as a process does that was killed while a tool ran. Its lease is not known to be over.
pub(crate) async fn cut_off(stage: &Stage<'_>, id: Uuid) {
    let store = stage.store().await;
    let message = turn(TurnBody::User { content: "work".to_owned() });
    let last = store.session(id).await.unwrap().unwrap().last_seq;
    let (claim, message) = (claim("gone"), [message]);
    let began = store.begin_run(id, &claim, last, &message, Some("work"), RunOptions::default());
    let began = began.await.unwrap();
    assert!(matches!(began, BeginOutcome::Started(_)), "{began:?}");
    let call = turn(TurnBody::ToolCall {
        call: ToolCall { id: "call_1".to_owned(), name: "run_command".to_owned(), ..ToolCall::default() },
        malformed: None,
    });
    let said = turn(TurnBody::AssistantText { content: "I work.".to_owned() });
    store.append(id, "gone", &[said, call], &RunChange::default()).await.unwrap();
    store.close().await;
}

/// From now on, the lease of a session is known to be over.
async fn lose(stage: &Stage<'_>, id: Uuid) {
    release(&testkit::Database::at(&stage.location().await), id).await;
}

async fn lost(stage: &Stage<'_>) -> Uuid {
    let id = stage.session(Mode::Build).await;
    cut_off(stage, id).await;
    lose(stage, id).await;
    id
}

/// All that the log says of a session.
async fn log(stage: &Stage<'_>, id: Uuid) -> Vec<Event> {
    let mut events = stage.runtime.events(id, Some(EventId::default())).await.unwrap();
    hear(&mut events, "done", 1).await
}

/// It has ended, and no call is without a result.
async fn is_ended(stage: &Stage<'_>, id: Uuid, expected: End) {
    let view = stage.view(id).await;
    assert_eq!(view.session.status, SessionStatus::Idle);
    assert_eq!(turns(&view), "user assistant_text tool_call tool_result");
    assert!(results(&view)[0].0.contains("was interrupted"), "{:?}", results(&view));
    let told = log(stage, id).await;
    assert_eq!(end(&told), Some(expected));
    let errors: Vec<_> = told.iter().filter(|event| event.name() == "error").collect();
    match expected {
        End::Failed => assert!(
            matches!(errors[..], [Event::Error { code: ErrorCode::Interrupted, .. }]),
            "{}",
            names(&told)
        ),
        _ => assert!(errors.is_empty(), "{}", names(&told)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_it_on_record() {
    on_stage(TALKS, async |stage| {
        let id = lost(stage).await;
        assert!(stage.runtime.cancel(id).await.unwrap());
        is_ended(stage, id, End::Cancelled).await;
        assert!(!stage.runtime.cancel(id).await.unwrap(), "there is nothing to cancel any more");
        assert_eq!(end(&stage.say(id, "hello").await), Some(End::EndTurn));
        assert_whole(&stage.view(id).await);
    })
    .await;
}

/// While its process may still live, no other process ends the session; the request is kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_request_takes_effect_once_the_process_is_gone() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        cut_off(stage, id).await;
        assert!(stage.runtime.cancel(id).await.unwrap());
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Running);
        let mut events = stage.runtime.events(id, None).await.unwrap();
        assert_eq!(end(&hear(&mut events, "done", 1).await), Some(End::Cancelled));
        is_ended(stage, id, End::Cancelled).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_learn_of_the_end() {
    on_stage(TALKS, async |stage| {
        let id = stage.session(Mode::Build).await;
        cut_off(stage, id).await;
        let other = stage.restarted().await;
        let (mut here, mut there) = (
            stage.runtime.events(id, None).await.unwrap(),
            other.events(id, Some(EventId::default())).await.unwrap(),
        );
        let heard = hear(&mut here, "done", 1).await;
        assert_eq!(names(&heard), "tool_result error done");
        let theirs = hear(&mut there, "done", 1).await;
        assert_eq!(names(&theirs), format!("user text_complete tool_call {}", names(&heard)));
        is_ended(stage, id, End::Failed).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_or_writer_finds_the_session_idle() {
    on_stage(TALKS, async |stage| {
        let runtime = &stage.runtime;
        let [seen, listed, model, persona, mode] =
            [lost(stage).await, lost(stage).await, lost(stage).await, lost(stage).await, lost(stage).await];
        assert_eq!(runtime.session(seen).await.unwrap().session.status, SessionStatus::Idle);
        runtime.set_model(model, None).await.unwrap();
        runtime.set_persona(persona, name("ada"), None).await.unwrap();
        let switched = runtime.set_mode(mode, Mode::Plan).await.unwrap().session;
        assert_eq!((switched.status, switched.mode), (SessionStatus::Idle, Mode::Plan));
        let list = runtime.sessions(Default::default()).await.unwrap().items;
        assert!(list.len() == 5 && list.iter().all(|session| session.status == SessionStatus::Idle));
        for id in [seen, listed, model, persona, mode] {
            is_ended(stage, id, End::Failed).await;
        }

        let undone = lost(stage).await;
        assert_eq!(runtime.undo(undone).await.unwrap(), "work");
        assert_eq!(turns(&stage.view(undone).await), "");
        let deleted = lost(stage).await;
        assert!(runtime.delete_session(deleted).await.unwrap());
    })
    .await;
}

/// Its delegates are ended too.
#[tokio::test(flavor = "multi_thread")]
async fn those_below_it_end_with_it() {
    on_stage(TALKS, async |stage| {
        let id = lost(stage).await;
        let store = stage.store().await;
        let above = store.session(id).await.unwrap().unwrap();
        let below = agent::Session {
            id: Uuid::now_v7(),
            parent: Some(id),
            parent_call: Some("call_1".to_owned()),
            depth: 1,
            last_seq: 0,
            title: None,
            ..above
        };
        store.create(&below).await.unwrap();
        store.close().await;
        cut_off(stage, below.id).await;
        lose(stage, below.id).await;
        assert!(stage.runtime.cancel(id).await.unwrap());
        is_ended(stage, id, End::Cancelled).await;
        is_ended(stage, below.id, End::Cancelled).await;
    })
    .await;
}

/// A process renews its lease every second: others learn at once that the session is busy.
#[tokio::test(flavor = "multi_thread")]
async fn another_process_soon_knows_that_it_is_busy() {
    on_stage(TALKS, async |stage| {
        let other = stage.restarted().await;
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "slowly".to_owned(), SendOptions::default()).await.unwrap();
        hear(&mut events, "text_delta", 1).await;
        let busy = other.send(id, "hello".to_owned(), SendOptions::default()).await;
        let busy = refused(busy);
        assert_eq!((busy.kind, busy.code), (ErrorKind::Conflict, Code::SessionBusy));
        assert_eq!(busy.remedies, [Remedy::WaitOrCancel]);
        assert_eq!(other.session(id).await.unwrap().session.status, SessionStatus::Running);
        assert!(other.cancel(id).await.unwrap());
        let rest = tokio::time::timeout(PATIENCE, to_the_end(events)).await.unwrap();
        assert_eq!(end(&rest), Some(End::Cancelled));
    })
    .await;
}
