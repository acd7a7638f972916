//! A session that was left while it waited for permission, perhaps long ago.

use app::running::SessionView;

use super::Chat;
use crate::commands::answer::pending;
use crate::failure::Result;
use crate::output::Output;

impl Chat<'_> {
    /// Asks for what the session waits for, and shows how it goes on.
    pub(super) async fn take_up(&mut self, view: &SessionView, output: &mut Output) -> Result<()> {
        self.faint("It waits for your permission:", output)?;
        output.flush()?;
        self.viewer.recall(&view.turns);
        // Whoever watches before the last answer misses nothing of what comes of it.
        let mut subscription = self.runtime.events(self.session, None).await?;
        for asked in pending(view) {
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
}
