//! Changes some fields of an entity of any kind.

use async_recursion::async_recursion as boxed;
use files::document::spell_out;
use persona::{Kind, Scope, Stored};
use serde_json::{Map, Value};
use store::Action;

use crate::change::Opened;
use crate::diff::same;
use crate::entities::{self, META};
use crate::inputs::AmendEntity;
use crate::outputs::Written;
use crate::templates::untagged_copy;
use crate::{Author, Library, Result, ValueError};

impl Library {
    /// Changes the given fields of an entity in one transaction. A builtin is copied first.
    #[boxed]
    pub async fn amend_entity(&self, author: &Author, input: AmendEntity) -> Result<Written> {
        let AmendEntity { kind, name, mut entity, if_revision, message, scope } = input;
        // A caller may send back the fields that `get` added.
        entity.retain(|field, value| {
            !META.contains(&field.as_str()) && (field != "name" || *value != *name.as_str())
        });
        if entity.is_empty() {
            return Err(ValueError::NothingToChange.into());
        }
        let scope = self.scope_for_change(kind, &name, scope).await?;
        let mut write = self.scopes.write(scope, author.because(message)?).await?;
        let Opened { held, mut copied, builtin: is_builtin } =
            self.open_any(&mut write, kind, &name, if_revision).await?;
        let Stored { entity: old, meta } = held.stored;
        spell_out(kind, &mut entity);
        let mut new = entities::parse(kind, name.as_str(), over(kind, entity, old.to_json()))?;
        if is_builtin {
            // A builtin that is sent back still has the tag of builtins.
            new = untagged_copy(new);
        }
        if same(&old, &new) {
            // Without a commit, a builtin that was copied is not copied after all.
            let (scope, revision) =
                if is_builtin { (Scope::Builtin, 0) } else { (meta.scope, meta.revision) };
            return Ok(Written::unchanged(kind, name, scope, revision));
        }
        let written = self.put_any(&mut write, &new, Action::Update, None, &mut copied).await?;
        write.commit().await?;
        Ok(Written { copied, ..written })
    }
}

/// Fills in the fields that are not given. An empty text or 0 clears a field, null leaves it alone.
fn over(kind: Kind, mut fields: Map<String, Value>, current: Value) -> Map<String, Value> {
    fields.retain(|_, value| !value.is_null());
    if let Value::Object(current) = current {
        for (field, value) in current {
            fields.entry(field).or_insert(value);
        }
    }
    for field in kind.fields().iter().filter(|field| field.is_cleared_by_zero()) {
        if fields.get(field.name).is_some_and(|value| value.as_u64() == Some(0)) {
            fields.remove(field.name);
        }
    }
    fields
}
