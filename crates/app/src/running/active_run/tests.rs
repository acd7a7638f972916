use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{Mode, SessionStatus};
use llm::CallBlock;
use persona::Name;
use serde_json::Map;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::running::journal::MemoryJournal;
use crate::running::live::{Buffered, LiveSession};
use crate::running::reply_buffer::Passing;
use crate::running::sessions::new_session;

struct Setting {
    run: ActiveRun,
    journal: MemoryJournal,
    live: Arc<LiveSession>,
}

impl Setting {
    fn new() -> Self {
        let name = Name::parse("ada").expect("a name");
        let session = new_session(name, None, BTreeMap::new());
        assert_eq!(session.status, SessionStatus::Idle);
        let live = Arc::new(LiveSession::new(session.id, None, Mode::Build, 0));
        let (journal, cancel) = (MemoryJournal::new(Mode::Build), CancellationToken::new());
        let live_run = live.start(String::new(), cancel.clone(), true);
        let record = Record::new(Box::new(journal.clone()), live_run, session, Vec::new(), cancel);
        Self { run: ActiveRun { record, machine: Run::new(5) }, journal, live }
    }

    /// The names of the stored entries.
    fn stored(&self) -> String {
        let names: Vec<&str> =
            self.journal.take().iter().map(|entry| agent::Event::from(entry).name()).collect();
        names.join(" ")
    }

    /// The names of the reported events.
    fn reported(&self) -> String {
        let Buffered::Events(events, _) = self.live.feed.since(0) else { panic!("lagged") };
        let names: Vec<&str> = events.iter().map(|reported| reported.event.name()).collect();
        names.join(" ")
    }

    /// Lets the model call a tool.
    async fn call(&mut self, id: &str) {
        let call = ToolCall { id: id.to_owned(), name: "read_file".to_owned(), input: Map::new() };
        let block = CallBlock { call, malformed: None, state: None };
        let turns = self.run.machine.on_event(llm::ReplyEvent::ToolCall(block));
        self.run.record.append_turns(turns).await.expect("stored");
    }

    async fn complete(&mut self, reply: ReplyBuffer, stop: StopReason) {
        let model = "stage/model".parse().expect("a model");
        let end = Completion { stop, usage: Usage::default(), cost: None };
        self.run.complete_reply(reply, model, end).await.expect("stored");
    }
}

#[tokio::test]
async fn the_end_is_stored_with_the_last_reply() {
    let mut setting = Setting::new();
    let mut reply = ReplyBuffer::default();
    setting.run.machine.on_text("Hello");
    for piece in ["Hel", "lo"] {
        reply.push(&mut setting.run.record, Passing::Text, piece.to_owned()).await.expect("stored");
    }
    setting.complete(reply, StopReason::EndTurn).await;
    assert_eq!(setting.run.machine.step(), Step::Finished(End::EndTurn));
    setting.run.finish(End::EndTurn).await.expect("stored");
    assert!(!setting.live.run.is_running());
    assert!(setting.run.record.session.answered_by.is_some());
    assert_eq!(setting.reported(), "text_delta text_complete usage done");
    assert_eq!(setting.stored(), "text_complete usage done");
}

#[tokio::test]
async fn a_failed_attempt_leaves_no_turns() {
    let mut setting = Setting::new();
    let start = setting.run.record.begin_attempt();
    setting.call("one").await;
    setting.run.discard_attempt(start).await.expect("stored");
    assert!(setting.run.record.turns.is_empty() && setting.run.machine.pending().is_empty());
    assert_eq!(setting.stored(), "text_discarded");
    // An attempt without turns and text leaves nothing.
    let start = setting.run.record.begin_attempt();
    setting.run.discard_attempt(start).await.expect("stored");
    assert_eq!(setting.stored(), "");
}

#[tokio::test]
async fn a_plan_ends_the_run_after_its_tools() {
    let mut setting = Setting::new();
    setting.call("one").await;
    setting.complete(ReplyBuffer::default(), StopReason::ToolUse).await;
    assert_eq!(setting.run.machine.step(), Step::RunTools);
    setting.run.record_plan("one", Outcome::text("ok"), "1. Do it.".to_owned()).await.expect("stored");
    assert_eq!(setting.run.machine.step(), Step::Finished(End::EndTurn));
    assert_eq!(setting.stored(), "tool_call usage tool_result plan_ready");
}

#[tokio::test]
async fn a_run_that_waits_no_longer_runs() {
    let mut setting = Setting::new();
    setting.call("one").await;
    setting.complete(ReplyBuffer::default(), StopReason::ToolUse).await;
    let calls = setting.run.machine.pending().iter().map(|pending| pending.call.clone()).collect();
    setting.run.wait(calls, Vec::new()).await.expect("stored");
    assert!(setting.run.record.is_over() && !setting.live.run.is_running());
    assert_eq!(setting.stored(), "tool_call usage approval_request");
}

#[tokio::test]
async fn a_cancelled_run_answers_its_calls() {
    let mut setting = Setting::new();
    setting.call("one").await;
    setting.complete(ReplyBuffer::default(), StopReason::ToolUse).await;
    setting.run.cancel().await.expect("stored");
    assert_eq!(setting.run.machine.step(), Step::Finished(End::Cancelled));
    setting.run.finish(End::Cancelled).await.expect("stored");
    assert_eq!(setting.stored(), "tool_call usage tool_result done");
}

#[tokio::test]
async fn a_repeated_call_id_is_replaced() {
    let mut setting = Setting::new();
    setting.call("one").await;
    let mut call = ToolCall { id: "one".to_owned(), name: "read_file".to_owned(), input: Map::new() };
    setting.run.record.make_unique(&mut call, &[]);
    assert_ne!(call.id, "one");
    call.id = "two".to_owned();
    setting.run.record.make_unique(&mut call, &[]);
    assert_eq!(call.id, "two");
}
