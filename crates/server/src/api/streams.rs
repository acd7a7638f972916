//! Streams of a session's events.

use std::sync::Arc;

use app::StoredAnswer;
use app::running::Subscription;
use http::StatusCode;
use operations::RunStream;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ApiState, context};
use crate::answer::Answer;
use crate::extract::Fields;
use crate::idempotency::{self, Begun, RequestKey};
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::result::ApiResult;

/// A stream, or the kept answer of a message that failed.
pub(super) enum Opened {
    Stream { subscription: Subscription, replayed: bool },
    Answer(Answer),
}

/// A run, as the answer to the message that began it. Its events are in the session's log.
#[derive(Serialize, Deserialize)]
struct RunPlace {
    session: Uuid,
    /// The message's place in the log.
    message: i64,
}

/// Opens a stream. A message with a key is sent once; repeated, it streams the events of its run again.
pub(super) async fn open(
    state: Arc<ApiState>,
    run: RunStream,
    fields: Fields,
    key: Option<RequestKey>,
) -> ApiResult<Opened> {
    let Some(key) = key else {
        return Ok(Opened::Stream { subscription: subscribe(&state, run, fields).await?, replayed: false });
    };
    match key.begin(state.library()).await? {
        Begun::Answered(stored) => again(&state, stored).await,
        Begun::First(attempt) => {
            let opened = subscribe(&state, run, fields).await;
            let kept = opened.as_ref().map(|opened| place(opened.session(), opened.begins_after()));
            attempt.settle(kept).await;
            opened.map(|subscription| Opened::Stream { subscription, replayed: false })
        }
    }
}

async fn subscribe(state: &ApiState, run: RunStream, fields: Fields) -> ApiResult<Subscription> {
    let author = || state.author.clone();
    run(&context(state, &author), fields).await.map_err(Problem::from)
}

fn place(session: Uuid, message: i64) -> StoredAnswer {
    let body = serde_json::to_string(&RunPlace { session, message }).ok();
    StoredAnswer { status: StatusCode::OK.as_u16(), headers: Vec::new(), body }
}

async fn again(state: &ApiState, stored: StoredAnswer) -> ApiResult<Opened> {
    if stored.status != StatusCode::OK.as_u16() {
        return idempotency::replay(stored).map(Opened::Answer);
    }
    let place: Option<RunPlace> = stored.body.and_then(|body| serde_json::from_str(&body).ok());
    let RunPlace { session, message } = place.ok_or(RequestError::NotKept)?;
    let subscription = state.runtime.follow_run(session, message).await?;
    Ok(Opened::Stream { subscription, replayed: true })
}
