//! Results of models that need not be paid for twice: replies and verdicts of tests, summaries of files; and the
//! last runs of tests.
//!
//! They are state: no copy includes them, and a result that is lost is made again. Old ones make room.

use database::Parameter;

use crate::requests::now_ms;
use crate::{Result, Store};

/// The kinds of results, with the most of each that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestResultKind {
    Reply,
    Vote,
    Run,
    /// The summary of a file's content.
    Summary,
}

impl TestResultKind {
    const ALL: [Self; 4] = [Self::Reply, Self::Vote, Self::Run, Self::Summary];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Reply => "reply",
            Self::Vote => "vote",
            Self::Run => "run",
            Self::Summary => "summary",
        }
    }

    const fn most(self) -> i64 {
        match self {
            Self::Reply => 10_000,
            Self::Vote => 50_000,
            Self::Run => 500,
            Self::Summary => 20_000,
        }
    }
}

/// The subject of a result.
#[derive(Debug, Clone, Copy)]
pub struct Tested<'a> {
    pub persona: &'a str,
    /// The hash of everything that replies depend on.
    pub subject: &'a str,
}

impl Store {
    /// A result that was kept.
    pub async fn test_result(&self, kind: TestResultKind, key: &str) -> Result<Option<String>> {
        let sql = "SELECT value FROM masque_tests WHERE key = $1";
        Ok(self.engine().text(sql, &[Parameter::Text(full_key(kind, key))]).await?)
    }

    /// Keeps a result. One of the same key is replaced.
    pub async fn keep_test_result(
        &self,
        kind: TestResultKind,
        key: &str,
        tested: Tested<'_>,
        value: String,
    ) -> Result<()> {
        let now = now_ms(self.engine().dialect());
        let sql = format!(
            "INSERT INTO masque_tests (key, kind, persona, subject, value, kept_at) VALUES ($1, $2, $3, $4, $5, {now}) \
             ON CONFLICT (key) DO UPDATE SET persona = excluded.persona, subject = excluded.subject, \
             value = excluded.value, kept_at = excluded.kept_at"
        );
        let values = [
            Parameter::Text(full_key(kind, key)),
            Parameter::from(kind.as_str()),
            Parameter::from(tested.persona),
            Parameter::from(tested.subject),
            Parameter::Text(value),
        ];
        let mut transaction = self.engine().begin_without_sync().await?;
        transaction.run(&sql, &values).await?;
        Ok(transaction.commit().await?)
    }

    /// The last results of a kind about a persona, or about any, newest first.
    pub async fn last_test_results(
        &self,
        kind: TestResultKind,
        persona: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>> {
        let sql = format!(
            "SELECT value FROM masque_tests WHERE kind = $1 AND ($2 = '' OR persona = $2) \
             ORDER BY kept_at DESC, key DESC LIMIT {most}"
        );
        let values = [Parameter::from(kind.as_str()), Parameter::from(persona.unwrap_or_default())];
        Ok(self.engine().texts(sql, &values).await?)
    }

    /// Removes the oldest results beyond the most that are kept.
    pub async fn prune_test_results(&self) -> Result<()> {
        let mut transaction = self.engine().begin_without_sync().await?;
        for kind in TestResultKind::ALL {
            let sql = format!(
                "DELETE FROM masque_tests WHERE key IN (SELECT key FROM masque_tests WHERE kind = $1 \
                 ORDER BY kept_at DESC, key DESC LIMIT 1000000 OFFSET {})",
                kind.most()
            );
            transaction.run(&sql, &[Parameter::from(kind.as_str())]).await?;
        }
        Ok(transaction.commit().await?)
    }
}

fn full_key(kind: TestResultKind, key: &str) -> String {
    format!("{}:{key}", kind.as_str())
}
