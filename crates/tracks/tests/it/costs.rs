//! Calls are paid from accounts that never go over their caps.

use std::sync::Arc;

use conductor::{Account, Cap, CapUnit, Caps, Charge, Money, Spent};
use testkit::on_each_engine;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tracks::{Balance, CallState, Fence, Reservation, Reserved};
use uuid::Uuid;

use crate::{claimed, created, holder, id, open, taken};

const DAY: &str = "2026-11-18";

fn charge(tokens: u64, micros: u64) -> Charge {
    Charge { tokens, cost: Some(Money::from_micros(micros)) }
}

fn unpriced(tokens: u64) -> Charge {
    Charge { tokens, cost: None }
}

fn tokens(most: u64) -> Cap {
    Cap { tokens: Some(most), cost: None }
}

fn money(micros: u64) -> Cap {
    Cap { tokens: None, cost: Some(Money::from_micros(micros)) }
}

fn sum(tokens: u64, micros: u64, unpriced_tokens: u64) -> Spent {
    Spent { tokens, cost: Money::from_micros(micros), unpriced_tokens }
}

fn balance(spent: Spent, reserved: Spent) -> Balance {
    Balance { spent, reserved }
}

/// A call of a million tokens' price each, without caps.
pub(crate) fn reservation(fence: &Fence, used: u64) -> Reservation {
    Reservation {
        id: Uuid::now_v7(),
        fence: fence.clone(),
        day: DAY.to_owned(),
        charge: charge(used, used * 10),
        caps: Caps::default(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_count_for_their_ticket_their_track_and_their_day() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let track = created(&tracks).await;
        let (one, two) = (claimed(&tracks, track, "T1").await, claimed(&tracks, track, "T2").await);
        let whole = taken(tracks.claim(track, None, &holder("w")).await.unwrap());
        assert_eq!(tracks.spent(track).await.unwrap(), tracks::Accounts::default());
        let calls = [
            reservation(&one, 100),
            Reservation { charge: unpriced(30), ..reservation(&two, 0) },
            Reservation { day: "2026-11-19".to_owned(), ..reservation(&whole, 5) },
        ];
        for call in &calls {
            assert_eq!(tracks.reserve(call).await.unwrap(), Reserved::Granted);
        }
        let none = Spent::default();
        let accounts = tracks.spent(track).await.unwrap();
        assert_eq!(accounts.track, balance(none, sum(135, 1_050, 30)));
        assert_eq!(accounts.track.total(), sum(135, 1_050, 30));
        let tickets =
            [(id("T1"), balance(none, sum(100, 1_000, 0))), (id("T2"), balance(none, sum(30, 0, 30)))];
        assert_eq!(accounts.tickets, tickets);
        let days = [
            (DAY.to_owned(), balance(none, sum(130, 1_000, 30))),
            ("2026-11-19".to_owned(), balance(none, sum(5, 50, 0))),
        ];
        assert_eq!(accounts.days, days);
        // Cheaper than feared, dearer than feared, never sent.
        assert_eq!(tracks.settle(calls[0].id, charge(40, 333)).await.unwrap(), Some(charge(40, 333)));
        assert_eq!(tracks.settle(calls[1].id, charge(50, 7)).await.unwrap(), Some(charge(50, 7)));
        assert_eq!(tracks.release_reservation(calls[2].id).await.unwrap(), Some(charge(0, 0)));
        let accounts = tracks.spent(track).await.unwrap();
        assert_eq!(accounts.track, balance(sum(90, 340, 0), none));
        assert_eq!(accounts.tickets[0].1, balance(sum(40, 333, 0), none));
        assert_eq!(accounts.days[1].1, Balance::default());
        assert_eq!(tracks.open_reservations(track).await.unwrap(), []);
        // Another track has its own accounts.
        let other = created(&tracks).await;
        assert_eq!(tracks.spent(other).await.unwrap(), tracks::Accounts::default());
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_counts_once() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let track = created(&tracks).await;
        let fence = claimed(&tracks, track, "T1").await;
        let call = reservation(&fence, 10);
        for _ in 0..3 {
            assert_eq!(tracks.reserve(&call).await.unwrap(), Reserved::Granted);
        }
        assert_eq!(tracks.spent(track).await.unwrap().track.total(), sum(10, 100, 0));
        for tokens in [4, 9, 0] {
            let settled = tracks.settle(call.id, charge(tokens, 40)).await.unwrap();
            assert_eq!(settled, Some(charge(4, 40)), "the first one counts");
        }
        assert_eq!(tracks.spent(track).await.unwrap().track, balance(sum(4, 40, 0), Spent::default()));
        let known = Reserved::Known { state: CallState::Settled, charge: charge(4, 40) };
        assert_eq!(tracks.reserve(&call).await.unwrap(), known, "it was made and paid");
        assert_eq!(tracks.settle(Uuid::now_v7(), charge(1, 1)).await.unwrap(), None);
        // A sum stays a number, whatever a provider reports.
        let huge = Reservation { charge: charge(u64::MAX, u64::MAX), ..reservation(&fence, 0) };
        for _ in 0..3 {
            let huge = Reservation { id: Uuid::now_v7(), ..huge.clone() };
            assert_eq!(tracks.reserve(&huge).await.unwrap(), Reserved::Granted);
        }
        assert!(tracks.spent(track).await.unwrap().track.total().tokens > 1 << 40);
        tracks.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_could_exceed_a_cap_is_refused() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let track = created(&tracks).await;
        let fence = claimed(&tracks, track, "T1").await;
        let whole = taken(tracks.claim(track, None, &holder("w")).await.unwrap());
        tracks.reserve(&reservation(&fence, 60)).await.unwrap();
        let ticket = || Account::Ticket { ticket: id("T1") };
        let day = || Account::Day { day: DAY.to_owned() };
        let check = async |fence: &Fence, used: Charge, caps: Caps, expected: Option<(Account, CapUnit)>| {
            let call = Reservation { charge: used, caps, ..reservation(fence, 0) };
            let expected =
                expected.map_or(Reserved::Granted, |(account, unit)| Reserved::Reached { account, unit });
            assert_eq!(tracks.reserve(&call).await.unwrap(), expected);
            if expected == Reserved::Granted {
                tracks.release_reservation(call.id).await.unwrap();
            }
            let total = tracks.spent(track).await.unwrap().track.total();
            assert_eq!(total, sum(60, 600, 0), "what is refused leaves no trace");
        };
        let caps = |ticket, track, day| Caps { ticket, track, day };
        let none = Cap::default();
        let used = charge(40, 400);
        // To the last token, and no further.
        check(&fence, used, caps(tokens(100), tokens(100), tokens(100)), None).await;
        check(&fence, used, caps(money(1_000), money(1_000), money(1_000)), None).await;
        check(&fence, used, caps(tokens(99), tokens(99), tokens(99)), Some((ticket(), CapUnit::Tokens)))
            .await;
        check(&fence, used, caps(none, tokens(99), tokens(99)), Some((Account::Track, CapUnit::Tokens)))
            .await;
        check(&fence, used, caps(none, none, tokens(99)), Some((day(), CapUnit::Tokens))).await;
        check(&fence, used, caps(money(999), none, none), Some((ticket(), CapUnit::Cost))).await;
        check(&fence, used, caps(none, none, money(999)), Some((day(), CapUnit::Cost))).await;
        check(&fence, used, caps(none, none, tokens(0)), Some((day(), CapUnit::Tokens))).await;
        check(&fence, used, caps(tokens(u64::MAX), none, none), None).await;
        // The steps of the track have no ticket.
        check(&whole, used, caps(tokens(1), tokens(100), none), None).await;
        check(&whole, used, caps(none, tokens(99), none), Some((Account::Track, CapUnit::Tokens))).await;
        // A price that is not known cannot be capped.
        check(&fence, unpriced(40), caps(tokens(100), none, none), None).await;
        let call = |caps| Reservation { charge: unpriced(1), caps, ..reservation(&fence, 0) };
        let refused = tracks.reserve(&call(caps(tokens(100), none, money(9_999)))).await.unwrap();
        assert_eq!(refused, Reserved::Unpriced { account: day() });
        tracks.close().await;
    })
    .await;
}

/// Calls of many workers at once: as many are granted as fit, and never more.
#[tokio::test(flavor = "multi_thread")]
async fn calls_at_the_same_time_stay_under_the_cap() {
    const WORKERS: u64 = 24;
    on_each_engine(async |database| {
        let stores = [open(database).await, open(database).await];
        let track = created(&stores[0]).await;
        let together = Arc::new(Barrier::new(24));
        let mut tasks = JoinSet::new();
        for at in 0..WORKERS {
            let tracks = stores[usize::from(at % 2 == 0)].tracks.clone();
            let together = together.clone();
            tasks.spawn(async move {
                let fence = claimed(&tracks, track, &format!("T{at}")).await;
                together.wait().await;
                let mut granted = 0;
                for round in 0..4 {
                    let caps = Caps { ticket: tokens(30), track: tokens(200), day: money(9_999) };
                    let call = Reservation { caps, ..reservation(&fence, 10) };
                    match tracks.reserve(&call).await.unwrap() {
                        Reserved::Granted => granted += 1,
                        Reserved::Reached { account: Account::Track | Account::Ticket { .. }, unit } => {
                            assert_eq!(unit, CapUnit::Tokens);
                        }
                        other => panic!("{other:?}"),
                    }
                    if round % 2 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                granted
            });
        }
        let mut granted = 0;
        while let Some(ended) = tasks.join_next().await {
            granted += ended.unwrap();
        }
        assert_eq!(granted, 20, "nothing more fits");
        let accounts = stores[0].spent(track).await.unwrap();
        assert_eq!(accounts.track.total(), sum(200, 2_000, 0));
        assert!(accounts.tickets.iter().all(|(_, it)| it.total().tokens <= 30));
        assert_eq!(accounts.tickets.iter().map(|(_, it)| it.total().tokens).sum::<u64>(), 200);

        // All settle at once, each twice, while others look.
        let mut tasks = JoinSet::new();
        for call in stores[0].open_reservations(track).await.unwrap() {
            for store in &stores {
                let (tracks, id) = (store.tracks.clone(), call.id);
                tasks.spawn(async move { tracks.settle(id, charge(3, 7)).await.unwrap() });
            }
        }
        while let Some(ended) = tasks.join_next().await {
            assert_eq!(ended.unwrap(), Some(charge(3, 7)));
        }
        let accounts = stores[1].spent(track).await.unwrap();
        assert_eq!(accounts.track, balance(sum(60, 140, 0), Spent::default()));
        for store in stores {
            store.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_open_calls_of_a_dead_worker_stay_spent() {
    on_each_engine(async |database| {
        let tracks = open(database).await;
        let track = created(&tracks).await;
        let dead = claimed(&tracks, track, "T1").await;
        let other = claimed(&tracks, track, "T2").await;
        let (open, paid) = (reservation(&dead, 10), reservation(&dead, 20));
        let elsewhere = reservation(&other, 30);
        for call in [&open, &paid, &elsewhere] {
            tracks.reserve(call).await.unwrap();
        }
        tracks.settle(paid.id, charge(2, 20)).await.unwrap();
        let beat = tracks.claims(track).await.unwrap()[0].sighting.beat;
        let next = taken(tracks.take_over(track, Some(&id("T1")), beat, &holder("next")).await.unwrap());
        let left = tracks.open_reservations(track).await.unwrap();
        assert_eq!(left.iter().map(|call| call.id).collect::<Vec<_>>(), [open.id, elsewhere.id]);
        assert_eq!(
            (&left[0].fence, left[0].state, left[0].charge),
            (&dead, CallState::Reserved, open.charge)
        );
        // The same call under the next claim may have been made.
        let again = Reservation { fence: next.clone(), ..open.clone() };
        let known = Reserved::Known { state: CallState::Reserved, charge: open.charge };
        assert_eq!(tracks.reserve(&again).await.unwrap(), known);
        assert_eq!(tracks.abandon(&next).await.unwrap(), Some(1));
        assert_eq!(tracks.abandon(&next).await.unwrap(), Some(0));
        let known = Reserved::Known { state: CallState::Unknown, charge: open.charge };
        assert_eq!(tracks.reserve(&again).await.unwrap(), known);
        let left = tracks.open_reservations(track).await.unwrap();
        let states: Vec<_> = left.iter().map(|call| call.state).collect();
        assert_eq!(states, [CallState::Unknown, CallState::Reserved]);
        let accounts = tracks.spent(track).await.unwrap();
        assert_eq!(accounts.track, balance(sum(12, 120, 0), sum(30, 300, 0)));
        assert_eq!(accounts.tickets[0].1, balance(sum(12, 120, 0), Spent::default()));
        // The worker was only paused, and still knows what the call cost.
        tracks.settle(open.id, charge(3, 30)).await.unwrap();
        let accounts = tracks.spent(track).await.unwrap();
        assert_eq!(accounts.track, balance(sum(5, 50, 0), sum(30, 300, 0)));
        tracks.close().await;
    })
    .await;
}
