//! Links between personas and pieces.

use app::inputs::{AddPart, PersonaGuardrail, PersonaPart, PersonaSkill, PersonaTrait};
use app::outputs::Written;

use super::prelude::*;

pub(super) const OPERATIONS: &[Operation] = &[
    op!(add_persona_part, Add, "Link a part to a persona, or change its place there",
        tool(Author), put("/api/personas/{persona}/parts/{part}"), command("link"),
        AddPart => Written, |cx, input| cx.library.add_part(&cx.author(), input)),
    op!(remove_persona_part, Remove, "Unlink a part from a persona",
        tool(Author), delete("/api/personas/{persona}/parts/{part}"), command("unlink"),
        PersonaPart => Written, |cx, input| cx.library.remove_part(&cx.author(), input)),
    op!(add_persona_trait, Add, "Link a trait to a persona",
        tool(Author), put("/api/personas/{persona}/traits/{trait}"), command("link"),
        PersonaTrait => Written, |cx, input| cx.library.add_trait(&cx.author(), input)),
    op!(remove_persona_trait, Remove, "Unlink a trait from a persona",
        tool(Author), delete("/api/personas/{persona}/traits/{trait}"), command("unlink"),
        PersonaTrait => Written, |cx, input| cx.library.remove_trait(&cx.author(), input)),
    op!(add_persona_skill, Add, "Link a skill to a persona",
        tool(Author), put("/api/personas/{persona}/skills/{skill}"), command("link"),
        PersonaSkill => Written, |cx, input| cx.library.add_skill(&cx.author(), input)),
    op!(remove_persona_skill, Remove, "Unlink a skill from a persona",
        tool(Author), delete("/api/personas/{persona}/skills/{skill}"), command("unlink"),
        PersonaSkill => Written, |cx, input| cx.library.remove_skill(&cx.author(), input)),
    op!(add_persona_guardrail, Add, "Link a guardrail to a persona",
        tool(Author), put("/api/personas/{persona}/guardrails/{guardrail}"), command("link"),
        PersonaGuardrail => Written, |cx, input| cx.library.add_guardrail(&cx.author(), input)),
    op!(remove_persona_guardrail, Remove, "Unlink a guardrail from a persona",
        tool(Author), delete("/api/personas/{persona}/guardrails/{guardrail}"), command("unlink"),
        PersonaGuardrail => Written, |cx, input| cx.library.remove_guardrail(&cx.author(), input)),
];
