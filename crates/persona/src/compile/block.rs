//! Blocks: the stretches of a compiled text, each with its origin.

use super::{CountedSheet, Sheet, SkillText};
use crate::kind::vocabulary;
use crate::{Assembled, LayerOrigin, Name, PartType, Scope, TokenCounter, View};

vocabulary! {
    /// The kinds of things that a block comes from.
    BlockKind, "kind" {
        Persona = "persona",
        Part = "part",
        Trait = "trait",
        Skill = "skill",
        Guardrail = "guardrail",
        Example = "example",
    }
}

vocabulary! {
    /// How much of a text a block has.
    BlockForm, "form" {
        Whole = "whole",
        Summary = "summary",
    }
}

/// A stretch of a compiled text that comes from one definition: whole lines, with the heading that it
/// opens and the blank line below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Unique within its text: `part:calm-tone`.
    pub id: String,
    pub kind: BlockKind,
    /// The name of a persona or a piece, or the number of an example, from 1.
    pub name: String,
    pub part_type: Option<PartType>,
    /// The field that says it.
    pub field: &'static str,
    pub form: BlockForm,
    pub origin: Origin,
    /// The heading that the block opens, if it does: `## Tone`.
    pub heading: Option<String>,
    /// The number of its first line in the text, from 1.
    pub first_line: usize,
    pub text: String,
    /// The tokens that it adds to the blocks above it. Those of all blocks add up to the tokens of the
    /// text.
    pub tokens: usize,
}

/// The origin of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub layer: LayerOrigin,
    /// The base that supplies it.
    pub base: Option<Name>,
    /// The scope of the definition that says it.
    pub scope: Scope,
}

/// The blocks of a compiled text. Their texts make up that of [`compile_view`](crate::compile_view).
pub fn blocks(assembled: &Assembled<'_>, view: View, counter: &dyn TokenCounter) -> Vec<Block> {
    let sheet = Sheet::new(assembled, view, SkillText::Full);
    let levels = sheet.levels();
    CountedSheet::new(sheet, counter).blocks(&levels)
}

/// The id of a block.
pub(crate) fn block_id(kind: &str, name: &str) -> String {
    format!("{kind}:{name}")
}
