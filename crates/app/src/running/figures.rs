//! Figures about sessions and models, for the metrics of servers.

use async_recursion::async_recursion as boxed;

use super::{Consumed, Runtime, SessionCounts};
use crate::Result;

impl Runtime {
    /// Sessions in the database, by state.
    #[boxed]
    pub async fn session_counts(&self) -> Result<SessionCounts> {
        Ok(self.runner.sessions.counts().await?)
    }

    /// The runs of this process.
    pub fn active_runs(&self) -> usize {
        self.runner.live.running().len()
    }

    /// Calls, tokens and cost of models in this process, by persona and model.
    pub fn consumption(&self) -> Vec<Consumed> {
        let models = &self.runner.starter.models;
        models.consumption.all(&models.prices)
    }

    /// For each provider with `max_concurrent`, the calls that wait for a place.
    pub fn model_queues(&self) -> Vec<(String, usize)> {
        let queues = self.runner.starter.models.providers.queues();
        queues.map(|(name, waiting)| (name.to_owned(), waiting)).collect()
    }
}
