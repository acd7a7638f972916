//! Entities of any kind. Presets and test inputs have no other operations.

use app::inputs::{AmendEntity, DeleteEntity, GetEntity, ListLibrary, SaveEntity};
use app::outputs::{Deleted, FullEntity, Page, Written};
use persona::{AnyEntity, Meta, Name};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::prelude::*;

/// The schema of `get_entity`'s answer. Listing the fields of ten kinds would cost every client more
/// than it helps: the caller knows the kind.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the answer is the library's document")]
struct AnyDocument {
    name: Name,
    #[serde(flatten)]
    meta: Meta,
    /// The fields of its kind.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

pub(super) const OPERATIONS: &[Operation] = &[
    op!(list_library, Read, "List entities of any kind, presets and test inputs included",
        tool(Author), get("/api/library/{kind}"), command("list"),
        ListLibrary => Page, |cx, input| cx.library.list(input.kind, input)),
    op!(get_entity, Read, "An entity of any kind as it was written",
        tool(Author), get("/api/library/{kind}/{name}"), command("show"),
        GetEntity => (AnyDocument) as (FullEntity<AnyEntity>), |cx, input| cx.library.get_entity(&input)),
    op!(save_entity, Overwrite, "Create an entity of any kind, or put it in place of the one of that name",
        tool(Author), put("/api/library/{kind}/{name}"), command("create"),
        SaveEntity => Written, |cx, input| cx.library.save_entity(&cx.author(), input)),
    op!(delete_entity, Remove, "Delete an entity of any kind; refused while something uses it, unless forced",
        tool(Author), delete("/api/library/{kind}/{name}"), command("delete"),
        DeleteEntity => Deleted, |cx, input| cx.library.delete_entity(&cx.author(), input)),
    op!(amend_entity, Overwrite, r#"Change the given fields of an entity of any kind; "" or [] clears one"#,
        no_tool("the kinds that agents change have update tools of their own"), patch("/api/library/{kind}/{name}"), command("update"),
        AmendEntity => Written, |cx, input| cx.library.amend_entity(&cx.author(), input)),
];
