//! Views: a persona as an answer, short or in full.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::said;
use crate::{
    Assembled, Example, LayerOrigin, LeftOut, Name, PartType, PreferredModel, Scope, Severity, TraitType,
    fingerprint,
};

/// How much of each piece is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum View {
    #[default]
    Summary,
    Detail,
}

/// A loaded persona. Fields that belong to the other view, or that are not set, are absent.
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

/// Where a persona stands in its arc, and when to move on.
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

/// What a filter or a budget did to the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Budget {
    /// Tokens of this answer without this block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    pub over_budget: bool,
    pub left_out: Vec<LeftOut>,
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

/// The answer to a request: the view, what was left out of it and, where the request is plain,
/// what was compiled earlier. `tokenizer` names what counted the tokens.
pub fn view(assembled: &Assembled<'_>, request: &crate::Request, tokenizer: &str) -> PersonaView {
    let mut answer = bare(assembled, request.view);
    if request.is_plain() {
        if let Some(compiled) = &assembled.bundle.compiled {
            match request.view {
                View::Summary => answer.compiled_summary = Some(compiled.summary.clone()),
                View::Detail => answer.compiled_detail = Some(compiled.detail.clone()),
            }
            answer.compiled_at = Some(compiled.at);
            answer.compiled_stale = Some(compiled.fingerprint != fingerprint(assembled));
        }
        return answer;
    }
    if request.types.is_empty() && request.limit.is_none() && request.max_tokens.is_none() {
        return answer;
    }
    answer.budget = Some(Budget {
        tokens: assembled.tokens,
        tokenizer: assembled.tokens.map(|_| tokenizer.to_owned()),
        over_budget: assembled.over_budget,
        left_out: assembled.left_out.clone(),
    });
    answer
}

/// The text over which a budget is counted: the answer as compact JSON, as a caller receives it.
pub(crate) fn rendered(assembled: &Assembled<'_>, view: View) -> String {
    serde_json::to_string(&bare(assembled, view)).unwrap_or_default()
}

fn bare(assembled: &Assembled<'_>, view: View) -> PersonaView {
    let persona = &assembled.persona;
    // In full, a short text gives way to the fuller one. Where there is none it stays: a guardrail
    // that has only a description must not lose it.
    let short = |text: &str, fuller: Option<&str>| {
        let gives_way = view == View::Detail && fuller.is_some();
        (!gives_way && !text.is_empty()).then(|| text.to_owned())
    };
    let detail = |text: Option<&str>| match view {
        View::Summary => None,
        View::Detail => text.map(str::to_owned),
    };
    let summary = match view {
        View::Summary => persona.summary_or_derived(),
        View::Detail => said(&persona.summary).unwrap_or_default(),
    };
    let parts = assembled.parts.iter().map(|placed| PartView {
        name: placed.part.name.clone(),
        part_type: placed.part.part_type,
        part_order: placed.order,
        priority: placed.priority,
        from: placed.origin,
        summary: short(placed.part.summary_or_derived(), Some(placed.part.content_or_summary())),
        content: detail(Some(placed.part.content_or_summary())),
    });
    let traits = assembled.traits.iter().map(|item| TraitView {
        name: item.name.clone(),
        trait_type: item.trait_type,
        description: short(item.description_or_derived(), said(&item.instruction)),
        instruction: detail(said(&item.instruction)),
    });
    let skills = assembled.skills.iter().map(|item| SkillView {
        name: item.name.clone(),
        description: short(item.description_or_derived(), said(&item.content)),
        content: detail(said(&item.content)),
    });
    let guardrails = assembled.guardrails.iter().map(|item| GuardrailView {
        name: item.name.clone(),
        severity: (view == View::Detail).then_some(item.severity),
        description: short(item.description_or_derived(), said(&item.content)),
        content: detail(said(&item.content)),
    });
    PersonaView {
        scope: Some(assembled.bundle.meta.scope),
        revision: Some(assembled.bundle.meta.revision),
        display_name: persona.display_name.clone(),
        description: persona.description.clone(),
        summary: short(summary, said(&persona.system_prompt).or(said(&persona.detail))),
        detail: detail(said(&persona.detail)),
        system_prompt: detail(said(&persona.system_prompt)),
        tags: persona.tags.clone(),
        preferred_models: persona.preferred_models.clone(),
        parts: Some(parts.collect()),
        examples: assembled.examples(view).to_vec(),
        traits: Some(traits.collect()),
        skills: Some(skills.collect()),
        guardrails: Some(guardrails.collect()),
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
