//! Errors of arcs and their stages.

use persona::{AsReport, Code, Kind, Name, Remedy, Subject};

use super::near_remedies;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArcError {
    #[error("arc {arc:?} has no stage {stage:?}")]
    UnknownStage { arc: Name, stage: Name, known: Vec<String> },
    #[error("arc {arc:?} has no stages")]
    NoStages { arc: Name },
    #[error("persona {persona:?} is in {stage:?}, the last stage of arc {arc:?}")]
    LastStage { persona: Name, stage: Name, arc: Name },
    #[error("persona {persona:?} has no arc")]
    NoArc { persona: Name },
}

impl AsReport for ArcError {
    fn code(&self) -> Code {
        match self {
            Self::UnknownStage { .. } => Code::UnknownStage,
            Self::NoStages { .. } => Code::NoStages,
            Self::LastStage { .. } => Code::LastStage,
            Self::NoArc { .. } => Code::NoArc,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::UnknownStage { arc, stage, .. } => {
                Subject::entity(Kind::Arc, arc.as_str()).at_field(format!("stages.{stage}"))
            }
            Self::NoStages { arc } => Subject::entity(Kind::Arc, arc.as_str()).at_field("stages"),
            Self::LastStage { persona, .. } | Self::NoArc { persona } => {
                Subject::entity(Kind::Persona, persona.as_str()).at_field("arc")
            }
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::UnknownStage { stage, known, .. } => near_remedies(stage.as_str(), known).0,
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::UnknownStage { known, .. } if known.is_empty() => vec![Remedy::AddStage],
            Self::UnknownStage { stage, known, .. } => near_remedies(stage.as_str(), known).1,
            Self::NoStages { .. } => vec![Remedy::AddStage],
            Self::LastStage { .. } => vec![Remedy::ResetStage],
            Self::NoArc { .. } => vec![Remedy::AssignArc],
        }
    }
}
