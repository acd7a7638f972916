//! Errors of tests.

use persona::{AsReport, Code, Kind, Name, Remedy, Subject};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TestError {
    #[error("there is no test run {0}")]
    Unknown(Uuid),
    #[error("persona {persona:?} has no test inputs")]
    NoInputs { persona: Name },
    #[error("test input {input:?} has no content")]
    NoContent { input: Name },
    #[error("the test has {count} cells (at most {most})")]
    TooManyCells { count: usize, most: usize },
    #[error("max_cost: [prices] of config.toml has no price for {model}")]
    Unpriced { model: String },
    #[error("persona {persona:?} is {same} on both sides")]
    SameVersion { persona: Name, same: String },
    #[error("{most} test runs are under way")]
    TooManyRuns { most: usize },
}

impl AsReport for TestError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown(_) => Code::UnknownTest,
            Self::NoInputs { .. } => Code::NoTestInputs,
            Self::NoContent { .. } => Code::Empty,
            Self::TooManyCells { .. } => Code::OutOfRange,
            Self::Unpriced { .. } => Code::Unpriced,
            Self::SameVersion { .. } => Code::ConflictingFields,
            Self::TooManyRuns { .. } => Code::Overloaded,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Unknown(_) => Subject::field("id"),
            Self::NoInputs { persona } => Subject::entity(Kind::Persona, persona.as_str()),
            Self::NoContent { input } => Subject::entity(Kind::TestInput, input.as_str()).at_field("content"),
            Self::TooManyCells { .. } => Subject::field("samples"),
            Self::Unpriced { .. } => Subject::field("max_cost"),
            Self::SameVersion { persona, .. } => Subject::entity(Kind::Persona, persona.as_str()),
            Self::TooManyRuns { .. } => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        let one_of = |fields: &[&str]| {
            vec![Remedy::AddOneOf { fields: fields.iter().map(|field| (*field).to_owned()).collect() }]
        };
        match self {
            Self::NoInputs { .. } => one_of(&["test_inputs"]),
            Self::NoContent { .. } => one_of(&["content"]),
            Self::Unpriced { .. } => vec![Remedy::LeaveOut { fields: vec!["max_cost".to_owned()] }],
            Self::SameVersion { .. } => one_of(&["a", "b"]),
            Self::Unknown(_) | Self::TooManyCells { .. } | Self::TooManyRuns { .. } => Vec::new(),
        }
    }
}
