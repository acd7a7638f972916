//! Replies and verdicts by the hash of everything that they depend on.

use fidelity::{Exchange, Question, RUBRIC_VERSION, TestReport, Vote};
use llm::ModelRef;
use persona::TestInput;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::{TestResultKind, Tested};

use super::HARNESS_VERSION;
use crate::Library;
use crate::running::Subject;

/// The hash of a value. Keys of objects are sorted, so equal values have equal hashes.
pub(super) fn hash(value: &Value) -> String {
    Sha256::digest(value.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of everything that the replies of a subject depend on, apart from the messages.
pub(super) fn subject_key(subject: &Subject) -> String {
    hash(&json!({
        "harness": HARNESS_VERSION,
        "prompt": subject.prompt,
        "stage": subject.stage,
        "tools": subject.tools,
        "model": subject.model,
        "sampling": [subject.sampling.temperature, subject.sampling.top_p],
        "max_output_tokens": subject.sampling.max_output_tokens,
    }))
}

/// The hash of everything that a conversation depends on. `files` are those that each message brings along.
pub(super) fn reply_key(subject: &str, input: &TestInput, files: &[String], sample: u32) -> String {
    let mut parts =
        json!({ "subject": subject, "content": input.content, "turns": input.turns, "sample": sample });
    if !files.is_empty() {
        parts["files"] = files.into();
    }
    hash(&parts)
}

pub(super) fn vote_key(judge: &ModelRef, question: &Question, vote: u32) -> String {
    hash(&json!({
        "judge": judge, "temperature": 0, "rubric": RUBRIC_VERSION, "proposition": question.proposition(),
        "context": question.context(), "reply": question.reply(), "vote": vote,
    }))
}

/// The kept results of one subject. Reading and writing never fail a test.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    pub(super) library: Library,
    pub(super) persona: String,
    /// True if nothing kept counts.
    pub(super) fresh: bool,
}

impl Cache {
    async fn get<T: serde::de::DeserializeOwned>(&self, kind: TestResultKind, key: &str) -> Option<T> {
        if self.fresh {
            return None;
        }
        match self.library.scopes.database().test_result(kind, key).await {
            Ok(kept) => serde_json::from_str(&kept?).ok(),
            Err(error) => {
                tracing::debug!(%error, "a test result was not read");
                None
            }
        }
    }

    async fn keep(&self, kind: TestResultKind, key: &str, subject: &str, value: &Value) {
        let tested = Tested { persona: &self.persona, subject };
        let database = self.library.scopes.database();
        if let Err(error) = database.keep_test_result(kind, key, tested, value.to_string()).await {
            tracing::debug!(%error, "a test result was not kept");
        }
    }

    pub(super) async fn reply(&self, key: &str) -> Option<Vec<Exchange>> {
        self.get(TestResultKind::Reply, key).await
    }

    pub(super) async fn keep_reply(&self, key: &str, subject: &str, exchanges: &[Exchange]) {
        self.keep(TestResultKind::Reply, key, subject, &json!(exchanges)).await;
    }

    pub(super) async fn vote(&self, key: &str) -> Option<Vote> {
        self.get(TestResultKind::Vote, key).await
    }

    pub(super) async fn keep_vote(&self, key: &str, subject: &str, vote: &Vote) {
        self.keep(TestResultKind::Vote, key, subject, &json!(vote)).await;
    }
}

/// Keeps a run as it is now.
pub(super) async fn keep_run(library: &Library, report: &TestReport) {
    let subject = report.columns.last().map_or("", |column| column.subject.as_str());
    let tested = Tested { persona: &report.persona, subject };
    let value = serde_json::to_string(report).unwrap_or_default();
    let database = library.scopes.database();
    if let Err(error) = database.keep_test_result(TestResultKind::Run, &report.id, tested, value).await {
        tracing::warn!(%error, "a test run was not kept");
    }
}
