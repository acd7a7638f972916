//! Personas: find, load, compile, write; and the search over the whole library.

use std::sync::Arc;

use app::Rendered;
use app::inputs::{ByName, CompilePersona, CreatePersona, Delete, GetPersona, List, Search, UpdatePersona};
use app::outputs::{CompiledPersona, Deleted, Manifest, Page, PersonaView, Written};
use persona::Kind;
use persona::explain::Explanation;

use super::prelude::*;
use crate::Context;

pub(super) const OPERATIONS: &[Operation] = &[
    op!(list_agent_personas, Read, "List personas, page by page",
        tool(Load), http_through("list_library"), command("list"),
        List => Page, |cx, input| cx.library.list(Kind::Persona, input)),
    op!(get_agent_persona, Read, "Load a persona with its parts, traits, skills and guardrails, as summaries",
        tool(Load), get_or_post("/api/personas/{name}", "/api/personas/{name}/load"), command("show"),
        GetPersona => (PersonaView) as (Arc<Rendered>), |cx, input| cx.library.get_persona(&input)),
    op!(get_persona_manifest, Read, "The pieces of a persona, without contents. Call this first for an unknown persona",
        tool(Load), get("/api/personas/{name}/manifest"), command("manifest"),
        ByName => Manifest, |cx, input| manifest(cx, &input)),
    op!(compile_persona, Derive, "Merge a persona into one prompt text and keep it. Repeat after changes",
        tool(Load), post("/api/personas/{name}/compile"), command("compile"),
        CompilePersona => CompiledPersona, |cx, input| cx.library.compile_persona(&input)),
    op!(search_library, Read, "Search personas and their pieces by words",
        tool(Load), get("/api/search"), command("search"),
        Search => Page, |cx, input| cx.library.search(input)),
    op!(create_agent_persona, Create, "Create a persona, together with new pieces if you like: all of it or nothing",
        tool(Author), post("/api/personas"), command("create persona"),
        CreatePersona => Written, |cx, input| cx.library.create_persona(&cx.author(), input)),
    op!(update_agent_persona, Overwrite, r#"Change the given fields of a persona; "" or [] clears one. Links have tools of their own"#,
        tool(Author), patch("/api/personas/{name}"), command("update persona"),
        UpdatePersona => Written, |cx, input| cx.library.update_persona(&cx.author(), input)),
    op!(delete_agent_persona, Remove, "Delete a persona",
        tool(Author), http_through("delete_entity"), command("delete"),
        Delete => Deleted, |cx, input| cx.library.delete(&cx.author(), Kind::Persona, input)),
    op!(explain_persona, Read, "Say which layer and scope each field and part of a persona comes from",
        no_tool("people ask this when a persona surprises them"), get("/api/personas/{name}/explanation"), command("show"),
        ByName => Explanation, |cx, input| cx.library.explain(&input)),
];

/// A manifest with hints in the caller's terms.
async fn manifest(cx: &Context<'_>, input: &ByName) -> app::Result<Manifest> {
    let mut manifest = cx.library.manifest(input).await?;
    crate::add_hints(&mut manifest, cx.front);
    Ok(manifest)
}
