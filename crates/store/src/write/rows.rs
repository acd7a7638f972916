//! The columns of an entity that not all kinds have.

use database::{Column, Parameter};
use persona::Kind;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::Result;
use crate::documents::{EXTRA, Place, REMOVALS, place};

/// The columns of a definition and their values, as its fields are described.
pub(super) fn columns(kind: Kind, entity: &impl Serialize) -> Result<Vec<(&'static str, Parameter)>> {
    let Json::Object(mut fields) = serde_json::to_value(entity)? else { return Ok(Vec::new()) };
    let (mut removals, mut extra) = (Map::new(), Map::new());
    let mut columns = Vec::new();
    for field in kind.fields() {
        let value = fields.remove(field.name).unwrap_or_default();
        match place(kind, field) {
            Place::Column(_) if matches!(field.name, "name" | "tags") => {}
            Place::Column(holds) => columns.push((field.name, column(holds, value)?)),
            Place::EmptyIsUnset => {
                columns.push((field.name, Parameter::Text(value.as_str().unwrap_or_default().to_owned())));
            }
            Place::Within(object) => {
                if !value.is_null() && value != field.unset_json() {
                    let object = if object == REMOVALS { &mut removals } else { &mut extra };
                    object.insert(field.name.to_owned(), value);
                }
            }
            Place::PartLinks | Place::Links(_) | Place::Arc | Place::Stages => {}
        }
    }
    if kind == Kind::Persona {
        columns.push((REMOVALS, Parameter::Json(serde_json::to_string(&removals)?)));
    }
    columns.push((EXTRA, Parameter::Json(serde_json::to_string(&extra)?)));
    Ok(columns)
}

fn column(holds: Column, value: Json) -> Result<Parameter> {
    Ok(match (holds, value) {
        (Column::Int, value) => Parameter::MaybeInt(value.as_i64()),
        (Column::Json, Json::Null) => Parameter::MaybeJson(None),
        (Column::Json, value) => Parameter::MaybeJson(Some(serde_json::to_string(&value)?)),
        (_, Json::String(text)) => Parameter::MaybeText(Some(text)),
        (..) => Parameter::MaybeText(None),
    })
}
