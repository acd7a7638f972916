//! Drafts as they would be if they were saved, templates, and the users of an entity.

use app::inputs::{EntityUsage, ExplainDraft, ListTemplates, PreviewPersona};
use app::outputs::{Page, PersonaPreview, UsagePage};
use persona::explain::Explanation;

use super::prelude::*;
use crate::Context;

const UNSAVED: Mcp = no_tool("editors ask this while a person types; agents save and load");

pub(super) const OPERATIONS: &[Operation] = &[
    op!(preview_persona, Read, "Compile an unsaved persona: its text with the origin of each line, the effect of budgets, and lint; saves nothing",
        UNSAVED, post("/api/preview"), no_command("masque compile --origins shows stored personas; masque edit checks a draft when it saves it"),
        PreviewPersona => PersonaPreview, |cx, input| preview(cx, input)),
    op!(explain_draft, Read, "Say which layer and scope each field and part of an unsaved persona comes from; saves nothing",
        UNSAVED, post("/api/explain"), no_command("masque show --explain explains stored personas"),
        ExplainDraft => Explanation, |cx, input| cx.library.explain_draft(input)),
    op!(list_templates, Read, "List the personas that new ones can be made from",
        no_tool("list_agent_personas lists the builtin scope, too"), get("/api/templates"), command("new"),
        ListTemplates => Page, |cx, _input| cx.library.list_templates()),
    op!(entity_usage, Read, "List the entities that use an entity",
        no_tool("the delete tools name the users of what they refuse to delete"), get("/api/library/{kind}/{name}/usage"), command("delete"),
        EntityUsage => UsagePage, |cx, input| cx.library.usage(input)),
];

async fn preview(cx: &Context<'_>, input: PreviewPersona) -> app::Result<PersonaPreview> {
    let options = cx.lint.cloned().unwrap_or_default();
    cx.library.preview_persona(input, &options).await
}
