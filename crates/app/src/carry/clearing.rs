//! Removes promoted entities from their old scope, unless others use them there.

use std::path::Path;

use files::disk;
use persona::{AnyEntity, Kind, Name, Scope, Stored};
use scopes::Write;

use super::Cargo;
use crate::change::check_revision;
use crate::outputs::Promoted;
use crate::rename::User;
use crate::{Author, Done, Error, Library, Result};

impl Library {
    /// Fails if an entry of a file has an error: its last valid version is in force, but out of date.
    pub(super) async fn check_valid(&self, author: &Author, from: Scope, cargo: &Cargo) -> Result<()> {
        if self.scopes.path(from).is_none() {
            return Ok(());
        }
        let write = self.scopes.write(from, author.because(None)?).await?;
        for Stored { entity, .. } in cargo.iter().filter(|stored| stored.meta.scope == from) {
            write.refuse_broken(entity.kind(), entity.name())?;
        }
        Ok(())
    }

    /// Fails if entities cannot be deleted from a scope: its file has an error, or this process or user
    /// cannot write it.
    pub(crate) async fn check_can_leave(
        &self,
        author: &Author,
        from: Scope,
        entities: impl IntoIterator<Item = &AnyEntity>,
    ) -> Result<()> {
        if self.scopes.path(from).is_none() {
            return Ok(());
        }
        let mut write = self.scopes.write(from, author.because(None)?).await?;
        for entity in entities {
            // Without a commit, nothing is deleted.
            remove(&mut write, entity.kind(), entity.name()).await?;
        }
        self.check_replaceable(from).await
    }

    /// Fails if this user cannot write a scope's existing file.
    pub(crate) async fn check_replaceable(&self, scope: Scope) -> Result<()> {
        let Some(path) = self.scopes.path(scope).map(Path::to_owned) else { return Ok(()) };
        let checked = tokio::task::spawn_blocking(move || disk::check_replaceable(&path)).await;
        Ok(checked.map_err(|source| Error::Interrupted { doing: "checking the file", source })??)
    }

    /// Deletes promoted entities from their old scope, users first. Entities that others use stay.
    pub(super) async fn clear_out(
        &self,
        author: &Author,
        cargo: &Cargo,
        message: &str,
        outcome: &mut Promoted,
    ) -> Result<()> {
        let cleared = self.clear(author, cargo, message, outcome).await;
        let Promoted { kind, name, from, to, .. } = outcome;
        let done = Done::Copied { kind: *kind, name: name.clone(), from: *from, to: *to };
        cleared.map_err(|rest| Error::Unfinished { done, rest: Box::new(rest) })
    }

    async fn clear(
        &self,
        author: &Author,
        cargo: &Cargo,
        message: &str,
        outcome: &mut Promoted,
    ) -> Result<()> {
        let from = outcome.from;
        let mut write = self.scopes.write(from, author.because(Some(message.to_owned()))?).await?;
        for Stored { entity, meta } in cargo.iter().rev().filter(|stored| stored.meta.scope == from) {
            let piece = super::entity_ref(entity);
            let stays = self.is_needed(entity, outcome).await?
                || !remove_unused(&mut write, entity.kind(), entity.name(), meta.revision).await?;
            if stays { outcome.kept.push(piece) } else { outcome.removed.push(piece) }
        }
        Ok(write.commit().await?)
    }

    /// True if other entities need an entity in its old scope.
    async fn is_needed(&self, entity: &AnyEntity, outcome: &Promoted) -> Result<bool> {
        let (kind, name) = (entity.kind(), entity.name());
        let Promoted { from, to, removed, .. } = outcome;
        let is_other = |user: &User| {
            let place = &user.place;
            let gone = removed.iter().any(|piece| piece.kind == place.kind && piece.name == place.name);
            let itself = place.kind == kind && place.name == *name;
            place.scope != *from || !(gone || itself)
        };
        let mut users = self.users_of(kind, name, *from).await?;
        users.retain(is_other);
        // An entity that was carried along stays where others use it.
        if kind != outcome.kind || *name != outcome.name {
            return Ok(!users.is_empty());
        }
        // The promoted entity itself may go if its users still see it: no scope in between has the name,
        // the new scope is not stronger than theirs, and no reference names the old scope.
        let scopes = self.scopes.scopes_of(kind, name).await?;
        let hidden = scopes.iter().any(|scope| to < scope && scope < from);
        Ok(users.iter().any(|user| hidden || user.by_scope || user.place.scope < *to))
    }
}

async fn remove(write: &mut Write, kind: Kind, name: &Name) -> Result<()> {
    if let Some(held) = write.find_any(kind, name).await? {
        write.remove(&held).await?;
    }
    Ok(())
}

/// Deletes an entity unless its scope refers to it. Returns true if the entity is gone. Fails if it
/// changed since it was copied.
async fn remove_unused(write: &mut Write, kind: Kind, name: &Name, revision: i64) -> Result<bool> {
    let Some(held) = write.find_any(kind, name).await? else { return Ok(true) };
    check_revision(kind, name, Some(revision), held.stored.meta.revision)?;
    if !write.users(&held).await?.is_empty() {
        return Ok(false);
    }
    write.remove(&held).await?;
    Ok(true)
}
