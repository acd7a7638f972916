//! Personas: load, manifest, compile, create, update.

use std::sync::Arc;

use persona::{
    Bundle, Compiled, Guardrail, Kind, LoadedPersona, Manifest, Name, OverrideError, Part, Persona,
    PersonaView, Request, Skill, TokenCounter as _, Trait, View, assemble, manifest,
};
use store::{Action, Write};

use crate::change::Terms;
use crate::copy::Copy;
use crate::inputs::{
    CreatePersona, GetPersona, GuardrailDefinition, PartDefinition, Reference, SkillDefinition,
    TraitDefinition, UpdatePersona,
};
use crate::library::checked;
use crate::links::place;
use crate::outputs::{CompiledPersona, Piece, Written};
use crate::pieces::{set, set_text, some_text};
use crate::{Author, Error, Library, Result};

impl Library {
    /// A persona, assembled as the caller asks.
    pub async fn get_persona(&self, input: &GetPersona) -> Result<Arc<LoadedPersona>> {
        let request = request(input);
        if input.compiled {
            return self.get_compiled(&input.name, &request).await;
        }
        if request.is_plain() {
            let Some(answer) = self.store.plain(&input.name, request.view).await? else {
                return Err(self.missing(Kind::Persona, &input.name).await);
            };
            self.store.usage().note(&input.name);
            return Ok(answer);
        }
        let loaded = self.load(&input.name, &request).await?;
        let assembled = match assemble(&loaded.bundle, &request, &self.tokenizer) {
            Ok(assembled) => assembled,
            Err(error) => return Err(self.bad_override(error).await),
        };
        let view = persona::view(&assembled, &request, self.tokenizer.tokenizer());
        Ok(Arc::new(LoadedPersona::new(&view)))
    }

    /// The merged prompt text for a request, overrides and budgets included; nothing is kept.
    pub async fn prompt(&self, input: &GetPersona) -> Result<String> {
        let request = request(input);
        let loaded = self.load(&input.name, &request).await?;
        let assembled = match assemble(&loaded.bundle, &request, &self.tokenizer) {
            Ok(assembled) => assembled,
            Err(error) => return Err(self.bad_override(error).await),
        };
        let text = persona::compile(&assembled);
        Ok(match request.view {
            View::Summary => text.summary,
            View::Detail => text.detail,
        })
    }

    /// What a persona is made of, without the contents.
    pub async fn manifest(&self, name: &Name) -> Result<Manifest> {
        let loaded = self.load(name, &Request::default()).await?;
        Ok(manifest(&loaded.bundle.assembled()))
    }

    /// Compiles a persona from its current parts and stage, and keeps the text.
    pub async fn compile_persona(&self, name: &Name) -> Result<CompiledPersona> {
        let loaded = self.load(name, &Request::default()).await?;
        let compiled = self.up_to_date(&loaded.bundle).await?;
        Ok(CompiledPersona {
            name: name.clone(),
            compiled_summary: compiled.summary,
            compiled_detail: compiled.detail,
            compiled_at: compiled.at,
        })
    }

    async fn load(&self, name: &Name, request: &Request) -> Result<Arc<store::Loaded>> {
        let overrides: Vec<&Name> = request.overrides.values().collect();
        let Some(loaded) = self.store.load(name, &overrides).await? else {
            return Err(self.missing(Kind::Persona, name).await);
        };
        self.store.usage().note(name);
        Ok(loaded)
    }

    /// The compiled text alone: what there is, where it is up to date.
    async fn get_compiled(&self, name: &Name, request: &Request) -> Result<Arc<LoadedPersona>> {
        if !request.is_plain() {
            return Err(Error::Invalid(
                "compiled text is of the persona as it stands; ask for it without overrides, types, limit and max_tokens"
                    .to_owned(),
            ));
        }
        let loaded = self.load(name, request).await?;
        let compiled = self.up_to_date(&loaded.bundle).await?;
        let mut view = PersonaView::named(name.clone());
        match request.view {
            View::Summary => view.compiled_summary = Some(compiled.summary),
            View::Detail => view.compiled_detail = Some(compiled.detail),
        }
        Ok(Arc::new(LoadedPersona::new(&view)))
    }

    async fn up_to_date(&self, bundle: &Bundle) -> Result<Compiled> {
        let assembled = bundle.assembled();
        if let Some(compiled) = &bundle.compiled
            && compiled.fingerprint == persona::fingerprint(&assembled)
        {
            return Ok(compiled.clone());
        }
        let text = persona::compile(&assembled);
        Ok(self.store.keep_compiled(bundle.meta.scope, &bundle.persona.name, &text).await?)
    }

    async fn bad_override(&self, error: OverrideError) -> Error {
        let OverrideError::Unknown { part_type, name } = &error else {
            return Error::Invalid(error.to_string());
        };
        let near = self.store.near_names(Kind::Part, name.as_str()).await.unwrap_or_default();
        Error::Invalid(match near.first() {
            Some(near) => format!("{error}; did you mean {near:?}?"),
            None => format!("{error}; list the parts of type {part_type} to see what there is"),
        })
    }

    /// Creates a persona and, in the same transaction, the pieces that come with it.
    pub async fn create_persona(&self, author: &Author, input: CreatePersona) -> Result<Written> {
        let mut write = self.store.write(author.because(input.message.clone())?).await?;
        if write.has(Kind::Persona, &input.name).await? {
            return Err(Error::Exists { kind: Kind::Persona, name: input.name });
        }
        let mut pieces = Pieces { created: Vec::new(), copied: Vec::new() };
        let mut persona = Persona::new(input.name);
        for (index, part) in input.parts.unwrap_or_default().into_iter().enumerate() {
            let (name, order, priority) = pieces.part(self, &mut write, index, part).await?;
            if persona.parts.iter().any(|link| link.name == name) {
                return Err(Error::Invalid(format!("parts[{index}]: {:?} is named twice", name.as_str())));
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
            self.ensure_shared_kind(&mut write, Kind::Arc, arc, &mut pieces.copied).await?;
        }
        persona.arc = input.arc;
        persona.display_name = some_text(input.display_name);
        persona.description = some_text(input.description);
        persona.summary = some_text(input.summary);
        persona.detail = some_text(input.detail);
        persona.system_prompt = some_text(input.system_prompt);
        persona.tags = input.tags.unwrap_or_default();
        persona.preferred_models = input.preferred_models.unwrap_or_default();
        persona.tool_preset = preset("tool_preset", input.tool_preset)?;
        persona.bias_profile = preset("bias_profile", input.bias_profile)?;
        persona.context_preset = preset("context_preset", input.context_preset)?;
        persona.aggregation_strategy = input.aggregation_strategy.unwrap_or_default();
        persona.plan_persona = input.plan_persona.filter(|plan| *plan != persona::PlanPersona::default());
        checked(&persona)?;
        let stored = write.insert(&persona, Action::Create).await?;
        write.commit().await?;
        Ok(Written {
            kind: Kind::Persona,
            name: persona.name,
            scope: stored.meta.scope,
            revision: stored.meta.revision,
            changed: true,
            created: pieces.created,
            copied: pieces.copied,
        })
    }

    /// Updates a persona's own fields; its links have calls of their own.
    pub async fn update_persona(&self, author: &Author, input: UpdatePersona) -> Result<Written> {
        let name = input.name.clone();
        let terms = Terms { if_revision: input.if_revision, message: input.message.clone() };
        let edit = async |_: &mut Write, persona: &mut Persona, _: &mut Vec<Piece>| apply(persona, input);
        self.change(author, &name, terms, Action::Update, edit).await
    }
}

fn request(input: &GetPersona) -> Request {
    Request {
        view: if input.detail { View::Detail } else { View::Summary },
        overrides: input.overrides.clone().unwrap_or_default(),
        types: input.types.clone().unwrap_or_default(),
        limit: input.limit.map(|limit| limit as usize),
        max_tokens: input.max_tokens.map(|max_tokens| max_tokens as usize),
    }
}

fn apply(persona: &mut Persona, input: UpdatePersona) -> Result<()> {
    set(&mut persona.name, input.new_name);
    set_text(&mut persona.display_name, input.display_name);
    set_text(&mut persona.description, input.description);
    set_text(&mut persona.summary, input.summary);
    set_text(&mut persona.detail, input.detail);
    set_text(&mut persona.system_prompt, input.system_prompt);
    set(&mut persona.tags, input.tags);
    set(&mut persona.preferred_models, input.preferred_models);
    set_preset(&mut persona.tool_preset, "tool_preset", input.tool_preset)?;
    set_preset(&mut persona.bias_profile, "bias_profile", input.bias_profile)?;
    set_preset(&mut persona.context_preset, "context_preset", input.context_preset)?;
    set(&mut persona.aggregation_strategy, input.aggregation_strategy);
    if let Some(plan) = input.plan_persona {
        persona.plan_persona = Some(plan).filter(|plan| *plan != persona::PlanPersona::default());
    }
    Ok(())
}

/// A preset's name; empty text is none.
fn preset(field: &str, given: Option<String>) -> Result<Option<Name>> {
    let parse =
        |text: String| Name::parse(&text).map_err(|error| Error::Invalid(format!("{field}: {error}")));
    some_text(given).map(parse).transpose()
}

fn set_preset(target: &mut Option<Name>, field: &str, given: Option<String>) -> Result<()> {
    if given.is_some() {
        *target = preset(field, given)?;
    }
    Ok(())
}

/// What came into being along with a persona.
struct Pieces {
    created: Vec<Piece>,
    copied: Vec<Piece>,
}

impl Pieces {
    /// Sees to it that a piece is in shared: by name, or by creating what is defined.
    async fn add<T: Copy, D>(
        &mut self,
        library: &Library,
        write: &mut Write,
        reference: Reference<D>,
        define: impl FnOnce(D) -> T,
    ) -> Result<Name> {
        match reference {
            Reference::Name(name) => {
                library.ensure_shared::<T>(write, &name, &mut self.copied).await?;
                Ok(name)
            }
            Reference::Definition(definition) => self.define(write, define(definition)).await,
        }
    }

    async fn part(
        &mut self,
        library: &Library,
        write: &mut Write,
        index: usize,
        reference: Reference<PartDefinition>,
    ) -> Result<(Name, Option<i32>, Option<i32>)> {
        let definition = match reference {
            Reference::Name(name) => {
                library.ensure_shared::<Part>(write, &name, &mut self.copied).await?;
                return Ok((name, None, None));
            }
            Reference::Definition(definition) => definition,
        };
        let PartDefinition { name, part_type, description, summary, content, tags, part_order, priority } =
            definition;
        let Some(part_type) = part_type else {
            if description.is_some() || summary.is_some() || content.is_some() || tags.is_some() {
                return Err(Error::Invalid(format!(
                    "parts[{index}].part_type is missing: a part that is created needs one; leave out its texts to link the part {:?} that exists",
                    name.as_str()
                )));
            }
            library.ensure_shared::<Part>(write, &name, &mut self.copied).await?;
            return Ok((name, part_order, priority));
        };
        let part = Part {
            name,
            part_type,
            description: some_text(description),
            summary: some_text(summary),
            content: some_text(content),
            tags: tags.unwrap_or_default(),
        };
        Ok((self.define(write, part).await?, part_order, priority))
    }

    /// Creates a piece; one that is there already must be the same.
    async fn define<T: Copy>(&mut self, write: &mut Write, piece: T) -> Result<Name> {
        checked(&piece)?;
        let name = piece.name().clone();
        match write.find::<T>(&name).await? {
            Some(held) if held.stored.entity == piece => {}
            Some(_) => return Err(Error::Exists { kind: T::KIND, name }),
            None => {
                write.insert(&piece, Action::Create).await?;
                self.created.push(Piece { kind: T::KIND, name: name.clone() });
            }
        }
        Ok(name)
    }
}

fn define_trait(definition: TraitDefinition) -> Trait {
    let TraitDefinition { name, trait_type, description, instruction, tags } = definition;
    Trait {
        name,
        trait_type,
        description: some_text(description),
        instruction: some_text(instruction),
        tags: tags.unwrap_or_default(),
    }
}

fn define_skill(definition: SkillDefinition) -> Skill {
    let SkillDefinition { name, description, content, tags } = definition;
    Skill {
        name,
        description: some_text(description),
        content: some_text(content),
        tags: tags.unwrap_or_default(),
    }
}

fn define_guardrail(definition: GuardrailDefinition) -> Guardrail {
    let GuardrailDefinition { name, severity, description, content, deny_tools, tags } = definition;
    Guardrail {
        name,
        severity: severity.unwrap_or_default(),
        description: some_text(description),
        content: some_text(content),
        deny_tools: deny_tools.unwrap_or_default(),
        tags: tags.unwrap_or_default(),
    }
}
