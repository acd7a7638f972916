//! Parts, traits, skills, guardrails and arcs: create, update, delete.

use persona::{CharacterArc, Guardrail, Kind, Name, Part, Persona, Skill, Trait};
use store::{Action, Write};

use crate::change::{Terms, check_revision, keep};
use crate::copy::Copy;
use crate::inputs::{
    CreateArc, CreateGuardrail, CreatePart, CreateSkill, CreateTrait, Delete, UpdateArc, UpdateGuardrail,
    UpdatePart, UpdateSkill, UpdateTrait,
};
use crate::library::checked;
use crate::outputs::{self, Deleted, Written};
use crate::{Author, Error, Library, Result};

/// How many users of a piece a refusal names.
const USERS_NAMED: usize = 10;

/// A kind with inputs of its own for creating and updating.
#[expect(private_bounds, reason = "the set of kinds is closed")]
pub trait Piece: Copy {
    type Create;
    type Update;

    /// The definition, and why it is made.
    fn create(input: Self::Create) -> (Self, Option<String>);

    /// Which one is meant, and on what terms.
    fn terms(input: &Self::Update) -> (Name, Option<i64>, Option<String>);

    fn update(&mut self, input: Self::Update);
}

/// Given text replaces; empty text clears.
pub(crate) fn set_text(field: &mut Option<String>, given: Option<String>) {
    if let Some(text) = given {
        *field = some_text(Some(text));
    }
}

/// Empty text is no text.
pub(crate) fn some_text(given: Option<String>) -> Option<String> {
    given.filter(|text| !text.is_empty())
}

/// Given values replace.
pub(crate) fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *field = value;
    }
}

impl Piece for Part {
    type Create = CreatePart;
    type Update = UpdatePart;

    fn create(input: CreatePart) -> (Self, Option<String>) {
        let CreatePart { name, part_type, description, summary, content, tags, message } = input;
        let part = Self {
            name,
            part_type,
            description: some_text(description),
            summary: some_text(summary),
            content: some_text(content),
            tags: tags.unwrap_or_default(),
        };
        (part, message)
    }

    fn terms(input: &UpdatePart) -> (Name, Option<i64>, Option<String>) {
        (input.name.clone(), input.if_revision, input.message.clone())
    }

    fn update(&mut self, input: UpdatePart) {
        set(&mut self.name, input.new_name);
        set(&mut self.part_type, input.part_type);
        set_text(&mut self.description, input.description);
        set_text(&mut self.summary, input.summary);
        set_text(&mut self.content, input.content);
        set(&mut self.tags, input.tags);
    }
}

impl Piece for Trait {
    type Create = CreateTrait;
    type Update = UpdateTrait;

    fn create(input: CreateTrait) -> (Self, Option<String>) {
        let CreateTrait { name, trait_type, description, instruction, tags, message } = input;
        let entity = Self {
            name,
            trait_type,
            description: some_text(description),
            instruction: some_text(instruction),
            tags: tags.unwrap_or_default(),
        };
        (entity, message)
    }

    fn terms(input: &UpdateTrait) -> (Name, Option<i64>, Option<String>) {
        (input.name.clone(), input.if_revision, input.message.clone())
    }

    fn update(&mut self, input: UpdateTrait) {
        set(&mut self.name, input.new_name);
        set(&mut self.trait_type, input.trait_type);
        set_text(&mut self.description, input.description);
        set_text(&mut self.instruction, input.instruction);
        set(&mut self.tags, input.tags);
    }
}

impl Piece for Skill {
    type Create = CreateSkill;
    type Update = UpdateSkill;

    fn create(input: CreateSkill) -> (Self, Option<String>) {
        let CreateSkill { name, description, content, tags, message } = input;
        let skill = Self {
            name,
            description: some_text(description),
            content: some_text(content),
            tags: tags.unwrap_or_default(),
        };
        (skill, message)
    }

    fn terms(input: &UpdateSkill) -> (Name, Option<i64>, Option<String>) {
        (input.name.clone(), input.if_revision, input.message.clone())
    }

    fn update(&mut self, input: UpdateSkill) {
        set(&mut self.name, input.new_name);
        set_text(&mut self.description, input.description);
        set_text(&mut self.content, input.content);
        set(&mut self.tags, input.tags);
    }
}

impl Piece for Guardrail {
    type Create = CreateGuardrail;
    type Update = UpdateGuardrail;

    fn create(input: CreateGuardrail) -> (Self, Option<String>) {
        let CreateGuardrail { name, severity, description, content, deny_tools, tags, message } = input;
        let guardrail = Self {
            name,
            severity: severity.unwrap_or_default(),
            description: some_text(description),
            content: some_text(content),
            deny_tools: deny_tools.unwrap_or_default(),
            tags: tags.unwrap_or_default(),
        };
        (guardrail, message)
    }

    fn terms(input: &UpdateGuardrail) -> (Name, Option<i64>, Option<String>) {
        (input.name.clone(), input.if_revision, input.message.clone())
    }

    fn update(&mut self, input: UpdateGuardrail) {
        set(&mut self.name, input.new_name);
        set(&mut self.severity, input.severity);
        set_text(&mut self.description, input.description);
        set_text(&mut self.content, input.content);
        set(&mut self.deny_tools, input.deny_tools);
        set(&mut self.tags, input.tags);
    }
}

impl Piece for CharacterArc {
    type Create = CreateArc;
    type Update = UpdateArc;

    fn create(input: CreateArc) -> (Self, Option<String>) {
        let CreateArc { name, description, summary, stages, tags, message } = input;
        let arc = Self {
            name,
            description: some_text(description),
            summary: some_text(summary),
            stages: stages.unwrap_or_default(),
            tags: tags.unwrap_or_default(),
        };
        (arc, message)
    }

    fn terms(input: &UpdateArc) -> (Name, Option<i64>, Option<String>) {
        (input.name.clone(), input.if_revision, input.message.clone())
    }

    fn update(&mut self, input: UpdateArc) {
        set(&mut self.name, input.new_name);
        set_text(&mut self.description, input.description);
        set_text(&mut self.summary, input.summary);
        set(&mut self.tags, input.tags);
    }
}

impl Library {
    /// Creates a piece in shared.
    pub async fn create<P: Piece>(&self, author: &Author, input: P::Create) -> Result<Written> {
        let (piece, message) = P::create(input);
        checked(&piece)?;
        let mut write = self.store.write(author.because(message)?).await?;
        if write.has(P::KIND, piece.name()).await? {
            return Err(Error::Exists { kind: P::KIND, name: piece.name().clone() });
        }
        let mut copied = Vec::new();
        for (kind, name) in piece.pieces() {
            self.ensure_shared_kind(&mut write, kind, &name, &mut copied).await?;
        }
        let stored = write.insert(&piece, Action::Create).await?;
        write.commit().await?;
        Ok(Written {
            kind: P::KIND,
            name: piece.name().clone(),
            scope: stored.meta.scope,
            revision: stored.meta.revision,
            changed: true,
            created: Vec::new(),
            copied,
        })
    }

    /// Updates a piece where its name resolves; a builtin is copied into shared first.
    pub async fn update<P: Piece>(&self, author: &Author, input: P::Update) -> Result<Written> {
        let (name, if_revision, message) = P::terms(&input);
        let edit = async |_: &mut Write, piece: &mut P, _: &mut Vec<_>| {
            piece.update(input);
            Ok(())
        };
        self.change(author, &name, Terms { if_revision, message }, Action::Update, edit).await
    }

    /// Deletes an entity of any kind from shared.
    pub async fn delete(&self, author: &Author, kind: Kind, input: Delete) -> Result<Deleted> {
        match kind {
            Kind::Persona => self.delete_entity::<Persona>(author, input).await,
            Kind::Part => self.delete_entity::<Part>(author, input).await,
            Kind::Trait => self.delete_entity::<Trait>(author, input).await,
            Kind::Skill => self.delete_entity::<Skill>(author, input).await,
            Kind::Guardrail => self.delete_entity::<Guardrail>(author, input).await,
            Kind::Arc => self.delete_entity::<CharacterArc>(author, input).await,
        }
    }

    async fn delete_entity<T: Copy>(&self, author: &Author, input: Delete) -> Result<Deleted> {
        let Delete { name, force, if_revision, message } = input;
        let builtin = T::builtins().contains_key(&name);
        let mut write = self.store.write(author.because(message)?).await?;
        let mut outcome = Deleted {
            kind: T::KIND,
            name: name.clone(),
            deleted: false,
            unlinked: Vec::new(),
            builtin_in_force: false,
        };
        let Some(held) = write.find::<T>(&name).await? else {
            if builtin {
                return Err(Error::Denied(format!(
                    "{} {:?} is builtin and cannot be deleted; create one of that name to take its place",
                    T::KIND,
                    name.as_str()
                )));
            }
            return Ok(outcome);
        };
        check_revision(T::KIND, &name, if_revision, held.stored.meta.revision)?;
        if T::KIND != Kind::Persona {
            let users = write.users(&held).await?;
            if !users.is_empty() && !force {
                return Err(Error::InUse { kind: T::KIND, name, users: named_users(&users) });
            }
            for (kind, user) in users {
                unlink(&mut write, kind, &user, T::KIND, &name).await?;
                outcome.unlinked.push(outputs::Piece { kind, name: user });
            }
        }
        write.remove(&held).await?;
        write.commit().await?;
        Ok(Deleted { deleted: true, builtin_in_force: builtin, ..outcome })
    }
}

fn named_users(users: &[(Kind, Name)]) -> String {
    let named: Vec<String> =
        users.iter().take(USERS_NAMED).map(|(kind, name)| format!("{kind} {name}")).collect();
    match users.len().saturating_sub(USERS_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Takes a piece out of a persona or an arc that uses it; that is a change of theirs.
async fn unlink(write: &mut Write, user_kind: Kind, user: &Name, kind: Kind, piece: &Name) -> Result<()> {
    if user_kind == Kind::Arc {
        let Some(held) = write.find::<CharacterArc>(user).await? else { return Ok(()) };
        let mut arc = held.stored.entity.clone();
        arc.stages.iter_mut().for_each(|stage| stage.parts.retain(|part| part != piece));
        keep(write, &held, &arc, Action::Link).await?;
        return Ok(());
    }
    let Some(held) = write.find::<Persona>(user).await? else { return Ok(()) };
    let mut persona = held.stored.entity.clone();
    match kind {
        Kind::Part => persona.parts.retain(|link| link.name != *piece),
        Kind::Trait => persona.traits.retain(|name| name != piece),
        Kind::Skill => persona.skills.retain(|name| name != piece),
        Kind::Guardrail => persona.guardrails.retain(|name| name != piece),
        Kind::Arc => persona.arc = None,
        Kind::Persona => {}
    }
    keep(write, &held, &persona, Action::Link).await?;
    Ok(())
}
