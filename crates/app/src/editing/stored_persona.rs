//! A persona in the shape of `/api/storage`.

use async_recursion::async_recursion as boxed;
use chrono::{DateTime, Utc};
use persona::{Meta, Name, Persona, Stored};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::inputs::ByPersonaId;
use crate::{Result, Runtime};

/// A persona as the editor's page stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredPersona {
    pub id: Name,
    /// The display name, or the id if it has none.
    pub name: String,
    /// Its own system prompt, without those of its bases.
    pub system_prompt: String,
    pub test_input_ids: Vec<Name>,
    /// The current chat with the editing agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_chat_session_id: Option<Uuid>,
    /// Absent for builtins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<DateTime<Utc>>,
    /// Absent for builtins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

impl Runtime {
    /// A persona with its current editing session.
    #[boxed]
    pub async fn stored_persona(&self, input: &ByPersonaId) -> Result<StoredPersona> {
        let Stored { entity, meta } = self.library().edited_persona(&input.persona_id).await?;
        let session = self.editing_session(meta.scope, &entity.name).await?;
        let Persona { name: id, display_name, system_prompt, test_inputs, .. } = entity;
        let Meta { created_at, updated_at, .. } = meta;
        Ok(StoredPersona {
            name: display_name.unwrap_or_else(|| id.to_string()),
            id,
            system_prompt: system_prompt.unwrap_or_default(),
            test_input_ids: test_inputs,
            agent_chat_session_id: session.map(|session| session.id),
            created_at,
            updated_at,
        })
    }
}
