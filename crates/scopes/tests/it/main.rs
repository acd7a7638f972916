//! All scopes together: the files of the user and the project over what is shared and builtin.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use persona::{Bundle, Kind, Scope, Stored};
use scopes::{Overrides, Scopes, Write};
use store::{Action, Attribution, Held, Keep, Revision};

use testkit::samples;
use testkit::samples::{attribution, name};

mod agreeing;
mod chains;
mod resolving;

mod caching;
mod listing;

mod frozen;
mod state;

mod broken;
mod proposing;
mod users;
mod writing;

#[cfg(unix)]
mod linked;
mod racing;
mod recording;
mod reloading;
mod settling;
mod unrecorded;

pub(crate) async fn begin_in(scopes: &Scopes, scope: Scope) -> Write {
    scopes.write(scope, attribution()).await.unwrap()
}

pub(crate) async fn held_in<T: Keep + persona::Entity>(write: &mut Write, of: &str) -> Held<T> {
    write.find::<T>(&name(of)).await.unwrap().unwrap_or_else(|| panic!("no {} {of}", T::KIND))
}

/// Keeps one new entity in a scope.
pub(crate) async fn keep_in<T: Keep + persona::Entity>(
    scopes: &Scopes,
    scope: Scope,
    entity: &T,
) -> Stored<T> {
    let mut write = begin_in(scopes, scope).await;
    let stored = write.insert(entity, Action::Create).await.unwrap();
    write.commit().await.unwrap();
    stored
}

/// Changes one entity; another name makes it a rename.
pub(crate) async fn change_in<T: Keep + persona::Entity>(
    scopes: &Scopes,
    scope: Scope,
    of: &str,
    edit: impl FnOnce(&mut T),
) -> Stored<T> {
    let mut write = begin_in(scopes, scope).await;
    let held = held_in::<T>(&mut write, of).await;
    let mut entity = held.stored.entity.clone();
    edit(&mut entity);
    let action = if entity.name().as_str() == of { Action::Update } else { Action::Rename };
    let stored = write.replace(&held, &entity, action).await.unwrap();
    write.commit().await.unwrap();
    stored
}

pub(crate) async fn remove_in<T: Keep + persona::Entity>(scopes: &Scopes, scope: Scope, of: &str) {
    let mut write = begin_in(scopes, scope).await;
    let held = held_in::<T>(&mut write, of).await;
    write.remove(&held).await.unwrap();
    write.commit().await.unwrap();
}

/// Lets a library see what its file says now, as whatever wants to write does first.
pub(crate) async fn reread(scopes: &Scopes, scope: Scope) {
    drop(scopes.write(scope, attribution()).await);
}

pub(crate) async fn load(scopes: &Scopes, of: &str) -> Bundle {
    scopes.load(&name(of), None, &Overrides::new()).await.unwrap().unwrap().bundle.clone()
}

/// The history of an entity, newest first.
pub(crate) async fn history(scopes: &Scopes, scope: Scope, kind: Kind, of: &str) -> Vec<Revision> {
    scopes.history(scope, kind, &name(of), 1_000).await.unwrap()
}

/// Each revision as a line: action, name, number, author, front.
pub(crate) fn brief(revisions: &[Revision]) -> Vec<String> {
    let line = |found: &Revision| {
        format!("{} {} {} by {} with {}", found.action, found.name, found.revision, found.author, found.front)
    };
    revisions.iter().map(line).collect()
}

pub(crate) fn author(who: &str) -> Attribution {
    Attribution { who: who.to_owned(), front: "test".to_owned(), message: None }
}
