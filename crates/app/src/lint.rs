//! Lint over the library: reads what is to be looked at, and finds the places in the files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::time::Duration;

use persona::lint::{Catalog, Settings, Subject};
use persona::{AnyEntity, Kind, Name, Scope};
use store::files::document::locate;
use tokio::sync::broadcast::error::RecvError;

use crate::outputs::{LintReport, PlacedFinding};
use crate::{Error, Library, Result};

/// How long changes are waited for before the files are looked at again.
const CALM: Duration = Duration::from_millis(300);

/// What lint is to look at, and what it is to know.
#[derive(Debug, Clone, Default)]
pub struct LintOptions {
    /// Empty: the files that are open, or shared where none is.
    pub scopes: Vec<Scope>,
    pub part_tokens: Option<usize>,
    /// None: not known, and then nothing is said of them.
    pub providers: Option<BTreeSet<String>>,
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
    fn note_uses(&mut self, wanted: &[Scope]) {
        let others = self.entities.iter().filter(|((scope, _, _), _)| !wanted.contains(scope));
        let meant = others.flat_map(|((from, _, _), entity)| {
            entity.references().into_iter().filter_map(|reference| {
                let allowed = |scope: &Scope| reference.scope.is_none_or(|named| named == *scope);
                let mut scopes = from.downwards().filter(allowed);
                let key = |scope| (scope, reference.kind, reference.name.clone());
                scopes.find(|scope| self.entities.contains_key(&key(*scope))).map(key)
            })
        });
        self.used = meant.collect();
    }
}

impl Library {
    /// Looks for mistakes in definitions.
    pub async fn lint(&self, options: LintOptions) -> Result<LintReport> {
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
            return Ok(LintReport { findings: Vec::new(), problems: self.problems() });
        }
        let mut everything = Everything { entities: BTreeMap::new(), used: BTreeSet::new() };
        for scope in Scope::ALL {
            for entity in self.known(*scope, &wanted).await? {
                everything.entities.insert((*scope, entity.kind(), entity.name().clone()), entity);
            }
        }
        everything.note_uses(&wanted);
        let settings = Settings {
            part_tokens: options.part_tokens.unwrap_or(Settings::PART_TOKENS),
            providers: options.providers,
            env_allowed: options.env_allowed,
            env_set: options.env_set,
        };
        let library = self.clone();
        // Counting tokens and comparing names takes its time; other tasks go on meanwhile.
        let looked = tokio::task::spawn_blocking(move || {
            let subjects: Vec<Subject<'_>> = everything
                .entities
                .iter()
                .filter(|((scope, _, _), _)| wanted.contains(scope))
                .map(|((scope, _, _), entity)| Subject { scope: *scope, entity })
                .collect();
            let findings = persona::lint::lint(&subjects, &everything, &settings, &library.tokenizer);
            LintReport { findings: library.placed(findings), problems: library.problems() }
        });
        looked.await.map_err(|error| Error::Invalid(format!("lint was interrupted: {error}")))
    }

    /// Looks for mistakes in the files now and whenever they change, for fronts that stay: what is
    /// found is logged as warnings and told by [`Library::findings`].
    pub fn lint_on_load(&self, options: LintOptions) {
        if self.path(Scope::Global).is_none() && self.path(Scope::Project).is_none() {
            return;
        }
        let library = self.clone();
        let mut changes = library.changes();
        tokio::spawn(async move {
            loop {
                library.look(options.clone()).await;
                // A change of the database may mend or break what a file refers to.
                match changes.recv().await {
                    Ok(_) | Err(RecvError::Lagged(_)) => tokio::time::sleep(CALM).await,
                    Err(RecvError::Closed) => return,
                }
                while changes.try_recv().is_ok() {}
            }
        });
    }

    async fn look(&self, options: LintOptions) {
        match self.lint(options).await {
            Ok(report) => {
                let mut known = self.findings.write().unwrap_or_else(PoisonError::into_inner);
                for new in report.findings.iter().filter(|finding| !known.contains(finding)) {
                    tracing::warn!("{}", new.finding);
                }
                *known = report.findings;
            }
            // Whatever keeps lint from looking is told by those who need the library for more.
            Err(error) => tracing::debug!(%error, "the files could not be checked"),
        }
    }

    /// What was found when the files were last loaded.
    pub fn findings(&self) -> Vec<PlacedFinding> {
        self.findings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a scope has. Of shared, which may be huge, only what the files refer to, unless it is
    /// looked at itself.
    async fn known(&self, scope: Scope, wanted: &[Scope]) -> Result<Vec<AnyEntity>> {
        if scope != Scope::Shared || wanted.contains(&Scope::Shared) {
            return Ok(self.scopes.all(scope).await?);
        }
        let mut known: BTreeMap<(Kind, Name), AnyEntity> = BTreeMap::new();
        let mut pending: Vec<AnyEntity> = Vec::new();
        for file in [Scope::Global, Scope::Project] {
            pending.extend(self.scopes.all(file).await?);
        }
        let mut asked: BTreeSet<(Kind, Name)> = BTreeSet::new();
        while let Some(entity) = pending.pop() {
            for reference in entity.references() {
                let key = (reference.kind, reference.name);
                if !asked.insert(key.clone()) {
                    continue;
                }
                if let Some(found) = self.scopes.get_any(key.0, &key.1, Some(Scope::Shared)).await? {
                    pending.push(found.entity.clone());
                    known.insert(key, found.entity);
                }
            }
        }
        Ok(known.into_values().collect())
    }

    /// Adds the place in the file to what was found in one.
    fn placed(&self, findings: Vec<persona::lint::Finding>) -> Vec<PlacedFinding> {
        let mut texts: BTreeMap<Scope, Option<String>> = BTreeMap::new();
        let placed = findings.into_iter().map(|finding| {
            let text = texts.entry(finding.scope).or_insert_with(|| self.scopes.text(finding.scope));
            let field = finding.field.as_deref().and_then(|field| field.split(['.', '[']).next());
            let place = text.as_deref().and_then(|text| {
                let of = |field| locate(text, finding.kind, finding.name.as_str(), field);
                of(field).or_else(|| of(None))
            });
            PlacedFinding {
                path: self.path(finding.scope).map(ToOwned::to_owned),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
                finding,
            }
        });
        placed.collect()
    }
}
