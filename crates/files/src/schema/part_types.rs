//! The meaning of each part type, for the completions of an editor.

use persona::PartType;

/// The content of a part of this type.
pub(super) const fn about_part_type(part_type: PartType) -> &'static str {
    match part_type {
        PartType::System => "Ground rules that hold whatever the task is.",
        PartType::Agent => "How the agent works in general.",
        PartType::Soul => "Character and values.",
        PartType::Identity => "Who it is: name, role, remit.",
        PartType::Skill => "A capability that is always in mind. (A `[skills.NAME]` is loaded when needed.)",
        PartType::Specialization => "Its field of expertise.",
        PartType::Tone => "How it comes across: plain, warm, formal.",
        PartType::Goal => "Its goal, and when the goal is reached.",
        PartType::Context => "Where it works and with what.",
        PartType::Protocol => "The steps that it goes through.",
        PartType::Backstory => "Its history.",
        PartType::Motivation => "Why it does what it does.",
        PartType::Voice => "Its words and turns of phrase.",
        PartType::Archetype => "The figure that it is, as stories have it: guide, trickster, hero.",
        PartType::Flaw => "Its weaknesses, and what it does about them.",
        PartType::Relationship => "Its attitude towards users and other agents.",
    }
}
