//! A plan was handed over: the user decides what comes of it.

use agent::Mode;

use super::Chat;
use crate::ask::{self, Choice};
use crate::failure::Result;
use crate::output::Output;

/// What an approved plan is followed by.
const CARRY_OUT: &str = "Carry out the plan.";

#[derive(Debug, Clone, Copy)]
enum Decision {
    Approve,
    SendBack,
    KeepPlanning,
}

impl Chat<'_> {
    /// Asks; the message that follows from the answer.
    pub(super) async fn decide_plan(&mut self, output: &mut Output) -> Result<Option<String>> {
        let choices = vec![
            Choice::new("Approve it: switch to build and carry it out", Decision::Approve),
            Choice::new("Send it back, and say why", Decision::SendBack),
            Choice::new("Keep planning", Decision::KeepPlanning),
        ];
        // Whoever breaks the question off has not decided.
        let decision = ask::choose("What comes of this plan?", choices, 0, output).await;
        match decision.unwrap_or(Decision::KeepPlanning) {
            Decision::Approve => Ok(Some(self.approve().await?)),
            Decision::SendBack => {
                let why = ask::text("What should be different?", "it is said to the persona", output).await;
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

    /// Approves the plan; what is said to have it carried out.
    pub(super) async fn approve(&mut self) -> app::Result<String> {
        self.mode = self.runtime.decide_plan(self.session, true).await?.session.mode;
        Ok(CARRY_OUT.to_owned())
    }

    /// Sends the plan back; what is said to have it changed.
    pub(super) async fn send_back(&mut self, why: String) -> app::Result<String> {
        let view = self.runtime.decide_plan(self.session, false).await?;
        if view.session.mode != Mode::Plan {
            self.runtime.set_mode(self.session, Mode::Plan).await?;
        }
        self.mode = Mode::Plan;
        Ok(why)
    }
}
