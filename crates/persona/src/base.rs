//! The reference to a base: a persona's name, with or without a scope.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::report::{AsReport, Code, Subject};
use crate::{Name, NameError, ParseKindError, Scope};

/// `name`, looked up from the definition's own scope downwards, or `scope:name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BaseRef {
    pub scope: Option<Scope>,
    pub name: Name,
}

/// An invalid reference to a base.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub enum BaseRefError {
    Scope(#[from] ParseKindError),
    Name(#[from] NameError),
}

impl AsReport for BaseRefError {
    fn code(&self) -> Code {
        match self {
            Self::Scope(error) => error.code(),
            Self::Name(error) => error.code(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Scope(error) => error.subject(),
            Self::Name(error) => error.subject(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Scope(error) => error.candidates(),
            Self::Name(error) => error.candidates(),
        }
    }
}

impl FromStr for BaseRef {
    type Err = BaseRefError;

    fn from_str(text: &str) -> Result<Self, BaseRefError> {
        let (scope, name) = match text.split_once(':') {
            Some((scope, name)) => (Some(scope.parse::<Scope>()?), name),
            None => (None, text),
        };
        Ok(Self { scope, name: Name::parse(name)? })
    }
}

impl fmt::Display for BaseRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scope {
            Some(scope) => write!(f, "{scope}:{}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl Serialize for BaseRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BaseRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for BaseRef {
    fn schema_name() -> Cow<'static, str> {
        "BaseRef".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_a_name_with_or_without_a_scope() {
        for text in ["coder", "global:coder", "builtin:code_reviewer"] {
            assert_eq!(text.parse::<BaseRef>().map(|base| base.to_string()), Ok(text.to_owned()));
        }
        assert!("globl:coder".parse::<BaseRef>().is_err_and(|error| error.candidates() == ["global"]));
        assert!("a b".parse::<BaseRef>().is_err());
    }

    /// As for names, and as in the schema of the file.
    #[test]
    fn a_base_has_no_blanks_around_it() {
        let refused = |text: &str| text.parse::<BaseRef>().expect_err(text);
        for text in [" coder", "coder ", "global: coder", "global:coder\n"] {
            assert!(matches!(refused(text), BaseRefError::Name(NameError::BadCharacter { .. })), "{text:?}");
        }
        for text in [" global:coder", "global :coder"] {
            assert_eq!(refused(text).candidates(), ["global"], "{text:?}");
        }
    }
}
