//! Undoing the last message of a session.

use async_recursion::async_recursion as boxed;
use uuid::Uuid;

use super::Runtime;
use super::leases::busy;
use crate::{Result, SessionError};

/// Retries while others add to the log.
const UNDO_TRIES: usize = 5;

impl Runtime {
    /// Takes back the last message and everything after it. Returns the message. Files stay as they
    /// are.
    #[boxed]
    pub async fn undo(&self, id: Uuid) -> Result<String> {
        for _ in 0..UNDO_TRIES {
            let session = self.runner.at_rest(id).await?;
            let Some(message) = self.runner.log.last_message(id).await? else {
                return Err(SessionError::NothingToUndo(id).into());
            };
            if self.runner.log.take_back(id, &message, session.last_seq).await? {
                return Ok(message.content);
            }
        }
        Err(busy(id))
    }
}
