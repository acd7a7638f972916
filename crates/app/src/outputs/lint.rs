//! Findings of lint, as every front shows them.

use std::cmp::Reverse;
use std::fmt;
use std::path::{Path, PathBuf};

use files::{Problem, ProblemLevel};
use persona::env::Place;
use persona::lint::{Finding, Level, Rule};
use persona::{Kind, Scope};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// All findings: strongest scope first, then from top to bottom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LintReport {
    pub findings: Vec<LintFinding>,
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
    /// The checked scopes, strongest first, and the number of their definitions.
    pub scopes: Vec<Scope>,
    pub entries: usize,
}

impl LintReport {
    pub(crate) fn new(mut findings: Vec<LintFinding>, scopes: Vec<Scope>, entries: usize) -> Self {
        findings.sort_by_cached_key(LintFinding::place);
        let count = |level| findings.iter().filter(|finding| finding.level == level).count();
        let (errors, warnings, notes) = (count(Level::Error), count(Level::Warning), count(Level::Note));
        Self { findings, errors, warnings, notes, scopes, entries }
    }

    pub fn count(&self, level: Level) -> usize {
        match level {
            Level::Error => self.errors,
            Level::Warning => self.warnings,
            Level::Note => self.notes,
        }
    }
}

/// One finding of a rule or of the reader of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LintFinding {
    #[schemars(with = "String")]
    pub rule: LintRule,
    pub level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The name as written in the file, which may be invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The names that may have been meant, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The file of the finding; that of the text if it is included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl LintFinding {
    /// A finding in a definition, with its line and column in a file.
    pub(crate) fn of_definition(
        finding: Finding,
        path: Option<PathBuf>,
        place: Option<(usize, usize)>,
    ) -> Self {
        let Finding { rule, level, kind, name, scope, field, candidates, message, suggestion, .. } = finding;
        Self {
            rule: LintRule::Definition(rule),
            level,
            scope: Some(scope),
            kind: Some(kind),
            name: Some(name.to_string()),
            field,
            candidates,
            message,
            suggestion,
            path,
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
        }
    }

    /// A problem of a file, as a finding.
    pub(crate) fn of_file(problem: Problem, scope: Option<Scope>) -> Self {
        let Problem { path, line, column, message, hint, entry, level, .. } = problem;
        let rule = match (level, &entry) {
            (ProblemLevel::Warning, _) => FileRule::UnknownKey,
            (ProblemLevel::Error, Some(_)) => FileRule::InvalidEntry,
            (ProblemLevel::Error, None) => FileRule::BrokenFile,
        };
        let (kind, name) = entry.map_or((None, None), |(kind, name)| (Some(kind), Some(name)));
        // Line 0 is the file as a whole.
        let place = (line > 0).then_some((line, column));
        Self {
            rule: LintRule::File(rule),
            level: rule.level(),
            scope,
            kind,
            name,
            field: None,
            candidates: Vec::new(),
            message,
            suggestion: hint,
            path: Some(path),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
        }
    }

    /// True if both are the same, apart from their place.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let Self { rule, level, scope, kind, name, field, candidates, message, suggestion, path, .. } = self;
        (rule, level, scope, kind, name)
            == (&other.rule, &other.level, &other.scope, &other.kind, &other.name)
            && (field, candidates, message, suggestion, path)
                == (&other.field, &other.candidates, &other.message, &other.suggestion, &other.path)
    }

    /// True if both are of the same rule and line.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        (&self.rule, &self.path, &self.line) == (&other.rule, &other.path, &other.line)
    }

    /// A secret in a file outside of its entries.
    pub(crate) fn of_secret((at, message): (Place, String), scope: Scope, path: &Path) -> Self {
        let hint = "remove and revoke it; name a variable that holds it instead, as env_pass, headers_env and api_key_env do";
        Self {
            rule: LintRule::Definition(Rule::Secret),
            level: Rule::Secret.level(),
            scope: Some(scope),
            kind: None,
            name: None,
            field: None,
            candidates: Vec::new(),
            message,
            suggestion: Some(hint.to_owned()),
            path: Some(path.to_owned()),
            line: Some(at.line),
            column: Some(at.column),
        }
    }

    /// The order of findings.
    fn place(&self) -> impl Ord + use<> {
        (Reverse(self.scope), self.path.clone(), self.line, self.column)
    }

    /// The finding and its remedy in one sentence: `persona reviewer, parts: …; …`.
    pub fn sentence(&self) -> String {
        let subject = self.subject().map(|subject| format!("{subject}: ")).unwrap_or_default();
        let suggestion = self.suggestion.as_ref().map(|text| format!("; {text}")).unwrap_or_default();
        format!("{subject}{}{suggestion}", self.message)
    }

    fn subject(&self) -> Option<String> {
        let subject = format!("{} {}", self.kind?.spoken(), self.name.as_ref()?);
        Some(match &self.field {
            Some(field) => format!("{subject}, {field}"),
            None => subject,
        })
    }
}

/// The rule of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LintRule {
    Definition(Rule),
    File(FileRule),
}

impl LintRule {
    /// Every rule that a finding may have.
    pub fn all() -> impl Iterator<Item = Self> {
        Rule::ALL.iter().copied().map(Self::Definition).chain(FileRule::ALL.map(Self::File))
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Definition(rule) => rule.as_str(),
            Self::File(rule) => rule.as_str(),
        }
    }

    pub fn level(self) -> Level {
        match self {
            Self::Definition(rule) => rule.level(),
            Self::File(rule) => rule.level(),
        }
    }

    /// One sentence for the documentation.
    pub fn description(self) -> &'static str {
        match self {
            Self::Definition(rule) => rule.description(),
            Self::File(rule) => rule.description(),
        }
    }
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for LintRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A problem that the reader of a file finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRule {
    BrokenFile,
    InvalidEntry,
    UnknownKey,
}

impl FileRule {
    const ALL: [Self; 3] = [Self::BrokenFile, Self::InvalidEntry, Self::UnknownKey];

    const fn as_str(self) -> &'static str {
        match self {
            Self::BrokenFile => "broken-file",
            Self::InvalidEntry => "invalid-entry",
            Self::UnknownKey => "unknown-key",
        }
    }

    const fn level(self) -> Level {
        match self {
            Self::BrokenFile | Self::InvalidEntry => Level::Error,
            Self::UnknownKey => Level::Warning,
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::BrokenFile => "A personas.toml cannot be read; its last valid version stays in force.",
            Self::InvalidEntry => {
                "An entry of a personas.toml is not valid; its last valid version stays in force."
            }
            Self::UnknownKey => "A personas.toml has an unknown table or key, which has no effect.",
        }
    }
}
