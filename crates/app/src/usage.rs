//! The users of an entity.

use async_recursion::async_recursion as boxed;
use persona::{Kind, Name, Scope, limits};

use crate::inputs::EntityUsage;
use crate::outputs::{ScopedEntityRef, UsagePage};
use crate::{Library, Result, ValueError};

impl Library {
    /// The definitions that mean an entity by a name of theirs, in its own scope and in stronger ones.
    #[boxed]
    pub async fn usage(&self, input: EntityUsage) -> Result<UsagePage> {
        let EntityUsage { kind, name, limit, cursor, scope } = input;
        let size = limit.map_or(limits::DEFAULT_PAGE, |limit| limit as usize);
        if !(1..=limits::PAGE).contains(&size) {
            let (low, high) = (1, limits::PAGE);
            return Err(ValueError::OutOfRange { field: "limit", low, high, value: size }.into());
        }
        let scopes = self.scopes.scopes_of(kind, &name).await?;
        let wanted = scopes.into_iter().find(|found| scope.is_none_or(|scope| scope == *found));
        let Some(scope) = wanted else { return Err(self.missing_in(kind, &name, scope).await) };
        let users = self.users(kind, &name, scope).await?;
        let (total, seen) = (users.len(), cursor.map_or(Ok(0), |cursor| parse_cursor(&cursor))?);
        let items: Vec<ScopedEntityRef> = users.into_iter().skip(seen).take(size).collect();
        let end = seen.saturating_add(size);
        Ok(UsagePage { items, total, next_cursor: (total > end).then(|| end.to_string()) })
    }

    /// All users of the entity of a scope, by kind, name and scope.
    async fn users(&self, kind: Kind, name: &Name, scope: Scope) -> Result<Vec<ScopedEntityRef>> {
        let named = self.users_of(kind, name, scope).await?.into_iter();
        let mut users: Vec<ScopedEntityRef> = named.map(|user| user.place).collect();
        // Links between rows of the database have no names, and builtins are in no other list.
        match scope {
            Scope::Shared => {
                let linked = self.scopes.database().shared_users(kind, name).await?.into_iter();
                users.extend(linked.map(|(kind, name)| ScopedEntityRef { scope, kind, name }));
            }
            Scope::Builtin => {
                let builtins = self.scopes.naming(scope, kind, name).await?.into_iter();
                users.extend(builtins.map(|user| {
                    let (kind, name) = (user.kind(), user.name().clone());
                    ScopedEntityRef { scope, kind, name }
                }));
            }
            Scope::Global | Scope::Project => {}
        }
        users.sort_by(|a, b| (a.kind, &a.name, a.scope).cmp(&(b.kind, &b.name, b.scope)));
        users.dedup();
        Ok(users)
    }
}

/// A cursor is the number of users on earlier pages.
fn parse_cursor(cursor: &str) -> Result<usize> {
    cursor.parse().map_err(|_| ValueError::Cursor { cursor: cursor.to_owned() }.into())
}
