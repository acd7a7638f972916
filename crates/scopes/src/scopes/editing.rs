//! The sessions in which personas are edited. The link is state: it makes no revision and no event.

use persona::{Name, Scope};
use uuid::Uuid;

use super::Scopes;
use crate::Result;

impl Scopes {
    /// The editing session of a persona of a scope. It may be gone.
    pub async fn editing_session(&self, scope: Scope, name: &Name) -> Result<Option<Uuid>> {
        let (store, owner) = self.state_of(scope, name);
        Ok(store.editing_session(owner).await?)
    }

    /// Links a persona to another editing session than `known`. False if it has yet another one by now.
    pub async fn link_editing_session(
        &self,
        scope: Scope,
        name: &Name,
        known: Option<Uuid>,
        session: Uuid,
    ) -> Result<bool> {
        let (store, owner) = self.state_of(scope, name);
        Ok(store.link_editing_session(owner, known, session).await?)
    }
}
