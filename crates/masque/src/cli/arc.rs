//! `masque arc`: stages of arcs, and the stage of a persona.

use clap::{Args, Subcommand};
use persona::{Kind, Name};

use super::{ChangeIn, OnlyIn, ScopeOption, Target, Why};
use crate::failure::{CommandError, Result};

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
    #[command(override_usage = "masque arc add-part [OPTIONS] [arc] <ARC> <STAGE> <PART>")]
    AddPart(StagePartArgs),
    /// Remove a part from a stage
    #[command(override_usage = "masque arc remove-part [OPTIONS] [arc] <ARC> <STAGE> <PART>")]
    RemovePart(StagePartArgs),
    /// Assign an arc to a persona
    Assign(AssignArgs),
    /// Remove the arc from a persona
    Unassign(UnassignArgs),
    /// Move a persona to the next stage of its arc
    #[command(override_usage = "masque arc advance [OPTIONS] [persona] <PERSONA>")]
    Advance(OfPersonaArgs),
    /// Move a persona back to the first stage of its arc
    #[command(override_usage = "masque arc reset [OPTIONS] [persona] <PERSONA>")]
    Reset(OfPersonaArgs),
}

#[derive(Debug, Args)]
#[command(override_usage = "masque arc add-stage [OPTIONS] [arc] <ARC> <STAGE>")]
pub(crate) struct AddStageArgs {
    /// Arc, then the name of the stage
    #[arg(value_name = "NAME", required = true, num_args = 1..=3)]
    words: Vec<String>,
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

impl AddStageArgs {
    /// The arc and the stage.
    pub(crate) fn names(&self) -> Result<(Name, Name)> {
        let (arc, [stage]) = names(Kind::Arc, "arc add-stage", &self.words, "ARC STAGE", OF_WRITING)?;
        Ok((arc, stage))
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque arc remove-stage [OPTIONS] [arc] <ARC> <STAGE>")]
pub(crate) struct RemoveStageArgs {
    /// Arc, then the stage
    #[arg(value_name = "NAME", required = true, num_args = 1..=3)]
    words: Vec<String>,
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

impl RemoveStageArgs {
    /// The arc and the stage.
    pub(crate) fn names(&self) -> Result<(Name, Name)> {
        let (arc, [stage]) = names(Kind::Arc, "arc remove-stage", &self.words, "ARC STAGE", OF_WRITING)?;
        Ok((arc, stage))
    }
}

#[derive(Debug, Args)]
pub(crate) struct StagePartArgs {
    /// Arc, then the stage and the part
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    words: Vec<String>,
    /// Fail unless the arc is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl StagePartArgs {
    /// The arc, the stage and the part.
    pub(crate) fn names(&self, command: &'static str) -> Result<(Name, Name, Name)> {
        let (arc, [stage, part]) = names(Kind::Arc, command, &self.words, "ARC STAGE PART", OF_WRITING)?;
        Ok((arc, stage, part))
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque arc assign [OPTIONS] [persona] <PERSONA> <ARC>")]
pub(crate) struct AssignArgs {
    /// Persona, then the arc
    #[arg(value_name = "NAME", required = true, num_args = 1..=3)]
    words: Vec<String>,
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

impl AssignArgs {
    /// The persona and the arc.
    pub(crate) fn names(&self) -> Result<(Name, Name)> {
        let (persona, [arc]) = names(Kind::Persona, "arc assign", &self.words, "PERSONA ARC", OF_WRITING)?;
        Ok((persona, arc))
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque arc unassign [OPTIONS] [persona] <PERSONA>")]
pub(crate) struct UnassignArgs {
    /// Persona
    #[arg(value_name = "PERSONA", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Fail unless the persona is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

impl UnassignArgs {
    pub(crate) fn persona(&self) -> Result<Name> {
        let (persona, []) = names(Kind::Persona, "arc unassign", &self.words, "PERSONA", OF_WRITING)?;
        Ok(persona)
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfPersonaArgs {
    /// Persona
    #[arg(value_name = "PERSONA", required = true, num_args = 1..=2)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl OfPersonaArgs {
    pub(crate) fn persona(&self, command: &'static str) -> Result<Name> {
        let (persona, []) = names(Kind::Persona, command, &self.words, "PERSONA", OF_READING)?;
        Ok(persona)
    }
}

const OF_READING: ScopeOption = ScopeOption::OF_READING;
const OF_WRITING: ScopeOption = ScopeOption::OF_WRITING;

/// The entity that a command is about, which may follow its kind, and the names after it.
fn names<const N: usize>(
    kind: Kind,
    command: &'static str,
    words: &[String],
    expected: &'static str,
    option: ScopeOption,
) -> Result<(Name, [Name; N])> {
    let Target { name, rest, .. } = Target::only(kind, command, words, (N, N), option)?;
    let rest = rest.iter().map(|word| Name::parse(word)).collect::<std::result::Result<Vec<_>, _>>()?;
    let missing = |_| {
        let argument = expected.rsplit(' ').next().unwrap_or(expected);
        CommandError::MissingArgument { argument, example: format!("`masque {command} {expected}`") }
    };
    Ok((name, rest.try_into().map_err(missing)?))
}
