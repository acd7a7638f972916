//! Personas: find, load, compile, write; and the search over the whole library.

use app::inputs::{ByName, CreatePersona, Delete, GetPersona, List, Search, UpdatePersona};
use app::outputs::{CompiledPersona, Deleted, Manifest, Page, PersonaView, Written};
use persona::Kind;

use super::{Answer, Call, ToolSpec, answer, parse, tool};
use crate::caller::author;
use crate::schema;
use crate::selection::{ToolSelection, ToolSet};
use crate::tools::Effect;

pub(super) const TOOLS: &[ToolSpec] = &[
    tool!(list_agent_personas, Load, Read, "List personas, page by page",
        List => Page, |call, input| call.library.list(Kind::Persona, input)),
    ToolSpec {
        name: "get_agent_persona",
        description: "Load a persona with its parts, traits, skills and guardrails, as summaries",
        set: ToolSet::Load,
        effect: Effect::Read,
        input: schema::input::<GetPersona>,
        output: schema::output::<PersonaView>,
        run: |call, arguments| {
            Box::pin(async move {
                let input: GetPersona = parse(arguments)?;
                // The hot path: hot personas are kept in the form in which they are sent.
                let loaded = call.library.get_persona(&input).await?;
                Ok(Answer { value: loaded.value(), text: loaded.json().to_owned() })
            })
        },
    },
    ToolSpec {
        name: "get_persona_manifest",
        description: "What a persona is made of, without contents. Call this first for an unknown persona",
        set: ToolSet::Load,
        effect: Effect::Read,
        input: schema::input::<ByName>,
        output: schema::output::<Manifest>,
        run: |call, arguments| {
            Box::pin(async move {
                let input: ByName = parse(arguments)?;
                let mut manifest = call.library.manifest(&input).await?;
                hint(&mut manifest, call.selection);
                answer(&manifest)
            })
        },
    },
    tool!(compile_persona, Load, Derive, "Merge a persona into prompt text, short and full, and keep it. Repeat after changes",
        ByName => CompiledPersona, |call, input| call.library.compile_persona(&input)),
    tool!(search_library, Load, Read, "Search personas and their pieces by words",
        Search => Page, |call, input| call.library.search(input)),
    tool!(create_agent_persona, Author, Create, "Create a persona, together with new pieces if you like: all of it or nothing",
        CreatePersona => Written, |call, input| call.library.create_persona(&call.author(), input)),
    tool!(update_agent_persona, Author, Overwrite, r#"Change the given fields of a persona; "" or [] clears one. Links have tools of their own"#,
        UpdatePersona => Written, |call, input| call.library.update_persona(&call.author(), input)),
    tool!(delete_agent_persona, Author, Remove, "Delete a persona",
        Delete => Deleted, |call, input| call.library.delete(&call.author(), Kind::Persona, input)),
];

/// What a manifest says about the tools that load the rest.
const HINTS: [(&str, &str); 5] = [
    ("get_agent_part", "load full content of a specific part"),
    ("get_agent_trait", "load instruction for a specific trait"),
    ("get_agent_skill", "load skill content"),
    ("get_agent_guardrail", "load guardrail content"),
    ("compile_persona", "load pre-merged compiled_summary if full context needed"),
];

/// Fills in the hints for the tools that this connection has.
pub(crate) fn hint(manifest: &mut Manifest, selection: ToolSelection) {
    let known = HINTS.into_iter().filter(|(tool, _)| selection.contains(tool));
    manifest.on_demand_tools = known.map(|(tool, when)| (format!("{tool}(name)"), when.to_owned())).collect();
}

impl Call<'_> {
    pub(super) fn author(&self) -> app::Author {
        author(self.context, self.user)
    }
}
