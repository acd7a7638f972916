//! A problem of a personas.toml, with its place.

use std::fmt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use persona::{AsReport, Code, FilePlace, Kind, Subject};
use serde::{Serialize, Serializer};

/// Characters of a line that are shown beside a problem.
const LINE_CHARS: usize = 200;

/// How bad a problem is: an error hides its entry (or the file), a warning hides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemLevel {
    Warning,
    Error,
}

/// One mistake in a file, with its place and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// From 1; 0 where the problem is the file as a whole.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// The line itself, without its end, cut where it is long.
    pub source_line: String,
    /// The kind of mistake. The code of the report stays `file_has_errors` for all of them.
    pub cause: Code,
    pub message: String,
    pub hint: Option<String>,
    /// The entry that it is about, as it is written.
    #[serde(serialize_with = "named", skip_serializing_if = "Option::is_none")]
    pub entry: Option<(Kind, String)>,
    pub level: ProblemLevel,
    /// The last valid state in force, if the file as a whole cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<InForce>,
}

/// The last valid state of a file, which stays in force until the file is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InForce {
    pub entries: usize,
    /// When that was first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
}

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entries, since } = self;
        if *entries == 0 {
            return f.write_str(
                "until it is fixed, nothing in this file is in force and Masque does not write to it",
            );
        }
        f.write_str("until it is fixed, its last valid state")?;
        since.iter().try_for_each(|since| write!(f, " of {}", since.format("%Y-%m-%d %H:%M UTC")))?;
        let noun = if *entries == 1 { "entry" } else { "entries" };
        write!(f, " stays in force ({entries} {noun}) and Masque does not write to it")
    }
}

/// A path need not be UTF-8; a message about it must be.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

#[expect(clippy::ref_option, reason = "serde hands it over like this")]
fn named<S: Serializer>(entry: &Option<(Kind, String)>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Named<'a> {
        kind: Kind,
        name: &'a str,
    }
    entry.as_ref().map(|(kind, name)| Named { kind: *kind, name }).serialize(serializer)
}

impl Problem {
    /// A problem of the file as a whole.
    pub fn of_file(path: &Path, cause: Code, message: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: 0,
            column: 0,
            source_line: String::new(),
            cause,
            message: message.into(),
            hint,
            entry: None,
            level: ProblemLevel::Error,
            in_force: None,
        }
    }

    /// True if this affects more than one entry of the file.
    pub fn is_of_whole(&self) -> bool {
        self.level == ProblemLevel::Error && self.entry.is_none()
    }
}

impl std::error::Error for Problem {}

impl AsReport for Problem {
    fn code(&self) -> Code {
        Code::FileHasErrors
    }

    fn subject(&self) -> Subject {
        // Line 0 is the file as a whole.
        let in_line = |number| (self.line > 0).then_some(number);
        let path = self.path.display().to_string();
        Subject {
            kind: self.entry.as_ref().map(|(kind, _)| *kind),
            name: self.entry.as_ref().map(|(_, name)| name.clone()),
            place: Some(FilePlace { path, line: in_line(self.line), column: in_line(self.column) }),
            ..Subject::default()
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        f.write_str(if self.level == ProblemLevel::Warning { ": warning: " } else { ": " })?;
        if let Some((kind, name)) = &self.entry {
            write!(f, "{} {name}: ", kind.spoken())?;
        }
        f.write_str(&self.message)?;
        if self.line == 0 {
            self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))?;
            return self.in_force.iter().try_for_each(|in_force| write!(f, "\n  {in_force}"));
        }
        let margin = self.line.to_string().len();
        write!(f, "\n  {} | {}\n  {:margin$} | ", self.line, self.source_line, "")?;
        // A tab is as wide below as above; whatever is cut away has no mark under it.
        for c in self.source_line.chars().take(self.column.saturating_sub(1)) {
            f.write_str(if c == '\t' { "\t" } else { " " })?;
        }
        f.write_str("^")?;
        self.hint.iter().try_for_each(|hint| write!(f, " {hint}"))?;
        self.in_force.iter().try_for_each(|in_force| write!(f, "\n  {in_force}"))
    }
}

/// A mistake without its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) cause: Code,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// A problem before its offset has become a line and a column.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) offset: usize,
    pub(crate) mistake: Mistake,
    pub(crate) entry: Option<(Kind, String)>,
    pub(crate) level: ProblemLevel,
}

/// Finds the places of all findings in one walk over the text; sorted by place.
pub(crate) fn place(path: &Path, text: &str, mut findings: Vec<Finding>) -> Vec<Problem> {
    findings.sort_by_key(|finding| finding.offset);
    let mut cursor = Cursor::new(text);
    let placed = findings.into_iter().map(|finding| {
        let (line, column, source_line) = cursor.move_to(finding.offset);
        Problem {
            path: path.to_owned(),
            line,
            column,
            source_line: shown(source_line),
            cause: finding.mistake.cause,
            message: finding.mistake.message,
            hint: finding.mistake.hint,
            entry: finding.entry,
            level: finding.level,
            in_force: None,
        }
    });
    placed.collect()
}

/// Walks forward through a text and knows its line.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    line: usize,
    line_start: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        // A byte order mark does not count as a character of the first line.
        Self { text, line: 1, line_start: if text.starts_with('\u{feff}') { 3 } else { 0 } }
    }

    /// Line, column and line text of an offset that is not before the last one.
    pub(crate) fn move_to(&mut self, offset: usize) -> (usize, usize, &'t str) {
        let mut offset = offset.clamp(self.line_start, self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let passed = &self.text.as_bytes()[self.line_start..offset];
        for (at, _) in passed.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            self.line += 1;
            self.line_start = offset - passed.len() + at + 1;
        }
        let column = self.text[self.line_start..offset].chars().count() + 1;
        let rest = &self.text[self.line_start..];
        let line = rest.split('\n').next().unwrap_or_default();
        (self.line, column, line.strip_suffix('\r').unwrap_or(line))
    }
}

/// A line as it may be shown on a terminal: bounded, and without control characters.
fn shown(line: &str) -> String {
    let clean = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let mut shown: String = line.chars().take(LINE_CHARS).map(clean).collect();
    if line.chars().nth(LINE_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str, offset: usize) -> Problem {
        let finding = Finding {
            offset,
            mistake: Mistake {
                cause: Code::InvalidValue,
                message: "wrong".to_owned(),
                hint: Some("fix it".to_owned()),
            },
            entry: None,
            level: ProblemLevel::Error,
        };
        place(Path::new("p.toml"), text, vec![finding]).remove(0)
    }

    #[test]
    fn a_place_counts_characters_from_one() {
        let text = "\u{feff}a = 1\r\n\tä = \"ü\" x\n";
        let at = text.find('x').expect("it is there");
        let problem = placed(text, at);
        assert_eq!((problem.line, problem.column), (2, 10));
        assert_eq!(problem.to_string(), "p.toml:2:10: wrong\n  2 | \tä = \"ü\" x\n    | \t        ^ fix it");
        assert_eq!((placed(text, 3).line, placed(text, 3).column), (1, 1));
        assert_eq!((placed(text, 0).line, placed(text, 0).column), (1, 1));
        assert_eq!((placed(text, 999).line, placed(text, 999).column), (3, 1));
    }

    #[test]
    fn a_long_or_hostile_line_is_shown_safely() {
        let text = format!("\u{1b}[31m{}", "x".repeat(300));
        let problem = placed(&text, 290);
        assert_eq!(problem.source_line.chars().count(), LINE_CHARS + 1);
        assert!(problem.source_line.starts_with('\u{fffd}') && problem.source_line.ends_with('…'));
    }

    #[test]
    fn a_problem_of_the_whole_file_has_no_line() {
        let problem =
            Problem::of_file(Path::new("p.toml"), Code::FileTooLarge, "too large", Some("split it".into()));
        assert_eq!(problem.to_string(), "p.toml: too large; split it");
    }

    #[test]
    fn a_problem_names_the_version_in_force() {
        let since = DateTime::from_timestamp(1_700_000_000, 0);
        let mut problem = placed("a = x\n", 4);
        problem.in_force = Some(InForce { entries: 2, since });
        assert_eq!(
            problem.to_string(),
            "p.toml:1:5: wrong\n  1 | a = x\n    |     ^ fix it\n  until it is fixed, its last valid state of \
             2023-11-14 22:13 UTC stays in force (2 entries) and Masque does not write to it"
        );
        problem.in_force = Some(InForce { entries: 0, since: None });
        assert!(
            problem.to_string().ends_with("nothing in this file is in force and Masque does not write to it")
        );
    }
}
