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
use crate::outputs::{self, Deleted, Written};
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

/// The users of an entity to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Used {
    /// A deletion needs force to change what they use.
    NeedsForce,
    /// They may fall back to a weaker definition; breaking a reference needs force.
    MayFallBack,
    /// A plan lists them.
    Listed,
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
        self.delete_used(author, kind, input, Used::NeedsForce).await
    }

    /// The same, with another rule for the users.
    #[boxed]
    pub(crate) async fn delete_used(
        &self,
        author: &Author,
        kind: Kind,
        input: Delete,
        used: Used,
    ) -> Result<Deleted> {
        let (outcome, write) = self.prepare_delete(author, kind, input, used).await?;
        if outcome.deleted {
            write.commit().await?;
        }
        Ok(outcome)
    }

    /// The outcome of a deletion, with the users of the entity. Runs the same steps without a commit.
    #[boxed]
    pub async fn plan_delete(&self, kind: Kind, input: Delete) -> Result<Deleted> {
        let author = Author::new("masque", "preview");
        let (outcome, _) = self.prepare_delete(&author, kind, input, Used::Listed).await?;
        Ok(outcome)
    }

    async fn prepare_delete(
        &self,
        author: &Author,
        kind: Kind,
        input: Delete,
        used: Used,
    ) -> Result<(Deleted, Write)> {
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
            fall_back: Vec::new(),
            fall_back_to: None,
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
            }
            return Ok((Deleted { deleted, ..outcome }, write));
        };
        check_revision(kind, &name, if_revision, held.stored.meta.revision)?;
        let users = write.users(&held).await?;
        self.find_other_users(&mut outcome, &users, &found).await?;
        let breaks = !users.is_empty() || !outcome.left_without.is_empty();
        let needs_force = match used {
            Used::NeedsForce => breaks || !outcome.fall_back.is_empty(),
            Used::MayFallBack => breaks,
            Used::Listed => false,
        };
        if needs_force && !force {
            return Err(Error::InUse { kind, name, users: named_users(&users, &outcome).into() });
        }
        for (user_kind, user) in users {
            unlink(&mut write, user_kind, &user, kind, &name).await?;
            outcome.unlinked.push(outputs::EntityRef { kind: user_kind, name: user });
        }
        write.discard(kind, &name)?;
        write.remove(&held).await?;
        Ok((Deleted { deleted: true, ..outcome }, write))
    }

    /// Adds the users that the deletion does not unlink: those that fall back to a weaker scope's
    /// definition, and those of stronger scopes whose reference breaks, because no weaker scope has the
    /// name or the reference names the scope.
    async fn find_other_users(
        &self,
        outcome: &mut Deleted,
        unlinked: &[(Kind, Name)],
        found: &[Scope],
    ) -> Result<()> {
        let Deleted { kind, scope, .. } = *outcome;
        let fall_back_to = found.iter().copied().filter(|other| *other < scope).max();
        for User { place, by_scope } in self.users_of(kind, &outcome.name, scope).await? {
            let is_itself = place.scope == scope && place.kind == kind && place.name == outcome.name;
            let is_unlinked = place.scope == scope
                && unlinked.iter().any(|(kind, name)| *kind == place.kind && *name == place.name);
            if is_itself || is_unlinked {
                continue;
            }
            if fall_back_to.is_some() && !by_scope {
                outcome.fall_back.push(place);
                outcome.fall_back_to = fall_back_to;
            } else if place.scope > scope {
                outcome.left_without.push(place);
            }
        }
        Ok(())
    }
}

/// The users of an entity in words: those that would be unlinked, and the others.
fn named_users(unlinked: &[(Kind, Name)], outcome: &Deleted) -> Vec<String> {
    let here = unlinked.iter().map(|(kind, user)| format!("{} {user}", kind.spoken()));
    let others = outcome.left_without.iter().chain(&outcome.fall_back);
    let others = others.map(|user| match user.scope == outcome.scope {
        true => format!("{} {}", user.kind.spoken(), user.name),
        false => format!("{} {} in {}", user.kind.spoken(), user.name, user.scope),
    });
    here.chain(others).collect()
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
