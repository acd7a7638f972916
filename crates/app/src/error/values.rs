//! Errors of single values in an input.

use agent::ModeError;
use persona::{AsReport, BaseRefError, Code, Kind, Name, NameError, Remedy, Subject};

use super::near_remedies;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    #[error("{field}: {source}")]
    Name { field: String, source: NameError },
    #[error("extends: {source}")]
    Base { source: BaseRefError },
    #[error(transparent)]
    Mode(#[from] ModeError),
    #[error("no template is named {name:?}")]
    Template { name: Name, known: Vec<String> },
    #[error("{field}: {name:?} is named twice")]
    NamedTwice { field: String, name: Name },
    #[error("{field} is missing: a new part needs one")]
    PartType { field: String, part: Name },
    #[error("entity.name is {given} (expected {name:?})")]
    OtherName { given: String, name: String },
    #[error("{field} is {value} (expected {low} to {high})")]
    OutOfRange { field: &'static str, low: usize, high: usize, value: usize },
    #[error("{field}: the text has {length} bytes (expected at most {most})")]
    TooLong { field: &'static str, most: usize, length: usize },
    #[error("{field}: the text contains a NUL character")]
    Nul { field: &'static str },
    #[error("{field} must not be empty")]
    Empty { field: &'static str },
    #[error("{cursor:?} is not a cursor that a list returned")]
    Cursor { cursor: String },
    #[error("after: {text:?} is not the id of an event, such as 12 or 12.3")]
    EventId { text: String },
    #[error("after: session {session} has no event {after} yet (the last is {last})")]
    FutureEvent { session: uuid::Uuid, after: String, last: i64 },
    #[error("{} is required", persona::one_of(fields).unwrap_or_default())]
    NoneGiven { fields: &'static [&'static str] },
    #[error("{} exclude each other", fields.join(", "))]
    SeveralGiven { fields: &'static [&'static str] },
    #[error("{} has no field {field:?}", kind.spoken())]
    NoField { kind: Kind, field: String, known: Vec<String> },
    #[error("entity: nothing to change")]
    NothingToChange,
}

impl AsReport for ValueError {
    fn code(&self) -> Code {
        match self {
            Self::Name { .. } => Code::InvalidName,
            Self::Base { source } => source.code(),
            Self::Mode(_) | Self::NoField { .. } => Code::UnknownWord,
            Self::Template { .. } => Code::UnknownTemplate,
            Self::NamedTwice { .. } => Code::NamedTwice,
            Self::PartType { .. } | Self::NoneGiven { .. } => Code::MissingField,
            Self::NothingToChange => Code::NothingToChange,
            Self::OtherName { .. } | Self::SeveralGiven { .. } => Code::ConflictingFields,
            Self::Cursor { .. } => Code::InvalidCursor,
            Self::EventId { .. } => Code::InvalidValue,
            Self::FutureEvent { .. } => Code::OutOfRange,
            Self::OutOfRange { .. } => Code::OutOfRange,
            Self::TooLong { .. } => Code::TooLong,
            Self::Nul { .. } => Code::NulCharacter,
            Self::Empty { .. } => Code::Empty,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Name { field, .. } | Self::NamedTwice { field, .. } | Self::PartType { field, .. } => {
                Subject::field(field)
            }
            Self::Base { .. } => Subject::field("extends"),
            Self::Mode(_) => Subject::field("mode"),
            Self::Template { name, .. } => Subject::entity(Kind::Persona, name.as_str()),
            Self::OtherName { .. } => Subject::field("entity.name"),
            Self::Cursor { .. } => Subject::field("cursor"),
            Self::EventId { .. } => Subject::field("after"),
            Self::FutureEvent { session, .. } => Subject::session(session).at_field("after"),
            Self::NoneGiven { fields } | Self::SeveralGiven { fields } => {
                Subject { field: fields.first().map(|field| (*field).to_owned()), ..Subject::default() }
            }
            Self::NoField { .. } => Subject::field("field"),
            Self::NothingToChange => Subject::field("entity"),
            Self::OutOfRange { field, .. }
            | Self::TooLong { field, .. }
            | Self::Nul { field }
            | Self::Empty { field } => Subject::field(*field),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Base { source } => source.candidates(),
            Self::NoneGiven { fields } => fields.iter().map(|field| (*field).to_owned()).collect(),
            Self::Mode(_) => agent::Mode::ALL.iter().map(|mode| mode.as_str().to_owned()).collect(),
            Self::Template { name, known } => near_remedies(name.as_str(), known).0,
            Self::NoField { field, known, .. } => near_remedies(field, known).0,
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Template { name, known } => near_remedies(name.as_str(), known).1,
            Self::NoField { field, known, .. } => near_remedies(field, known).1,
            Self::PartType { part, field } => {
                vec![Remedy::AddField { field: field.clone() }, Remedy::LinkInstead { name: part.clone() }]
            }
            Self::OtherName { .. } => vec![Remedy::RenameIt],
            Self::Cursor { .. } => vec![Remedy::StartOver],
            Self::SeveralGiven { .. } => vec![Remedy::SendOne],
            Self::EventId { .. } | Self::FutureEvent { .. } => {
                vec![Remedy::LeaveOut { fields: vec!["after".to_owned()] }]
            }
            Self::TooLong { field: "content", .. } => vec![Remedy::MoveToFile],
            Self::TooLong { .. } => vec![Remedy::Shorten],
            Self::Nul { .. } => vec![Remedy::RemoveNul],
            _ => Vec::new(),
        }
    }
}
