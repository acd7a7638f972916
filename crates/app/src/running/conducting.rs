//! The runtime's side of tracks: what their steps need of sessions and models.

use std::path::Path;
use std::sync::Arc;

use agent::{Approval, DutyRole, End, ErrorCode, Session};
use conductor::Model;
use tokio_util::sync::CancellationToken;
use tools::{Registered, Root, ShellSettings};
use uuid::Uuid;

use super::models::Candidate;
use super::starter::RunStarter;
use super::{Runtime, SessionRunner};
use crate::conducting::{Conducting, Till, duty_tools, paid, run_check};
use crate::{Result, SessionError};

impl Runtime {
    /// The tracks of this process.
    pub(crate) fn conducting(&self) -> &Conducting {
        &self.runner.conducting
    }

    /// The directory of the open project. Fails without one.
    pub(crate) fn project_root(&self) -> Result<String> {
        self.runner.project.resolve(None)?.ok_or_else(|| SessionError::NoProject.into())
    }

    /// Cancelled when this process stops.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.runner.starter.stopping
    }

    /// The model of personas that prefer none.
    pub(crate) async fn default_model(&self) -> Option<Model> {
        let found = self.runner.starter.models.default_model().await?;
        Model::parse(&found.to_string()).ok()
    }

    /// Goes on with a session that waits, if it has all answers.
    pub(crate) async fn resume_session(&self, id: Uuid) {
        self.runner.resume(id).await;
    }

    /// The end of a session's last run.
    pub(crate) async fn last_end(&self, id: Uuid) -> Result<Option<End>> {
        self.runner.log.last_end(id).await
    }

    /// The error of a session's last run, if it failed.
    pub(crate) async fn last_failure(&self, id: Uuid) -> Result<Option<(ErrorCode, String)>> {
        self.runner.log.last_failure(id).await
    }

    /// The requests of a session that nobody has answered.
    pub(crate) async fn open_approvals(&self, id: Uuid) -> Result<Vec<Approval>> {
        Ok(self.runner.sessions.approvals(id, true).await?)
    }

    /// The variables that commands of tracks do not get: those that commands of tools do not get either,
    /// and the keys of providers.
    pub(crate) fn withheld_variables(&self) -> Vec<String> {
        let found = self.runner.starter.models.providers.found();
        let variable = |key: &providers::Key| match key {
            providers::Key::Present(variable) | providers::Key::Missing(variable) => Some(variable.clone()),
            providers::Key::NotNeeded => None,
        };
        let keys = found.filter_map(|found| variable(&found.key));
        self.shell().withheld().into_iter().chain(keys).collect()
    }

    /// The settings of commands.
    pub(crate) fn shell(&self) -> &ShellSettings {
        &self.runner.starter.shell
    }
}

impl RunStarter {
    /// The tools of a session that works for a track; `None` for all others.
    pub(super) fn duty_tools(&self, session: &Session) -> Option<Vec<Registered>> {
        let duty = session.duty.as_ref()?;
        let mut tools = duty_tools(duty.role);
        if let (DutyRole::Work, Some(check), Some(root)) = (duty.role, &duty.check, &session.root)
            && let Ok(root) = Root::open(Path::new(root))
        {
            tools.push(run_check(root, self.shell.clone(), check.clone()));
        }
        Some(tools)
    }
}

impl SessionRunner {
    /// The till that pays for a session's calls; `None` if the session does not work for a track.
    pub(super) fn till(self: &Arc<Self>, session: &Session) -> Option<Arc<Till>> {
        let duty = session.duty.clone()?;
        Some(Arc::new(Till::new(Runtime { runner: Arc::clone(self) }, session.id, duty)))
    }
}

/// The models of a run, each call of which a till pays for.
pub(super) fn all_paid(mut candidates: Vec<Candidate>, till: Option<&Arc<Till>>) -> Vec<Candidate> {
    let Some(till) = till else { return candidates };
    for candidate in &mut candidates {
        candidate.provider = paid(Arc::clone(&candidate.provider), candidate.model.clone(), till);
    }
    candidates
}
