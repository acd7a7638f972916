//! Links between a persona and its pieces. Linking is a change of the persona.

use async_recursion::async_recursion as boxed;
use persona::{Kind, Name, PartLink, Persona};
use scopes::Write;
use store::Action;

use crate::change::Terms;
use crate::inputs::{AddPart, PersonaGuardrail, PersonaPart, PersonaSkill, PersonaTrait};
use crate::outputs::{EntityRef, Written};
use crate::{Author, Library, Result};

/// Adds or removes one kind of link by name, for the kinds that have no place in an order.
macro_rules! links {
    ($($add:ident, $remove:ident, $input:ident { $field:ident } => $list:ident, $kind:ident;)+) => {
        impl Library {
            $(
                #[boxed]
                pub async fn $add(&self, author: &Author, input: $input) -> Result<Written> {
                    let $input { persona, $field: piece, if_revision, message, scope } = input;
                    let edit = async |write: &mut Write, persona: &mut Persona, copied: &mut Vec<EntityRef>| {
                        self.ensure(write, Kind::$kind, &piece, copied).await?;
                        if !persona.$list.contains(&piece) {
                            persona.$list.push(piece);
                        }
                        Ok(())
                    };
                    self.change(author, &persona, Terms { scope, if_revision, message }, Action::Link, edit).await
                }

                #[boxed]
                pub async fn $remove(&self, author: &Author, input: $input) -> Result<Written> {
                    let $input { persona, $field: piece, if_revision, message, scope } = input;
                    let edit = async |_: &mut Write, persona: &mut Persona, _: &mut Vec<EntityRef>| {
                        persona.$list.retain(|name| *name != piece);
                        Ok(())
                    };
                    self.change(author, &persona, Terms { scope, if_revision, message }, Action::Unlink, edit).await
                }
            )+
        }
    };
}

links! {
    add_trait, remove_trait, PersonaTrait { trait_ } => traits, Trait;
    add_skill, remove_skill, PersonaSkill { skill } => skills, Skill;
    add_guardrail, remove_guardrail, PersonaGuardrail { guardrail } => guardrails, Guardrail;
}

impl Library {
    /// Links a part, or moves it if it is linked.
    #[boxed]
    pub async fn add_part(&self, author: &Author, input: AddPart) -> Result<Written> {
        let AddPart { persona, part, part_order, priority, if_revision, message, scope } = input;
        let edit = async |write: &mut Write, persona: &mut Persona, copied: &mut Vec<EntityRef>| {
            self.ensure(write, Kind::Part, &part, copied).await?;
            place(persona, part, part_order, priority);
            Ok(())
        };
        self.change(author, &persona, Terms { scope, if_revision, message }, Action::Link, edit).await
    }

    /// Removes the link to a part.
    #[boxed]
    pub async fn remove_part(&self, author: &Author, input: PersonaPart) -> Result<Written> {
        let PersonaPart { persona, part, if_revision, message, scope } = input;
        let edit = async |_: &mut Write, persona: &mut Persona, _: &mut Vec<EntityRef>| {
            persona.parts.retain(|link| link.name != part);
            Ok(())
        };
        self.change(author, &persona, Terms { scope, if_revision, message }, Action::Unlink, edit).await
    }
}

/// Places a part among a persona's parts. Without an order, a new part comes last.
pub(crate) fn place(persona: &mut Persona, part: Name, order: Option<i32>, priority: Option<i32>) {
    if let Some(link) = persona.parts.iter_mut().find(|link| link.name == part) {
        link.order = order.unwrap_or(link.order);
        link.priority = priority.unwrap_or(link.priority);
    } else {
        let last = persona.parts.iter().map(|link| link.order).max();
        let order = order.unwrap_or_else(|| last.map_or(0, |last| last.saturating_add(1)));
        persona.parts.push(PartLink { name: part, order, priority: priority.unwrap_or(0) });
    }
    sort_parts(persona);
}

/// The order in which the store reads links back, so that unchanged ones compare equal.
pub(crate) fn sort_parts(persona: &mut Persona) {
    persona.parts.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.name.cmp(&b.name)));
}
