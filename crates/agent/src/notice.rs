//! Notices: what the author of a persona may not expect of a run.

use persona::{Kind, Name, Persona, Scope, Unfilled};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something about a persona that its run does not do. It is data; each front words it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Notice {
    /// The persona gives its prompt no text.
    SaysNothing,
    /// The persona sets fields that runs do not use yet.
    UnusedSettings { fields: Vec<String> },
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
    /// The notices of a run of a persona, its bases included, with this prompt.
    pub fn of(persona: &Persona, prompt: &str, unfilled: &[Unfilled]) -> Vec<Self> {
        let silent = persona::is_blank(prompt).then_some(Self::SaysNothing);
        let unused = [
            ("context_preset", persona.context_preset.is_some()),
            ("aggregation_strategy", persona.aggregation_strategy.is_some()),
        ];
        let set = unused.into_iter().filter(|(_, is_set)| *is_set);
        let fields: Vec<String> = set.map(|(field, _)| field.to_owned()).collect();
        let placeholder = |unfilled: &Unfilled| {
            let Unfilled { variable, kind, name, field } = unfilled.clone();
            UnfilledPlaceholder { variable, kind, name, field }
        };
        let placeholders: Vec<_> = unfilled.iter().map(placeholder).collect();
        let unused = (!fields.is_empty()).then_some(Self::UnusedSettings { fields });
        let unfilled = (!placeholders.is_empty()).then_some(Self::UnfilledPlaceholders { placeholders });
        silent.into_iter().chain(unused).chain(unfilled).collect()
    }
}

#[cfg(test)]
mod tests {
    use persona::Aggregation;

    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).expect("a name")
    }

    const PROMPT: &str = "You plan.\n";

    #[test]
    fn an_empty_prompt_is_noticed() {
        for blank in ["", "\n", "\u{200B}\u{2060}\n"] {
            assert_eq!(Notice::of(&Persona::new(name("mute")), blank, &[]), [Notice::SaysNothing]);
        }
    }

    #[test]
    fn a_persona_that_sets_nothing_of_it_needs_no_notice() {
        assert_eq!(Notice::of(&Persona::new(name("ada")), PROMPT, &[]), []);
    }

    #[test]
    fn settings_without_effect_are_named() {
        let mut ada = Persona::new(name("ada"));
        ada.context_preset = Some(name("docs_only"));
        let fields = |fields: &[&str]| fields.iter().map(|field| (*field).to_owned()).collect();
        let one = Notice::UnusedSettings { fields: fields(&["context_preset"]) };
        assert_eq!(Notice::of(&ada, PROMPT, &[]), [one]);
        ada.aggregation_strategy = Some(Aggregation::Skeleton);
        let both = Notice::UnusedSettings { fields: fields(&["context_preset", "aggregation_strategy"]) };
        assert_eq!(Notice::of(&ada, PROMPT, &[]), [both]);
    }

    #[test]
    fn placeholders_are_named_with_their_places() {
        let (kind, field) = (Kind::Part, "content".to_owned());
        let unfilled = Unfilled { variable: "TEAM".to_owned(), kind, name: name("calm"), field };
        let notices = Notice::of(&Persona::new(name("ada")), PROMPT, &[unfilled]);
        assert_eq!(
            serde_json::to_value(notices).expect("JSON"),
            serde_json::json!([{
                "code": "unfilled_placeholders",
                "placeholders": [{ "variable": "TEAM", "kind": "part", "name": "calm", "field": "content" }],
            }])
        );
    }
}
