//! Creates personas together with their pieces, and updates their fields.

use async_recursion::async_recursion as boxed;
use persona::{
    AnyEntity, Chain, Entity, Guardrail, Kind, Name, Part, Persona, Skill, Trait, guardrail_fields,
    part_fields, persona_fields, says_nothing, skill_fields, trait_fields,
};
use scopes::Write;
use store::{Action, Keep};

use crate::change::Terms;
use crate::inputs::{
    CreatePersona, GuardrailDefinition, NameOrDefinition, PartDefinition, SkillDefinition, TraitDefinition,
    UpdatePersona, build, set_fields,
};
use crate::library::checked;
use crate::links::place;
use crate::outputs::{EntityRef, Written};
use crate::pieces::set;
use crate::{Author, Error, Library, Result, ValueError};

impl Library {
    /// Creates a persona and, in the same transaction, the pieces that its input defines.
    #[boxed]
    pub async fn create_persona(&self, author: &Author, input: CreatePersona) -> Result<Written> {
        let mut write = self
            .scopes
            .write(self.scope_for_new(input.scope), author.because(input.message.clone())?)
            .await?;
        if write.has(Kind::Persona, &input.name).await? {
            return Err(Error::Exists { kind: Kind::Persona, name: input.name });
        }
        let mut pieces = Pieces { created: Vec::new(), copied: Vec::new() };
        let mut persona = Persona::new(input.name);
        for (index, part) in input.parts.unwrap_or_default().into_iter().enumerate() {
            let (name, order, priority) = pieces.part(self, &mut write, index, part).await?;
            if persona.parts.iter().any(|link| link.name == name) {
                return Err(ValueError::NamedTwice { field: format!("parts[{index}]"), name }.into());
            }
            place(&mut persona, name, Some(order.unwrap_or(index as i32)), priority);
        }
        for item in input.traits.unwrap_or_default() {
            persona.traits.push(pieces.add(self, &mut write, item, define_trait).await?);
        }
        for item in input.skills.unwrap_or_default() {
            persona.skills.push(pieces.add(self, &mut write, item, define_skill).await?);
        }
        for item in input.guardrails.unwrap_or_default() {
            persona.guardrails.push(pieces.add(self, &mut write, item, define_guardrail).await?);
        }
        if let Some(arc) = &input.arc {
            self.ensure(&mut write, Kind::Arc, arc, &mut pieces.copied).await?;
        }
        persona.arc = input.arc;
        persona_fields!(set_fields, { persona, input });
        for test_input in &persona.test_inputs {
            self.ensure(&mut write, Kind::TestInput, test_input, &mut pieces.copied).await?;
        }
        let any = AnyEntity::from(persona.clone());
        checked(&any)?;
        self.check_presets(&mut write, &[], &any).await?;
        self.check_new_persona(&mut write, &persona).await?;
        let stored = write.insert(&any, Action::Create).await?;
        write.commit().await?;
        let Pieces { created, copied } = pieces;
        Ok(Written { created, copied, ..Written::created(Kind::Persona, persona.name, &stored.meta) })
    }

    /// Updates a persona's own fields. Links have operations of their own.
    #[boxed]
    pub async fn update_persona(&self, author: &Author, input: UpdatePersona) -> Result<Written> {
        let name = input.name.clone();
        let terms =
            Terms { scope: input.scope, if_revision: input.if_revision, message: input.message.clone() };
        let edit = async |write: &mut Write, persona: &mut Persona, copied: &mut Vec<EntityRef>| {
            let before = persona.references();
            set(&mut persona.name, input.new_name);
            persona_fields!(set_fields, { persona, input });
            for test_input in &persona.test_inputs {
                self.ensure(write, Kind::TestInput, test_input, copied).await?;
            }
            self.check_presets(write, &before, &persona.clone().into()).await?;
            self.check_base(write, persona).await?;
            Ok(())
        };
        self.change(author, &name, terms, Action::Update, edit).await
    }

    /// Fails if a persona's prompt would be empty, or its base is wrong.
    pub(crate) async fn check_new_persona(&self, write: &mut Write, persona: &Persona) -> Result<()> {
        let bases = self.check_base(write, persona).await?;
        match says_nothing(std::iter::once(persona).chain(&bases)) {
            true => Err(Error::SaysNothing { name: persona.name.clone() }),
            false => Ok(()),
        }
    }

    /// The bases of a persona, nearest first. Fails if one does not exist or leads back to the persona.
    pub(crate) async fn check_base(&self, write: &mut Write, persona: &Persona) -> Result<Vec<Persona>> {
        let mut bases = Vec::new();
        let scope = write.scope();
        let mut chain = Chain::start(scope, persona.name.clone());
        let mut next = persona.extends.clone();
        while let Some(base) = next {
            let mut found = None;
            let candidates = chain.scopes_of(&base).map_err(store::Error::from)?;
            for candidate in candidates {
                // Entities of this write count, and so does the persona itself.
                found = match candidate == scope {
                    true if base.name == persona.name => Some(persona.clone()),
                    true => write.peek::<Persona>(&base.name).await?,
                    false => {
                        let stored = self.scopes.get::<Persona>(&base.name, Some(candidate)).await?;
                        stored.map(|stored| stored.entity)
                    }
                }
                .map(|persona| (candidate, persona));
                if found.is_some() {
                    break;
                }
            }
            let Some((scope, persona)) = found else {
                // A writer named a base that does not exist. For a reader, the persona is broken.
                let meant = self.meant_base(&chain, &base).await;
                return Err(Error::BaseNotFound(chain.missing(&base, meant)));
            };
            if let Err(error) = chain.push(scope, base.name) {
                return Err(self.broken_base(error.into()).await);
            }
            next = persona.extends.clone();
            bases.push(persona);
        }
        Ok(bases)
    }
}

/// Pieces that were created or copied with a persona.
struct Pieces {
    created: Vec<EntityRef>,
    copied: Vec<EntityRef>,
}

impl Pieces {
    /// Makes a piece available: finds it by name, or creates the given definition.
    async fn add<T: Keep + Entity, D>(
        &mut self,
        library: &Library,
        write: &mut Write,
        reference: NameOrDefinition<D>,
        define: impl FnOnce(D) -> Result<T>,
    ) -> Result<Name> {
        match reference {
            NameOrDefinition::Name(name) => {
                library.ensure(write, T::KIND, &name, &mut self.copied).await?;
                Ok(name)
            }
            NameOrDefinition::Definition(definition) => self.define(write, define(definition)?.into()).await,
        }
    }

    async fn part(
        &mut self,
        library: &Library,
        write: &mut Write,
        index: usize,
        reference: NameOrDefinition<PartDefinition>,
    ) -> Result<(Name, Option<i32>, Option<i32>)> {
        let definition = match reference {
            NameOrDefinition::Name(name) => {
                library.ensure(write, Kind::Part, &name, &mut self.copied).await?;
                return Ok((name, None, None));
            }
            NameOrDefinition::Definition(definition) => definition,
        };
        let PartDefinition { part_order, priority, .. } = definition;
        let Some(part_type) = definition.part_type else {
            let PartDefinition { name, description, summary, content, tags, .. } = definition;
            if description.is_some() || summary.is_some() || content.is_some() || tags.is_some() {
                let field = format!("parts[{index}].part_type");
                return Err(ValueError::PartType { field, part: name }.into());
            }
            library.ensure(write, Kind::Part, &name, &mut self.copied).await?;
            return Ok((name, part_order, priority));
        };
        let mut part = Part::new(definition.name.clone(), part_type);
        part_fields!(set_fields, { part, definition });
        Ok((self.define(write, part.into()).await?, part_order, priority))
    }

    /// Creates a piece. An existing one must be the same.
    #[boxed]
    async fn define(&mut self, write: &mut Write, piece: AnyEntity) -> Result<Name> {
        checked(&piece)?;
        let (kind, name) = (piece.kind(), piece.name().clone());
        match write.find_any(kind, &name).await? {
            Some(held) if held.stored.entity == piece => {}
            Some(_) => return Err(Error::Exists { kind, name }),
            None => {
                write.insert(&piece, Action::Create).await?;
                self.created.push(EntityRef { kind, name: name.clone() });
            }
        }
        Ok(name)
    }
}

fn define_trait(definition: TraitDefinition) -> Result<Trait> {
    Ok(trait_fields!(build, { Trait, definition }))
}

fn define_skill(definition: SkillDefinition) -> Result<Skill> {
    Ok(skill_fields!(build, { Skill, definition }))
}

fn define_guardrail(definition: GuardrailDefinition) -> Result<Guardrail> {
    Ok(guardrail_fields!(build, { Guardrail, definition }))
}
