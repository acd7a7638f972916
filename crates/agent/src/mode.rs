//! Plan or build.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Read-only tools only.
    Plan,
    #[default]
    Build,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode {0:?} (expected plan or build)")]
pub struct ModeError(String);

impl Mode {
    pub const ALL: &[Self] = &[Self::Plan, Self::Build];

    /// The mode that holds for a session with these modes, its own and those of all sessions above it: a
    /// session below one that plans, plans.
    pub fn strictest(modes: impl IntoIterator<Item = Self>) -> Self {
        match modes.into_iter().any(|mode| mode == Self::Plan) {
            true => Self::Plan,
            false => Self::Build,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Build => "build",
        }
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        let found = Self::ALL.iter().find(|mode| mode.as_str() == text);
        found.copied().ok_or_else(|| ModeError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_session_that_plans_is_enough() {
        let check = |modes: &str, expected: Mode| {
            let parsed = modes.split_whitespace().map(|word| word.parse().expect("a mode"));
            assert_eq!(Mode::strictest(parsed), expected, "{modes}");
        };
        check("build", Mode::Build);
        check("plan", Mode::Plan);
        check("build build build", Mode::Build);
        check("build plan build", Mode::Plan);
        check("build build plan", Mode::Plan);
    }
}
