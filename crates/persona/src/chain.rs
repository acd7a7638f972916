//! The chain of bases of a persona, and its errors.

use std::fmt;

use crate::catalog::reach;
use crate::report::{AsReport, Code, Remedy, Subject};
use crate::{BaseRef, Kind, Name, Scope, limits};

/// A persona and its bases so far, in that order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain(Vec<(Scope, Name)>);

/// A chain that cannot be followed. Each message prints the whole chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// `other` is a persona of the same name in another scope that would not close the circle.
    #[error("{back_to} extends itself: {chain} → {back_to}")]
    Cycle { back_to: Link, chain: Chain, other: Option<BaseRef> },
    #[error("{0} is more than {max} personas deep", max = limits::CHAIN)]
    TooDeep(Chain),
    #[error("{chain} → {base}: there is no such persona")]
    Missing { chain: Chain, base: BaseRef, meant: Option<BaseRef> },
    #[error("{0} → {1}: a persona cannot extend one of a stronger scope")]
    Upwards(Chain, BaseRef),
}

impl AsReport for ChainError {
    fn code(&self) -> Code {
        match self {
            Self::Cycle { .. } => Code::BaseCycle,
            Self::TooDeep(_) => Code::TooManyBases,
            Self::Missing { .. } => Code::BaseMissing,
            Self::Upwards(..) => Code::OutOfReach,
        }
    }

    fn subject(&self) -> Subject {
        let chain = match self {
            Self::Cycle { back_to: Link(scope, name), .. } => {
                return Subject::entity(Kind::Persona, name.as_str()).in_scope(*scope).at_field("extends");
            }
            Self::TooDeep(chain) | Self::Missing { chain, .. } | Self::Upwards(chain, _) => chain,
        };
        match chain.0.first() {
            Some((scope, name)) => {
                Subject::entity(Kind::Persona, name.as_str()).in_scope(*scope).at_field("extends")
            }
            None => Subject::field("extends"),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Missing { meant: Some(meant), .. } => vec![meant.to_string()],
            Self::Cycle { other: Some(other), .. } => vec![other.to_string()],
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Cycle { other, .. } => {
                let other = other.as_ref().map(|other| Remedy::OtherBase { base: other.to_string() });
                [Remedy::RemoveExtends].into_iter().chain(other).collect()
            }
            Self::TooDeep(_) => vec![Remedy::Shorten],
            Self::Missing { meant: Some(_), .. } => vec![Remedy::DidYouMean],
            Self::Missing { meant: None, .. } => {
                vec![Remedy::ListKind { kind: Kind::Persona, part_type: None }]
            }
            Self::Upwards(chain, _) => vec![Remedy::PromoteTo { scope: chain.own() }],
        }
    }
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
            return Err(ChainError::Cycle { back_to: Link(scope, name), chain: self.clone(), other: None });
        }
        if self.0.len() >= limits::CHAIN {
            // The message shows the base that is too many.
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

    /// A reference to a persona of this name, which exists in each of `scopes`. `None` if all are out of
    /// reach or close a circle.
    pub fn reference(&self, name: &Name, scopes: &[Scope]) -> Option<BaseRef> {
        // Members of the chain count, even if they are not stored yet.
        let mut reached = reach(self.own(), None)
            .filter(|scope| scopes.contains(scope) || self.has(*scope, name))
            .peekable();
        let plain = reached.peek().copied();
        let scope = reached.find(|scope| !self.has(*scope, name))?;
        Some(BaseRef { scope: (plain != Some(scope)).then_some(scope), name: name.clone() })
    }

    /// The error for a base that does not exist, with the one that may have been meant.
    pub fn missing(&self, base: &BaseRef, meant: Option<BaseRef>) -> ChainError {
        ChainError::Missing { chain: self.clone(), base: base.clone(), meant }
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
    /// Adds an alternative base to the error of a circle: the namesake in one of `scopes`.
    pub fn or_namesake(self, scopes: &[Scope]) -> Self {
        match self {
            Self::Cycle { back_to, chain, .. } => {
                let other = chain.reference(&back_to.1, scopes);
                Self::Cycle { back_to, chain, other }
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
