//! What was carried to another scope leaves the one that it was in, as far as nobody needs it there.

use std::path::Path;

use files::disk;
use persona::{AnyEntity, Scope, Stored, with_entity};
use scopes::Write;
use store::Keep;

use super::Cargo;
use crate::outputs::Promoted;
use crate::rename::User;
use crate::{Author, Done, Error, Library, Result};

impl Library {
    /// Refuses where entities could not be deleted from a scope: its file has a mistake, or it is not
    /// written to from here, or by this user.
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
            // Dropped without a commit, it leaves no trace.
            with_entity!(entity, entity => remove(&mut write, entity).await?);
        }
        self.check_replaceable(from).await
    }

    /// Refuses where this user cannot write to a scope's file, which is there.
    pub(crate) async fn check_replaceable(&self, scope: Scope) -> Result<()> {
        let Some(path) = self.scopes.path(scope).map(Path::to_owned) else { return Ok(()) };
        let checked = tokio::task::spawn_blocking(move || disk::check_replaceable(&path)).await;
        Ok(checked.map_err(|source| Error::Interrupted { doing: "checking the file", source })??)
    }

    /// Deletes what was carried from where it was, users first; what others use there stays.
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
        for Stored { entity, .. } in cargo.iter().rev().filter(|stored| stored.meta.scope == from) {
            let piece = super::piece(entity);
            let stays = self.is_needed(entity, outcome).await?
                || !with_entity!(entity, entity => remove_unused(&mut write, entity).await?);
            if stays { outcome.kept.push(piece) } else { outcome.removed.push(piece) }
        }
        Ok(write.commit().await?)
    }

    /// Whether others would miss an entity of the scope that it was carried from.
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
        // What merely came along is not taken from those who have not asked.
        if kind != outcome.kind || *name != outcome.name {
            return Ok(!users.is_empty());
        }
        // What was asked for goes where the others see it too: not past a scope in between that
        // has the name, not where it is stronger than they are, and `scope:name` says where it was.
        let scopes = self.scopes.scopes_of(kind, name).await?;
        let hidden = scopes.iter().any(|scope| to < scope && scope < from);
        Ok(users.iter().any(|user| hidden || user.by_scope || user.place.scope < *to))
    }
}

async fn remove<T: Keep>(write: &mut Write, like: &T) -> Result<()> {
    if let Some(held) = write.find::<T>(like.name()).await? {
        write.remove(&held).await?;
    }
    Ok(())
}

/// Deletes an entity that nothing of its scope refers to; whether it is gone.
async fn remove_unused<T: Keep>(write: &mut Write, like: &T) -> Result<bool> {
    let Some(held) = write.find::<T>(like.name()).await? else { return Ok(true) };
    if !write.users(&held).await?.is_empty() {
        return Ok(false);
    }
    write.remove(&held).await?;
    Ok(true)
}
