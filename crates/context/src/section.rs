//! A file's part of the text: its header, and its content in a fence that the content cannot close.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use persona::TokenCounter;

use crate::skeleton::{Level, at_levels};
use crate::source::Source;
use crate::{ContentHash, Project, Reason, View, limits};

/// A file's part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// The number of the source.
    pub(crate) file: usize,
    pub(crate) view: View,
    pub(crate) text: String,
    pub(crate) tokens: usize,
}

/// Makes sections and counts them.
#[derive(Clone, Copy)]
pub(crate) struct Sections<'a> {
    pub(crate) project: &'a Project,
    pub(crate) sources: &'a [Source],
    pub(crate) summaries: &'a BTreeMap<ContentHash, String>,
    pub(crate) counter: &'a dyn TokenCounter,
}

impl Sections<'_> {
    /// The section of a file in one view, or in the nearest one that it has.
    pub(crate) fn make(&self, file: usize, view: View) -> Result<Section, Reason> {
        let source = &self.sources[file];
        let (view, body) = match view {
            View::Summary => match self.summaries.get(&source.hash) {
                Some(summary) => (View::Summary, cut(summary).into()),
                None if source.bytes <= limits::SUMMARY_WORTH_BYTES => {
                    (View::Full, source.text(self.project)?)
                }
                None => (View::Outline, source.body(self.project, View::Outline)?),
            },
            view => (source.actual(self.project, view)?, source.body(self.project, view)?),
        };
        Ok(self.section(file, view, &body))
    }

    /// The section of a file with each symbol at its level.
    pub(crate) fn excerpt(&self, file: usize, levels: &[Level]) -> Result<Section, Reason> {
        let source = &self.sources[file];
        let all = |level| levels.iter().all(|own| *own == level);
        if all(Level::Full) {
            return self.make(file, View::Full);
        }
        if all(Level::SignatureWithDoc) {
            return self.make(file, View::Skeleton);
        }
        let text = source.text(self.project)?;
        let Some(map) = source.map() else { return self.make(file, View::Outline) };
        let body = at_levels(&text, map, |at| levels.get(at).copied().unwrap_or(Level::LeftOut));
        Ok(self.section(file, View::Excerpt, &body))
    }

    fn section(&self, file: usize, view: View, body: &str) -> Section {
        let text = fenced(&self.sources[file].path, view, body);
        let tokens = self.count(&text);
        Section { file, view, text, tokens }
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        self.project.cache().count(text, self.counter)
    }

    /// The tokens of some texts in a row. Counts them one by one where the tokenizer allows it.
    pub(crate) fn count_joined(&self, texts: &[&str]) -> usize {
        if texts.iter().skip(1).all(|text| self.counter.is_apart(text)) {
            texts.iter().map(|text| self.count(text)).sum()
        } else {
            self.count(&texts.concat())
        }
    }
}

fn cut(summary: &str) -> &str {
    &summary[..summary.floor_char_boundary(summary.len().min(limits::SUMMARY_BYTES))]
}

fn fenced(path: &str, view: View, body: &str) -> String {
    let fence = "`".repeat(longest_run(body).max(2) + 1);
    let end = if body.is_empty() || body.ends_with('\n') { "" } else { "\n" };
    let mut text = header(path, view);
    let _ = write!(text, "{fence}{}\n{body}{end}{fence}\n\n", tag(path));
    text
}

/// The line in front of a file's content.
pub(crate) fn header(path: &str, view: View) -> String {
    format!("## {} ({})\n", shown(path), view.as_str())
}

/// A path on one line.
pub(crate) fn shown(path: &str) -> String {
    if path.chars().any(char::is_control) { path.escape_debug().to_string() } else { path.to_owned() }
}

/// The longest run of backquotes in a text.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// The language behind a fence: the file's ending if it is a plain word.
fn tag(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_plain = ending.len() <= 12 && ending.chars().all(|c| c.is_ascii_alphanumeric() || c == '+');
    if is_plain { ending } else { "" }
}
