//! A session that was left while it waited for permission, perhaps long ago.

use std::collections::BTreeSet;
use std::time::Duration;

use agent::{Approval, Event};
use app::running::{EventId, SessionView};
use uuid::Uuid;

use super::Chat;
use crate::commands::answer::{Asked, Viewer};
use crate::failure::Result;
use crate::output::Output;

/// How long the log of a session may take to be read.
const PATIENCE: Duration = Duration::from_secs(5);

impl Chat<'_> {
    /// Asks for what the session waits for, and shows how it goes on.
    pub(super) async fn take_up(&mut self, view: &SessionView, output: &mut Output) -> Result<()> {
        self.faint("It waits for your permission:", output)?;
        if let Viewer::Person(teller) = &mut self.viewer {
            teller.recall(&view.turns);
        }
        // Whoever watches before the last answer misses nothing of what comes of it.
        let mut subscription = self.runtime.events(self.session, None).await?;
        for asked in self.pending(view).await? {
            if !self.watch.permit(&asked, &mut self.viewer, output).await? {
                break;
            }
        }
        let outcome = self.watch.until_done(&mut subscription, &mut self.viewer, output).await?;
        drop(subscription);
        if let Some(message) = self.after(outcome, output).await? {
            self.say(message, output).await?;
        }
        Ok(())
    }

    /// The calls that nobody has decided about: its own, and those of personas that it delegated to.
    async fn pending(&self, view: &SessionView) -> Result<Vec<Asked>> {
        let mut delegates = BTreeSet::new();
        let mut log = self.runtime.events(self.session, Some(EventId::default())).await?;
        let last = view.session.last_seq;
        while let Ok(told) = tokio::time::timeout(PATIENCE, log.next()).await {
            let Some(told) = told? else { break };
            if let Event::ApprovalRequest { session_id, .. } = &told.event {
                delegates.insert(*session_id);
            }
            if told.id.seq >= last {
                break;
            }
        }
        delegates.remove(&self.session);
        let mut asked: Vec<Asked> = view.approvals.iter().cloned().map(Asked::from).collect();
        for id in delegates {
            asked.extend(self.of_delegate(id).await?);
        }
        Ok(asked)
    }

    async fn of_delegate(&self, id: Uuid) -> Result<Vec<Asked>> {
        let view = self.runtime.session(id).await?;
        Ok(view.approvals.into_iter().map(Asked::from).collect())
    }
}

impl From<Approval> for Asked {
    fn from(approval: Approval) -> Self {
        let Approval { session, call_id, tool_name, input, .. } = approval;
        Self { session, call_id, tool_name, input }
    }
}
