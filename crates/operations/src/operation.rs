//! One operation: its name, its effect, and the fronts that offer it.

use app::conducting::TrackEvents;
use app::running::Subscription;
use app::testing::TestEvents;
use app::{AsReport, Author, Code, Library, LintOptions, Remedy, Runtime, Subject};
use futures::future::BoxFuture;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::BoxedOutcome;
use crate::selection::{ToolSelection, ToolSet};

/// A row of the table.
#[derive(Debug)]
pub struct Operation {
    pub name: &'static str,
    /// One line for tool lists, the OpenAPI document and the documentation.
    pub summary: &'static str,
    pub effect: Effect,
    pub mcp: Mcp,
    pub http: Http,
    pub cli: Cli,
    pub input: fn(&mut SchemaGenerator) -> Schema,
    /// The answer's schema, or that of one event.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    pub media: Media,
    pub run: OperationFn,
}

/// The effect of a call on the library or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Read,
    /// Writes data that can be derived again at any time.
    Derive,
    Create,
    /// Replaces existing data.
    Overwrite,
    /// Adds data that may exist.
    Add,
    Remove,
    /// Moves one step further with each call.
    Step,
}

impl Effect {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Derive => "derive",
            Self::Create => "create",
            Self::Overwrite => "overwrite",
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Step => "step",
        }
    }
}

/// The reason why a front does not offer an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// Another operation does the same there.
    Through(&'static str),
    Because(&'static str),
}

/// The offer of an operation on MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mcp {
    /// As a tool, in this set and the larger ones.
    Tool(ToolSet),
    Absent(Absence),
}

/// The offer of an operation on HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http {
    One(Route),
    Two(Route, Route),
    Absent(Absence),
}

impl Http {
    pub fn routes(self) -> impl Iterator<Item = Route> {
        let (first, second) = match self {
            Self::One(route) => (Some(route), None),
            Self::Two(first, second) => (Some(first), Some(second)),
            Self::Absent(_) => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// The offer of an operation on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cli {
    /// The words after `masque`.
    Command(&'static str),
    Absent(Absence),
}

/// A request line of HTTP. A segment `{name}` fills the input's field of that name, and
/// `{segment:field}` another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub method: Method,
    pub template: &'static str,
}

impl Route {
    /// The path with plain segments, as routers and OpenAPI spell it.
    pub fn path(self) -> String {
        let segments = self.template.split('/').map(|segment| match segment.split_once(':') {
            Some((name, _)) => format!("{name}}}"),
            None => segment.to_owned(),
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// Each segment's name, with the field that it fills.
    pub fn parameters(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let braced = |segment: &'static str| segment.strip_prefix('{')?.strip_suffix('}');
        let named = self.template.split('/').filter_map(braced);
        named.map(|inner| inner.split_once(':').unwrap_or((inner, inner)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// True if fields travel in a JSON body, false if they travel in the query.
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// The type of an answer over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    Json,
    /// A text, sent as `text/markdown`.
    Markdown,
    /// Server-Sent Events.
    Events,
    /// Success has no content.
    Nothing,
}

/// The function behind a row.
#[derive(Debug, Clone, Copy)]
pub enum OperationFn {
    Call(RunCall),
    /// Streams a session's events.
    Stream(RunStream),
    /// Streams a session's events as those of a chat; see [`app::editing::ChatEvents`].
    Chat(RunStream),
    /// Streams a test run's events.
    TestEvents(RunTestEvents),
    /// Streams a track's events.
    TrackEvents(RunTrackEvents),
    /// The library's events; each front keeps a log of its own.
    LibraryEvents,
}

pub type RunCall =
    for<'a> fn(&'a Context<'a>, Map<String, Value>) -> BoxFuture<'a, Result<BoxedOutcome, CallError>>;

pub type RunStream =
    for<'a> fn(&'a Context<'a>, Map<String, Value>) -> BoxFuture<'a, Result<Subscription, CallError>>;

pub type RunTestEvents =
    for<'a> fn(&'a Context<'a>, Map<String, Value>) -> BoxFuture<'a, Result<TestEvents, CallError>>;

pub type RunTrackEvents =
    for<'a> fn(&'a Context<'a>, Map<String, Value>) -> BoxFuture<'a, Result<TrackEvents, CallError>>;

/// The caller and the resources of a call.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub library: &'a Library,
    /// Absent where only the library is served.
    pub runtime: Option<&'a Runtime>,
    /// Names the author of a change; not called by reads.
    pub author: &'a (dyn Fn() -> Author + Send + Sync),
    pub front: Front,
    /// The options of lint; absent where it does not run.
    pub lint: Option<&'a LintOptions>,
}

impl<'a> Context<'a> {
    pub(crate) fn author(&self) -> Author {
        (self.author)()
    }

    pub(crate) fn runtime(&self) -> Result<&'a Runtime, CallError> {
        self.runtime.ok_or(CallError::NoSessions)
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("front", &self.front).finish_non_exhaustive()
    }
}

/// The front that calls, for answers that name other operations.
#[derive(Debug, Clone, Copy)]
pub enum Front {
    Mcp(ToolSelection),
    Http,
}

/// The error of a call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Input(#[from] app::inputs::InputError),
    #[error("sessions are not served here")]
    NoSessions,
    #[error(transparent)]
    Library(#[from] app::Error),
    #[error("writing the answer as JSON failed: {0}")]
    Json(#[from] serde_json::Error),
}

impl AsReport for CallError {
    fn code(&self) -> Code {
        match self {
            Self::Input(error) => error.code(),
            Self::Library(error) => error.code(),
            Self::NoSessions => Code::NoSessions,
            Self::Json(_) => Code::Failed,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::Input(error) => error.subject(),
            Self::Library(error) => error.subject(),
            Self::NoSessions | Self::Json(_) => Subject::default(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::Input(error) => error.candidates(),
            Self::Library(error) => error.candidates(),
            Self::NoSessions | Self::Json(_) => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Input(error) => error.remedies(),
            Self::Library(error) => error.remedies(),
            Self::NoSessions => vec![Remedy::Serve],
            Self::Json(_) => Vec::new(),
        }
    }

    fn may_have_happened(&self) -> Option<bool> {
        match self {
            Self::Library(error) => error.may_have_happened(),
            Self::Input(_) | Self::NoSessions | Self::Json(_) => None,
        }
    }
}
