//! The chain of bases that a persona builds on, and what can be wrong with one.

use std::fmt;

use crate::catalog::reach;
use crate::{BaseRef, Name, Scope, limits};

/// A persona and the bases that were followed from it so far, in that order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain(Vec<(Scope, Name)>);

/// A chain that cannot be followed. Each message prints the whole of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("{0} extends itself: {1} → {0}; take one extends out{2}")]
    Cycle(Link, Chain, String),
    #[error("{0} is more than {max} personas deep; shorten it", max = limits::CHAIN)]
    TooDeep(Chain),
    #[error("{0} → {1}: there is no such persona{2}")]
    Missing(Chain, BaseRef, String),
    #[error("{0} → {1}: a persona builds on its own scope or on weaker ones, and {1} is in a stronger one")]
    Upwards(Chain, BaseRef),
}

/// A persona in a scope, as messages print it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link(pub Scope, pub Name);

impl Chain {
    pub fn start(scope: Scope, name: Name) -> Self {
        Self(vec![(scope, name)])
    }

    /// Follows one more base.
    pub fn push(&mut self, scope: Scope, name: Name) -> Result<(), ChainError> {
        if self.has(scope, &name) {
            return Err(ChainError::Cycle(Link(scope, name), self.clone(), String::new()));
        }
        if self.0.len() >= limits::CHAIN {
            // Whoever has to shorten it sees the one that is too many.
            let mut whole = self.clone();
            whole.0.push((scope, name));
            return Err(ChainError::TooDeep(whole));
        }
        self.0.push((scope, name));
        Ok(())
    }

    /// The scopes in which the next base may be, strongest first.
    pub fn scopes_of(&self, base: &BaseRef) -> Result<Vec<Scope>, ChainError> {
        let reached: Vec<Scope> = reach(self.own(), base.scope).collect();
        match reached.is_empty() {
            true => Err(ChainError::Upwards(self.clone(), base.clone())),
            false => Ok(reached),
        }
    }

    /// How the next base is written so that it means a persona of this name, of which there is one in
    /// each of `scopes`. None where each is out of reach, or would lead back.
    pub fn reference(&self, name: &Name, scopes: &[Scope]) -> Option<BaseRef> {
        // What is in the chain counts, though it may be about to be written only.
        let mut reached = reach(self.own(), None)
            .filter(|scope| scopes.contains(scope) || self.has(*scope, name))
            .peekable();
        let plain = reached.peek().copied();
        let scope = reached.find(|scope| !self.has(*scope, name))?;
        Some(BaseRef { scope: (plain != Some(scope)).then_some(scope), name: name.clone() })
    }

    /// The error for a base that is not there, with what may have been meant.
    pub fn missing(&self, base: &BaseRef, meant: Option<&BaseRef>) -> ChainError {
        let hint = meant.map(|meant| format!("; did you mean \"{meant}\"?")).unwrap_or_default();
        ChainError::Missing(self.clone(), base.clone(), hint)
    }

    /// The scope of the persona whose base is next.
    fn own(&self) -> Scope {
        self.0.last().map_or(Scope::Project, |(scope, _)| *scope)
    }

    fn has(&self, scope: Scope, name: &Name) -> bool {
        self.0.iter().any(|(known, base)| *known == scope && base == name)
    }
}

impl ChainError {
    /// The same with the persona that may be named instead, of those of the name in `scopes`; for a
    /// chain that goes in a circle.
    pub fn or_namesake(self, scopes: &[Scope]) -> Self {
        match self {
            Self::Cycle(back_to, chain, _) => {
                let other = chain.reference(&back_to.1, scopes);
                let hint = other.map(|other| format!(", or name another scope, as in \"{other}\""));
                Self::Cycle(back_to, chain, hint.unwrap_or_default())
            }
            other => other,
        }
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (scope, name)) in self.0.iter().enumerate() {
            let arrow = if at == 0 { "" } else { " → " };
            write!(f, "{arrow}{scope}:{name}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0, self.1)
    }
}
