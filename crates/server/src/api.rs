//! The routes under `/api`, one for each request line of the table of operations.
//!
//! A request is read into the fields of its operation's input, run, and answered with the outcome.

use std::sync::{Arc, LazyLock, OnceLock};

use app::{Author, Library, LintOptions, Runtime};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use mcp::http::Stopping;
use operations::schema::InputField;
use operations::{
    BoxedOutcome, CallError, Context, Effect, Front, Media, Method, Operation, OperationFn, Route, RunCall,
    RunStream, schema,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::conditional::Conditions;
use crate::events::{Events, LAST_EVENT_ID};
use crate::extract::{self, Fields};
use crate::limits::{EVENT_RETRY_AFTER_S, SESSION_STREAMS};
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::result::{ApiResult, Refused, run_to_completion};
use crate::session_stream::{self, Opening};
use crate::{conditional, problem_header};

/// The front that changes made here are recorded under.
const FRONT: &str = "http";

/// The path of the OpenAPI document.
const DESCRIPTION: &str = "/api/openapi.json";

/// The state that all requests share.
#[derive(Debug)]
struct ApiState {
    runtime: Runtime,
    author: Author,
    lint: LintOptions,
    events: Events,
    streams: Arc<Semaphore>,
}

/// A request line and the operation behind it.
#[derive(Debug)]
struct Endpoint {
    operation: &'static Operation,
    route: Route,
    /// The fields of the input, made by the first request.
    known: OnceLock<Vec<InputField>>,
}

/// Routes for every operation that HTTP offers. Changes are recorded under `user`, or under the
/// front's name if there is none.
pub(crate) fn routes(runtime: Runtime, user: Option<String>, lint: LintOptions) -> Router {
    let library = runtime.library().clone();
    let state = Arc::new(ApiState {
        author: Author::new(user.unwrap_or_else(|| FRONT.to_owned()), FRONT),
        lint,
        events: Events::new(library.clone()),
        streams: Arc::new(Semaphore::new(SESSION_STREAMS)),
        runtime,
    });
    let (mut of_library, mut of_sessions) = (Router::new(), Router::new());
    for group in operations::groups() {
        let router = if group.of_sessions { &mut of_sessions } else { &mut of_library };
        for operation in group.operations {
            for route in operation.http.routes() {
                let endpoint = Arc::new(Endpoint { operation, route, known: OnceLock::new() });
                let state = Arc::clone(&state);
                let handler = on(filter(route.method), move |request| handle(state, endpoint, request));
                *router = std::mem::take(router).route(&route.path(), handler);
            }
        }
    }
    of_library = of_library.route(DESCRIPTION, on(MethodFilter::GET, describe));
    let warned: Router = of_library.route_layer(from_fn_with_state(library, problem_header::tell));
    warned.merge(of_sessions)
}

/// The OpenAPI document, made by the first request.
async fn describe(headers: HeaderMap) -> ApiResult<Response> {
    static DOCUMENT: LazyLock<String> =
        LazyLock::new(|| operations::openapi(env!("CARGO_PKG_VERSION")).to_string());
    let tag = conditional::hash(&DOCUMENT);
    if Conditions::read(&headers)?.has(&tag) {
        return Ok(conditional::not_modified(Some(tag)));
    }
    let mut response = Response::new(Body::from(DOCUMENT.as_str()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    conditional::insert(response.headers_mut(), Some(tag));
    Ok(response)
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

impl Endpoint {
    fn known(&self) -> &[InputField] {
        self.known.get_or_init(|| schema::fields(&schema::input(self.operation.input)))
    }

    fn takes(&self, field: &str) -> bool {
        self.known().iter().any(|known| known.name == field)
    }
}

impl ApiState {
    fn library(&self) -> &Library {
        self.runtime.library()
    }

    /// Reserves a stream before anything starts for it.
    fn slot(&self) -> ApiResult<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            let error = RequestError::TooManyStreams { what: "sessions", most: SESSION_STREAMS };
            Problem::from(error).retry_after(EVENT_RETRY_AFTER_S)
        })
    }
}

async fn handle(state: Arc<ApiState>, endpoint: Arc<Endpoint>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    match respond(state, &endpoint, &mut parts, body).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn respond(
    state: Arc<ApiState>,
    endpoint: &Endpoint,
    parts: &mut Parts,
    body: Body,
) -> ApiResult<Response> {
    let mut fields =
        extract::fields(endpoint.operation, endpoint.route, endpoint.known(), parts, body).await?;
    let stopping =
        parts.extensions.get::<Stopping>().map(|Stopping(token)| token.clone()).unwrap_or_default();
    match endpoint.operation.run {
        OperationFn::Call(run) => {
            let conditions = Conditions::read(&parts.headers)?;
            conditions.apply(endpoint.operation, |field| endpoint.takes(field), &mut fields)?;
            let answer = answer(&state, endpoint.operation.effect, run, fields).await;
            let answer = answer.map_err(|refused| conditions.problem(refused))?;
            finish(endpoint.operation, &answer, &conditions)
        }
        OperationFn::Stream(run) => {
            if let (true, Some(id)) = (endpoint.takes("after"), last_event_id(parts)) {
                // A client that reconnects sends a newer id than its address has.
                fields.insert("after".to_owned(), id.into());
            }
            let opening =
                if endpoint.route.method == Method::Get { Opening::Resumable } else { Opening::Plain };
            let slot = state.slot()?;
            let subscription = run_to_completion(subscribe(state, run, fields)).await?;
            Ok(session_stream::answer(subscription, stopping, slot, opening))
        }
        OperationFn::LibraryEvents => Ok(state.events.open(last_event_id(parts).as_deref(), stopping)),
    }
}

fn last_event_id(parts: &Parts) -> Option<String> {
    let id = parts.headers.get(LAST_EVENT_ID).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    id.filter(|id| !id.trim().is_empty())
}

/// Runs an operation; one that writes outlives its client.
async fn answer(
    state: &Arc<ApiState>,
    effect: Effect,
    run: RunCall,
    fields: Fields,
) -> Result<BoxedOutcome, Refused> {
    let state = Arc::clone(state);
    let work = async move {
        let author = || state.author.clone();
        run(&context(&state, &author), fields).await
    };
    match effect {
        Effect::Read => work.await.map_err(Refused::Operation),
        _ => run_to_completion(work).await,
    }
}

async fn subscribe(
    state: Arc<ApiState>,
    run: RunStream,
    fields: Fields,
) -> Result<app::running::Subscription, CallError> {
    let author = || state.author.clone();
    run(&context(&state, &author), fields).await
}

fn context<'a>(state: &'a ApiState, author: &'a (dyn Fn() -> Author + Send + Sync)) -> Context<'a> {
    Context {
        library: state.library(),
        runtime: Some(&state.runtime),
        author,
        front: Front::Http,
        lint: Some(&state.lint),
    }
}

/// The response to a finished operation.
fn finish(operation: &Operation, answer: &BoxedOutcome, conditions: &Conditions) -> ApiResult<Response> {
    let (content_type, body) = match operation.media {
        Media::Nothing => return Ok(StatusCode::NO_CONTENT.into_response()),
        Media::Json | Media::Events => ("application/json", answer.json().map_err(CallError::Json)?),
        Media::Markdown => {
            let value = answer.value().map_err(CallError::Json)?;
            ("text/markdown; charset=utf-8", value.as_str().unwrap_or_default().to_owned())
        }
    };
    let tag = conditional::tag(operation, answer, &body);
    if conditions.is_current(operation, tag.as_ref()) {
        return Ok(conditional::not_modified(tag));
    }
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    conditional::insert(headers, tag);
    if let Some(location) = answer.location() {
        *response.status_mut() = StatusCode::CREATED;
        if let Ok(location) = HeaderValue::try_from(location) {
            response.headers_mut().insert(http::header::LOCATION, location);
        }
    }
    Ok(response)
}
