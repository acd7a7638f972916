//! The input: which files, how condensed, for which task.

use persona::{Aggregation, ContextPreset};

/// The wish for a context.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The files to choose from and the most that is shown of each. Without a preset, every file that no
    /// ignore rule hides, in full.
    pub preset: Option<ContextPreset>,
    pub strategy: Aggregation,
    /// The most tokens of the whole text. Defaults to the preset's budget, then to
    /// [`crate::limits::DEFAULT_BUDGET`].
    pub budget: Option<usize>,
    /// Files that come first, and in full. They need not be selected by the preset, nor be free of ignore
    /// rules; a file that holds secrets stays out.
    pub focus: Vec<String>,
    pub seeds: Seeds,
}

/// Hints at the files that matter for a task. They decide the order in which files get their tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seeds {
    /// The task in words: a ticket, or a message. Paths and identifiers in it count.
    pub text: String,
    /// The output of failing tests. Paths in it count.
    pub failing: String,
    /// Paths that diffs of sibling tickets touch.
    pub siblings: Vec<String>,
}

impl Request {
    pub(crate) fn allowance(&self) -> usize {
        let preset = self.preset.as_ref().and_then(|preset| preset.token_budget);
        self.budget
            .or_else(|| preset.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX)))
            .unwrap_or(crate::limits::DEFAULT_BUDGET)
    }
}
