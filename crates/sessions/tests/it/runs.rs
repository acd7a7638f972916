//! A run from its beginning to its end, by the one that runs it.

use agent::{ApprovalPolicy, Entry, Note, RunOptions, SessionStatus, Turn};
use llm::Usage;
use persona::{AsReport as _, Code};
use sessions::{AfterRun, BeginOutcome, RunChange};
use testkit::on_each_engine;
use uuid::Uuid;

use super::{begin, claim, created, done, end, last, model, note, now, said, takeover, user};
use crate::open;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_begins_goes_on_and_ends() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let first = user("What is\0this?");
        let began = store
            .begin_run(
                id,
                &claim("n"),
                0,
                std::slice::from_ref(&first),
                Some("What\0is"),
                RunOptions::default(),
            )
            .await;
        let BeginOutcome::Started(started) = began.unwrap() else { panic!("it begins") };
        assert_eq!((started.seq, started.cancel_requested, started.recovered), (1, false, false));
        let running = store.session(id).await.unwrap().unwrap();
        assert_eq!(running.status, SessionStatus::Running);
        assert_eq!(running.title.as_deref(), Some("What\u{fffd}is"));

        let since = now();
        let change = RunChange { answered_by: Some(("p/a/b".to_owned(), since)), ..RunChange::default() };
        assert_eq!(store.append(id, "n", &[said("a")], &change).await.unwrap().seq, 2);
        let at_work = store.session(id).await.unwrap().unwrap();
        assert_eq!(at_work.updated_at, running.updated_at, "a run is one piece of news, not many");
        assert_eq!(store.append(id, "n", &[done()], &end(AfterRun::Idle)).await.unwrap().seq, 3);
        let ended = store.session(id).await.unwrap().unwrap();
        assert_eq!(ended.status, SessionStatus::Idle);
        assert_eq!((ended.answered_by, ended.answered_since), (Some(model("p/a/b")), Some(since)));
        assert!(ended.updated_at > running.updated_at);

        let began = store
            .begin_run(id, &claim("m"), 3, &[user("And?")], Some("And?"), RunOptions::default())
            .await
            .unwrap();
        assert!(matches!(began, BeginOutcome::Started(started) if started.seq == 4 && !started.recovered));
        assert_eq!(store.session(id).await.unwrap().unwrap().title.as_deref(), Some("What\u{fffd}is"));
        assert_eq!(
            store.begin_run(Uuid::now_v7(), &claim("n"), 0, &[], None, RunOptions::default()).await.unwrap(),
            BeginOutcome::Missing
        );
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_adds_up() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n")).await;
        let used = |input_tokens, output_tokens| {
            let usage = Usage { input_tokens, output_tokens, cache_read_tokens: 3, cache_write_tokens: 1 };
            note(Note::Usage { model: model("p/m"), usage, cost: None, request_id: Some("r".to_owned()) })
        };
        store.append(id, "n", &[used(10, 1), said("x"), used(20, 2)], &RunChange::default()).await.unwrap();
        store
            .append(id, "n", &[used(u64::from(u32::MAX), u64::MAX), done()], &end(AfterRun::Idle))
            .await
            .unwrap();
        let usage = store.session(id).await.unwrap().unwrap().usage;
        let expected = Usage {
            input_tokens: 30 + u64::from(u32::MAX),
            // An impossible usage is capped.
            output_tokens: 3 + (1 << 40),
            cache_read_tokens: 9,
            cache_write_tokens: 3,
        };
        assert_eq!(usage, expected);
        store.close().await;
    })
    .await;
}

/// The turns of a failed attempt are taken back together with the note of the next one.
#[tokio::test(flavor = "multi_thread")]
async fn turns_of_a_failed_attempt_are_taken_back() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let kept = begin(&store, id, &claim("n")).await.seq;
        let selected =
            note(Note::ModelSelected { model: model("p/m"), reason: agent::SelectionReason::Escalated });
        let attempt = [said("half"), selected.clone(), said("an answer")];
        store.append(id, "n", &attempt, &RunChange::default()).await.unwrap();
        let turns: Vec<Uuid> = attempt
            .iter()
            .filter_map(|entry| match entry {
                Entry::Turn(Turn { id, .. }) => Some(*id),
                Entry::Note { .. } => None,
            })
            .collect();
        let discarded = note(Note::TextDiscarded { turns });
        let change = RunChange { discard_from: Some(kept + 1), ..RunChange::default() };
        let appended = store.append(id, "n", &[discarded.clone(), said("whole")], &change).await.unwrap();
        assert_eq!(appended.seq, 6);
        let log = store.log(id, kept, 9).await.unwrap();
        let places: Vec<i64> = log.iter().map(|entry| entry.seq).collect();
        assert_eq!(places, [3, 5, 6], "notes stay, and no place is used again");
        assert_eq!((&log[0].entry, &log[1].entry), (&selected, &discarded));
        assert_eq!(store.turns(id).await.unwrap().len(), 2);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_kept_whole_or_not_at_all() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n")).await;
        let wrong_model =
            RunChange { answered_by: Some(("unknown".to_owned(), now())), ..end(AfterRun::Idle) };
        // A name that PostgreSQL cannot keep is found only after other rows were written.
        let wrong_call =
            RunChange { ask: vec![super::request(id, "a\0b", "run_command")], ..end(AfterRun::Waiting) };
        for (change, code) in [(wrong_model, Code::InvalidModel), (wrong_call, Code::NulCharacter)] {
            let refused = store.append(id, "n", &[said("lost")], &change).await.unwrap_err();
            assert_eq!(refused.code(), code, "{refused}");
        }
        assert_eq!(store.log(id, 1, 9).await.unwrap(), []);
        let appended = store.append(id, "n", &[said("kept")], &RunChange::default()).await.unwrap();
        assert_eq!(appended.seq, 2, "the run goes on as if nothing had been");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_hears_that_it_is_to_stop() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        assert_eq!(store.request_cancel(Uuid::now_v7()).await.unwrap(), None);
        assert_eq!(store.request_cancel(id).await.unwrap(), Some(SessionStatus::Idle));
        begin(&store, id, &claim("n")).await;
        let quiet = store.append(id, "n", &[said("a")], &RunChange::default()).await.unwrap();
        assert!(!quiet.cancel_requested, "an idle session has nothing to stop");
        assert_eq!(store.request_cancel(id).await.unwrap(), Some(SessionStatus::Running));
        let controls = store.renew_leases(&[(id, "n".to_owned())]).await.unwrap();
        assert!(
            controls.len() == 1 && controls[0].session == id && controls[0].cancel_requested,
            "{controls:?}"
        );
        let appended = store.append(id, "n", &[said("b")], &RunChange::default()).await.unwrap();
        assert!(appended.cancel_requested);
        // It paused at that very moment: the request to cancel must not get lost.
        assert!(store.append(id, "n", &[], &end(AfterRun::Waiting)).await.unwrap().cancel_requested);
        assert_eq!(store.request_cancel(id).await.unwrap(), Some(SessionStatus::Waiting));
        let began = store.resume_run(id, &claim("n")).await.unwrap();
        assert!(matches!(began, BeginOutcome::Started(started) if started.cancel_requested), "{began:?}");
        store.append(id, "n", &[done()], &end(AfterRun::Idle)).await.unwrap();
        assert!(!begin(&store, id, &claim("n")).await.cancel_requested);
        let fresh = store.append(id, "n", &[said("c")], &RunChange::default()).await.unwrap();
        assert!(!fresh.cancel_requested, "the next run begins without it");

        // A wish that a dead process never heard is not the next message's.
        store.request_cancel(id).await.unwrap();
        let over = takeover(&store, id, "m").await;
        let after = last(&store, id).await;
        let began =
            store.begin_run(id, &over, after, &[user("again")], None, RunOptions::default()).await.unwrap();
        assert!(
            matches!(began, BeginOutcome::Started(started) if started.recovered && !started.cancel_requested)
        );
        let fresh = store.append(id, "m", &[said("d")], &RunChange::default()).await.unwrap();
        assert!(!fresh.cancel_requested);
        store.close().await;
    })
    .await;
}

/// The options of a run hold until its end, waiting included, and not longer.
#[tokio::test(flavor = "multi_thread")]
async fn the_options_of_a_run_are_known_after_a_wait() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let options = |policy, max_tool_rounds| RunOptions { policy, max_tool_rounds };
        let cases = ApprovalPolicy::ALL.iter().flat_map(|policy| {
            [(Some(3), 0), (None, 1), (Some(u32::MAX), 0)]
                .map(|(rounds, seq)| (options(*policy, rounds), seq))
        });
        for (given, seq) in cases {
            let id = created(&store).await;
            if seq > 0 {
                let other = options(ApprovalPolicy::All, Some(7));
                let before = store.begin_run(id, &claim("n"), 0, &[user("go")], None, other).await.unwrap();
                assert!(matches!(before, BeginOutcome::Started(started) if started.options == other));
                store.append(id, "n", &[], &end(AfterRun::Idle)).await.unwrap();
            }
            let began = store.begin_run(id, &claim("n"), seq, &[user("go")], None, given).await.unwrap();
            assert!(matches!(began, BeginOutcome::Started(started) if started.options == given), "{began:?}");
            for _ in 0..2 {
                store.append(id, "n", &[], &end(AfterRun::Waiting)).await.unwrap();
                let began = store.resume_run(id, &claim("n")).await.unwrap();
                assert!(
                    matches!(began, BeginOutcome::Started(started) if started.options == given),
                    "{began:?}"
                );
            }
        }
        store.close().await;
    })
    .await;
}

/// A message answers the log that its caller read: results that arrived since must be read first.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_not_put_behind_what_its_sender_has_not_read() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let begins = async |after| {
            let over = takeover(&store, id, "m").await;
            store.begin_run(id, &over, after, &[user("hi")], None, RunOptions::default()).await.unwrap()
        };
        begin(&store, id, &claim("n")).await;
        store.append(id, "n", &[said("a"), done()], &end(AfterRun::Idle)).await.unwrap();
        assert_eq!(begins(1).await, BeginOutcome::Moved { seq: 3 });
        // Neither where it is taken from a process that is gone.
        begin(&store, id, &claim("n")).await;
        assert_eq!(begins(3).await, BeginOutcome::Moved { seq: 4 });
        assert_eq!(store.log(id, 4, 9).await.unwrap(), [], "nothing was kept");
        let began = begins(4).await;
        assert!(matches!(began, BeginOutcome::Started(started) if started.seq == 5 && started.recovered));
        store.close().await;
    })
    .await;
}
