//! Templates, renames, duplicates, promotion, export and import.

use app::inputs::{
    CreateFromTemplate, DuplicateEntity, ExportEntities, ExportLibrary, ImportEntities, PromoteEntity,
    RenameEntity,
};
use app::outputs::{Exported, ImportPlan, Promoted, Written};
use app::{Library, TomlText};
use persona::{Kind, Name};

use super::prelude::*;
use crate::Context;

/// The name of the text of an import, in messages.
const IMPORTED: &str = "toml";

const FOR_PEOPLE: Mcp = no_tool("people arrange a library, and every tool costs an agent context");

pub(super) const OPERATIONS: &[Operation] = &[
    op!(create_persona_from_template, Create, "Create a persona from a builtin one",
        no_tool("get_agent_persona and create_agent_persona do it in two calls"), post("/api/templates/{template}"), command("new"),
        CreateFromTemplate => Written, |cx, input| from_template(cx, input)),
    op!(rename_entity, Overwrite, "Rename an entity and the references to it",
        no_tool("the update tools take new_name"), post("/api/library/{kind}/{name}/rename"), command("rename"),
        RenameEntity => Written, |cx, input| cx.library.rename(&cx.author(), input)),
    op!(duplicate_entity, Create, "Copy an entity under another name, or into another scope",
        no_tool("get_entity and save_entity do it in two calls"), post("/api/library/{kind}/{name}/duplicate"), command("duplicate"),
        DuplicateEntity => Written, |cx, input| cx.library.duplicate(&cx.author(), input)),
    op!(promote_entity, Overwrite, "Copy an entity into another scope, with everything that it refers to; `move` removes the originals",
        FOR_PEOPLE, post("/api/library/{kind}/{name}/promote"), command("promote"),
        PromoteEntity => Promoted, |cx, input| cx.library.promote(&cx.author(), input)),
    op!(export_entities, Read, "Export entities with everything that they refer to, as one personas.toml",
        FOR_PEOPLE, get("/api/export/{kind}"), command("export"),
        ExportEntities => Exported, |cx, input| export(cx.library, input)),
    op!(export_library, Read, "Export everything that a scope defines, or all of them do, as one personas.toml",
        FOR_PEOPLE, get("/api/export"), command("export"),
        ExportLibrary => Exported, |cx, input| cx.library.export_all(input.scope)),
    op!(import_entities, Overwrite, "Import the entities of a personas.toml, all or none; a dry run only lists the changes",
        FOR_PEOPLE, post("/api/import"), command("import"),
        ImportEntities => ImportPlan, |cx, input| import(cx, input)),
];

async fn from_template(cx: &Context<'_>, input: CreateFromTemplate) -> app::Result<Written> {
    let CreateFromTemplate { template, name, message, scope } = input;
    cx.library.new_from_template(&cx.author(), &template, name, scope, message).await
}

async fn export(library: &Library, input: ExportEntities) -> app::Result<Exported> {
    let ExportEntities { kind, names, scope } = input;
    let names: Vec<(Kind, Name)> = names.into_iter().map(|name| (kind, name)).collect();
    library.export(&names, scope).await
}

async fn import(cx: &Context<'_>, input: ImportEntities) -> app::Result<ImportPlan> {
    let ImportEntities { toml, dry_run, message, scope } = input;
    let text = TomlText::named(IMPORTED, &toml);
    if dry_run {
        return cx.library.plan_import(text, scope).await;
    }
    cx.library.import(&cx.author(), text, scope, message).await
}
