//! Lint in pages: shared definitions are read, checked and dropped, because they may not fit into memory.

use std::collections::HashSet;

use persona::lint::{Checked, LintSettings, LintTarget, Linter, unused};
use persona::{AnyEntity, Kind, Name, Scope};
use tokio::runtime::Handle;

use super::Found;
use super::everything::{Everything, shared_target};
use super::expectations::unreadable;
use crate::{Library, Result};

/// The number of shared definitions that are in memory at once.
const PAGE: usize = 200;

pub(super) struct Pages {
    library: Library,
    everything: Everything,
    /// Reads pages while a thread of its own checks them.
    runtime: Handle,
}

impl Pages {
    pub(super) fn new(library: &Library, everything: Everything) -> Self {
        Self { library: library.clone(), everything, runtime: Handle::current() }
    }

    /// Checks everything. Blocks the thread.
    pub(super) fn check(mut self, settings: &LintSettings) -> Result<Found> {
        let tokenizer = self.library.tokenizer;
        let mut linter = Linter::new(settings, &tokenizer);
        let targets = self.everything.targets();
        let mut found = Found { findings: Vec::new(), entries: targets.len() };
        let Checked { findings, used } = linter.check(&targets, &self.everything);
        found.findings.extend(findings);
        found.findings.extend(unreadable(&targets));
        let readable = self.everything.readable_targets();
        found.findings.extend(linter.check_references(&readable, &self.everything));
        if self.everything.wants_shared() {
            // Definitions come after those that they refer to.
            let (referring, others): (Vec<Kind>, Vec<Kind>) =
                Kind::ALL.iter().partition(|kind| matches!(kind, Kind::Persona | Kind::Arc));
            for kind in others.into_iter().chain(referring.into_iter().rev()) {
                self.check_kind(kind, &mut linter, &mut found)?;
            }
            self.everything.mark_used(&used);
            self.check_arcs(&linter, &mut found)?;
        }
        self.check_rest(&linter, &used, &mut found);
        Ok(found)
    }

    /// Checks the shared definitions of a kind.
    fn check_kind(&mut self, kind: Kind, linter: &mut Linter<'_>, found: &mut Found) -> Result<()> {
        let mut after = None;
        loop {
            let page = self.page(kind, after.as_ref())?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.name().clone());
            self.runtime.block_on(self.everything.turn_to(&self.library, &page))?;
            let targets: Vec<LintTarget<'_>> = page.iter().map(shared_target).collect();
            let Checked { findings, used } = linter.check(&targets, &self.everything);
            self.everything.mark_used(&used);
            found.entries += page.len();
            found.findings.extend(findings);
            found.findings.extend(unreadable(&targets));
        }
    }

    /// Checks the shared arcs with the personas that have them.
    fn check_arcs(&self, linter: &Linter<'_>, found: &mut Found) -> Result<()> {
        let mut after = None;
        loop {
            let page = self.page(Kind::Arc, after.as_ref())?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.name().clone());
            let targets: Vec<LintTarget<'_>> = page.iter().map(shared_target).collect();
            found.findings.extend(linter.check_arcs(&targets, &self.everything));
        }
    }

    /// Applies the rules that need to have seen everything.
    fn check_rest(&self, linter: &Linter<'_>, used: &HashSet<(Scope, Kind, Name)>, found: &mut Found) {
        let targets = self.everything.targets();
        found.findings.extend(linter.check_arcs(&targets, &self.everything));
        let of_files = targets.iter().map(|it| (it.scope, it.entity.kind(), it.entity.name()));
        let of_files =
            of_files.filter(|(scope, kind, name)| !used.contains(&(*scope, *kind, (*name).clone())));
        let shared = self.everything.spare_pieces().into_iter();
        let spare = of_files.chain(shared.map(|(kind, name)| (Scope::Shared, kind, name)));
        found
            .findings
            .extend(spare.filter_map(|(scope, kind, name)| unused(scope, kind, name, &self.everything)));
    }

    fn page(&self, kind: Kind, after: Option<&Name>) -> Result<Vec<AnyEntity>> {
        let page = self.library.scopes.database().definitions(kind, after, PAGE);
        let page = self.runtime.block_on(page)?;
        Ok(page.into_iter().map(|stored| stored.entity).collect())
    }
}
