//! `masque arc`: stages of arcs, and the stages of personas.

use app::inputs::{AddStage, AssignArc, OfPersona, RemoveStage, StagePart, UnassignArc};

use super::written::{print_of_owner, print_stage};
use crate::cli::{
    AddStageArgs, ArcCommand, AssignArgs, OfPersonaArgs, RemoveStageArgs, StagePartArgs, UnassignArgs,
};
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(command: ArcCommand, workspace: &Workspace, output: &mut Output) -> Result<()> {
    match command {
        ArcCommand::AddStage(args) => add_stage(args, workspace, output).await,
        ArcCommand::RemoveStage(args) => remove_stage(args, workspace, output).await,
        ArcCommand::AddPart(args) => add_part(args, workspace, output).await,
        ArcCommand::RemovePart(args) => remove_part(args, workspace, output).await,
        ArcCommand::Assign(args) => assign(args, workspace, output).await,
        ArcCommand::Unassign(args) => unassign(args, workspace, output).await,
        ArcCommand::Advance(args) => {
            let of = of_persona(&args, "arc advance")?;
            print_stage(&workspace.library.advance_stage(&of).await?, output)
        }
        ArcCommand::Reset(args) => {
            let of = of_persona(&args, "arc reset")?;
            print_stage(&workspace.library.reset_stage(&of).await?, output)
        }
    }
}

fn of_persona(args: &OfPersonaArgs, command: &'static str) -> Result<OfPersona> {
    Ok(OfPersona { persona: args.persona(command)?, scope: args.only.scope })
}

async fn add_stage(args: AddStageArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (arc, stage) = args.names()?;
    let AddStageArgs { order, description, condition, if_revision, change, why, .. } = args;
    let done = format!("set stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} is already up to date");
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
    print_of_owner(&workspace.library.add_stage(&workspace.author, input).await?, &done, &idle, output)
}

async fn remove_stage(args: RemoveStageArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (arc, stage) = args.names()?;
    let RemoveStageArgs { force, if_revision, change, why, .. } = args;
    let done = format!("removed stage {stage} from {arc}");
    let idle = format!("{arc} has no stage {stage}");
    let input = RemoveStage { arc, stage, force, if_revision, message: why.message, scope: change.scope };
    print_of_owner(&workspace.library.remove_stage(&workspace.author, input).await?, &done, &idle, output)
}

async fn add_part(args: StagePartArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let input = stage_part(args, "arc add-part")?;
    let StagePart { arc, stage, part, .. } = &input;
    let done = format!("added part {part} to stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} already has part {part}");
    print_of_owner(&workspace.library.add_stage_part(&workspace.author, input).await?, &done, &idle, output)
}

async fn remove_part(args: StagePartArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let input = stage_part(args, "arc remove-part")?;
    let StagePart { arc, stage, part, .. } = &input;
    let done = format!("removed part {part} from stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} has no part {part}");
    print_of_owner(
        &workspace.library.remove_stage_part(&workspace.author, input).await?,
        &done,
        &idle,
        output,
    )
}

fn stage_part(args: StagePartArgs, command: &'static str) -> Result<StagePart> {
    let (arc, stage, part) = args.names(command)?;
    let StagePartArgs { if_revision, change, why, .. } = args;
    Ok(StagePart { arc, stage, part, if_revision, message: why.message, scope: change.scope })
}

async fn assign(args: AssignArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let (persona, arc) = args.names()?;
    let AssignArgs { stage, if_revision, change, why, .. } = args;
    let input = AssignArc { persona, arc, stage, if_revision, message: why.message, scope: change.scope };
    print_stage(&workspace.library.assign_arc(&workspace.author, input).await?, output)
}

async fn unassign(args: UnassignArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let persona = args.persona()?;
    let UnassignArgs { if_revision, change, why, .. } = args;
    let done = format!("removed {persona} from its arc");
    let idle = format!("{persona} has no arc");
    let input = UnassignArc { persona, if_revision, message: why.message, scope: change.scope };
    print_of_owner(&workspace.library.unassign_arc(&workspace.author, input).await?, &done, &idle, output)
}
