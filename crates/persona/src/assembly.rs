//! Assembly: layers, then order, then the caller's filters and budgets.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind::vocabulary;
use crate::layers::{self, OverrideError, PlacedPart};
use crate::view::{self, View};
use crate::{
    Bundle, Example, Guardrail, LayerOrigin, Name, PartType, Persona, Skill, TokenCounter, Trait, inherit,
};

/// A caller's request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    pub view: View,
    pub overrides: BTreeMap<PartType, Name>,
    /// Keep only parts of these types; empty keeps all.
    pub types: Vec<PartType>,
    /// Keep only the top parts by priority.
    pub limit: Option<usize>,
    /// Keep what fits into this many tokens of the rendered view.
    pub max_tokens: Option<usize>,
}

impl Request {
    pub fn plain(view: View) -> Self {
        Self { view, ..Self::default() }
    }

    /// True if nothing is changed or left out.
    pub fn is_plain(&self) -> bool {
        let Self { view: _, overrides, types, limit, max_tokens } = self;
        overrides.is_empty() && types.is_empty() && limit.is_none() && max_tokens.is_none()
    }
}

/// Why a piece is not in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LeftOutReason {
    Types,
    Limit,
    MaxTokens,
}

vocabulary! {
    /// The kinds of things that a filter or a budget may leave out.
    LeftOutKind, "kind" {
        Part = "part",
        Trait = "trait",
        Skill = "skill",
        Example = "example",
    }
}

/// Something that is not in the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LeftOut {
    pub kind: LeftOutKind,
    /// The name of a piece, or the number of an example, from 1.
    pub name: String,
    pub reason: LeftOutReason,
}

/// A persona's pieces as they are to be shown, in order.
#[derive(Debug, Clone)]
pub struct Assembled<'a> {
    pub bundle: &'a Bundle,
    /// The persona's fields, its bases' among them.
    pub persona: Cow<'a, Persona>,
    pub parts: Vec<PlacedPart<'a>>,
    /// The number of the persona's examples that are shown: the first ones.
    example_count: usize,
    pub traits: Vec<&'a Trait>,
    pub skills: Vec<&'a Skill>,
    /// Most severe first.
    pub guardrails: Vec<&'a Guardrail>,
    pub left_out: Vec<LeftOut>,
    /// Tokens of the rendered view, where the caller gave a budget.
    pub tokens: Option<usize>,
    pub over_budget: bool,
}

/// Assembles a persona for one request.
pub fn assemble<'a>(
    bundle: &'a Bundle,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Assembled<'a>, OverrideError> {
    let persona = inherit::fields(bundle);
    let mut assembled = Assembled {
        bundle,
        example_count: persona.examples.len(),
        persona,
        parts: layers::apply(bundle, &request.overrides)?,
        traits: inherit::traits(bundle),
        skills: inherit::skills(bundle),
        guardrails: inherit::guardrails(bundle),
        left_out: Vec::new(),
        tokens: None,
        over_budget: false,
    };
    // A stable sort: equally severe ones stay in the author's order.
    assembled.guardrails.sort_by_key(|guardrail| std::cmp::Reverse(guardrail.severity));
    if !request.types.is_empty() {
        let kept = |_: usize, part: &PlacedPart<'_>| request.types.contains(&part.part.part_type);
        assembled.keep_parts(kept, LeftOutReason::Types);
    }
    if let Some(limit) = request.limit {
        assembled.limit(limit);
    }
    if let Some(max_tokens) = request.max_tokens {
        assembled.fit(max_tokens, request.view, counter);
    }
    Ok(assembled)
}

/// Something that a budget may drop, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Droppable {
    Example(usize),
    Part(usize),
    Trait(usize),
    Skill(usize),
}

impl<'a> Assembled<'a> {
    /// The examples to show. A summary has none.
    pub fn examples(&self, view: View) -> &[Example] {
        match view {
            View::Summary => &[],
            View::Detail => &self.persona.examples[..self.example_count],
        }
    }

    /// Leaves out all parts but those of which `keep` is true, given a part and its place.
    fn keep_parts(&mut self, keep: impl Fn(usize, &PlacedPart<'_>) -> bool, reason: LeftOutReason) {
        let parts = std::mem::take(&mut self.parts).into_iter().enumerate();
        let (kept, dropped): (Vec<_>, Vec<_>) = parts.partition(|(at, part)| keep(*at, part));
        self.parts = kept.into_iter().map(|(_, part)| part).collect();
        self.left_out.extend(dropped.into_iter().map(|(_, part)| LeftOut {
            kind: LeftOutKind::Part,
            name: part.part.name.to_string(),
            reason,
        }));
    }

    /// Keeps the top `limit` parts by priority. Overrides were asked for by name: they come first
    /// and are kept even where there are more of them than `limit`.
    fn limit(&mut self, limit: usize) {
        let overrides = self.parts.iter().filter(|part| part.origin == LayerOrigin::Override).count();
        let mut ranked: Vec<usize> = (0..self.parts.len()).collect();
        ranked.sort_by_key(|at| {
            let part = &self.parts[*at];
            (part.origin != LayerOrigin::Override, std::cmp::Reverse(part.priority))
        });
        ranked.truncate(limit.max(overrides));
        self.over_budget |= ranked.len() > limit;
        self.keep_parts(|at, _| ranked.contains(&at), LeftOutReason::Limit);
    }

    /// Drops the lowest priority until the rendered view fits. Examples go before everything else, the
    /// last one first. Traits and skills have no priority of their own: they count as 0 and come after
    /// the parts, so they go before any part of priority 0 or more. Overrides and guardrails stay.
    fn fit(&mut self, max_tokens: usize, view: View, counter: &dyn TokenCounter) {
        let order = self.drop_order(view);
        let tokens_without = |dropped: usize| {
            let (trimmed, _) = self.without(&order[..dropped]);
            counter.count(&view::rendered(&trimmed, view))
        };
        let mut tokens = tokens_without(0);
        let mut dropped = 0;
        if tokens > max_tokens {
            // Dropping more never costs more, so the smallest number that fits is found by halves.
            let (mut low, mut high) = (1, order.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                if tokens_without(middle) <= max_tokens { high = middle } else { low = middle + 1 }
            }
            dropped = high;
            tokens = tokens_without(dropped);
        }
        let (trimmed, left_out) = self.without(&order[..dropped]);
        *self = Assembled {
            tokens: Some(tokens),
            over_budget: self.over_budget || tokens > max_tokens,
            left_out: [std::mem::take(&mut self.left_out), left_out].concat(),
            ..trimmed
        };
    }

    /// Everything that a budget may drop, in the order of dropping.
    fn drop_order(&self, view: View) -> Vec<Droppable> {
        let parts = self.parts.iter().enumerate();
        let mut ranked: Vec<(i32, Droppable)> = parts
            .filter(|(_, part)| part.origin != LayerOrigin::Override)
            .map(|(at, part)| (part.priority, Droppable::Part(at)))
            .chain((0..self.traits.len()).map(|at| (0, Droppable::Trait(at))))
            .chain((0..self.skills.len()).map(|at| (0, Droppable::Skill(at))))
            .collect();
        ranked.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
        let examples = (0..self.examples(view).len()).rev().map(Droppable::Example);
        examples.chain(ranked.into_iter().rev().map(|(_, droppable)| droppable)).collect()
    }

    fn without(&self, dropped: &[Droppable]) -> (Assembled<'a>, Vec<LeftOut>) {
        let mut left_out = Vec::with_capacity(dropped.len());
        let mut kept = |droppable, kind, name: &dyn fmt::Display| {
            let gone = dropped.contains(&droppable);
            if gone {
                let name = name.to_string();
                left_out.push(LeftOut { kind, name, reason: LeftOutReason::MaxTokens });
            }
            !gone
        };
        let mut trimmed = Assembled {
            parts: Vec::new(),
            traits: Vec::new(),
            skills: Vec::new(),
            guardrails: self.guardrails.clone(),
            left_out: Vec::new(),
            persona: self.persona.clone(),
            ..*self
        };
        let is_kept = |at: &usize| kept(Droppable::Example(*at), LeftOutKind::Example, &(at + 1));
        trimmed.example_count = (0..self.example_count).filter(is_kept).count();
        for (at, part) in self.parts.iter().enumerate() {
            if kept(Droppable::Part(at), LeftOutKind::Part, &part.part.name) {
                trimmed.parts.push(part.clone());
            }
        }
        for (at, item) in self.traits.iter().enumerate() {
            if kept(Droppable::Trait(at), LeftOutKind::Trait, &item.name) {
                trimmed.traits.push(item);
            }
        }
        for (at, item) in self.skills.iter().enumerate() {
            if kept(Droppable::Skill(at), LeftOutKind::Skill, &item.name) {
                trimmed.skills.push(item);
            }
        }
        (trimmed, left_out)
    }
}
