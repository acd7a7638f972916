//! Which pieces belong to a persona.

use app::inputs::{AddPart, PersonaGuardrail, PersonaPart, PersonaSkill, PersonaTrait};
use app::outputs::Written;

use super::{ToolSpec, tool};

pub(super) const TOOLS: &[ToolSpec] = &[
    tool!(add_persona_part, Author, Add, "Link a part to a persona, or change its place there",
        AddPart => Written, |call, input| call.library.add_part(&call.author(), input)),
    tool!(remove_persona_part, Author, Remove, "Unlink a part from a persona",
        PersonaPart => Written, |call, input| call.library.remove_part(&call.author(), input)),
    tool!(add_persona_trait, Author, Add, "Link a trait to a persona",
        PersonaTrait => Written, |call, input| call.library.add_trait(&call.author(), input)),
    tool!(remove_persona_trait, Author, Remove, "Unlink a trait from a persona",
        PersonaTrait => Written, |call, input| call.library.remove_trait(&call.author(), input)),
    tool!(add_persona_skill, Author, Add, "Link a skill to a persona",
        PersonaSkill => Written, |call, input| call.library.add_skill(&call.author(), input)),
    tool!(remove_persona_skill, Author, Remove, "Unlink a skill from a persona",
        PersonaSkill => Written, |call, input| call.library.remove_skill(&call.author(), input)),
    tool!(add_persona_guardrail, Author, Add, "Link a guardrail to a persona",
        PersonaGuardrail => Written, |call, input| call.library.add_guardrail(&call.author(), input)),
    tool!(remove_persona_guardrail, Author, Remove, "Unlink a guardrail from a persona",
        PersonaGuardrail => Written, |call, input| call.library.remove_guardrail(&call.author(), input)),
];
