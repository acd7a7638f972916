//! The users of an entity, as an error names them.

use std::fmt;

/// The most users that a message names.
const NAMED: usize = 10;

/// The users of an entity, each in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Users {
    pub named: Vec<String>,
    /// The stage that they are in, if a stage is in use.
    pub stage: Option<String>,
}

impl From<Vec<String>> for Users {
    fn from(named: Vec<String>) -> Self {
        Self { named, stage: None }
    }
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.named.len().min(NAMED);
        f.write_str(&self.named[..shown].join(", "))?;
        if self.named.len() > shown {
            write!(f, " and {} more", self.named.len() - shown)?;
        }
        self.stage.iter().try_for_each(|stage| write!(f, " in stage {stage}"))
    }
}
