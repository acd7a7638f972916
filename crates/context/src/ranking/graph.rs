//! The graph of files: an edge from a file that uses a name to each that defines it.

use std::collections::{BTreeMap, HashMap};

use super::{Facts, Mentions, as_float};
use crate::limits;

/// The weight of an import beside that of a name used once.
const IMPORT: f64 = 3.0;
/// The weight of an edge walked backwards: whoever uses a changed file may need a change as well.
const BACKWARDS: f64 = 0.3;
/// The factor of a name that the task mentions.
const MENTIONED: f64 = 8.0;
/// The factor of a name of one or two characters.
const SHORT: f64 = 0.2;

/// Edges with their weights, and the names that made them.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    names: HashMap<&'a str, Name>,
    files: usize,
    /// For each file, its edges by target. The weights add up to 1.
    edges: Vec<Vec<(usize, f64)>>,
    /// For each file, the names that it uses from elsewhere, with the weight of each for one definer.
    named: Vec<Vec<(&'a str, f64)>>,
}

#[derive(Debug, Default)]
struct Name {
    definers: Vec<usize>,
    users: usize,
}

impl<'a> Graph<'a> {
    pub(super) fn of(files: &[Facts<'a>], mentions: &Mentions<'_>) -> Self {
        let mut names: HashMap<&'a str, Name> = HashMap::new();
        for (file, facts) in files.iter().enumerate() {
            for &name in &facts.defines {
                let definers = &mut names.entry(name).or_default().definers;
                if definers.last() != Some(&file) {
                    definers.push(file);
                }
            }
        }
        for (name, _) in files.iter().flat_map(|facts| &facts.uses) {
            if let Some(known) = names.get_mut(name) {
                known.users += 1;
            }
        }
        let mut graph = Self { names, files: files.len(), edges: Vec::new(), named: Vec::new() };
        graph.named =
            files.iter().enumerate().map(|(file, facts)| graph.used(file, facts, mentions)).collect();
        graph.edges = graph.weighted(files);
        graph
    }

    /// The files that define a name; none if too many do.
    pub(super) fn definers(&self, name: &str) -> &[usize] {
        match self.names.get(name) {
            Some(known) if known.definers.len() <= limits::DEFINERS => &known.definers,
            _ => &[],
        }
    }

    /// The weight of a name by how few files use it.
    pub(super) fn rarity(&self, name: &str) -> f64 {
        let users = self.names.get(name).map_or(0, |known| known.users).max(1);
        (1.0 + as_float(self.files) / as_float(users)).ln()
    }

    fn used(&self, file: usize, facts: &Facts<'a>, mentions: &Mentions<'_>) -> Vec<(&'a str, f64)> {
        let weighted = facts.uses.iter().filter_map(|&(name, count)| {
            let definers = self.definers(name);
            // A name that the file defines itself leads nowhere else.
            if definers.is_empty() || definers.binary_search(&file).is_ok() {
                return None;
            }
            let mentioned = if mentions.has_identifier(name) { MENTIONED } else { 1.0 };
            let short = if name.len() < 3 { SHORT } else { 1.0 };
            let weight = f64::from(count).sqrt() * self.rarity(name) * mentioned * short;
            Some((name, weight / as_float(definers.len())))
        });
        weighted.collect()
    }

    fn weighted(&self, files: &[Facts<'_>]) -> Vec<Vec<(usize, f64)>> {
        let mut edges: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); files.len()];
        let mut add = |from: usize, to: usize, weight: f64| {
            if from != to {
                *edges[from].entry(to).or_default() += weight;
                *edges[to].entry(from).or_default() += weight * BACKWARDS;
            }
        };
        for (file, facts) in files.iter().enumerate() {
            for (name, weight) in &self.named[file] {
                self.definers(name).iter().for_each(|&definer| add(file, definer, *weight));
            }
            facts.imports.iter().for_each(|&imported| add(file, imported, IMPORT));
        }
        let normal = |edges: BTreeMap<usize, f64>| {
            let sum: f64 = edges.values().sum();
            edges.into_iter().map(|(to, weight)| (to, weight / sum)).collect()
        };
        edges.into_iter().map(normal).collect()
    }

    /// The share of the walk that each file gets.
    pub(super) fn walk(&self, seeds: &[f64], damping: f64) -> Vec<f64> {
        let mut scores = seeds.to_vec();
        for _ in 0..limits::RANK_STEPS {
            let mut next = vec![0.0; seeds.len()];
            let mut lost = 0.0;
            for (edges, score) in self.edges.iter().zip(&scores) {
                if edges.is_empty() {
                    lost += score;
                }
                for (to, weight) in edges {
                    next[*to] += score * weight;
                }
            }
            // A file without edges sends its share back to the seeds.
            for (next, seed) in next.iter_mut().zip(seeds) {
                *next = damping * (*next + lost * seed) + (1.0 - damping) * seed;
            }
            scores = next;
        }
        scores
    }

    /// The part of the files' scores that goes through each name of each definer.
    pub(super) fn by_name(&self, scores: &[f64]) -> HashMap<(usize, &'a str), f64> {
        let mut shares: HashMap<(usize, &'a str), f64> = HashMap::new();
        for (named, score) in self.named.iter().zip(scores) {
            let sum: f64 =
                named.iter().map(|(name, weight)| weight * as_float(self.definers(name).len())).sum();
            for &(name, weight) in named {
                for &definer in self.definers(name) {
                    *shares.entry((definer, name)).or_default() += score * weight / sum;
                }
            }
        }
        shares
    }
}
