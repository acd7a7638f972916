//! Parts, traits, skills and guardrails: list, get, create, update, delete.

use app::inputs::{
    ByName, CreateGuardrail, CreatePart, CreateSkill, CreateTrait, Delete, List, ListParts, ListTraits,
    UpdateGuardrail, UpdatePart, UpdateSkill, UpdateTrait,
};
use app::outputs::{Deleted, Document, Page, Written};
use persona::{Guardrail, Kind, Part, Skill, Trait};

use super::{ToolSpec, tool};

pub(super) const PARTS: &[ToolSpec] = &[
    tool!(list_agent_parts, Author, Read, "List parts, page by page",
        ListParts => Page, |call, input| call.library.list(Kind::Part, input)),
    tool!(get_agent_part, Load, Read, "A part with its full content",
        ByName => Document<Part>, |call, input| call.library.get::<Part>(&input)),
    tool!(create_agent_part, Author, Create, "Create a reusable part; give content or summary",
        CreatePart => Written, |call, input| call.library.create::<Part>(&call.author(), input)),
    tool!(update_agent_part, Author, Overwrite, r#"Change the given fields of a part; "" or [] clears one"#,
        UpdatePart => Written, |call, input| call.library.update::<Part>(&call.author(), input)),
    tool!(delete_agent_part, Author, Remove, "Delete a part; refused while something uses it, unless forced",
        Delete => Deleted, |call, input| call.library.delete(&call.author(), Kind::Part, input)),
];

pub(super) const TRAITS: &[ToolSpec] = &[
    tool!(list_agent_traits, Author, Read, "List traits, page by page",
        ListTraits => Page, |call, input| call.library.list(Kind::Trait, input)),
    tool!(get_agent_trait, Load, Read, "A trait with its instruction",
        ByName => Document<Trait>, |call, input| call.library.get::<Trait>(&input)),
    tool!(create_agent_trait, Author, Create, "Create a trait",
        CreateTrait => Written, |call, input| call.library.create::<Trait>(&call.author(), input)),
    tool!(update_agent_trait, Author, Overwrite, r#"Change the given fields of a trait; "" or [] clears one"#,
        UpdateTrait => Written, |call, input| call.library.update::<Trait>(&call.author(), input)),
    tool!(delete_agent_trait, Author, Remove, "Delete a trait; refused while something uses it, unless forced",
        Delete => Deleted, |call, input| call.library.delete(&call.author(), Kind::Trait, input)),
];

pub(super) const SKILLS: &[ToolSpec] = &[
    tool!(list_agent_skills, Author, Read, "List skills, page by page",
        List => Page, |call, input| call.library.list(Kind::Skill, input)),
    tool!(get_agent_skill, Load, Read, "A skill with its content",
        ByName => Document<Skill>, |call, input| call.library.get::<Skill>(&input)),
    tool!(create_agent_skill, Author, Create, "Create a skill",
        CreateSkill => Written, |call, input| call.library.create::<Skill>(&call.author(), input)),
    tool!(update_agent_skill, Author, Overwrite, r#"Change the given fields of a skill; "" or [] clears one"#,
        UpdateSkill => Written, |call, input| call.library.update::<Skill>(&call.author(), input)),
    tool!(delete_agent_skill, Author, Remove, "Delete a skill; refused while something uses it, unless forced",
        Delete => Deleted, |call, input| call.library.delete(&call.author(), Kind::Skill, input)),
];

pub(super) const GUARDRAILS: &[ToolSpec] = &[
    tool!(list_agent_guardrails, Author, Read, "List guardrails, page by page",
        List => Page, |call, input| call.library.list(Kind::Guardrail, input)),
    tool!(get_agent_guardrail, Load, Read, "A guardrail with its content",
        ByName => Document<Guardrail>, |call, input| call.library.get::<Guardrail>(&input)),
    tool!(create_agent_guardrail, Author, Create, "Create a guardrail",
        CreateGuardrail => Written, |call, input| call.library.create::<Guardrail>(&call.author(), input)),
    tool!(update_agent_guardrail, Author, Overwrite, r#"Change the given fields of a guardrail; "" or [] clears one"#,
        UpdateGuardrail => Written, |call, input| call.library.update::<Guardrail>(&call.author(), input)),
    tool!(delete_agent_guardrail, Author, Remove, "Delete a guardrail; refused while something uses it, unless forced",
        Delete => Deleted, |call, input| call.library.delete(&call.author(), Kind::Guardrail, input)),
];
