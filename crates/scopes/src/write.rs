//! Writing: one change, all or nothing, in one scope.

use files::Problem;
use persona::{Kind, Name, Persona, Scope, Stored};
use store::{Action, DatabaseWrite, Held, Keep};

use crate::{Error, Result};

mod file;
pub(crate) use file::FileWrite;

/// An open change of one scope. Dropped without [`Write::commit`], it leaves no trace.
#[derive(Debug)]
pub struct Write(Target);

#[derive(Debug)]
enum Target {
    Database(Box<DatabaseWrite>),
    File(Box<FileWrite>),
}

impl From<DatabaseWrite> for Write {
    fn from(write: DatabaseWrite) -> Self {
        Self(Target::Database(Box::new(write)))
    }
}

impl From<FileWrite> for Write {
    fn from(write: FileWrite) -> Self {
        Self(Target::File(Box::new(write)))
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

    /// The entity of that name in this scope, held until the change ends.
    pub async fn find<T: Keep>(&mut self, name: &Name) -> Result<Option<Held<T>>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.find(name).await?),
            Target::File(write) => write.find(name).await,
        }
    }

    /// The entity of that name in this scope as this change sees it, without holding it.
    pub async fn peek<T: Keep>(&mut self, name: &Name) -> Result<Option<T>> {
        let found = match &mut self.0 {
            Target::Database(write) => write.peek(name).await?,
            Target::File(write) => write.find(name).await?,
        };
        Ok(found.map(|held| held.stored.entity))
    }

    /// Whether this scope has the name.
    pub async fn has(&mut self, kind: Kind, name: &Name) -> Result<bool> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.has(kind, name).await?),
            Target::File(write) => Ok(write.has(kind, name)),
        }
    }

    /// Keeps a new entity.
    pub async fn insert<T: Keep>(&mut self, entity: &T, action: Action) -> Result<Stored<T>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.insert(entity, action).await?),
            Target::File(write) => write.insert(entity, action).await,
        }
    }

    /// Puts a new definition in the place of the one that is held.
    pub async fn replace<T: Keep>(
        &mut self,
        held: &Held<T>,
        entity: &T,
        action: Action,
    ) -> Result<Stored<T>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.replace(held, entity, action).await?),
            Target::File(write) => write.replace(held, entity, action).await,
        }
    }

    /// Deletes what is held; what refers to it must have been changed already.
    pub async fn remove<T: Keep>(&mut self, held: &Held<T>) -> Result<()> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.remove(held).await?),
            Target::File(write) => write.remove(held),
        }
    }

    /// What is wrong with an entry of a file that cannot be read. It is neither replaced nor removed:
    /// no history has what it says.
    pub fn mistake(&self, kind: Kind, name: &Name) -> Option<Problem> {
        match &self.0 {
            Target::Database(_) => None,
            Target::File(write) => write.mistake(kind, name),
        }
    }

    /// Refuses an entry of which a file has something else than is in force.
    pub fn refuse_broken(&self, kind: Kind, name: &Name) -> Result<()> {
        self.mistake(kind, name).map_or(Ok(()), |mistake| Err(Error::Problem(Box::new(mistake))))
    }

    /// Gives up what such an entry says, and takes it out of the file; false where there is none.
    pub fn discard(&mut self, kind: Kind, name: &Name) -> Result<bool> {
        match &mut self.0 {
            Target::Database(_) => Ok(false),
            Target::File(write) => write.discard(kind, name),
        }
    }

    /// Which entities of this scope refer to a held one, and would refer to nothing without it.
    pub async fn users<T: Keep>(&mut self, held: &Held<T>) -> Result<Vec<(Kind, Name)>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.users(held).await?),
            Target::File(write) => write.users(T::KIND, held.stored.entity.name()).await,
        }
    }

    /// Makes everything durable and visible.
    pub async fn commit(self) -> Result<()> {
        match self.0 {
            Target::Database(write) => Ok(write.commit().await?),
            Target::File(write) => write.commit().await,
        }
    }

    /// The stage in which a persona stands in the arc that it walks, if it was ever put into one.
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

    /// Which personas of this scope stand in a stage of an arc, their own or an inherited one.
    pub async fn personas_in_stage(&mut self, arc: &Name, stage: &Name) -> Result<Vec<Name>> {
        match &mut self.0 {
            Target::Database(write) => Ok(write.personas_in_stage(arc, stage).await?),
            Target::File(write) => write.personas_in_stage(arc, stage).await,
        }
    }

    /// The database's side of a change, for what only the database has.
    pub fn database(&mut self) -> Option<&mut DatabaseWrite> {
        match &mut self.0 {
            Target::Database(write) => Some(write),
            Target::File(_) => None,
        }
    }
}
