//! Imports the entities of a personas.toml, or plans an import.

use async_recursion::async_recursion as boxed;
use std::collections::{BTreeMap, BTreeSet};

use builtins::Builtins;
use persona::{AnyEntity, Kind, Name, Scope};
use scopes::Write;
use store::{Action, Progress};

use super::in_place_of;
use super::order::in_order_of_use;
use crate::diff::{changes, same};
use crate::documents::{TomlText, as_error};
use crate::outputs::{EntityRef, ImportChange, ImportItem, ImportPlan};
use crate::templates::untagged_copy;
use crate::{Author, DocumentError, Library, Problem, Result};

/// Entities between two reports of progress. Other tasks run in between.
const REPORT_EVERY: usize = 64;

/// The step that stores entities.
const STORE: &str = "store";

/// Receives the progress of an import.
pub type Follow<'a> = &'a mut (dyn FnMut(Progress) + Send);

/// Definitions below the scope of an import, each with its scope.
type Below = BTreeMap<(Kind, Name), (Scope, AnyEntity)>;

impl Library {
    /// The changes of an import, or its error. Runs the same steps without a commit.
    #[boxed]
    pub async fn plan_import<'a>(&'a self, text: TomlText<'a>, scope: Option<Scope>) -> Result<ImportPlan> {
        self.follow_plan(text, scope, &mut |_| ()).await
    }

    /// The same, with progress.
    #[boxed]
    pub async fn follow_plan<'a>(
        &'a self,
        text: TomlText<'a>,
        scope: Option<Scope>,
        follow: Follow<'a>,
    ) -> Result<ImportPlan> {
        let author = Author::new("masque", "preview");
        // Runs every check of the import, and drops the write.
        let (plan, _) = self.prepare_import(&author, text, scope, None, "check", follow).await?;
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
        self.follow_import(author, text, scope, message, &mut |_| ()).await
    }

    /// The same, with progress.
    #[boxed]
    pub async fn follow_import<'a>(
        &'a self,
        author: &'a Author,
        text: TomlText<'a>,
        scope: Option<Scope>,
        message: Option<String>,
        follow: Follow<'a>,
    ) -> Result<ImportPlan> {
        let (plan, write) = self.prepare_import(author, text, scope, message, STORE, follow).await?;
        if plan.changes() > 0 {
            write.commit().await?;
        }
        Ok(plan)
    }

    async fn prepare_import(
        &self,
        author: &Author,
        text: TomlText<'_>,
        scope: Option<Scope>,
        message: Option<String>,
        step: &'static str,
        follow: Follow<'_>,
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
        let below = self.read_ahead(&mut write, &entities).await?;
        let mut plan = ImportPlan { scope, items: Vec::new(), copied: Vec::new(), warnings };
        let mut coming = Vec::new();
        let total = entities.len();
        for (done, entity) in entities.into_iter().enumerate() {
            report(follow, "compare", done, total).await;
            let (item, entity) = import_item(&mut write, entity, &below).await?;
            if item.change.is_change() {
                coming.push(entity);
            }
            plan.items.push(item);
        }
        self.put_all(&mut write, coming, Action::Create, &mut plan.copied, (step, follow)).await?;
        Ok((plan, write))
    }

    /// Reads everything that an import compares or links, with a few statements per kind.
    async fn read_ahead(&self, write: &mut Write, entities: &[AnyEntity]) -> Result<Below> {
        let own = entities.iter().map(|entity| (entity.kind(), entity.name().clone()));
        let own: BTreeSet<(Kind, Name)> = own.collect();
        let named = entities.iter().flat_map(AnyEntity::references);
        let named: BTreeSet<(Kind, Name)> = named.map(|reference| (reference.kind, reference.name)).collect();
        write.read_ahead(&own, &named).await?;
        Ok(self.scopes.below(write.scope(), &own).await?)
    }

    /// Stores entities in a scope, bases first. New ones are recorded as `made`. Progress is reported under
    /// the name of a step.
    pub(crate) async fn put_all(
        &self,
        write: &mut Write,
        entities: Vec<AnyEntity>,
        made: Action,
        copied: &mut Vec<EntityRef>,
        (step, follow): (&'static str, Follow<'_>),
    ) -> Result<()> {
        let total = entities.len();
        let ordered = in_order_of_use(entities, write.scope())?;
        for (done, entity) in ordered.iter().enumerate() {
            report(follow, step, done, total).await;
            self.put_any(write, entity, made, None, copied).await?;
        }
        Ok(())
    }
}

/// The change of one entity of an import, and the definition to store.
async fn import_item(write: &mut Write, entity: AnyEntity, below: &Below) -> Result<(ImportItem, AnyEntity)> {
    let (kind, name) = (entity.kind(), entity.name().clone());
    let item =
        |change, in_place_of, fields| ImportItem { kind, name: name.clone(), change, in_place_of, fields };
    let is_builtin = Builtins::get().find(kind, &name).is_some_and(|builtin| same(&builtin, &entity));
    let there = in_place_of(write, &entity).await?;
    if there.as_ref().is_some_and(|there| same(there, &entity)) {
        return Ok((item(ImportChange::Unchanged, None, Vec::new()), entity));
    }
    let weaker = below.get(&(kind, name.clone()));
    if there.is_none() && is_builtin && weaker.is_some_and(|(scope, _)| *scope == Scope::Builtin) {
        return Ok((item(ImportChange::Builtin, None, Vec::new()), entity));
    }
    // A library has builtins without their tag, as a link copies them.
    let entity = if is_builtin { untagged_copy(entity) } else { entity };
    let item = match (there, weaker) {
        (Some(there), _) if same(&there, &entity) => item(ImportChange::Unchanged, None, Vec::new()),
        (Some(there), _) => item(ImportChange::Update, None, changes(&there, &entity)),
        (None, Some((scope, seen))) => item(ImportChange::Create, Some(*scope), changes(seen, &entity)),
        (None, None) => item(ImportChange::Create, None, Vec::new()),
    };
    Ok((item, entity))
}

/// Reports the progress of a step now and then, and lets other tasks run.
async fn report(follow: Follow<'_>, step: &'static str, done: usize, total: usize) {
    if done.is_multiple_of(REPORT_EVERY) {
        follow(Progress { step, what: "", unit: "entities", done: done as u64, total: total as u64 });
        tokio::task::yield_now().await;
    }
}
