//! The user's decision about a plan.

use super::Chat;
use crate::ask::{self, Choice};
use crate::failure::Result;
use crate::output::Output;

/// The message after an approval.
const CARRY_OUT: &str = "Carry out the plan.";

#[derive(Debug, Clone, Copy)]
enum Decision {
    Approve,
    SendBack,
    KeepPlanning,
}

impl Chat<'_> {
    /// Asks for a decision. Returns the message to send next.
    pub(super) async fn decide_plan(&mut self, output: &mut Output) -> Result<Option<String>> {
        let choices = vec![
            Choice::new("Approve: switch to build mode and carry it out", "", Decision::Approve),
            Choice::new("Send back with a reason", "", Decision::SendBack),
            Choice::new("Keep planning", "", Decision::KeepPlanning),
        ];
        // A cancelled prompt decides nothing.
        let decision = ask::choose("What to do with this plan?", choices, 0, output).await;
        match decision.unwrap_or(Decision::KeepPlanning) {
            Decision::Approve => Ok(Some(self.approve().await?)),
            Decision::SendBack => {
                let why = ask::text("What should be different?", "sent to the persona", output).await;
                match why.unwrap_or(None) {
                    Some(why) => Ok(Some(self.send_back(why).await?)),
                    None => self.keep_plan(output),
                }
            }
            Decision::KeepPlanning => self.keep_plan(output),
        }
    }

    fn keep_plan(&self, output: &mut Output) -> Result<Option<String>> {
        self.faint("The plan is kept: /plan shows it, /plan approve approves it.", output)?;
        Ok(None)
    }

    /// Approves the plan. Returns the message that has it carried out.
    pub(super) async fn approve(&mut self) -> app::Result<String> {
        let hash = match &self.seen_plan {
            Some(hash) => hash.clone(),
            None => self.runtime.plan(self.session).await?.hash(),
        };
        self.mode = self.runtime.approve_plan(self.session, &hash).await?.session.mode;
        Ok(CARRY_OUT.to_owned())
    }

    /// Sends the plan back. Returns the message with the reason.
    pub(super) async fn send_back(&mut self, why: String) -> app::Result<String> {
        self.mode = self.runtime.send_plan_back(self.session).await?.session.mode;
        Ok(why)
    }
}
