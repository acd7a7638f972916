//! `max_tokens`: fills an answer by priority until it is full.

use std::cmp::Reverse;

use super::{Assembled, AssemblyRequest, LeftOut, LeftOutKind, LeftOutReason};
use crate::entity::Texts;
use crate::view::{self, View};
use crate::{LayerOrigin, Name, TokenCounter};

/// Tokens that a piece may save by not being listed as left out. A piece whose text exceeds the rest of
/// the budget by more cannot fit, and is not tried.
const LISTING_TOKENS: usize = 16;
/// An answer states its own length. Attempts to make the two agree.
const SETTLING_ATTEMPTS: usize = 4;

/// Something that a budget may drop or shorten.
struct Candidate<'a> {
    kind: LeftOutKind,
    /// Its place among those of its kind.
    at: usize,
    /// The name of a piece; examples have none.
    name: Option<&'a Name>,
    /// Tokens of its text in the requested view.
    tokens: usize,
    /// Tokens of its own summary, if that is another text.
    short_tokens: Option<usize>,
}

/// How much of a candidate is in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Out,
    Short,
    Whole,
}

/// Whether the answer names what was left out, or only counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Names,
    Count,
}

struct Fit<'c, 'a> {
    all: &'c Assembled<'a>,
    candidates: Vec<Candidate<'c>>,
    request: &'c AssemblyRequest,
    max_tokens: usize,
    counter: &'c dyn TokenCounter,
}

/// Keeps what fits. The highest priority comes first; among equals the persona's own pieces come before
/// inherited ones. Traits and skills count as priority 0 and come after the parts; examples come last.
/// A piece that does not fit is tried as its summary, else skipped, and the next one is tried. Overrides
/// and guardrails stay.
pub(super) fn fit<'a>(
    all: &Assembled<'a>,
    request: &AssemblyRequest,
    max_tokens: usize,
    counter: &dyn TokenCounter,
) -> Assembled<'a> {
    let candidates = candidates(all, request.view, counter);
    let fit = Fit { all, candidates, request, max_tokens, counter };
    let none = vec![Level::Out; fit.candidates.len()];
    let everything = vec![Level::Whole; fit.candidates.len()];
    if fit.tokens(&everything, Listing::Names).is_some() {
        return fit.settled(&everything, Listing::Names);
    }
    for listing in [Listing::Names, Listing::Count] {
        if let Some(tokens) = fit.tokens(&none, listing) {
            return fit.settled(&fit.filled(none, tokens, listing), listing);
        }
    }
    fit.settled(&none, Listing::Count)
}

impl<'a> Fit<'_, 'a> {
    /// Fills an answer that has nothing optional yet and `tokens` tokens.
    fn filled(&self, mut levels: Vec<Level>, mut tokens: usize, listing: Listing) -> Vec<Level> {
        let mut at = 0;
        while at < levels.len() {
            // The longest run from here that fits whole, found by halves.
            let (mut low, mut high) = (0, self.may_fit(at, tokens));
            while low < high {
                let middle = low + (high - low).div_ceil(2);
                let mut tried = levels.clone();
                tried[at..at + middle].fill(Level::Whole);
                match self.tokens(&tried, listing) {
                    Some(counted) => {
                        (levels, tokens) = (tried, counted);
                        low = middle;
                    }
                    None => high = middle - 1,
                }
            }
            at += low;
            let Some(next) = self.candidates.get(at) else { break };
            if next.short_tokens.is_some_and(|short| tokens + short <= self.max_tokens + LISTING_TOKENS) {
                let mut tried = levels.clone();
                tried[at] = Level::Short;
                if let Some(counted) = self.tokens(&tried, listing) {
                    (levels, tokens) = (tried, counted);
                }
            }
            at += 1;
        }
        levels
    }

    /// The most candidates from `from` that could fit whole beside `tokens` tokens.
    fn may_fit(&self, from: usize, tokens: usize) -> usize {
        let mut rest = self.max_tokens.saturating_sub(tokens);
        let fits = |candidate: &&Candidate<'_>| {
            let left = (rest + LISTING_TOKENS).checked_sub(candidate.tokens);
            rest = left.unwrap_or_default();
            left.is_some()
        };
        self.candidates[from..].iter().take_while(fits).count()
    }

    /// The tokens of an answer, if it fits.
    fn tokens(&self, levels: &[Level], listing: Listing) -> Option<usize> {
        let mut tried = self.trimmed(levels, listing);
        tried.tokens = Some(self.max_tokens);
        Some(self.count(&tried)).filter(|tokens| *tokens <= self.max_tokens)
    }

    fn count(&self, assembled: &Assembled<'_>) -> usize {
        self.counter.count(&view::rendered(assembled, self.request, self.counter.tokenizer()))
    }

    /// The answer with its own length in it, or with the mark that it is too long.
    fn settled(&self, levels: &[Level], listing: Listing) -> Assembled<'a> {
        let mut answer = self.trimmed(levels, listing);
        let mut counted = self.max_tokens;
        for _ in 0..SETTLING_ATTEMPTS {
            answer.tokens = Some(counted);
            answer.over_budget |= counted > self.max_tokens;
            let again = self.count(&answer);
            if again == counted {
                break;
            }
            counted = again;
        }
        answer.over_budget |= counted > self.max_tokens;
        answer
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
            let Candidate { kind, at, name, tokens, .. } = candidate;
            match (level, name) {
                (Level::Whole, _) | (Level::Short, None) => {}
                (Level::Short, Some(name)) => drop(answer.shortened.insert((*kind, (*name).clone()))),
                (Level::Out, name) => {
                    kept[*kind as usize][*at] = false;
                    let name = name.map_or_else(|| (at + 1).to_string(), ToString::to_string);
                    let reason = LeftOutReason::MaxTokens;
                    left_out.push((*kind, *at, LeftOut { kind: *kind, name, reason, tokens: *tokens }));
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
        Candidate { kind, at, name: Some(name), tokens, short_tokens }
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
        Candidate { kind: LeftOutKind::Example, at, name: None, tokens, short_tokens: None }
    });
    let pieces = ranked.into_iter().map(|(_, _, candidate)| candidate);
    pieces.chain(examples).collect()
}
