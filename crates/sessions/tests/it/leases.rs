//! Two nodes and one session: one of them runs it, and a node that lost it cannot write.

use std::sync::Arc;

use agent::{Entry, RunOptions, SessionStatus};
use sessions::{AfterRun, BeginOutcome, Claim, Error, RunChange, Sessions};
use testkit::on_each_engine;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{begin, claim, created, done, end, release, said, takeover, user};
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
                begin(&stores[0], id, &claim("gone")).await;
            }
            let seen = takeover(&stores[0], id, "").await;
            let together = Arc::new(Barrier::new(NODES));
            let mut tasks = JoinSet::new();
            for at in 0..NODES {
                let (store, together, seen) = (stores[at % 2].clone(), together.clone(), seen.clone());
                tasks.spawn(async move {
                    let node = format!("node-{at}");
                    together.wait().await;
                    let after = i64::from(taken_over);
                    let claim = Claim { holder: node.clone(), ..seen };
                    let began = store
                        .begin_run(id, &claim, after, &[user(&node)], None, RunOptions::default())
                        .await
                        .unwrap();
                    (node, began)
                });
            }
            let (mut winners, mut busy) = (Vec::new(), 0);
            while let Some(ended) = tasks.join_next().await {
                match ended.unwrap() {
                    (node, BeginOutcome::Started(started)) => winners.push((node, started)),
                    (_, BeginOutcome::Busy) => busy += 1,
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
        begin(&store, id, &claim("one")).await;
        let over = takeover(&store, id, "two").await;
        // Late, but no other node took over.
        store.append(id, "one", &[said("slow")], &RunChange::default()).await.unwrap();
        assert!(begin(&store, id, &over).await.recovered);
        lost("one").await;
        assert_eq!(store.renew_leases(&[(id, "one".to_owned())]).await.unwrap(), []);
        store.append(id, "two", &[done()], &end(AfterRun::Idle)).await.unwrap();
        lost("two").await;
        store.delete(id).await.unwrap();
        lost("two").await;
        store.close().await;
    })
    .await;
}

/// The beats of sessions, in the order of their ids.
async fn beats(store: &Sessions, sessions: &[Uuid]) -> Vec<i64> {
    store.see(sessions).await.unwrap().iter().map(|seen| seen.lease.beat).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leases_of_what_a_node_runs_are_renewed_all_at_once() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let (one, two, other) = (created(&store).await, created(&store).await, created(&store).await);
        begin(&store, one, &claim("n.1")).await;
        begin(&store, two, &claim("n.2")).await;
        begin(&store, other, &claim("m.1")).await;
        let idle = created(&store).await;
        begin(&store, idle, &claim("n.3")).await;
        store.append(idle, "n.3", &[done()], &end(AfterRun::Idle)).await.unwrap();
        let all = [one, two, other, idle];
        assert_eq!(beats(&store, &all).await, [1, 1, 1, 1]);
        let renew = async |held: &[(Uuid, &str)]| {
            let held: Vec<(Uuid, String)> =
                held.iter().map(|(id, holder)| (*id, (*holder).to_owned())).collect();
            let renewed = store.renew_leases(&held).await.unwrap();
            let mut renewed: Vec<Uuid> = renewed.into_iter().map(|of| of.session).collect();
            renewed.sort();
            renewed
        };
        // A session that it no longer runs, whatever its row says, is not held forever.
        assert!(renew(&[]).await.is_empty());
        assert_eq!(renew(&[(two, "n.2"), (Uuid::now_v7(), "n.9")]).await, [two]);
        assert_eq!(beats(&store, &all).await, [1, 2, 1, 1]);
        let held = [(idle, "n.3"), (one, "n.1"), (other, "n.1"), (two, "n.7")];
        assert_eq!(renew(&held).await, [one], "each under the name by which it is held");
        assert_eq!(beats(&store, &all).await, [2, 2, 1, 1]);
        let began = store.begin_run(one, &claim("m.2"), 1, &[], None, RunOptions::default()).await.unwrap();
        assert_eq!(began, BeginOutcome::Busy);
        assert_eq!(store.resume_run(two, &claim("m.2")).await.unwrap(), BeginOutcome::Busy);
        let over = takeover(&store, other, "n.4").await;
        let began = store.resume_run(other, &over).await.unwrap();
        assert!(matches!(began, BeginOutcome::Started(started) if started.recovered && started.seq == 1));
        assert_eq!(store.resume_run(idle, &claim("n.5")).await.unwrap(), BeginOutcome::Idle);
        store.close().await;
    })
    .await;
}

/// A lease that was renewed since it was observed is not the observed one.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_is_renewed_in_between_is_not_taken() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n.1")).await;
        let over = takeover(&store, id, "m.1").await;
        store.renew_leases(&[(id, "n.1".to_owned())]).await.unwrap();
        let begins = async || {
            let message = [user("hi")];
            store.begin_run(id, &over, 1, &message, None, RunOptions::default()).await.unwrap()
        };
        assert_eq!(begins().await, BeginOutcome::Busy);
        assert_eq!(store.resume_run(id, &over).await.unwrap(), BeginOutcome::Busy);
        assert_eq!(store.recover_run(id, &over).await.unwrap(), BeginOutcome::Busy);
        // Nor is the lease of the next run, even one of the same node.
        store.append(id, "n.1", &[done()], &end(AfterRun::Idle)).await.unwrap();
        let before = beats(&store, &[id]).await;
        begin(&store, id, &claim("n.2")).await;
        assert!(beats(&store, &[id]).await > before, "a beat never repeats");
        assert_eq!(store.recover_run(id, &over).await.unwrap(), BeginOutcome::Busy);
        let late = store.append(id, "n.1", &[said("late")], &RunChange::default()).await.unwrap_err();
        assert!(matches!(late, Error::LeaseLost { .. }), "{late}");
        store.close().await;
    })
    .await;
}

/// The end of a lease is set and compared by the database: a node cannot even name a time.
#[tokio::test(flavor = "multi_thread")]
async fn the_database_alone_knows_the_time() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let id = created(&store).await;
        begin(&store, id, &claim("n.1")).await;
        let is_over = async || store.see(&[id]).await.unwrap()[0].lease.is_over;
        let shift = async |to: &str| {
            database.execute(&format!("UPDATE sessions SET lease_until = {to} WHERE id = '{id}'")).await;
        };
        assert!(!is_over().await);
        if database.engine == "postgres" {
            let sql = "SELECT CAST(lease_until > now() AND lease_until <= now() + interval '4 seconds' AS text) \
                       FROM sessions";
            assert_eq!(database.texts(sql).await, ["true"]);
            shift("now() - interval '1 second'").await;
            assert!(is_over().await);
            let began = store.recover_run(id, &claim("m.1")).await.unwrap();
            assert!(matches!(began, BeginOutcome::Started(started) if started.recovered), "{began:?}");
            assert!(!is_over().await);
        } else {
            // A time of an earlier release means nothing.
            shift("'2001-01-01T00:00:00.000000Z'").await;
            assert!(!is_over().await);
            assert_eq!(store.recover_run(id, &claim("m.1")).await.unwrap(), BeginOutcome::Busy);
        }
        release(database, id).await;
        assert!(is_over().await);
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
        begin(&stores[0], shared, &claim("n")).await;
        let mut tasks = JoinSet::new();
        for at in 0..NODES {
            let store = stores[at % 2].clone();
            tasks.spawn(async move {
                let own = created(&store).await;
                begin(&store, own, &claim("n")).await;
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
        let recover = async || store.recover_run(id, &takeover(&store, id, "two").await).await.unwrap();
        assert_eq!(recover().await, BeginOutcome::Idle);
        begin(&store, id, &claim("one")).await;
        let held = store.recover_run(id, &claim("two")).await.unwrap();
        assert_eq!(held, BeginOutcome::Busy);
        store.append(id, "one", &[], &end(AfterRun::Waiting)).await.unwrap();
        assert_eq!(recover().await, BeginOutcome::Waiting, "a waiting session has no lease, and is not lost");
        store.resume_run(id, &claim("one")).await.unwrap();
        store.request_cancel(id).await.unwrap();
        let began = recover().await;
        assert!(
            matches!(began, BeginOutcome::Started(started) if started.recovered && started.cancel_requested)
        );
        store.append(id, "two", &[done()], &end(AfterRun::Idle)).await.unwrap();
        assert_eq!(store.recover_run(Uuid::now_v7(), &claim("two")).await.unwrap(), BeginOutcome::Missing);
        store.close().await;
    })
    .await;
}
