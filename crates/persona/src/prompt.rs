//! The system prompt of a running persona.
//!
//! The same text as the compiled one, but for skills: a runtime has a tool that loads their
//! contents, so the prompt names them with what they are for. `${env.NAME}` is filled in here,
//! and nowhere else.

use std::collections::BTreeSet;

use crate::bundle::Found;
use crate::env::EnvProblem;
use crate::env::expand;
use crate::{
    ActiveStage, Assembled, Base, Bundle, Guardrail, Kind, Name, Part, Persona, PlanPersona, Scope, Skill,
    Trait, compile,
};

/// The text of the system prompt; what belongs to one call (tools, mode) is added by the runtime.
pub fn prompt(assembled: &Assembled<'_>) -> String {
    compile::running(assembled)
}

/// Which placeholders may be filled in, and with what.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    pub allowed: &'a BTreeSet<String>,
    pub lookup: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

/// A placeholder that stayed as it was, and in whose text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct PromptProblem {
    /// Such as `part calm-tone content`.
    pub place: String,
    pub problem: EnvProblem,
}

/// The field whose text only plans have.
const PLAN_INSTRUCTION: &str = "plan_persona.instruction";

impl PromptProblem {
    /// Whether it matters while planning alone.
    pub fn is_of_plans(&self) -> bool {
        self.place.ends_with(PLAN_INSTRUCTION)
    }
}

/// Fills in the placeholders of whatever stands in a file. What came from the database or is
/// builtin keeps its text, whoever refers to it. Each layer says for itself where its pieces are
/// from: a part of the stage is not filled in because the persona's own of that name is.
pub fn expand_bundle(bundle: &mut Bundle, environment: Environment<'_>) -> Vec<PromptProblem> {
    let mut filler = Filler { environment, problems: Vec::new() };
    for base in &mut bundle.bases {
        let Base { persona, meta, parts, traits, skills, guardrails, piece_scopes, .. } = base;
        let found = Found { scope: meta.scope, elsewhere: piece_scopes };
        filler.layer(persona, found, Pieces { parts, traits, skills, guardrails });
    }
    let Bundle { persona, meta, parts, traits, skills, guardrails, piece_scopes, .. } = bundle;
    let found = Found { scope: meta.scope, elsewhere: piece_scopes };
    filler.layer(persona, found, Pieces { parts, traits, skills, guardrails });
    if let Some(ActiveStage { parts, scope, piece_scopes, .. }) = &mut bundle.stage {
        filler.parts(parts, Found { scope: *scope, elsewhere: piece_scopes });
    }
    let Bundle { override_parts, override_scopes, .. } = bundle;
    filler.parts(override_parts, Found::of_overrides(override_scopes));
    filler.problems
}

struct Pieces<'a> {
    parts: &'a mut [Part],
    traits: &'a mut [Trait],
    skills: &'a mut [Skill],
    guardrails: &'a mut [Guardrail],
}

struct Filler<'a> {
    environment: Environment<'a>,
    problems: Vec<PromptProblem>,
}

impl Filler<'_> {
    fn layer(&mut self, persona: &mut Persona, found: Found<'_>, pieces: Pieces<'_>) {
        self.persona(persona, found.scope);
        let Pieces { parts, traits, skills, guardrails } = pieces;
        let is_file = |kind: Kind, name: &Name| found.scope_of(kind, name.as_str()).is_file();
        self.parts(parts, found);
        for Trait { name, instruction, description, .. } in traits {
            if is_file(Kind::Trait, name) {
                self.fields("trait", name, [("instruction", instruction), ("description", description)]);
            }
        }
        for Skill { name, content, description, .. } in skills {
            if is_file(Kind::Skill, name) {
                self.fields("skill", name, [("content", content), ("description", description)]);
            }
        }
        for Guardrail { name, content, description, .. } in guardrails {
            if is_file(Kind::Guardrail, name) {
                self.fields("guardrail", name, [("content", content), ("description", description)]);
            }
        }
    }

    fn parts(&mut self, parts: &mut [Part], found: Found<'_>) {
        for Part { name, content, summary, .. } in parts {
            if found.scope_of(Kind::Part, name.as_str()).is_file() {
                self.fields("part", name, [("content", content), ("summary", summary)]);
            }
        }
    }

    fn persona(&mut self, persona: &mut Persona, scope: Scope) {
        if !scope.is_file() {
            return;
        }
        let Persona { name, system_prompt, detail, summary, description, plan_persona, .. } = persona;
        let fields = [
            ("system_prompt", system_prompt),
            ("detail", detail),
            ("summary", summary),
            ("description", description),
        ];
        self.fields("persona", name, fields);
        if let Some(PlanPersona { instruction, .. }) = plan_persona {
            self.fields("persona", name, [(PLAN_INSTRUCTION, instruction)]);
        }
    }

    fn fields<'f>(
        &mut self,
        kind: &str,
        name: &Name,
        fields: impl IntoIterator<Item = (&'static str, &'f mut Option<String>)>,
    ) {
        for (field, text) in fields {
            let Some(text) = text.as_mut().filter(|text| text.contains("${")) else { continue };
            let expanded = expand(text, self.environment.allowed, self.environment.lookup);
            *text = expanded.text;
            let place = format!("{kind} {name} {field}");
            let problems = expanded.problems.into_iter();
            self.problems.extend(problems.map(|problem| PromptProblem { place: place.clone(), problem }));
        }
    }
}

#[cfg(test)]
mod tests;
