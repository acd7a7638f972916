//! What a worker hands in with the tool `submit_work`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{REPORT_ENTRIES, REPORT_TEXT_BYTES, TITLE_CHARS};
use crate::scope::leaves_root;

/// The result of an attempt, as the worker tells it. Verification distrusts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Submission {
    pub outcome: Outcome,
    /// What was done, in a few sentences.
    pub summary: String,
    /// One entry for each acceptance criterion of the ticket, in its words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionReport>,
    /// Commands that you ran as proof, exactly as you ran them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Decisions that were not obvious, each with what was rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// Every test that was changed, deleted or skipped, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_changes: Vec<TestChange>,
    /// Work that is needed but not part of this ticket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_scope: Vec<DraftTicket>,
    /// What nobody has answered yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
}

/// How an attempt ended, as the worker sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Outcome {
    /// Every criterion is met.
    Done,
    /// Nothing has to be changed: the criteria are met already.
    NoChange,
    /// The work cannot go on without a person.
    Blocked,
    /// Some criteria are met, the rest is left.
    Partial,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct CriterionReport {
    /// The criterion, in the ticket's words.
    pub criterion: String,
    pub status: CriterionStatus,
    /// What proves it. Required if the criterion is met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Proof>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CriterionStatus {
    Met,
    NotMet,
    Unknown,
}

/// What proves a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Proof {
    /// A command that was run, and succeeded.
    Check { command: String },
    /// The name of a test that passes.
    Test { name: String },
    /// A place in the code, as `path:line`.
    Place { place: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Decision {
    pub decision: String,
    /// What was considered and rejected, and why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rejected: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct TestChange {
    /// The test's name, or the path of its file.
    pub test: String,
    pub why: String,
}

/// Work that a worker found and did not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct DraftTicket {
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

impl Submission {
    /// The first rule that it breaks and that its schema does not express, as a sentence for the worker.
    pub fn problem(&self) -> Option<String> {
        self.bad_length().or_else(|| self.contradiction()).or_else(|| self.criteria.iter().find_map(unproven))
    }

    fn bad_length(&self) -> Option<String> {
        let lists = [
            ("criteria", self.criteria.len()),
            ("commands", self.commands.len()),
            ("decisions", self.decisions.len()),
            ("test_changes", self.test_changes.len()),
            ("out_of_scope", self.out_of_scope.len()),
            ("open_questions", self.open_questions.len()),
        ];
        let bad = present("summary", &self.summary)
            .or_else(|| lists.into_iter().find_map(|(field, length)| count(field, length)));
        bad.or_else(|| {
            let criteria = self.criteria.iter().map(|it| ("criteria", it.criterion.as_str()));
            let commands = self.commands.iter().map(|it| ("commands", it.as_str()));
            let decisions = self.decisions.iter().map(|it| ("decisions", it.decision.as_str()));
            let tests = self.test_changes.iter().map(|it| ("test_changes", it.test.as_str()));
            let reasons = self.test_changes.iter().map(|it| ("test_changes", it.why.as_str()));
            let drafts = self.out_of_scope.iter().map(|it| ("out_of_scope", it.title.as_str()));
            let questions = self.open_questions.iter().map(|it| ("open_questions", it.as_str()));
            let mut required = criteria.chain(commands).chain(decisions).chain(tests).chain(reasons);
            required
                .find_map(|(field, text)| present(field, text))
                .or_else(|| drafts.chain(questions).find_map(|(field, text)| present(field, text)))
        })
        .or_else(|| self.decisions.iter().find_map(|it| long("decisions", &it.rejected)))
        .or_else(|| self.out_of_scope.iter().find_map(draft))
    }

    fn contradiction(&self) -> Option<String> {
        let open = self.criteria.iter().find(|it| it.status != CriterionStatus::Met);
        match (self.outcome, open) {
            (Outcome::Done | Outcome::NoChange, Some(open)) => Some(format!(
                "The criterion {:?} is not met, so the outcome is \"partial\", not {:?}.",
                shown(&open.criterion),
                if self.outcome == Outcome::Done { "done" } else { "no_change" }
            )),
            (Outcome::NoChange, None) if !self.test_changes.is_empty() => Some(
                "The outcome is \"no_change\", but tests are said to be changed: hand in \"done\", or no \
                 test_changes."
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// Says what is missing in the proof of a criterion.
fn unproven(report: &CriterionReport) -> Option<String> {
    let criterion = shown(&report.criterion);
    match &report.evidence {
        None if report.status == CriterionStatus::Met => Some(format!(
            "The criterion {criterion:?} is said to be met: add `evidence` with a command, a test or a place."
        )),
        None => None,
        Some(Proof::Check { command }) => present("evidence.command", command),
        Some(Proof::Test { name }) => present("evidence.name", name),
        Some(Proof::Place { place }) => {
            present("evidence.place", place).or_else(|| match parse_place(place) {
                Some(_) => None,
                None => Some(format!(
                    "{:?} is not a place: write path:line, with the path relative to the project's root.",
                    shown(place)
                )),
            })
        }
    }
}

fn draft(draft: &DraftTicket) -> Option<String> {
    let is_long = draft.title.chars().count() > TITLE_CHARS;
    if is_long || draft.title.contains('\n') {
        return Some(format!("A title in out_of_scope is one line of at most {TITLE_CHARS} characters."));
    }
    long("out_of_scope", &draft.description)
}

/// The path and the line of `path:line`, or of `path:line:column`. `None` if it is none, or if the path is
/// not below the root.
pub fn parse_place(place: &str) -> Option<(&str, u32)> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|it| *it > 0);
    let (before, last) = place.trim().rsplit_once(':')?;
    let last = number(last)?;
    let (path, line) = match before.rsplit_once(':') {
        Some((path, line)) if number(line).is_some() => (path, number(line)?),
        _ => (before, last),
    };
    (!path.trim().is_empty() && !leaves_root(path)).then_some((path, line))
}

/// Says that a list is too long.
pub(crate) fn count(field: &str, length: usize) -> Option<String> {
    let is_long = length > REPORT_ENTRIES;
    is_long.then(|| format!("{field} has {length} entries, at most {REPORT_ENTRIES} are allowed."))
}

/// Says that a text is too long.
pub(crate) fn long(field: &str, text: &str) -> Option<String> {
    let is_long = text.len() > REPORT_TEXT_BYTES;
    is_long.then(|| {
        format!("A text in {field} has {} bytes, at most {REPORT_TEXT_BYTES} are allowed.", text.len())
    })
}

/// Says that a text is missing or too long.
pub(crate) fn present(field: &str, text: &str) -> Option<String> {
    let is_empty = text.trim().is_empty();
    if is_empty { Some(format!("A text in {field} is empty.")) } else { long(field, text) }
}

/// The beginning of a text, for a message.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
