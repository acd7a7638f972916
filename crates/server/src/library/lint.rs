//! What lint finds, in the form that `masque lint --json` has.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use app::outputs::{LintReport, PlacedFinding};
use app::{Library, LintOptions, Problem as FileProblem, ProblemLevel};
use axum::Json;
use axum::extract::State;
use http::Uri;
use persona::lint::Level;
use persona::{Kind, Scope};
use serde::{Deserialize, Serialize};

use super::Shared;
use crate::answer::Answer;
use crate::asked::query;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LintInput {
    /// What is looked at; without any, the files, or shared where there are none.
    #[serde(default)]
    scopes: Vec<Scope>,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    findings: Vec<Entry>,
    errors: usize,
    warnings: usize,
    notes: usize,
}

/// What a rule found, or the reader of a file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Entry {
    Definition(Box<PlacedFinding>),
    File(FileFinding),
}

/// A problem of a file, told as if a rule had found it.
#[derive(Debug, Serialize)]
struct FileFinding {
    rule: &'static str,
    level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<String>,
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

pub(super) async fn lint(State(shelves): Shared, uri: Uri) -> Answer<Json<Report>> {
    let LintInput { scopes } = app::inputs::parse(&query(&uri)?).map_err(Problem::invalid)?;
    let options = LintOptions { scopes: scopes.clone(), ..shelves.lint.clone() };
    let found = shelves.library.lint(options).await?;
    Ok(Json(report(found, &scopes, &shelves.library)))
}

/// All that was found: strongest scope first, then from top to bottom.
fn report(found: LintReport, scopes: &[Scope], library: &Library) -> Report {
    let scope_of = |path: &Path| {
        [Scope::Project, Scope::Global].into_iter().find(|scope| library.path(*scope) == Some(path))
    };
    let of_files = found.problems.into_iter().filter_map(|problem| {
        let scope = scope_of(&problem.path);
        let wanted = scopes.is_empty() || scope.is_none_or(|scope| scopes.contains(&scope));
        wanted.then(|| Entry::File(FileFinding::new(problem, scope)))
    });
    let mut findings: Vec<Entry> =
        found.findings.into_iter().map(Box::new).map(Entry::Definition).chain(of_files).collect();
    findings.sort_by_cached_key(Entry::place);
    let count = |level| findings.iter().filter(|entry| entry.level() == level).count();
    let (errors, warnings, notes) = (count(Level::Error), count(Level::Warning), count(Level::Note));
    Report { findings, errors, warnings, notes }
}

impl Entry {
    fn level(&self) -> Level {
        match self {
            Self::Definition(placed) => placed.finding.level,
            Self::File(finding) => finding.level,
        }
    }

    fn place(&self) -> impl Ord + use<> {
        match self {
            Self::Definition(placed) => {
                (Reverse(Some(placed.finding.scope)), placed.path.clone(), placed.line, placed.column)
            }
            Self::File(FileFinding { scope, path, line, column, .. }) => {
                (Reverse(*scope), Some(path.clone()), *line, *column)
            }
        }
    }
}

impl FileFinding {
    fn new(problem: FileProblem, scope: Option<Scope>) -> Self {
        let FileProblem { path, line, column, message, hint, entry, level, .. } = problem;
        let (rule, level) = match (level, &entry) {
            (ProblemLevel::Warning, _) => ("unknown-key", Level::Warning),
            (ProblemLevel::Error, Some(_)) => ("invalid-entry", Level::Error),
            (ProblemLevel::Error, None) => ("broken-file", Level::Error),
        };
        let (kind, name) = entry.map_or((None, None), |(kind, name)| (Some(kind), Some(name)));
        // Line 0 is the file as a whole.
        let place = (line > 0).then_some((line, column));
        Self {
            rule,
            level,
            scope,
            kind,
            name,
            message,
            suggestion: hint,
            path,
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
        }
    }
}
