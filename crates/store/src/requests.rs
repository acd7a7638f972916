//! Requests that carry a key, and their answers: a request whose answer was lost can be sent again.
//!
//! The key is claimed before the request runs, and the answer is stored after it. In between, the claim is
//! renewed; one that expired without an answer belongs to a process that died, and its request may have
//! been carried out. Nothing runs twice under one key while the key is kept.
//!
//! Times are those of the database's clock, which may jump. A claim never has more than its time left. A key
//! whose day is over stays until enough newer ones were claimed.

use std::time::Duration;

use database::{Dialect, Parameter};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Result, Store};

/// How long a key is kept at least.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a claim holds unless it is renewed.
const CLAIMED: Duration = Duration::from_secs(15);
/// The keys that are kept even if their time is over: those with the latest times. A clock that jumps
/// ahead by a day does not free a key that was claimed moments ago.
const NEWEST: usize = 1_000;
/// Requests that are past both limits, which one claim removes.
const PRUNED: usize = 20;

/// The outcome of claiming a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestClaim {
    /// The caller runs the request, then stores its answer under this claim.
    Granted(Uuid),
    Answered(StoredAnswer),
    /// Another caller runs the request.
    UnderWay,
    /// The caller that ran the request died before it stored the answer.
    Unknown,
    /// A different request has the key.
    OtherRequest,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// `None` if it is too large to keep.
    pub body: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    fingerprint: String,
    /// Milliseconds until the claim expires.
    left_ms: i64,
    status: Option<u16>,
    headers: Option<Vec<(String, String)>>,
    body: Option<String>,
}

impl Store {
    /// How often a caller renews its claim.
    pub const RENEW_CLAIM: Duration = Duration::from_secs(5);

    /// Claims a key for a request, or returns what became of it.
    pub async fn claim_request(&self, key: &str, fingerprint: &str) -> Result<RequestClaim> {
        let dialect = self.engine().dialect();
        let now = now_ms(dialect);
        // Without waiting for the disk: the library's own commit brings the claim to the disk as well.
        let mut transaction = self.engine().begin_without_sync().await?;
        transaction.run(&prune(dialect), &[]).await?;
        let over = format!("DELETE FROM masque_requests WHERE key = $1 AND {}", is_over(dialect));
        transaction.run(&over, &[Parameter::from(key)]).await?;
        // The clock may have gone back since the claim was made.
        let shortened = format!(
            "UPDATE masque_requests SET claimed_until = {now} + $2 \
             WHERE key = $1 AND status IS NULL AND claimed_until > {now} + $2"
        );
        transaction.run(&shortened, &[Parameter::from(key), milliseconds(CLAIMED)]).await?;
        let claim = Uuid::now_v7();
        let insert = format!(
            "INSERT INTO masque_requests (key, fingerprint, claim, claimed_until, expires_at) \
             VALUES ($1, $2, $3, {now} + $4, {now} + $5) ON CONFLICT (key) DO NOTHING"
        );
        let values = [
            Parameter::from(key),
            Parameter::from(fingerprint),
            Parameter::Uuid(claim),
            milliseconds(CLAIMED),
            milliseconds(KEPT),
        ];
        let claimed = transaction.run(&insert, &values).await? == 1;
        let row = match claimed {
            true => None,
            false => transaction.text(&select(dialect), &[Parameter::from(key)]).await?,
        };
        transaction.commit().await?;
        Ok(match row {
            None if claimed => RequestClaim::Granted(claim),
            // It was released just now.
            None => RequestClaim::UnderWay,
            Some(row) => serde_json::from_str::<Row>(&row)?.outcome(fingerprint),
        })
    }

    /// Keeps a claim while its request runs.
    pub async fn renew_request(&self, key: &str, claim: Uuid) -> Result<()> {
        let now = now_ms(self.engine().dialect());
        let sql = format!(
            "UPDATE masque_requests SET claimed_until = {now} + $3 WHERE key = $1 AND claim = $2 AND status IS NULL"
        );
        self.change_request(&sql, &[Parameter::from(key), Parameter::Uuid(claim), milliseconds(CLAIMED)])
            .await
    }

    /// Stores the answer to a claimed request.
    pub async fn answer_request(&self, key: &str, claim: Uuid, answer: &StoredAnswer) -> Result<()> {
        let sql =
            "UPDATE masque_requests SET status = $3, headers = $4, body = $5 WHERE key = $1 AND claim = $2";
        let values = [
            Parameter::from(key),
            Parameter::Uuid(claim),
            Parameter::Int(answer.status.into()),
            Parameter::Json(serde_json::to_string(&answer.headers)?),
            Parameter::MaybeText(answer.body.clone()),
        ];
        self.change_request(sql, &values).await
    }

    /// Frees the key of a request that had no effect.
    pub async fn release_request(&self, key: &str, claim: Uuid) -> Result<()> {
        let sql = "DELETE FROM masque_requests WHERE key = $1 AND claim = $2 AND status IS NULL";
        self.change_request(sql, &[Parameter::from(key), Parameter::Uuid(claim)]).await
    }

    async fn change_request(&self, sql: &str, values: &[Parameter]) -> Result<()> {
        let mut transaction = self.engine().begin_without_sync().await?;
        transaction.run(sql, values).await?;
        Ok(transaction.commit().await?)
    }
}

impl Row {
    fn outcome(self, fingerprint: &str) -> RequestClaim {
        match self.status {
            _ if self.fingerprint != fingerprint => RequestClaim::OtherRequest,
            Some(status) => RequestClaim::Answered(StoredAnswer {
                status,
                headers: self.headers.unwrap_or_default(),
                body: self.body,
            }),
            None if self.left_ms > 0 => RequestClaim::UnderWay,
            None => RequestClaim::Unknown,
        }
    }
}

fn milliseconds(duration: Duration) -> Parameter {
    Parameter::Int(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

/// The time of the database: nodes that share one agree on it, whatever their own clocks say.
pub(crate) fn now_ms(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
        Dialect::Postgres => "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
    }
}

fn prune(dialect: Dialect) -> String {
    let skip = match dialect {
        Dialect::Sqlite => "",
        // Another node may be pruning the same rows.
        Dialect::Postgres => " FOR UPDATE SKIP LOCKED",
    };
    let over = is_over(dialect);
    format!(
        "DELETE FROM masque_requests WHERE key IN (SELECT key FROM masque_requests \
         WHERE {over} ORDER BY expires_at LIMIT {PRUNED}{skip})"
    )
}

/// True for a request whose time is over and that is not among the newest ones.
fn is_over(dialect: Dialect) -> String {
    let now = now_ms(dialect);
    format!(
        "expires_at <= {now} AND expires_at < (SELECT expires_at FROM masque_requests \
         ORDER BY expires_at DESC LIMIT 1 OFFSET {})",
        NEWEST - 1
    )
}

fn select(dialect: Dialect) -> String {
    let fields = [
        ("fingerprint", "fingerprint".to_owned()),
        ("left_ms", format!("claimed_until - {}", now_ms(dialect))),
        ("status", "status".to_owned()),
        ("headers", dialect.json_value("headers", database::Column::Json)),
        ("body", "body".to_owned()),
    ];
    let object = dialect.text(&dialect.object(&fields));
    format!("SELECT {object} FROM masque_requests WHERE key = $1")
}
