//! `masque link` and `masque unlink`.

use app::inputs::{AddPart, PersonaGuardrail, PersonaPart, PersonaSkill, PersonaTrait};
use persona::{Kind, Name};

use super::{lookup, written};
use crate::cli::{LinkArgs, LinkKind, PersonaAndPiece, UnlinkArgs};
use crate::failure::{CommandError, Result};
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn link(args: LinkArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let LinkArgs { names, order, priority, if_revision, change, why } = args;
    let (persona, kind, name) = find("link", &names, workspace).await?;
    let (message, scope) = (why.message, change.scope);
    if kind != Kind::Part && (order.is_some() || priority.is_some()) {
        return Err(CommandError::NotForKind { flags: vec!["--order", "--priority"], kind }.into());
    }
    let done = format!("linked {kind} {name} to {persona}");
    let idle = format!("{kind} {name} is already linked to {persona}");
    let Workspace { library, author, .. } = workspace;
    let written = match LinkKind::of("link", kind)? {
        LinkKind::Part => {
            let input =
                AddPart { persona, part: name, part_order: order, priority, if_revision, message, scope };
            library.add_part(author, input).await?
        }
        LinkKind::Trait => {
            library
                .add_trait(author, PersonaTrait { persona, trait_: name, if_revision, message, scope })
                .await?
        }
        LinkKind::Skill => {
            library
                .add_skill(author, PersonaSkill { persona, skill: name, if_revision, message, scope })
                .await?
        }
        LinkKind::Guardrail => {
            let input = PersonaGuardrail { persona, guardrail: name, if_revision, message, scope };
            library.add_guardrail(author, input).await?
        }
    };
    written::print_of_owner(&written, &done, &idle, output)
}

pub(super) async fn unlink(args: UnlinkArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let UnlinkArgs { names, if_revision, change, why } = args;
    let (persona, kind, name) = find("unlink", &names, workspace).await?;
    let (message, scope) = (why.message, change.scope);
    let done = format!("unlinked {kind} {name} from {persona}");
    let idle = format!("{kind} {name} is not linked to {persona}");
    let Workspace { library, author, .. } = workspace;
    let written = match LinkKind::of("unlink", kind)? {
        LinkKind::Part => {
            library
                .remove_part(author, PersonaPart { persona, part: name, if_revision, message, scope })
                .await?
        }
        LinkKind::Trait => {
            library
                .remove_trait(author, PersonaTrait { persona, trait_: name, if_revision, message, scope })
                .await?
        }
        LinkKind::Skill => {
            library
                .remove_skill(author, PersonaSkill { persona, skill: name, if_revision, message, scope })
                .await?
        }
        LinkKind::Guardrail => {
            let input = PersonaGuardrail { persona, guardrail: name, if_revision, message, scope };
            library.remove_guardrail(author, input).await?
        }
    };
    written::print_of_owner(&written, &done, &idle, output)
}

/// The persona, and the kind and name of the piece.
async fn find(
    command: &'static str,
    names: &PersonaAndPiece,
    workspace: &Workspace,
) -> Result<(Name, Kind, Name)> {
    let (persona, target) = names.parse()?;
    match lookup::piece_kind(&format!("{command} {persona}"), &target, LinkKind::ALL, workspace).await? {
        Some(kind) => Ok((persona, kind, target.name)),
        None => {
            let kinds = LinkKind::ALL;
            Err(CommandError::NoPiece { name: target.name, kinds }.into())
        }
    }
}
