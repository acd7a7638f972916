//! The choice of views that fits a budget.

mod auto;
mod pieces;

use std::collections::BTreeMap;

use persona::Aggregation;

use crate::plan::Plan;
use crate::ranking::Ranks;
use crate::section::{Section, Sections};
use crate::selection::Pick;
use crate::{Reason, View, limits, parallel};

/// Sections made at a time before their tokens are added up.
const BATCH: usize = 256;
/// Views of a focus file that does not fit in full, most first.
const REDUCED: [View; 2] = [View::Skeleton, View::Outline];

/// The files in the order of their importance.
#[derive(Debug, Default)]
pub(crate) struct Ranking<'a> {
    pub(crate) ranks: Ranks<'a>,
    pub(crate) order: Vec<usize>,
}

impl<'a> Ranking<'a> {
    pub(crate) fn of(plan: &'a Plan, sections: &Sections<'_>) -> Self {
        let (facts, ranks) = plan.ranked(sections.project);
        let order = ranks.order(&facts);
        Self { ranks, order }
    }
}

/// Sections by the number of their file, which is the order of paths.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) sections: BTreeMap<usize, Section>,
    /// Files that cannot be shown in any view.
    pub(crate) failed: BTreeMap<usize, Reason>,
}

impl Chosen {
    /// The sum of the sections' own tokens.
    pub(crate) fn tokens(&self) -> usize {
        self.sections.values().map(|section| section.tokens).sum()
    }

    fn add(&mut self, section: Section) {
        self.sections.insert(section.file, section);
    }
}

/// All files in their whole views. `None` once they exceed the budget.
pub(crate) fn everything(plan: &Plan, sections: &Sections<'_>) -> Option<Chosen> {
    let certainly = |file: usize| match plan.ceilings[file] {
        View::Full => {
            usize::try_from(plan.sources[file].bytes).unwrap_or(usize::MAX) / limits::BYTES_PER_TOKEN
        }
        _ => 1,
    };
    let least = (0..plan.sources.len()).fold(0, |sum: usize, file| sum.saturating_add(certainly(file)));
    if least > plan.budget {
        return None;
    }
    let numbers: Vec<usize> = (0..plan.sources.len()).collect();
    let mut chosen = Chosen::default();
    let mut tokens: usize = 0;
    for batch in numbers.chunks(BATCH) {
        let made = parallel::map(sections.project.threads(), batch, |file| {
            sections.make(*file, plan.ceilings[*file])
        });
        for (file, made) in batch.iter().zip(made) {
            match made {
                Ok(section) => {
                    tokens = tokens.saturating_add(section.tokens);
                    chosen.add(section);
                }
                Err(reason) => {
                    chosen.failed.insert(*file, reason);
                }
            }
        }
        if tokens > plan.budget {
            return None;
        }
    }
    Some(chosen)
}

/// The files that an allowance holds, by a strategy. The allowance bounds the sum of the sections' tokens.
pub(crate) fn choose(
    plan: &Plan,
    sections: &Sections<'_>,
    ranking: &Ranking<'_>,
    allowance: usize,
) -> Chosen {
    let mut taking = Taking { plan, sections, left: allowance, chosen: Chosen::default() };
    taking.focus(ranking);
    match plan.strategy {
        Aggregation::Auto => auto::choose(&mut taking, ranking),
        Aggregation::Full | Aggregation::Summarize | Aggregation::Skeleton => taking.whole_files(ranking),
    }
    taking.chosen
}

/// Takes files until nothing more fits.
struct Taking<'a> {
    plan: &'a Plan,
    sections: &'a Sections<'a>,
    left: usize,
    chosen: Chosen,
}

impl Taking<'_> {
    /// Adds a section if it fits.
    fn take(&mut self, section: Section) -> bool {
        let fits = section.tokens <= self.left;
        if fits {
            self.left -= section.tokens;
            self.chosen.add(section);
        }
        fits
    }

    /// Adds a file in one view if it fits. A file that cannot be shown counts as done.
    fn take_view(&mut self, file: usize, view: View) -> bool {
        let bytes = usize::try_from(self.plan.sources[file].bytes).unwrap_or(usize::MAX);
        if view == View::Full && bytes / limits::BYTES_PER_TOKEN > self.left {
            return false;
        }
        match self.sections.make(file, view) {
            Ok(section) => self.take(section),
            Err(reason) => {
                self.chosen.failed.insert(file, reason);
                true
            }
        }
    }

    /// Adds the focus files: in full if possible, else with less.
    fn focus(&mut self, ranking: &Ranking<'_>) {
        let is_focus = |file: &&usize| self.plan.picks[**file] == Pick::Focus;
        let files: Vec<usize> = ranking.order.iter().filter(is_focus).copied().collect();
        let too_large: Vec<usize> =
            files.into_iter().filter(|file| !self.take_view(*file, View::Full)).collect();
        if self.plan.strategy == Aggregation::Auto {
            // These compete by their symbols, ahead of all others.
            return;
        }
        for file in too_large {
            let _ = REDUCED.iter().any(|view| self.take_view(file, *view));
        }
    }

    fn is_done(&self, file: usize) -> bool {
        self.chosen.sections.contains_key(&file) || self.chosen.failed.contains_key(&file)
    }

    fn whole_files(&mut self, ranking: &Ranking<'_>) {
        for &file in &ranking.order {
            if self.left == 0 {
                return;
            }
            if self.plan.picks[file] != Pick::Focus && !self.is_done(file) {
                let _ = self.take_view(file, self.plan.ceilings[file]);
            }
        }
    }
}
