//! Errors in the settings of providers.

/// An invalid setting. Names its place and a remedy; never holds a key.
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
