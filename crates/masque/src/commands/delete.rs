//! `masque delete`.

use app::inputs::Delete;
use app::outputs::Deleted;
use persona::{Kind, Name};

use super::lookup;
use super::written::{list, list_places, place_text};
use crate::ask;
use crate::cli::DeleteArgs;
use crate::failure::Result;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn run(args: DeleteArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let target = args.target()?;
    let known = lookup::known_kind("delete", &target, args.change.scope, workspace).await?;
    let kind = known.unwrap_or(Kind::Persona);
    let name = target.name;
    let DeleteArgs { force, yes, if_revision, change, why, .. } = args;
    let mut input = Delete { name, force, if_revision, message: why.message, scope: change.scope };
    if !yes && ask::can_ask(output) {
        let plan = workspace.library.plan_delete(kind, input.clone()).await?;
        if plan.deleted {
            if !confirm(&plan, output).await? {
                return output.line("nothing was deleted");
            }
            // The user knows who uses it.
            input.force = true;
        }
    }
    let outcome = workspace.library.delete(&workspace.author, kind, input).await?;
    if output.is_json() {
        return output.json(&outcome);
    }
    let Deleted { kind, name, scope, deleted, unlinked, left_without, in_force, .. } = &outcome;
    let kind = kind.spoken();
    if !deleted && known.is_none() {
        return print_nothing(name, workspace, output).await;
    }
    if !deleted {
        let place = if change.scope.is_some() { format!(" in {scope}") } else { String::new() };
        output.line(format!("nothing to delete: no {kind} is named {name}{place}"))?;
    } else if unlinked.is_empty() {
        output.line(format!("deleted {kind} {name} from {scope}"))?;
    } else {
        output
            .line(format!("deleted {kind} {name} from {scope}, and unlinked it from {}", list(unlinked)))?;
    }
    if !left_without.is_empty() {
        output.line("these still refer to it:")?;
        left_without.iter().try_for_each(|place| output.line(format!("  {}", place_text(place))))?;
    }
    if let Some(other) = outcome.fall_back_to {
        output.line(format!("these use the {other} one now: {}", list_places(&outcome.fall_back)))?;
    }
    if let Some(other) = in_force {
        // A weaker definition takes over; a stronger one was used all the time.
        let how = if *deleted && other < scope { "now used" } else { "used" };
        output.line(format!("the {other} {kind} {name} is {how}"))?;
    }
    Ok(())
}

/// Says that no kind has the name.
async fn print_nothing(name: &Name, workspace: &Workspace, output: &mut Output) -> Result<()> {
    output.line(format!("nothing to delete: nothing is named {name}"))?;
    match workspace.library.near_names(name).await.as_slice() {
        [] => Ok(()),
        near => output.advise(&format!("Near names: {}.", near.join(", "))),
    }
}

/// Says who uses the entity, and asks.
async fn confirm(plan: &Deleted, output: &mut Output) -> Result<bool> {
    let Deleted { kind, name, scope, unlinked, left_without, in_force, .. } = plan;
    let kind = kind.spoken();
    if !unlinked.is_empty() {
        output.line(format!("used in {scope}: {}; deleting it unlinks it there", list(unlinked)))?;
    }
    if !left_without.is_empty() {
        output.line(format!("these would still refer to it: {}", list_places(left_without)))?;
    }
    if let Some(other) = plan.fall_back_to {
        output.line(format!("{} will use the {other} one", list_places(&plan.fall_back)))?;
    }
    if unlinked.is_empty() && left_without.is_empty() && plan.fall_back.is_empty() {
        output.line(format!("nothing else refers to {kind} {name}"))?;
    }
    if let Some(other) = in_force.filter(|other| other < scope) {
        output.line(format!("the {other} {kind} {name} takes its place"))?;
    }
    ask::confirm(&format!("Delete {kind} {name} from {scope}?"), output).await
}
