//! Parts, traits, skills and guardrails: list, get, create, update, delete.

use app::inputs::{
    ByName, CreateGuardrail, CreatePart, CreateSkill, CreateTrait, Delete, List, ListParts, ListTraits,
    UpdateGuardrail, UpdatePart, UpdateSkill, UpdateTrait,
};
use app::outputs::{Deleted, FullEntity, Page, Written};
use persona::{Guardrail, Kind, Part, Skill, Trait};

use super::prelude::*;

pub(super) const PARTS: &[Operation] = &[
    op!(list_agent_parts, Read, "List parts, page by page",
        tool(Author), get("/api/library/part"), command("list part"),
        ListParts => Page, |cx, input| cx.library.list(Kind::Part, input)),
    op!(get_agent_part, Read, "A part with its full content",
        tool(Load), http_through("get_entity"), command("show part"),
        ByName => FullEntity<Part>, |cx, input| cx.library.get::<Part>(&input)),
    op!(create_agent_part, Create, "Create a reusable part; give content or summary",
        tool(Author), http_through("save_entity"), command("create part"),
        CreatePart => Written, |cx, input| cx.library.create::<Part>(&cx.author(), input)),
    op!(update_agent_part, Overwrite, r#"Change the given fields of a part; "" or [] clears one"#,
        tool(Author), http_through("amend_entity"), command("update part"),
        UpdatePart => Written, |cx, input| cx.library.update::<Part>(&cx.author(), input)),
    op!(delete_agent_part, Remove, "Delete a part; refused while something uses it, unless forced",
        tool(Author), http_through("delete_entity"), command("delete part"),
        Delete => Deleted, |cx, input| cx.library.delete(&cx.author(), Kind::Part, input)),
];

pub(super) const TRAITS: &[Operation] = &[
    op!(list_agent_traits, Read, "List traits, page by page",
        tool(Author), get("/api/library/trait"), command("list trait"),
        ListTraits => Page, |cx, input| cx.library.list(Kind::Trait, input)),
    op!(get_agent_trait, Read, "A trait with its instruction",
        tool(Load), http_through("get_entity"), command("show trait"),
        ByName => FullEntity<Trait>, |cx, input| cx.library.get::<Trait>(&input)),
    op!(create_agent_trait, Create, "Create a trait",
        tool(Author), http_through("save_entity"), command("create trait"),
        CreateTrait => Written, |cx, input| cx.library.create::<Trait>(&cx.author(), input)),
    op!(update_agent_trait, Overwrite, r#"Change the given fields of a trait; "" or [] clears one"#,
        tool(Author), http_through("amend_entity"), command("update trait"),
        UpdateTrait => Written, |cx, input| cx.library.update::<Trait>(&cx.author(), input)),
    op!(delete_agent_trait, Remove, "Delete a trait; refused while something uses it, unless forced",
        tool(Author), http_through("delete_entity"), command("delete trait"),
        Delete => Deleted, |cx, input| cx.library.delete(&cx.author(), Kind::Trait, input)),
];

pub(super) const SKILLS: &[Operation] = &[
    op!(list_agent_skills, Read, "List skills, page by page",
        tool(Author), http_through("list_library"), command("list skill"),
        List => Page, |cx, input| cx.library.list(Kind::Skill, input)),
    op!(get_agent_skill, Read, "A skill with its content",
        tool(Load), http_through("get_entity"), command("show skill"),
        ByName => FullEntity<Skill>, |cx, input| cx.library.get::<Skill>(&input)),
    op!(create_agent_skill, Create, "Create a skill",
        tool(Author), http_through("save_entity"), command("create skill"),
        CreateSkill => Written, |cx, input| cx.library.create::<Skill>(&cx.author(), input)),
    op!(update_agent_skill, Overwrite, r#"Change the given fields of a skill; "" or [] clears one"#,
        tool(Author), http_through("amend_entity"), command("update skill"),
        UpdateSkill => Written, |cx, input| cx.library.update::<Skill>(&cx.author(), input)),
    op!(delete_agent_skill, Remove, "Delete a skill; refused while something uses it, unless forced",
        tool(Author), http_through("delete_entity"), command("delete skill"),
        Delete => Deleted, |cx, input| cx.library.delete(&cx.author(), Kind::Skill, input)),
];

pub(super) const GUARDRAILS: &[Operation] = &[
    op!(list_agent_guardrails, Read, "List guardrails, page by page",
        tool(Author), http_through("list_library"), command("list guardrail"),
        List => Page, |cx, input| cx.library.list(Kind::Guardrail, input)),
    op!(get_agent_guardrail, Read, "A guardrail with its content",
        tool(Load), http_through("get_entity"), command("show guardrail"),
        ByName => FullEntity<Guardrail>, |cx, input| cx.library.get::<Guardrail>(&input)),
    op!(create_agent_guardrail, Create, "Create a guardrail",
        tool(Author), http_through("save_entity"), command("create guardrail"),
        CreateGuardrail => Written, |cx, input| cx.library.create::<Guardrail>(&cx.author(), input)),
    op!(update_agent_guardrail, Overwrite, r#"Change the given fields of a guardrail; "" or [] clears one"#,
        tool(Author), http_through("amend_entity"), command("update guardrail"),
        UpdateGuardrail => Written, |cx, input| cx.library.update::<Guardrail>(&cx.author(), input)),
    op!(delete_agent_guardrail, Remove, "Delete a guardrail; refused while something uses it, unless forced",
        tool(Author), http_through("delete_entity"), command("delete guardrail"),
        Delete => Deleted, |cx, input| cx.library.delete(&cx.author(), Kind::Guardrail, input)),
];
