//! Arcs: their stages, and where personas stand in them.

use clap::{Args, Subcommand};
use persona::Name;

use super::scope::{name_to_change, name_to_read};
use super::{ChangeIn, OnlyIn, Why};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
An arc is made with `masque create arc` and shown with `masque show arc`.

  masque create arc onboarding --summary \"From guest to colleague.\"
  masque arc add-stage onboarding guest --condition \"Move on when the first change is merged.\"
  masque arc add-part onboarding guest plain-tone
  masque arc add-stage onboarding colleague
  masque arc assign reviewer onboarding
  masque arc advance reviewer")]
pub(crate) enum ArcCommand {
    /// Add a stage to an arc, or change the one of that name
    AddStage(AddStageArgs),
    /// Remove a stage from an arc
    RemoveStage(RemoveStageArgs),
    /// Give a stage a part, which replaces a persona's own parts of its type
    AddPart(StagePartArgs),
    /// Take a part off a stage
    RemovePart(StagePartArgs),
    /// Put a persona on an arc
    Assign(AssignArgs),
    /// Take a persona off its arc
    Unassign(UnassignArgs),
    /// Move a persona to the next stage of its arc
    Advance(OfPersonaArgs),
    /// Move a persona back to the first stage of its arc
    Reset(OfPersonaArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddStageArgs {
    /// The arc
    #[arg(value_parser = name_to_change)]
    pub(crate) arc: Name,
    /// The stage's name
    pub(crate) stage: Name,
    /// Its place: lower comes first [default: last]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) order: Option<i32>,
    /// What the stage is, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// When to move on, in words for the agent that decides
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: Option<String>,
    /// Refuse if the arc is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveStageArgs {
    /// The arc
    #[arg(value_parser = name_to_change)]
    pub(crate) arc: Name,
    /// The stage
    pub(crate) stage: Name,
    /// Also where personas stand in it
    #[arg(long)]
    pub(crate) force: bool,
    /// Refuse if the arc is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct StagePartArgs {
    /// The arc
    #[arg(value_parser = name_to_change)]
    pub(crate) arc: Name,
    /// The stage
    pub(crate) stage: Name,
    /// The part
    pub(crate) part: Name,
    /// Refuse if the arc is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct AssignArgs {
    /// The persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// The arc
    pub(crate) arc: Name,
    /// The stage to start in [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) stage: Option<Name>,
    /// Refuse if the persona is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct UnassignArgs {
    /// The persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// Refuse if the persona is not at this revision any more
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct OfPersonaArgs {
    /// The persona
    #[arg(value_parser = name_to_read)]
    pub(crate) persona: Name,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}
