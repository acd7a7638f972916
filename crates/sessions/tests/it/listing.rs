//! Lists of sessions: filtered, in order, page by page.

use std::collections::BTreeSet;

use agent::{Session, SessionStatus};
use chrono::TimeDelta;
use persona::{AsReport as _, Code};
use sessions::{AfterRun, IdPrefix, IdSuffix, Parent, SessionFilter, Sessions};
use testkit::on_each_engine;
use uuid::Uuid;

use super::{begin, claim, done, end, full, session};
use crate::open;
use crate::samples::name;

/// The ids of all pages, and that no page is longer than asked for.
async fn all(store: &Sessions, filter: &SessionFilter) -> Vec<Uuid> {
    let mut filter = filter.clone();
    let mut ids = Vec::new();
    loop {
        let page = store.sessions(&filter).await.unwrap();
        assert!(page.items.len() <= filter.limit.unwrap_or(50));
        ids.extend(page.items.iter().map(|session| session.id));
        match page.next {
            Some(_) if page.items.is_empty() => panic!("a page without anything leads nowhere"),
            Some(next) => filter.cursor = Some(next),
            None => return ids,
        }
    }
}

/// Sessions of which several were changed in the same moment, newest first.
async fn filled(store: &Sessions) -> Vec<Session> {
    let start = super::now() - TimeDelta::hours(1);
    let mut sessions = Vec::new();
    for at in 0..23 {
        let of = if at % 2 == 0 { "guide" } else { "critic" };
        let session = Session { updated_at: start + TimeDelta::microseconds(at / 3), ..session(of) };
        store.create(&session).await.unwrap();
        sessions.push(session);
    }
    sessions.sort_by_key(|session| std::cmp::Reverse((session.updated_at, session.id)));
    sessions
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_leave_nothing_out_and_repeat_nothing() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let sessions = filled(&store).await;
        let expected: Vec<Uuid> = sessions.iter().map(|session| session.id).collect();
        for limit in [None, Some(1), Some(2), Some(7), Some(23), Some(24), Some(9_999)] {
            let filter =
                SessionFilter { limit: limit.map(|limit| limit.min(200)), ..SessionFilter::default() };
            assert_eq!(all(&store, &filter).await, expected, "{limit:?}");
        }
        let most = SessionFilter { limit: Some(usize::MAX), ..SessionFilter::default() };
        assert_eq!(store.sessions(&most).await.unwrap().items, sessions);
        let least = SessionFilter { limit: Some(0), ..SessionFilter::default() };
        assert_eq!(store.sessions(&least).await.unwrap().items.len(), 1);

        // Sessions run and are deleted while a caller pages through the list.
        let first =
            store.sessions(&SessionFilter { limit: Some(5), ..SessionFilter::default() }).await.unwrap();
        begin(&store, expected[12], &claim("n")).await;
        store.append(expected[12], "n", &[done()], &end(AfterRun::Idle)).await.unwrap();
        store.delete(expected[4]).await.unwrap();
        let rest = SessionFilter { limit: Some(5), cursor: first.next, ..SessionFilter::default() };
        let rest: Vec<Uuid> = all(&store, &rest).await;
        let left: Vec<Uuid> = expected[5..].iter().copied().filter(|id| *id != expected[12]).collect();
        assert_eq!(rest, left);
        assert_eq!(all(&store, &SessionFilter::default()).await[0], expected[12], "it is the newest now");

        for cursor in ["", "after:x", "before:", "before:1", "before:x:y", "before:9999999999999999999:x"] {
            let filter = SessionFilter { cursor: Some(cursor.to_owned()), ..SessionFilter::default() };
            let refused = store.sessions(&filter).await.unwrap_err();
            assert_eq!(refused.code(), Code::InvalidCursor, "{cursor}: {refused}");
        }
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_go_together() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let sessions = filled(&store).await;
        let top = sessions[0].id;
        let (one, two) = (full(top), full(top));
        store.create(&one).await.unwrap();
        store.create(&two).await.unwrap();
        let deeper = full(one.id);
        store.create(&deeper).await.unwrap();
        begin(&store, two.id, &claim("n")).await;
        let found = async |filter: SessionFilter| -> BTreeSet<Uuid> {
            let limit = Some(3);
            all(&store, &SessionFilter { limit, ..filter }).await.into_iter().collect()
        };
        let any = SessionFilter { parent: Parent::Any, ..SessionFilter::default() };
        assert_eq!(found(any.clone()).await.len(), sessions.len() + 3);
        assert_eq!(found(SessionFilter::default()).await.len(), sessions.len(), "those of people");
        let below = SessionFilter { parent: Parent::Of(top), ..SessionFilter::default() };
        assert_eq!(found(below.clone()).await, [one.id, two.id].into());
        let running = SessionFilter { status: Some(SessionStatus::Running), ..below };
        assert_eq!(found(running).await, [two.id].into());
        let idle = SessionFilter { status: Some(SessionStatus::Idle), ..any.clone() };
        assert_eq!(found(idle).await.len(), sessions.len() + 2);
        let guide = SessionFilter { persona: Some(name("guide")), ..any };
        assert_eq!(found(guide.clone()).await.len(), 12 + 3);
        let guide = SessionFilter { parent: Parent::Top, ..guide };
        assert_eq!(found(guide).await.len(), 12);
        let unknown = SessionFilter { persona: Some(name("unknown")), ..SessionFilter::default() };
        assert!(found(unknown).await.is_empty());
        store.close().await;
    })
    .await;
}

/// Ids that differ late, and one right behind the range of their prefix.
const IDS: [&str; 6] = [
    "0199aaaa-0000-7000-8000-000000000000",
    "0199aaaa-0000-7000-8000-00000000000f",
    "0199aaaa-ffff-7fff-bfff-ffffffffffff",
    "0199aaab-0000-7000-8000-000000000000",
    "0199aaff-0000-7000-8000-000000000000",
    "f199aaaa-0000-7000-8000-000000000000",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_found_by_the_beginning_of_its_id() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for id in IDS {
            store.create(&Session { id: id.parse().unwrap(), ..session("guide") }).await.unwrap();
        }
        let below = "0199aaaa-1111-7000-8000-000000000000".parse().unwrap();
        store.create(&Session { id: below, ..full(IDS[0].parse().unwrap()) }).await.unwrap();
        let found = async |text: &str, limit: usize| -> Vec<String> {
            let prefix = IdPrefix::parse(text).unwrap();
            let found = store.sessions_beginning(&prefix, limit).await.unwrap();
            found.iter().map(ToString::to_string).collect()
        };
        // The newest first, and none that was delegated.
        assert_eq!(found("0199aaaa", 9).await, [IDS[2], IDS[1], IDS[0]]);
        assert_eq!(found("0199AAAA", 2).await, [IDS[2], IDS[1]], "no more than asked for");
        assert!(found("0199aaaa", 0).await.is_empty());
        assert_eq!(found("0199aaaa-0", 9).await, [IDS[1], IDS[0]]);
        assert_eq!(found("0199aaaa0", 9).await, [IDS[1], IDS[0]], "without the dash too");
        assert_eq!(found("0199aaaa-0000-7000-8000-00000000000f", 9).await, [IDS[1]]);
        assert_eq!(found("0199aaaa-f", 9).await, [IDS[2]]);
        assert_eq!(found("0199aaab", 9).await, [IDS[3]]);
        assert_eq!(found("0199aa", usize::MAX).await, [IDS[4], IDS[3], IDS[2], IDS[1], IDS[0]]);
        assert_eq!(found("f", 9).await, [IDS[5]]);
        for nothing in ["0199aaac", "0199aaaa-1", "1", "f199aaaa-0001"] {
            assert!(found(nothing, 9).await.is_empty(), "{nothing}");
        }
        store.delete(IDS[1].parse().unwrap()).await.unwrap();
        assert_eq!(found("0199aaaa-0", 9).await, [IDS[0]]);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_found_by_the_end_of_its_id() {
    on_each_engine(async |database| {
        let store = open(database).await;
        assert_eq!(store.unique_end(6).await.unwrap(), 6, "without sessions");
        for id in IDS {
            store.create(&Session { id: id.parse().unwrap(), ..session("guide") }).await.unwrap();
        }
        let below = "0199aaaa-1111-7000-8000-00000000000f".parse().unwrap();
        store.create(&Session { id: below, ..full(IDS[0].parse().unwrap()) }).await.unwrap();
        let found = async |text: &str, limit: usize| -> Vec<String> {
            let found = store.sessions_ending(&IdSuffix::parse(text).unwrap(), limit).await.unwrap();
            found.iter().map(ToString::to_string).collect()
        };
        // The newest first, and none that was delegated.
        assert_eq!(found("000f", 9).await, [IDS[1]]);
        assert_eq!(found("FFFF", 9).await, [IDS[2]]);
        assert_eq!(found("0000", 9).await, [IDS[5], IDS[4], IDS[3], IDS[0]]);
        assert_eq!(found("0000", 2).await, [IDS[5], IDS[4]], "no more than asked for");
        assert_eq!(found("aaab0000700080000000 00000000".replace(' ', "").as_str(), 9).await, [IDS[3]]);
        assert!(found("dead", 9).await.is_empty());
        let all = store.sessions_ending(&IdSuffix::ANY, 9).await.unwrap();
        assert_eq!(all.len(), IDS.len());
        // Two of them differ in their first digit only.
        assert_eq!(store.unique_end(6).await.unwrap(), 36);
        for id in [IDS[5], IDS[4], IDS[3]] {
            store.delete(id.parse().unwrap()).await.unwrap();
        }
        assert_eq!(store.unique_end(6).await.unwrap(), 6);
        store.close().await;
    })
    .await;
}
