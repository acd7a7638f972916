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
            print_stage(&workspace.library.advance_stage(&of_persona(args)).await?, output)
        }
        ArcCommand::Reset(args) => {
            print_stage(&workspace.library.reset_stage(&of_persona(args)).await?, output)
        }
    }
}

fn of_persona(args: OfPersonaArgs) -> OfPersona {
    OfPersona { persona: args.persona, scope: args.only.scope }
}

async fn add_stage(args: AddStageArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let AddStageArgs { arc, stage, order, description, condition, if_revision, change, why } = args;
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
    let RemoveStageArgs { arc, stage, force, if_revision, change, why } = args;
    let done = format!("removed stage {stage} from {arc}");
    let idle = format!("{arc} has no stage {stage}");
    let input = RemoveStage { arc, stage, force, if_revision, message: why.message, scope: change.scope };
    print_of_owner(&workspace.library.remove_stage(&workspace.author, input).await?, &done, &idle, output)
}

async fn add_part(args: StagePartArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let StagePartArgs { arc, stage, part, .. } = &args;
    let done = format!("added part {part} to stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} already has part {part}");
    print_of_owner(
        &workspace.library.add_stage_part(&workspace.author, stage_part(args)).await?,
        &done,
        &idle,
        output,
    )
}

async fn remove_part(args: StagePartArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let StagePartArgs { arc, stage, part, .. } = &args;
    let done = format!("removed part {part} from stage {stage} of {arc}");
    let idle = format!("stage {stage} of {arc} has no part {part}");
    print_of_owner(
        &workspace.library.remove_stage_part(&workspace.author, stage_part(args)).await?,
        &done,
        &idle,
        output,
    )
}

fn stage_part(args: StagePartArgs) -> StagePart {
    let StagePartArgs { arc, stage, part, if_revision, change, why } = args;
    StagePart { arc, stage, part, if_revision, message: why.message, scope: change.scope }
}

async fn assign(args: AssignArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let AssignArgs { persona, arc, stage, if_revision, change, why } = args;
    let input = AssignArc { persona, arc, stage, if_revision, message: why.message, scope: change.scope };
    print_stage(&workspace.library.assign_arc(&workspace.author, input).await?, output)
}

async fn unassign(args: UnassignArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let UnassignArgs { persona, if_revision, change, why } = args;
    let done = format!("removed {persona} from its arc");
    let idle = format!("{persona} has no arc");
    let input = UnassignArc { persona, if_revision, message: why.message, scope: change.scope };
    print_of_owner(&workspace.library.unassign_arc(&workspace.author, input).await?, &done, &idle, output)
}
