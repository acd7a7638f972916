//! Resumes a session with pending approvals.

use app::running::SessionView;

use super::Chat;
use crate::commands::answer::pending;
use crate::failure::Result;
use crate::output::Output;

impl Chat<'_> {
    /// Asks for the pending approvals and shows the rest of the answer.
    pub(super) async fn resume_pending(&mut self, view: &SessionView, output: &mut Output) -> Result<()> {
        self.faint("Waiting for your approval:", output)?;
        output.flush()?;
        self.viewer.recall(&view.turns);
        // Subscribe before the last decision, to see all events after it.
        let mut subscription = self.runtime.events(self.session, None).await?;
        for request in pending(view) {
            if !self.watch.permit(&request, &mut self.viewer, output).await? {
                break;
            }
        }
        let outcome = self.watch.until_done(&mut subscription, &mut self.viewer, output).await?;
        drop(subscription);
        if let Some(message) = self.finish(outcome, output).await? {
            self.send(message, output).await?;
        }
        Ok(())
    }
}
