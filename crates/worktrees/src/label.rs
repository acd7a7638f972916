//! The name of a track or a ticket as a part of branches and paths.

use std::fmt;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::limits;

/// The integration branch of a track has this in place of a ticket.
const INTEGRATION: &str = "integration";

/// A text that is safe as one component of a reference and of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Label(String);

impl Label {
    /// The label of an id. An id that is safe is its own label; another one gets a digest behind it, so
    /// that two ids never share a label.
    pub fn of(id: &str) -> Self {
        if is_safe(id) {
            return Self(id.to_owned());
        }
        let digest = Sha256::digest(id.as_bytes());
        let digest: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let most = limits::LABEL_CHARS - digest.len() - 1;
        let kept: String = id
            .chars()
            .take(most)
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
            .collect();
        let kept = kept.trim_matches('-');
        Self(if kept.is_empty() { digest } else { format!("{kept}-{digest}") })
    }

    /// The label in the place of a ticket under which a track is integrated. No ticket has it.
    pub fn integration() -> Self {
        Self(INTEGRATION.to_owned())
    }

    /// The label that a directory is named by. `None` if it is none.
    pub(crate) fn of_directory(name: &str) -> Option<Self> {
        (is_safe(name) || name == INTEGRATION).then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_safe(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty()
        && id.len() <= limits::LABEL_CHARS
        && id.chars().all(allowed)
        && !id.starts_with(['.', '-'])
        && !id.ends_with('.')
        && !id.contains("..")
        && !id.to_ascii_lowercase().ends_with(".lock")
        && !id.eq_ignore_ascii_case(INTEGRATION)
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests;
