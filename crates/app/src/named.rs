//! The kinds that a name without a kind may mean.

use async_recursion::async_recursion as boxed;
use builtins::Builtins;
use persona::{Kind, Name, Scope};

use crate::{Error, Library, Result};

/// The names of the builtins of a kind.
pub fn builtin_names(kind: Kind) -> Vec<Name> {
    let builtins = Builtins::get().all();
    builtins.filter(|entity| entity.kind() == kind).map(|entity| entity.name().clone()).collect()
}

impl Library {
    /// The kinds among some that a bare name may mean: persona if a persona has it, else every kind that has
    /// it. Looks in the given scope first, then in all.
    #[boxed]
    pub async fn kinds_named(&self, name: &Name, among: &[Kind], scope: Option<Scope>) -> Result<Vec<Kind>> {
        let mut found = Vec::new();
        for kind in among {
            if self.has_name(*kind, name, scope).await? {
                found.push(*kind);
            }
            if found == [Kind::Persona] {
                break;
            }
        }
        if found.is_empty() && scope.is_some() {
            return self.kinds_named(name, among, None).await;
        }
        Ok(found)
    }

    /// The kinds whose history has a bare name: those of existing entities, else those of deleted ones.
    #[boxed]
    pub async fn kinds_recorded(&self, name: &Name, scope: Option<Scope>) -> Result<Vec<Kind>> {
        let mut found = self.kinds_named(name, Kind::ALL, scope).await?;
        if found.is_empty() {
            for kind in Kind::ALL {
                if self.had_name(*kind, name, scope).await? {
                    found.push(*kind);
                }
            }
        }
        Ok(found)
    }

    /// The error for a name that no kind has, with near names of all kinds.
    #[boxed]
    pub async fn nothing_named(&self, name: &Name, scope: Option<Scope>) -> Error {
        match scope.map_or(Ok(()), |scope| self.check_open(scope)) {
            Ok(()) => Error::NothingNamed { name: name.clone(), near: self.near_names(name).await },
            Err(not_open) => not_open,
        }
    }

    /// Names of any kind that resemble a name, best first.
    #[boxed]
    pub async fn near_names(&self, name: &Name) -> Vec<String> {
        let mut near = Vec::new();
        for kind in Kind::ALL {
            near.extend(self.scopes.near_names(*kind, name.as_str()).await.unwrap_or_default());
        }
        let best = persona::nearest(name.as_str(), near.iter().map(String::as_str));
        best.into_iter().map(str::to_owned).collect()
    }

    /// True if a scope has the name, also in an entry with errors.
    async fn has_name(&self, kind: Kind, name: &Name, scope: Option<Scope>) -> Result<bool> {
        let is_meant = |found: &Scope| scope.is_none_or(|scope| scope == *found);
        Ok(self.scopes.broken_in(kind, name).iter().any(is_meant)
            || self.scopes.scopes_of(kind, name).await?.iter().any(is_meant))
    }

    /// True if the history of a scope has the name.
    async fn had_name(&self, kind: Kind, name: &Name, scope: Option<Scope>) -> Result<bool> {
        let scopes = [Scope::Project, Scope::Global, Scope::Shared];
        for scope in scopes.into_iter().filter(|known| scope.is_none_or(|scope| scope == *known)) {
            let is_open = !scope.is_file() || self.path(scope).is_some();
            if is_open && !self.scopes.history(scope, kind, name, 1).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
