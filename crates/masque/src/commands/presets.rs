//! Creates and updates presets and test inputs.

use app::inputs::{AmendEntity, SaveEntity};
use app::outputs::Written;
use persona::{AnyEntity, Kind, Scope};
use serde_json::Value;

use super::update::nothing_to_change;
use crate::cli::{CreateArgs, UpdateArgs};
use crate::definition::Definition;
use crate::failure::Result;
use crate::workspace::Workspace;

pub(super) async fn create(
    kind: Kind,
    definition: Definition,
    args: CreateArgs,
    workspace: &Workspace,
) -> Result<Written> {
    let entity = definition.into_entity(kind)?;
    let scope = args.place.scope.unwrap_or_else(|| workspace.library.default_scope());
    // Revision 0 fails if the name is taken.
    let input = save(&entity, 0, args.why.message, Some(scope));
    Ok(workspace.library.save_entity(&workspace.author, input).await?)
}

pub(super) async fn amend(
    kind: Kind,
    mut definition: Definition,
    args: UpdateArgs,
    workspace: &Workspace,
) -> Result<Written> {
    let file_revision = definition.take_revision()?;
    if definition.is_empty() {
        return Err(nothing_to_change(kind));
    }
    let UpdateArgs { name, given } = args;
    // The argument wins over a name in the file.
    definition.set("name", &Some(&name))?;
    let input = AmendEntity {
        kind,
        name,
        entity: definition.into_fields(),
        if_revision: given.if_revision.or(file_revision),
        message: given.why.message,
        scope: given.change.scope,
    };
    Ok(workspace.library.amend_entity(&workspace.author, input).await?)
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
