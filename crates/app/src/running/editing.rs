//! The runtime's side of editing sessions.

use std::sync::Arc;

use agent::{Note, Session, SessionStatus};
use tools::ToolSource;
use uuid::Uuid;

use super::leases::{busy, missing};
use super::record::noted;
use super::starter::{Begin, RunStarter, Starting};
use super::{Runtime, SessionRunner};
use crate::editing::{EditingRun, EditorTools, fill_in};
use crate::{Author, Result};

/// How the message of an editing session was sent.
#[derive(Debug, Clone)]
pub(crate) struct EditingMessage {
    /// The author of the changes.
    pub(crate) author: Author,
    /// True if the agent only proposes changes: its tools write nothing, whatever mode the session is
    /// switched to.
    pub(crate) plan: bool,
}

impl Runtime {
    pub(crate) async fn find_session(&self, id: Uuid) -> Result<Option<Session>> {
        Ok(self.runner.sessions.session(id).await?)
    }

    /// Fails while a session is busy.
    pub(crate) async fn check_idle(&self, id: Uuid) -> Result<()> {
        match self.runner.at_rest(id).await?.status {
            SessionStatus::Idle => Ok(()),
            SessionStatus::Running | SessionStatus::Waiting => Err(busy(id)),
        }
    }

    pub(crate) async fn store_session(&self, session: &Session) -> Result<()> {
        Ok(self.runner.sessions.create(session).await?)
    }

    /// Changes an idle session.
    pub(crate) async fn edit_session(
        &self,
        id: Uuid,
        edit: impl FnOnce(&mut Session) + Send,
    ) -> Result<Session> {
        self.runner.at_rest(id).await?;
        self.runner.sessions.edit(id, edit).await?.ok_or_else(|| missing(id))
    }

    pub(crate) async fn notes(&self, id: Uuid) -> Result<Vec<Note>> {
        Ok(self.runner.sessions.notes(id).await?)
    }

    /// Adds a note to the log of an idle session.
    pub(crate) async fn add_note(&self, id: Uuid, note: Note) -> Result<()> {
        match self.runner.log.add_note(id, &noted(note)).await? {
            true => Ok(()),
            false => Err(missing(id)),
        }
    }
}

impl RunStarter {
    /// The tools of an editing session; `None` for all others.
    pub(super) async fn editor_tools(
        &self,
        runner: &Arc<SessionRunner>,
        session: &Session,
        starting: &Starting,
    ) -> Result<Option<EditorTools>> {
        let Some(persona) = session.edits.clone() else { return Ok(None) };
        let message = match &starting.begin {
            Begin::Message { content, .. } => content.clone(),
            Begin::Resume => {
                let last = runner.log.last_message(session.id).await?;
                last.map(|message| message.content).unwrap_or_default()
            }
        };
        let (author, plan) = match &starting.editing {
            Some(EditingMessage { author, plan }) => (Some(author.clone()), *plan),
            None => (None, false),
        };
        let runtime = Runtime { runner: Arc::clone(runner) };
        let run = EditingRun::new(runtime, session.id, persona, author, &message);
        let run = if plan { run.only_planning() } else { run };
        Ok(Some(EditorTools::new(run, Arc::clone(&self.library_tools))))
    }

    /// Prepares the editor: its tools are those of the editor alone, and its prompt names the persona.
    pub(super) async fn prepare_editor(
        &self,
        session: &Session,
        tools: EditorTools,
    ) -> Result<(super::prepare::Prepared, tools::Toolbox)> {
        let placeholders = tools.placeholders().await?;
        let source: Arc<dyn ToolSource> = Arc::new(tools);
        let (mut persona, provided) = self.prepare(session, &[source]).await?;
        persona.prompt = fill_in(&persona.prompt, &placeholders);
        let instruction = persona.plan_instruction.take();
        persona.plan_instruction = instruction.map(|text| fill_in(&text, &placeholders));
        Ok((persona, provided))
    }
}
