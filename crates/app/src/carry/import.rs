//! Imports the entities of a personas.toml, or plans an import.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeSet;

use persona::{AnyEntity, Kind, Name, Scope};
use scopes::Write;
use store::Action;

use super::in_place_of;
use crate::diff::{changes, same};
use crate::documents::{TomlText, as_error};
use crate::outputs::{EntityRef, ImportChange, ImportItem, ImportPlan};
use crate::{Author, DocumentError, Library, Problem, Result, ScopeError};

impl Library {
    /// The changes of an import, or its error. Runs the same steps without a commit.
    #[boxed]
    pub async fn plan_import<'a>(&'a self, text: TomlText<'a>, scope: Option<Scope>) -> Result<ImportPlan> {
        let (plan, _) = self.prepare_import(&Author::new("masque", "preview"), text, scope, None).await?;
        Ok(plan)
    }

    /// Imports the entities of a personas.toml into a scope, all or none.
    #[boxed]
    pub async fn import<'a>(
        &'a self,
        author: &'a Author,
        text: TomlText<'a>,
        scope: Option<Scope>,
        message: Option<String>,
    ) -> Result<ImportPlan> {
        let (plan, write) = self.prepare_import(author, text, scope, message).await?;
        write.commit().await?;
        Ok(plan)
    }

    async fn prepare_import(
        &self,
        author: &Author,
        text: TomlText<'_>,
        scope: Option<Scope>,
        message: Option<String>,
    ) -> Result<(ImportPlan, Write)> {
        let scope = self.scope_for_new(scope);
        let (entities, warnings) = text.entities()?;
        let warnings: Vec<Problem> = warnings.into_iter().map(as_error).collect();
        if entities.is_empty() {
            // A failed download must not look like one without changes.
            let warning = warnings.into_iter().next().map(Box::new);
            return Err(DocumentError::NothingToImport { warning }.into());
        }
        let warnings = warnings.iter().map(ToString::to_string).collect();
        let message = message.unwrap_or_else(|| "import".to_owned());
        let mut write = self.scopes.write(scope, author.because(Some(message))?).await?;
        let mut plan = ImportPlan { scope, items: Vec::new(), copied: Vec::new(), warnings };
        let mut coming = Vec::new();
        for entity in entities {
            let item = self.import_item(&mut write, &entity).await?;
            if matches!(item.change, ImportChange::Create | ImportChange::Update) {
                coming.push(entity);
            }
            plan.items.push(item);
        }
        self.put_all(&mut write, coming, Action::Create, &mut plan.copied).await?;
        Ok((plan, write))
    }

    /// The change of one entity of an import.
    async fn import_item(&self, write: &mut Write, entity: &AnyEntity) -> Result<ImportItem> {
        let (kind, name, scope) = (entity.kind(), entity.name().clone(), write.scope());
        let item = |change, in_place_of, fields| ImportItem {
            kind,
            name: name.clone(),
            change,
            in_place_of,
            fields,
        };
        if let Some(there) = in_place_of(write, entity).await? {
            return Ok(match same(&there, entity) {
                true => item(ImportChange::Unchanged, None, Vec::new()),
                false => item(ImportChange::Update, None, changes(&there, entity)),
            });
        }
        let weaker = self.scopes.scopes_of(kind, &name).await?.into_iter().find(|known| *known < scope);
        let seen = match weaker {
            Some(weaker) => self.scopes.get_any(kind, &name, Some(weaker)).await?,
            None => None,
        };
        Ok(match seen {
            Some(seen) if weaker == Some(Scope::Builtin) && same(&seen.entity, entity) => {
                item(ImportChange::Builtin, None, Vec::new())
            }
            Some(seen) => item(ImportChange::Create, weaker, changes(&seen.entity, entity)),
            None => item(ImportChange::Create, None, Vec::new()),
        })
    }

    /// Stores entities in a scope, bases first. New ones are recorded as `made`.
    pub(crate) async fn put_all(
        &self,
        write: &mut Write,
        entities: Vec<AnyEntity>,
        made: Action,
        copied: &mut Vec<EntityRef>,
    ) -> Result<()> {
        let scope = write.scope();
        let mut waiting = entities;
        while !waiting.is_empty() {
            let names: BTreeSet<(Kind, Name)> =
                waiting.iter().map(|entity| (entity.kind(), entity.name().clone())).collect();
            let waits = |entity: &AnyEntity| {
                let own = (entity.kind(), entity.name().clone());
                entity.references().into_iter().any(|reference| {
                    let here = reference.scope.is_none_or(|named| named == scope);
                    let key = (reference.kind, reference.name);
                    here && key != own && names.contains(&key)
                })
            };
            let (later, now): (Vec<AnyEntity>, Vec<AnyEntity>) = waiting.into_iter().partition(waits);
            for entity in &now {
                self.put_any(write, entity, made, None, copied).await?;
            }
            if now.is_empty() {
                let names = later.iter().map(|entity| entity.name().clone()).collect();
                return Err(ScopeError::Circle { names }.into());
            }
            waiting = later;
        }
        Ok(())
    }
}
