//! What is wrong with the settings of providers.

/// A setting that cannot work. Says where it stands and what to write instead; never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct Error {
    /// `providers.NAME.FIELD`, or the variable.
    pub place: String,
    pub problem: String,
}

impl Error {
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }
}
