//! Views: a persona as an answer, short or in full.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::{Texts, said};
use crate::{
    Assembled, AssemblyRequest, Example, Form, LayerOrigin, LeftOut, LeftOutKind, LeftOutReason, Name,
    PartType, PreferredModel, Scope, Severity, TraitType, compile_view, fingerprint,
};

/// The amount of detail in an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum View {
    #[default]
    Summary,
    Detail,
}

/// A loaded persona. Fields that belong to the other view, or that are not set, are absent. The
/// summary view has the whole text of a piece that has no summary of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PersonaView {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferred_models: Vec<PreferredModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<PartView>>,
    /// Exchanges that show how the persona answers, in full only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traits: Option<Vec<TraitView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<SkillView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<Vec<GuardrailView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arc: Option<ArcView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_at: Option<DateTime<Utc>>,
    /// True where a piece changed after the text was compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled_stale: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PartView {
    pub name: Name,
    pub part_type: PartType,
    pub part_order: i32,
    pub priority: i32,
    pub from: LayerOrigin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TraitView {
    pub name: Name,
    pub trait_type: TraitType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SkillView {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct GuardrailView {
    pub name: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// A persona's stage in its arc, and when to move on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ArcView {
    pub name: Name,
    pub stage: Name,
    pub position: i64,
    pub of: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// The effect of filters and budgets on the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Budget {
    /// Tokens of this answer, this block included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// True if the answer exceeds `max_tokens` or `limit`.
    pub over_budget: bool,
    /// Left out by `limit` or `max_tokens`: kind, name, and the tokens of the text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<LeftOutKind, BTreeMap<String, usize>>,
    /// In place of `left_out`, if the names do not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out_count: Option<usize>,
    /// Pieces of which only the summary fits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shortened: BTreeMap<LeftOutKind, Vec<Name>>,
}

impl PersonaView {
    /// An answer that has nothing but its name yet.
    pub fn named(name: Name) -> Self {
        Self {
            name,
            scope: None,
            revision: None,
            display_name: None,
            description: None,
            summary: None,
            detail: None,
            system_prompt: None,
            tags: Vec::new(),
            preferred_models: Vec::new(),
            parts: None,
            examples: Vec::new(),
            traits: None,
            skills: None,
            guardrails: None,
            arc: None,
            compiled_summary: None,
            compiled_detail: None,
            compiled_at: None,
            compiled_stale: None,
            budget: None,
        }
    }
}

/// The answer to a request: the pieces or the compiled text, what was left out of it and, where the
/// request is plain, the text that was compiled earlier. `tokenizer` names the counter of the tokens.
pub fn view(assembled: &Assembled<'_>, request: &AssemblyRequest, tokenizer: &str) -> PersonaView {
    let mut answer = match request.form {
        Form::Pieces => bare(assembled, request.view),
        Form::Compiled | Form::Text => compiled(assembled, request.view),
    };
    answer.budget = budget(assembled, request, tokenizer);
    let stored = assembled.bundle.compiled.as_ref().filter(|compiled| compiled.is_of_this_format());
    if let (Some(stored), Form::Pieces, true) = (stored, request.form, request.is_plain()) {
        match request.view {
            View::Summary => answer.compiled_summary = Some(stored.summary.clone()),
            View::Detail => answer.compiled_detail = Some(stored.detail.clone()),
        }
        answer.compiled_at = Some(stored.at);
        answer.compiled_stale = Some(stored.fingerprint != fingerprint(assembled));
    }
    answer
}

/// The text over which the budget of an answer in JSON is counted: without blanks.
pub(crate) fn rendered(assembled: &Assembled<'_>, request: &AssemblyRequest, tokenizer: &str) -> String {
    serde_json::to_string(&view(assembled, request, tokenizer)).unwrap_or_default()
}

/// The effect of filters and budgets. `None` if there were none.
pub fn budget(assembled: &Assembled<'_>, request: &AssemblyRequest, tokenizer: &str) -> Option<Budget> {
    if !request.has_filter() {
        return None;
    }
    let mut budget = Budget {
        tokens: assembled.tokens,
        tokenizer: assembled.tokens.map(|_| tokenizer.to_owned()),
        over_budget: assembled.over_budget,
        left_out: BTreeMap::new(),
        left_out_count: None,
        shortened: BTreeMap::new(),
    };
    // The caller chose the types, and knows which ones are missing.
    let left_out = assembled.left_out.iter().filter(|item| item.reason != LeftOutReason::Types);
    if assembled.is_listing_cut {
        budget.left_out_count = Some(left_out.count());
    } else {
        for LeftOut { kind, name, tokens, .. } in left_out {
            *budget.left_out.entry(*kind).or_default().entry(name.clone()).or_default() += tokens;
        }
    }
    for (kind, name) in &assembled.shortened {
        budget.shortened.entry(*kind).or_default().push(name.clone());
    }
    Some(budget)
}

/// The compiled text alone.
fn compiled(assembled: &Assembled<'_>, view: View) -> PersonaView {
    let text = Some(compile_view(assembled, view));
    let (compiled_summary, compiled_detail) = match view {
        View::Summary => (text, None),
        View::Detail => (None, text),
    };
    let meta = &assembled.bundle.meta;
    PersonaView {
        scope: Some(meta.scope),
        revision: Some(meta.revision),
        compiled_summary,
        compiled_detail,
        ..PersonaView::named(assembled.persona.name.clone())
    }
}

fn bare(assembled: &Assembled<'_>, view: View) -> PersonaView {
    let persona = &assembled.persona;
    let is_whole = is_whole(&**persona, view);
    let system_prompt = said(&persona.system_prompt).filter(|_| is_whole);
    // Beside a system prompt, the detail is about the persona: it is in the full view only.
    let detail =
        said(&persona.detail).filter(|_| view == View::Detail || is_whole && system_prompt.is_none());
    PersonaView {
        scope: Some(assembled.bundle.meta.scope),
        revision: Some(assembled.bundle.meta.revision),
        display_name: persona.display_name.clone(),
        description: persona.description.clone(),
        summary: short(is_whole, &persona.summary, system_prompt.or(detail)),
        detail: detail.map(str::to_owned),
        system_prompt: system_prompt.map(str::to_owned),
        tags: persona.tags.clone(),
        preferred_models: persona.preferred_models.clone(),
        parts: Some(part_views(assembled, view)),
        examples: assembled.examples(view).cloned().collect(),
        traits: Some(trait_views(assembled, view)),
        skills: Some(skill_views(assembled, view)),
        guardrails: Some(guardrail_views(assembled, view)),
        arc: assembled.bundle.stage.as_ref().map(|stage| ArcView {
            name: stage.arc.clone(),
            stage: stage.stage.clone(),
            position: stage.position,
            of: stage.of,
            description: stage.description.clone(),
            condition: stage.condition.clone(),
        }),
        ..PersonaView::named(persona.name.clone())
    }
}

/// True if the whole text is shown: in full, and always where there is no summary of its own.
fn is_whole(texts: &dyn Texts, view: View) -> bool {
    view == View::Detail || texts.own_summary().is_none()
}

/// A short text. It gives way to the fuller one; where there is none it stays.
fn short(is_whole: bool, short: &Option<String>, fuller: Option<&str>) -> Option<String> {
    said(short).filter(|_| !is_whole || fuller.is_none()).map(str::to_owned)
}

fn part_views(assembled: &Assembled<'_>, view: View) -> Vec<PartView> {
    let parts = assembled.parts.iter().map(|placed| {
        let part = placed.part;
        let is_whole = is_whole(part, assembled.view_of(LeftOutKind::Part, &part.name, view));
        PartView {
            name: part.name.clone(),
            part_type: part.part_type,
            part_order: placed.order,
            priority: placed.priority,
            from: placed.origin,
            summary: short(is_whole, &part.summary, Some(part.whole())),
            content: is_whole.then(|| part.whole().to_owned()),
        }
    });
    parts.collect()
}

fn trait_views(assembled: &Assembled<'_>, view: View) -> Vec<TraitView> {
    let traits = assembled.traits.iter().map(|item| {
        let is_whole = is_whole(*item, assembled.view_of(LeftOutKind::Trait, &item.name, view));
        let instruction = said(&item.instruction).filter(|_| is_whole);
        TraitView {
            name: item.name.clone(),
            trait_type: item.trait_type,
            description: short(is_whole, &item.description, instruction),
            instruction: instruction.map(str::to_owned),
        }
    });
    traits.collect()
}

fn skill_views(assembled: &Assembled<'_>, view: View) -> Vec<SkillView> {
    let skills = assembled.skills.iter().map(|item| {
        let is_whole = is_whole(*item, assembled.view_of(LeftOutKind::Skill, &item.name, view));
        let content = said(&item.content).filter(|_| is_whole);
        SkillView {
            name: item.name.clone(),
            description: short(is_whole, &item.description, content),
            content: content.map(str::to_owned),
        }
    });
    skills.collect()
}

fn guardrail_views(assembled: &Assembled<'_>, view: View) -> Vec<GuardrailView> {
    let guardrails = assembled.guardrails.iter().map(|item| {
        let is_whole = is_whole(*item, view);
        let content = said(&item.content).filter(|_| is_whole);
        GuardrailView {
            name: item.name.clone(),
            severity: (view == View::Detail).then_some(item.severity),
            description: short(is_whole, &item.description, content),
            content: content.map(str::to_owned),
        }
    });
    guardrails.collect()
}
