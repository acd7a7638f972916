//! Entities as they were: their history, and whole personas as a revision froze them.

use std::collections::BTreeMap;

use persona::{AnyEntity, Bundle, Kind, Name, Scope};

use super::Scopes;
use crate::catalog::{self, Catalog, PersonaState};
use crate::history::{FullRevision, Referred, Revision, RevisionRef};
use crate::state::Owner;
use crate::{Attribution, Result};

/// Definitions as a revision refers to them.
struct Frozen(BTreeMap<(Kind, Scope, Name), AnyEntity>);

impl Catalog for Frozen {
    fn find(&self, kind: Kind, scope: Scope, name: &Name) -> Option<AnyEntity> {
        self.0.get(&(kind, scope, name.clone())).cloned()
    }
}

impl Scopes {
    /// What was recorded of an entity in a scope, newest first.
    pub async fn history(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        limit: usize,
    ) -> Result<Vec<Revision>> {
        let (store, shelf) = self.shelf(scope)?;
        store.history(shelf, kind, name, limit).await
    }

    /// One revision of an entity, whole.
    pub async fn revision(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        wanted: &RevisionRef,
    ) -> Result<Option<FullRevision>> {
        let (store, shelf) = self.shelf(scope)?;
        store.revision(shelf, kind, name, wanted).await
    }

    /// Names a revision, for those who ask for it under the name that an entity has now.
    pub async fn tag(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        about: &Revision,
        tag: &str,
        by: Attribution,
    ) -> Result<()> {
        let (store, shelf) = self.shelf(scope)?;
        let guid = store.identity(shelf, kind, name).await?;
        store.tag(guid.unwrap_or(about.guid), about, tag, by).await
    }

    /// Takes a tag away; whether it was there.
    pub async fn untag(&self, scope: Scope, kind: Kind, name: &Name, tag: &str) -> Result<bool> {
        let (store, shelf) = self.shelf(scope)?;
        match store.identity(shelf, kind, name).await? {
            Some(guid) => store.untag(guid, tag).await,
            None => Ok(false),
        }
    }

    /// Forgets old revisions; see [`Store::prune`](crate::Store::prune). What tagged personas of this
    /// machine's files refer to in the database stays too; what those of others refer to is not
    /// known here.
    pub async fn prune(&self, keep: usize) -> Result<u64> {
        if self.0.local_is_database {
            return self.database().prune(keep).await;
        }
        let shared = self.local().tagged_refs(Scope::Shared).await?;
        let gone = self.database().prune_around(keep, &shared).await?;
        Ok(gone + self.local().prune(keep).await?)
    }

    /// A persona with everything that it referred to, as it was when the revision was made; it
    /// stands in the stage in which it stands now.
    pub async fn frozen(&self, scope: Scope, revision: &FullRevision) -> Result<Option<Bundle>> {
        let name = revision.entity.name().clone();
        let mut entities = BTreeMap::new();
        for wanted in &revision.refs {
            let (store, shelf) = self.shelf(wanted.scope)?;
            if let Some(then) = store.referred(shelf.origin, wanted).await? {
                entities.insert((wanted.kind, wanted.scope, wanted.name.clone()), then.entity);
            }
        }
        entities.insert((Kind::Persona, scope, name.clone()), revision.entity.clone());
        let current = self.current_stage(scope, revision).await?;
        let state = PersonaState { stage: current, ..PersonaState::default() };
        let mut bundle = catalog::build(&Frozen(entities), scope, &name, Some(state))?;
        if let Some(bundle) = &mut bundle {
            bundle.meta.revision = revision.about.revision;
            bundle.meta.updated_at = Some(revision.about.created_at);
        }
        Ok(bundle)
    }

    /// The pieces that a revision referred to, each as it was then.
    pub async fn referred(&self, revision: &FullRevision) -> Result<Vec<Referred>> {
        let mut pieces = Vec::new();
        for wanted in &revision.refs {
            let (store, shelf) = self.shelf(wanted.scope)?;
            let Some(then) = store.referred(shelf.origin, wanted).await? else { continue };
            let newest_name = store.newest_name(then.about.guid).await?;
            let newest_name = newest_name.unwrap_or_else(|| wanted.name.clone());
            pieces.push(Referred { scope: wanted.scope, then, newest_name });
        }
        Ok(pieces)
    }

    /// Where the persona stands now, under whatever name it has by now.
    async fn current_stage(&self, scope: Scope, revision: &FullRevision) -> Result<Option<Name>> {
        let (store, shelf) = self.shelf(scope)?;
        let name = store.newest_name(revision.about.guid).await?;
        let name = name.as_ref().unwrap_or_else(|| revision.entity.name());
        match scope {
            Scope::Shared => store.shared_stage(name).await,
            _ => store.kept_stage(Owner { scope, origin: shelf.origin, name }).await,
        }
    }
}
