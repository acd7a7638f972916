//! Changes of an idle session, in one step.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;

use agent::Plan;
use persona::{Request, View};
use uuid::Uuid;

use super::leases::missing;
use super::{EventId, Runtime, SessionView, Subscription};
use crate::inputs::{UpdateSession, WatchSession};
use crate::{Result, SessionError, ValueError};

/// Characters of an event id that a message repeats.
const SHOWN_CHARS: usize = 80;

impl Runtime {
    /// Changes a session's persona, its model, or both: all of it or nothing. Fails while the session
    /// is busy.
    #[boxed]
    pub async fn update_session(&self, input: UpdateSession) -> Result<SessionView> {
        let UpdateSession { id, persona, model } = input;
        if persona.is_none() && model.is_none() {
            return Err(ValueError::NoneGiven { fields: &["persona", "model"] }.into());
        }
        if let Some(persona) = &persona {
            self.0.library.load(persona, None, &Request::plain(View::Detail)).await?;
        }
        if let Some(Some(model)) = &model {
            self.0.models.provider(&model.provider).await?;
        }
        self.0.at_rest(id).await?;
        let edited = self.0.store().edit_session(id, |session| {
            if let Some(persona) = persona {
                session.persona = persona;
                session.scope = None;
                session.overrides = BTreeMap::new();
            }
            if let Some(model) = model {
                session.model = model;
            }
        });
        edited.await?.ok_or_else(|| missing(id))?;
        self.session(id).await
    }

    /// The plan that a session handed over.
    #[boxed]
    pub async fn plan(&self, id: Uuid) -> Result<Plan> {
        let plan = self.session(id).await?.session.plan;
        plan.ok_or_else(|| SessionError::NoPlan(id).into())
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
