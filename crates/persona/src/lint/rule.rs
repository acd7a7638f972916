//! The rules with their ids, levels and descriptions.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The severity of a finding, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Level {
    // For information.
    Note,
    // Probably a mistake.
    Warning,
    // It fails, or is unsafe.
    Error,
}

impl Level {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

macro_rules! rules {
    ($($variant:ident = $id:literal, $level:ident, $description:literal;)+) => {
        /// The rule of a finding.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[schemars(inline)]
        pub enum Rule { $(#[serde(rename = $id)] $variant),+ }

        impl Rule {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The id in kebab-case, which never changes its meaning.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $id),+ }
            }

            /// The default level of a finding.
            pub const fn level(self) -> Level {
                match self { $(Self::$variant => Level::$level),+ }
            }

            /// One sentence for the documentation.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => $description),+ }
            }
        }
    };
}

rules! {
    UnknownReference = "unknown-reference", Error,
        "A definition names a base, a piece or a preset that does not exist in its own scope or a weaker one.";
    WrongKind = "wrong-kind", Error,
        "A definition names something under the key of another kind, such as a trait among its parts.";
    BaseChain = "base-chain", Error,
        "The bases of a persona form a cycle, are too many, or lead to a stronger scope.";
    UselessRemoval = "useless-removal", Warning,
        "A persona removes a name that none of its bases has.";
    UnknownProvider = "unknown-provider", Warning,
        "A model's provider is not configured, or not named.";
    StagePartAdds = "stage-part-adds", Warning,
        "A part of a stage replaces nothing: no persona with this arc has a part of its type. A note if the stage replaces other parts.";
    Unused = "unused", Warning,
        "A piece or a preset is used by no persona and by no arc.";
    ConflictingParts = "conflicting-parts", Warning,
        "Several parts of a type that should be single (identity, tone, voice, archetype) speak at once.";
    NoPrompt = "no-prompt", Warning,
        "A persona says nothing: it has no text, no parts and no other pieces, of its own or inherited.";
    NoSummary = "no-summary", Note,
        "A persona has a summary, and a piece of it with more than one line or 160 characters has none, so that short views and prompts have the whole piece.";
    EmptyPiece = "empty-piece", Warning,
        "A trait, skill, guardrail, arc or test input has nothing in it that could take effect.";
    LongPart = "long-part", Warning,
        "The content of a part has more tokens than the threshold.";
    HiddenUnicode = "hidden-unicode", Error,
        "A text has characters that a reader does not see: zero-width, bidirectional, tag, format, private-use or control characters; a warning in a test input, which may mean them.";
    LookAlike = "look-alike", Warning,
        "A word has letters of another script or style that pass for Latin ones.";
    Secret = "secret", Error,
        "A text holds what looks like a key, a token, a password or a private key.";
    EnvNotAllowed = "env-not-allowed", Error,
        "A ${env.NAME} is not on the [env] allow list of the user's own configuration, and stays literal.";
    EnvUnset = "env-unset", Error,
        "A ${env.NAME} is allowed, but not set, and stays literal.";
    EnvInDatabase = "env-in-database", Warning,
        "A ${env.NAME} is in a shared or builtin definition, where it is never expanded.";
    EnvNotFilled = "env-not-filled", Warning,
        "A ${env.NAME} is in a text that no model sees, such as a path or a test input, and stays literal.";
    EnvMalformed = "env-malformed", Warning,
        "A text has what looks like a ${env.NAME} and is none.";
    NegatedExpectation = "negated-expectation", Warning,
        "An expectation for a judge is negated. Judges decide better what an answer does; `lacks` and `calls_not` need no judge.";
    SeveralClaims = "several-claims", Warning,
        "An expectation for a judge makes two claims, so that its verdict does not say which one broke.";
    JudgedCount = "judged-count", Warning,
        "An expectation leaves counting to a judge; `words`, `sentences` and `tokens` count without a model.";
    UnreadableExpectation = "unreadable-expectation", Error,
        "A regular expression or a JSON Schema of an expectation cannot be read, so its test input cannot be run.";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
