//! The runs of stored sessions.

use std::sync::Arc;

use agent::Session;
use sessions::Sessions;
use tracing::Instrument as _;

use super::drive::{Driven, Driver};
use super::leases::Leases;
use super::live_sessions::LiveSessions;
use super::project_root::ProjectRoot;
use super::session_log::SessionLog;
use super::session_tree::SessionTree;
use super::starter::{RunStarter, Starting};
use crate::conducting::Conducting;
use crate::testing::LiveTests;
use crate::{Library, Result};

/// Begins, resumes and ends the runs of stored sessions.
#[derive(Debug)]
pub(super) struct SessionRunner {
    pub(super) library: Library,
    pub(super) sessions: Sessions,
    pub(super) log: SessionLog,
    pub(super) tree: SessionTree,
    pub(super) live: Arc<LiveSessions>,
    pub(super) leases: Arc<Leases>,
    pub(super) starter: RunStarter,
    pub(super) project: ProjectRoot,
    pub(super) tests: LiveTests,
    pub(super) conducting: Conducting,
}

impl SessionRunner {
    /// Begins a run. Returns the place of the message, or of the last entry before the run's own.
    pub(super) async fn begin(
        self: &Arc<Self>,
        session: Session,
        starting: Starting,
    ) -> Result<(Driver, i64)> {
        self.starter.begin(self, session, starting).await
    }

    /// Drives a run in a task of its own, then resumes the session that waited for it.
    pub(super) fn spawn(self: &Arc<Self>, driver: Driver) {
        let (runner, parent) = (Arc::clone(self), driver.run.record.session.parent);
        let run = async move {
            let driven = driver.drive().await;
            if let (Driven::Ended(_), Some(parent)) = (driven, parent) {
                runner.resume(parent).await;
            }
        };
        tokio::spawn(run.in_current_span());
    }
}
