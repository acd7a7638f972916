//! Changes of the library, as they happen.

use app::inputs::WatchLibrary;
use persona::{Kind, Name};
use schemars::JsonSchema;

use super::prelude::*;
use crate::{Effect, Media, OperationFn};

/// The data of a `change` event.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct LibraryChange {
    kind: Kind,
    name: Name,
    /// True if the entity was created, deleted or renamed.
    listed: bool,
}

pub(super) const OPERATIONS: &[Operation] = &[Operation {
    name: "watch_library",
    summary: "Stream changes of the library, and mistakes in its files",
    effect: Effect::Read,
    mcp: no_tool("MCP has subscriptions for this"),
    http: get("/api/events"),
    cli: no_command("commands end; masque serve and masque mcp follow the files"),
    input: |generator| generator.subschema_for::<WatchLibrary>(),
    output: |generator| generator.subschema_for::<LibraryChange>(),
    media: Media::Events,
    run: OperationFn::LibraryEvents,
}];
