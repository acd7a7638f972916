//! Compiled texts in blocks, each with its origin, and the users of an entity.

use persona::lint::Finding;
use persona::{Block, BlockForm, BlockKind, BudgetPoint, LayerOrigin, LeftOut, LeftOutKind, LeftOutReason};
use persona::{Name, PartType, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{Budget, LintFinding, ScopedEntityRef};

/// Bytes of a block's digest in its hash.
const HASH_BYTES: usize = 8;

/// An unsaved persona as it would be compiled. The texts of all blocks make up the compiled text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PersonaPreview {
    pub name: Name,
    /// The scope that it would be saved in.
    pub scope: Scope,
    pub tokens: PreviewTokens,
    pub blocks: Vec<TextBlock>,
    pub left_out: Vec<LeftOutPiece>,
    /// True if the text exceeds `max_tokens` or `limit`.
    pub over_budget: bool,
    /// The budgets at which pieces drop out, the largest first. Each leaves out what the one before it
    /// does, and more.
    pub budget_points: Vec<PreviewPoint>,
    /// The stage that the text is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Name>,
    /// The findings of lint in the drafts. `line` and `column` count in the field's text.
    pub problems: Vec<LintFinding>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PreviewTokens {
    /// The tokens of all blocks.
    pub total: usize,
    pub counter: String,
    /// True if the model counts in the same way.
    pub exact: bool,
}

/// A stretch of the text that comes from one definition, with the heading that it opens and the blank
/// line below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct TextBlock {
    /// Unique in the text: `part:calm-tone`, `example:1`.
    pub id: String,
    /// A digest of the text.
    pub hash: String,
    /// The heading that the block opens.
    pub heading: Option<String>,
    pub kind: BlockKind,
    /// The name of a persona or a piece, or the number of an example.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_type: Option<PartType>,
    /// The field that says it.
    pub field: String,
    pub layer: LayerOrigin,
    /// The base that supplies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Name>,
    /// The scope of the definition that says it.
    pub scope: Scope,
    pub form: BlockForm,
    /// The number of its first line in the text, from 1.
    pub first_line: usize,
    pub text: String,
    /// The tokens that it adds to the text.
    pub tokens: usize,
}

/// A piece that is not in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct LeftOutPiece {
    pub kind: LeftOutKind,
    /// The name of a piece, or the number of an example.
    pub name: String,
    /// The tokens of its text; 0 for one of another type.
    pub tokens: usize,
    pub reason: PreviewReason,
}

/// Why a piece is not in the text: `types`, `limit` or `max_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum PreviewReason {
    Types,
    Limit,
    Budget,
}

/// A budget, and the text within it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PreviewPoint {
    pub max_tokens: usize,
    pub tokens: usize,
    /// The ids of the pieces that the budget leaves out.
    pub left_out: Vec<String>,
}

/// The compiled text of a stored persona in blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextOrigins {
    pub name: Name,
    pub scope: Scope,
    pub tokens: PreviewTokens,
    pub blocks: Vec<TextBlock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// The users of an entity, by kind, name and scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsagePage {
    pub items: Vec<ScopedEntityRef>,
    /// The number of all users.
    pub total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl From<Block> for TextBlock {
    fn from(block: Block) -> Self {
        let Block { id, kind, name, part_type, field, form, origin, heading, first_line, text, tokens } =
            block;
        Self {
            id,
            hash: hash(&text),
            heading,
            kind,
            name,
            part_type,
            field: field.to_owned(),
            layer: origin.layer,
            base: origin.base,
            scope: origin.scope,
            form,
            first_line,
            text,
            tokens,
        }
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

impl From<LeftOut> for LeftOutPiece {
    fn from(LeftOut { kind, name, reason, tokens }: LeftOut) -> Self {
        let reason = match reason {
            LeftOutReason::Types => PreviewReason::Types,
            LeftOutReason::Limit => PreviewReason::Limit,
            LeftOutReason::MaxTokens => PreviewReason::Budget,
        };
        Self { kind, name, tokens, reason }
    }
}

impl From<BudgetPoint> for PreviewPoint {
    fn from(BudgetPoint { max_tokens, tokens, left_out }: BudgetPoint) -> Self {
        Self { max_tokens, tokens, left_out }
    }
}

impl LintFinding {
    /// A finding in a draft, with its place in the text of the field.
    pub(crate) fn of_draft(finding: Finding) -> Self {
        let place = finding.at.map(|at| (at.line, at.column));
        Self::of_definition(finding, None, place)
    }
}
