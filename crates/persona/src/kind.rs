//! The closed vocabularies: types of part and trait, severities, scopes and the like.

use crate::report::{AsReport, Code, one_of};
use crate::suggest::nearest;

/// Characters of an unknown word that are shown.
const SHOWN_CHARS: usize = 80;

/// A word that is not in its vocabulary. The message names the expected words, because a parser of
/// flags shows nothing else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {word:?} ({})", self.expected())]
pub struct ParseKindError {
    pub what: &'static str,
    pub word: String,
    pub known: &'static [&'static str],
}

impl ParseKindError {
    pub(crate) fn new(what: &'static str, word: &str, known: &'static [&'static str]) -> Self {
        Self { what, word: word.chars().take(SHOWN_CHARS).collect(), known }
    }

    fn expected(&self) -> String {
        match nearest(&self.word, self.known.iter().copied()).first() {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("expected {}", one_of(self.known).unwrap_or_default()),
        }
    }
}

impl AsReport for ParseKindError {
    fn code(&self) -> Code {
        Code::UnknownWord
    }

    fn candidates(&self) -> Vec<String> {
        let near = nearest(&self.word, self.known.iter().copied());
        let near = if near.is_empty() { self.known.to_vec() } else { near };
        near.into_iter().map(str::to_owned).collect()
    }
}

/// Declares a closed vocabulary once: its words on the wire, in the database and in messages.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub fn words() -> Vec<&'static str> {
                vec![$($word),+]
            }
        }

        impl $crate::field::AnyValue for $name {
            fn view(&self) -> $crate::field::ValueView<'_> {
                $crate::field::ValueView::Word(self.as_str())
            }

            fn as_any(&self) -> &dyn std::any::Any {
                self
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word: std::borrow::Cow<'de, str> = serde::Deserialize::deserialize(deserializer)?;
                word.parse().map_err(|error: $crate::ParseKindError| {
                    serde::de::Error::unknown_variant(&error.word, error.known)
                })
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn inline_schema() -> bool { true }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($word),+] })
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ParseKindError;
            fn from_str(word: &str) -> Result<Self, $crate::ParseKindError> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::ParseKindError::new($what, word, &[$($word),+])),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.as_str()) }
        }
    };
}

pub(crate) use vocabulary;

vocabulary! {
    /// The type of a part. One layer supplies all parts of a type.
    PartType, "part type" {
        System = "system",
        Agent = "agent",
        Soul = "soul",
        Identity = "identity",
        Skill = "skill",
        Specialization = "specialization",
        Tone = "tone",
        Goal = "goal",
        Context = "context",
        Protocol = "protocol",
        Backstory = "backstory",
        Motivation = "motivation",
        Voice = "voice",
        Archetype = "archetype",
        Flaw = "flaw",
        Relationship = "relationship",
    }
}

impl PartType {
    /// The heading of parts of this type in a compiled prompt.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::System => "Rules",
            Self::Agent => "Behavior",
            Self::Soul => "Character and values",
            Self::Identity => "Identity",
            Self::Skill => "Capabilities",
            Self::Specialization => "Specialization",
            Self::Tone => "Tone",
            Self::Goal => "Goal",
            Self::Context => "Context",
            Self::Protocol => "Protocol",
            Self::Backstory => "Backstory",
            Self::Motivation => "Motivation",
            Self::Voice => "Voice",
            Self::Archetype => "Archetype",
            Self::Flaw => "Flaws",
            Self::Relationship => "Relationships",
        }
    }
}

vocabulary! {
    TraitType, "trait type" {
        Personality = "personality",
        Cognitive = "cognitive",
        Emotional = "emotional",
        Social = "social",
        Behavioral = "behavioral",
    }
}

vocabulary! {
    /// The severity of a guardrail, in ascending order.
    #[derive(Default)]
    Severity, "severity" {
        Low = "low",
        #[default]
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

vocabulary! {
    /// The scopes of definitions, weakest first. A name resolves to the strongest scope that has it.
    Scope, "scope" {
        Builtin = "builtin",
        Shared = "shared",
        Global = "global",
        Project = "project",
    }
}

impl Scope {
    /// True if definitions of this scope are in a personas.toml.
    pub const fn is_file(self) -> bool {
        matches!(self, Self::Global | Self::Project)
    }
}

vocabulary! {
    /// The way a persona's own layer combines with its base's: replaces it, or adds to it.
    #[derive(Default)]
    MergeMode, "mode" {
        #[default]
        Replace = "replace",
        Append = "append",
    }
}

vocabulary! {
    /// The way context files are condensed for the prompt.
    #[derive(Default)]
    Aggregation, "aggregation strategy" {
        #[default]
        Auto = "auto",
        Full = "full",
        Summarize = "summarize",
        Skeleton = "skeleton",
    }
}

vocabulary! {
    /// The approval of a tool: call it without asking, ask first, or never call it.
    Approval, "approval" {
        Auto = "auto",
        Ask = "ask",
        Deny = "deny",
    }
}

vocabulary! {
    /// The part of a context file that reaches the prompt.
    #[derive(Default)]
    ContextView, "view" {
        #[default]
        Full = "full",
        Summary = "summary",
        Skeleton = "skeleton",
        Outline = "outline",
        None = "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_to_itself() {
        for part_type in PartType::ALL {
            assert_eq!(part_type.as_str().parse(), Ok(*part_type));
        }
        assert_eq!(PartType::ALL.len(), 16);
        assert!(Severity::Critical > Severity::Low);
        assert!(Scope::Project > Scope::Shared);
    }

    #[test]
    fn an_unknown_word_gets_a_suggestion_or_the_list() {
        let error = "tonne".parse::<PartType>().expect_err("not a type");
        assert_eq!(error.to_string(), r#"unknown part type "tonne" (did you mean "tone"?)"#);
        assert_eq!(error.candidates(), ["tone"]);
        let error = "zzzzzz".parse::<Severity>().expect_err("not a severity");
        assert_eq!(
            error.to_string(),
            r#"unknown severity "zzzzzz" (expected low, medium, high or critical)"#
        );
        assert_eq!(error.candidates(), ["low", "medium", "high", "critical"]);
    }
}
