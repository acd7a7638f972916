//! The closed vocabularies: types of part and trait, severities, scopes and the like.

use crate::suggest::nearest;

/// A word that belongs to no vocabulary, with what it could have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {word:?}; {hint}")]
pub struct ParseKindError {
    pub what: &'static str,
    pub word: String,
    pub hint: String,
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

        impl $crate::field::Value for $name {
            fn view(&self) -> $crate::field::View<'_> {
                $crate::field::View::Word(self.as_str())
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
                word.parse().map_err(serde::de::Error::custom)
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
                    _ => Err($crate::kind::unknown($what, word, &[$($word),+])),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.as_str()) }
        }
    };
}

pub(crate) use vocabulary;

pub(crate) fn unknown(what: &'static str, word: &str, known: &[&str]) -> ParseKindError {
    let hint = match nearest(word, known.iter().copied()).first() {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("use one of {}", known.join(", ")),
    };
    ParseKindError { what, word: word.chars().take(80).collect(), hint }
}

vocabulary! {
    /// What a part is about; at most one layer supplies the parts of a type.
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
    /// The heading under which parts of this type stand in a compiled prompt.
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
    /// How bad it is to break a guardrail; the order of the variants is the order of severity.
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
    /// Where a definition is kept, weakest first: a name resolves to the strongest scope that has it.
    Scope, "scope" {
        Builtin = "builtin",
        Shared = "shared",
        Global = "global",
        Project = "project",
    }
}

impl Scope {
    /// Whether definitions of this scope stand in a personas.toml.
    pub const fn is_file(self) -> bool {
        matches!(self, Self::Global | Self::Project)
    }
}

vocabulary! {
    /// How a persona's own layer meets its base's: in place of it, or added to it.
    #[derive(Default)]
    MergeMode, "mode" {
        #[default]
        Replace = "replace",
        Append = "append",
    }
}

vocabulary! {
    /// How context files are condensed before they reach the prompt.
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
    /// Whether a tool may be called: without asking, after asking, or not at all.
    Approval, "approval" {
        Auto = "auto",
        Ask = "ask",
        Deny = "deny",
    }
}

vocabulary! {
    /// How much of a context file reaches the prompt.
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
    fn a_mistake_gets_a_suggestion_or_the_list() {
        let error = "tonne".parse::<PartType>().expect_err("not a type");
        assert_eq!(error.to_string(), r#"unknown part type "tonne"; did you mean "tone"?"#);
        let error = "zzzzzz".parse::<Severity>().expect_err("not a severity");
        assert!(error.to_string().ends_with("use one of low, medium, high, critical"));
    }
}
