//! The first half of a request: which files, which of them a model must summarise.

use std::collections::HashSet;
use std::sync::Arc;

use persona::Aggregation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::facts;
use crate::project::Loaded;
use crate::ranking::{Facts, Ranks};
use crate::selection::{Chosen, Pick, Selection, select};
use crate::source::Source;
use crate::{ContentHash, LeftOut, Note, Project, Reason, Request, Seeds, View, limits, parallel};

/// The chosen files, read as far as needed. Render it soon: a file that changes after it was read is left
/// out.
#[derive(Debug)]
pub struct Plan {
    pub(crate) sources: Vec<Source>,
    /// The most that is shown of each source, the strategy included.
    pub(crate) ceilings: Vec<View>,
    pub(crate) picks: Vec<Pick>,
    pub(crate) strategy: Aggregation,
    pub(crate) budget: usize,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) notes: Vec<Note>,
    seeds: Seeds,
    wanted: Vec<SummaryWanted>,
}

/// A file to summarise before the plan is rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryWanted {
    pub path: String,
    /// The key of the summary: a file with the same content has the same summary.
    pub hash: ContentHash,
    pub bytes: u64,
}

impl Plan {
    /// The files that a model should summarise, the most important first; no more than a budget can hold.
    /// One without a summary is shown as an outline.
    pub fn wanted(&self) -> &[SummaryWanted] {
        &self.wanted
    }

    /// The text of a file of the plan. `None` if it changed or is not in the plan.
    pub fn text(&self, project: &Project, hash: ContentHash) -> Option<Arc<str>> {
        self.sources.iter().find(|source| source.hash == hash)?.text(project).ok()
    }

    /// The paths of the chosen files, best first, whether they fit a budget or not.
    pub fn ranked_paths(&self, project: &Project) -> Vec<&str> {
        let (facts, ranks) = self.ranked(project);
        ranks.order(&facts).into_iter().map(|file| self.sources[file].path.as_str()).collect()
    }

    /// Parses all sources and ranks them.
    pub(crate) fn ranked(&self, project: &Project) -> (Vec<Facts<'_>>, Ranks<'_>) {
        // A source that cannot be parsed has no facts, and its section says why.
        parallel::map(project.threads(), &self.sources, |source| source.parsed(project).is_ok());
        let facts = facts(&self.sources, &|file| self.picks[file] == Pick::Focus);
        let ranks = Ranks::of(&facts, &self.seeds);
        (facts, ranks)
    }

    fn summaries(&self, project: &Project) -> Vec<SummaryWanted> {
        let is_wanted = |file: &usize| {
            self.ceilings[*file] == View::Summary && self.sources[*file].bytes > limits::SUMMARY_WORTH_BYTES
        };
        let mut files: Vec<usize> = (0..self.sources.len()).filter(is_wanted).collect();
        if files.is_empty() {
            return Vec::new();
        }
        let most = (self.budget / limits::SUMMARY_TOKENS).max(1);
        if files.len() > most {
            let (facts, ranks) = self.ranked(project);
            files = ranks.order(&facts).into_iter().filter(is_wanted).take(most).collect();
        }
        let mut known = HashSet::new();
        let sources = files.into_iter().map(|file| &self.sources[file]);
        sources
            .filter(|source| known.insert(source.hash))
            .map(|source| SummaryWanted { path: source.path.clone(), hash: source.hash, bytes: source.bytes })
            .collect()
    }
}

/// Chooses the files of a request and reads them.
pub(crate) fn plan(project: &Project, request: &Request) -> Plan {
    let entries = request.preset.as_ref().map(|preset| preset.entries.as_slice());
    let Selection { chosen, mut left_out, mut notes } = select(project, entries, &request.focus);
    let chosen = within_limits(chosen, &mut left_out);
    let loaded = parallel::map(project.threads(), &chosen, |file| project.load(&file.path, &file.stamp));
    let mut plan = Plan {
        sources: Vec::new(),
        ceilings: Vec::new(),
        picks: Vec::new(),
        strategy: request.strategy,
        budget: request.allowance(),
        left_out: Vec::new(),
        notes: Vec::new(),
        seeds: request.seeds.clone(),
        wanted: Vec::new(),
    };
    for (file, loaded) in chosen.into_iter().zip(loaded) {
        match loaded {
            Ok(loaded) => plan.add(file, loaded),
            Err(reason) => left_out.push(LeftOut { path: file.path, reason }),
        }
    }
    let is_focus =
        |path: &str| request.focus.iter().any(|given| project.relative(given).as_deref() == Some(path));
    for left in left_out.iter().filter(|left| is_focus(&left.path)) {
        let note = Note::FocusLeftOut { path: left.path.clone(), reason: left.reason.clone() };
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    plan.left_out = left_out;
    plan.notes = notes;
    plan.wanted = plan.summaries(project);
    plan
}

impl Plan {
    fn add(&mut self, file: Chosen, loaded: Loaded) {
        let ceiling = if file.pick == Pick::Focus { View::Full } else { capped(file.ceiling, self.strategy) };
        self.sources.push(Source::new(file.path, file.stamp.bytes(), loaded));
        self.ceilings.push(ceiling);
        self.picks.push(file.pick);
    }
}

/// The lesser of what an entry allows and what a strategy shows.
fn capped(view: View, strategy: Aggregation) -> View {
    match (strategy, view) {
        (Aggregation::Skeleton, View::Full) => View::Skeleton,
        (Aggregation::Summarize, View::Full) => View::Summary,
        (_, view) => view,
    }
}

/// The files that may be read: none is huge, and together they stay below a limit. Focus files come first.
fn within_limits(chosen: Vec<Chosen>, left_out: &mut Vec<LeftOut>) -> Vec<Chosen> {
    let mut total: u64 =
        chosen.iter().filter(|file| file.pick == Pick::Focus).map(|file| file.stamp.bytes()).sum();
    chosen
        .into_iter()
        .filter(|file| {
            let bytes = file.stamp.bytes();
            let reason = if bytes > limits::FILE_BYTES {
                Reason::Huge { bytes }
            } else if file.pick == Pick::Focus || total + bytes <= limits::TOTAL_BYTES {
                total += if file.pick == Pick::Focus { 0 } else { bytes };
                return true;
            } else {
                Reason::TotalBytes
            };
            left_out.push(LeftOut { path: file.path.clone(), reason });
            false
        })
        .collect()
}
