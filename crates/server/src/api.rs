//! The routes under `/api`, one for each request line of the table of operations.
//!
//! A request is read into the fields of its operation's input, run, and answered with the outcome.

use std::sync::{Arc, LazyLock, OnceLock};

use app::editing::ChatEvents;
use app::{Author, Library, LintOptions, Runtime};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use mcp::http::Stopping;
use operations::schema::InputField;
use operations::{
    BoxedOutcome, CallError, Context, Effect, Front, Media, Method, Operation, OperationFn, Route, RunCall,
    schema,
};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::capacity::Capacity;
use crate::conditional::Conditions;
use crate::events::{Events, LAST_EVENT_ID};
use crate::extract::{self, Fields};
use crate::front::Answered;
use crate::idempotency::{self, Begun, REPLAYED, RequestKey};
use crate::kept_reads::{self, Keeping, KeptReads};
use crate::limits::REQUEST_TIMEOUT;
use crate::metrics::{Metrics, Open};
use crate::open_streams::{OpenStreams, StreamOf};
use crate::problem::Problem;
use crate::result::{ApiResult, run_to_completion, within};
use crate::serve::OpenConnections;
use crate::session_stream::{self, Ending, Form, Opening};
use crate::{api_docs, conditional, problem_header, test_stream, track_stream};

mod streams;
use streams::Opened;

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
    streams: OpenStreams,
    metrics: Arc<Metrics>,
    kept: Arc<KeptReads>,
    ending: Ending,
}

/// A request line and the operation behind it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) operation: &'static Operation,
    route: Route,
    /// The path with plain segments.
    pub(crate) path: String,
    /// The fields of the input, made by the first request.
    known: OnceLock<Vec<InputField>>,
}

/// Routes for every operation that HTTP offers. Changes are recorded under `user`, or under the
/// front's name if there is none.
pub(crate) fn routes(
    runtime: Runtime,
    user: Option<String>,
    lint: LintOptions,
    metrics: Arc<Metrics>,
    kept: Arc<KeptReads>,
) -> Router {
    let library = runtime.library().clone();
    let Capacity { session_streams, event_streams, .. } = Capacity::of_process();
    let state = Arc::new(ApiState {
        author: Author::new(user.unwrap_or_else(|| FRONT.to_owned()), FRONT),
        lint,
        events: Events::new(library.clone(), event_streams),
        streams: OpenStreams::new(session_streams),
        metrics,
        kept,
        ending: Ending::new(runtime.clone()),
        runtime,
    });
    let (mut of_library, mut of_sessions) = (Router::new(), Router::new());
    for group in operations::groups() {
        let router = if group.of_sessions { &mut of_sessions } else { &mut of_library };
        for operation in group.operations {
            for route in operation.http.routes() {
                let path = route.path();
                let known = OnceLock::new();
                let endpoint = Arc::new(Endpoint { operation, route, path: path.clone(), known });
                let state = Arc::clone(&state);
                let handler = on(filter(route.method), move |request| handle(state, endpoint, request));
                *router = std::mem::take(router).route(&path, handler);
            }
        }
    }
    of_library = of_library.route(DESCRIPTION, on(MethodFilter::GET, describe));
    of_library = of_library.route(api_docs::PATH, on(MethodFilter::GET, api_docs::answer));
    of_sessions =
        of_sessions.route("/metrics", on(MethodFilter::GET, move |request| measure(state, request)));
    let warned: Router = of_library.route_layer(from_fn_with_state(library, problem_header::tell));
    warned.merge(of_sessions)
}

/// The OpenAPI document, made by the first request.
async fn describe(headers: HeaderMap) -> ApiResult<Response> {
    static DOCUMENT: LazyLock<String> =
        LazyLock::new(|| operations::openapi(env!("CARGO_PKG_VERSION")).to_string());
    static TAG: LazyLock<String> = LazyLock::new(|| conditional::hash(&DOCUMENT));
    if Conditions::read(&headers)?.has(&TAG) {
        return Ok(conditional::not_modified(Some(&TAG)).into_response());
    }
    let mut response = Response::new(Body::from(DOCUMENT.as_str()));
    response.extensions_mut().insert(Answered("openapi"));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    conditional::insert(response.headers_mut(), Some(&TAG));
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

    /// True if the answer to these fields is kept. Revisions of the past are not: their history may be
    /// pruned, and one is seldom read twice.
    fn keeps(&self, fields: &Fields) -> bool {
        self.route.method == Method::Get
            && kept_reads::is_kept(self.operation.name)
            && !fields.contains_key("revision")
    }
}

impl ApiState {
    fn library(&self) -> &Library {
        self.runtime.library()
    }
}

async fn handle(state: Arc<ApiState>, endpoint: Arc<Endpoint>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let operation = Answered(endpoint.operation.name);
    let mut response = match respond(state, endpoint, &mut parts, body).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    response.extensions_mut().insert(operation);
    response
}

/// `GET /metrics`.
async fn measure(state: Arc<ApiState>, request: Request) -> Response {
    let connections = request.extensions().get::<OpenConnections>();
    let open = Open {
        session_streams: state.streams.count(StreamOf::Sessions),
        test_streams: state.streams.count(StreamOf::Tests),
        track_streams: state.streams.count(StreamOf::Tracks),
        event_streams: state.events.open_streams(),
        connections: connections.map(OpenConnections::count),
    };
    state.metrics.answer(&state.runtime, open).await
}

async fn respond(
    state: Arc<ApiState>,
    endpoint: Arc<Endpoint>,
    parts: &mut Parts,
    body: Body,
) -> ApiResult<Response> {
    let mut fields =
        extract::fields(endpoint.operation, endpoint.route, endpoint.known(), parts, body).await?;
    let stopping =
        parts.extensions.get::<Stopping>().map(|Stopping(token)| token.clone()).unwrap_or_default();
    let key = RequestKey::read(endpoint.operation, parts, &fields)?;
    let effect = endpoint.operation.effect;
    match endpoint.operation.run {
        OperationFn::Call(run) => {
            let conditions = Conditions::read(&parts.headers)?;
            conditions.apply(endpoint.operation, |field| endpoint.takes(field), &mut fields)?;
            let keeping = endpoint.keeps(&fields).then(|| {
                let named = fields.get("name").and_then(Value::as_str);
                KeptReads::begin(&endpoint, &parts.uri, named, state.library())
            });
            let keeping = keeping.flatten();
            let call = Call { state, endpoint, run, fields, conditions, keeping };
            let answered = async {
                match effect {
                    Effect::Read => call.answer().await,
                    // A write outlives its client.
                    _ => run_to_completion(call.answer_once(key)).await,
                }
            };
            within(REQUEST_TIMEOUT, effect, answered).await.map(IntoResponse::into_response)
        }
        OperationFn::Stream(run) | OperationFn::Chat(run) => {
            let form = match endpoint.operation.run {
                OperationFn::Chat(_) => Form::Chat(ChatEvents::default()),
                _ => Form::Session,
            };
            if let (true, Some(id)) = (endpoint.takes("after"), last_event_id(parts)) {
                // A client that reconnects sends a newer id than its address has.
                fields.insert("after".to_owned(), id.into());
            }
            let opening =
                if endpoint.route.method == Method::Get { Opening::Resumable } else { Opening::Plain };
            let slot = state.streams.slot(StreamOf::Sessions)?;
            let ending = state.ending.clone();
            let opened = run_to_completion(streams::open(state, run, fields, key));
            Ok(match within(REQUEST_TIMEOUT, effect, opened).await? {
                Opened::Stream { subscription, replayed } => {
                    let ends = (stopping, ending);
                    let mut response = session_stream::answer(subscription, form, ends, slot, opening);
                    if replayed {
                        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
                    }
                    response
                }
                Opened::Answer(answer) => answer.into_response(),
            })
        }
        OperationFn::TestEvents(run) => {
            let slot = state.streams.slot(StreamOf::Tests)?;
            let events = begin(&state, effect, run, fields).await?;
            Ok(test_stream::answer(events, (stopping, state.ending.clone()), slot))
        }
        OperationFn::TrackEvents(run) => {
            if let Some(seq) = last_event_id(parts).and_then(|id| id.trim().parse::<u64>().ok()) {
                fields.insert("after".to_owned(), seq.into());
            }
            let slot = state.streams.slot(StreamOf::Tracks)?;
            let events = begin(&state, effect, run, fields).await?;
            Ok(track_stream::answer(events, stopping, slot))
        }
        OperationFn::LibraryEvents => Ok(state.events.open(last_event_id(parts).as_deref(), stopping)),
    }
}

type Beginning<T> = for<'a> fn(&'a Context<'a>, Map<String, Value>) -> BoxFuture<'a, Result<T, CallError>>;

/// Calls an operation that answers with a stream of its own.
async fn begin<T>(
    state: &ApiState,
    effect: Effect,
    run: Beginning<T>,
    fields: Map<String, Value>,
) -> ApiResult<T> {
    let author = || state.author.clone();
    within(REQUEST_TIMEOUT, effect, async {
        run(&context(state, &author), fields).await.map_err(Problem::from)
    })
    .await
}

fn last_event_id(parts: &Parts) -> Option<String> {
    let id = parts.headers.get(LAST_EVENT_ID).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    id.filter(|id| !id.trim().is_empty())
}

/// A call of an operation with a complete answer.
struct Call {
    state: Arc<ApiState>,
    endpoint: Arc<Endpoint>,
    run: RunCall,
    fields: Fields,
    conditions: Conditions,
    keeping: Option<Keeping>,
}

impl Call {
    async fn answer(self) -> ApiResult<Answer> {
        let author = || self.state.author.clone();
        let done = (self.run)(&context(&self.state, &author), self.fields).await;
        let outcome = done.map_err(|refused| self.conditions.problem(refused))?;
        let operation = self.endpoint.operation;
        let (answer, tag) = finish(operation, &outcome)?;
        if let (Some(keeping), Some(tag)) = (self.keeping, &tag) {
            self.state.kept.keep(keeping, &answer, tag);
        }
        Ok(self.conditions.apply_to(operation, answer, tag.as_deref()))
    }

    /// Runs once for each key.
    async fn answer_once(self, key: Option<RequestKey>) -> ApiResult<Answer> {
        let Some(key) = key else { return self.answer().await };
        match key.begin(self.state.library()).await? {
            Begun::Answered(stored) => idempotency::replay(stored),
            Begun::First(attempt) => {
                let answered = self.answer().await;
                attempt.settle(answered.as_ref().map(Answer::to_stored)).await;
                answered
            }
        }
    }
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

/// The answer of a finished operation, and its tag.
fn finish(operation: &Operation, outcome: &BoxedOutcome) -> ApiResult<(Answer, Option<String>)> {
    let (content_type, body) = match operation.media {
        Media::Nothing => return Ok((Answer::empty(StatusCode::NO_CONTENT), None)),
        Media::Json | Media::Events => ("application/json", outcome.json().map_err(CallError::Json)?),
        Media::Markdown => {
            let value = outcome.value().map_err(CallError::Json)?;
            ("text/markdown; charset=utf-8", value.as_str().unwrap_or_default().to_owned())
        }
    };
    let tag = conditional::tag(operation, outcome, &body);
    let mut answer = Answer { body: body.into(), ..Answer::empty(StatusCode::OK) };
    answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    conditional::insert(&mut answer.headers, tag.as_deref());
    if let Some(location) = outcome.location() {
        answer.status = if outcome.is_under_way() { StatusCode::ACCEPTED } else { StatusCode::CREATED };
        if let Ok(location) = HeaderValue::try_from(location) {
            answer.headers.insert(http::header::LOCATION, location);
        }
    }
    Ok((answer, tag))
}
