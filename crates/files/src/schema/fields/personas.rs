//! The fields of `[personas.NAME]`.

use persona::limits::{
    DISPLAY_NAME_CHARS, LINKS, LONG_TEXT_BYTES, PREFERRED_MODELS, SHORT_TEXT_BYTES, TAGS, TOOL_ROUNDS,
};

use super::super::rules::Rule::{Base, Line, Lines, List, Name, Names, Number, Text, Typed, Whole, Word};
use super::{Field, field};

pub(super) const PERSONA: &[Field] = &[
    field("display_name", Text(DISPLAY_NAME_CHARS), "The name that people see: free text, one line."),
    field(
        "description",
        Text(SHORT_TEXT_BYTES),
        "When to use this persona, in a sentence. It stands in for a missing summary.",
    ),
    field(
        "summary",
        Text(SHORT_TEXT_BYTES),
        "What the persona is, in a sentence or two, for where there is no room for more. Without one, its \
         own or its base's: the description, else the first sentence of the system prompt.",
    ),
    field(
        "detail",
        Text(LONG_TEXT_BYTES),
        "More about the persona for whoever picks it: what to give it, what comes back. Where there is no \
         system prompt, it serves as one.",
    ),
    field(
        "extends",
        Base,
        "The persona that this one builds on: a name, looked up in this scope and the weaker ones, or \
         `scope:name`, as in `global:coder`.",
    ),
    field(
        "system_prompt",
        Text(LONG_TEXT_BYTES),
        "What the model is told first; parts, traits, skills and guardrails follow it. Without one, the base's.",
    ),
    field(
        "system_prompt_mode",
        Typed,
        "How the system prompt meets the base's: `replace` takes its place, `append` adds below it.",
    ),
    field(
        "preferred_models",
        List(PREFERRED_MODELS),
        "The models to speak through: the first choice, then those to move on to when it fails. Without any, \
         the base's.",
    ),
    field("preferred_models[]", Typed, "A model. Only the settings that are written here are sent to it."),
    field(
        "preferred_models[].provider",
        Line(DISPLAY_NAME_CHARS),
        "The provider, by its name in your config.toml.",
    ),
    field("preferred_models[].model", Line(DISPLAY_NAME_CHARS), "The model, as its provider calls it."),
    field(
        "preferred_models[].temperature",
        Number(0.0, 2.0, Some(0.0)),
        "How freely the model chooses its words, from 0 to 2. Some models reject it together with `top_p`.",
    ),
    field(
        "preferred_models[].top_p",
        Number(0.0, 1.0, Some(1.0)),
        "The share of likely words that the model chooses from, from 0 to 1. Some models reject it together \
         with `temperature`.",
    ),
    field(
        "preferred_models[].max_output_tokens",
        Whole(1, u32::MAX as i64, None),
        "How long an answer may get, in tokens. Without it, the provider decides.",
    ),
    field(
        "tool_preset",
        Name,
        "The tool preset that says which tools the persona has. Without one, those that only read are allowed and the others ask.",
    ),
    field("bias_profile", Name, "The bias profile that says which categories of tools it leans to."),
    field("context_preset", Name, "The context preset that says which files reach its prompt."),
    field(
        "aggregation_strategy",
        Word("auto"),
        "How context files are condensed: `full`, `summarize`, `skeleton` (signatures without bodies), or \
         `auto`: what fits the budget.",
    ),
    field(
        "max_tool_rounds",
        Whole(1, TOOL_ROUNDS as i64, None),
        "How many replies of one run may call tools, from 1 to 1,000. Without it, the base's, else what \
         your config.toml says, else 50.",
    ),
    field("plan_persona", Typed, "What is different while the persona plans."),
    field(
        "plan_persona.instruction",
        Text(LONG_TEXT_BYTES),
        "What it is told while it plans, below a line of Masque's own. Without it, Masque's usual reminder.",
    ),
    field("plan_persona.model", Text(SHORT_TEXT_BYTES), "The model to plan with, as `provider/model`."),
    field(
        "plan_persona.tool_preset",
        Name,
        "The tool preset while it plans. Whatever it selects, only tools that read exist then.",
    ),
    field(
        "parts",
        List(LINKS),
        "Its parts: names, or `{ name, order, priority }`. With a base, `parts_mode` says how the two meet.",
    ),
    field("parts[].name", Name, "The part's name."),
    field(
        "parts[].order",
        Whole(i32::MIN as i64, i32::MAX as i64, None),
        "Where the part stands: lower comes first. Without it, the position in the list counts, from 0.",
    ),
    field(
        "parts[].priority",
        Whole(i32::MIN as i64, i32::MAX as i64, Some(0)),
        "How long the part is kept when room is short: the highest is dropped last.",
    ),
    field(
        "parts_mode",
        Typed,
        "How the parts meet the base's: with `replace`, parts of a type take the place of all of the base's \
         parts of that type; with `append`, they are added to them.",
    ),
    field("traits", Names(LINKS), "Traits of the persona, besides its base's."),
    field("skills", Names(LINKS), "Skills of the persona, besides its base's."),
    field(
        "guardrails",
        Names(LINKS),
        "Guardrails of the persona, besides its base's. They are never dropped to save room.",
    ),
    field("arc", Name, "The arc that the persona goes through."),
    field("test_inputs", Names(LINKS), "Test inputs that the persona is tried with, besides its base's."),
    field("tags", Lines(TAGS), "Words to find the persona by, besides its base's."),
    field("remove_parts", Names(LINKS), "Parts of the base that this persona does without."),
    field("remove_traits", Names(LINKS), "Traits of the base that this persona does without."),
    field("remove_skills", Names(LINKS), "Skills of the base that this persona does without."),
    field("remove_guardrails", Names(LINKS), "Guardrails of the base that this persona does without."),
    field("remove_test_inputs", Names(LINKS), "Test inputs of the base that this persona does without."),
    field("remove_tags", Lines(TAGS), "Tags of the base that this persona does without."),
];
