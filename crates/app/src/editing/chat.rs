//! The chat about a persona: a message, a fresh start, what was said.

use std::collections::BTreeMap;

use agent::{ApprovalPolicy, Mode, Note, Session, Turn, TurnBody};
use async_recursion::async_recursion as boxed;
use chrono::{DateTime, Utc};
use persona::{Kind, Name, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::journal::{EditingEvent, Knowledge};
use super::run::EditingRun;
use super::undo::UndoneTurn;
use crate::inputs::{ByPersonaId, EditorMessage};
use crate::running::{EditingMessage, SendOptions, Subscription, busy, check_text, new_session};
use crate::{Author, Error, Result, Runtime, SessionError};

/// The persona that edits others.
pub(crate) const EDITOR: &str = "persona_editor";

/// Retries while others link another session.
const LINK_TRIES: usize = 5;

/// A fresh conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClearedChat {
    /// The new session.
    pub session_id: Uuid,
}

/// Everything that was said in the current conversation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChatHistory {
    pub turns: Vec<ChatTurn>,
}

/// A turn of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ChatTurn {
    User {
        id: Uuid,
        content: String,
        created_at: DateTime<Utc>,
    },
    AssistantText {
        id: Uuid,
        content: String,
        created_at: DateTime<Utc>,
    },
    ToolCall {
        id: Uuid,
        tool_use_id: String,
        tool_name: String,
        input: Map<String, Value>,
        created_at: DateTime<Utc>,
    },
    ToolResult {
        id: Uuid,
        tool_use_id: String,
        output: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        created_at: DateTime<Utc>,
    },
}

impl ChatTurn {
    /// `None` for a summary, which only the model reads.
    fn of(turn: Turn) -> Option<Self> {
        let Turn { id, created_at, body, .. } = turn;
        Some(match body {
            TurnBody::User { content } => Self::User { id, content, created_at },
            TurnBody::AssistantText { content } => Self::AssistantText { id, content, created_at },
            TurnBody::ToolCall { call, .. } => Self::ToolCall {
                id,
                tool_use_id: call.id,
                tool_name: call.name,
                input: call.input,
                created_at,
            },
            TurnBody::ToolResult { tool_use_id, output, is_error, .. } => {
                Self::ToolResult { id, tool_use_id, output, is_error: is_error.then_some(true), created_at }
            }
            TurnBody::Summary { .. } => return None,
        })
    }
}

impl Runtime {
    /// Sends a message about a persona to the editing agent. Its tools run without asking: they act on the
    /// persona and its pieces only, and every change can be undone. The run goes on without viewers, so that
    /// a lost connection leaves no edit half done.
    #[boxed]
    pub async fn chat_with_editor(&self, author: &Author, input: EditorMessage) -> Result<Subscription> {
        let EditorMessage { persona_id, message, plan } = input;
        check_text("message", &message)?;
        let session = self.open_editing_session(&persona_id).await?;
        let mode = if plan { Mode::Plan } else { Mode::Build };
        if session.mode != mode {
            // A run under way keeps its mode.
            self.check_idle(session.id).await?;
            self.set_mode(session.id, mode).await?;
        }
        let options = SendOptions { policy: ApprovalPolicy::All, detached: true, max_tool_rounds: None };
        let editing = EditingMessage { author: author.clone(), plan };
        self.send_for(session.id, message, options, Some(editing)).await
    }

    /// The current conversation about a persona, or a new one.
    #[boxed]
    pub async fn open_editor_chat(&self, input: &ByPersonaId) -> Result<Session> {
        self.open_editing_session(&input.persona_id).await
    }

    /// Links a persona to a new conversation. The old one stops, and stays among the sessions.
    #[boxed]
    pub async fn clear_editor_chat(&self, input: &ByPersonaId) -> Result<ClearedChat> {
        let name = &input.persona_id;
        let scope = self.library().resolved(Kind::Persona, name).await?;
        for _ in 0..LINK_TRIES {
            let known = self.library().scopes.editing_session(scope, name).await?;
            if let Some(session) = self.link_new_session(scope, name, known).await? {
                if let Some(known) = known.filter(|known| *known != session.id) {
                    self.stop_old_chat(known).await?;
                }
                return Ok(ClearedChat { session_id: session.id });
            }
        }
        Err(self.link_busy(scope, name).await)
    }

    /// The turns of the current conversation about a persona; none if it was never edited by chat.
    #[boxed]
    pub async fn editor_chat_history(&self, input: &ByPersonaId) -> Result<ChatHistory> {
        let scope = self.library().resolved(Kind::Persona, &input.persona_id).await?;
        let Some(session) = self.editing_session(scope, &input.persona_id).await? else {
            return Ok(ChatHistory { turns: Vec::new() });
        };
        let view = self.session(session.id).await?;
        Ok(ChatHistory { turns: view.turns.into_iter().filter_map(ChatTurn::of).collect() })
    }

    /// Takes back the last turn of the editing agent that changed something. Fails while the agent is at
    /// work.
    #[boxed]
    pub async fn undo_editor_turn(&self, author: &Author, input: &ByPersonaId) -> Result<UndoneTurn> {
        let name = &input.persona_id;
        let scope = self.library().resolved(Kind::Persona, name).await?;
        let session = self.editing_session(scope, name).await?;
        let session = session.ok_or_else(|| SessionError::NoEdits { persona: name.clone() })?;
        self.check_idle(session.id).await?;
        let reversals = Knowledge::of(self.notes(session.id).await?).last_turn();
        if reversals.is_empty() {
            return Err(SessionError::NoEdits { persona: name.clone() }.into());
        }
        let run = EditingRun::new(
            self.clone(),
            session.id,
            name.clone(),
            Some(author.clone()),
            "undo the last turn of the editing agent",
        );
        let (undone, entities) = self.library().take_back(&run.author, &run.reason, reversals).await?;
        let event = EditingEvent::TurnUndone { entities }.to_json();
        self.add_note(session.id, Note::ToolEvent { tool_use_id: String::new(), event }).await?;
        Ok(undone)
    }

    /// The current editing session of a persona, if it is still there.
    pub(super) async fn editing_session(&self, scope: Scope, name: &Name) -> Result<Option<Session>> {
        match self.library().scopes.editing_session(scope, name).await? {
            Some(id) => Ok(self.find_session(id).await?.filter(is_editing)),
            None => Ok(None),
        }
    }

    /// The current editing session of a persona, or a new one.
    async fn open_editing_session(&self, name: &Name) -> Result<Session> {
        let scope = self.library().resolved(Kind::Persona, name).await?;
        for _ in 0..LINK_TRIES {
            let known = self.library().scopes.editing_session(scope, name).await?;
            if let Some(id) = known
                && let Some(session) = self.find_session(id).await?.filter(is_editing)
            {
                return self.brought_up_to_date(session, name).await;
            }
            if let Some(session) = self.link_new_session(scope, name, known).await? {
                return Ok(session);
            }
        }
        Err(self.link_busy(scope, name).await)
    }

    /// Creates an editing session and links it, unless another one than `known` is linked by now.
    async fn link_new_session(
        &self,
        scope: Scope,
        name: &Name,
        known: Option<Uuid>,
    ) -> Result<Option<Session>> {
        let (editor, of) = self.editor().await?;
        let session = Session { edits: Some(name.clone()), ..new_session(editor, Some(of), BTreeMap::new()) };
        self.store_session(&session).await?;
        if self.library().scopes.link_editing_session(scope, name, known, session.id).await? {
            return Ok(Some(session));
        }
        self.delete_session(session.id).await?;
        Ok(None)
    }

    /// The persona may have another name by now, and the editor another scope.
    async fn brought_up_to_date(&self, session: Session, name: &Name) -> Result<Session> {
        let (_, of) = self.editor().await?;
        if session.edits.as_ref() == Some(name) && session.scope == Some(of) {
            return Ok(session);
        }
        let name = name.clone();
        self.edit_session(session.id, move |session| {
            session.edits = Some(name);
            session.scope = Some(of);
        })
        .await
    }

    /// The editor and its scope. A project's one is not used: a project is not the user's own, and the
    /// editor's tools run without asking.
    async fn editor(&self) -> Result<(Name, Scope)> {
        let Ok(editor) = Name::parse(EDITOR) else { unreachable!("it is a name") };
        let found = self.library().scopes.scopes_of(Kind::Persona, &editor).await?;
        let of = found.into_iter().find(|scope| *scope != Scope::Project).unwrap_or(Scope::Builtin);
        Ok((editor, of))
    }

    /// Stops what a cleared conversation still does.
    async fn stop_old_chat(&self, id: Uuid) -> Result<()> {
        match self.cancel(id).await {
            Err(Error::Session(SessionError::Unknown(_))) => Ok(()),
            stopped => stopped.map(drop),
        }
    }

    async fn link_busy(&self, scope: Scope, name: &Name) -> Error {
        match self.library().scopes.editing_session(scope, name).await {
            Ok(id) => busy(id.unwrap_or_default()),
            Err(error) => error.into(),
        }
    }
}

/// False for a session that was given another persona since.
fn is_editing(session: &Session) -> bool {
    session.edits.is_some()
}
