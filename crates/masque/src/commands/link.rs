//! `masque link` and `masque unlink`.

use app::inputs::{AddPart, PersonaGuardrail, PersonaPart, PersonaSkill, PersonaTrait};
use persona::Kind;

use super::written;
use crate::cli::{LinkArgs, LinkKind, UnlinkArgs};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::session::Session;

pub(super) async fn link(args: LinkArgs, session: &Session, output: &mut Output) -> Result<()> {
    let LinkArgs { persona, kind, name, order, priority, if_revision, change, why } = args;
    let (message, scope) = (why.message, change.scope);
    if kind != LinkKind::Part && (order.is_some() || priority.is_some()) {
        let kind = Kind::from(kind);
        return Err(Failure::invalid(format!("--order and --priority are for parts; a {kind} has neither")));
    }
    let done = format!("linked {} {name} to {persona}", Kind::from(kind));
    let idle = format!("{} {name} is linked to {persona} already", Kind::from(kind));
    let Session { library, author, .. } = session;
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
    written::tell_of_owner(&written, &done, &idle, output)
}

pub(super) async fn unlink(args: UnlinkArgs, session: &Session, output: &mut Output) -> Result<()> {
    let UnlinkArgs { persona, kind, name, if_revision, change, why } = args;
    let (message, scope) = (why.message, change.scope);
    let done = format!("took {} {name} off {persona}", Kind::from(kind));
    let idle = format!("{} {name} is not linked to {persona}", Kind::from(kind));
    let Session { library, author, .. } = session;
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
    written::tell_of_owner(&written, &done, &idle, output)
}
