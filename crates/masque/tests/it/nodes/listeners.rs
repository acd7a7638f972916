//! The connections that carry notifications of writes between servers of one database.

use std::time::{Duration, Instant};

use testkit::Database;

use crate::wire::PATIENCE;

/// A column of the listening connections, whose last statement is LISTEN or the heartbeat.
async fn select(database: &Database, column: &str) -> Vec<String> {
    let sql = format!(
        "SELECT ({column})::text FROM pg_stat_activity WHERE datname = current_database() \
         AND pid <> pg_backend_pid() AND (query ILIKE 'listen %' OR query = 'SELECT 1')"
    );
    database.texts(&sql).await
}

/// Cuts all of them and returns their number.
pub(super) async fn cut(database: &Database) -> usize {
    select(database, "pg_terminate_backend(pid)").await.len()
}

/// Waits until this many servers listen.
pub(super) async fn are_there(database: &Database, wanted: usize) {
    let deadline = Instant::now() + PATIENCE;
    while select(database, "pid").await.len() != wanted {
        assert!(Instant::now() < deadline, "{wanted} servers should listen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
