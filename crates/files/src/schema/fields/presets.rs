//! The fields of presets and test inputs.

use persona::PresetTool;
use persona::limits::{
    CATEGORIES, CONTEXT_ENTRIES, EXPECTATIONS, LONG_TEXT_BYTES, PARAMETERS, PRESET_TOOLS, SHORT_TEXT_BYTES,
    TAGS, TOOL_CHARS,
};

use super::super::rules::Rule::{Either, Inside, Keys, Line, Lines, List, Number, Text, Texts, Typed, Whole};
use super::{Field, field};

const TAGGED: Field = field("tags", Lines(TAGS), "Words to find it by.");

pub(super) const TOOL_PRESET: &[Field] = &[
    field("description", Text(SHORT_TEXT_BYTES), "What a persona can do with these tools, in a sentence."),
    field(
        "categories",
        Keys(CATEGORIES),
        "Category → its tools. Only tools that are named here exist for the persona. Bias profiles go by the \
         names of the categories.",
    ),
    field(
        "categories{}",
        List(PRESET_TOOLS),
        "The category's tools: names, or `{ name, approval, weight, parameter_bias }`.",
    ),
    field("categories{}[].name", Line(TOOL_CHARS), ""),
    field(
        "categories{}[].approval",
        Typed,
        "Whether the tool may be called: `auto` without asking, `ask` after asking, `deny` never. Without it, a \
         tool that only reads is allowed and any other asks.",
    ),
    field(
        "categories{}[].weight",
        Whole(1, 5, Some(PresetTool::DEFAULT_WEIGHT as i64)),
        "How much the persona leans to the tool, from 1 to 5.",
    ),
    field("categories{}[].parameter_bias", Keys(PARAMETERS), ""),
    field(
        "categories{}[].parameter_bias{}",
        Text(SHORT_TEXT_BYTES),
        "How to choose this parameter, in words for the model.",
    ),
    TAGGED,
];

pub(super) const BIAS_PROFILE: &[Field] = &[
    field("description", Text(SHORT_TEXT_BYTES), "What a persona with this bias does more, and what less."),
    field(
        "multipliers",
        Keys(CATEGORIES),
        "Category → multiplier of its tools' weights, from 0 to 10; 1 changes nothing. The categories are those \
         of the tool preset.",
    ),
    field("multipliers{}", Number(0.0, 10.0, None), "By how much the weights of this category count."),
    TAGGED,
];

pub(super) const CONTEXT_PRESET: &[Field] = &[
    field("description", Text(SHORT_TEXT_BYTES), "What the persona gets to see, in a sentence."),
    field(
        "entries",
        Either(CONTEXT_ENTRIES, ["glob", "path"]),
        "Which files, and how much of each. A later entry wins over an earlier one.",
    ),
    field("entries[].glob", Inside, "Files by pattern, relative to the project: `src/**/*.rs`."),
    field("entries[].path", Inside, "One file, relative to the project."),
    field(
        "entries[].view",
        Typed,
        "How much of the files is shown: `full`, `summary`, `skeleton` (signatures without bodies), `outline` \
         (names and headings), `none`.",
    ),
    field("token_budget", Whole(1, u32::MAX as i64, None), "How many tokens all files together may take."),
    TAGGED,
];

pub(super) const TEST_INPUT: &[Field] = &[
    field("description", Text(SHORT_TEXT_BYTES), "What the input tries out, and for which kind of persona."),
    field("content", Text(LONG_TEXT_BYTES), "What the persona is given."),
    field("expectations", Texts(EXPECTATIONS), ""),
    TAGGED,
];
