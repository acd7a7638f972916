//! Entities of any kind through four tools: presets and test inputs have no others.

use app::inputs::{DeleteEntity, GetEntity, ListLibrary, SaveEntity};
use app::outputs::{Deleted, Page, Written};
use persona::{Meta, Name};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{Effect, ToolSpec, answer, parse, tool};
use crate::schema;
use crate::selection::ToolSet;

/// The form of what `get_entity` answers. The fields of ten kinds would cost every client more
/// than they say: whoever asks knows the kind.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the library's document is what is answered")]
struct AnyDocument {
    name: Name,
    #[serde(flatten)]
    meta: Meta,
    /// The fields of its kind.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

pub(super) const TOOLS: &[ToolSpec] = &[
    tool!(list_library, Author, Read, "List entities of any kind, presets and test inputs included",
        ListLibrary => Page, |call, input| call.library.list(input.kind, input)),
    ToolSpec {
        name: "get_entity",
        description: "An entity of any kind as it was written",
        set: ToolSet::Author,
        effect: Effect::Read,
        input: schema::input::<GetEntity>,
        output: schema::output::<AnyDocument>,
        run: |call, arguments| {
            Box::pin(async move {
                let input: GetEntity = parse(arguments)?;
                answer(&call.library.get_entity(&input).await?)
            })
        },
    },
    tool!(save_entity, Author, Overwrite, "Create an entity of any kind, or put it in place of the one of that name",
        SaveEntity => Written, |call, input| call.library.save_entity(&call.author(), input)),
    tool!(delete_entity, Author, Remove, "Delete an entity of any kind; refused while something uses it, unless forced",
        DeleteEntity => Deleted, |call, input| call.library.delete_entity(&call.author(), input)),
];
