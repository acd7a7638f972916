//! Many processes and one ticket: one of them works it, and one that lost it cannot write.

use std::sync::Arc;

use testkit::{on_each_engine, on_postgres};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tracks::{Appended, Claimed, Fence, Tracks};
use uuid::Uuid;

use crate::{append, appended, busy, claimed, created, holder, id, open, opened, resumed, taken};

const WORKERS: usize = 50;

/// Lets many workers do the same at once, through several handles, and returns the fences of the winners.
async fn race<F>(stores: &[Tracks], attempt: impl Fn(Tracks, usize) -> F) -> Vec<Fence>
where
    F: Future<Output = Claimed> + Send + 'static,
{
    let together = Arc::new(Barrier::new(WORKERS));
    let mut tasks = JoinSet::new();
    for at in 0..WORKERS {
        let together = together.clone();
        let attempt = attempt(stores[at % stores.len()].clone(), at);
        tasks.spawn(async move {
            together.wait().await;
            attempt.await
        });
    }
    let mut winners = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        if let Claimed::Taken(fence) = ended.unwrap() {
            winners.push(fence);
        }
    }
    winners
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_fifty_workers_gets_the_ticket() {
    on_each_engine(async |database| {
        let opened = [open(database).await, open(database).await, open(database).await];
        let stores = opened.each_ref().map(|it| it.tracks.clone());
        let track = created(&stores[0]).await;
        let claim = |tracks: Tracks, at: usize| async move {
            tracks.claim(track, Some(&id("T1")), &holder(&format!("worker {at}"))).await.unwrap()
        };
        let mut token = 0;
        // A ticket that was never claimed, and one that was released.
        for _ in 0..3 {
            let winners = race(&stores, claim).await;
            let [winner] = winners.as_slice() else { panic!("{winners:?}") };
            assert!(winner.token > token);
            token = winner.token;
            assert!(stores[1].release(winner).await.unwrap());
        }
        // One whose worker was observed to be gone.
        let gone = claimed(&stores[0], track, "T1").await;
        let beat = stores[0].claims(track).await.unwrap()[0].sighting.beat;
        let take_over = |tracks: Tracks, at: usize| async move {
            let holder = holder(&format!("worker {at}"));
            tracks.take_over(track, Some(&id("T1")), beat, &holder).await.unwrap()
        };
        let winners = race(&stores, take_over).await;
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert!(winners[0].token > gone.token);
        let claims = stores[2].claims(track).await.unwrap();
        assert_eq!(claims.iter().map(|claim| &claim.fence).collect::<Vec<_>>(), [&winners[0]]);
        for it in opened {
            it.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tickets_and_tracks_are_claimed_apart() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let (track, other) = (created(&tracks).await, created(&tracks).await);
        let (one, two) = (holder("Ünder"), holder("two"));
        let first = taken(tracks.claim(track, Some(&id("T1")), &one).await.unwrap());
        let whole = taken(tracks.claim(track, None, &two).await.unwrap());
        taken(tracks.claim(track, Some(&id("t1")), &two).await.unwrap());
        taken(tracks.claim(other, Some(&id("T1")), &two).await.unwrap());
        assert_eq!((&first.ticket, first.token), (&Some(id("T1")), 1));
        assert_eq!((&whole.ticket, whole.token), (&None, 1));
        busy(tracks.claim(track, Some(&id("T1")), &two).await.unwrap());
        // A worker of the same process, or the same one again, is another claim.
        busy(tracks.claim(track, Some(&id("T1")), &one).await.unwrap());
        let claims = tracks.claims(track).await.unwrap();
        let tickets: Vec<_> =
            claims.iter().map(|claim| claim.fence.ticket.as_ref().map(conductor::TicketId::as_str)).collect();
        assert_eq!(tickets, [None, Some("T1"), Some("t1")]);
        assert_eq!((&claims[1].holder, &claims[1].fence), (&one, &first));
        assert!(tracks.release(&first).await.unwrap());
        assert!(!tracks.release(&first).await.unwrap());
        assert_eq!(tracks.claims(track).await.unwrap().len(), 2);
        assert!(tracks.claims(Uuid::now_v7()).await.unwrap().is_empty());
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_is_taken_over_only_after_its_beat_stood_still() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        let track = created(&one).await;
        let fence = claimed(&one, track, "T1").await;
        let seen = busy(two.claim(track, Some(&id("T1")), &holder("two")).await.unwrap());
        assert_eq!(one.renew(std::slice::from_ref(&fence)).await.unwrap(), [true]);
        let take_over =
            async |beat| two.take_over(track, Some(&id("T1")), beat, &holder("two")).await.unwrap();
        // It beat after the look, so it lives.
        let later = busy(take_over(seen).await);
        assert!(later > seen);
        assert_eq!(one.renew(std::slice::from_ref(&fence)).await.unwrap(), [true]);
        let beat = busy(take_over(later).await);
        let next = taken(take_over(beat).await);
        assert!(next.token > fence.token);
        assert!(two.claims(track).await.unwrap()[0].sighting.beat > beat, "a beat never repeats");
        // The observed claim is gone: nobody takes over the next one by it.
        busy(take_over(beat).await);
        assert_eq!(one.renew(&[fence.clone(), next.clone()]).await.unwrap(), [false, true]);
        assert!(!one.release(&fence).await.unwrap());
        assert!(two.release(&next).await.unwrap());
        taken(take_over(beat).await);
        one.close().await;
        two.close().await;
    })
    .await;
}

/// The holder stops for a while, and its ticket is taken over. It goes on, and cannot write.
#[tokio::test(flavor = "multi_thread")]
async fn the_late_write_of_a_paused_worker_fails() {
    on_each_engine(async |database| {
        let (zombie, next) = (open(database).await, open(database).await);
        let track = created(&zombie).await;
        let old = claimed(&zombie, track, "T1").await;
        appended(&zombie, track, &append(0, &[opened()], Some(&old))).await;
        let beat = next.claims(track).await.unwrap()[0].sighting.beat;
        let new = taken(next.take_over(track, Some(&id("T1")), beat, &holder("next")).await.unwrap());
        let events = [resumed("late")];
        let late = zombie.append(track, &append(1, &events, Some(&old))).await.unwrap();
        assert_eq!(late, Appended::Fenced);
        assert_eq!(
            zombie.reserve(&crate::costs::reservation(&old, 1)).await.unwrap(),
            tracks::Reserved::Fenced
        );
        assert_eq!(zombie.abandon(&old).await.unwrap(), None);
        assert_eq!(zombie.renew(std::slice::from_ref(&old)).await.unwrap(), [false]);
        appended(&next, track, &append(1, &[resumed("on time")], Some(&new))).await;
        let log = next.log(track, 0, 10).await.unwrap();
        assert_eq!(log.last().unwrap().event, resumed("on time"));
        zombie.close().await;
        next.close().await;
    })
    .await;
}

/// While a claim is taken over, its holder writes all the time. After the take-over nothing of it arrives.
#[tokio::test(flavor = "multi_thread")]
async fn no_write_slips_through_a_take_over() {
    on_each_engine(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        let track = created(&one).await;
        for round in 0..5 {
            let ticket = format!("T{round}");
            let fence = claimed(&one, track, &ticket).await;
            let writer = one.tracks.clone();
            let old = fence.clone();
            let start = one.last_seq(track).await.unwrap().unwrap();
            let writes = tokio::spawn(async move {
                let mut seq = start;
                let events = [resumed("old")];
                while let Appended::Stored(stored) =
                    writer.append(track, &append(seq, &events, Some(&old))).await.unwrap()
                {
                    seq = stored[0].seq;
                }
                seq
            });
            while one.last_seq(track).await.unwrap().unwrap() < start + 3 {
                tokio::task::yield_now().await;
            }
            let beat =
                two.claims(track).await.unwrap().iter().find(|it| it.fence == fence).unwrap().sighting.beat;
            taken(two.take_over(track, Some(&id(&ticket)), beat, &holder("two")).await.unwrap());
            let after = two.last_seq(track).await.unwrap().unwrap();
            assert_eq!(writes.await.unwrap(), after);
            assert_eq!(two.last_seq(track).await.unwrap(), Some(after));
        }
        one.close().await;
        two.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_claims_of_a_process_are_renewed_at_once() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let (track, other) = (created(&tracks).await, created(&tracks).await);
        let one = claimed(&tracks, track, "T1").await;
        let two = claimed(&tracks, track, "T2").await;
        let whole = taken(tracks.claim(other, None, &holder("w")).await.unwrap());
        let unknown = Fence { track: Uuid::now_v7(), ..one.clone() };
        let stale = Fence { token: 0, ..two.clone() };
        assert!(tracks.renew(&[]).await.unwrap().is_empty());
        let fences = [unknown, whole.clone(), stale, one.clone(), one.clone()];
        assert_eq!(tracks.renew(&fences).await.unwrap(), [false, true, false, true, true]);
        let beats = async |track| {
            let claims = tracks.claims(track).await.unwrap();
            claims.iter().map(|claim| claim.sighting.beat).collect::<Vec<_>>()
        };
        assert_eq!((beats(track).await, beats(other).await), (vec![2, 1], vec![2]));
        tracks.close().await;
    })
    .await;
}

/// PostgreSQL ends a claim by its own clock, once the connections of its process are gone.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_knows_the_time_and_the_connections() {
    on_postgres(async |database| {
        let (one, two) = (open(database).await, open(database).await);
        let track = created(&one).await;
        let fence = claimed(&one, track, "T1").await;
        let sql = "SELECT CAST(lease_until > now() AND lease_until <= now() + interval '4 seconds' AS text) \
                   FROM masque_track_claims";
        assert_eq!(database.texts(sql).await, ["true"]);
        let is_over = async || two.claims(track).await.unwrap()[0].sighting.is_over;
        let claim = async || two.claim(track, Some(&id("T1")), &holder("two")).await.unwrap();
        let expire = "UPDATE masque_track_claims SET lease_until = now() - interval '1 second'";
        database.execute(expire).await;
        assert!(!is_over().await, "its process is connected");
        busy(claim().await);
        assert_eq!(one.renew(std::slice::from_ref(&fence)).await.unwrap(), [true]);
        one.close().await;
        assert!(!is_over().await, "its lease goes on");
        busy(claim().await);
        database.execute(expire).await;
        while !is_over().await {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let next = taken(claim().await);
        assert!(next.token > fence.token);
        assert!(!is_over().await);
        assert!(two.delete(track).await.is_err());
        two.close().await;
    })
    .await;
}
