//! `/api/sessions`: talking to personas.
//!
//! A message is answered with a stream of what comes of it; anybody else may watch the same session
//! on a stream of their own, and come back to it with the id of the last event.

use std::sync::Arc;

use agent::{Mode, limits};
use app::Runtime;
use app::inputs::parse;
use app::running::{Approvals, CreateSession, SendOptions, SessionList, SessionView};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, patch, post};
use axum::{Extension, Json, Router};
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use mcp::http::Stopping;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::{Answer, whole};
use crate::asked::{Input, query};
use crate::limits::{EVENT_RETRY_AFTER_S, SESSION_STREAMS};
use crate::problem::Problem;

mod change;
use change::change;

mod decisions;
use decisions::{ApprovalInput, PlanInput};

mod named;
use named::{CallId, SessionId};

mod place;

mod stream;
use stream::Opening;

/// What all routes share.
#[derive(Debug)]
struct Sessions {
    runtime: Runtime,
    streams: Arc<Semaphore>,
}

type Shared = State<Arc<Sessions>>;
type Stop = Option<Extension<Stopping>>;

pub(crate) fn routes(runtime: Runtime) -> Router {
    let sessions = Sessions { runtime, streams: Arc::new(Semaphore::new(SESSION_STREAMS)) };
    Router::new()
        .route("/api/sessions", get(list).post(create))
        .route("/api/sessions/{id}", get(one).patch(change).delete(remove))
        .route("/api/sessions/{id}/mode", patch(set_mode))
        .route("/api/sessions/{id}/messages", post(messages))
        .route("/api/sessions/{id}/cancel", post(cancel))
        .route("/api/sessions/{id}/approvals/{call_id}", post(decide))
        .route("/api/sessions/{id}/plan", get(plan).post(decide_plan))
        .route("/api/sessions/{id}/undo", post(undo))
        .route("/api/sessions/{id}/events", get(events))
        .route("/api/models", get(models))
        .with_state(Arc::new(sessions))
}

impl Sessions {
    /// A place for a stream, taken before anything begins for it.
    fn slot(&self) -> Answer<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            let detail =
                format!("{SESSION_STREAMS} streams of sessions are open, and there are no more; close one");
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(EVENT_RETRY_AFTER_S)
        })
    }
}

async fn create(State(sessions): Shared, Input(input): Input<CreateSession>) -> Answer<Response> {
    let runtime = sessions.runtime.clone();
    let view = whole(async move { runtime.create_session(input).await }).await?;
    let location = HeaderValue::try_from(format!("/api/sessions/{}", view.session.id));
    let mut response = (StatusCode::CREATED, Json(view)).into_response();
    if let Ok(location) = location {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

async fn list(State(sessions): Shared, uri: Uri) -> Answer<Json<SessionList>> {
    let input = parse(&query(&uri)?).map_err(Problem::invalid)?;
    Ok(Json(sessions.runtime.sessions(input).await?))
}

async fn one(State(sessions): Shared, SessionId(id): SessionId) -> Answer<Json<SessionView>> {
    Ok(Json(sessions.runtime.session(id).await?))
}

/// What is not there is as good as deleted.
async fn remove(State(sessions): Shared, SessionId(id): SessionId) -> Answer<StatusCode> {
    let runtime = sessions.runtime.clone();
    whole(async move { runtime.delete_session(id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModeInput {
    mode: String,
}

async fn set_mode(
    State(sessions): Shared,
    SessionId(id): SessionId,
    Input(input): Input<ModeInput>,
) -> Answer<Json<SessionView>> {
    let mode: Mode =
        input.mode.parse().map_err(|error: agent::ModeError| Problem::invalid(error.to_string()))?;
    let runtime = sessions.runtime.clone();
    Ok(Json(whole(async move { runtime.set_mode(id, mode).await }).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageInput {
    content: String,
    /// Goes on when nobody watches.
    #[serde(default)]
    detached: bool,
    /// In place of what the persona says.
    #[serde(default)]
    max_tool_rounds: Option<u32>,
    /// What becomes of calls that need permission; without it, whoever watches is asked.
    #[serde(default)]
    approve: Option<Approve>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Approve {
    /// The run waits for an answer also where nobody watches.
    Ask,
    Read,
    All,
}

impl Approve {
    fn approvals(asked: Option<Self>) -> Approvals {
        match asked {
            None => Approvals::AskViewer,
            Some(Self::Ask) => Approvals::Ask,
            Some(Self::Read) => Approvals::Read,
            Some(Self::All) => Approvals::All,
        }
    }
}

/// Says something; the answer is what comes of it, to the end of the run.
async fn messages(
    State(sessions): Shared,
    SessionId(id): SessionId,
    stop: Stop,
    Input(input): Input<MessageInput>,
) -> Answer<Response> {
    let MessageInput { content, detached, max_tool_rounds, approve } = input;
    if max_tool_rounds.is_some_and(|rounds| !(1..=limits::MOST_TOOL_ROUNDS).contains(&rounds)) {
        let most = limits::MOST_TOOL_ROUNDS;
        return Err(Problem::invalid(format!("max_tool_rounds: must be from 1 to {most}")));
    }
    let slot = sessions.slot()?;
    let runtime = sessions.runtime.clone();
    let options = SendOptions { approvals: Approve::approvals(approve), detached, max_tool_rounds };
    let subscription = whole(async move { runtime.send(id, content, options).await }).await?;
    Ok(stream::answer(subscription, stopping(stop), slot, Opening::Plain))
}

/// A session's events, for whoever watches.
async fn events(
    State(sessions): Shared,
    SessionId(id): SessionId,
    stop: Stop,
    headers: HeaderMap,
    uri: Uri,
) -> Answer<Response> {
    let after = place::of(&headers, &uri)?;
    if let Some(after) = after {
        place::check(after, &sessions.runtime.session(id).await?.session)?;
    }
    let slot = sessions.slot()?;
    let subscription = sessions.runtime.events(id, after).await?;
    Ok(stream::answer(subscription, stopping(stop), slot, Opening::Resumable))
}

fn stopping(stop: Stop) -> tokio_util::sync::CancellationToken {
    stop.map(|Extension(Stopping(token))| token).unwrap_or_default()
}

#[derive(Debug, Serialize)]
struct Cancelled {
    /// Whether there was something to stop.
    cancelled: bool,
}

async fn cancel(State(sessions): Shared, SessionId(id): SessionId) -> Answer<Json<Cancelled>> {
    let runtime = sessions.runtime.clone();
    let cancelled = whole(async move { runtime.cancel(id).await }).await?;
    Ok(Json(Cancelled { cancelled }))
}

async fn decide(
    State(sessions): Shared,
    SessionId(id): SessionId,
    CallId(call): CallId,
    Input(input): Input<ApprovalInput>,
) -> Answer<Json<SessionView>> {
    let decision = input.decision()?;
    let runtime = sessions.runtime.clone();
    Ok(Json(whole(async move { runtime.decide(id, &call, decision).await }).await?))
}

/// The plan as it was handed over, in markdown.
async fn plan(State(sessions): Shared, SessionId(id): SessionId) -> Answer<Response> {
    let view = sessions.runtime.session(id).await?;
    let Some(plan) = view.session.plan else {
        let detail = format!("session {id} has no plan yet; ask for one in plan mode");
        return Err(Problem::new(StatusCode::NOT_FOUND, detail));
    };
    let markdown = HeaderValue::from_static("text/markdown; charset=utf-8");
    Ok(([(CONTENT_TYPE, markdown)], plan.content).into_response())
}

async fn decide_plan(
    State(sessions): Shared,
    SessionId(id): SessionId,
    Input(input): Input<PlanInput>,
) -> Answer<Json<SessionView>> {
    let approved = input.is_approved();
    let runtime = sessions.runtime.clone();
    Ok(Json(whole(async move { runtime.decide_plan(id, approved).await }).await?))
}

/// Takes the last message back, and says what it was.
async fn undo(State(sessions): Shared, SessionId(id): SessionId) -> Answer<Json<Value>> {
    let runtime = sessions.runtime.clone();
    let content = whole(async move { runtime.undo(id).await }).await?;
    Ok(Json(json!({ "content": content })))
}

async fn models(State(sessions): Shared) -> Json<Value> {
    Json(json!({ "providers": sessions.runtime.models().await }))
}
