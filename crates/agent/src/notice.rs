//! Notices: what the author of a persona may not expect of a run.

use persona::{Kind, Name, Scope, Unfilled};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something about a persona that its run does not do. It is data; each front words it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Notice {
    /// The persona gives its prompt no text.
    SaysNothing,
    /// The persona sets fields about the files of a project, and the run has no project.
    UnusedSettings { fields: Vec<String> },
    /// Files of the project are in the prompt.
    FilesShown { files: usize, tokens: usize, budget: usize, left_out: usize },
    /// Placeholders stay as they are: only definitions in files are filled in.
    UnfilledPlaceholders { placeholders: Vec<UnfilledPlaceholder> },
    /// Presets approve these tools, but the user has not confirmed the presets, so the tools ask.
    UnconfirmedPresets { presets: Vec<Name>, tools: Vec<String> },
    /// A project that the user does not trust defines the persona in place of another one.
    ShadowsPersona { name: Name, scope: Scope },
}

/// A placeholder, and the field that has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct UnfilledPlaceholder {
    /// The name in `${env.NAME}`.
    pub variable: String,
    pub kind: Kind,
    pub name: Name,
    pub field: String,
}

impl Notice {
    /// The notices of a run with this prompt.
    pub fn of(prompt: &str, unfilled: &[Unfilled]) -> Vec<Self> {
        let silent = persona::is_blank(prompt).then_some(Self::SaysNothing);
        let placeholder = |unfilled: &Unfilled| {
            let Unfilled { variable, kind, name, field } = unfilled.clone();
            UnfilledPlaceholder { variable, kind, name, field }
        };
        let placeholders: Vec<_> = unfilled.iter().map(placeholder).collect();
        let unfilled = (!placeholders.is_empty()).then_some(Self::UnfilledPlaceholders { placeholders });
        silent.into_iter().chain(unfilled).collect()
    }

    /// The notice of a run without a project whose persona wants files of one.
    pub fn without_project(has_preset: bool, has_strategy: bool) -> Option<Self> {
        let set = [("context_preset", has_preset), ("aggregation_strategy", has_strategy)];
        let fields: Vec<String> =
            set.into_iter().filter(|(_, is_set)| *is_set).map(|(field, _)| field.to_owned()).collect();
        (!fields.is_empty()).then_some(Self::UnusedSettings { fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).expect("a name")
    }

    const PROMPT: &str = "You plan.\n";

    #[test]
    fn an_empty_prompt_is_noticed() {
        for blank in ["", "\n", "\u{200B}\u{2060}\n"] {
            assert_eq!(Notice::of(blank, &[]), [Notice::SaysNothing]);
        }
    }

    #[test]
    fn a_persona_that_sets_nothing_of_it_needs_no_notice() {
        assert_eq!(Notice::of(PROMPT, &[]), []);
    }

    #[test]
    fn settings_without_effect_are_named() {
        let fields = |fields: &[&str]| {
            let fields = fields.iter().map(|field| (*field).to_owned()).collect();
            Some(Notice::UnusedSettings { fields })
        };
        assert_eq!(Notice::without_project(false, false), None);
        assert_eq!(Notice::without_project(true, false), fields(&["context_preset"]));
        assert_eq!(Notice::without_project(true, true), fields(&["context_preset", "aggregation_strategy"]));
    }

    #[test]
    fn placeholders_are_named_with_their_places() {
        let (kind, field) = (Kind::Part, "content".to_owned());
        let unfilled = Unfilled { variable: "TEAM".to_owned(), kind, name: name("calm"), field };
        let notices = Notice::of(PROMPT, &[unfilled]);
        assert_eq!(
            serde_json::to_value(notices).expect("JSON"),
            serde_json::json!([{
                "code": "unfilled_placeholders",
                "placeholders": [{ "variable": "TEAM", "kind": "part", "name": "calm", "field": "content" }],
            }])
        );
    }
}
