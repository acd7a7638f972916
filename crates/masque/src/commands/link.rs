//! `masque link` and `masque unlink`.

use app::inputs::{AddPart, PersonaGuardrail, PersonaPart, PersonaSkill, PersonaTrait};
use persona::Kind;

use super::written;
use crate::cli::{LinkArgs, LinkKind, UnlinkArgs};
use crate::failure::{CommandError, Result};
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) async fn link(args: LinkArgs, workspace: &Workspace, output: &mut Output) -> Result<()> {
    let LinkArgs { persona, kind, name, order, priority, if_revision, change, why } = args;
    let (message, scope) = (why.message, change.scope);
    if kind != LinkKind::Part && (order.is_some() || priority.is_some()) {
        let kind = Kind::from(kind);
        return Err(CommandError::NotForKind { flags: vec!["--order", "--priority"], kind }.into());
    }
    let done = format!("linked {} {name} to {persona}", Kind::from(kind));
    let idle = format!("{} {name} is already linked to {persona}", Kind::from(kind));
    let Workspace { library, author, .. } = workspace;
    let written = match kind {
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
    let UnlinkArgs { persona, kind, name, if_revision, change, why } = args;
    let (message, scope) = (why.message, change.scope);
    let done = format!("unlinked {} {name} from {persona}", Kind::from(kind));
    let idle = format!("{} {name} is not linked to {persona}", Kind::from(kind));
    let Workspace { library, author, .. } = workspace;
    let written = match kind {
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
