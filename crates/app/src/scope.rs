//! Where a write goes, and what a name means from there.

use async_recursion::async_recursion as boxed;
use builtins::Builtins;
use persona::catalog::reach;
use persona::{AnyEntity, Entity, Kind, Name, Reference, Scope};
use scopes::Write;
use store::{Action, Held, Keep};

use crate::outputs::Piece;
use crate::templates::theirs;
use crate::{Error, Library, Result, ScopeError};

impl Library {
    /// Where a new entity goes: the named scope, else the default one.
    pub(crate) fn scope_for_new(&self, named: Option<Scope>) -> Scope {
        named.unwrap_or(self.default_scope)
    }

    /// Where a change of an entity goes: the named scope, else where the name resolves. A builtin
    /// is changed in the default scope, where it is copied to. An entry with a mistake stands where it
    /// stands, in force or not: what is weaker is not meant.
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

    /// The scope that a name resolves to; project where nothing has it: that is where an editor would
    /// save it.
    #[boxed]
    pub async fn scope_of(&self, kind: Kind, name: &Name) -> Result<Scope> {
        Ok(self.scopes.scopes_of(kind, name).await?.first().copied().unwrap_or(Scope::Project))
    }

    /// The scope that a name resolves to, for those who need what stands there.
    pub(crate) async fn resolved(&self, kind: Kind, name: &Name) -> Result<Scope> {
        match self.scopes.scopes_of(kind, name).await?.first() {
            Some(scope) => Ok(*scope),
            None => Err(self.missing(kind, name).await),
        }
    }

    /// Refuses a file that this library does not have.
    pub(crate) fn check_open(&self, scope: Scope) -> Result<()> {
        if !scope.is_file() || self.path(scope).is_some() {
            return Ok(());
        }
        Err(scopes::Error::NotOpen { scope }.into())
    }

    /// What a definition of a scope means by a name, or by `scope:name`.
    pub(crate) async fn look_up<T: Keep>(
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

    /// Sees to it that what is written can refer to an entity: it is in the same scope or, from a
    /// file, in a weaker one. In shared, a builtin is copied with everything that it refers to.
    pub(crate) async fn ensure(
        &self,
        write: &mut Write,
        kind: Kind,
        name: &Name,
        copied: &mut Vec<Piece>,
    ) -> Result<()> {
        if write.scope().is_file() {
            return self.check_reach(write, kind, name).await;
        }
        if write.has(kind, name).await? {
            return Ok(());
        }
        self.copy_builtin(write, kind, name, copied).await
    }

    /// Refuses a name that means nothing to what is written: neither its scope nor a weaker one has
    /// it.
    pub(crate) async fn check_reach(&self, write: &mut Write, kind: Kind, name: &Name) -> Result<()> {
        if write.has(kind, name).await? {
            return Ok(());
        }
        let scope = write.scope();
        let found = self.scopes.scopes_of(kind, name).await?;
        match found.iter().any(|known| *known < scope) {
            true => Ok(()),
            false => Err(self.out_of_reach(kind, name, scope, &found).await),
        }
    }

    /// Refuses presets that are not there. One that was missing `before` is not this change's mistake:
    /// lint tells of it.
    pub(crate) async fn check_presets(
        &self,
        write: &mut Write,
        before: &[Reference],
        entity: &impl Entity,
    ) -> Result<()> {
        for reference in entity.references() {
            let elsewhere = is_linked(reference.kind) || reference.kind == Kind::Persona;
            if !elsewhere && !before.contains(&reference) {
                self.check_reach(write, reference.kind, &reference.name).await?;
            }
        }
        Ok(())
    }

    /// Copies a builtin into the scope that is written to.
    pub(crate) async fn copy_builtin(
        &self,
        write: &mut Write,
        kind: Kind,
        name: &Name,
        copied: &mut Vec<Piece>,
    ) -> Result<()> {
        let Some(entity) = Builtins::get().find(kind, name) else {
            let found = self.scopes.scopes_of(kind, name).await?;
            return Err(self.out_of_reach(kind, name, write.scope(), &found).await);
        };
        for reference in entity.references() {
            if is_linked(reference.kind) {
                Box::pin(self.ensure(write, reference.kind, &reference.name, copied)).await?;
            }
        }
        insert_any(write, &theirs(entity)).await.map_err(|error| match error {
            // Somebody copied it between our look and our insert.
            scopes::Error::Store(store::Error::Exists { kind, name }) => {
                store::Error::Raced { kind, name }.into()
            }
            other => other,
        })?;
        copied.push(Piece { kind, name: name.clone() });
        if kind == Kind::Persona {
            self.carry_stage(write, name, Scope::Builtin).await?;
        }
        Ok(())
    }

    /// A copied persona stands where it stood in the scope that it comes from.
    pub(crate) async fn carry_stage(&self, write: &mut Write, name: &Name, from: Scope) -> Result<()> {
        let loaded = self.scopes.load(name, Some(from), &scopes::Overrides::new()).await?;
        let Some(stage) = loaded.and_then(|loaded| loaded.bundle.stage.clone()) else { return Ok(()) };
        // In the first one it stands anyway.
        if stage.position > 1
            && let Some(held) = write.find::<persona::Persona>(name).await?
        {
            write.set_stage(&held, &stage.arc, &stage.stage).await?;
        }
        Ok(())
    }

    /// The error for a name that cannot be meant from a scope: stronger scopes do not count.
    async fn out_of_reach(&self, kind: Kind, name: &Name, from: Scope, found: &[Scope]) -> Error {
        match found.first() {
            Some(stronger) if *stronger > from => {
                ScopeError::OutOfReach { kind, name: name.clone(), from, found: *stronger }.into()
            }
            _ => self.missing(kind, name).await,
        }
    }

    /// Holds an entity of the scope that is written to; a builtin is copied there first.
    pub(crate) async fn hold<T: Keep>(
        &self,
        write: &mut Write,
        name: &Name,
        copied: &mut Vec<Piece>,
    ) -> Result<Held<T>> {
        write.refuse_broken(T::KIND, name)?;
        if let Some(held) = write.find::<T>(name).await? {
            return Ok(held);
        }
        let found = self.scopes.scopes_of(T::KIND, name).await?;
        if found == [Scope::Builtin] {
            self.copy_builtin(write, T::KIND, name, copied).await?;
            if let Some(held) = write.find::<T>(name).await? {
                return Ok(held);
            }
        }
        match found.first() {
            Some(elsewhere) => Err(Error::Elsewhere {
                kind: T::KIND,
                name: name.clone(),
                wanted: write.scope(),
                found: *elsewhere,
            }),
            None => Err(self.missing(T::KIND, name).await),
        }
    }
}

/// Whether a shared entity has a link of its own to pieces of this kind, rather than their names.
pub(crate) const fn is_linked(kind: Kind) -> bool {
    matches!(kind, Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail | Kind::Arc | Kind::TestInput)
}

pub(crate) async fn insert_any(
    write: &mut Write,
    entity: &AnyEntity,
) -> std::result::Result<persona::Meta, scopes::Error> {
    persona::with_entity!(entity, entity => Ok(write.insert(entity, Action::Create).await?.meta))
}
