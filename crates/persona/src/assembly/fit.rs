//! `max_tokens`: fills an answer by priority until it is full.

use std::cmp::Reverse;

use super::{Assembled, AssemblyRequest, Form, LeftOut, LeftOutKind, LeftOutReason, Level};
use crate::compile::{Block, CountedSheet, Sheet, SkillText};
use crate::entity::Texts;
use crate::view::{self, View};
use crate::{LayerOrigin, Name, TokenCounter};

/// Tokens that a piece may save by not being listed as left out. A piece whose text exceeds the rest of
/// the budget by more cannot fit, and is not tried.
const LISTING_TOKENS: usize = 16;
/// An answer states its own length. Attempts to make the two agree.
const SETTLING_ATTEMPTS: usize = 4;

/// Something that a budget may drop or shorten.
pub(super) struct Candidate<'a> {
    pub(super) kind: LeftOutKind,
    /// Its place among those of its kind.
    pub(super) at: usize,
    /// The name of a piece; examples have none.
    name: Option<&'a Name>,
    /// Tokens of its text in the requested view.
    tokens: usize,
    /// Tokens of its own summary, if that is another text.
    short_tokens: Option<usize>,
    /// The item of a compiled text that it becomes.
    item: Option<usize>,
    /// The least that it adds to an answer, whole and as its summary.
    least: usize,
    least_short: Option<usize>,
}

impl Candidate<'_> {
    /// Finds the item of a compiled text, and the least that it costs there: white space that the text
    /// leaves out does not count.
    fn find_item(&mut self, sheet: &CountedSheet<'_>) {
        let item = sheet.sheet.item_of(self.kind, self.at);
        let alone = |level| item.map_or(0, |item| sheet.tokens_alone(item, level));
        self.item = item;
        self.least = alone(Level::Whole);
        self.least_short = self.short_tokens.map(|_| alone(Level::Short));
    }

    pub(super) fn left_out(&self) -> LeftOut {
        let Self { kind, at, name, tokens, .. } = self;
        let name = name.map_or_else(|| (at + 1).to_string(), ToString::to_string);
        LeftOut { kind: *kind, name, reason: LeftOutReason::MaxTokens, tokens: *tokens }
    }
}

/// How the answer reports what was left out: by name, or by count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    Names,
    Count,
}

/// The level of each candidate within a budget.
pub(super) struct Solution {
    pub(super) levels: Vec<Level>,
    listing: Listing,
}

/// Fits an answer into budgets.
pub(super) struct Fit<'c, 'a> {
    all: &'c Assembled<'a>,
    pub(super) candidates: Vec<Candidate<'c>>,
    request: &'c AssemblyRequest,
    counter: &'c dyn TokenCounter,
    /// The compiled text, which is counted block by block. `None` for an answer in JSON.
    sheet: Option<CountedSheet<'c>>,
}

impl<'c, 'a> Fit<'c, 'a> {
    pub(super) fn new(
        all: &'c Assembled<'a>,
        request: &'c AssemblyRequest,
        counter: &'c dyn TokenCounter,
    ) -> Self {
        let sheet = (request.form == Form::Text)
            .then(|| CountedSheet::new(Sheet::new(all, request.view, SkillText::Full), counter));
        let mut candidates = candidates(all, request.view, counter);
        if let Some(sheet) = &sheet {
            candidates.iter_mut().for_each(|candidate| candidate.find_item(sheet));
        }
        Self { all, candidates, request, counter, sheet }
    }

    /// Keeps what fits. The highest priority comes first; among equals the persona's own pieces come
    /// before inherited ones. Traits and skills count as priority 0 and come after the parts; examples
    /// come last. A piece that does not fit is tried as its summary, else skipped, and the next one is
    /// tried. Overrides and guardrails stay.
    pub(super) fn solve(&self, max_tokens: usize) -> Solution {
        let everything = self.everything();
        if self.tokens(&everything, Listing::Names, max_tokens).is_some() {
            return Solution { levels: everything, listing: Listing::Names };
        }
        let nothing = vec![Level::Out; self.candidates.len()];
        for listing in [Listing::Names, Listing::Count] {
            if let Some(tokens) = self.tokens(&nothing, listing, max_tokens) {
                return Solution { levels: self.filled(nothing, tokens, listing, max_tokens), listing };
            }
        }
        Solution { levels: nothing, listing: Listing::Count }
    }

    pub(super) fn everything(&self) -> Vec<Level> {
        vec![Level::Whole; self.candidates.len()]
    }

    /// Fills an answer that has nothing optional yet and `tokens` tokens.
    fn filled(
        &self,
        mut levels: Vec<Level>,
        mut tokens: usize,
        listing: Listing,
        max_tokens: usize,
    ) -> Vec<Level> {
        let mut at = 0;
        while at < levels.len() {
            // The longest run from here that fits whole, found by halves.
            let (mut low, mut high) = (0, self.may_fit(at, max_tokens.saturating_sub(tokens)));
            while low < high {
                let middle = low + (high - low).div_ceil(2);
                let mut tried = levels.clone();
                tried[at..at + middle].fill(Level::Whole);
                match self.tokens(&tried, listing, max_tokens) {
                    Some(counted) => {
                        (levels, tokens) = (tried, counted);
                        low = middle;
                    }
                    None => high = middle - 1,
                }
            }
            at += low;
            let Some(next) = self.candidates.get(at) else { break };
            if next.least_short.is_some_and(|short| tokens + short <= max_tokens + LISTING_TOKENS) {
                let mut tried = levels.clone();
                tried[at] = Level::Short;
                if let Some(counted) = self.tokens(&tried, listing, max_tokens) {
                    (levels, tokens) = (tried, counted);
                }
            }
            at += 1;
        }
        levels
    }

    /// The most candidates from `from` that could fit whole into the rest of a budget.
    fn may_fit(&self, from: usize, mut rest: usize) -> usize {
        let fits = |candidate: &&Candidate<'_>| {
            let left = (rest + LISTING_TOKENS).checked_sub(candidate.least);
            rest = left.unwrap_or_default();
            left.is_some()
        };
        self.candidates[from..].iter().take_while(fits).count()
    }

    /// The tokens of an answer, if it fits.
    fn tokens(&self, levels: &[Level], listing: Listing, max_tokens: usize) -> Option<usize> {
        let tokens = self.text_tokens(levels).unwrap_or_else(|| {
            let mut tried = self.trimmed(levels, listing);
            tried.tokens = Some(max_tokens);
            self.count(&tried)
        });
        Some(tokens).filter(|tokens| *tokens <= max_tokens)
    }

    /// The tokens of a compiled text. `None` for an answer in JSON, which states its own length.
    pub(super) fn text_tokens(&self, levels: &[Level]) -> Option<usize> {
        self.sheet.as_ref().map(|sheet| sheet.tokens(&self.item_levels(sheet, levels)))
    }

    fn item_levels(&self, sheet: &CountedSheet<'_>, levels: &[Level]) -> Vec<Level> {
        let mut items = sheet.sheet.levels();
        for (candidate, level) in self.candidates.iter().zip(levels) {
            if let Some(item) = candidate.item {
                items[item] = *level;
            }
        }
        items
    }

    fn count(&self, assembled: &Assembled<'_>) -> usize {
        self.counter.count(&view::rendered(assembled, self.request, self.counter.tokenizer()))
    }

    /// The answer with its own length in it, or with the mark that it is too long.
    pub(super) fn settled(&self, solution: &Solution, max_tokens: usize) -> Assembled<'a> {
        let mut answer = self.trimmed(&solution.levels, solution.listing);
        if let Some(tokens) = self.text_tokens(&solution.levels) {
            answer.tokens = Some(tokens);
            answer.over_budget |= tokens > max_tokens;
            return answer;
        }
        let mut counted = max_tokens;
        for _ in 0..SETTLING_ATTEMPTS {
            answer.tokens = Some(counted);
            answer.over_budget |= counted > max_tokens;
            let again = self.count(&answer);
            if again == counted {
                break;
            }
            counted = again;
        }
        answer.over_budget |= counted > max_tokens;
        answer
    }

    /// The blocks of a compiled text with each candidate at its level.
    pub(super) fn blocks(&self, levels: &[Level]) -> Vec<Block> {
        let sheet = self.sheet.as_ref();
        sheet.map(|sheet| sheet.blocks(&self.item_levels(sheet, levels))).unwrap_or_default()
    }

    /// The answer with each candidate at its level.
    fn trimmed(&self, levels: &[Level], listing: Listing) -> Assembled<'a> {
        let mut answer = self.all.clone();
        let mut kept = [vec![true; answer.parts.len()], vec![true; answer.traits.len()]]
            .into_iter()
            .chain([vec![true; answer.skills.len()], vec![true; answer.examples.len()]])
            .collect::<Vec<_>>();
        let mut left_out: Vec<(LeftOutKind, usize, LeftOut)> = Vec::new();
        for (candidate, level) in self.candidates.iter().zip(levels) {
            let Candidate { kind, at, name, .. } = candidate;
            match (level, name) {
                (Level::Whole, _) | (Level::Short, None) => {}
                (Level::Short, Some(name)) => drop(answer.shortened.insert((*kind, (*name).clone()))),
                (Level::Out, _) => {
                    kept[*kind as usize][*at] = false;
                    left_out.push((*kind, *at, candidate.left_out()));
                }
            }
        }
        left_out.sort_by_key(|(kind, at, _)| (*kind, *at));
        answer.left_out.extend(left_out.into_iter().map(|(_, _, left_out)| left_out));
        answer.is_listing_cut = listing == Listing::Count;
        fn keep<T>(items: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            items.retain(|_| kept.next().is_none_or(|kept| *kept));
        }
        keep(&mut answer.parts, &kept[LeftOutKind::Part as usize]);
        keep(&mut answer.traits, &kept[LeftOutKind::Trait as usize]);
        keep(&mut answer.skills, &kept[LeftOutKind::Skill as usize]);
        keep(&mut answer.examples, &kept[LeftOutKind::Example as usize]);
        answer
    }
}

/// Everything that a budget may drop or shorten, the most important first.
fn candidates<'c>(all: &'c Assembled<'_>, view: View, counter: &dyn TokenCounter) -> Vec<Candidate<'c>> {
    let candidate = |kind, at, name: &'c Name, texts: &'c dyn Texts| {
        let own = texts.own_summary().filter(|short| view == View::Detail && *short != texts.whole());
        let tokens = counter.count(texts.text(view));
        let short_tokens = own.map(|short| counter.count(short));
        Candidate {
            kind,
            at,
            name: Some(name),
            tokens,
            short_tokens,
            item: None,
            least: tokens,
            least_short: short_tokens,
        }
    };
    let own = &all.bundle.persona;
    let mut ranked: Vec<(i32, bool, Candidate<'c>)> = Vec::new();
    for (at, placed) in all.parts.iter().enumerate() {
        if placed.origin != LayerOrigin::Override {
            let part = candidate(LeftOutKind::Part, at, &placed.part.name, placed.part);
            ranked.push((placed.priority, placed.is_inherited(), part));
        }
    }
    for (at, item) in all.traits.iter().enumerate() {
        let is_inherited = !own.traits.contains(&item.name);
        ranked.push((0, is_inherited, candidate(LeftOutKind::Trait, at, &item.name, *item)));
    }
    for (at, item) in all.skills.iter().enumerate() {
        let is_inherited = !own.skills.contains(&item.name);
        ranked.push((0, is_inherited, candidate(LeftOutKind::Skill, at, &item.name, *item)));
    }
    // A stable sort: parts before traits before skills, each in assembly order.
    ranked.sort_by_key(|(priority, is_inherited, _)| (Reverse(*priority), *is_inherited));
    let examples = all.examples(view).enumerate().map(|(at, example)| {
        let tokens = counter.count(&example.user) + counter.count(&example.persona);
        Candidate {
            kind: LeftOutKind::Example,
            at,
            name: None,
            tokens,
            short_tokens: None,
            item: None,
            least: tokens,
            least_short: None,
        }
    });
    let pieces = ranked.into_iter().map(|(_, _, candidate)| candidate);
    pieces.chain(examples).collect()
}
