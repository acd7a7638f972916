//! Errors of scopes: references out of reach, and conflicts between scopes.

use persona::{AsReport, Code, Kind, Name, Remedy, Scope, Subject};

use super::near_remedies;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    #[error("{} {name:?} is in {found}, and a {from} definition cannot refer to it", kind.spoken())]
    OutOfReach { kind: Kind, name: Name, from: Scope, found: Scope },
    #[error("{} {name:?} is already in {scope}", kind.spoken())]
    AlreadyThere { kind: Kind, name: Name, scope: Scope },
    #[error("{field}: {} {name:?} means that of {} in {}, but that of {} in {}", kind.spoken(), from.1, from.0, to.1, to.0)]
    OtherMeaning {
        field: String,
        kind: Kind,
        name: Name,
        /// A scope, and the scope of the entity that the name means there.
        from: (Scope, Scope),
        to: (Scope, Scope),
    },
    #[error("both {} and {} have {} {name:?}, and both are needed", scopes.0, scopes.1, kind.spoken())]
    BothNeeded { kind: Kind, name: Name, scopes: (Scope, Scope) },
    #[error("{} extend each other in a circle", names.iter().map(Name::as_str).collect::<Vec<_>>().join(", "))]
    Circle { names: Vec<Name> },
    #[error("only {scope} defines {} {name:?}; there is no conflict", kind.spoken())]
    NoConflict { kind: Kind, name: Name, scope: Scope },
    #[error("{scope} does not define {} {name:?}", kind.spoken())]
    NotDefined { kind: Kind, name: Name, scope: Scope, field: Option<String>, known: Vec<Scope> },
    #[error("the scopes do not differ in {field:?}")]
    SameField { field: String, known: Vec<String> },
    #[error("a merge needs a scope for each field that differs (still open: {})", fields.join(", "))]
    Undecided { fields: Vec<String> },
}

impl AsReport for ScopeError {
    fn code(&self) -> Code {
        match self {
            Self::OutOfReach { .. } => Code::OutOfReach,
            Self::AlreadyThere { .. } => Code::AlreadyInScope,
            Self::OtherMeaning { .. } | Self::BothNeeded { .. } => Code::NameClash,
            Self::Circle { .. } => Code::BaseCycle,
            Self::NoConflict { .. } => Code::NoConflict,
            Self::NotDefined { .. } => Code::NotDefinedThere,
            Self::SameField { .. } => Code::FieldNotInConflict,
            Self::Undecided { .. } => Code::UndecidedFields,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::OutOfReach { kind, name, found: scope, .. }
            | Self::AlreadyThere { kind, name, scope }
            | Self::NoConflict { kind, name, scope } => {
                Subject::entity(*kind, name.as_str()).in_scope(*scope)
            }
            Self::OtherMeaning { field, kind, name, .. } => {
                Subject::entity(*kind, name.as_str()).at_field(field)
            }
            Self::BothNeeded { kind, name, .. } => Subject::entity(*kind, name.as_str()),
            Self::Circle { names } => {
                let name = names.first().map(Name::to_string);
                Subject { kind: Some(Kind::Persona), name, ..Subject::field("extends") }
            }
            Self::NotDefined { kind, name, scope, field, .. } => {
                Subject { field: field.clone(), ..Subject::entity(*kind, name.as_str()).in_scope(*scope) }
            }
            Self::SameField { field, .. } => Subject::field(field),
            Self::Undecided { fields } => Subject { field: fields.first().cloned(), ..Subject::default() },
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::NotDefined { known, .. } => words(known),
            Self::SameField { field, known } => near_remedies(field, known).0,
            Self::Undecided { fields } => fields.clone(),
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::OutOfReach { from, .. } => vec![Remedy::PromoteTo { scope: *from }],
            Self::OtherMeaning { .. } | Self::BothNeeded { .. } => vec![Remedy::RenameOne],
            Self::Circle { .. } => vec![Remedy::RemoveExtends],
            Self::NotDefined { known, .. } => vec![Remedy::UseOneOf { words: words(known) }],
            Self::SameField { field, known } => near_remedies(field, known).1,
            Self::AlreadyThere { .. } | Self::NoConflict { .. } | Self::Undecided { .. } => Vec::new(),
        }
    }
}

fn words(scopes: &[Scope]) -> Vec<String> {
    scopes.iter().map(ToString::to_string).collect()
}
