//! Presets and test inputs: create, and change some fields.

use app::inputs::{AmendEntity, SaveEntity};
use app::outputs::Written;
use persona::{AnyEntity, Entity, Kind, Scope};
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

pub(super) async fn amend<F: Fields>(kind: Kind, mut args: Amend<F>, session: &Session) -> Result<Written> {
    args.fields.read_files()?;
    let mut definition = Definition::read(args.file.as_deref(), &args.fields, Purpose::Update)?;
    let stated = definition.take_revision()?;
    if definition.is_empty() {
        return Err(nothing_to_change(kind));
    }
    // A file may have another name: the argument says what is changed.
    definition.set("name", &Some(&args.name))?;
    let input = AmendEntity {
        kind,
        name: args.name,
        entity: definition.into_fields(),
        if_revision: args.if_revision.or(stated),
        message: args.why.message,
        scope: args.change.scope,
    };
    Ok(session.library.amend_entity(&session.author, input).await?)
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
