//! The order in which files matter for a task: personalised `PageRank` over definitions and references.
//!
//! Pure: facts about files in, scores out. The sums run in the order of files and names, so that the same
//! facts always give the same scores.

mod graph;
mod mentions;

use std::collections::HashMap;

use crate::Seeds;
use graph::Graph;
pub(crate) use mentions::Mentions;

/// The share of a step that follows an edge instead of going back to the seeds.
const DAMPING: f64 = 0.85;

// Parts of the seeds. A part without members goes to the others.
const FOCUS: f64 = 0.40;
const IMPORTED: f64 = 0.20;
const NAMED_IN_TEXT: f64 = 0.30;
const NAMED_BY_FAILURES: f64 = 0.25;
const SIBLINGS: f64 = 0.15;
const IDENTIFIERS: f64 = 0.25;
const FILE_STEMS: f64 = 0.10;
const EVERYWHERE: f64 = 0.05;

/// What ranking knows of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) path: &'a str,
    pub(crate) defines: Vec<&'a str>,
    /// Names that it uses, each once, by name, and how often.
    pub(crate) uses: Vec<(&'a str, u32)>,
    /// The files that it imports.
    pub(crate) imports: Vec<usize>,
    pub(crate) is_focus: bool,
}

/// The answer of ranking. All lists are in the order of the files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranks<'a> {
    /// At least 0. They add up to 1.
    pub(crate) scores: Vec<f64>,
    /// The focus file that imports the file.
    pub(crate) imported_by: Vec<Option<usize>>,
    /// True if the task names the file.
    pub(crate) is_mentioned: Vec<bool>,
    /// The share of a file's score that came in by one of its names.
    by_name: HashMap<(usize, &'a str), f64>,
}

impl<'a> Ranks<'a> {
    pub(crate) fn of(files: &[Facts<'a>], seeds: &Seeds) -> Self {
        let mentions = Mentions::find(files, seeds);
        let graph = Graph::of(files, &mentions);
        let imported_by = imported_by(files);
        let seeds = distribution(files, &mentions, &imported_by, &graph);
        let scores = graph.walk(&seeds, DAMPING);
        let by_name = graph.by_name(&scores);
        let is_mentioned = (0..files.len()).map(|file| mentions.names(file)).collect();
        Self { scores, imported_by, is_mentioned, by_name }
    }

    /// The score that a file got by being asked for this name.
    pub(crate) fn of_name(&self, file: usize, name: &str) -> f64 {
        self.by_name.get(&(file, name)).copied().unwrap_or_default()
    }

    /// The files, best first: focus files, their imports, then by score. Ties go by number.
    pub(crate) fn order(&self, files: &[Facts<'_>]) -> Vec<usize> {
        let tier = |file: usize| match (files[file].is_focus, self.imported_by[file]) {
            (true, _) => 0,
            (false, Some(_)) => 1,
            (false, None) => 2,
        };
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by(|&a, &b| {
            tier(a).cmp(&tier(b)).then(self.scores[b].total_cmp(&self.scores[a])).then(a.cmp(&b))
        });
        order
    }
}

/// For each file, the first focus file that imports it.
fn imported_by(files: &[Facts<'_>]) -> Vec<Option<usize>> {
    let mut by = vec![None; files.len()];
    for (focus, facts) in files.iter().enumerate().filter(|(_, facts)| facts.is_focus) {
        for &imported in &facts.imports {
            if imported != focus && by[imported].is_none() {
                by[imported] = Some(focus);
            }
        }
    }
    by
}

/// The seeds of the walk: a share per file, adding up to 1.
fn distribution(
    files: &[Facts<'_>],
    mentions: &Mentions<'_>,
    imported_by: &[Option<usize>],
    graph: &Graph<'_>,
) -> Vec<f64> {
    let count = files.len();
    let plain = |is: &dyn Fn(usize) -> bool| (0..count).map(|at| f64::from(u8::from(is(at)))).collect();
    let mut identifiers = vec![0.0; count];
    for (name, weight) in mentions.identifiers() {
        let definers = graph.definers(name);
        for &file in definers {
            identifiers[file] += weight * graph.rarity(name) / as_float(definers.len());
        }
    }
    let parts: [(f64, Vec<f64>); 8] = [
        (FOCUS, plain(&|at| files[at].is_focus)),
        (IMPORTED, plain(&|at| imported_by[at].is_some())),
        (NAMED_IN_TEXT, plain(&|at| mentions.text.contains(&at))),
        (NAMED_BY_FAILURES, plain(&|at| mentions.failing.contains(&at))),
        (SIBLINGS, plain(&|at| mentions.siblings.contains(&at))),
        (IDENTIFIERS, identifiers),
        (FILE_STEMS, mentions.stems(count)),
        (EVERYWHERE, vec![1.0; count]),
    ];
    let mut seeds = vec![0.0; count];
    let mut given = 0.0;
    for (share, members) in parts {
        let sum: f64 = members.iter().sum();
        if sum > 0.0 {
            given += share;
            seeds.iter_mut().zip(&members).for_each(|(seed, member)| *seed += share * member / sum);
        }
    }
    seeds.iter_mut().for_each(|seed| *seed /= given);
    seeds
}

/// A count as a float. Counts of files and names are far below the exact range.
fn as_float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
