//! Errors of revisions and tags.

use persona::{AsReport, Code, Kind, Name, Remedy, Scope, Subject};

use super::near_remedies;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    #[error("{} {name:?} in {scope} has no revision {wanted} ({})", kind.spoken(), range(*oldest, *newest))]
    UnknownRevision { kind: Kind, name: Name, scope: Scope, wanted: String, oldest: i64, newest: i64 },
    #[error("{} {name:?} in {scope} has no revision tagged {tag:?}", kind.spoken())]
    UnknownTag { kind: Kind, name: Name, scope: Scope, tag: String, known: Vec<String> },
    #[error("{} {name:?} in {scope} has no revision tagged {tag:?}: the tag is of an earlier {} of this name", kind.spoken(), kind.spoken())]
    EarlierTag { kind: Kind, name: Name, scope: Scope, tag: String, revision: String },
    #[error("revision {revision} of {} {name:?} records its deletion", kind.spoken())]
    Deletion { kind: Kind, name: Name, revision: String },
    #[error("{} {name:?} has one revision, and nothing to compare it with", kind.spoken())]
    Single { kind: Kind, name: Name },
    #[error(
        "revision {revision} of {} {name:?} refers to {} {piece:?} as it was then, which its history no longer has",
        kind.spoken(), piece_kind.spoken()
    )]
    PieceForgotten { kind: Kind, name: Name, revision: String, piece_kind: Kind, piece: Name },
    /// `together` where the piece can be rolled back along with what refers to it.
    #[error("{referrer} refers to {} {piece:?} of {scope}, which no longer exists", kind.spoken())]
    PieceGone { referrer: String, kind: Kind, piece: Name, scope: Scope, revision: String, together: bool },
    #[error("{} {name:?} has no compiled prompt to compare: only personas do", kind.spoken())]
    NoPrompt { kind: Kind, name: Name },
    #[error("{} {name:?} is builtin and has no history", kind.spoken())]
    Builtin { kind: Kind, name: Name },
    #[error("revision {revision} of {} {name:?} in {scope} has the tag {tag:?}", kind.spoken())]
    TagTaken { kind: Kind, name: Name, scope: Scope, tag: String, revision: String },
    #[error("the tag {tag:?} {problem}")]
    InvalidTag { tag: String, problem: TagProblem },
}

/// Why a text cannot be a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TagProblem {
    #[error("must be one word of at most {most} bytes, such as \"production\"")]
    NotAWord { most: usize },
    #[error("is a number, which means a revision")]
    Number,
    #[error("means a revision of an earlier entity of the name")]
    Earlier,
}

fn range(oldest: i64, newest: i64) -> String {
    if oldest < newest { format!("expected {oldest} to {newest}") } else { format!("expected {oldest}") }
}

impl AsReport for HistoryError {
    fn code(&self) -> Code {
        match self {
            Self::UnknownRevision { .. } | Self::UnknownTag { .. } | Self::EarlierTag { .. } => {
                Code::UnknownRevision
            }
            Self::Deletion { .. } => Code::DeletedRevision,
            Self::Single { .. } => Code::SingleRevision,
            Self::PieceForgotten { .. } => Code::ForgottenRevision,
            Self::PieceGone { .. } => Code::PieceGone,
            Self::NoPrompt { .. } => Code::NotForKind,
            Self::Builtin { .. } => Code::NoHistory,
            Self::TagTaken { .. } => Code::TagTaken,
            Self::InvalidTag { .. } => Code::InvalidTag,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::UnknownRevision { kind, name, scope, wanted: revision, .. }
            | Self::UnknownTag { kind, name, scope, tag: revision, .. }
            | Self::EarlierTag { kind, name, scope, tag: revision, .. }
            | Self::TagTaken { kind, name, scope, revision, .. } => {
                Subject::entity(*kind, name.as_str()).in_scope(*scope).at_revision(revision)
            }
            Self::Deletion { kind, name, revision } | Self::PieceForgotten { kind, name, revision, .. } => {
                Subject::entity(*kind, name.as_str()).at_revision(revision)
            }
            Self::PieceGone { kind, piece, scope, revision, .. } => {
                Subject::entity(*kind, piece.as_str()).in_scope(*scope).at_revision(revision)
            }
            Self::Single { kind, name } | Self::Builtin { kind, name } => {
                Subject::entity(*kind, name.as_str())
            }
            Self::NoPrompt { kind, name } => Subject::entity(*kind, name.as_str()).at_field("compiled"),
            Self::InvalidTag { .. } => Subject::field("tag"),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::UnknownTag { tag, known, .. } => near_remedies(tag, known).0,
            Self::EarlierTag { revision, .. } => vec![revision.clone()],
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::UnknownTag { known, .. } if known.is_empty() => vec![Remedy::TagOne],
            Self::UnknownTag { tag, known, .. } => near_remedies(tag, known).1,
            Self::EarlierTag { revision, .. } => vec![Remedy::AskForRevision { revision: revision.clone() }],
            Self::Deletion { .. } => vec![Remedy::OtherRevision, Remedy::RollBack],
            Self::PieceForgotten { .. } => vec![Remedy::WithoutPieces],
            Self::PieceGone { kind, piece, revision, together, .. } => {
                let (kind, name, revision) = (*kind, piece.clone(), revision.clone());
                let first = Remedy::RollBackFirst { kind, name, revision };
                if *together { vec![first, Remedy::WithPieces] } else { vec![first] }
            }
            Self::NoPrompt { .. } => vec![Remedy::LeaveOut { fields: vec!["compiled".to_owned()] }],
            Self::Builtin { .. } => vec![Remedy::DuplicateIt],
            Self::TagTaken { .. } => vec![Remedy::MoveTag, Remedy::OtherTag],
            Self::InvalidTag { problem: TagProblem::NotAWord { .. }, .. } => Vec::new(),
            Self::InvalidTag { .. } => vec![Remedy::OtherTag],
            Self::UnknownRevision { .. } | Self::Single { .. } => Vec::new(),
        }
    }
}
