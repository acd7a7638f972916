//! Writes to the database: one transaction for entities, their links, their history and their search words.

use async_recursion::async_recursion as boxed;
use chrono::Utc;
use persona::{AnyEntity, Entity, Kind, Meta, Name, Scope, Stored};
use uuid::Uuid;

use super::ahead::{Ahead, Known};
use super::identity::Last;
use super::links::Row;
use super::{Action, Attribution, Held, Keep, links, rows};
use crate::documents::{row_of, search_number, table};
use crate::feed::{self, Change};
use crate::locks::{LockOwner, move_locks, remove_locks};
use crate::read::User;
use crate::words::Words;
use crate::{Error, Result, Store, documents};
use database::{Dialect, Engine, NOTIFY, Parameter, Transaction, Violation};

/// An open transaction. Dropped without [`DatabaseWrite::commit`], it leaves no trace.
#[derive(Debug)]
pub struct DatabaseWrite {
    store: Store,
    transaction: Transaction,
    attribution: Attribution,
    changes: Vec<Change>,
    /// Changes that make no revision, such as a persona's stage.
    state: Vec<Change>,
    pub(super) ahead: Ahead,
    /// Set once a step has failed. The steps before it must not be committed without it.
    failed: bool,
}

impl Store {
    pub async fn write(&self, attribution: Attribution) -> Result<DatabaseWrite> {
        let transaction = self.engine().begin().await?;
        let store = self.clone();
        Ok(DatabaseWrite {
            store,
            transaction,
            attribution,
            changes: Vec::new(),
            state: Vec::new(),
            ahead: Ahead::default(),
            failed: false,
        })
    }
}

impl DatabaseWrite {
    pub(crate) fn transaction(&mut self) -> &mut Transaction {
        &mut self.transaction
    }

    /// The library as it was before this change.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn state_changed(&mut self, persona: &Name) {
        self.state.push(Change::Entity { kind: Kind::Persona, name: persona.clone(), listed: false });
    }

    /// For changes that go past `insert`, `replace` and `remove`.
    pub(crate) fn everything_changed(&mut self) {
        self.state.push(Change::Everything);
    }

    /// The shared entity of that name, locked until the transaction ends.
    pub async fn find<T: Keep + Entity>(&mut self, name: &Name) -> Result<Option<Held<T>>> {
        Ok(self.find_any(T::KIND, name).await?.and_then(Held::of_kind))
    }

    /// The shared entity of that kind and name, locked until the transaction ends.
    #[boxed]
    pub async fn find_any(&mut self, kind: Kind, name: &Name) -> Result<Option<Held<AnyEntity>>> {
        match self.ahead.known(kind, name) {
            Some(Known::Held(held)) => return Ok(Some((**held).clone())),
            Some(Known::Absent) => return Ok(None),
            Some(Known::Present) | None => {}
        }
        if self.transaction.dialect() == Dialect::Postgres {
            // First the lock, then the read: a statement that waits for a lock still sees the
            // links as they were before it waited.
            let lock = format!("SELECT a.id FROM {} a WHERE a.name = $1 FOR UPDATE", table(kind));
            self.transaction.number(&lock, &[Parameter::from(name)]).await?;
        }
        self.read_row(kind, name).await
    }

    /// The same without locking it: others may change it meanwhile.
    #[boxed]
    pub async fn peek_any(&mut self, kind: Kind, name: &Name) -> Result<Option<Held<AnyEntity>>> {
        match self.ahead.known(kind, name) {
            Some(Known::Held(held)) => Ok(Some((**held).clone())),
            Some(Known::Absent) => Ok(None),
            Some(Known::Present) | None => self.read_row(kind, name).await,
        }
    }

    async fn read_row(&mut self, kind: Kind, name: &Name) -> Result<Option<Held<AnyEntity>>> {
        let sql = documents::select_by_name(self.transaction.dialect(), kind);
        let row = self.transaction.text(&sql, &[Parameter::from(name)]).await?;
        row.map(|row| documents::parse(kind, &row)).transpose()
    }

    /// True if the shared scope has this name.
    pub async fn has(&mut self, kind: Kind, name: &Name) -> Result<bool> {
        if let Some(known) = self.ahead.known(kind, name) {
            return Ok(!matches!(known, Known::Absent));
        }
        let sql = format!("SELECT a.id FROM {} a WHERE a.name = $1", table(kind));
        Ok(self.transaction.number(&sql, &[Parameter::from(name)]).await?.is_some())
    }

    /// Inserts a new entity. Its links must exist.
    pub async fn insert<T: Keep>(&mut self, entity: &T, action: Action) -> Result<Stored<T>> {
        let meta = self.insert_any(&entity.clone().into(), action).await?;
        Ok(Stored { entity: entity.clone(), meta })
    }

    #[boxed]
    async fn insert_any(&mut self, entity: &AnyEntity, action: Action) -> Result<Meta> {
        let inserted = self.insert_row(entity, action).await;
        self.failed |= inserted.is_err();
        inserted
    }

    async fn insert_row(&mut self, entity: &AnyEntity, action: Action) -> Result<Meta> {
        let (kind, now) = (entity.kind(), database::now());
        // A name that is used again counts on, so that no old revision number fits a new entity.
        let last = match self.ahead.take_last(kind, entity.name()) {
            Some(last) => last,
            None => Last::of(&mut self.transaction, kind, entity.name()).await?,
        };
        let guid = last.brought_back(entity, action).unwrap_or_else(Uuid::now_v7);
        let revision = last.revision + 1;
        let mut columns = vec![("guid", Parameter::Uuid(guid)), ("name", Parameter::from(entity.name()))];
        columns.extend(rows::columns(kind, entity)?);
        columns.extend([
            ("tags", Parameter::Tags(entity.tags().clone())),
            ("revision", Parameter::Int(revision)),
            ("created_at", Parameter::Time(now)),
            ("updated_at", Parameter::Time(now)),
        ]);
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let places: Vec<String> = (1..=columns.len()).map(|at| format!("${at}")).collect();
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({}) RETURNING id",
            table(kind),
            names.join(", "),
            places.join(", ")
        );
        let values: Vec<Parameter> = columns.into_iter().map(|(_, value)| value).collect();
        let inserted = self.transaction.number(&sql, &values).await;
        let id = inserted.map_err(|error| named(error.into(), kind, entity.name()))?.unwrap_or_default();
        let revision = self.count_on(kind, entity.name(), id, revision).await?;
        let meta = Meta {
            scope: Scope::Shared,
            revision,
            guid: Some(guid),
            created_at: Some(now),
            updated_at: Some(now),
        };
        self.after_write(Row { id, is_new: true }, entity, &meta, action).await?;
        Ok(meta)
    }

    /// Replaces the definition of a held entity.
    pub async fn replace<T: Keep>(
        &mut self,
        held: &Held<T>,
        entity: &T,
        action: Action,
    ) -> Result<Stored<T>> {
        let meta = self.replace_any(&held.to_any(), &entity.clone().into(), action).await?;
        Ok(Stored { entity: entity.clone(), meta })
    }

    #[boxed]
    async fn replace_any(
        &mut self,
        held: &Held<AnyEntity>,
        entity: &AnyEntity,
        action: Action,
    ) -> Result<Meta> {
        let replaced = self.replace_row(held, entity, action).await;
        self.failed |= replaced.is_err();
        replaced
    }

    async fn replace_row(
        &mut self,
        held: &Held<AnyEntity>,
        entity: &AnyEntity,
        action: Action,
    ) -> Result<Meta> {
        let kind = entity.kind();
        let old = &held.stored;
        let now = database::now();
        let earlier = match self.ahead.take_last(kind, entity.name()) {
            Some(last) => last.revision,
            None => self.newest_revision(kind, entity.name()).await?,
        };
        let revision = old.meta.revision.max(earlier) + 1;
        let mut columns = vec![("name", Parameter::from(entity.name()))];
        columns.extend(rows::columns(kind, entity)?);
        columns.extend([
            ("tags", Parameter::Tags(entity.tags().clone())),
            ("revision", Parameter::Int(revision)),
            ("updated_at", Parameter::Time(now)),
        ]);
        let assignments: Vec<String> =
            columns.iter().enumerate().map(|(at, (name, _))| format!("{name} = ${}", at + 1)).collect();
        let count = columns.len();
        let sql = format!(
            "UPDATE {} SET {} WHERE id = ${} AND revision = ${}",
            table(kind),
            assignments.join(", "),
            count + 1,
            count + 2
        );
        let mut values: Vec<Parameter> = columns.into_iter().map(|(_, value)| value).collect();
        values.extend([Parameter::Int(held.id), Parameter::Int(old.meta.revision)]);
        let updated = self.transaction.run(&sql, &values).await;
        if updated.map_err(|error| named(error.into(), kind, entity.name()))? != 1 {
            return Err(Error::Raced { kind, name: entity.name().clone() });
        }
        let renamed = old.entity.name() != entity.name();
        let revision =
            if renamed { self.count_on(kind, entity.name(), held.id, revision).await? } else { revision };
        let meta = Meta { revision, updated_at: Some(now), ..old.meta.clone() };
        if renamed {
            self.ahead.forget();
            self.move_state(kind, old.entity.name(), entity.name()).await?;
            // Subscribers of the old name must read again.
            self.changes.push(Change::Entity { kind, name: old.entity.name().clone(), listed: true });
        }
        self.after_write(Row { id: held.id, is_new: false }, entity, &meta, action).await?;
        Ok(meta)
    }

    /// Locks go with the name, and so does a persona's stage in an arc that it inherits; that goes with the
    /// name of the arc, too.
    async fn move_state(&mut self, kind: Kind, old: &Name, new: &Name) -> Result<()> {
        let owner = LockOwner { scope: Scope::Shared, origin: "", kind, name: old };
        move_locks(&mut self.transaction, owner, new).await?;
        if kind == Kind::Arc {
            let rename =
                "UPDATE persona_state SET arc = $2 WHERE scope = 'shared' AND origin = '' AND arc = $1";
            self.transaction.run(rename, &[Parameter::from(old), Parameter::from(new)]).await?;
        }
        if kind == Kind::Persona {
            let delete = "DELETE FROM persona_state WHERE scope = 'shared' AND origin = '' AND name = $1";
            self.transaction.run(delete, &[Parameter::from(new)]).await?;
            let rename =
                "UPDATE persona_state SET name = $2 WHERE scope = 'shared' AND origin = '' AND name = $1";
            self.transaction.run(rename, &[Parameter::from(old), Parameter::from(new)]).await?;
        }
        Ok(())
    }

    /// Deletes a held entity and its links. Links to it must be gone already.
    pub async fn remove<T: Keep>(&mut self, held: &Held<T>) -> Result<()> {
        self.remove_any(&held.to_any()).await
    }

    #[boxed]
    async fn remove_any(&mut self, held: &Held<AnyEntity>) -> Result<()> {
        let removed = self.remove_row(held).await;
        self.failed |= removed.is_err();
        removed
    }

    async fn remove_row(&mut self, held: &Held<AnyEntity>) -> Result<()> {
        let kind = held.stored.entity.kind();
        self.ahead.forget();
        let sql = format!("DELETE FROM {} WHERE id = $1", table(kind));
        let deleted = self.transaction.run(&sql, &[Parameter::Int(held.id)]).await;
        deleted.map_err(|error| named(error.into(), kind, held.stored.entity.name()))?;
        self.unindex(kind, held.id).await?;
        let name = held.stored.entity.name();
        remove_locks(&mut self.transaction, LockOwner { scope: Scope::Shared, origin: "", kind, name })
            .await?;
        if kind == Kind::Persona {
            let sql = "DELETE FROM persona_state WHERE scope = 'shared' AND origin = '' AND name = $1";
            self.transaction.run(sql, &[Parameter::from(held.stored.entity.name())]).await?;
        }
        let mut last = held.stored.meta.clone();
        last.revision += 1;
        self.record(&held.stored.entity, &last, Action::Delete, "[]".to_owned()).await
    }

    /// The personas and arcs that use a held entity.
    pub async fn users<T: Keep>(&mut self, held: &Held<T>) -> Result<Vec<(Kind, Name)>> {
        self.users_of(&held.to_any()).await
    }

    #[boxed]
    async fn users_of(&mut self, held: &Held<AnyEntity>) -> Result<Vec<(Kind, Name)>> {
        let mut users = Vec::new();
        for sql in documents::user_queries(self.transaction.dialect(), held.stored.entity.kind()) {
            let values = [Parameter::Int(held.id), Parameter::from(held.stored.entity.name())];
            for row in self.transaction.texts(&sql, &values).await? {
                let User { kind, name } = serde_json::from_str(&row)?;
                users.push((kind, name));
            }
        }
        Ok(users)
    }

    /// Makes everything durable and visible.
    pub async fn commit(mut self) -> Result<()> {
        if self.failed {
            return Err(Error::StepFailed);
        }
        if let Engine::Postgres(postgres) = self.store.engine() {
            let all = [self.changes.clone(), self.state.clone()].concat();
            if !all.is_empty() {
                let values = [feed::channel(postgres), feed::payload(&all)?].map(Parameter::Text);
                self.transaction.run(NOTIFY, &values).await?;
            }
        }
        self.transaction.commit().await?;
        self.store.feed().committed(self.store.engine(), self.state);
        Ok(())
    }

    async fn newest_revision(&mut self, kind: Kind, name: &Name) -> Result<i64> {
        let sql = "SELECT max(revision) FROM agent_revisions WHERE scope = 'shared' AND origin = '' AND kind = $1 AND name = $2";
        Ok(self
            .transaction
            .number(sql, &[Parameter::from(kind.as_str()), Parameter::from(name)])
            .await?
            .unwrap_or(0))
    }

    /// Corrects the revision of a row that just took its name. On PostgreSQL the previous owner may have
    /// given the name up, with a further revision, while this transaction waited for it.
    async fn count_on(&mut self, kind: Kind, name: &Name, id: i64, revision: i64) -> Result<i64> {
        if self.transaction.dialect() == Dialect::Sqlite {
            return Ok(revision);
        }
        let newest = self.newest_revision(kind, name).await?;
        if newest < revision {
            return Ok(revision);
        }
        let sql = format!("UPDATE {} SET revision = $1 WHERE id = $2", table(kind));
        self.transaction.run(&sql, &[Parameter::Int(newest + 1), Parameter::Int(id)]).await?;
        Ok(newest + 1)
    }

    async fn after_write(&mut self, row: Row, entity: &AnyEntity, meta: &Meta, action: Action) -> Result<()> {
        self.ahead.stored(entity.kind(), entity.name());
        // A linked entity may be deleted at this very moment.
        let linked = links::of(self, row, entity).await;
        linked.map_err(|error| named(error, entity.kind(), entity.name()))?;
        // PostgreSQL replaces words with one statement.
        if !row.is_new && self.transaction.dialect() == Dialect::Sqlite {
            self.unindex(entity.kind(), row.id).await?;
        }
        self.index(row.id, entity).await?;
        let refs = self.references(entity, row.id).await?;
        self.record(entity, meta, action, refs).await
    }

    async fn record(&mut self, entity: &AnyEntity, meta: &Meta, action: Action, refs: String) -> Result<()> {
        let Attribution { who, front, message } = self.attribution.clone();
        let values = [
            Parameter::from(entity.kind().as_str()),
            Parameter::Uuid(meta.guid.unwrap_or_default()),
            Parameter::from(entity.name()),
            Parameter::Int(meta.revision),
            Parameter::from(action.as_str()),
            Parameter::Text(who),
            Parameter::Text(front),
            Parameter::MaybeText(message),
            Parameter::Json(serde_json::to_string(entity)?),
            Parameter::Json(refs),
            Parameter::Time(Utc::now()),
        ];
        self.transaction
            .run(
                "INSERT INTO agent_revisions (kind, guid, name, revision, action, author, front, message, entity, refs, created_at) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                &values,
            )
            .await?;
        let listed = matches!(action, Action::Create | Action::Restore | Action::Delete | Action::Rename);
        self.changes.push(Change::Entity { kind: entity.kind(), name: entity.name().clone(), listed });
        Ok(())
    }

    /// Stores the search words of a row. On SQLite it must have none.
    pub(crate) async fn index(&mut self, id: i64, entity: &AnyEntity) -> Result<()> {
        let (kind, words) = (entity.kind(), Words::of_entity(entity));
        match self.transaction.dialect() {
            Dialect::Sqlite => {
                let values = [
                    Parameter::Int(row_of(search_number(kind), id)),
                    Parameter::Text(words.name.join(" ")),
                    Parameter::Text(words.text.join(" ")),
                ];
                self.transaction
                    .run("INSERT INTO library_search (rowid, name, words) VALUES ($1, $2, $3)", &values)
                    .await?;
            }
            Dialect::Postgres => {
                let values = [
                    Parameter::Int(search_number(kind)),
                    Parameter::Int(id),
                    Parameter::Text(words.vector()),
                ];
                self.transaction
                    .run(
                        "INSERT INTO library_search (kind, entity_id, words) VALUES ($1::smallint, $2, $3::tsvector) \
                         ON CONFLICT (kind, entity_id) DO UPDATE SET words = excluded.words",
                        &values,
                    )
                    .await?;
            }
        }
        Ok(())
    }

    async fn unindex(&mut self, kind: Kind, id: i64) -> Result<()> {
        match self.transaction.dialect() {
            Dialect::Sqlite => {
                let row = Parameter::Int(row_of(search_number(kind), id));
                self.transaction.run("DELETE FROM library_search WHERE rowid = $1", &[row]).await?
            }
            Dialect::Postgres => {
                let values = [Parameter::Int(search_number(kind)), Parameter::Int(id)];
                self.transaction
                    .run("DELETE FROM library_search WHERE kind = $1::smallint AND entity_id = $2", &values)
                    .await?
            }
        };
        Ok(())
    }
}

/// A refusal by the database, as an error about the written entity.
fn named(error: Error, kind: Kind, name: &Name) -> Error {
    let Error::Database(refusal) = &error else { return error };
    match refusal.violation() {
        Some(Violation::Unique) => Error::Exists { kind, name: name.clone() },
        // Another process changed what this refers to, or brought the same entity back under another name.
        Some(Violation::Reference | Violation::SameEntity) => Error::Raced { kind, name: name.clone() },
        None => error,
    }
}
