//! The sessions that tests are about.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::ops::Deref;

use agent::{
    Approval, ApprovalAnswer, Duty, DutyRole, End, Entry, Mode, Note, Plan, PlanStatus, Refusal, Refused,
    RunOptions, Session, SessionStatus, ToolCall, Turn, TurnBody,
};
use chrono::{DateTime, SubsecRound as _, Utc};
use llm::{ModelRef, ProviderState, Usage};
use persona::PartType;
use serde_json::json;
use sessions::{AfterRun, BeginOutcome, Claim, RunChange, Sessions, Started};
use store::Store;
use uuid::Uuid;

use crate::Database;
use crate::samples::{self, name};

/// A library with its sessions, as one process opens it.
#[derive(Debug)]
pub struct Opened {
    pub library: Store,
    pub sessions: Sessions,
}

impl Deref for Opened {
    type Target = Sessions;

    fn deref(&self) -> &Sessions {
        &self.sessions
    }
}

impl Opened {
    pub async fn close(&self) {
        self.library.close().await;
    }
}

pub async fn open(database: &Database) -> Opened {
    let library = samples::open(database).await;
    let sessions = Sessions::new(library.engine().clone());
    Opened { library, sessions }
}

/// As precise as both engines keep it.
pub fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(6)
}

pub fn session(persona: &str) -> Session {
    let now = now();
    Session {
        id: Uuid::now_v7(),
        persona: name(persona),
        scope: None,
        mode: Mode::Build,
        status: SessionStatus::Idle,
        model: None,
        overrides: [].into(),
        root: None,
        edits: None,
        duty: None,
        parent: None,
        parent_call: None,
        depth: 0,
        title: None,
        plan: None,
        answered_by: None,
        answered_since: None,
        usage: Usage::default(),
        cost: 0.0,
        unpriced_calls: 0,
        last_seq: 0,
        created_at: now,
        updated_at: now,
    }
}

/// A session with everything that one can be created with.
pub fn full(parent: Uuid) -> Session {
    Session {
        scope: Some(persona::Scope::Project),
        mode: Mode::Plan,
        model: Some(model("local/org/model-1")),
        overrides: [(PartType::Tone, name("calm")), (PartType::Voice, name("low"))].into(),
        root: Some("/home/é/\"project\"".to_owned()),
        edits: Some(name("mentor")),
        duty: Some(duty()),
        parent: Some(parent),
        parent_call: Some("call_1".to_owned()),
        depth: 1,
        title: Some("Hello — 東京".to_owned()),
        ..session("guide")
    }
}

/// A duty with everything that one can have.
fn duty() -> Duty {
    Duty {
        ticket: Some("T-1".to_owned()),
        files: vec!["src/é.rs".to_owned()],
        context_preset: Some(name("code")),
        check: Some("make \"test\"".to_owned()),
        ..Duty::of_track(Uuid::nil(), DutyRole::Work)
    }
}

pub fn model(text: &str) -> ModelRef {
    text.parse().unwrap()
}

pub async fn created(store: &Sessions) -> Uuid {
    let session = session("guide");
    store.create(&session).await.unwrap();
    session.id
}

pub fn turn(body: TurnBody) -> Entry {
    Entry::Turn(Turn { id: Uuid::now_v7(), created_at: now(), body, provider_state: None })
}

pub fn user(content: &str) -> Entry {
    turn(TurnBody::User { content: content.to_owned() })
}

pub fn said(content: &str) -> Entry {
    turn(TurnBody::AssistantText { content: content.to_owned() })
}

pub fn note(note: Note) -> Entry {
    Entry::Note { at: now(), note }
}

pub fn done() -> Entry {
    note(Note::Done { stop_reason: End::EndTurn })
}

/// Every kind of turn, with texts and states that are hard to keep.
pub fn turns() -> Vec<Entry> {
    let input = json!({"path": "a\0b", "deep": [1, 2.5, {"x": null}]}).as_object().unwrap().clone();
    let with_state = Turn {
        id: Uuid::now_v7(),
        created_at: now(),
        body: TurnBody::AssistantText { content: "\0 NUL, \\u0000, \"quotes\", 🙂\n".to_owned() },
        provider_state: Some(ProviderState {
            provider: "anthropic".to_owned(),
            data: json!({"signature": "s\0==", "n": 0.1}),
        }),
    };
    vec![
        user("Hello\0there"),
        Entry::Turn(with_state),
        turn(TurnBody::ToolCall {
            call: ToolCall { id: "call_1".to_owned(), name: "read_file".to_owned(), input },
            malformed: None,
        }),
        turn(TurnBody::refused("call_1", Refused::new(Refusal::NobodyToAsk, "no"))),
        turn(TurnBody::Summary { content: "short".to_owned(), through: Uuid::now_v7() }),
    ]
}

/// A claim on a session that no node runs.
pub fn claim(holder: &str) -> Claim {
    Claim { holder: holder.to_owned(), over: None }
}

/// A claim on a session whose process is gone, as observed.
pub async fn takeover(store: &Sessions, id: Uuid, holder: &str) -> Claim {
    let seen = store.see(&[id]).await.unwrap();
    Claim { holder: holder.to_owned(), over: seen.first().map(|seen| seen.lease.beat) }
}

/// Leaves a running session without a holder, like a process that is known to be gone.
pub async fn release(database: &Database, id: Uuid) {
    database.execute(&format!("UPDATE sessions SET lease_node = NULL WHERE id = '{id}'")).await;
}

/// The position after a session's last log entry.
pub async fn last(store: &Sessions, id: Uuid) -> i64 {
    store.session(id).await.unwrap().map_or(0, |session| session.last_seq)
}

pub async fn begin(store: &Sessions, id: Uuid, claim: &Claim) -> Started {
    let after = last(store, id).await;
    match store.begin_run(id, claim, after, &[user("go")], None, RunOptions::default()).await.unwrap() {
        BeginOutcome::Started(started) => started,
        other => panic!("{other:?}"),
    }
}

pub fn end(then: AfterRun) -> RunChange {
    RunChange { then: Some(then), ..RunChange::default() }
}

pub fn request(session: Uuid, call_id: &str, tool: &str) -> Approval {
    Approval {
        session,
        call: ToolCall {
            id: call_id.to_owned(),
            name: tool.to_owned(),
            input: json!({"command": "ls\0"}).as_object().unwrap().clone(),
        },
        asked_at: now(),
        answer: None,
    }
}

pub fn answer(approved: bool, remember: bool) -> ApprovalAnswer {
    ApprovalAnswer { approved, reason: Some("because\0".to_owned()), remember, answered_at: now() }
}

pub fn answered(call_id: &str, approved: bool) -> Entry {
    note(Note::ApprovalAnswered { tool_use_id: call_id.to_owned(), approved })
}

pub fn plan(content: &str) -> Plan {
    Plan { content: content.to_owned(), status: PlanStatus::Proposed, created_at: now() }
}

/// A session with one below it, and something in every table that belongs to sessions.
pub async fn stock_sessions(store: &Sessions) {
    let top = session("guide");
    store.create(&top).await.unwrap();
    let below = full(top.id);
    store.create(&below).await.unwrap();
    // One that runs, and one that waits.
    begin(store, top.id, &claim("node-a")).await;
    begin(store, below.id, &claim("node-b")).await;
    let used = Usage { input_tokens: 5, output_tokens: 6, cache_read_tokens: 2, cache_write_tokens: 1 };
    let usage = Note::Usage { model: model("p/m"), usage: used, cost: None, request_id: None };
    let entries = [turns(), vec![note(usage), done()]].concat();
    let change = RunChange {
        plan: Some(plan("1. Look\0\n2. Leap")),
        ask: vec![request(below.id, "one", "run_command"), request(below.id, "two", "write_file")],
        answered_by: Some(("p/m".to_owned(), now())),
        then: Some(AfterRun::Waiting),
        ..RunChange::default()
    };
    store.append(below.id, "node-b", &entries, &change).await.unwrap();
    let yes = answer(true, true);
    store.answer_approval(below.id, "one", &yes, &answered("one", true)).await.unwrap();
}
