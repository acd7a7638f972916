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

#[tokio::test(flavor = "multi_thread")]
async fn expired_keys_are_removed_bit_by_bit() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for number in 0..45 {
            granted(&store, &format!("old-{number}")).await;
        }
        database.execute("UPDATE masque_requests SET expires_at = expires_at - 90000000").await;
        let left = async || database.texts("SELECT key FROM masque_requests").await.len();
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
