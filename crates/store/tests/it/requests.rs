//! Requests with a key: claimed once, and answered again on request.

use store::{RequestClaim, Store, StoredAnswer};
use testkit::{Database, on_each_engine};
use uuid::Uuid;

use crate::samples::open;

fn answer(body: Option<&str>) -> StoredAnswer {
    let headers = vec![("etag".to_owned(), "\"shared:1\"".to_owned())];
    StoredAnswer { status: 201, headers, body: body.map(str::to_owned) }
}

async fn granted(store: &Store, key: &str) -> Uuid {
    match store.claim_request(key, "one").await.unwrap() {
        RequestClaim::Granted(claim) => claim,
        other => panic!("{key}: {other:?}"),
    }
}

async fn check(store: &Store, key: &str, fingerprint: &str, expected: RequestClaim) {
    assert_eq!(store.claim_request(key, fingerprint).await.unwrap(), expected, "{key} {fingerprint}");
}

/// Two nodes on one database.
async fn nodes(database: &Database) -> [Store; 2] {
    [open(database).await, open(database).await]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_belongs_to_one_request_on_every_node() {
    on_each_engine(async |database| {
        let [one, other] = nodes(database).await;
        let claim = granted(&one, "k").await;
        for node in [&one, &other] {
            check(node, "k", "one", RequestClaim::UnderWay).await;
            check(node, "k", "two", RequestClaim::OtherRequest).await;
        }
        one.answer_request("k", claim, &answer(Some("{}"))).await.unwrap();
        for node in [&one, &other] {
            check(node, "k", "one", RequestClaim::Answered(answer(Some("{}")))).await;
            check(node, "k", "two", RequestClaim::OtherRequest).await;
        }
        // A late release leaves the answer alone.
        one.release_request("k", claim).await.unwrap();
        check(&other, "k", "one", RequestClaim::Answered(answer(Some("{}")))).await;
        let claim = granted(&one, "large").await;
        one.answer_request("large", claim, &answer(None)).await.unwrap();
        check(&other, "large", "one", RequestClaim::Answered(answer(None))).await;
        one.close().await;
        other.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_released_key_is_free_again() {
    on_each_engine(async |database| {
        let [one, other] = nodes(database).await;
        let first = granted(&one, "k").await;
        one.release_request("k", first).await.unwrap();
        let second = granted(&other, "k").await;
        // The first claim is void.
        one.answer_request("k", first, &answer(Some("stale"))).await.unwrap();
        one.release_request("k", first).await.unwrap();
        check(&one, "k", "one", RequestClaim::UnderWay).await;
        other.answer_request("k", second, &answer(Some("new"))).await.unwrap();
        check(&one, "k", "one", RequestClaim::Answered(answer(Some("new")))).await;
        one.close().await;
        other.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_was_not_renewed_has_an_unknown_outcome() {
    on_each_engine(async |database| {
        let [one, other] = nodes(database).await;
        let claim = granted(&one, "k").await;
        database.execute("UPDATE masque_requests SET claimed_until = claimed_until - 16000").await;
        check(&other, "k", "one", RequestClaim::Unknown).await;
        one.renew_request("k", claim).await.unwrap();
        check(&other, "k", "one", RequestClaim::UnderWay).await;
        database.execute("UPDATE masque_requests SET claimed_until = claimed_until - 16000").await;
        // It never runs again, and an answer that comes late counts.
        check(&other, "k", "one", RequestClaim::Unknown).await;
        one.answer_request("k", claim, &answer(Some("late"))).await.unwrap();
        check(&other, "k", "one", RequestClaim::Answered(answer(Some("late")))).await;
        one.close().await;
        other.close().await;
    })
    .await;
}

/// A process is killed, and its clock goes back before the next start.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_ends_in_time_even_if_the_clock_goes_back() {
    on_each_engine(async |database| {
        let [one, other] = nodes(database).await;
        let claim = granted(&one, "k").await;
        database.execute("UPDATE masque_requests SET claimed_until = claimed_until + 3600000").await;
        check(&other, "k", "one", RequestClaim::UnderWay).await;
        // Fifteen seconds later.
        database.execute("UPDATE masque_requests SET claimed_until = claimed_until - 16000").await;
        check(&other, "k", "one", RequestClaim::Unknown).await;
        one.answer_request("k", claim, &answer(Some("late"))).await.unwrap();
        check(&other, "k", "one", RequestClaim::Answered(answer(Some("late")))).await;
        one.close().await;
        other.close().await;
    })
    .await;
}

/// The number of keys that stay, however old.
const NEWEST: usize = 1_000;

/// Keys that were claimed after those that are there.
async fn newer_keys(database: &Database, name: &str, count: usize) {
    let rows = format!(
        "INSERT INTO masque_requests (key, fingerprint, claim, claimed_until, expires_at) \
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}) \
         SELECT '{name}-' || n, fingerprint, claim, claimed_until, expires_at + 1 FROM numbers \
         CROSS JOIN (SELECT * FROM masque_requests ORDER BY expires_at DESC LIMIT 1) AS newest"
    );
    database.execute(&rows).await;
}

const A_DAY_LATER: &str = "UPDATE masque_requests SET expires_at = expires_at - 90000000";

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_ahead_frees_no_recent_key() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let claim = granted(&store, "k").await;
        store.answer_request("k", claim, &answer(Some("{}"))).await.unwrap();
        granted(&store, "open").await;
        database.execute("UPDATE masque_requests SET claimed_until = claimed_until - 90000000").await;
        database.execute(A_DAY_LATER).await;
        check(&store, "k", "one", RequestClaim::Answered(answer(Some("{}")))).await;
        check(&store, "open", "one", RequestClaim::Unknown).await;
        newer_keys(database, "newer", NEWEST - 2).await;
        check(&store, "k", "one", RequestClaim::Answered(answer(Some("{}")))).await;
        // Two: keys of the same moment stay together.
        newer_keys(database, "newest", 2).await;
        granted(&store, "k").await;
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_keys_are_removed_bit_by_bit() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for number in 0..45 {
            granted(&store, &format!("old-{number}")).await;
        }
        database.execute(A_DAY_LATER).await;
        newer_keys(database, "newer", NEWEST).await;
        let left = async || database.texts("SELECT key FROM masque_requests").await.len() - NEWEST;
        granted(&store, "new-1").await;
        assert_eq!(left().await, 45 - 20 + 1);
        // An expired key is free, even if it was not removed yet.
        granted(&store, "old-44").await;
        granted(&store, "new-2").await;
        assert!(left().await <= 4, "{}", left().await);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_callers_one_gets_the_key() {
    on_each_engine(async |database| {
        let [one, other] = nodes(database).await;
        let callers = (0..16).map(|place| {
            let node = if place % 2 == 0 { one.clone() } else { other.clone() };
            tokio::spawn(async move { node.claim_request("k", "one").await.unwrap() })
        });
        let mut granted = 0;
        for caller in callers.collect::<Vec<_>>() {
            match caller.await.unwrap() {
                RequestClaim::Granted(_) => granted += 1,
                other => assert_eq!(other, RequestClaim::UnderWay),
            }
        }
        assert_eq!(granted, 1);
        one.close().await;
        other.close().await;
    })
    .await;
}
