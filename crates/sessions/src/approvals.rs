//! Calls that wait for approval, stored as rows. No task waits with them.

use agent::{Approval, ApprovalAnswer, Entry};
use serde::Deserialize;
use uuid::Uuid;

use crate::log::{Inserts, insert, inserts};
use crate::runs::lock;
use crate::{BuiltStatement, ROWS, Row, Statement, Work};
use crate::{Result, Sessions};
use database::{Column, Dialect, Parameter, now};

/// The outcome of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// Stored. The note is at `seq`, and this many requests of the session are still open.
    Recorded {
        seq: i64,
        pending: usize,
    },
    /// Already answered, with this decision.
    AlreadyAnswered(ApprovalAnswer),
    Missing,
}

/// Stores requests, the first at `first`.
pub(super) async fn ask(work: &mut Work, session: Uuid, first: i64, requests: &[Approval]) -> Result<()> {
    static STATEMENTS: Inserts = Inserts::new(|| {
        inserts("session_approvals (session_id, seq, call_id, tool_name, input, asked_at, answer)", 6)
    });
    let mut seq = first;
    for requests in requests.chunks(ROWS) {
        let mut values = vec![Parameter::Uuid(session)];
        for request in requests {
            let answer = request.answer.as_ref().map(serde_json::to_string).transpose()?;
            values.extend([
                Parameter::Int(seq),
                Parameter::from(request.call.id.as_str()),
                Parameter::from(request.call.name.as_str()),
                Parameter::Text(serde_json::to_string(&request.call.input)?),
                Parameter::Time(request.asked_at),
                Parameter::MaybeText(answer),
            ]);
            seq += 1;
        }
        work.run(&STATEMENTS[requests.len() - 1], &values).await?;
    }
    Ok(())
}

static PENDING: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|_| {
        "SELECT CAST(count(*) AS text) FROM session_approvals WHERE session_id = $1 AND answer IS NULL"
            .to_owned()
    })
});

/// The number of open requests of a session.
pub(super) async fn pending(work: &mut Work, session: Uuid) -> Result<usize> {
    let count = work.text(&PENDING, &[Parameter::Uuid(session)]).await?;
    Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// JSON that is stored as text, for use in a JSON object. Not jsonb, which has no NUL.
fn nested(dialect: Dialect, column: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("json({column})"),
        Dialect::Postgres => format!("{column}::json"),
    }
}

/// A request `a` as [`Approval`] reads it.
fn document(dialect: Dialect) -> String {
    let field = |name: &'static str, holds| (name, dialect.json_value(&format!("a.{name}"), holds));
    dialect.text(&dialect.object(&[
        ("session", "a.session_id".to_owned()),
        field("call_id", Column::Text),
        field("tool_name", Column::Text),
        ("input", nested(dialect, "a.input")),
        field("asked_at", Column::Time),
        ("answer", nested(dialect, "a.answer")),
    ]))
}

fn listing(condition: &'static str) -> Statement {
    Statement::new(|dialect| {
        let document = document(dialect);
        format!(
            "SELECT {document} FROM session_approvals a WHERE a.session_id = $1{condition} ORDER BY a.seq"
        )
    })
}

static ALL: BuiltStatement = BuiltStatement::new(|| listing(""));
static ONLY_PENDING: BuiltStatement = BuiltStatement::new(|| listing(" AND a.answer IS NULL"));

/// The open request of a call, or else the latest.
static OF_CALL: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let row = dialect
            .text(&dialect.object(&[("seq", "a.seq".to_owned()), ("answer", nested(dialect, "a.answer"))]));
        format!(
            "SELECT {row} FROM session_approvals a WHERE a.session_id = $1 AND a.call_id = $2 \
             ORDER BY CASE WHEN a.answer IS NULL THEN 0 ELSE 1 END, a.seq DESC LIMIT 1"
        )
    })
});

impl Sessions {
    /// The requests of a session, in order.
    pub async fn approvals(&self, session: Uuid, pending_only: bool) -> Result<Vec<Approval>> {
        let statement = if pending_only { &ONLY_PENDING } else { &ALL };
        let found = self.session_texts(statement, &[Parameter::Uuid(session)]).await?;
        Ok(found.iter().map(|text| serde_json::from_str(text)).collect::<std::result::Result<_, _>>()?)
    }

    /// Stores the answer to a request, and the note that shows it to viewers. The first answer counts.
    pub async fn answer_approval(
        &self,
        session: Uuid,
        call_id: &str,
        answer: &ApprovalAnswer,
        note: &Entry,
    ) -> Result<AnswerOutcome> {
        #[derive(Deserialize)]
        struct Found {
            seq: i64,
            answer: Option<ApprovalAnswer>,
        }
        let note = Row::of(note)?;
        let mut work = Work::begin(self).await?;
        let Some(locked) = lock(&mut work, session).await? else { return Ok(AnswerOutcome::Missing) };
        let found = work.text(&OF_CALL, &[Parameter::Uuid(session), Parameter::from(call_id)]).await?;
        let Some(found) = found else { return Ok(AnswerOutcome::Missing) };
        let found: Found = serde_json::from_str(&found)?;
        if let Some(answer) = found.answer {
            return Ok(AnswerOutcome::AlreadyAnswered(answer));
        }
        let text = Parameter::Text(serde_json::to_string(answer)?);
        let sql = "UPDATE session_approvals SET answer = $1 WHERE session_id = $2 AND seq = $3";
        work.run(sql, &[text, Parameter::Uuid(session), Parameter::Int(found.seq)]).await?;
        let seq = locked.seq + 1;
        let sql = "UPDATE sessions SET last_seq = $1, updated_at = $2 WHERE id = $3";
        work.run(sql, &[Parameter::Int(seq), Parameter::Time(now()), Parameter::Uuid(session)]).await?;
        insert(&mut work, session, seq, vec![note]).await?;
        let pending = pending(&mut work, session).await?;
        work.commit().await?;
        Ok(AnswerOutcome::Recorded { seq, pending })
    }
}
