//! Assembly: layers, then order, then the caller's filters and budgets.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::compile::block_id;
use crate::entity::Texts;
use crate::kind::vocabulary;
use crate::layers::{self, OverrideError, PlacedPart};
use crate::view::View;
use crate::{
    Bundle, Example, Guardrail, LayerOrigin, Name, PartType, Persona, Skill, TokenCounter, Trait, inherit,
};

mod fit;
use fit::Fit;

mod preview;
pub use preview::{BudgetPoint, Preview, preview};

/// A caller's request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssemblyRequest {
    pub view: View,
    pub form: Form,
    pub overrides: BTreeMap<PartType, Name>,
    /// Keep only parts of these types; empty keeps all.
    pub types: Vec<PartType>,
    /// Keep only the top parts by priority.
    pub limit: Option<usize>,
    /// Keep what fits into this many tokens of the answer.
    pub max_tokens: Option<usize>,
}

/// The form of an answer. A budget counts the whole answer in its form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// JSON with each piece.
    #[default]
    Pieces,
    /// JSON with the compiled text.
    Compiled,
    /// The compiled text alone.
    Text,
}

impl AssemblyRequest {
    pub fn plain(view: View) -> Self {
        Self { view, ..Self::default() }
    }

    /// True if nothing is changed or left out.
    pub fn is_plain(&self) -> bool {
        self.overrides.is_empty() && !self.has_filter()
    }

    /// True if something may be left out.
    pub(crate) fn has_filter(&self) -> bool {
        let Self { view: _, form: _, overrides: _, types, limit, max_tokens } = self;
        !types.is_empty() || limit.is_some() || max_tokens.is_some()
    }
}

/// Why a piece is not in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOutReason {
    Types,
    Limit,
    MaxTokens,
}

vocabulary! {
    /// The kinds of things that a filter or a budget may leave out or shorten.
    LeftOutKind, "kind" {
        Part = "part",
        Trait = "trait",
        Skill = "skill",
        Example = "example",
    }
}

/// Something that is not in the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub kind: LeftOutKind,
    /// The name of a piece, or the number of an example, from 1.
    pub name: String,
    pub reason: LeftOutReason,
    /// The tokens of its text in the requested view.
    pub tokens: usize,
}

impl LeftOut {
    /// The id of its block, where it has one: `part:calm-tone`.
    pub fn id(&self) -> String {
        block_id(self.kind.as_str(), &self.name)
    }
}

/// How much of a piece is in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Out,
    Short,
    Whole,
}

/// A persona's pieces as they are to be shown, in order.
#[derive(Debug, Clone)]
pub struct Assembled<'a> {
    pub bundle: &'a Bundle,
    /// The persona's fields, its bases' among them.
    pub persona: Cow<'a, Persona>,
    pub parts: Vec<PlacedPart<'a>>,
    /// The positions of the persona's examples that are shown.
    examples: Vec<usize>,
    pub traits: Vec<&'a Trait>,
    pub skills: Vec<&'a Skill>,
    /// Most severe first.
    pub guardrails: Vec<&'a Guardrail>,
    pub left_out: Vec<LeftOut>,
    /// The pieces of which a budget left the summary alone.
    pub shortened: BTreeSet<(LeftOutKind, Name)>,
    /// True if the names of `left_out` do not fit into the answer.
    pub(crate) is_listing_cut: bool,
    /// Tokens of the answer, where the caller gave a budget.
    pub tokens: Option<usize>,
    pub over_budget: bool,
}

/// Assembles a persona for one request.
pub fn assemble<'a>(
    bundle: &'a Bundle,
    request: &AssemblyRequest,
    counter: &dyn TokenCounter,
) -> Result<Assembled<'a>, OverrideError> {
    let assembled = filtered(bundle, request, counter)?;
    let Some(max_tokens) = request.max_tokens else { return Ok(assembled) };
    let fit = Fit::new(&assembled, request, counter);
    Ok(fit.settled(&fit.solve(max_tokens), max_tokens))
}

/// Everything of a persona but what `types` and `limit` leave out.
fn filtered<'a>(
    bundle: &'a Bundle,
    request: &AssemblyRequest,
    counter: &dyn TokenCounter,
) -> Result<Assembled<'a>, OverrideError> {
    let persona = inherit::fields(bundle);
    let mut assembled = Assembled {
        bundle,
        examples: (0..persona.examples.len()).collect(),
        persona,
        parts: layers::apply(bundle, &request.overrides)?,
        traits: inherit::traits(bundle),
        skills: inherit::skills(bundle),
        guardrails: inherit::guardrails(bundle),
        left_out: Vec::new(),
        shortened: BTreeSet::new(),
        is_listing_cut: false,
        tokens: None,
        over_budget: false,
    };
    // A stable sort: equally severe ones stay in the author's order.
    assembled.guardrails.sort_by_key(|guardrail| Reverse(guardrail.severity));
    if !request.types.is_empty() {
        let kept = |_: usize, part: &PlacedPart<'_>| request.types.contains(&part.part.part_type);
        // The caller knows the types, so the tokens of the others are not needed.
        assembled.keep_parts(kept, LeftOutReason::Types, |_| 0);
    }
    if let Some(limit) = request.limit {
        assembled.limit(limit, |part| counter.count(part.part.text(request.view)));
    }
    Ok(assembled)
}

impl<'a> Assembled<'a> {
    /// The examples to show. A summary has none.
    pub fn examples(&self, view: View) -> impl Iterator<Item = &Example> {
        let shown: &[usize] = match view {
            View::Summary => &[],
            View::Detail => &self.examples,
        };
        shown.iter().filter_map(|at| self.persona.examples.get(*at))
    }

    /// The same with their numbers, from 1.
    pub(crate) fn numbered_examples(&self, view: View) -> impl Iterator<Item = (usize, &Example)> {
        self.examples.iter().map(|at| at + 1).zip(self.examples(view))
    }

    /// The view of a piece: a budget may have left its summary alone.
    pub(crate) fn view_of(&self, kind: LeftOutKind, name: &Name, view: View) -> View {
        let is_short = !self.shortened.is_empty() && self.shortened.contains(&(kind, name.clone()));
        if is_short { View::Summary } else { view }
    }

    /// Leaves out all parts but those of which `keep` is true, given a part and its place.
    fn keep_parts(
        &mut self,
        keep: impl Fn(usize, &PlacedPart<'a>) -> bool,
        reason: LeftOutReason,
        tokens: impl Fn(&PlacedPart<'a>) -> usize,
    ) {
        let parts = std::mem::take(&mut self.parts).into_iter().enumerate();
        let (kept, dropped): (Vec<_>, Vec<_>) = parts.partition(|(at, part)| keep(*at, part));
        self.parts = kept.into_iter().map(|(_, part)| part).collect();
        self.left_out.extend(dropped.into_iter().map(|(_, part)| LeftOut {
            kind: LeftOutKind::Part,
            name: part.part.name.to_string(),
            reason,
            tokens: tokens(&part),
        }));
    }

    /// Keeps the top `limit` parts by priority. Overrides were asked for by name: they come first
    /// and are kept even where there are more of them than `limit`.
    fn limit(&mut self, limit: usize, tokens: impl Fn(&PlacedPart<'a>) -> usize) {
        let overrides = self.parts.iter().filter(|part| part.origin == LayerOrigin::Override).count();
        let mut ranked: Vec<usize> = (0..self.parts.len()).collect();
        ranked.sort_by_key(|at| {
            let part = &self.parts[*at];
            (part.origin != LayerOrigin::Override, Reverse(part.priority), part.is_inherited())
        });
        ranked.truncate(limit.max(overrides));
        self.over_budget |= ranked.len() > limit;
        self.keep_parts(|at, _| ranked.contains(&at), LeftOutReason::Limit, tokens);
    }
}
