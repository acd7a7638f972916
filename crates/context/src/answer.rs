//! The answer to a request: the text, and how it came about, as data.

use persona::ContextView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ContentHash;

/// The files of a project as a prompt shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// The text for the prompt. Empty if nothing fits the budget.
    pub text: String,
    /// The tokens of the text, headers and all. Never more than the budget.
    pub tokens: usize,
    pub budget: usize,
    /// The files in the text, in its order: by path.
    pub files: Vec<Shown>,
    /// The files that were chosen but are not in the text, by path.
    pub left_out: Vec<LeftOut>,
    pub notes: Vec<Note>,
}

/// A file in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// Relative to the root, with forward slashes.
    pub path: String,
    pub view: View,
    /// The tokens of the file's section, its header included.
    pub tokens: usize,
    pub why: Why,
    pub hash: ContentHash,
}

/// The part of a file that the text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Everything.
    Full,
    /// Some symbols in full, others as signatures or names.
    Excerpt,
    /// Signatures, types and documentation without bodies.
    Skeleton,
    /// A summary by a model.
    Summary,
    /// Names and headings.
    Outline,
}

impl View {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Excerpt => "excerpt",
            Self::Skeleton => "skeleton",
            Self::Summary => "summary",
            Self::Outline => "outline",
        }
    }

    /// The view that an entry of a preset names. `None` for files to leave out.
    pub(crate) fn of_entry(view: ContextView) -> Option<Self> {
        match view {
            ContextView::Full => Some(Self::Full),
            ContextView::Summary => Some(Self::Summary),
            ContextView::Skeleton => Some(Self::Skeleton),
            ContextView::Outline => Some(Self::Outline),
            ContextView::None => None,
        }
    }
}

/// The reason why a file is in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Why {
    /// The request names it.
    Focus,
    /// A focus file imports it.
    Imported { by: String },
    /// The ticket's text, test output or a sibling's diff names it.
    Mentioned,
    /// An entry of the preset selects it, and everything fits. Counted from 0; the last match wins.
    Entry { entry: usize },
    /// There is no preset, and everything fits.
    Project,
    /// It won its tokens by its place in the ranking, from 1.
    Ranked { place: usize },
}

/// A file that is not in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub path: String,
    pub reason: Reason,
}

/// The reason why a file is not in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// It does not fit the budget.
    Budget,
    /// The last entry of the preset that matches it says `none`.
    Excluded,
    /// It has a NUL, or is no valid UTF-8.
    Binary,
    /// It is larger than a file may be.
    Huge { bytes: u64 },
    /// The files before it have as many bytes as one request reads.
    TotalBytes,
    /// Files of that name usually hold secrets.
    Secret,
    /// It is a symbolic link. The file that it leads to counts by its own path.
    Link,
    /// It leads out of the root, or into a repository's own store.
    Outside,
    /// It is no regular file.
    Special,
    /// Its path is no valid UTF-8.
    PathEncoding,
    /// It does not exist.
    Missing,
    /// It changed while the context was made.
    Changed,
    /// It cannot be read.
    Unreadable { message: String },
}

/// A remark about the request or its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// An entry of the preset selects no file. Counted from 0.
    NoMatch { entry: usize, pattern: String },
    /// An entry's glob is invalid and selects nothing.
    InvalidGlob { entry: usize, glob: String, message: String },
    /// A focus file is not in the text.
    FocusLeftOut { path: String, reason: Reason },
    /// A focus file does not fit the budget in full.
    FocusReduced { path: String, view: View },
    /// The request names more focus files than it may; the rest is ignored.
    FocusTruncated { limit: usize },
    /// The project has more files than a walk lists; the rest is ignored.
    WalkTruncated { limit: usize },
    /// Files that a model has not summarised are shown as outlines.
    SummariesMissing { files: usize },
}
