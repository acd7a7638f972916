//! Writes to one scope, atomically.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use files::Problem;
use persona::{AnyEntity, Entity, Kind, Meta, Name, Persona, Scope, Stored};
use store::{Action, DatabaseWrite, Held, Keep};
use uuid::Uuid;

use crate::guard::Guard;
use crate::proposal::Proposal;
use crate::scopes::Scopes;
use crate::{Error, Result};

mod file;
pub(crate) use file::FileWrite;

mod trial;
use trial::Outcome;

/// An open write to one scope. Dropped without [`Write::commit`], it leaves no trace.
#[derive(Debug)]
pub struct Write(Target, Option<Trial>);

/// A write whose changes are looked at before it commits.
#[derive(Debug, Default)]
struct Trial {
    /// Takes the changes, instead of the library.
    proposal: Option<Arc<Proposal>>,
    guard: Option<(Scopes, Arc<Guard>)>,
    /// The entities that it changed.
    touched: BTreeMap<(Kind, Name), Touched>,
}

/// An entity that a write changed.
#[derive(Debug)]
struct Touched {
    /// As it was before the write, and before the proposal.
    before: Option<Stored<AnyEntity>>,
    /// The revision of its first change. The next trial makes all changes so far at once, so this is the
    /// revision that it begins with.
    revision: i64,
}

#[derive(Debug)]
enum Target {
    Database(Box<DatabaseWrite>),
    File(Box<FileWrite>),
}

impl From<DatabaseWrite> for Write {
    fn from(write: DatabaseWrite) -> Self {
        Self(Target::Database(Box::new(write)), None)
    }
}

impl From<FileWrite> for Write {
    fn from(write: FileWrite) -> Self {
        Self(Target::File(Box::new(write)), None)
    }
}

impl Write {
    /// The scope that is written to.
    pub fn scope(&self) -> Scope {
        match &self.0 {
            Target::Database(_) => Scope::Shared,
            Target::File(write) => write.scope(),
        }
    }

    /// Locks and reads the entities of `held`, and notes which of those in `named` exist, with a few
    /// statements. A file is in memory already.
    #[boxed]
    pub async fn read_ahead(
        &mut self,
        held: &BTreeSet<(Kind, Name)>,
        named: &BTreeSet<(Kind, Name)>,
    ) -> Result<()> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.read_ahead(held, named).await?),
            Target::File(_) => Ok(()),
        }
    }

    /// The entity of that name in this scope, locked until the write ends.
    pub async fn find<T: Keep + Entity>(&mut self, name: &Name) -> Result<Option<Held<T>>> {
        Ok(self.find_any(T::KIND, name).await?.and_then(Held::of_kind))
    }

    /// The entity of that kind and name in this scope, locked until the write ends.
    #[boxed]
    pub async fn find_any(&mut self, kind: Kind, name: &Name) -> Result<Option<Held<AnyEntity>>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.find_any(kind, name).await?),
            Target::File(write) => write.find(kind, name).await,
        }
    }

    /// The entity of that name in this scope as this write sees it, without locking it.
    pub async fn peek<T: Keep + Entity>(&mut self, name: &Name) -> Result<Option<T>> {
        let found = match &mut self.0 {
            Target::Database(write) => write.peek_any(T::KIND, name).await?,
            Target::File(write) => write.find(T::KIND, name).await?,
        };
        Ok(found.and_then(|held| T::try_from(held.stored.entity).ok()))
    }

    /// True if this scope has the name.
    pub async fn has(&mut self, kind: Kind, name: &Name) -> Result<bool> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.has(kind, name).await?),
            Target::File(write) => Ok(write.has(kind, name)),
        }
    }

    /// Inserts a new entity.
    pub async fn insert<T: Keep>(&mut self, entity: &T, action: Action) -> Result<Stored<T>> {
        let meta = self.insert_any(entity.clone().into(), action).await?;
        Ok(Stored { entity: entity.clone(), meta })
    }

    #[boxed]
    async fn insert_any(&mut self, entity: AnyEntity, action: Action) -> Result<Meta> {
        let (kind, name) = (entity.kind(), entity.name().clone());
        let meta = match &mut self.0 {
            Target::Database(write) => write.insert(&entity, action).await?.meta,
            Target::File(write) => write.insert(entity, action).await?,
        };
        self.touch(kind, &name, None, meta.revision);
        Ok(meta)
    }

    /// Replaces the definition of a held entity.
    pub async fn replace<T: Keep>(
        &mut self,
        held: &Held<T>,
        entity: &T,
        action: Action,
    ) -> Result<Stored<T>> {
        let meta = self.replace_any(held.to_any(), entity.clone().into(), action).await?;
        Ok(Stored { entity: entity.clone(), meta })
    }

    #[boxed]
    async fn replace_any(
        &mut self,
        held: Held<AnyEntity>,
        entity: AnyEntity,
        action: Action,
    ) -> Result<Meta> {
        let (kind, name) = (entity.kind(), entity.name().clone());
        let meta = match &mut self.0 {
            Target::Database(write) => write.replace(&held, &entity, action).await?.meta,
            Target::File(write) => write.replace(&held.stored, entity, action).await?,
        };
        let old = held.stored.entity.name();
        if *old != name {
            self.touch(kind, &name, None, meta.revision);
        }
        self.touch(kind, old, Some(&held.stored), meta.revision);
        Ok(meta)
    }

    /// Deletes a held entity. References to it must be removed before.
    pub async fn remove<T: Keep>(&mut self, held: &Held<T>) -> Result<()> {
        let stored = held.to_any().stored;
        self.touch(stored.entity.kind(), stored.entity.name(), Some(&stored), stored.meta.revision + 1);
        match &mut self.0 {
            Target::Database(write) => Ok(write.remove(held).await?),
            Target::File(write) => write.remove(stored),
        }
    }

    /// The problem of an entry that cannot be read. It is neither replaced nor removed: no history has its
    /// present text.
    pub fn mistake(&self, kind: Kind, name: &Name) -> Option<Problem> {
        match &self.0 {
            Target::Database(_) => None,
            Target::File(write) => write.mistake(kind, name),
        }
    }

    /// Fails if the file has another version of the entry than is in force.
    pub fn refuse_broken(&self, kind: Kind, name: &Name) -> Result<()> {
        self.mistake(kind, name).map_or(Ok(()), |mistake| Err(Error::Problem(Box::new(mistake))))
    }

    /// Discards such an entry and removes it from the file. False if there is none.
    pub fn discard(&mut self, kind: Kind, name: &Name) -> Result<bool> {
        match &mut self.0 {
            Target::Database(_) => Ok(false),
            Target::File(write) => write.discard(kind, name),
        }
    }

    /// The entities of this scope whose references to a held one would dangle without it.
    pub async fn users<T: Keep>(&mut self, held: &Held<T>) -> Result<Vec<(Kind, Name)>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.users(held).await?),
            Target::File(write) => {
                let entity: AnyEntity = held.stored.entity.clone().into();
                write.users(entity.kind(), entity.name()).await
            }
        }
    }

    /// Makes the whole write durable and visible.
    pub async fn commit(mut self) -> Result<()> {
        if let Some(trial) = self.1.take()
            && self.end_trial(trial).await? == Outcome::Dropped
        {
            return Ok(());
        }
        match self.0 {
            Target::Database(write) => Ok(write.commit().await?),
            Target::File(write) => write.commit().await,
        }
    }

    /// The stage of a persona in its arc, if it was ever put into one.
    pub async fn stage(&mut self, persona: &Held<Persona>) -> Result<Option<Name>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.stage(persona).await?),
            Target::File(write) => write.stage(&persona.stored.entity.name).await,
        }
    }

    /// Puts a persona into a stage of its arc, its own or an inherited one.
    pub async fn set_stage(&mut self, persona: &Held<Persona>, arc: &Name, stage: &Name) -> Result<()> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.set_stage(persona, arc, stage).await?),
            Target::File(write) => {
                write.set_stage(&persona.stored.entity.name, arc, stage);
                Ok(())
            }
        }
    }

    /// Links a persona of this scope to its editing session.
    pub async fn set_editing_session(&mut self, persona: &Name, session: Uuid) -> Result<()> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.set_editing_session(persona, session).await?),
            Target::File(write) => {
                write.set_editing_session(persona, session);
                Ok(())
            }
        }
    }

    /// Locks a field of an entity of this scope against the editing agent.
    pub async fn put_lock(&mut self, kind: Kind, name: &Name, field: &str) -> Result<()> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.put_lock(kind, name, field).await?),
            Target::File(write) => {
                write.put_lock(kind, name, field);
                Ok(())
            }
        }
    }

    /// The personas of this scope in a stage of an arc, their own or an inherited one.
    pub async fn personas_in_stage(&mut self, arc: &Name, stage: &Name) -> Result<Vec<Name>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.personas_in_stage(arc, stage).await?),
            Target::File(write) => write.personas_in_stage(arc, stage).await,
        }
    }

    /// The database's side of a write, for operations that only the database has.
    pub fn database(&mut self) -> Option<&mut DatabaseWrite> {
        match &mut self.0 {
            Target::Database(write) => Some(write),
            Target::File(_) => None,
        }
    }
}
