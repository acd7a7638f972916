//! `masque arc`: stages of arcs, and personas on their way through them.

use app::inputs::{AddStage, AssignArc, OfPersona, RemoveStage, StagePart, UnassignArc};

use super::written::{tell_of_owner, tell_stage};
use crate::cli::{
    AddStageArgs, ArcCommand, AssignArgs, OfPersonaArgs, RemoveStageArgs, StagePartArgs, UnassignArgs,
};
use crate::failure::Result;
use crate::output::Output;
use crate::session::Session;

pub(super) async fn run(command: ArcCommand, session: &Session, output: &mut Output) -> Result<()> {
    match command {
        ArcCommand::AddStage(args) => add_stage(args, session, output).await,
        ArcCommand::RemoveStage(args) => remove_stage(args, session, output).await,
        ArcCommand::AddPart(args) => add_part(args, session, output).await,
        ArcCommand::RemovePart(args) => remove_part(args, session, output).await,
        ArcCommand::Assign(args) => assign(args, session, output).await,
        ArcCommand::Unassign(args) => unassign(args, session, output).await,
        ArcCommand::Advance(args) => {
            tell_stage(&session.library.advance_stage(&of_persona(args)).await?, output)
        }
        ArcCommand::Reset(args) => tell_stage(&session.library.reset_stage(&of_persona(args)).await?, output),
    }
}

fn of_persona(args: OfPersonaArgs) -> OfPersona {
    OfPersona { persona: args.persona, scope: args.only.scope }
}

async fn add_stage(args: AddStageArgs, session: &Session, output: &mut Output) -> Result<()> {
    let AddStageArgs { arc, stage, order, description, condition, if_revision, change, why } = args;
    let done = format!("set stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} is so already");
    let input = AddStage {
        arc,
        name: stage,
        stage_order: order,
        description,
        condition,
        if_revision,
        message: why.message,
        scope: change.scope,
    };
    tell_of_owner(&session.library.add_stage(&session.author, input).await?, &done, &idle, output)
}

async fn remove_stage(args: RemoveStageArgs, session: &Session, output: &mut Output) -> Result<()> {
    let RemoveStageArgs { arc, stage, force, if_revision, change, why } = args;
    let done = format!("removed stage {stage} from {arc}");
    let idle = format!("{arc} has no stage {stage}");
    let input = RemoveStage { arc, stage, force, if_revision, message: why.message, scope: change.scope };
    tell_of_owner(&session.library.remove_stage(&session.author, input).await?, &done, &idle, output)
}

async fn add_part(args: StagePartArgs, session: &Session, output: &mut Output) -> Result<()> {
    let StagePartArgs { arc, stage, part, .. } = &args;
    let done = format!("gave part {part} to stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} has part {part} already");
    tell_of_owner(
        &session.library.add_stage_part(&session.author, stage_part(args)).await?,
        &done,
        &idle,
        output,
    )
}

async fn remove_part(args: StagePartArgs, session: &Session, output: &mut Output) -> Result<()> {
    let StagePartArgs { arc, stage, part, .. } = &args;
    let done = format!("took part {part} off stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} has no part {part}");
    tell_of_owner(
        &session.library.remove_stage_part(&session.author, stage_part(args)).await?,
        &done,
        &idle,
        output,
    )
}

fn stage_part(args: StagePartArgs) -> StagePart {
    let StagePartArgs { arc, stage, part, if_revision, change, why } = args;
    StagePart { arc, stage, part, if_revision, message: why.message, scope: change.scope }
}

async fn assign(args: AssignArgs, session: &Session, output: &mut Output) -> Result<()> {
    let AssignArgs { persona, arc, stage, if_revision, change, why } = args;
    let input = AssignArc { persona, arc, stage, if_revision, message: why.message, scope: change.scope };
    tell_stage(&session.library.assign_arc(&session.author, input).await?, output)
}

async fn unassign(args: UnassignArgs, session: &Session, output: &mut Output) -> Result<()> {
    let UnassignArgs { persona, if_revision, change, why } = args;
    let done = format!("took {persona} off its arc");
    let idle = format!("{persona} is on no arc");
    let input = UnassignArc { persona, if_revision, message: why.message, scope: change.scope };
    tell_of_owner(&session.library.unassign_arc(&session.author, input).await?, &done, &idle, output)
}
