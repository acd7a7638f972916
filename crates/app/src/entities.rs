//! Get, save and delete for entities of any kind. Import, promotion and rollback use them too.

use async_recursion::async_recursion as boxed;
use files::document::spell_out;
use persona::{AnyEntity, Kind, Meta, Scope, with_kind};
use scopes::Write;
use serde_json::{Map, Value};
use store::Action;

use crate::change::{check_revision, keep_any};
use crate::diff::same;
use crate::inputs::{self, Delete, DeleteEntity, GetEntity, InputError, SaveEntity};
use crate::library::checked;
use crate::outputs::{Deleted, EntityRef, FullEntity, Written};
use crate::{Author, Error, Library, Result, ValueError};

/// Fields that `get` adds to an entity; `save` ignores them.
pub(crate) const META: [&str; 5] = ["scope", "revision", "guid", "created_at", "updated_at"];

impl Library {
    /// A definition of any kind, current or at a revision.
    #[boxed]
    pub async fn get_entity(&self, input: &GetEntity) -> Result<FullEntity<AnyEntity>> {
        let GetEntity { kind, name, revision, scope } = input;
        if let Some(revision) = revision {
            let (scope, found) = self.revision(*kind, name, *scope, &revision.parse()).await?;
            let meta = Meta {
                scope,
                revision: found.about.revision,
                guid: None,
                created_at: None,
                updated_at: Some(found.about.created_at),
            };
            return Ok(FullEntity { entity: found.entity, meta });
        }
        match self.scopes.get_any(*kind, name, *scope).await? {
            Some(stored) => Ok(FullEntity { entity: stored.entity, meta: stored.meta }),
            None => Err(self.missing_in(*kind, name, *scope).await),
        }
    }

    /// Creates an entity of any kind, or replaces the existing one.
    #[boxed]
    pub async fn save_entity(&self, author: &Author, input: SaveEntity) -> Result<Written> {
        let SaveEntity { kind, name, entity, if_revision, message, scope } = input;
        let entity = parse(kind, name.as_str(), entity)?;
        let scope = self.scope_for_change(kind, &name, scope).await?;
        self.save(author, scope, entity, if_revision, message).await
    }

    /// Deletes an entity of any kind.
    #[boxed]
    pub async fn delete_entity(&self, author: &Author, input: DeleteEntity) -> Result<Deleted> {
        let DeleteEntity { kind, name, force, if_revision, message, scope } = input;
        self.delete(author, kind, Delete { name, force, if_revision, message, scope }).await
    }

    /// Stores an entity in a scope.
    pub(crate) async fn save(
        &self,
        author: &Author,
        scope: Scope,
        entity: AnyEntity,
        if_revision: Option<i64>,
        message: Option<String>,
    ) -> Result<Written> {
        let mut write = self.scopes.write(scope, author.because(message)?).await?;
        let mut copied = Vec::new();
        let written = self.put_any(&mut write, &entity, Action::Create, if_revision, &mut copied).await?;
        if written.changed {
            write.commit().await?;
        }
        Ok(Written { copied, ..written })
    }

    /// Stores an entity in the scope of a write. A new one is recorded as `made`.
    #[boxed]
    pub(crate) async fn put_any(
        &self,
        write: &mut Write,
        entity: &AnyEntity,
        made: Action,
        if_revision: Option<i64>,
        copied: &mut Vec<EntityRef>,
    ) -> Result<Written> {
        checked(entity)?;
        let kind = entity.kind();
        write.refuse_broken(kind, entity.name())?;
        let held = write.find_any(kind, entity.name()).await?;
        if held.is_some() && if_revision == Some(0) {
            return Err(Error::Exists { kind, name: entity.name().clone() });
        }
        let actual = held.as_ref().map_or(0, |held| held.stored.meta.revision);
        check_revision(kind, entity.name(), if_revision, actual)?;
        for reference in entity.references() {
            if crate::scope::is_linked(reference.kind) {
                self.ensure(write, reference.kind, &reference.name, copied).await?;
            }
        }
        let before = held.as_ref().map(|held| held.stored.entity.references()).unwrap_or_default();
        self.check_presets(write, &before, entity).await?;
        if let AnyEntity::Persona(persona) = entity {
            if held.is_none() && made == Action::Create {
                self.check_new_persona(write, persona).await?;
            } else {
                self.check_base(write, persona).await?;
            }
        }
        let name = entity.name().clone();
        Ok(match held {
            Some(held) if same(&held.stored.entity, entity) => {
                let Meta { scope, revision, .. } = held.stored.meta;
                Written::unchanged(kind, name, scope, revision)
            }
            Some(held) => {
                let meta = keep_any(write, &held, entity, Action::Update).await?;
                Written::changed(kind, name, &meta)
            }
            None => Written::created(kind, name, &write.insert(entity, made).await?.meta),
        })
    }
}

/// Parses an entity as callers write it: with or without its name, with the fields that `get` adds,
/// and with the short forms of a file. Empty texts are dropped.
pub(crate) fn parse(kind: Kind, name: &str, mut entity: Map<String, Value>) -> Result<AnyEntity> {
    if let Some(inner) = entity.get("name")
        && inner != name
    {
        return Err(ValueError::OtherName { given: inner.to_string(), name: name.to_owned() }.into());
    }
    for field in META {
        entity.remove(field);
    }
    entity.retain(|_, value| !value.is_null() && *value != "");
    spell_out(kind, &mut entity);
    entity.insert("name".to_owned(), Value::from(name));
    with_kind!(kind, T => inputs::parse::<T>(&entity).map(AnyEntity::from)).map_err(|source| {
        let entity = format!("{} {name:?}", kind.spoken());
        InputError::Entity { entity, source: Box::new(source) }.into()
    })
}
