//! Errors as data: a code, a subject, candidates and remedies.
//!
//! Every crate has its own error enum. Its `Display` names the problem in one sentence. Everything that
//! a program or a front acts on is a field of the [`Report`]. Each front words the remedies itself.

use schemars::JsonSchema;
use serde::Serialize;

mod code;
pub use code::{Code, ErrorKind};

mod subject;
pub use subject::{FilePlace, Subject};

mod remedy;
pub use remedy::Remedy;

/// An error as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    pub code: Code,
    pub kind: ErrorKind,
    /// The problem in one sentence, without advice.
    pub message: String,
    #[serde(skip_serializing_if = "Subject::is_empty")]
    pub subject: Subject,
    /// Suggestions, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// Remedies; one of them is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// For failures of storage: true if the write may have happened, false if it certainly did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_have_happened: Option<bool>,
}

/// An error with a report.
pub trait AsReport: std::error::Error {
    fn code(&self) -> Code;

    /// The subject of the error.
    fn subject(&self) -> Subject {
        Subject::default()
    }

    /// Suggestions, best first.
    fn candidates(&self) -> Vec<String> {
        Vec::new()
    }

    /// Remedies; one of them is enough.
    fn remedies(&self) -> Vec<Remedy> {
        Vec::new()
    }

    /// True if the failed write may have happened, false if it certainly did not. `None` for refusals,
    /// which never write.
    fn may_have_happened(&self) -> Option<bool> {
        None
    }

    fn report(&self) -> Report {
        let code = self.code();
        Report {
            code,
            kind: code.kind(),
            message: self.to_string(),
            subject: self.subject(),
            candidates: self.candidates(),
            remedies: self.remedies(),
            may_have_happened: self.may_have_happened(),
        }
    }
}

impl Report {
    /// A report of a code and a message alone.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            kind: code.kind(),
            message: message.into(),
            subject: Subject::default(),
            candidates: Vec::new(),
            remedies: Vec::new(),
            may_have_happened: None,
        }
    }

    #[must_use]
    pub fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }

    #[must_use]
    pub fn with_candidates(self, candidates: Vec<String>) -> Self {
        Self { candidates, ..self }
    }

    /// Says whether the failed write may have happened.
    #[must_use]
    pub fn with_effect(self, may_have_happened: bool) -> Self {
        Self { may_have_happened: Some(may_have_happened), ..self }
    }

    /// The remedies in the words of a front, which may leave one out.
    pub fn advice(&self, word: impl Fn(&Remedy) -> Option<String>) -> Option<String> {
        let worded = self.remedies.iter().filter_map(|remedy| match remedy {
            Remedy::DidYouMean => did_you_mean(&self.candidates),
            remedy => word(remedy),
        });
        let worded: Vec<String> = worded.collect();
        (!worded.is_empty()).then(|| worded.join(", or "))
    }

    /// The message with its remedies, in the words of no front in particular.
    pub fn plain_sentence(&self) -> String {
        self.sentence(|remedy| Some(remedy.to_string()))
    }

    /// The message with its remedies, in the words of a front.
    pub fn sentence(&self, word: impl Fn(&Remedy) -> Option<String>) -> String {
        let Some(advice) = self.advice(word) else { return self.message.clone() };
        match self.message.split_once('\n') {
            // A message of several lines shows an excerpt of a file below its first line.
            Some((first, excerpt)) => format!("{first}; {advice}\n{excerpt}"),
            None => format!("{}; {advice}", self.message),
        }
    }
}

fn did_you_mean(candidates: &[String]) -> Option<String> {
    let quoted: Vec<String> = candidates.iter().map(|name| format!("{name:?}")).collect();
    Some(format!("did you mean {}?", one_of(&quoted)?))
}

/// Words as a choice: `a`, `a or b`, `a, b or c`. `None` without words.
pub fn one_of<T: AsRef<str>>(words: &[T]) -> Option<String> {
    let (last, rest) = words.split_last()?;
    let last = last.as_ref();
    let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
    Some(if rest.is_empty() { last.to_owned() } else { format!("{} or {last}", rest.join(", ")) })
}

#[cfg(test)]
mod tests;
