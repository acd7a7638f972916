//! Deletes old revisions in servers.

use std::time::Duration;

use app::Library;

use crate::config::Config;

/// The interval of deletions.
const PERIOD: Duration = Duration::from_secs(24 * 60 * 60);

/// Deletes old revisions now and once a day, if `history.keep` is set.
pub(super) fn start(library: &Library, config: &Config) {
    let Some(keep) = config.history_keep else { return };
    let library = library.clone();
    tokio::spawn(async move {
        let mut days = tokio::time::interval(PERIOD);
        loop {
            days.tick().await;
            match library.prune(keep).await {
                Ok(0) => {}
                Ok(gone) => tracing::info!(gone, keep, "deleted old revisions"),
                Err(error) => tracing::warn!(%error, "cannot delete old revisions"),
            }
        }
    });
}
