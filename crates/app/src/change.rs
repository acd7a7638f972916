//! Changes an entity: hold it, compare revisions, edit, check, store.

use persona::{Kind, Name, Rename, Scope};
use scopes::Write;
use store::{Action, Held, Keep};

use crate::diff::same;
use crate::library::checked;
use crate::outputs::{Piece, Written};
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
    pub(crate) copied: Vec<Piece>,
    /// True if the entity itself is such a copy.
    pub(crate) builtin: bool,
}

impl Library {
    /// Holds an entity in the scope of the write. A builtin is copied there first.
    pub(crate) async fn open_for_change<T: Keep>(
        &self,
        write: &mut Write,
        name: &Name,
        if_revision: Option<i64>,
    ) -> Result<Opened<T>> {
        let mut copied = Vec::new();
        let held = self.hold::<T>(write, name, &mut copied).await?;
        let builtin = copied.iter().any(|piece| piece.kind == T::KIND && piece.name == *name);
        let actual = if builtin { 0 } else { held.stored.meta.revision };
        check_revision(T::KIND, name, if_revision, actual)?;
        Ok(Opened { held, copied, builtin })
    }

    /// Changes one entity. Writes nothing if the edit changes nothing. If the edit renames the entity,
    /// references to it follow.
    pub(crate) async fn change<T: Keep>(
        &self,
        author: &Author,
        name: &Name,
        terms: Terms,
        action: Action,
        edit: impl AsyncFnOnce(&mut Write, &mut T, &mut Vec<Piece>) -> Result<()>,
    ) -> Result<Written> {
        let scope = self.scope_for_change(T::KIND, name, terms.scope).await?;
        let message = terms.message.clone().unwrap_or_else(|| format!("{name} has a new name"));
        let mut write = self.scopes.write(scope, author.because(terms.message)?).await?;
        let Opened { held, mut copied, builtin } =
            self.open_for_change::<T>(&mut write, name, terms.if_revision).await?;
        let old = &held.stored;
        let mut new = old.entity.clone();
        edit(&mut write, &mut new, &mut copied).await?;
        if same(&old.entity.clone().into(), &new.clone().into()) {
            // Without a commit, a builtin that was copied is not copied after all.
            let (scope, revision) =
                if builtin { (Scope::Builtin, 0) } else { (old.meta.scope, old.meta.revision) };
            return Ok(Written::unchanged(T::KIND, name.clone(), scope, revision));
        }
        checked(&new)?;
        let rename = Rename { kind: T::KIND, old: name.clone(), new: new.name().clone(), scope };
        let followers = match rename.old == rename.new {
            true => Followers::default(),
            false => self.followers(&mut write, &held, &rename).await?,
        };
        let stored = keep(&mut write, &held, &new, action).await?;
        followers.follow_here(&mut write, &rename).await?;
        write.commit().await?;
        let (followed, not_followed) = self.follow_elsewhere(author, followers, &rename, &message).await;
        let written = Written::changed(T::KIND, rename.new, &stored.meta);
        Ok(Written { copied, followed, not_followed, ..written })
    }
}

/// Replaces a held definition. A new name makes it a rename.
pub(crate) async fn keep<T: Keep>(
    write: &mut Write,
    held: &Held<T>,
    new: &T,
    action: Action,
) -> Result<persona::Stored<T>> {
    let action = if held.stored.entity.name() == new.name() { action } else { Action::Rename };
    Ok(write.replace(held, new, action).await?)
}
