//! The scope of a write, and the meaning of names in it.

use async_recursion::async_recursion as boxed;
use builtins::Builtins;
use persona::catalog::{reach, reaches, resolve};
use persona::{AnyEntity, Entity, Kind, Name, Reference, Scope};
use scopes::Write;
use store::{Action, Held, Keep};

use crate::outputs::EntityRef;
use crate::templates::untagged_copy;
use crate::{Error, Library, Result, ScopeError};

impl Library {
    /// The scope of a new entity: the named one, else the default.
    pub(crate) fn scope_for_new(&self, named: Option<Scope>) -> Scope {
        named.unwrap_or(self.default_scope)
    }

    /// The scope of a change: the named one, else where the name resolves. A builtin is changed in a
    /// copy in the default scope. A broken entry counts, so that no weaker one is changed instead.
    pub(crate) async fn scope_for_change(
        &self,
        kind: Kind,
        name: &Name,
        named: Option<Scope>,
    ) -> Result<Scope> {
        if let Some(named) = named {
            return Ok(named);
        }
        let found = self.scopes.scopes_of(kind, name).await?;
        let found = found.into_iter().find(|scope| *scope != Scope::Builtin);
        Ok(found.max(self.scopes.broken_in(kind, name)).unwrap_or(self.default_scope))
    }

    /// The scope that a name resolves to. Project for an unknown name: an editor saves it there.
    #[boxed]
    pub async fn scope_of(&self, kind: Kind, name: &Name) -> Result<Scope> {
        Ok(self.scopes.scopes_of(kind, name).await?.first().copied().unwrap_or(Scope::Project))
    }

    /// The scope that a name resolves to. Fails for an unknown name.
    pub(crate) async fn resolved(&self, kind: Kind, name: &Name) -> Result<Scope> {
        match self.scopes.scopes_of(kind, name).await?.first() {
            Some(scope) => Ok(*scope),
            None => Err(self.missing(kind, name).await),
        }
    }

    /// Fails if this library has no file for a scope.
    pub(crate) fn check_open(&self, scope: Scope) -> Result<()> {
        if !scope.is_file() || self.path(scope).is_some() {
            return Ok(());
        }
        Err(scopes::Error::NotOpen { scope }.into())
    }

    /// The entity that a definition of `from` means by a name, or by `scope:name`.
    pub(crate) async fn look_up<T: Keep + Entity>(
        &self,
        from: Scope,
        named: Option<Scope>,
        name: &Name,
    ) -> Result<Option<(Scope, T)>> {
        for scope in reach(from, named) {
            if let Some(stored) = self.scopes.get::<T>(name, Some(scope)).await? {
                return Ok(Some((scope, stored.entity)));
            }
        }
        Ok(None)
    }

    /// Makes sure that the scope of a write sees an entity. A file also sees weaker scopes. Shared gets a
    /// copy of a builtin, with everything it refers to.
    #[boxed]
    pub(crate) async fn ensure(
        &self,
        write: &mut Write,
        kind: Kind,
        name: &Name,
        copied: &mut Vec<EntityRef>,
    ) -> Result<()> {
        if write.scope().is_file() {
            return self.check_reach(write, kind, name).await;
        }
        if write.has(kind, name).await? {
            return Ok(());
        }
        self.copy_builtin(write, kind, name, copied).await
    }

    /// Fails if neither the scope of a write nor a weaker one has a name.
    pub(crate) async fn check_reach(&self, write: &mut Write, kind: Kind, name: &Name) -> Result<()> {
        // Every scope sees the builtins.
        if write.has(kind, name).await? || Builtins::get().find(kind, name).is_some() {
            return Ok(());
        }
        let from = write.scope();
        let found = self.scopes.scopes_of(kind, name).await?;
        // The write knows best about its own scope: it may have deleted the entity.
        let others = |scope: Scope| (scope != from && found.contains(&scope)).then_some(());
        match resolve(from, None, others) {
            Some(_) => Ok(()),
            None => Err(self.out_of_reach(kind, name, from, &found).await),
        }
    }

    /// Fails if a preset does not exist. References that were broken `before` are left to lint.
    pub(crate) async fn check_presets(
        &self,
        write: &mut Write,
        before: &[Reference],
        entity: &AnyEntity,
    ) -> Result<()> {
        for reference in entity.references() {
            let elsewhere = is_linked(reference.kind) || reference.kind == Kind::Persona;
            if !elsewhere && !before.contains(&reference) {
                self.check_reach(write, reference.kind, &reference.name).await?;
            }
        }
        Ok(())
    }

    /// Copies a builtin into the scope of a write.
    #[boxed]
    pub(crate) async fn copy_builtin(
        &self,
        write: &mut Write,
        kind: Kind,
        name: &Name,
        copied: &mut Vec<EntityRef>,
    ) -> Result<()> {
        let Some(entity) = Builtins::get().find(kind, name) else {
            let found = self.scopes.scopes_of(kind, name).await?;
            return Err(self.out_of_reach(kind, name, write.scope(), &found).await);
        };
        for reference in entity.references() {
            if is_linked(reference.kind) {
                self.ensure(write, reference.kind, &reference.name, copied).await?;
            }
        }
        write.insert(&untagged_copy(entity), Action::Create).await.map_err(|error| match error {
            // Another writer copied it in the meantime.
            scopes::Error::Store(store::Error::Exists { kind, name }) => {
                store::Error::Raced { kind, name }.into()
            }
            other => other,
        })?;
        copied.push(EntityRef { kind, name: name.clone() });
        self.carry_state(write, kind, name).await
    }

    /// The locks of a builtin go on with its copy, and so do the stage of a persona and the chat about it.
    pub(crate) async fn carry_state(&self, write: &mut Write, kind: Kind, name: &Name) -> Result<()> {
        for field in self.scopes.locked_fields(Scope::Builtin, kind, name).await? {
            write.put_lock(kind, name, &field).await?;
        }
        if kind != Kind::Persona {
            return Ok(());
        }
        self.carry_stage(write, name, Scope::Builtin).await?;
        match self.scopes.editing_session(Scope::Builtin, name).await? {
            Some(session) => Ok(write.set_editing_session(name, session).await?),
            None => Ok(()),
        }
    }

    /// Sets the stage of a copied persona to that of the original.
    pub(crate) async fn carry_stage(&self, write: &mut Write, name: &Name, from: Scope) -> Result<()> {
        let loaded = self.scopes.load(name, Some(from), &scopes::Overrides::new()).await?;
        let Some(stage) = loaded.and_then(|loaded| loaded.bundle.stage.clone()) else { return Ok(()) };
        // The first stage is the default.
        if stage.position > 1
            && let Some(held) = write.find::<persona::Persona>(name).await?
        {
            write.set_stage(&held, &stage.arc, &stage.stage).await?;
        }
        Ok(())
    }

    /// The error for a name that a scope does not see.
    pub(crate) async fn out_of_reach(&self, kind: Kind, name: &Name, from: Scope, found: &[Scope]) -> Error {
        match found.first() {
            Some(found) if !reaches(from, *found) => {
                ScopeError::OutOfReach { kind, name: name.clone(), from, found: *found }.into()
            }
            _ => self.missing(kind, name).await,
        }
    }

    /// Holds an entity of the scope of a write. A builtin is copied there first.
    #[boxed]
    pub(crate) async fn hold(
        &self,
        write: &mut Write,
        kind: Kind,
        name: &Name,
        copied: &mut Vec<EntityRef>,
    ) -> Result<Held<AnyEntity>> {
        write.refuse_broken(kind, name)?;
        if let Some(held) = write.find_any(kind, name).await? {
            return Ok(held);
        }
        let found = self.scopes.scopes_of(kind, name).await?;
        if found == [Scope::Builtin] {
            self.copy_builtin(write, kind, name, copied).await?;
            if let Some(held) = write.find_any(kind, name).await? {
                return Ok(held);
            }
        }
        match found.first() {
            Some(elsewhere) => {
                let (name, wanted) = (name.clone(), write.scope());
                Err(Error::Elsewhere { kind, name, wanted, found: *elsewhere })
            }
            None => Err(self.missing(kind, name).await),
        }
    }
}

/// True if the database links pieces of this kind by row. It refers to other kinds by name.
pub(crate) const fn is_linked(kind: Kind) -> bool {
    matches!(kind, Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail | Kind::Arc | Kind::TestInput)
}
