//! Lint over the library: reads the definitions, and finds the places of findings in the files.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use files::Problem;
use persona::lint::{Finding, Level, LintSettings};
use persona::{Code, Scope};

use crate::outputs::{LintFinding, LintReport};
use crate::{Error, Library, Result};

mod everything;
use everything::Everything;

mod pages;
use pages::Pages;

mod unread;
use unread::Unread;

mod expectations;

mod places;
use places::Places;

mod draft;
pub(crate) use draft::lint_draft;

/// The delay before the files are checked. A process that just started answers first, because lint
/// loads the tokenizer, and a burst of saves is checked once.
const CALM: Duration = Duration::from_millis(300);

/// The scopes to check, and facts that the rules need.
#[derive(Debug, Clone, Default)]
pub struct LintOptions {
    /// Empty: the existing files and shared.
    pub scopes: Vec<Scope>,
    pub part_tokens: Option<usize>,
    /// `None` if unknown; then no rule checks them.
    pub providers: Option<BTreeSet<String>>,
    /// Further providers to suggest for a misspelt name.
    pub other_providers: BTreeSet<String>,
    pub env_allowed: BTreeSet<String>,
    pub env_set: BTreeSet<String>,
}

impl LintOptions {
    /// The facts that the rules need.
    pub(crate) fn settings(&self) -> LintSettings {
        LintSettings {
            part_tokens: self.part_tokens.unwrap_or(LintSettings::PART_TOKENS),
            providers: self.providers.clone(),
            other_providers: self.other_providers.clone(),
            env_allowed: self.env_allowed.clone(),
            env_set: self.env_set.clone(),
        }
    }
}

/// The findings of the rules, and the number of definitions.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
    entries: usize,
}

impl Library {
    /// Checks definitions and the files themselves.
    #[boxed]
    pub async fn lint(&self, mut options: LintOptions) -> Result<LintReport> {
        if options.scopes.is_empty() {
            options.scopes = self.scopes_with_files();
            options.scopes.push(Scope::Shared);
        }
        options.scopes.sort_unstable_by(|a, b| b.cmp(a));
        options.scopes.dedup();
        let scopes = options.scopes.clone();
        let found = self.found(options).await?;
        let library = self.clone();
        // Finding the places reads the files once more.
        let report = tokio::task::spawn_blocking(move || library.report(found, scopes));
        report.await.map_err(interrupted)
    }

    /// The scopes that have a file.
    pub fn scopes_with_files(&self) -> Vec<Scope> {
        let is_there = |scope: &Scope| self.path(*scope).is_some_and(|path| path.symlink_metadata().is_ok());
        [Scope::Project, Scope::Global].into_iter().filter(is_there).collect()
    }

    /// The findings of the rules in the given scopes.
    async fn found(&self, options: LintOptions) -> Result<Found> {
        let settings = options.settings();
        let wanted = options.scopes;
        wanted.iter().try_for_each(|scope| self.check_open(*scope))?;
        let has_entries = || {
            self.file_entries() > 0
                || wanted.iter().any(|scope| !self.scopes.readable_of_broken(*scope).is_empty())
        };
        if wanted.iter().all(|scope| scope.is_file()) && !has_entries() {
            return Ok(Found::default());
        }
        let problems = self.problems().into_iter();
        let unread = Unread::of(problems.filter_map(|it| Some((self.scope_of_file(&it.path)?, it))));
        let everything = Everything::read(self, wanted, unread).await?;
        let pages = Pages::new(self, everything);
        // Counting tokens and comparing names is slow and must not block other tasks.
        let checked = tokio::task::spawn_blocking(move || pages.check(&settings));
        checked.await.map_err(interrupted)?
    }

    fn scope_of_file(&self, path: &Path) -> Option<Scope> {
        [Scope::Project, Scope::Global].into_iter().find(|scope| self.path(*scope) == Some(path))
    }

    /// Checks the files soon and after each change, and logs new findings as warnings. For fronts that
    /// keep running.
    pub fn lint_on_load(&self, mut options: LintOptions) {
        let files = [Scope::Project, Scope::Global].into_iter();
        // A file that does not exist may be written later.
        options.scopes = files.filter(|scope| self.path(*scope).is_some()).collect();
        if options.scopes.is_empty() {
            return;
        }
        let library = self.clone();
        let mut changes = library.changes();
        // The caller has reported the errors of the files, but not their warnings.
        let mut reported = self.file_findings();
        reported.retain(|found| found.level == Level::Error);
        tokio::spawn(async move {
            let mut known = Vec::new();
            loop {
                tokio::time::sleep(CALM).await;
                // This check covers the changes until now.
                changes.skip();
                let found = library.file_findings();
                for new in found.iter().filter(|new| !reported.iter().any(|known| known.is_same(new))) {
                    let place = new.line.zip(new.column).map(|(line, column)| format!(":{line}:{column}"));
                    let path = new.path.as_deref().unwrap_or(Path::new("")).display();
                    let place = place.unwrap_or_default();
                    tracing::warn!("{}: {path}{place}: {} [{}]", new.level, new.sentence(), new.rule);
                }
                reported = found;
                known = library.log_new(options.clone(), known).await;
                // A change of the database may fix or break a reference of a file.
                if changes.next().await.is_none() {
                    return;
                }
            }
        });
    }

    /// The problems of the files themselves.
    fn file_findings(&self) -> Vec<LintFinding> {
        let problems = self.problems().into_iter().filter(is_of_file);
        problems.map(|problem| LintFinding::of_file(problem, None)).collect()
    }

    /// Logs new findings and returns all of them. A finding that moved in its file is not new.
    async fn log_new(&self, options: LintOptions, known: Vec<Finding>) -> Vec<Finding> {
        match self.found(options).await {
            Ok(Found { findings: found, .. }) => {
                for new in found.iter().filter(|finding| !known.contains(finding)) {
                    tracing::warn!("{new}");
                }
                found
            }
            // The operations that need the library report this error.
            Err(error) => {
                tracing::debug!(%error, "the files could not be checked");
                known
            }
        }
    }

    /// The findings of the rules with their places, and the problems of the files.
    fn report(&self, found: Found, scopes: Vec<Scope>) -> LintReport {
        let Found { findings: found, entries } = found;
        let scopes_found: BTreeSet<Scope> = found.iter().map(|finding| finding.scope).collect();
        let texts = scopes_found.into_iter().filter_map(|scope| self.path(scope).map(|path| (scope, path)));
        let texts: Vec<_> = texts.map(|(scope, path)| (scope, path, self.scopes.text(scope))).collect();
        let mut places = Places::default();
        for (scope, path, text) in &texts {
            places.add(*scope, path, text.as_deref());
        }
        let placed = |finding: Finding| {
            let (path, place) = places.of(&finding);
            LintFinding::of_definition(finding, path, place)
        };
        let mut findings: Vec<LintFinding> = found.into_iter().map(placed).collect();
        for scope in &scopes {
            let file = self.path(*scope).zip(self.scopes.text(*scope));
            let Some((path, text)) = file else { continue };
            // The rules check entries; a secret may be elsewhere in the file.
            let pasted: Vec<LintFinding> = persona::lint::secrets(&text)
                .into_iter()
                .map(|found| LintFinding::of_secret(found, *scope, path))
                .filter(|pasted| !findings.iter().any(|known| known.is_beside(pasted)))
                .collect();
            findings.extend(pasted);
        }
        for problem in self.problems().into_iter().filter(is_of_file) {
            let scope = self.scope_of_file(&problem.path);
            if scope.is_none_or(|scope| scopes.contains(&scope)) {
                findings.push(LintFinding::of_file(problem, scope));
            }
        }
        LintReport::new(findings, scopes, entries)
    }
}

/// True unless a rule of lint finds the problem in the definition itself.
fn is_of_file(problem: &Problem) -> bool {
    problem.cause != Code::SaysNothing
}

fn interrupted(source: tokio::task::JoinError) -> Error {
    Error::Interrupted { doing: "lint", source }
}
