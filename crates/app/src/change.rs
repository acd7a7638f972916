//! The one way in which an entity changes: hold it, compare revisions, edit, check, keep.

use persona::{Kind, Name};
use store::{Action, Held, Keep, Write};

use crate::library::checked;
use crate::outputs::{Piece, Written};
use crate::{Author, Error, Library, Result};

/// What every change carries besides what it changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    pub(crate) if_revision: Option<i64>,
    pub(crate) message: Option<String>,
}

/// Refuses a change that was based on another revision.
pub(crate) fn check_revision(kind: Kind, name: &Name, expected: Option<i64>, actual: i64) -> Result<()> {
    match expected {
        Some(expected) if expected != actual => {
            Err(Error::Stale { kind, name: name.clone(), expected, actual })
        }
        _ => Ok(()),
    }
}

/// An entity that a transaction holds, and the builtins that were copied to get there.
pub(crate) struct Opened<T> {
    pub(crate) held: Held<T>,
    pub(crate) copied: Vec<Piece>,
}

impl Library {
    /// Holds the shared entity of that name; a builtin is copied into shared first.
    pub(crate) async fn open_for_change<T: crate::copy::Copy>(
        &self,
        write: &mut Write,
        name: &Name,
        if_revision: Option<i64>,
    ) -> Result<Opened<T>> {
        if let Some(held) = write.find::<T>(name).await? {
            check_revision(T::KIND, name, if_revision, held.stored.meta.revision)?;
            return Ok(Opened { held, copied: Vec::new() });
        }
        let mut copied = Vec::new();
        if T::builtins().contains_key(name) {
            check_revision(T::KIND, name, if_revision, 0)?;
            self.ensure_shared::<T>(write, name, &mut copied).await?;
            if let Some(held) = write.find::<T>(name).await? {
                return Ok(Opened { held, copied });
            }
        }
        Err(self.missing(T::KIND, name).await)
    }

    /// Changes one entity; where nothing is different afterwards, nothing is written.
    pub(crate) async fn change<T: crate::copy::Copy>(
        &self,
        author: &Author,
        name: &Name,
        terms: Terms,
        action: Action,
        edit: impl AsyncFnOnce(&mut Write, &mut T, &mut Vec<Piece>) -> Result<()>,
    ) -> Result<Written> {
        let mut write = self.store.write(author.because(terms.message)?).await?;
        let Opened { held, mut copied } =
            self.open_for_change::<T>(&mut write, name, terms.if_revision).await?;
        let old = &held.stored;
        let mut new = old.entity.clone();
        edit(&mut write, &mut new, &mut copied).await?;
        if new == old.entity {
            // Dropped without a commit: a builtin that was copied for nothing is not copied.
            let builtin = copied.iter().any(|piece| piece.kind == T::KIND && piece.name == *name);
            return Ok(Written {
                kind: T::KIND,
                name: name.clone(),
                scope: if builtin { persona::Scope::Builtin } else { old.meta.scope },
                revision: if builtin { 0 } else { old.meta.revision },
                changed: false,
                created: Vec::new(),
                copied: Vec::new(),
            });
        }
        checked(&new)?;
        let stored = keep(&mut write, &held, &new, action).await?;
        write.commit().await?;
        Ok(Written {
            kind: T::KIND,
            name: new.name().clone(),
            scope: stored.meta.scope,
            revision: stored.meta.revision,
            changed: true,
            created: Vec::new(),
            copied,
        })
    }
}

/// Keeps a new definition in place of a held one; another name makes it a rename.
pub(crate) async fn keep<T: Keep + Clone>(
    write: &mut Write,
    held: &Held<T>,
    new: &T,
    action: Action,
) -> Result<persona::Stored<T>> {
    let action = if held.stored.entity.name() == new.name() { action } else { Action::Rename };
    Ok(write.replace(held, new, action).await?)
}
