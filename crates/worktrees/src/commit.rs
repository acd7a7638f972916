//! Names of objects.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The full name of a commit, a tree or a blob, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

/// The text is not the full name of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the full name of a commit")]
pub struct NotACommitId(String);

impl CommitId {
    /// Reads a full name, of SHA-1 or SHA-256. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = matches!(text.len(), 40 | 64)
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_name.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of no object, which stands for a missing reference or blob.
    pub(crate) fn is_null(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }

    /// The name of no object, in the length of this one.
    pub(crate) fn null(&self) -> String {
        "0".repeat(self.0.len())
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<std::ffi::OsStr> for CommitId {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.0.as_ref()
    }
}

impl TryFrom<String> for CommitId {
    type Error = NotACommitId;

    fn try_from(text: String) -> Result<Self, NotACommitId> {
        Self::parse(&text).ok_or(NotACommitId(text))
    }
}

impl From<CommitId> for String {
    fn from(id: CommitId) -> Self {
        id.0
    }
}
