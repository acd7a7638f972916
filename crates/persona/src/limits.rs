//! All limits on input, in one place.

/// Characters in a name.
pub const NAME_CHARS: usize = 64;
/// Characters in a display name.
pub const DISPLAY_NAME_CHARS: usize = 200;
/// Bytes in a description, a summary or a stage's condition.
pub const SHORT_TEXT_BYTES: usize = 8 * 1024;
/// Bytes in a content, an instruction, a detail or a system prompt.
pub const LONG_TEXT_BYTES: usize = 256 * 1024;
/// Tags on one entity.
pub const TAGS: usize = 32;
/// Characters in one tag.
pub const TAG_CHARS: usize = 64;
/// Parts, and likewise traits, skills and guardrails, linked to one persona.
pub const LINKS: usize = 256;
/// Stages of one arc.
pub const STAGES: usize = 64;
/// Parts of one stage.
pub const STAGE_PARTS: usize = 64;
/// Preferred models of one persona.
pub const PREFERRED_MODELS: usize = 16;
/// Greetings of one persona.
pub const GREETINGS: usize = 32;
/// Example exchanges of one persona.
pub const EXAMPLES: usize = 64;
/// Characters in a tool's name, or in a pattern of such names.
pub const TOOL_CHARS: usize = 128;
/// Patterns in one guardrail's `deny_tools`.
pub const DENY_TOOLS: usize = 64;
/// Entries in one page of a list.
pub const PAGE: usize = 200;
/// Entries in a page where the caller names no limit.
pub const DEFAULT_PAGE: usize = 50;
/// Revisions in one answer of a history.
pub const REVISIONS: usize = 10_000;
/// Revisions in a history where the caller names no limit.
pub const DEFAULT_REVISIONS: usize = 1_000;
/// Characters of a text that a list shows where there is no summary.
pub const LISTED_CHARS: usize = 160;
/// Bytes in a search text.
pub const QUERY_BYTES: usize = 512;
/// Bytes in the reason that a write may give.
pub const MESSAGE_BYTES: usize = 2 * 1024;
/// Personas in one chain of `extends`, the one that was asked for included.
pub const CHAIN: usize = 16;
/// Categories of one tool preset or bias profile.
pub const CATEGORIES: usize = 64;
/// Tools in one category of a preset.
pub const PRESET_TOOLS: usize = 256;
/// Parameters that one tool of a preset has a bias for.
pub const PARAMETERS: usize = 32;
/// Entries of one context preset.
pub const CONTEXT_ENTRIES: usize = 256;
/// Replies with tool calls that a persona may have in one run.
pub const TOOL_ROUNDS: u32 = 1_000;
/// Expectations of one test input.
pub const EXPECTATIONS: usize = 64;
/// Texts, words or tools in one check of an expectation.
pub const CHECKED_TEXTS: usize = 64;
/// Labelled replies of one expectation.
pub const LABELLED_REPLIES: usize = 64;
/// Further messages of one test input.
pub const TEST_TURNS: usize = 32;
/// Runs of one test input.
pub const SAMPLES: u32 = 100;
/// Votes of a judge about one expectation.
pub const VOTES: u32 = 9;
/// Questions of one persona that show whether it drifts.
pub const PROBES: usize = 32;
/// Messages between two reminders of a persona.
pub const ANCHOR_TURNS: u32 = 1_000;
/// Bytes of one personas.toml.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Budgets that a preview names.
pub const BUDGET_POINTS: usize = 64;
/// Drafts of pieces in one preview.
pub const DRAFT_PIECES: usize = 64;
