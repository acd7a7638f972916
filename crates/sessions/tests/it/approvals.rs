//! Calls that wait for approval.

use std::sync::Arc;

use agent::{Approval, RunOptions, SessionStatus};
use sessions::{AfterRun, AnswerOutcome, BeginOutcome, RunChange, Sessions};
use testkit::on_each_engine;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{answer, answered, begin, claim, created, done, end, note, request, said};
use crate::open;

async fn asks(store: &Sessions, id: Uuid, calls: &[(&str, &str)]) -> Vec<Approval> {
    let ask: Vec<Approval> = calls.iter().map(|(call, tool)| request(id, call, tool)).collect();
    let change = RunChange { ask: ask.clone(), ..end(AfterRun::Waiting) };
    store.append(id, "n", &[said("may I?")], &change).await.unwrap();
    ask
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_once_all_is_answered() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n")).await;
        let mut asked = asks(&store, id, &[("one", "run_command"), ("two", "write_file")]).await;
        assert_eq!(store.session(id).await.unwrap().unwrap().status, SessionStatus::Waiting);
        assert_eq!(store.approvals(id, true).await.unwrap(), asked);
        assert_eq!(
            store.begin_run(id, &claim("m"), 0, &[], None, RunOptions::default()).await.unwrap(),
            BeginOutcome::Waiting
        );
        assert_eq!(store.resume_run(id, &claim("m")).await.unwrap(), BeginOutcome::Waiting);
        // Another node answers, later.
        let other = open(database).await;
        let yes = answer(true, false);
        let recorded = other.answer_approval(id, "one", &yes, &answered("one", true)).await.unwrap();
        assert_eq!(recorded, AnswerOutcome::Recorded { seq: 5, pending: 1 });
        assert_eq!(store.approvals(id, true).await.unwrap(), asked[1..]);
        assert_eq!(store.resume_run(id, &claim("m")).await.unwrap(), BeginOutcome::Waiting);
        let again = store.answer_approval(id, "one", &answer(false, true), &answered("one", false)).await;
        assert_eq!(again.unwrap(), AnswerOutcome::AlreadyAnswered(yes.clone()));
        let note = answered("two", false);
        let no = answer(false, false);
        let recorded = store.answer_approval(id, "two", &no, &note).await.unwrap();
        assert_eq!(recorded, AnswerOutcome::Recorded { seq: 6, pending: 0 });
        assert_eq!(store.log(id, 5, 9).await.unwrap()[0].entry, note);
        asked[0].answer = Some(yes);
        asked[1].answer = Some(no.clone());
        assert_eq!(store.approvals(id, false).await.unwrap(), asked);
        let began = other.resume_run(id, &claim("m")).await.unwrap();
        assert!(matches!(began, BeginOutcome::Started(started) if started.seq == 6 && !started.recovered));
        for (id, call) in [(id, "three"), (Uuid::now_v7(), "one")] {
            assert_eq!(store.answer_approval(id, call, &no, &note).await.unwrap(), AnswerOutcome::Missing);
        }
        assert_eq!(store.log(id, 6, 9).await.unwrap(), [], "nothing is noted where nothing happened");
        store.close().await;
        other.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_answers_counts() {
    on_each_engine(async |database| {
        let stores = [open(database).await, open(database).await];
        let id = created(&stores[0]).await;
        begin(&stores[0], id, &claim("n")).await;
        asks(&stores[0], id, &[("one", "run_command")]).await;
        let together = Arc::new(Barrier::new(8));
        let mut tasks = JoinSet::new();
        for at in 0..8 {
            let (store, together) = (stores[at % 2].clone(), together.clone());
            tasks.spawn(async move {
                together.wait().await;
                let said = answer(at % 3 == 0, false);
                let kept = store.answer_approval(id, "one", &said, &answered("one", said.approved)).await;
                (said, kept.unwrap())
            });
        }
        let (mut recorded, mut late) = (Vec::new(), Vec::new());
        while let Some(ended) = tasks.join_next().await {
            match ended.unwrap() {
                (said, AnswerOutcome::Recorded { seq: 4, pending: 0 }) => recorded.push(said),
                (_, AnswerOutcome::AlreadyAnswered(said)) => late.push(said),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((recorded.len(), late.len()), (1, 7));
        assert!(late.iter().all(|said| *said == recorded[0]), "every answer returns the recorded one");
        // Both nodes want to go on then; one does.
        let (a, b) = (claim("a"), claim("b"));
        let (one, two) = tokio::join!(stores[0].resume_run(id, &a), stores[1].resume_run(id, &b));
        let started = [one.unwrap(), two.unwrap()];
        let count = started.iter().filter(|began| matches!(began, BeginOutcome::Started(_))).count();
        assert_eq!(count, 1, "{started:?}");
        for store in stores {
            store.close().await;
        }
    })
    .await;
}

/// Some providers count their calls from 1 in every reply.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_may_have_the_name_of_an_earlier_one() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n")).await;
        for approved in [true, false] {
            asks(&store, id, &[("call_1", "run_command")]).await;
            let said = answer(approved, false);
            let kept = store.answer_approval(id, "call_1", &said, &answered("call_1", approved)).await;
            assert!(matches!(kept.unwrap(), AnswerOutcome::Recorded { pending: 0, .. }));
            let late = store.answer_approval(id, "call_1", &answer(true, true), &note_of_nothing()).await;
            assert_eq!(late.unwrap(), AnswerOutcome::AlreadyAnswered(said), "the latest request's");
            store.resume_run(id, &claim("n")).await.unwrap();
        }
        assert_eq!(store.approvals(id, false).await.unwrap().len(), 2);
        store.append(id, "n", &[done()], &end(AfterRun::Idle)).await.unwrap();
        store.close().await;
    })
    .await;
}

fn note_of_nothing() -> agent::Entry {
    note(agent::Note::ApprovalAnswered { tool_use_id: "call_1".to_owned(), approved: true })
}
