//! Changing an idle session.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeMap;

use agent::{Mode, Session};
use llm::ModelRef;
use persona::{AssemblyRequest, Name, Scope, View};
use uuid::Uuid;

use super::leases::missing;
use super::{Runtime, SessionView};
use crate::inputs::UpdateSession;
use crate::{Result, ValueError};

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
            self.library().load(persona, None, &AssemblyRequest::plain(View::Detail)).await?;
        }
        if let Some(Some(model)) = &model {
            self.runner.starter.models.provider(&model.provider).await?;
        }
        self.runner.at_rest(id).await?;
        let edited = self.runner.sessions.edit(id, |session| {
            if let Some(persona) = persona {
                session.persona = persona;
                session.scope = None;
                session.overrides = BTreeMap::new();
                session.edits = None;
            }
            if let Some(model) = model {
                session.model = model;
            }
        });
        edited.await?.ok_or_else(|| missing(id))?;
        self.session(id).await
    }

    /// Changes the mode. In a run that is under way it holds from the next call of the model, and for
    /// every tool that has not begun.
    #[boxed]
    pub async fn set_mode(&self, id: Uuid, mode: Mode) -> Result<SessionView> {
        if !self.runner.tree.set_mode(id, mode).await? {
            return Err(missing(id));
        }
        self.session(id).await
    }

    /// Gives a session another persona.
    #[boxed]
    pub async fn set_persona(&self, id: Uuid, persona: Name, scope: Option<Scope>) -> Result<Session> {
        self.library().load(&persona, scope, &AssemblyRequest::plain(View::Detail)).await?;
        self.runner.at_rest(id).await?;
        let edited = self.runner.sessions.edit(id, |session| {
            session.persona = persona;
            session.scope = scope;
            session.overrides = BTreeMap::new();
            session.edits = None;
        });
        edited.await?.ok_or_else(|| missing(id))
    }

    /// Chooses the model from now on. None leaves the choice to the persona.
    #[boxed]
    pub async fn set_model(&self, id: Uuid, model: Option<ModelRef>) -> Result<Session> {
        if let Some(model) = &model {
            self.runner.starter.models.provider(&model.provider).await?;
        }
        self.runner.at_rest(id).await?;
        let edited = self.runner.sessions.edit(id, |session| session.model = model);
        edited.await?.ok_or_else(|| missing(id))
    }
}
