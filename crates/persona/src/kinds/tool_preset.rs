//! Tool presets: the tools of a persona, by category, with permissions and weights.

use std::collections::BTreeMap;

use crate::field::{self, Described, Field, TableType, described, kind};
use crate::limits::{CATEGORIES, PARAMETERS, PRESET_TOOLS, TAG_CHARS, TOOL_CHARS};
use crate::{Approval, Name, Tags};

kind! {
    /// The tools of a persona, by category, with permissions and weights.
    #[derive(Eq)]
    ToolPreset = ToolPreset, tool_preset_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("The purpose of these tools, in a sentence.").searched();
        /// Category → its tools.
        #[serde(default)]
        own categories: BTreeMap<String, Vec<PresetTool>> = field::map(
            CATEGORIES,
            TAG_CHARS,
            &CATEGORY,
            "Category → its tools. The persona has no other tools. Bias profiles refer to the names of the \
             categories.",
        )
        .searched();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

const CATEGORY: Field = field::list(
    PRESET_TOOLS,
    &PresetTool::ITEM,
    "The category's tools: names, or `{ name, approval, weight, parameter_bias }`.",
);

described! {
    /// A tool that a preset selects.
    #[derive(Eq)]
    #[serde(deny_unknown_fields, expecting = "a name, or {name, approval, weight, parameter_bias}")]
    #[schemars(inline)]
    PresetTool {
        name: String = field::line(
            TOOL_CHARS,
            "The tool's name; `*` matches any characters. Tools of MCP servers are called \
             `mcp__SERVER__TOOL`.",
        )
        .says_something()
        .searched();
        /// If absent, read-only tools run and others ask.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<Approval> = field::word(
            Approval::words,
            "Permission: `auto` runs the tool without asking, `ask` asks first, `deny` never runs it. Without it, a \
             read-only tool runs and any other asks.",
        );
        /// The persona's preference for it, from 1 to 5; 3 if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weight: Option<u8> = field::whole(1, 5, "The persona's preference for the tool, from 1 to 5.")
            .unset(Self::DEFAULT_WEIGHT as f64);
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        parameter_bias: BTreeMap<String, String> = field::map(
            PARAMETERS,
            TOOL_CHARS,
            &HINT,
            "Parameter → how to choose it, in words for the model.",
        );
    }
}

const HINT: Field = field::short("How to choose this parameter, in words for the model.").filled();

impl PresetTool {
    const ITEM: TableType = TableType::new(
        "PresetTool",
        Self::FIELDS,
        "A tool: its name, or a table with its permission and weight.",
    )
    .bare();

    /// The default weight.
    pub const DEFAULT_WEIGHT: u8 = 3;

    pub fn weight(&self) -> u8 {
        self.weight.unwrap_or(Self::DEFAULT_WEIGHT)
    }
}
