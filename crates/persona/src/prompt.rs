//! The system prompt of a running persona.
//!
//! The compiled text, except for skills: a runtime has a tool that loads their contents, so the prompt
//! lists them with their descriptions. `${env.NAME}` is filled in here and nowhere else: in the texts of
//! the prompt, and in the texts of presets for models.

use std::collections::BTreeSet;

use crate::bundle::Found;
use crate::env::{EnvProblem, Values, expand, placeholders};
use crate::field::{Leaf, value};
use crate::{
    ActiveStage, Assembled, Base, BiasProfile, Bundle, Guardrail, Kind, Name, Part, Persona, Scope, Skill,
    ToolPreset, Trait, compile,
};

/// The text of the system prompt. The runtime adds the text of a call (tools, mode).
pub fn prompt(assembled: &Assembled<'_>) -> String {
    compile::running(assembled)
}

/// The placeholders that may be filled in, and their values.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    pub allowed: &'a BTreeSet<String>,
    pub lookup: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

/// A placeholder that was not filled in, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct PromptProblem {
    /// Such as `part calm-tone content`.
    pub place: String,
    pub problem: EnvProblem,
}

/// A placeholder in a definition that no file has. It stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfilled {
    /// The name in the placeholder.
    pub variable: String,
    /// The definition.
    pub kind: Kind,
    pub name: Name,
    pub field: String,
}

/// The field whose text only plans have.
const PLAN_INSTRUCTION: &str = "plan_persona.instruction";

impl PromptProblem {
    /// True if it matters only while planning.
    pub fn is_of_plans(&self) -> bool {
        self.place.ends_with(PLAN_INSTRUCTION)
    }
}

/// Fills in the placeholders of definitions in files. Definitions of the database and builtins keep
/// their texts.
#[derive(Debug)]
pub struct Filler<'a> {
    environment: Environment<'a>,
    problems: Vec<PromptProblem>,
    unfilled: Vec<Unfilled>,
    values: Values,
}

impl<'a> Filler<'a> {
    pub fn new(environment: Environment<'a>) -> Self {
        Self { environment, problems: Vec::new(), unfilled: Vec::new(), values: Values::default() }
    }

    /// Each layer knows the scopes of its own pieces: a part of the stage is not filled in just because
    /// the persona's own part of that name is.
    pub fn bundle(&mut self, bundle: &mut Bundle) {
        for base in &mut bundle.bases {
            let Base { persona, meta, parts, traits, skills, guardrails, piece_scopes, .. } = base;
            let found = Found { scope: meta.scope, elsewhere: piece_scopes };
            self.layer(persona, found, Pieces { parts, traits, skills, guardrails });
        }
        let Bundle { persona, meta, parts, traits, skills, guardrails, piece_scopes, .. } = bundle;
        let found = Found { scope: meta.scope, elsewhere: piece_scopes };
        self.layer(persona, found, Pieces { parts, traits, skills, guardrails });
        if let Some(ActiveStage { parts, scope, piece_scopes, .. }) = &mut bundle.stage {
            self.parts(parts, Found { scope: *scope, elsewhere: piece_scopes });
        }
        let Bundle { override_parts, override_scopes, .. } = bundle;
        self.parts(override_parts, Found::of_overrides(override_scopes));
    }

    /// Fills in the texts about parameters, which are part of the descriptions of tools.
    pub fn tool_preset(&mut self, preset: &mut ToolPreset, scope: Scope) {
        let ToolPreset { name, categories, .. } = preset;
        for (category, tools) in categories {
            for (at, tool) in tools.iter_mut().enumerate() {
                for (parameter, hint) in &mut tool.parameter_bias {
                    let field = format!("categories.{category}[{at}].parameter_bias.{parameter}");
                    self.text((Kind::ToolPreset, name), &field, hint, scope);
                }
            }
        }
    }

    /// Fills in the description, which is part of the tooling strategy.
    pub fn bias_profile(&mut self, profile: &mut BiasProfile, scope: Scope) {
        let BiasProfile { name, description, .. } = profile;
        self.fields((Kind::BiasProfile, name), [("description", description)], scope);
    }

    /// The placeholders that were not filled in since the last call.
    pub fn problems(&mut self) -> Vec<PromptProblem> {
        std::mem::take(&mut self.problems)
    }

    /// The placeholders of definitions outside of files, each field once.
    pub fn unfilled(&self) -> &[Unfilled] {
        &self.unfilled
    }

    /// The values that were filled in.
    pub fn into_values(self) -> Values {
        self.values
    }
}

struct Pieces<'a> {
    parts: &'a mut [Part],
    traits: &'a mut [Trait],
    skills: &'a mut [Skill],
    guardrails: &'a mut [Guardrail],
}

impl Filler<'_> {
    fn layer(&mut self, persona: &mut Persona, found: Found<'_>, pieces: Pieces<'_>) {
        self.persona(persona, found.scope);
        let Pieces { parts, traits, skills, guardrails } = pieces;
        let scope_of = |kind: Kind, name: &Name| found.scope_of(kind, name.as_str());
        self.parts(parts, found);
        for Trait { name, instruction, description, .. } in traits {
            let fields = [("instruction", instruction), ("description", description)];
            self.fields((Kind::Trait, name), fields, scope_of(Kind::Trait, name));
        }
        for Skill { name, content, description, .. } in skills {
            let fields = [("content", content), ("description", description)];
            self.fields((Kind::Skill, name), fields, scope_of(Kind::Skill, name));
        }
        for Guardrail { name, content, description, .. } in guardrails {
            let fields = [("content", content), ("description", description)];
            self.fields((Kind::Guardrail, name), fields, scope_of(Kind::Guardrail, name));
        }
    }

    fn parts(&mut self, parts: &mut [Part], found: Found<'_>) {
        for Part { name, content, summary, description, .. } in parts {
            let fields = [("content", content), ("summary", summary), ("description", description)];
            self.fields((Kind::Part, name), fields, found.scope_of(Kind::Part, name.as_str()));
        }
    }

    fn persona(&mut self, persona: &mut Persona, scope: Scope) {
        let name = persona.name.clone();
        value::visit_fields(persona, "", &mut |path, field, leaf| {
            if let (Leaf::Text(text), true) = (leaf, field.is_filled) {
                self.text((Kind::Persona, &name), path, text, scope);
            }
        });
    }

    fn fields<'f>(
        &mut self,
        of: (Kind, &Name),
        fields: impl IntoIterator<Item = (&'static str, &'f mut Option<String>)>,
        scope: Scope,
    ) {
        for (field, text) in fields {
            if let Some(text) = text {
                self.text(of, field, text, scope);
            }
        }
    }

    fn text(&mut self, (kind, name): (Kind, &Name), field: &str, text: &mut String, scope: Scope) {
        if !text.contains("${") {
            return;
        }
        if !scope.is_file() {
            self.note_unfilled((kind, name), field, text);
            return;
        }
        let expanded = expand(text, self.environment.allowed, self.environment.lookup);
        *text = expanded.text;
        self.values.extend(expanded.values);
        let place = format!("{} {name} {field}", kind.spoken());
        let problems = expanded.problems.into_iter();
        self.problems.extend(problems.map(|problem| PromptProblem { place: place.clone(), problem }));
    }

    fn note_unfilled(&mut self, (kind, name): (Kind, &Name), field: &str, text: &str) {
        for placeholder in placeholders(text) {
            let (variable, field) = (placeholder.name.to_owned(), field.to_owned());
            let unfilled = Unfilled { variable, kind, name: name.clone(), field };
            // A piece may be in several layers.
            if !self.unfilled.contains(&unfilled) {
                self.unfilled.push(unfilled);
            }
        }
    }
}

#[cfg(test)]
mod tests;
