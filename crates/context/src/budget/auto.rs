//! The strategy `auto`: the symbols of the best files compete for tokens.
//!
//! Each symbol climbs from left out over its name, its signature and its documentation to its full text.
//! The step with the most value per token comes first; one that does not fit is skipped. The steps count
//! estimated tokens; the sections that come out of them are made and counted at the end.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::pieces::Pieces;
use super::{Ranking, Taking};
use crate::section::{Section, Sections};
use crate::selection::Pick;
use crate::skeleton::Level;
use crate::symbols::Symbol;
use crate::{Reason, View, limits};

/// The part of a file's score that its opening is worth.
const OPENING: f64 = 0.4;
/// The part of a file's score that its symbols share, beside what each has by its name.
const SHARED: f64 = 0.5;
/// The factor of a test beside other symbols.
const TEST: f64 = 0.2;
/// The factor of a focus file that does not fit in full.
const FOCUS: f64 = 1_000.0;
/// The part of what is left that the imports of focus files take before the competition.
const IMPORTED_SHARE: usize = 2;
/// Files that are looked at even if they are large.
const CANDIDATES: usize = 64;

/// A next step of a file or of a symbol.
#[derive(Debug, Clone, Copy)]
struct Step {
    value_per_token: f64,
    tokens: usize,
    candidate: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The file, with the names of its top symbols.
    Open,
    /// A file without symbols, in a view.
    Whole(View),
    /// A symbol, one level up.
    Raise(usize, Level),
}

impl Step {
    fn new(candidate: usize, kind: Kind, value: f64, tokens: usize) -> Self {
        let per = f64::from(u32::try_from(tokens.max(1)).unwrap_or(u32::MAX));
        Self { value_per_token: value / per, tokens, candidate, kind }
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Step {}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value_per_token
            .total_cmp(&other.value_per_token)
            .then(other.candidate.cmp(&self.candidate))
            .then(other.kind.cmp(&self.kind))
    }
}

/// A file in the competition.
struct Candidate<'a> {
    file: usize,
    score: f64,
    ceiling: View,
    is_imported: bool,
    pieces: Option<Pieces<'a>>,
}

/// The part of a file that is shown so far.
#[derive(Debug, Default)]
struct Progress {
    /// The level of each symbol. Empty until the file is opened.
    levels: Vec<Level>,
    /// The view of a file without symbols.
    view: Option<View>,
}

pub(super) fn choose(taking: &mut Taking<'_>, ranking: &Ranking<'_>) {
    let candidates = candidates(taking, ranking);
    let allowance = taking.left;
    let mut estimate = allowance;
    let mut best: Option<Outcome> = None;
    for _ in 0..limits::ESTIMATES {
        let outcome = compete(taking.sections, ranking, &candidates, estimate);
        let tokens = outcome.tokens();
        let is_fitting = tokens <= allowance;
        let is_close = !outcome.is_short || tokens >= allowance / 20 * 19;
        // Of the outcomes that fit the fullest is the best, of the others the smallest.
        let is_better = best.as_ref().is_none_or(|best| match (is_fitting, best.tokens() <= allowance) {
            (true, true) => tokens > best.tokens(),
            (false, false) => tokens < best.tokens(),
            (is_fitting, _) => is_fitting,
        });
        if is_better {
            best = Some(outcome);
        }
        if is_fitting && is_close {
            break;
        }
        estimate = scaled(estimate, allowance, tokens);
    }
    let Some(best) = best else { return };
    taking.chosen.failed.extend(best.failed);
    for section in best.sections {
        let _ = taking.take(section);
    }
}

/// The estimate that should come out at the allowance, given that the last one came out at `tokens`.
fn scaled(estimate: usize, allowance: usize, tokens: usize) -> usize {
    let wide = |number: usize| u128::try_from(number).unwrap_or(u128::MAX);
    let scaled = wide(estimate) * wide(allowance) / wide(tokens.max(1));
    let scaled = usize::try_from(scaled).unwrap_or(usize::MAX);
    if tokens > allowance { scaled - scaled / 32 } else { scaled }
}

/// The result of one competition.
#[derive(Default)]
struct Outcome {
    /// The best first.
    sections: Vec<Section>,
    failed: BTreeMap<usize, Reason>,
    /// True if a step did not fit.
    is_short: bool,
}

impl Outcome {
    fn tokens(&self) -> usize {
        self.sections.iter().map(|section| section.tokens).sum()
    }
}

fn compete<'a>(
    sections: &'a Sections<'a>,
    ranking: &Ranking<'_>,
    candidates: &[Candidate<'a>],
    tokens: usize,
) -> Outcome {
    let shown = candidates.iter().map(|_| Progress::default()).collect();
    let (heap, outcome) = (BinaryHeap::new(), Outcome::default());
    let mut competition = Competition { sections, ranking, candidates, shown, left: tokens, heap, outcome };
    competition.imports_first();
    competition.run();
    competition.finish()
}

/// The best files whose texts together are several times the budget. Those behind them would get nothing.
fn candidates<'a>(taking: &mut Taking<'a>, ranking: &Ranking<'_>) -> Vec<Candidate<'a>> {
    let most = taking.left.saturating_mul(limits::CANDIDATE_BYTES_PER_TOKEN);
    let mut bytes: usize = 0;
    let mut candidates = Vec::new();
    for &file in &ranking.order {
        if taking.is_done(file) {
            continue;
        }
        if bytes > most && candidates.len() >= CANDIDATES {
            break;
        }
        bytes = bytes.saturating_add(usize::try_from(taking.plan.sources[file].bytes).unwrap_or(usize::MAX));
        let ceiling = taking.plan.ceilings[file];
        let has_symbols = matches!(ceiling, View::Full | View::Skeleton);
        let pieces = if has_symbols { Pieces::of(taking.sections, file) } else { Ok(None) };
        match pieces {
            Ok(pieces) => {
                let is_focus = taking.plan.picks[file] == Pick::Focus;
                let score = ranking.ranks.scores[file] * if is_focus { FOCUS } else { 1.0 };
                let is_imported = ranking.ranks.imported_by[file].is_some();
                candidates.push(Candidate { file, score, ceiling, is_imported, pieces });
            }
            Err(reason) => {
                taking.chosen.failed.insert(file, reason);
            }
        }
    }
    candidates
}

struct Competition<'a, 'c> {
    sections: &'a Sections<'a>,
    ranking: &'c Ranking<'c>,
    candidates: &'c [Candidate<'a>],
    /// For each candidate.
    shown: Vec<Progress>,
    /// Estimated tokens that are left.
    left: usize,
    heap: BinaryHeap<Step>,
    outcome: Outcome,
}

impl Competition<'_, '_> {
    /// Shows the signatures of files that focus files import, as far as half of the tokens go.
    fn imports_first(&mut self) {
        let mut share = self.left / IMPORTED_SHARE;
        for (at, candidate) in
            self.candidates.iter().enumerate().filter(|(_, candidate)| candidate.is_imported)
        {
            let Some(pieces) = &candidate.pieces else { continue };
            let symbols = pieces.symbols();
            let shown =
                |symbol: usize| if symbols[symbol].is_test { Level::LeftOut } else { Level::Signature };
            let levels: Vec<Level> = (0..symbols.len()).map(shown).collect();
            let signatures: usize =
                levels.iter().enumerate().map(|(at, level)| pieces.tokens(self.sections, at, *level)).sum();
            let tokens = pieces.opening(self.sections) + signatures;
            if tokens > share {
                self.outcome.is_short = true;
                continue;
            }
            share -= tokens;
            self.left -= tokens;
            self.show(at, levels);
        }
    }

    fn run(&mut self) {
        for at in 0..self.candidates.len() {
            if self.shown[at].levels.is_empty() {
                self.push_first(at);
            }
        }
        while let Some(step) = self.heap.pop() {
            if step.tokens <= self.left {
                self.left -= step.tokens;
                self.apply(step);
            } else {
                self.outcome.is_short = true;
            }
        }
    }

    /// Offers the first step of a file.
    fn push_first(&mut self, at: usize) {
        let candidate = &self.candidates[at];
        let value = candidate.score * OPENING;
        let step = match &candidate.pieces {
            Some(pieces) => Step::new(at, Kind::Open, value, pieces.opening(self.sections)),
            None => {
                let view = if candidate.ceiling == View::Full { View::Outline } else { candidate.ceiling };
                let Some(tokens) = self.tokens_of_view(candidate.file, view) else { return };
                Step::new(at, Kind::Whole(view), value, tokens)
            }
        };
        self.heap.push(step);
    }

    /// The tokens of a file in a view. `None` if it cannot be shown.
    fn tokens_of_view(&mut self, file: usize, view: View) -> Option<usize> {
        let made = self.sections.make(file, view);
        made.map_err(|reason| self.outcome.failed.insert(file, reason)).ok().map(|section| section.tokens)
    }

    fn apply(&mut self, step: Step) {
        let at = step.candidate;
        let Some(candidate) = self.candidates.get(at) else { return };
        match (step.kind, &candidate.pieces) {
            (Kind::Open, Some(pieces)) => {
                let level = |symbol: &Symbol| match symbol.depth == 0 && !symbol.is_test {
                    true => Level::Name,
                    false => Level::LeftOut,
                };
                self.show(at, pieces.symbols().iter().map(level).collect());
            }
            (Kind::Raise(symbol, level), Some(pieces)) => {
                let levels = &mut self.shown[at].levels;
                levels[symbol] = level;
                // A symbol is shown inside the signature of the one around it, which the step paid for.
                if let Some(parent) =
                    pieces.parents[symbol].filter(|parent| levels[*parent] > Level::Signature)
                {
                    levels[parent] = Level::Signature;
                }
                self.push_raise(at, symbol);
            }
            (Kind::Whole(view), _) => {
                self.shown[at].view = Some(view);
                self.push_whole(at, view, step.tokens);
            }
            (_, None) => {}
        }
    }

    fn show(&mut self, at: usize, levels: Vec<Level>) {
        let symbols = levels.len();
        self.shown[at].levels = levels;
        (0..symbols).for_each(|symbol| self.push_raise(at, symbol));
    }

    /// Offers the full text of a file without symbols that is shown as an outline.
    fn push_whole(&mut self, at: usize, view: View, tokens: usize) {
        let candidate = &self.candidates[at];
        if view != View::Outline || candidate.ceiling != View::Full {
            return;
        }
        let value = candidate.score * (1.0 - OPENING);
        if let Some(full) = self.tokens_of_view(candidate.file, View::Full) {
            self.heap.push(Step::new(at, Kind::Whole(View::Full), value, full.saturating_sub(tokens)));
        }
    }

    /// Offers a symbol's next level.
    fn push_raise(&mut self, at: usize, symbol: usize) {
        let (candidate, levels) = (&self.candidates[at], &self.shown[at].levels);
        let Some(pieces) = &candidate.pieces else { return };
        let now = levels[symbol];
        let Some(next) = above(now, candidate.ceiling) else { return };
        let tokens_at = |symbol, level| pieces.tokens(self.sections, symbol, level);
        let mut tokens = tokens_at(symbol, next).saturating_sub(tokens_at(symbol, now));
        if let Some(parent) = pieces.parents[symbol].filter(|parent| levels[*parent] > Level::Signature) {
            tokens += tokens_at(parent, Level::Signature);
        }
        let value = self.value(candidate, pieces, symbol) * (worth(next) - worth(now));
        self.heap.push(Step::new(at, Kind::Raise(symbol, next), value, tokens));
    }

    fn value(&self, candidate: &Candidate<'_>, pieces: &Pieces<'_>, symbol: usize) -> f64 {
        let symbols = pieces.symbols();
        let count = f64::from(u32::try_from(symbols.len().max(1)).unwrap_or(u32::MAX));
        let symbol = &symbols[symbol];
        let by_name = self.ranking.ranks.of_name(candidate.file, &symbol.name);
        let test = if symbol.is_test { TEST } else { 1.0 };
        (candidate.score * SHARED / count + by_name) * test
    }

    /// Makes the sections.
    fn finish(mut self) -> Outcome {
        for (candidate, shown) in self.candidates.iter().zip(&self.shown) {
            let made = match (&candidate.pieces, shown.view) {
                (Some(_), _) if !shown.levels.is_empty() => {
                    self.sections.excerpt(candidate.file, &shown.levels)
                }
                (None, Some(view)) => self.sections.make(candidate.file, view),
                _ => continue,
            };
            match made {
                Ok(section) => self.outcome.sections.push(section),
                Err(reason) => {
                    self.outcome.failed.insert(candidate.file, reason);
                }
            }
        }
        self.outcome
    }
}

/// The next level of a symbol, as far as the file's view allows it.
fn above(level: Level, ceiling: View) -> Option<Level> {
    match level {
        Level::LeftOut | Level::Name => Some(Level::Signature),
        Level::Signature => Some(Level::SignatureWithDoc),
        Level::SignatureWithDoc => (ceiling == View::Full).then_some(Level::Full),
        Level::Full => None,
    }
}

/// The part of a symbol's value that a level shows.
fn worth(level: Level) -> f64 {
    match level {
        Level::LeftOut => 0.0,
        Level::Name => 0.2,
        Level::Signature => 0.55,
        Level::SignatureWithDoc => 0.7,
        Level::Full => 1.0,
    }
}
