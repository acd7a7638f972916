//! Sessions as they are kept: created, read, edited, taken back and deleted.

use agent::{Entry, LogEntry, Mode, Note, PlanStatus, Session, SessionStatus};
use llm::Usage;
use persona::{AsReport as _, Code};
use sessions::{AfterRun, Error, RunChange};
use testkit::on_each_engine;
use uuid::Uuid;

use super::{
    begin, claim, created, done, end, full, model, note, plan, release, request, said, session, turns, user,
};
use crate::open;
use crate::samples::name;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_read_as_it_was_created() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let plain = session("guide");
        store.create(&plain).await.unwrap();
        assert_eq!(store.session(plain.id).await.unwrap().unwrap(), plain);
        let whole = full(plain.id);
        store.create(&whole).await.unwrap();
        assert_eq!(store.session(whole.id).await.unwrap().unwrap(), whole);
        assert_eq!(store.session(Uuid::now_v7()).await.unwrap(), None);

        // Fields that only a run sets are not taken from a new session.
        let claims = Session {
            status: SessionStatus::Running,
            plan: Some(plan("mine")),
            usage: Usage { input_tokens: 5, ..Usage::default() },
            answered_by: Some(model("p/m")),
            last_seq: 9,
            ..session("guide")
        };
        store.create(&claims).await.unwrap();
        let kept = store.session(claims.id).await.unwrap().unwrap();
        let expected = Session {
            status: SessionStatus::Idle,
            plan: None,
            usage: Usage::default(),
            answered_by: None,
            last_seq: 0,
            ..claims
        };
        assert_eq!(kept, expected);

        let again = store.create(&plain).await.unwrap_err();
        assert!(matches!(again, Error::SessionExists { id } if id == plain.id), "{again}");
        let orphan = store.create(&full(Uuid::now_v7())).await.unwrap_err();
        assert_eq!(orphan.code(), Code::UnknownSession, "{orphan}");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_may_have_a_log() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let greeted = session("guide");
        let greeting = said("Welcome.");
        store.create_with_log(&greeted, std::slice::from_ref(&greeting)).await.unwrap();
        let stored = store.session(greeted.id).await.unwrap().unwrap();
        assert_eq!((stored.last_seq, stored.status), (1, SessionStatus::Idle));
        let log = store.log(greeted.id, 0, 9).await.unwrap();
        assert_eq!(log, [LogEntry { seq: 1, entry: greeting.clone() }]);
        // One that is refused leaves nothing behind.
        let again = store.create_with_log(&greeted, &[greeting]).await.unwrap_err();
        assert!(matches!(again, Error::SessionExists { id } if id == greeted.id), "{again}");
        assert_eq!(store.log(greeted.id, 0, 9).await.unwrap().len(), 1);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_read_as_it_was_written() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let (id, other) = (created(&store).await, created(&store).await);
        let started = begin(&store, other, &claim("n")).await;
        assert_eq!((started.seq, started.recovered), (1, false));
        begin(&store, id, &claim("n")).await;
        let selected = Note::ModelSelected { model: model("p/m"), reason: agent::SelectionReason::Plan };
        let entries = [turns(), vec![note(selected), done()]].concat();
        let appended = store.append(id, "n", &entries, &RunChange::default()).await.unwrap();
        assert_eq!(appended.seq, 8);
        let log = store.log(id, 1, 100).await.unwrap();
        let expected: Vec<LogEntry> =
            entries.iter().cloned().zip(2..).map(|(entry, seq)| LogEntry { seq, entry }).collect();
        assert_eq!(log, expected);
        assert_eq!(store.log(id, 3, 2).await.unwrap(), expected[2..4]);
        assert_eq!(store.log(id, 8, 2).await.unwrap(), []);
        let of_log = expected.into_iter().filter_map(|entry| match entry.entry {
            Entry::Turn(turn) => Some(turn),
            Entry::Note { .. } => None,
        });
        assert_eq!(store.turns(id).await.unwrap()[1..], of_log.collect::<Vec<_>>());
        assert_eq!(store.turns(other).await.unwrap().len(), 1);

        // More entries than one statement takes.
        let many: Vec<Entry> = (0..257).map(|at| said(&at.to_string())).collect();
        let appended = store.append(id, "n", &many, &RunChange::default()).await.unwrap();
        assert_eq!(appended.seq, 8 + 257);
        let log = store.log(id, 8, 1_000).await.unwrap();
        assert_eq!(log.iter().map(|entry| entry.entry.clone()).collect::<Vec<_>>(), many);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_is_too_long_changes_nothing() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n")).await;
        let long = [said("fine"), said(&"x".repeat(8 * 1024 * 1024))];
        let refused = store.append(id, "n", &long, &RunChange::default()).await.unwrap_err();
        assert_eq!(refused.code(), Code::TooLong, "{refused}");
        let within = [said(&"é".repeat(2 * 1024 * 1024))];
        assert_eq!(store.append(id, "n", &within, &RunChange::default()).await.unwrap().seq, 2);
        assert_eq!(store.log(id, 1, 9).await.unwrap()[0].entry, within[0]);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_idle_session_is_edited() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let before = store.session(id).await.unwrap().unwrap();
        let edited = store.edit(id, |session| {
            session.persona = name("critic");
            session.scope = Some(persona::Scope::Shared);
            session.model = Some(model("p/m"));
            // Not for this call to say.
            session.mode = Mode::Plan;
            session.depth = 7;
        });
        let edited = edited.await.unwrap().unwrap();
        let expected = Session {
            persona: name("critic"),
            scope: Some(persona::Scope::Shared),
            model: Some(model("p/m")),
            updated_at: edited.updated_at,
            ..before.clone()
        };
        assert_eq!(edited, expected);
        assert!(edited.updated_at > before.updated_at);
        assert_eq!(store.session(id).await.unwrap().unwrap(), edited);
        assert_eq!(store.edit(Uuid::now_v7(), |_| ()).await.unwrap(), None);

        begin(&store, id, &claim("n")).await;
        let refused = store.edit(id, |_| ()).await.unwrap_err();
        let is_busy = |error: &Error, of: SessionStatus| {
            matches!(error, Error::SessionBusy { id: busy, status } if *busy == id && *status == of)
        };
        assert!(is_busy(&refused, SessionStatus::Running), "{refused:?}");
        store.append(id, "n", &[], &end(AfterRun::Waiting)).await.unwrap();
        let refused = store.edit(id, |_| ()).await.unwrap_err();
        assert!(is_busy(&refused, SessionStatus::Waiting), "{refused:?}");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_taken_back_leave_their_places_empty() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n")).await;
        let ask = vec![request(id, "late", "run_command")];
        let change = RunChange { ask, ..end(AfterRun::Waiting) };
        store.append(id, "n", &[said("a"), said("b"), done()], &change).await.unwrap();
        let taken_back = note(Note::TextDiscarded { turns: vec![Uuid::now_v7()] });
        let refused = store.truncate_log(id, 3, 6, &taken_back).await.unwrap_err();
        assert_eq!(refused.code(), Code::SessionBusy, "{refused}");
        let no = super::answer(false, true);
        store.answer_approval(id, "late", &no, &super::answered("late", false)).await.unwrap();
        store.resume_run(id, &claim("n")).await.unwrap();
        store.append(id, "n", &[done()], &end(AfterRun::Idle)).await.unwrap();

        assert_eq!(store.truncate_log(id, 3, 6, &taken_back).await.unwrap(), None, "one more was added");
        assert_eq!(store.truncate_log(id, 3, 7, &taken_back).await.unwrap(), Some(8));
        let places = async || -> Vec<i64> {
            store.log(id, 0, 99).await.unwrap().iter().map(|entry| entry.seq).collect()
        };
        assert_eq!(places().await, [1, 2, 8]);
        assert_eq!(store.log(id, 2, 9).await.unwrap()[0].entry, taken_back);
        assert_eq!(store.approvals(id, false).await.unwrap(), []);
        assert_eq!(begin(&store, id, &claim("n")).await.seq, 9, "eight were used before");
        assert_eq!(places().await, [1, 2, 8, 9]);
        assert_eq!(store.truncate_log(Uuid::now_v7(), 1, 1, &taken_back).await.unwrap(), None);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_handed_over_and_answered() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let decide = async |id, status| store.decide_plan(id, status, |_| Ok(())).await.unwrap();
        assert_eq!(decide(id, PlanStatus::Approved).await, None, "there is none");
        assert_eq!(decide(Uuid::now_v7(), PlanStatus::Approved).await, None);
        begin(&store, id, &claim("n")).await;
        let of_session = async || store.session(id).await.unwrap().unwrap().plan.unwrap();
        for content in ["first", "second \"one\"\n\0\\u0000"] {
            let plan = plan(content);
            let change = RunChange { plan: Some(plan.clone()), ..RunChange::default() };
            store.append(id, "n", &[], &change).await.unwrap();
            assert_eq!(of_session().await, plan);
        }
        for status in [PlanStatus::SentBack, PlanStatus::Approved] {
            assert_eq!(decide(id, status).await, Some(Ok(())));
            assert_eq!(of_session().await.status, status);
        }
        let refused = Err(agent::PlanRefusal::Changed);
        let decided = store.decide_plan(id, PlanStatus::SentBack, |_| refused).await.unwrap();
        assert_eq!((decided, of_session().await.status), (Some(refused), PlanStatus::Approved));
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_session_takes_everything_along() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let kept = created(&store).await;
        begin(&store, kept, &claim("n")).await;
        let top = created(&store).await;
        let below = full(top);
        store.create(&below).await.unwrap();
        let deepest = full(below.id);
        store.create(&deepest).await.unwrap();
        begin(&store, deepest.id, &claim("n")).await;
        let change = RunChange {
            plan: Some(plan("p")),
            ask: vec![request(deepest.id, "one", "run_command")],
            ..RunChange::default()
        };
        store.append(deepest.id, "n", &[said("deep")], &change).await.unwrap();
        for id in [top, below.id, deepest.id] {
            let refused = store.delete(id).await.unwrap_err();
            assert!(matches!(refused, Error::SessionBusy { .. }), "{refused}");
        }
        store.append(deepest.id, "n", &[], &end(AfterRun::Waiting)).await.unwrap();
        assert!(store.delete(top).await.unwrap());
        assert!(!store.delete(top).await.unwrap());
        for id in [top, below.id, deepest.id] {
            assert_eq!(store.session(id).await.unwrap(), None);
        }
        for (table, rows) in
            [("sessions", "1"), ("session_log", "1"), ("session_approvals", "0"), ("session_plans", "0")]
        {
            let count = format!("SELECT CAST(count(*) AS text) FROM {table}");
            assert_eq!(database.texts(&count).await, [rows], "{table}");
        }
        // Its process died, so no node runs it.
        let lost = created(&store).await;
        begin(&store, lost, &claim("n")).await;
        release(database, lost).await;
        assert!(store.delete(lost).await.unwrap());
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_is_switched_whatever_the_session_does() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let switched = |mode| note(Note::ModeChanged { mode });
        assert_eq!(store.set_mode(id, Mode::Plan, &switched(Mode::Plan)).await.unwrap(), Some(1));
        assert_eq!(begin(&store, id, &claim("n")).await.mode, Mode::Plan);
        let entry = switched(Mode::Build);
        assert_eq!(store.set_mode(id, Mode::Build, &entry).await.unwrap(), Some(3));
        let appended = store.append(id, "n", &[user("x")], &RunChange::default()).await.unwrap();
        assert_eq!((appended.seq, appended.mode), (4, Mode::Build), "a run hears of it");
        assert_eq!(store.log(id, 2, 1).await.unwrap(), [LogEntry { seq: 3, entry }]);
        assert_eq!(store.session(id).await.unwrap().unwrap().mode, Mode::Build);
        assert_eq!(store.set_mode(Uuid::now_v7(), Mode::Plan, &switched(Mode::Plan)).await.unwrap(), None);
        store.close().await;
    })
    .await;
}
