//! Parts, traits, skills, guardrails and arcs: create, update, delete.

use async_recursion::async_recursion as boxed;
use persona::{
    AnyEntity, CharacterArc, Entity, Guardrail, Kind, Name, Part, Persona, Scope, Skill, Stage, Trait,
    arc_fields, guardrail_fields, part_fields, skill_fields, trait_fields,
};
use scopes::Write;
use store::{Action, Keep};

use crate::change::{Terms, check_revision, keep};
use crate::inputs::{
    CreateArc, CreateGuardrail, CreatePart, CreateSkill, CreateTrait, Delete, NewStage, UpdateArc,
    UpdateGuardrail, UpdatePart, UpdateSkill, UpdateTrait, build, set_fields,
};
use crate::library::checked;
use crate::outputs::{self, Deleted, ScopedEntityRef, Written};
use crate::rename::User;
use crate::{Author, Error, Library, Result};

/// A kind with inputs of its own for creating and updating.
pub trait Editable: Keep + Entity {
    type Create;
    type Update: Send + 'static;

    /// The definition, its scope, and the message of its first revision.
    fn create(input: Self::Create) -> Result<(Self, Option<Scope>, Option<String>)>;

    /// The name of the entity to update, and the terms.
    fn terms(input: &Self::Update) -> (Name, Terms);

    fn update(&mut self, input: Self::Update) -> Result<()>;
}

/// Sets a text if one is given; an empty one clears it.
pub(crate) fn set_text(field: &mut Option<String>, given: Option<String>) {
    if let Some(text) = given {
        *field = some_text(Some(text));
    }
}

/// Drops an empty text.
pub(crate) fn some_text(given: Option<String>) -> Option<String> {
    given.filter(|text| !text.is_empty())
}

/// Sets a field if a value is given.
pub(crate) fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *field = value;
    }
}

/// Implements [`Editable`] for kinds, from the description of their fields.
macro_rules! pieces {
    ($($type:ident, $create:ident, $update:ident, $fields:ident $(, $input:ident, $entity:ident => $more:expr)?;)+) => {
        $(impl Editable for $type {
            type Create = $create;
            type Update = $update;

            fn create(input: $create) -> Result<(Self, Option<Scope>, Option<String>)> {
                #[allow(unused_mut, reason = "only arcs take more than their own fields")]
                let mut entity = $fields!(build, { $type, input });
                $({
                    let ($input, $entity) = (input.stages, &mut entity);
                    $more;
                })?
                Ok((entity, input.scope, input.message))
            }

            fn terms(input: &$update) -> (Name, Terms) {
                let $update { scope, if_revision, message, .. } = input;
                let terms = Terms { scope: *scope, if_revision: *if_revision, message: message.clone() };
                (input.name.clone(), terms)
            }

            fn update(&mut self, input: $update) -> Result<()> {
                set(&mut self.name, input.new_name);
                $fields!(set_fields, { self, input });
                Ok(())
            }
        })+
    };
}

pieces! {
    Part, CreatePart, UpdatePart, part_fields;
    Trait, CreateTrait, UpdateTrait, trait_fields;
    Skill, CreateSkill, UpdateSkill, skill_fields;
    Guardrail, CreateGuardrail, UpdateGuardrail, guardrail_fields;
    CharacterArc, CreateArc, UpdateArc, arc_fields, stages, arc => {
        arc.stages = stages.unwrap_or_default().into_iter().zip(1..).map(new_stage).collect();
    };
}

fn new_stage((stage, position): (NewStage, i32)) -> Stage {
    let NewStage { name, order, description, condition, parts } = stage;
    Stage {
        name,
        order: order.unwrap_or(position),
        description: some_text(description),
        condition: some_text(condition),
        parts,
    }
}

impl Library {
    /// Creates a piece.
    pub async fn create<P: Editable>(&self, author: &Author, input: P::Create) -> Result<Written> {
        let (piece, scope, message) = P::create(input)?;
        self.create_piece(author, piece.into(), scope, message).await
    }

    #[boxed]
    async fn create_piece(
        &self,
        author: &Author,
        piece: AnyEntity,
        scope: Option<Scope>,
        message: Option<String>,
    ) -> Result<Written> {
        checked(&piece)?;
        let (kind, name) = (piece.kind(), piece.name());
        let mut write = self.scopes.write(self.scope_for_new(scope), author.because(message)?).await?;
        if write.has(kind, name).await? {
            return Err(Error::Exists { kind, name: name.clone() });
        }
        let mut copied = Vec::new();
        for reference in piece.references() {
            self.ensure(&mut write, reference.kind, &reference.name, &mut copied).await?;
        }
        let meta = write.insert(&piece, Action::Create).await?.meta;
        write.commit().await?;
        Ok(Written { copied, ..Written::created(kind, name.clone(), &meta) })
    }

    /// Updates a piece in the scope that its name resolves to. A builtin is copied first.
    pub async fn update<P: Editable>(&self, author: &Author, input: P::Update) -> Result<Written> {
        let (name, terms) = P::terms(&input);
        let edit = move |entity: &mut AnyEntity| {
            if let Ok(mut piece) = P::try_from(entity.clone()) {
                piece.update(input)?;
                *entity = piece.into();
            }
            Ok(())
        };
        self.change_any(author, P::KIND, &name, terms, Action::Update, Box::new(edit)).await
    }

    /// Deletes an entity of any kind from a scope.
    #[boxed]
    pub async fn delete(&self, author: &Author, kind: Kind, input: Delete) -> Result<Deleted> {
        let Delete { name, force, if_revision, message, scope } = input;
        let found = self.scopes.scopes_of(kind, &name).await?;
        let elsewhere = scope.or(self.scopes.broken_in(kind, &name));
        if found == [Scope::Builtin] && elsewhere.is_none_or(|scope| scope == Scope::Builtin) {
            return Err(Error::BuiltinFixed { kind, name });
        }
        let scope = self.scope_for_change(kind, &name, scope).await?;
        let mut outcome = Deleted {
            kind,
            name: name.clone(),
            scope,
            deleted: false,
            unlinked: Vec::new(),
            left_without: Vec::new(),
            in_force: found.iter().copied().find(|known| *known != scope),
        };
        let mut write = self.scopes.write(scope, author.because(message)?).await?;
        let held = write.find_any(kind, &name).await?;
        if let Some(mistake) = write.mistake(kind, &name).filter(|_| !force) {
            return Err(Error::BrokenEntry(Box::new(mistake)));
        }
        let Some(held) = held else {
            let deleted = write.discard(kind, &name)?;
            if deleted {
                // A broken entry has no revision.
                check_revision(kind, &name, if_revision, 0)?;
                write.commit().await?;
            }
            return Ok(Deleted { deleted, ..outcome });
        };
        check_revision(kind, &name, if_revision, held.stored.meta.revision)?;
        let users = write.users(&held).await?;
        outcome.left_without = self.left_without(kind, &name, scope, &found).await?;
        let is_used = !users.is_empty() || !outcome.left_without.is_empty();
        if is_used && !force {
            let here = users.iter().map(|(kind, user)| format!("{} {user}", kind.spoken()));
            let elsewhere = outcome.left_without.iter();
            let elsewhere = elsewhere
                .map(|ScopedEntityRef { scope, kind, name }| format!("{} {name} in {scope}", kind.spoken()));
            let users: Vec<String> = here.chain(elsewhere).collect();
            return Err(Error::InUse { kind, name, users: users.into() });
        }
        for (user_kind, user) in users {
            unlink(&mut write, user_kind, &user, kind, &name).await?;
            outcome.unlinked.push(outputs::EntityRef { kind: user_kind, name: user });
        }
        write.discard(kind, &name)?;
        write.remove(&held).await?;
        write.commit().await?;
        Ok(Deleted { deleted: true, ..outcome })
    }

    /// Entities of stronger scopes whose reference would break without a scope's entity: no weaker
    /// scope has the name, or the reference names the scope.
    async fn left_without(
        &self,
        kind: Kind,
        name: &Name,
        scope: Scope,
        found: &[Scope],
    ) -> Result<Vec<ScopedEntityRef>> {
        let falls_back = found.iter().any(|other| *other < scope);
        let users = self.users_of(kind, name, scope).await?.into_iter();
        let loses = |user: &User| user.place.scope > scope && (user.by_scope || !falls_back);
        Ok(users.filter(loses).map(|user| user.place).collect())
    }
}

/// Removes a piece from a persona or an arc that uses it.
async fn unlink(write: &mut Write, user_kind: Kind, user: &Name, kind: Kind, piece: &Name) -> Result<()> {
    if user_kind == Kind::Arc {
        let Some(held) = write.find::<CharacterArc>(user).await? else { return Ok(()) };
        let mut arc = held.stored.entity.clone();
        arc.stages.iter_mut().for_each(|stage| stage.parts.retain(|part| part != piece));
        keep(write, &held, &arc, Action::Unlink).await?;
        return Ok(());
    }
    let Some(held) = write.find::<Persona>(user).await? else { return Ok(()) };
    let mut persona = held.stored.entity.clone();
    persona.unlink(kind, piece);
    keep(write, &held, &persona, Action::Unlink).await?;
    Ok(())
}
