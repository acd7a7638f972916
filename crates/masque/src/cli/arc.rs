//! `masque arc`: stages of arcs, and the stage of a persona.

use clap::{Args, Subcommand};
use persona::Name;

use super::scope::{name_to_change, name_to_read};
use super::{ChangeIn, OnlyIn, Why};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Create an arc with `masque create arc`, and show it with `masque show arc`.

  masque create arc onboarding --summary \"From guest to colleague.\"
  masque arc add-stage onboarding guest --condition \"Move on when the first change is merged.\"
  masque arc add-part onboarding guest plain-tone
  masque arc add-stage onboarding colleague
  masque arc assign reviewer onboarding
  masque arc advance reviewer")]
pub(crate) enum ArcCommand {
    /// Add a stage to an arc, or update it
    AddStage(AddStageArgs),
    /// Remove a stage from an arc
    RemoveStage(RemoveStageArgs),
    /// Add a part to a stage; it replaces the persona's parts of the same type
    AddPart(StagePartArgs),
    /// Remove a part from a stage
    RemovePart(StagePartArgs),
    /// Assign an arc to a persona
    Assign(AssignArgs),
    /// Remove the arc from a persona
    Unassign(UnassignArgs),
    /// Move a persona to the next stage of its arc
    Advance(OfPersonaArgs),
    /// Move a persona back to the first stage of its arc
    Reset(OfPersonaArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddStageArgs {
    /// Arc
    #[arg(value_parser = name_to_change)]
    pub(crate) arc: Name,
    /// Name of the stage
    pub(crate) stage: Name,
    /// Position; lower comes first [default: last]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) order: Option<i32>,
    /// Short description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// When to advance, in words for the agent that decides
    #[arg(long, value_name = "TEXT")]
    pub(crate) condition: Option<String>,
    /// Fail unless the arc is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveStageArgs {
    /// Arc
    #[arg(value_parser = name_to_change)]
    pub(crate) arc: Name,
    /// Stage
    pub(crate) stage: Name,
    /// Remove it even if personas are at this stage
    #[arg(long)]
    pub(crate) force: bool,
    /// Fail unless the arc is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct StagePartArgs {
    /// Arc
    #[arg(value_parser = name_to_change)]
    pub(crate) arc: Name,
    /// Stage
    pub(crate) stage: Name,
    /// Part
    pub(crate) part: Name,
    /// Fail unless the arc is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct AssignArgs {
    /// Persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// Arc
    pub(crate) arc: Name,
    /// Initial stage [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) stage: Option<Name>,
    /// Fail unless the persona is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct UnassignArgs {
    /// Persona
    #[arg(value_parser = name_to_change)]
    pub(crate) persona: Name,
    /// Fail unless the persona is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct OfPersonaArgs {
    /// Persona
    #[arg(value_parser = name_to_read)]
    pub(crate) persona: Name,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}
