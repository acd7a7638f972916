//! Lint over the library: reads what is to be looked at, and finds the places in the files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use persona::lint::{Catalog, Finding, Settings, Subject};
use persona::{AnyEntity, Kind, Name, Reference, Scope};

use crate::outputs::{LintFinding, LintReport};
use crate::scope::reach;
use crate::{Error, Library, Result};

mod places;
use places::Places;

/// How long the files are left alone before they are looked at: whoever has just started answers
/// first (lint loads the tokenizer), and whoever saves often is looked at once.
const CALM: Duration = Duration::from_millis(300);

/// What lint is to look at, and what it is to know.
#[derive(Debug, Clone, Default)]
pub struct LintOptions {
    /// Empty: the files that are open, or shared where none is.
    pub scopes: Vec<Scope>,
    pub part_tokens: Option<usize>,
    /// None: not known, and then nothing is said of them.
    pub providers: Option<BTreeSet<String>>,
    /// Further providers that a misspelt name may have meant.
    pub other_providers: BTreeSet<String>,
    pub env_allowed: BTreeSet<String>,
    pub env_set: BTreeSet<String>,
}

/// Everything that is known, by scope.
struct Everything {
    entities: BTreeMap<(Scope, Kind, Name), AnyEntity>,
    /// What definitions that are not looked at mean by the names that they have.
    used: BTreeSet<(Scope, Kind, Name)>,
}

impl Catalog for Everything {
    fn get(&self, scope: Scope, kind: Kind, name: &Name) -> Option<&AnyEntity> {
        self.entities.get(&(scope, kind, name.clone()))
    }

    fn names(&self, scope: Scope, kind: Kind, _: &Name) -> Vec<Name> {
        let reachable = self.entities.keys().filter(|(of, known, _)| *of <= scope && *known == kind);
        reachable.map(|(_, _, name)| name.clone()).collect()
    }

    fn is_used(&self, scope: Scope, kind: Kind, name: &Name) -> bool {
        self.used.contains(&(scope, kind, name.clone()))
    }
}

impl Everything {
    fn extend(&mut self, scope: Scope, entities: Vec<AnyEntity>) {
        let keyed =
            entities.into_iter().map(|entity| ((scope, entity.kind(), entity.name().clone()), entity));
        self.entities.extend(keyed);
    }

    fn note_uses(&mut self, wanted: &[Scope]) {
        let others = self.entities.iter().filter(|((scope, _, _), _)| !wanted.contains(scope));
        let meant = others.flat_map(|((from, _, _), entity)| {
            entity.references().into_iter().filter_map(|reference| {
                let mut scopes = reach(*from, reference.scope).into_iter();
                let key = |scope| (scope, reference.kind, reference.name.clone());
                scopes.find(|scope| self.entities.contains_key(&key(*scope))).map(key)
            })
        });
        self.used = meant.collect();
    }
}

impl Library {
    /// Looks for mistakes in definitions and in the files themselves.
    pub async fn lint(&self, options: LintOptions) -> Result<LintReport> {
        let scopes = options.scopes.clone();
        let found = self.found(options).await?;
        let library = self.clone();
        // Finding the places reads the files once more.
        let report = tokio::task::spawn_blocking(move || library.report(found, &scopes));
        report.await.map_err(interrupted)
    }

    /// What the rules say of definitions.
    async fn found(&self, options: LintOptions) -> Result<Vec<Finding>> {
        let mut wanted = options.scopes.clone();
        if wanted.is_empty() {
            wanted = [Scope::Global, Scope::Project]
                .into_iter()
                .filter(|scope| self.path(*scope).is_some())
                .collect();
        }
        if wanted.is_empty() {
            wanted = vec![Scope::Shared];
        }
        wanted.iter().try_for_each(|scope| self.check_open(*scope))?;
        if wanted.iter().all(|scope| scope.is_file()) && self.file_entries() == 0 {
            return Ok(Vec::new());
        }
        let mut everything = Everything { entities: BTreeMap::new(), used: BTreeSet::new() };
        for scope in Scope::ALL {
            // Shared may be huge; unless it is looked at itself, only what files refer to is read.
            if *scope != Scope::Shared || wanted.contains(scope) {
                everything.extend(*scope, self.scopes.all(*scope).await?);
            }
        }
        if !wanted.contains(&Scope::Shared) {
            let files = everything.entities.iter().filter(|((scope, _, _), _)| scope.is_file());
            let known = self.shared_behind(files.map(|(_, entity)| entity)).await?;
            everything.extend(Scope::Shared, known);
        }
        everything.note_uses(&wanted);
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
            let subjects: Vec<Subject<'_>> = everything
                .entities
                .iter()
                .filter(|((scope, _, _), _)| wanted.contains(scope))
                .map(|((scope, _, _), entity)| Subject { scope: *scope, entity })
                .collect();
            persona::lint::lint(&subjects, &everything, &settings, &tokenizer)
        });
        looked.await.map_err(interrupted)
    }

    /// Looks for mistakes in the files soon and whenever they change, for fronts that stay: what is
    /// new among them is logged as warnings.
    pub fn lint_on_load(&self, options: LintOptions) {
        if self.path(Scope::Global).is_none() && self.path(Scope::Project).is_none() {
            return;
        }
        let library = self.clone();
        let mut changes = library.changes();
        tokio::spawn(async move {
            let mut known = Vec::new();
            let mut doubtful = Vec::new();
            loop {
                tokio::time::sleep(CALM).await;
                // What has changed by now is looked at now.
                changes.skip();
                doubtful = library.look_at_files(&doubtful);
                known = library.look(options.clone(), known).await;
                // A change of the database may mend or break what a file refers to.
                if changes.next().await.is_none() {
                    return;
                }
            }
        });
    }

    /// Logs the tables and keys of the files that mean nothing, besides those that are known already;
    /// returns what is known from then on. A line says the same wherever it is found.
    fn look_at_files(&self, known: &[String]) -> Vec<String> {
        let doubtful =
            self.problems().into_iter().filter(|problem| problem.level == store::files::Level::Warning);
        let doubtful: Vec<String> = doubtful
            .map(|problem| {
                let path = problem.path.display().to_string();
                let found = LintFinding::of_file(problem, None);
                format!("{}: {path}: {} [{}]", found.level, found.sentence(), found.rule)
            })
            .collect();
        for new in doubtful.iter().filter(|line| !known.contains(line)) {
            tracing::warn!("{new}");
        }
        doubtful
    }

    /// Logs what is found besides what is known already; returns what is known from then on. A
    /// finding is the same wherever in its file it stands.
    async fn look(&self, options: LintOptions, known: Vec<Finding>) -> Vec<Finding> {
        match self.found(options).await {
            Ok(found) => {
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

    /// What definitions refer to in shared, directly or not.
    async fn shared_behind(&self, files: impl Iterator<Item = &AnyEntity> + Send) -> Result<Vec<AnyEntity>> {
        let mut known = Vec::new();
        let mut asked: BTreeSet<(Kind, Name)> = BTreeSet::new();
        let mut pending: Vec<Reference> = files.flat_map(AnyEntity::references).collect();
        while let Some(Reference { kind, name, .. }) = pending.pop() {
            if asked.insert((kind, name.clone()))
                && let Some(found) = self.scopes.get_any(kind, &name, Some(Scope::Shared)).await?
            {
                pending.extend(found.entity.references());
                known.push(found.entity);
            }
        }
        Ok(known)
    }

    /// What the rules found with its places, and what the readers of the files found.
    fn report(&self, found: Vec<Finding>, scopes: &[Scope]) -> LintReport {
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
        let scope_of = |path: &Path| {
            [Scope::Project, Scope::Global].into_iter().find(|scope| self.path(*scope) == Some(path))
        };
        for problem in self.problems() {
            let scope = scope_of(&problem.path);
            if scopes.is_empty() || scope.is_none_or(|scope| scopes.contains(&scope)) {
                findings.push(LintFinding::of_file(problem, scope));
            }
        }
        LintReport::new(findings)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn interrupted(error: tokio::task::JoinError) -> Error {
    Error::Invalid(format!("lint was interrupted: {error}"))
}
