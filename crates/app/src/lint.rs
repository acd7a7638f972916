//! Lint over the library: reads what is to be looked at, and finds the places in the files.

use async_recursion::async_recursion as boxed;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use persona::Scope;
use persona::lint::{Finding, Level, Settings};

use crate::outputs::{LintFinding, LintReport};
use crate::{Error, Library, Result};

mod everything;
use everything::Everything;

mod unread;
use unread::Unread;

mod places;
use places::Places;

/// How long the files are left alone before they are looked at: whoever has just started answers
/// first (lint loads the tokenizer), and whoever saves often is looked at once.
const CALM: Duration = Duration::from_millis(300);

/// What lint is to look at, and what it is to know.
#[derive(Debug, Clone, Default)]
pub struct LintOptions {
    /// Empty: the files that are there, or shared where none is.
    pub scopes: Vec<Scope>,
    pub part_tokens: Option<usize>,
    /// None: not known, and then nothing is said of them.
    pub providers: Option<BTreeSet<String>>,
    /// Further providers that a misspelt name may have meant.
    pub other_providers: BTreeSet<String>,
    pub env_allowed: BTreeSet<String>,
    pub env_set: BTreeSet<String>,
}

/// What the rules found, and in how many definitions.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
    entries: usize,
}

impl Library {
    /// Looks for mistakes in definitions and in the files themselves.
    #[boxed]
    pub async fn lint(&self, mut options: LintOptions) -> Result<LintReport> {
        if options.scopes.is_empty() {
            options.scopes = self.scopes_with_files();
        }
        if options.scopes.is_empty() {
            options.scopes = vec![Scope::Shared];
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

    /// The scopes that have a file, which is what lint looks at where nobody says otherwise.
    pub fn scopes_with_files(&self) -> Vec<Scope> {
        let is_there = |scope: &Scope| self.path(*scope).is_some_and(|path| path.symlink_metadata().is_ok());
        [Scope::Project, Scope::Global].into_iter().filter(is_there).collect()
    }

    /// What the rules say of definitions of the scopes that are named.
    async fn found(&self, options: LintOptions) -> Result<Found> {
        let wanted = options.scopes;
        wanted.iter().try_for_each(|scope| self.check_open(*scope))?;
        if wanted.iter().all(|scope| scope.is_file()) && self.file_entries() == 0 {
            return Ok(Found::default());
        }
        let problems = self.problems().into_iter();
        let unread = Unread::of(problems.filter_map(|it| Some((self.scope_of_file(&it.path)?, it))));
        let everything = Everything::read(self, wanted, unread).await?;
        let settings = Settings {
            part_tokens: options.part_tokens.unwrap_or(Settings::PART_TOKENS),
            providers: options.providers,
            other_providers: options.other_providers,
            env_allowed: options.env_allowed,
            env_set: options.env_set,
        };
        let tokenizer = self.tokenizer;
        // Counting tokens and comparing names takes its time; other tasks go on meanwhile.
        let looked = tokio::task::spawn_blocking(move || {
            let subjects = everything.subjects();
            let findings = persona::lint::lint(&subjects, &everything, &settings, &tokenizer);
            Found { findings, entries: subjects.len() }
        });
        looked.await.map_err(interrupted)
    }

    fn scope_of_file(&self, path: &Path) -> Option<Scope> {
        [Scope::Project, Scope::Global].into_iter().find(|scope| self.path(*scope) == Some(path))
    }

    /// Looks for mistakes in the files soon and whenever they change, for fronts that stay: what is
    /// new among them is logged as warnings.
    pub fn lint_on_load(&self, mut options: LintOptions) {
        let files = [Scope::Project, Scope::Global].into_iter();
        // One that is not there yet may be written any time.
        options.scopes = files.filter(|scope| self.path(*scope).is_some()).collect();
        if options.scopes.is_empty() {
            return;
        }
        let library = self.clone();
        let mut changes = library.changes();
        // Whoever opened the files has told of their mistakes, and not of what is merely doubtful.
        let mut told = self.look_at_files();
        told.retain(|found| found.level == Level::Error);
        tokio::spawn(async move {
            let mut known = Vec::new();
            loop {
                tokio::time::sleep(CALM).await;
                // What has changed by now is looked at now.
                changes.skip();
                let found = library.look_at_files();
                for new in found.iter().filter(|new| !told.iter().any(|told| told.is_of_same(new))) {
                    let place = new.line.zip(new.column).map(|(line, column)| format!(":{line}:{column}"));
                    let path = new.path.as_deref().unwrap_or(Path::new("")).display();
                    let place = place.unwrap_or_default();
                    tracing::warn!("{}: {path}{place}: {} [{}]", new.level, new.sentence(), new.rule);
                }
                told = found;
                known = library.look(options.clone(), known).await;
                // A change of the database may mend or break what a file refers to.
                if changes.next().await.is_none() {
                    return;
                }
            }
        });
    }

    /// What is wrong in the files as such.
    fn look_at_files(&self) -> Vec<LintFinding> {
        self.problems().into_iter().map(|problem| LintFinding::of_file(problem, None)).collect()
    }

    /// Logs what is found besides what is known already; returns what is known from then on. A
    /// finding is the same wherever in its file it stands.
    async fn look(&self, options: LintOptions, known: Vec<Finding>) -> Vec<Finding> {
        match self.found(options).await {
            Ok(Found { findings: found, .. }) => {
                for new in found.iter().filter(|finding| !known.contains(finding)) {
                    tracing::warn!("{new}");
                }
                found
            }
            // Whatever keeps lint from looking is told by those who need the library for more.
            Err(error) => {
                tracing::debug!(%error, "the files could not be checked");
                known
            }
        }
    }

    /// What the rules found with its places, and what the readers of the files found.
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
            // The rules look at what entries say; a secret may stand anywhere else in the file too.
            let pasted: Vec<LintFinding> = persona::lint::secrets(&text)
                .into_iter()
                .map(|found| LintFinding::of_secret(found, *scope, path))
                .filter(|pasted| !findings.iter().any(|known| known.is_beside(pasted)))
                .collect();
            findings.extend(pasted);
        }
        for problem in self.problems() {
            let scope = self.scope_of_file(&problem.path);
            if scope.is_none_or(|scope| scopes.contains(&scope)) {
                findings.push(LintFinding::of_file(problem, scope));
            }
        }
        LintReport::new(findings, scopes, entries)
    }
}

fn interrupted(source: tokio::task::JoinError) -> Error {
    Error::Interrupted { doing: "lint", source }
}
