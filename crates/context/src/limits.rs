//! All limits of the crate, in one place.

/// Files of a project that a walk lists.
pub const WALK_FILES: usize = 50_000;
/// Directories between the root and a file.
pub const WALK_DEPTH: usize = 64;
/// Bytes of a file. A larger one is left out.
pub const FILE_BYTES: u64 = 1024 * 1024;
/// Bytes of all files that one request reads.
pub const TOTAL_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes at the beginning of a file in which a NUL makes it binary.
pub const BINARY_PROBE_BYTES: usize = 8 * 1024;
/// Tokens of a context if neither the request nor its preset has a budget.
pub const DEFAULT_BUDGET: usize = 32_000;
/// Focus files of one request.
pub const FOCUS_FILES: usize = 256;

/// Bytes of the sources whose symbols and views a cache keeps.
pub const CACHED_SOURCE_BYTES: u64 = 128 * 1024 * 1024;
/// Files whose digest a cache keeps by their stamp.
pub const CACHED_STAMPS: u64 = 100_000;
/// Token counts that a cache keeps.
pub const CACHED_COUNTS: u64 = 200_000;

/// Threads that read and parse files.
pub const THREADS: usize = 8;

/// Bytes of the ticket's text, and likewise of test output, that ranking looks at.
pub const SEED_BYTES: usize = 256 * 1024;
/// Steps of the walk that ranks files.
pub const RANK_STEPS: usize = 30;
/// Files that may define an identifier before it says nothing about any of them.
pub const DEFINERS: usize = 24;

/// Bytes of the files whose symbols compete for a budget, per token of it.
pub const CANDIDATE_BYTES_PER_TOKEN: usize = 32;
/// Bytes of a text that certainly are more than one token.
pub const BYTES_PER_TOKEN: usize = 16;
/// Attempts at choosing files until the text fits its budget.
pub const FITTING_ATTEMPTS: usize = 10;
/// Attempts at estimating the tokens of symbols.
pub const ESTIMATES: usize = 5;
/// Lines in the list of files that were left out.
pub const MANIFEST_LINES: usize = 40;
/// The list of files that were left out takes at most one part in this many of the budget.
pub const MANIFEST_SHARE: usize = 16;

/// Bytes of a file that is shown in full where a summary is wanted: a summary would be no shorter.
pub const SUMMARY_WORTH_BYTES: u64 = 600;
/// Tokens that a summary has at least. Bounds the summaries that a budget can hold.
pub const SUMMARY_TOKENS: usize = 40;
/// Bytes of a summary. The rest is cut.
pub const SUMMARY_BYTES: usize = 16 * 1024;

/// Entries of directories that a walk looks at.
pub const WALK_ENTRIES: usize = 1_000_000;
/// Bytes of a file of ignore rules. The rest is not read.
pub const IGNORE_RULES_BYTES: u64 = 256 * 1024;

/// Bytes of a source that is parsed. A larger one has no symbols.
pub const SOURCE_BYTES: usize = 1 << 20;
/// Checks of the parser per byte of a source: bounds the work on ambiguous text. The parser checks every hundred steps.
pub const PARSE_CHECKS_PER_BYTE: usize = 1;
/// Checks that any source may use, however short.
pub const PARSE_CHECKS: usize = 10_000;
/// Symbols around a symbol. Definitions further inside are part of it.
pub const SYMBOL_DEPTH: u16 = 64;
/// Bytes of a value that a skeleton shows.
pub const VALUE_BYTES: usize = 160;
/// Bytes of the name of a symbol.
pub const NAME_BYTES: usize = 120;
/// Lines that the outline of a text without structure shows.
pub const OUTLINE_LINES: usize = 20;
/// Characters of a line of an outline.
pub const OUTLINE_LINE_CHARS: usize = 120;
/// Entries of the outline of a file without symbols.
pub const OUTLINE_ENTRIES: usize = 400;
