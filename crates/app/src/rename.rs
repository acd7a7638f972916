//! Renames an entity and the references to it.

use async_recursion::async_recursion as boxed;
use persona::{AnyEntity, Kind, Name, Persona, Rename, Scope};
use scopes::{Heir, Write};
use store::{Action, Held};

use crate::change::{Terms, keep_any};
use crate::inputs::RenameEntity;
use crate::outputs::{LeftBehind, ScopedEntityRef, Written};
use crate::scope::is_linked;
use crate::{Author, Library, Result};

/// An entity that refers to another one by name.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) place: ScopedEntityRef,
    /// True if it says `scope:name`.
    pub(crate) by_scope: bool,
}

/// The references that follow a rename.
#[derive(Debug, Default)]
pub(crate) struct Followers {
    /// In the same scope: these follow in the same write.
    here: Vec<ScopedEntityRef>,
    /// In the same scope too; links of the database follow by themselves.
    linked: Vec<ScopedEntityRef>,
    elsewhere: Vec<ScopedEntityRef>,
    /// With the new name these would mean the entity of another scope.
    astray: Vec<(ScopedEntityRef, Scope)>,
    /// Personas of files that are in a stage of a renamed arc of the database.
    heirs: Vec<Heir>,
}

impl Library {
    /// Renames an entity. References follow in every writable scope; the outcome lists the others.
    #[boxed]
    pub async fn rename(&self, author: &Author, input: RenameEntity) -> Result<Written> {
        let RenameEntity { kind, name, new_name, message, if_revision, scope } = input;
        let message = message.unwrap_or_else(|| format!("{name} is {new_name} now"));
        let terms = Terms { scope, if_revision, message: Some(message) };
        let edit = move |entity: &mut AnyEntity| {
            entity.set_name(new_name);
            Ok(())
        };
        self.change_any(author, kind, &name, terms, Action::Rename, Box::new(edit)).await
    }

    /// The references to a held entity by its old name.
    pub(crate) async fn followers(
        &self,
        write: &mut Write,
        held: &Held<AnyEntity>,
        rename: &Rename,
    ) -> Result<Followers> {
        let mut followers = Followers::default();
        if !rename.scope.is_file() && is_linked(rename.kind) {
            let users = write.users(held).await?.into_iter();
            followers.linked =
                users.map(|(kind, name)| ScopedEntityRef { scope: rename.scope, kind, name }).collect();
        }
        let taken = self.scopes.scopes_of(rename.kind, &rename.new).await?;
        for User { place, by_scope } in self.namers(rename, true).await? {
            let hiding = taken.iter().find(|other| **other > rename.scope && **other <= place.scope);
            match hiding {
                _ if place.scope == rename.scope => followers.here.push(place),
                Some(scope) if !by_scope => followers.astray.push((place, *scope)),
                _ => followers.elsewhere.push(place),
            }
        }
        if rename.kind == Kind::Arc && !rename.scope.is_file() {
            followers.heirs = self.scopes.heirs(rename.scope, &rename.old).await?;
        }
        Ok(followers)
    }

    /// The entities that refer to a scope's entity by name: in that scope, and in stronger ones that do
    /// not define the name. Does not include links between rows of the database.
    pub(crate) async fn users_of(&self, kind: Kind, name: &Name, scope: Scope) -> Result<Vec<User>> {
        let rename = Rename { kind, old: name.clone(), new: name.clone(), scope };
        self.namers(&rename, false).await
    }

    /// `removals` includes personas that remove it from a base.
    async fn namers(&self, rename: &Rename, removals: bool) -> Result<Vec<User>> {
        let mut users = Vec::new();
        let known = self.scopes.scopes_of(rename.kind, &rename.old).await?;
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            if scope < rename.scope {
                continue;
            }
            let hidden = known.iter().any(|other| *other > rename.scope && *other <= scope);
            let entities = match scope.is_file() {
                true => self.scopes.all(scope).await?,
                false => self.scopes.naming(scope, rename.kind, &rename.old).await?,
            };
            let users_here = entities.iter().filter_map(|entity| {
                let by_scope = names(entity, rename, hidden)
                    .or_else(|| (removals && !hidden && removes(entity, rename)).then_some(false))?;
                let place = ScopedEntityRef { scope, kind: entity.kind(), name: entity.name().clone() };
                Some(User { place, by_scope })
            });
            users.extend(users_here);
        }
        Ok(users)
    }

    /// Updates the references in other scopes, one write for each. Returns those that followed, and those
    /// that did not.
    pub(crate) async fn follow_elsewhere(
        &self,
        author: &Author,
        followers: Followers,
        rename: &Rename,
        message: &str,
    ) -> (Vec<ScopedEntityRef>, Vec<LeftBehind>) {
        let Followers { here, linked, elsewhere, astray, heirs } = followers;
        let mut followed = [linked, here].concat();
        let mut not_followed: Vec<LeftBehind> = Vec::new();
        for (place, scope) in astray {
            let why = format!("there, {:?} means {scope}'s own", rename.new.as_str());
            not_followed.push(LeftBehind { place, why });
        }
        let kept = self.scopes.keep_heirs(&heirs, rename).await;
        for place in elsewhere {
            match self.follow_in_place(author, &place, rename, message).await {
                Ok(()) => followed.push(place),
                Err(error) => not_followed.push(LeftBehind { place, why: error.to_string() }),
            }
        }
        if let Err(error) = kept {
            let why = format!("it is in the first stage now, because its stage could not be stored: {error}");
            let left = |Heir { scope, name, .. }| LeftBehind {
                place: ScopedEntityRef { scope, kind: Kind::Persona, name },
                why: why.clone(),
            };
            not_followed.extend(heirs.into_iter().map(left));
        }
        (followed, not_followed)
    }

    async fn follow_in_place(
        &self,
        author: &Author,
        place: &ScopedEntityRef,
        rename: &Rename,
        message: &str,
    ) -> Result<()> {
        let mut write = self.scopes.write(place.scope, author.because(Some(message.to_owned()))?).await?;
        follow(&mut write, place.kind, &place.name, rename).await?;
        Ok(write.commit().await?)
    }
}

impl Followers {
    /// Updates the references of the same scope, in the write that renames.
    pub(crate) async fn follow_here(&self, write: &mut Write, rename: &Rename) -> Result<()> {
        for place in &self.linked {
            record_link(write, place.kind, &place.name).await?;
        }
        for place in &self.here {
            // An entity that refers to itself has its new name by now.
            let renamed = place.kind == rename.kind && place.name == rename.old;
            let name = if renamed { &rename.new } else { &place.name };
            follow(write, place.kind, name, rename).await?;
        }
        Ok(())
    }
}

/// Records a revision for an entity whose link was renamed.
async fn record_link(write: &mut Write, kind: Kind, name: &Name) -> Result<()> {
    if let Some(held) = write.find_any(kind, name).await? {
        keep_any(write, &held, &held.stored.entity, Action::Link).await?;
    }
    Ok(())
}

async fn follow(write: &mut Write, kind: Kind, name: &Name, rename: &Rename) -> Result<()> {
    let Some(held) = write.find_any(kind, name).await? else { return Ok(()) };
    let mut new = held.stored.entity.clone();
    if !new.follow_rename(rename) {
        return Ok(());
    }
    // The stage of a persona is stored under the name of its arc.
    let walker = match (kind, rename.kind) {
        (Kind::Persona, Kind::Arc) => write.find::<Persona>(name).await?,
        _ => None,
    };
    let stage = match &walker {
        Some(persona) => write.stage(persona).await?,
        None => None,
    };
    keep_any(write, &held, &new, Action::Link).await?;
    if let (Some(persona), Some(stage)) = (walker, stage) {
        write.set_stage(&persona, &rename.new, &stage).await?;
    }
    Ok(())
}

/// For an entity that refers to the renamed one, true if the reference names the scope.
fn names(entity: &AnyEntity, rename: &Rename, hidden: bool) -> Option<bool> {
    let references = entity.references();
    let mut meant = references.iter().filter(|reference| {
        reference.kind == rename.kind
            && reference.name == rename.old
            && reference.scope.map_or(!hidden, |named| named == rename.scope)
    });
    meant.next().map(|reference| reference.scope.is_some())
}

/// True if a persona removes the renamed entity from its base.
fn removes(entity: &AnyEntity, rename: &Rename) -> bool {
    matches!(entity, AnyEntity::Persona(_)) && entity.clone().follow_rename(rename)
}
