//! Presets and test inputs, which are kept whole: create, and change some fields.

use app::inputs::{GetEntity, SaveEntity};
use app::outputs::{Document, Piece, Written};
use persona::{AnyEntity, Entity, Scope};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::update::nothing_to_change;
use crate::cli::{Amend, Create, Fields};
use crate::definition::{Definition, Purpose};
use crate::failure::Result;
use crate::session::Session;

pub(super) async fn create<T, F>(mut args: Create<F>, session: &Session) -> Result<Written>
where
    T: Entity + DeserializeOwned + Into<AnyEntity>,
    F: Fields,
{
    args.fields.read_files()?;
    let mut definition = Definition::read(args.file.as_deref(), &args.fields, Purpose::Create)?;
    definition.set("name", &args.name)?;
    definition.spell_out(T::KIND);
    let entity: AnyEntity = definition.into_input::<T>()?.into();
    let scope = args.place.scope.unwrap_or_else(|| session.library.default_scope());
    // Revision 0 is refused where the name is taken.
    let input = save(&entity, 0, args.why.message, Some(scope));
    Ok(session.library.save_entity(&session.author, input).await?)
}

pub(super) async fn amend<T, F>(mut args: Amend<F>, session: &Session) -> Result<Written>
where
    T: Entity + DeserializeOwned + Into<AnyEntity>,
    F: Fields,
{
    args.fields.read_files()?;
    let mut definition = Definition::read(args.file.as_deref(), &args.fields, Purpose::Update)?;
    let stated = definition.take_revision()?;
    if definition.is_empty() {
        return Err(nothing_to_change(T::KIND));
    }
    let (kind, name, scope) = (T::KIND, args.name, args.change.scope);
    let get = async |scope| {
        session.library.get_entity(&GetEntity { kind, name: name.clone(), revision: None, scope }).await
    };
    let Document { entity: old, meta } = match get(scope).await {
        // It is copied to the scope that is named.
        Err(app::Error::Elsewhere { found: Scope::Builtin, .. }) => get(Some(Scope::Builtin)).await?,
        found => found?,
    };
    definition.set("name", &Some(&name))?;
    definition.spell_out(T::KIND);
    let new: AnyEntity = definition.over(old.to_json()).into_input::<T>()?.into();
    let builtin = meta.scope == Scope::Builtin;
    let actual = if builtin { 0 } else { meta.revision };
    // Between reading and writing nobody else may have been faster, asked for or not.
    let expected = args.if_revision.or(stated).unwrap_or(actual);
    if expected != actual {
        return Err(app::Error::Stale { kind, name, expected, actual }.into());
    }
    if new == old {
        return Ok(Written::unchanged(kind, name, meta.scope, meta.revision));
    }
    let input = save(&new, expected, args.why.message, scope);
    let mut written = session.library.save_entity(&session.author, input).await?;
    if builtin {
        written.copied.push(Piece { kind, name });
    }
    Ok(written)
}

fn save(entity: &AnyEntity, revision: i64, message: Option<String>, scope: Option<Scope>) -> SaveEntity {
    let fields = match entity.to_json() {
        Value::Object(fields) => fields,
        _ => serde_json::Map::new(),
    };
    SaveEntity {
        kind: entity.kind(),
        name: entity.name().clone(),
        entity: fields,
        if_revision: Some(revision),
        message,
        scope,
    }
}
