//! The past of entities: their history, and whole personas as frozen by a revision.

use std::collections::BTreeMap;

use builtins::Builtins;
use persona::{AnyEntity, Bundle, Kind, Name, Part, Scope};

use super::{Overrides, Scopes};
use persona::catalog::{self, Catalog, PersonaState};
use store::put_override;
use store::{Attribution, Owner};
use store::{Forgotten, FullRevision, Ref, Referred, Revision, RevisionRef, TagOutcome, Tagging};

use crate::{Error, Result};

/// Definitions at the revisions that a revision refers to.
struct Frozen(BTreeMap<(Scope, Kind, Name), AnyEntity>);

impl Catalog for Frozen {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        match scope {
            Scope::Builtin => Builtins::get().find(kind, name),
            _ => self.0.get(&(scope, kind, name.clone())).cloned(),
        }
    }
}

/// A piece by kind, name and scope.
pub type PieceKey = (Kind, Name, Scope);

impl Scopes {
    /// The history of an entity in a scope, newest first.
    pub async fn history(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        limit: usize,
    ) -> Result<Vec<Revision>> {
        let (store, history_key) = self.history_key(scope)?;
        Ok(store.history(history_key, kind, name, limit).await?)
    }

    /// One revision of an entity, with its definition.
    pub async fn revision(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        wanted: &RevisionRef,
    ) -> Result<Option<FullRevision>> {
        let (store, history_key) = self.history_key(scope)?;
        Ok(store.revision(history_key, kind, name, wanted).await?)
    }

    /// The reference that names a revision under an entity's name.
    pub async fn reference(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        about: &Revision,
    ) -> Result<RevisionRef> {
        let number = RevisionRef::Number(about.revision);
        let meant = self.revision(scope, kind, name, &number).await?;
        let shadowed = meant.is_none_or(|meant| meant.about.guid != about.guid);
        Ok(Revision { shadowed, ..about.clone() }.reference())
    }

    /// Tags a revision, for lookups under the current name of the entity.
    pub async fn tag(
        &self,
        scope: Scope,
        kind: Kind,
        name: &Name,
        about: &Revision,
        tag: impl Into<Tagging<'_>>,
        by: Attribution,
    ) -> Result<TagOutcome> {
        let (store, history_key) = self.history_key(scope)?;
        let guid = store.identity(history_key, kind, name).await?;
        let mut refs = store.refs(about).await?;
        if scope.is_file() {
            // The shared library has a history of its own, and may be another one later.
            for wanted in refs.iter_mut().filter(|wanted| wanted.scope == Scope::Shared) {
                wanted.copy = Some(self.as_it_was(wanted, about).await?.to_json());
            }
        }
        Ok(store.tag(guid.unwrap_or(about.guid), about, &refs, tag.into(), by).await?)
    }

    /// Removes a tag. False if there was none.
    pub async fn untag(&self, scope: Scope, kind: Kind, name: &Name, tag: &str) -> Result<bool> {
        let (store, history_key) = self.history_key(scope)?;
        match store.identity(history_key, kind, name).await? {
            Some(guid) => Ok(store.untag(guid, tag).await?),
            None => Ok(false),
        }
    }

    /// Forgets old revisions; see [`Store::prune`](store::Store::prune). Revisions in the database that
    /// tagged personas of this machine's files refer to stay too. Files of other machines are not known
    /// here; they have copies.
    pub async fn prune(&self, keep: usize) -> Result<u64> {
        if self.0.local_is_database {
            return Ok(self.database().prune(keep).await?);
        }
        let shared = self.local().tagged_refs(Scope::Shared).await?;
        let gone = self.database().prune_around(keep, &shared).await?;
        Ok(gone + self.local().prune(keep).await?)
    }

    /// A persona with all its references as of a revision. Its stage is the current one.
    pub async fn frozen(&self, scope: Scope, revision: &FullRevision) -> Result<Option<Bundle>> {
        let name = revision.entity.name().clone();
        let mut entities = BTreeMap::new();
        for wanted in &revision.refs {
            let then = self.as_it_was(wanted, &revision.about).await?;
            entities.insert((wanted.scope, wanted.kind, wanted.name.clone()), then);
        }
        entities.insert((scope, Kind::Persona, name.clone()), revision.entity.clone());
        let current = self.current_stage(scope, revision).await?;
        let state = PersonaState { stage: current, ..PersonaState::default() };
        let mut bundle = catalog::build(&Frozen(entities), scope, &name, state)?;
        if let Some(bundle) = &mut bundle {
            bundle.meta.revision = revision.about.revision;
            bundle.meta.updated_at = Some(revision.about.created_at);
        }
        Ok(bundle)
    }

    /// Everything that a revision refers to, as it was then. `None` for what no history has any more.
    pub async fn pieces_then(&self, revision: &FullRevision) -> Result<Vec<(PieceKey, Option<AnyEntity>)>> {
        let mut pieces = Vec::with_capacity(revision.refs.len());
        for wanted in &revision.refs {
            let then = match self.as_it_was(wanted, &revision.about).await {
                Err(Error::Store(store::Error::Forgotten { .. })) => None,
                then => Some(then?),
            };
            pieces.push(((wanted.kind, wanted.name.clone(), wanted.scope), then));
        }
        Ok(pieces)
    }

    /// Gives a frozen persona the parts that a call names. They are the caller's, and resolve to the current
    /// parts even if the persona itself is gone.
    pub async fn override_frozen(&self, bundle: &mut Bundle, overrides: &Overrides) -> Result<()> {
        for name in overrides.values() {
            match self.get::<Part>(name, None).await? {
                Some(part) if part.meta.scope == Scope::Shared => bundle.override_parts.push(part.entity),
                Some(part) => put_override(bundle, part.entity, part.meta.scope),
                None => {}
            }
        }
        Ok(())
    }

    /// The pieces that a revision refers to, from a copy or from a history of this machine. Without them the
    /// revision is incomplete.
    async fn as_it_was(&self, wanted: &Ref, about: &Revision) -> Result<AnyEntity> {
        if let Some(copied) = wanted.copied()? {
            return Ok(copied);
        }
        if let Some(then) = self.recorded_there(wanted).await? {
            return Ok(then.entity);
        }
        // The shared library may have been this machine's own when the revision was made.
        let elsewhere = match wanted.guid {
            Some(_) => self.local().referred("", wanted).await?,
            None => self.local().referred_anywhere(wanted).await?,
        };
        if let Some(then) = elsewhere {
            return Ok(then.entity);
        }
        let piece = (wanted.scope, wanted.kind, wanted.name.clone());
        Err(store::Error::Forgotten { revision: about.revision, piece: Some(piece) }.into())
    }

    /// The pieces that a revision refers to, if the history of its scope has them.
    async fn recorded_there(&self, wanted: &Ref) -> Result<Option<FullRevision>> {
        match wanted.scope.is_file() {
            true => {
                let origin = self.file(wanted.scope).map_or("", |file| file.origin.as_str());
                Ok(self.local().referred(origin, wanted).await?)
            }
            false => Ok(self.database().referred("", wanted).await?),
        }
    }

    /// True if a piece is available as of a revision, from a copy or a history.
    async fn is_as_it_was(&self, wanted: &Ref, about: &Revision) -> Result<bool> {
        let then = match self.as_it_was(wanted, about).await {
            Err(Error::Store(store::Error::Forgotten { .. })) => return Ok(false),
            then => then?,
        };
        let now = self.get_any(wanted.kind, &wanted.name, Some(wanted.scope)).await?;
        Ok(now.is_some_and(|now| now.entity == then))
    }

    /// The pieces of a revision as they were then, and those that no history has any more.
    pub async fn referred(&self, revision: &FullRevision) -> Result<(Vec<Referred>, Vec<Forgotten>)> {
        let (mut pieces, mut forgotten) = (Vec::new(), Vec::new());
        for wanted in &revision.refs {
            let Some(then) = self.recorded_there(wanted).await? else {
                let Ref { kind, name, scope, .. } = wanted.clone();
                if !self.is_as_it_was(wanted, &revision.about).await? {
                    forgotten.push(Forgotten { scope, kind, name });
                }
                continue;
            };
            let store = if wanted.scope.is_file() { self.local() } else { self.database() };
            let name_now = store.name_now(then.about.guid).await?;
            pieces.push(Referred { scope: wanted.scope, then, name_now });
        }
        Ok((pieces, forgotten))
    }

    /// The current stage of the persona, whatever its name is now.
    async fn current_stage(&self, scope: Scope, revision: &FullRevision) -> Result<Option<Name>> {
        let (store, history_key) = self.history_key(scope)?;
        let name = store.newest_name(revision.about.guid).await?;
        let name = name.as_ref().unwrap_or_else(|| revision.entity.name());
        Ok(match scope {
            Scope::Shared => store.shared_stage(name).await?,
            _ => store.stored_stage(Owner { scope, origin: history_key.origin, name }).await?,
        })
    }
}
