//! Sending messages, and watching their answers.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;

use agent::{ApprovalPolicy, RunOptions, limits};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::editing::EditingMessage;
use super::leases::missing;
use super::starter::{Begin, Starting};
use super::subscription::Until;
use super::{EventId, Runtime, Subscription};
use crate::inputs::WatchSession;
use crate::{Result, SessionError, ValueError};

/// Characters of an event id that a message repeats.
const SHOWN_CHARS: usize = 80;

/// How a message is answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct SendOptions {
    pub policy: ApprovalPolicy,
    /// Continues without viewers.
    pub detached: bool,
    /// Replaces the persona's own limit.
    pub max_tool_rounds: Option<u32>,
}

impl Runtime {
    /// Sends a message to a session. The subscription yields the events of its run. Fails for an editing
    /// session, whose messages come with an author and a mode of their own.
    #[boxed]
    pub async fn send(&self, id: Uuid, content: String, options: SendOptions) -> Result<Subscription> {
        check_message(&content)?;
        let session = self.runner.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        if let Some(persona) = session.edits {
            return Err(SessionError::OfEditor { session: id, persona }.into());
        }
        self.send_for(id, content, options, None).await
    }

    /// The same, for the editing agent if `editing` says how.
    #[boxed]
    pub(crate) async fn send_for(
        &self,
        id: Uuid,
        content: String,
        options: SendOptions,
        editing: Option<EditingMessage>,
    ) -> Result<Subscription> {
        let SendOptions { policy, detached, max_tool_rounds } = options;
        let session = self.runner.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        self.runner.end_if_cut_off(&session).await?;
        let live = self.runner.tree.join_live(&session, None).await?;
        // Watch first: a run without a viewer would be cancelled.
        let watched = live.watch();
        let starting = Starting {
            begin: Begin::Message { content, options: RunOptions { policy, max_tool_rounds } },
            detached,
            parent: None,
            cancel: CancellationToken::new(),
            editing,
        };
        let (driver, seq) = self.runner.begin(session, starting).await?;
        let after = EventId::of_entry(seq);
        let subscription = Subscription::new(Arc::clone(&self.runner), watched, after, Until::Done);
        self.runner.spawn(driver);
        Ok(subscription)
    }

    /// A session's events after a place, then live ones.
    pub async fn events(&self, id: Uuid, after: Option<EventId>) -> Result<Subscription> {
        self.subscribe(id, after, Until::Dropped).await
    }

    /// The events of a run again, to its end: those after the message that began it.
    pub async fn follow_run(&self, id: Uuid, message: i64) -> Result<Subscription> {
        self.subscribe(id, Some(EventId::of_entry(message)), Until::Done).await
    }

    #[boxed]
    async fn subscribe(&self, id: Uuid, after: Option<EventId>, until: Until) -> Result<Subscription> {
        let session = self.runner.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        let live = self.runner.tree.join_live(&session, None).await?;
        let after = after.unwrap_or(EventId::of_entry(session.last_seq));
        let mut subscription = Subscription::new(Arc::clone(&self.runner), live.watch(), after, until);
        subscription.read_log().await?;
        Ok(subscription)
    }

    /// A session's events after the one that the viewer saw last. Fails if the session has not come
    /// that far: a viewer that waited there would miss everything until then.
    #[boxed]
    pub async fn watch(&self, input: WatchSession) -> Result<Subscription> {
        let WatchSession { id, after } = input;
        let after = match after.as_deref().map(str::trim).filter(|after| !after.is_empty()) {
            None => None,
            Some(text) => Some(event_id(text)?),
        };
        if let Some(after) = after {
            let last = self.session(id).await?.session.last_seq;
            if after.seq > last {
                return Err(ValueError::FutureEvent { session: id, after: after.to_string(), last }.into());
            }
        }
        self.events(id, after).await
    }
}

pub(super) fn check_message(content: &str) -> Result<()> {
    check_text("content", content)
}

/// Fails if the text of a message is empty or too long.
pub(crate) fn check_text(field: &'static str, text: &str) -> Result<()> {
    let most = limits::MESSAGE_BYTES;
    if text.trim().is_empty() {
        return Err(ValueError::Empty { field }.into());
    }
    if text.len() > most {
        return Err(ValueError::TooLong { field, most, length: text.len() }.into());
    }
    Ok(())
}

fn event_id(text: &str) -> Result<EventId> {
    let id = text.parse().ok().filter(|id: &EventId| id.seq >= 0);
    id.ok_or_else(|| {
        let shown: String = text.chars().take(SHOWN_CHARS).collect();
        ValueError::EventId { text: shown }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_is_a_place_in_the_log() {
        let place = |seq, delta| Some(EventId { seq, delta });
        assert_eq!(event_id("12").ok(), place(12, 0));
        assert_eq!(event_id("12.3").ok(), place(12, 3));
        assert_eq!(event_id("0").ok(), place(0, 0));
        for wrong in ["x", "-1", "1.-1", "1.2.3", "99999999999999999999", "1.99999999999", "é"] {
            let refused = event_id(wrong).expect_err("no id").to_string();
            assert!(refused.contains("12.3"), "{wrong}: {refused}");
        }
    }
}
