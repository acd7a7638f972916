//! Errors of texts that are read or written as a personas.toml.

use files::{EditError, Problem};
use persona::{AsReport, Code, Kind, Name, Remedy, Subject};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("nothing to import (expected tables such as [personas.NAME]){}", below(warning.as_deref()))]
    NothingToImport { warning: Option<Box<Problem>> },
    #[error("{0}")]
    Wrong(Box<Problem>),
    #[error("a field includes another file ({file}), which only a personas.toml can")]
    Include { file: String },
    #[error("the text defines [{}.{found_name}] (expected [{}.{name}])", found_kind.table(), kind.table())]
    OtherEntry { kind: Kind, name: Name, found_kind: Kind, found_name: Name },
    #[error("the text has {count} entries (expected [{}.{name}] alone)", kind.table())]
    NotOneEntry { kind: Kind, name: Name, count: usize },
    #[error(transparent)]
    Unwritable(#[from] EditError),
}

fn below(warning: Option<&Problem>) -> String {
    warning.map(|warning| format!("\n{warning}")).unwrap_or_default()
}

impl AsReport for DocumentError {
    fn code(&self) -> Code {
        match self {
            Self::NothingToImport { .. } => Code::NothingToImport,
            Self::Wrong(_) => Code::InvalidDocument,
            Self::Include { .. } => Code::IncludeNotAllowed,
            Self::OtherEntry { .. } | Self::NotOneEntry { .. } => Code::OtherEntry,
            Self::Unwritable(error) => error.code(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Wrong(problem) => problem.subject(),
            Self::Unwritable(error) => error.subject(),
            Self::OtherEntry { kind, name, .. } | Self::NotOneEntry { kind, name, .. } => {
                Subject::entity(*kind, name.as_str())
            }
            _ => Subject::default(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Include { .. } => vec![Remedy::WriteOut],
            Self::OtherEntry { .. } => vec![Remedy::RenameIt],
            Self::Unwritable(error) => error.remedies(),
            _ => Vec::new(),
        }
    }
}
