//! How much history servers keep.

use std::time::Duration;

use app::Library;

use crate::config::Config;

/// How often old revisions are forgotten.
const PERIOD: Duration = Duration::from_secs(24 * 60 * 60);

/// Forgets old revisions now and once a day, where the user's configuration says how many to keep.
/// It ends with the runtime.
pub(super) fn start(library: &Library, config: &Config) {
    let Some(keep) = config.history_keep else { return };
    let library = library.clone();
    tokio::spawn(async move {
        let mut days = tokio::time::interval(PERIOD);
        loop {
            days.tick().await;
            match library.prune(keep).await {
                Ok(0) => {}
                Ok(gone) => tracing::info!(gone, keep, "old revisions were forgotten"),
                Err(error) => tracing::warn!(%error, "old revisions could not be forgotten"),
            }
        }
    });
}
