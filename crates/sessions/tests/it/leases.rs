//! Two nodes and one session: one of them runs it, and a node that lost it cannot write.

use std::sync::Arc;

use agent::{Entry, RunOptions, SessionStatus};
use chrono::TimeDelta;
use sessions::{AfterRun, BeginOutcome, Error, RunChange};
use testkit::on_each_engine;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{begin, created, done, end, lease, now, over, said, user};
use crate::open;

/// Nodes that want the same session, half of them through a second handle.
const NODES: usize = 8;
const ROUNDS: usize = 5;

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_begins() {
    on_each_engine(async |database| {
        let stores = [open(database).await, open(database).await];
        for round in 0..ROUNDS {
            let id = created(&stores[0]).await;
            // Every other round it is taken from a process that is gone.
            let taken_over = round % 2 == 1;
            if taken_over {
                begin(&stores[0], id, &over("gone")).await;
            }
            let together = Arc::new(Barrier::new(NODES));
            let mut tasks = JoinSet::new();
            for at in 0..NODES {
                let (store, together) = (stores[at % 2].clone(), together.clone());
                tasks.spawn(async move {
                    let node = format!("node-{at}");
                    together.wait().await;
                    let after = i64::from(taken_over);
                    let began = store
                        .begin_run(id, &lease(&node), after, &[user(&node)], None, RunOptions::default())
                        .await
                        .unwrap();
                    (node, began)
                });
            }
            let (mut winners, mut busy) = (Vec::new(), 0);
            while let Some(ended) = tasks.join_next().await {
                match ended.unwrap() {
                    (node, BeginOutcome::Started(started)) => winners.push((node, started)),
                    (_, BeginOutcome::Busy { until }) if until > now() => busy += 1,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!((winners.len(), busy), (1, NODES - 1));
            let (node, started) = &winners[0];
            assert_eq!(started.recovered, taken_over);
            let turns = stores[1].turns(id).await.unwrap();
            assert_eq!(turns.len(), 1 + usize::from(taken_over), "only the winner's message is there");
            stores[1].append(id, node, &[done()], &end(AfterRun::Idle)).await.unwrap();
        }
        for store in stores {
            store.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_lost_a_session_cannot_write_to_it() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let lost = async |node: &str| {
            let refused = store.append(id, node, &[said("late")], &end(AfterRun::Idle)).await.unwrap_err();
            assert!(matches!(refused, Error::LeaseLost { id: of } if of == id), "{refused}");
        };
        lost("one").await;
        begin(&store, id, &over("one")).await;
        // Late, but no other node took over.
        store.append(id, "one", &[said("slow")], &RunChange::default()).await.unwrap();
        assert_eq!(store.expired_runs(&[id], now()).await.unwrap(), [id]);
        assert!(begin(&store, id, &lease("two")).await.recovered);
        lost("one").await;
        assert_eq!(store.renew_leases("one", &[id], lease("one").until).await.unwrap(), []);
        store.append(id, "two", &[done()], &end(AfterRun::Idle)).await.unwrap();
        lost("two").await;
        store.delete(id).await.unwrap();
        lost("two").await;
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leases_of_what_a_node_runs_are_renewed_all_at_once() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let (one, two, other) = (created(&store).await, created(&store).await, created(&store).await);
        begin(&store, one, &over("n")).await;
        begin(&store, two, &over("n")).await;
        begin(&store, other, &over("m")).await;
        let idle = created(&store).await;
        begin(&store, idle, &over("n")).await;
        store.append(idle, "n", &[done()], &end(AfterRun::Idle)).await.unwrap();
        let all = [one, two, other, idle];
        let mut expired = store.expired_runs(&all, now()).await.unwrap();
        expired.sort();
        assert_eq!(expired, [one, two, other]);
        assert!(store.expired_runs(&all, now() - TimeDelta::hours(1)).await.unwrap().is_empty());
        let until = lease("n").until;
        let renew = async |sessions: &[Uuid]| {
            let renewed = store.renew_leases("n", sessions, until).await.unwrap();
            let mut renewed: Vec<Uuid> = renewed.into_iter().map(|of| of.session).collect();
            renewed.sort();
            renewed
        };
        // A session that it no longer runs, whatever its row says, is not held forever.
        assert!(renew(&[]).await.is_empty());
        assert_eq!(renew(&[two, Uuid::now_v7()]).await, [two]);
        assert_eq!(store.expired_runs(&all, now()).await.unwrap().len(), 2);
        assert_eq!(renew(&[idle, one, other, two]).await, [one, two]);
        assert_eq!(store.expired_runs(&all, now()).await.unwrap(), [other]);
        let began = store.begin_run(one, &lease("m"), 1, &[], None, RunOptions::default()).await.unwrap();
        assert_eq!(began, BeginOutcome::Busy { until });
        assert_eq!(store.resume_run(two, &lease("m")).await.unwrap(), BeginOutcome::Busy { until });
        let began = store.resume_run(other, &lease("n")).await.unwrap();
        assert!(matches!(began, BeginOutcome::Started(started) if started.recovered && started.seq == 1));
        assert_eq!(store.resume_run(idle, &lease("n")).await.unwrap(), BeginOutcome::Idle);
        store.close().await;
    })
    .await;
}

/// Many write to one log at once, and to others: no place is given twice, nothing is lost.
#[tokio::test(flavor = "multi_thread")]
async fn writers_do_not_get_into_each_others_way() {
    on_each_engine(async |database| {
        let stores = [open(database).await, open(database).await];
        let shared = created(&stores[0]).await;
        begin(&stores[0], shared, &lease("n")).await;
        let mut tasks = JoinSet::new();
        for at in 0..NODES {
            let store = stores[at % 2].clone();
            tasks.spawn(async move {
                let own = created(&store).await;
                begin(&store, own, &lease("n")).await;
                let mut places = Vec::new();
                for round in 0..ROUNDS * 4 {
                    let text = format!("{at}-{round}");
                    store.append(own, "n", &[said(&text)], &RunChange::default()).await.unwrap();
                    let both = [said(&text), said(&text)];
                    let appended = store.append(shared, "n", &both, &RunChange::default()).await.unwrap();
                    places.extend([(appended.seq - 1, both[0].clone()), (appended.seq, both[1].clone())]);
                }
                assert_eq!(store.log(own, 0, 999).await.unwrap().len(), 1 + ROUNDS * 4);
                places
            });
        }
        let mut expected: Vec<(i64, Entry)> = Vec::new();
        while let Some(ended) = tasks.join_next().await {
            expected.extend(ended.unwrap());
        }
        expected.sort_by_key(|(seq, _)| *seq);
        let log = stores[1].log(shared, 1, 1_000).await.unwrap();
        let log: Vec<(i64, Entry)> = log.into_iter().map(|entry| (entry.seq, entry.entry)).collect();
        assert_eq!(log, expected);
        assert_eq!(stores[0].session(shared).await.unwrap().unwrap().status, SessionStatus::Running);
        for store in stores {
            store.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_session_without_a_lease_is_recovered() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        let recover = async || store.recover_run(id, &lease("two")).await.unwrap();
        assert_eq!(recover().await, BeginOutcome::Idle);
        let held = lease("one");
        begin(&store, id, &held).await;
        assert_eq!(recover().await, BeginOutcome::Busy { until: held.until });
        store.append(id, "one", &[], &end(AfterRun::Waiting)).await.unwrap();
        assert_eq!(recover().await, BeginOutcome::Waiting, "a waiting session has no lease, and is not lost");
        store.resume_run(id, &over("one")).await.unwrap();
        store.request_cancel(id).await.unwrap();
        let began = recover().await;
        assert!(
            matches!(began, BeginOutcome::Started(started) if started.recovered && started.cancel_requested)
        );
        store.append(id, "two", &[done()], &end(AfterRun::Idle)).await.unwrap();
        assert_eq!(store.recover_run(Uuid::now_v7(), &lease("two")).await.unwrap(), BeginOutcome::Missing);
        store.close().await;
    })
    .await;
}
