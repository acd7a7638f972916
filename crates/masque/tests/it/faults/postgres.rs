//! A PostgreSQL that stops, goes away in the middle, or only reads.

use super::{ask, get, part, put, until};
use crate::home::Home;
use crate::nodes::{Proxy, Then};
use crate::wire::Server;

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_postgres_is_answered_and_comes_back() {
    let Some(database) = testkit::postgres().await else { return };
    let (home, proxy) = (Home::new(), Proxy::to(&database.location));
    let server = Server::start(&home, &proxy.location);
    assert_eq!(put(&server, "calm", "one").status, 201);
    proxy.hold();
    let (write, read, keyed) = std::thread::scope(|scope| {
        let write = scope.spawn(|| put(&server, "calm", "two"));
        let read =
            scope.spawn(|| ask(&server, "GET", "/api/library/part?query=calm", "", &serde_json::Value::Null));
        let keyed = scope
            .spawn(|| ask(&server, "PUT", "/api/library/part/warm", "idempotency-key: k\r\n", &part("one")));
        (write.join().unwrap(), read.join().unwrap(), keyed.join().unwrap())
    });
    write.is_temporary("database_timeout", false);
    read.is_temporary("database_timeout", false);
    keyed.is_temporary("database_timeout", false);
    proxy.resume();
    let done = until(|answer| answer.status != 503, || put(&server, "calm", "three"));
    assert_eq!((done.status, &done.body["revision"]), (200, &2.into()), "{done:?}");
    // A write that certainly did not happen can be sent again under its key.
    let done = until(
        |answer| !matches!(answer.code(), "request_under_way" | "database_timeout" | "database_lost"),
        || ask(&server, "PUT", "/api/library/part/warm", "idempotency-key: k\r\n", &part("one")),
    );
    assert!(done.status == 201 || done.code() == "outcome_unknown", "{done:?}");
    drop(server);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_without_an_answer_may_have_happened() {
    let Some(database) = testkit::postgres().await else { return };
    let (home, proxy) = (Home::new(), Proxy::to(&database.location));
    let server = Server::start(&home, &proxy.location);
    assert_eq!(put(&server, "calm", "one").status, 201);
    proxy.set_trap("COMMIT", Then::HoldAnswer);
    put(&server, "calm", "two").is_temporary("database_timeout", true);
    proxy.resume();
    let found = until(|answer| answer.status == 200, || get(&server, "calm"));
    assert_eq!((&found.body["content"], &found.body["revision"]), (&"two".into(), &2.into()));
    assert_eq!(put(&server, "calm", "three").status, 200);
    drop(server);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_says_what_may_have_happened() {
    let Some(database) = testkit::postgres().await else { return };
    let (home, proxy) = (Home::new(), Proxy::to(&database.location));
    let server = Server::start(&home, &proxy.location);
    assert_eq!(put(&server, "calm", "one").status, 201);
    proxy.set_trap("BEGIN", Then::Cut);
    put(&server, "calm", "two").is_temporary("database_lost", false);
    proxy.set_trap("COMMIT", Then::Cut);
    put(&server, "calm", "three").is_temporary("database_lost", true);
    let found = until(|answer| answer.status == 200, || get(&server, "calm"));
    assert_eq!(found.body["revision"], 1, "neither was committed");
    assert_eq!(put(&server, "calm", "four").status, 200);
    drop(server);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_only_reads_says_so() {
    let Some(database) = testkit::postgres().await else { return };
    let home = Home::new();
    let server = Server::start(&home, &database.location);
    assert_eq!(put(&server, "calm", "one").status, 201);
    let name = database.location.rsplit('/').next().unwrap();
    let set = |value: &str| {
        format!(
            "ALTER DATABASE {name} SET default_transaction_read_only = {value}; \
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    };
    database.execute(&set("on")).await;
    // The first requests may still meet the connections that were closed.
    let refused = until(|answer| answer.code() != "database_lost", || put(&server, "calm", "two"));
    refused.is_temporary("database_read_only", false);
    assert_eq!(get(&server, "calm").body["content"], "one");
    let listed = home.refused(
        "database_read_only",
        &["update", "part", "calm", "--content", "x", "--db", &database.location],
    );
    assert_eq!(listed.0["may_have_happened"], false);
    database.execute(&format!("BEGIN READ WRITE; {}; COMMIT", set("off"))).await;
    until(|answer| answer.status == 200, || put(&server, "calm", "three"));
    drop(server);
    database.remove().await;
}
