//! Changes an entity: hold it, compare revisions, edit, check, store.

use async_recursion::async_recursion as boxed;
use persona::{AnyEntity, Entity, Kind, Meta, Name, Rename, Scope, Stored};
use scopes::Write;
use store::{Action, Held, Keep};

use crate::diff::same;
use crate::library::checked;
use crate::outputs::{EntityRef, Written};
use crate::rename::Followers;
use crate::{Author, Error, Library, Result};

/// The scope, condition and message of a change.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    pub scope: Option<Scope>,
    pub if_revision: Option<i64>,
    pub message: Option<String>,
}

/// Fails if a change was based on another revision.
pub(crate) fn check_revision(kind: Kind, name: &Name, expected: Option<i64>, actual: i64) -> Result<()> {
    match expected {
        Some(expected) if expected != actual => {
            Err(Error::Stale { kind, name: name.clone(), expected, actual })
        }
        _ => Ok(()),
    }
}

/// An entity that a change holds, and the builtins that were copied for it.
pub(crate) struct Opened<T> {
    pub(crate) held: Held<T>,
    pub(crate) copied: Vec<EntityRef>,
    /// True if the entity itself is such a copy.
    pub(crate) builtin: bool,
}

/// An edit that needs nothing but the entity.
pub(crate) type Edit = Box<dyn FnOnce(&mut AnyEntity) -> Result<()> + Send>;

/// A change between its beginning and its end. In between, the caller edits a copy of the entity.
struct Change {
    write: Write,
    opened: Opened<AnyEntity>,
    action: Action,
    message: String,
}

impl Library {
    /// Holds an entity in the scope of the write. A builtin is copied there first.
    pub(crate) async fn open_for_change<T: Keep + Entity>(
        &self,
        write: &mut Write,
        name: &Name,
        if_revision: Option<i64>,
    ) -> Result<Opened<T>> {
        let Opened { held, copied, builtin } = self.open_any(write, T::KIND, name, if_revision).await?;
        match held.of_kind() {
            Some(held) => Ok(Opened { held, copied, builtin }),
            None => Err(self.missing(T::KIND, name).await),
        }
    }

    #[boxed]
    pub(crate) async fn open_any(
        &self,
        write: &mut Write,
        kind: Kind,
        name: &Name,
        if_revision: Option<i64>,
    ) -> Result<Opened<AnyEntity>> {
        let mut copied = Vec::new();
        let held = self.hold(write, kind, name, &mut copied).await?;
        let builtin = copied.iter().any(|piece| piece.kind == kind && piece.name == *name);
        let actual = if builtin { 0 } else { held.stored.meta.revision };
        check_revision(kind, name, if_revision, actual)?;
        Ok(Opened { held, copied, builtin })
    }

    /// Changes one entity. Writes nothing if the edit changes nothing. If the edit renames the entity,
    /// references to it follow.
    pub(crate) async fn change<T: Keep + Entity>(
        &self,
        author: &Author,
        name: &Name,
        terms: Terms,
        action: Action,
        edit: impl AsyncFnOnce(&mut Write, &mut T, &mut Vec<EntityRef>) -> Result<()>,
    ) -> Result<Written> {
        let mut change = self.begin_change(author, T::KIND, name, terms, action).await?;
        let Ok(mut new) = T::try_from(change.opened.held.stored.entity.clone()) else {
            return Err(self.missing(T::KIND, name).await);
        };
        edit(&mut change.write, &mut new, &mut change.opened.copied).await?;
        self.finish_change(author, change, new.into()).await
    }

    /// The same for an entity of any kind.
    #[boxed]
    pub(crate) async fn change_any(
        &self,
        author: &Author,
        kind: Kind,
        name: &Name,
        terms: Terms,
        action: Action,
        edit: Edit,
    ) -> Result<Written> {
        let change = self.begin_change(author, kind, name, terms, action).await?;
        let mut new = change.opened.held.stored.entity.clone();
        edit(&mut new)?;
        self.finish_change(author, change, new).await
    }

    #[boxed]
    async fn begin_change(
        &self,
        author: &Author,
        kind: Kind,
        name: &Name,
        terms: Terms,
        action: Action,
    ) -> Result<Change> {
        let scope = self.scope_for_change(kind, name, terms.scope).await?;
        let message = terms.message.clone().unwrap_or_else(|| format!("{name} has a new name"));
        let mut write = self.scopes.write(scope, author.because(terms.message)?).await?;
        let opened = self.open_any(&mut write, kind, name, terms.if_revision).await?;
        Ok(Change { write, opened, action, message })
    }

    #[boxed]
    async fn finish_change(&self, author: &Author, change: Change, new: AnyEntity) -> Result<Written> {
        let Change { mut write, opened, action, message } = change;
        let Opened { held, copied, builtin } = opened;
        let Stored { entity: old, meta } = &held.stored;
        let (kind, name) = (old.kind(), old.name());
        if same(old, &new) {
            // Without a commit, a builtin that was copied is not copied after all.
            let (scope, revision) = if builtin { (Scope::Builtin, 0) } else { (meta.scope, meta.revision) };
            return Ok(Written::unchanged(kind, name.clone(), scope, revision));
        }
        checked(&new)?;
        let rename = Rename { kind, old: name.clone(), new: new.name().clone(), scope: write.scope() };
        let followers = match rename.old == rename.new {
            true => Followers::default(),
            false => self.followers(&mut write, &held, &rename).await?,
        };
        let meta = keep_any(&mut write, &held, &new, action).await?;
        followers.follow_here(&mut write, &rename).await?;
        write.commit().await?;
        let (followed, not_followed) = self.follow_elsewhere(author, followers, &rename, &message).await;
        let written = Written::changed(kind, rename.new, &meta);
        Ok(Written { copied, followed, not_followed, ..written })
    }
}

/// Replaces a held definition. A new name makes it a rename.
pub(crate) async fn keep<T: Keep>(
    write: &mut Write,
    held: &Held<T>,
    new: &T,
    action: Action,
) -> Result<Stored<T>> {
    let meta = keep_any(write, &held.to_any(), &new.clone().into(), action).await?;
    Ok(Stored { entity: new.clone(), meta })
}

pub(crate) async fn keep_any(
    write: &mut Write,
    held: &Held<AnyEntity>,
    new: &AnyEntity,
    action: Action,
) -> Result<Meta> {
    let action = if held.stored.entity.name() == new.name() { action } else { Action::Rename };
    Ok(write.replace(held, new, action).await?.meta)
}
