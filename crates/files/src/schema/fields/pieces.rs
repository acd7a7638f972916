//! The fields of parts, traits, skills, guardrails and arcs.

use persona::PartType;
use persona::limits::{DENY_TOOLS, LONG_TEXT_BYTES, SHORT_TEXT_BYTES, STAGE_PARTS, STAGES, TAGS};

use super::super::rules::Rule::{Lines, List, Name, Names, Text, Tools, Typed, Whole};
use super::{Field, field};

const TAGGED: Field = field("tags", Lines(TAGS), "Words to find it by.");

pub(super) const PART: &[Field] = &[
    field(
        "part_type",
        Typed,
        "What the part is about. A stronger layer's parts of a type take the place of the weaker one's.",
    ),
    field("description", Text(SHORT_TEXT_BYTES), "What the part is good for, for whoever picks parts."),
    field(
        "summary",
        Text(SHORT_TEXT_BYTES),
        "The part in a sentence, for where there is no room for its content. Without it: the description, else \
         the first sentence of the content.",
    ),
    field("content", Text(LONG_TEXT_BYTES), "The part itself, as it stands in the prompt."),
    TAGGED,
];

pub(super) const TRAIT: &[Field] = &[
    field("trait_type", Typed, "What the trait is a feature of."),
    field(
        "description",
        Text(SHORT_TEXT_BYTES),
        "The trait in a sentence. Without an instruction, it serves as one.",
    ),
    field("instruction", Text(LONG_TEXT_BYTES), "What the persona is told to do because of the trait."),
    TAGGED,
];

pub(super) const SKILL: &[Field] = &[
    field(
        "description",
        Text(SHORT_TEXT_BYTES),
        "What the skill is for and when to use it: all that the model sees until it loads the skill.",
    ),
    field("content", Text(LONG_TEXT_BYTES), "The skill itself, loaded when the model asks for it."),
    TAGGED,
];

pub(super) const GUARDRAIL: &[Field] = &[
    field("severity", Typed, "How bad it is to break the guardrail; the worst stand first in the prompt."),
    field(
        "description",
        Text(SHORT_TEXT_BYTES),
        "The guardrail in a sentence. Without content, it serves as content.",
    ),
    field("content", Text(LONG_TEXT_BYTES), "What the persona must not do, in full."),
    field(
        "deny_tools",
        Tools(DENY_TOOLS),
        "Tools that a persona with this guardrail can never call, whatever a preset says; `*` stands for any \
         characters, as in `write_*`.",
    ),
    TAGGED,
];

pub(super) const ARC: &[Field] = &[
    field("description", Text(SHORT_TEXT_BYTES), "What the arc is for, for whoever picks arcs."),
    field("summary", Text(SHORT_TEXT_BYTES), "The way that the arc takes, in a sentence."),
    field("stages", List(STAGES), "The stages, from the first to the last."),
    field("stages[].name", Name, "The stage's name; each once in an arc."),
    field(
        "stages[].order",
        Whole(i32::MIN as i64, i32::MAX as i64, None),
        "Where the stage comes: lower is earlier. Without it, the position in the list counts, from 1.",
    ),
    field("stages[].description", Text(SHORT_TEXT_BYTES), "What the persona is like in this stage."),
    field(
        "stages[].condition",
        Text(SHORT_TEXT_BYTES),
        "When to move on to the next stage, in words for the agent that decides it. Masque does not evaluate it.",
    ),
    field(
        "stages[].parts",
        Names(STAGE_PARTS),
        "Parts that take the place of the persona's parts of their types during this stage.",
    ),
    TAGGED,
];

/// What a part of a type holds.
pub(in super::super) const fn about_part_type(part_type: PartType) -> &'static str {
    match part_type {
        PartType::System => "Ground rules that hold whatever the task is.",
        PartType::Agent => "How the agent works in general.",
        PartType::Soul => "Character and values.",
        PartType::Identity => "Who it is: name, role, remit.",
        PartType::Skill => "A capability that is always in mind. (A `[skills.NAME]` is loaded when needed.)",
        PartType::Specialization => "What it knows better than others.",
        PartType::Tone => "How it comes across: plain, warm, formal.",
        PartType::Goal => "What it is to achieve, and when it is done.",
        PartType::Context => "Where it works and with what.",
        PartType::Protocol => "The steps that it goes through.",
        PartType::Backstory => "What happened to it before.",
        PartType::Motivation => "Why it does what it does.",
        PartType::Voice => "Its words and turns of phrase.",
        PartType::Archetype => "The figure that it is, as stories have it: guide, trickster, hero.",
        PartType::Flaw => "Its weaknesses, and what it does about them.",
        PartType::Relationship => "How it stands towards users and other agents.",
    }
}
