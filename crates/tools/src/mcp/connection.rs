//! One running server: started or reached, listed, called.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue};
use process_wrap::tokio::ChildWrapper;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, CustomResult,
    ListToolsRequest, ListToolsResult, PaginatedRequestParams, ProtocolVersion, RequestId, ServerResult,
    SubscriptionFilter,
};
use rmcp::service::{ClientInitializeError, PeerRequestOptions, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, Peer, ServiceError};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::lenient::Page;
use super::progress::Progress;
use super::settings::Transport;
use super::{log, result};
use crate::process::Family;
use crate::text::shortened;
use crate::{Invocation, Outcome, environment, limits};

/// A server that was started, or reached. Dropping it kills what was started.
#[derive(Debug)]
pub(super) struct Connection {
    service: RunningService<RoleClient, Client>,
    changed: Arc<AtomicBool>,
    progress: Progress,
    is_stdio: bool,
    /// Set when a message could not be delivered.
    is_broken: AtomicBool,
    /// Cancelled when the program has ended.
    ended: CancellationToken,
    pub(super) since: Instant,
    _family: Option<Family>,
}

/// A failed call. The variant decides whether it may be repeated.
pub(super) enum Failed {
    /// The server cannot have received it.
    Unsent(String),
    /// The server may have carried it out.
    Sent(String),
}

impl Connection {
    pub(super) async fn open(name: &str, transport: &Transport) -> Result<Self, String> {
        let connection = match transport {
            Transport::Stdio { .. } => Self::start(name, transport).await?,
            Transport::Http { url, headers, headers_env } => Self::reach(url, headers, headers_env).await?,
        };
        connection.follow_changes();
        Ok(connection)
    }

    async fn start(name: &str, transport: &Transport) -> Result<Self, String> {
        let (family, mut child) = spawn(transport)?;
        let (Some(stdin), Some(stdout)) = (child.stdin().take(), child.stdout().take()) else {
            return Err("its standard input and output could not be opened".to_owned());
        };
        if let Some(stderr) = child.stderr().take() {
            tokio::spawn(log::follow(name.to_owned(), stderr));
        }
        let ended = CancellationToken::new();
        let (changed, progress) = (Arc::default(), Progress::default());
        let transport = AsyncRwTransport::new(stdout, stdin);
        let transport = transport.with_max_line_length(limits::SERVER_MESSAGE_BYTES);
        let client = Client { changed: Arc::clone(&changed), progress: progress.clone() };
        let served = client.serve_with_lifecycle(transport, lifecycle()).await;
        let service = match served {
            Ok(service) => service,
            Err(error) => return Err(of_failed_start(child, not_begun(&error)).await),
        };
        tokio::spawn(reap(child, ended.clone()));
        Ok(Self {
            service,
            changed,
            progress,
            is_stdio: true,
            is_broken: AtomicBool::new(false),
            ended,
            since: Instant::now(),
            _family: Some(family),
        })
    }

    async fn reach(
        url: &str,
        headers: &BTreeMap<String, String>,
        headers_env: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let mut all = HashMap::new();
        for (name, value) in headers {
            all.insert(header_name(name)?, header_value(name, value)?);
        }
        for (name, variable) in headers_env {
            let value = std::env::var(variable)
                .map_err(|_| format!("header {name} is taken from {variable}, which is not set"))?;
            all.insert(header_name(name)?, header_value(name, &value)?);
        }
        crate::install_tls();
        // A redirect would send the headers, secrets included, elsewhere. Idle connections are not kept:
        // a body that was not read to its end stalls the next request.
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(0)
            .connect_timeout(limits::SERVER_START_TIME)
            .build()
            .map_err(|error| format!("no HTTP client: {error}"))?;
        let config = StreamableHttpClientTransportConfig::with_uri(url)
            .custom_headers(all)
            .max_sse_event_size(limits::SERVER_MESSAGE_BYTES);
        let (changed, progress) = (Arc::default(), Progress::default());
        let client = Client { changed: Arc::clone(&changed), progress: progress.clone() };
        let transport = StreamableHttpClientTransport::with_client(http, config);
        let service =
            client.serve_with_lifecycle(transport, lifecycle()).await.map_err(|error| not_begun(&error))?;
        Ok(Self {
            service,
            changed,
            progress,
            is_stdio: false,
            is_broken: AtomicBool::new(false),
            ended: CancellationToken::new(),
            since: Instant::now(),
            _family: None,
        })
    }

    /// Subscribes to changes of the tools: since 2026-07-28 a server announces them to subscribers only.
    /// Does not wait for the server's answer.
    fn follow_changes(&self) {
        let Some(info) = self.service.peer_info() else { return };
        let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) == Some(true);
        if !tells || info.protocol_version < ProtocolVersion::V_2026_07_28 {
            return;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let (peer, changed) = (self.service.peer().clone(), Arc::clone(&self.changed));
        tokio::spawn(async move {
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            // Changes before the subscription began and after it ends go unnoticed: list again.
            changed.store(true, Ordering::Release);
            while let Ok(Some(_)) = subscription.next().await {
                changed.store(true, Ordering::Release);
            }
            changed.store(true, Ordering::Release);
        });
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.service.is_closed()
            && !self.service.peer().is_transport_closed()
            && !self.ended.is_cancelled()
            && !self.is_broken.load(Ordering::Acquire)
    }

    /// True if the server announced that its tools changed since the last call of this.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    /// The server's tools, and problems with some of them.
    pub(super) async fn list(&self) -> Result<(Vec<rmcp::model::Tool>, Vec<String>), String> {
        let (mut tools, mut problems) = (Vec::new(), Vec::new());
        let mut cursor = None;
        for _ in 0..limits::SERVER_PAGES {
            let page = self.page(cursor).await?;
            tools.extend(page.tools);
            problems.extend(page.problems);
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() > limits::SERVER_TOOLS {
                break;
            }
        }
        if cursor.is_some() || tools.len() > limits::SERVER_TOOLS {
            tools.truncate(limits::SERVER_TOOLS);
            let most = limits::SERVER_TOOLS;
            problems.push(format!("it lists more than {most} tools; the others are left out"));
        }
        Ok((tools, problems))
    }

    /// One page of the list. A page that violates the protocol is requested again and read leniently.
    async fn page(&self, cursor: Option<String>) -> Result<Page, String> {
        let peer = self.service.peer();
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        match peer.list_tools(Some(params.clone())).await {
            Ok(ListToolsResult { tools, next_cursor, .. }) => {
                return Ok(Page { tools, next_cursor, problems: Vec::new() });
            }
            Err(ServiceError::UnexpectedResponse) => {}
            Err(error) => return Err(said(&error)),
        }
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        match peer.send_request(request).await.map_err(|error| said(&error))? {
            ServerResult::CustomResult(CustomResult(answer)) => Page::read(answer),
            _ => Err("its answer is not a list of tools".to_owned()),
        }
    }

    pub(super) async fn call(
        &self,
        tool: &str,
        invocation: &Invocation,
        time: Duration,
    ) -> Result<Outcome, Failed> {
        let input = invocation.call.input.clone();
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        for round in 0..limits::SERVER_ROUNDS {
            let wanted = match self.ask(params.clone(), invocation, time).await {
                Ok(ServerResult::CallToolResult(result)) => return Ok(result::outcome(result)),
                Ok(ServerResult::InputRequiredResult(wanted)) => wanted,
                Ok(_) => {
                    return Ok(Outcome::error("the server's answer is not a tool result"));
                }
                // An earlier round may have taken effect.
                Err(Failed::Unsent(message)) if round > 0 => return Err(Failed::Sent(message)),
                Err(failed) => return Err(failed),
            };
            if wanted.input_requests.is_some_and(|requests| !requests.is_empty())
                || wanted.request_state.is_none()
            {
                let message = "the server asks for input from a user, and there is no user";
                return Ok(Outcome::error(message));
            }
            // The server wants the call again, with its state.
            params.request_state = wanted.request_state;
            tokio::time::sleep(limits::SERVER_ROUND_PAUSE * round).await;
        }
        Ok(Outcome::error(format!("the server did not finish within {} rounds", limits::SERVER_ROUNDS)))
    }

    async fn ask(
        &self,
        params: CallToolRequestParams,
        invocation: &Invocation,
        time: Duration,
    ) -> Result<ServerResult, Failed> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let peer = self.service.peer();
        let handle =
            match peer.send_request_with_option(request, PeerRequestOptions::with_timeout(time)).await {
                Ok(handle) => handle,
                Err(error) => return Err(Failed::Unsent(said(&error))),
            };
        let _listening = self.progress.listen(handle.progress_token.clone(), invocation);
        let mut abandoned = Abandoned { peer: peer.clone(), id: Some(handle.id.clone()) };
        let outcome = tokio::select! {
            outcome = handle.await_response() => outcome,
            // Read what the program wrote before it ended.
            () = async { self.ended.cancelled().await; tokio::time::sleep(limits::DRAIN_TIME).await } => {
                Err(ServiceError::TransportClosed)
            }
        };
        abandoned.id = None;
        outcome.map_err(|error| {
            let message = said(&error);
            if !matches!(error, ServiceError::TransportSend(_)) {
                return Failed::Sent(message);
            }
            self.is_broken.store(true, Ordering::Release);
            // A program has not read a line that could not be written. Over the network that is unknown.
            if self.is_stdio { Failed::Unsent(message) } else { Failed::Sent(message) }
        })
    }

    /// Gives the server some time to end by itself.
    pub(super) async fn close(&self) {
        self.service.cancellation_token().cancel();
        if self.is_stdio {
            let _ = tokio::time::timeout(limits::SERVER_CLOSE_TIME, self.ended.cancelled()).await;
        }
    }
}

fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

fn spawn(transport: &Transport) -> Result<(Family, Box<dyn ChildWrapper>), String> {
    let Transport::Stdio { command: program, args, env, env_pass, cwd } = transport else {
        return Err("it is not a program".to_owned());
    };
    let variables: Vec<_> = std::env::vars_os().collect();
    let passed = variables.iter().filter(|(name, _)| env_pass.iter().any(|pass| name == pass.as_str()));
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(environment::harmless(variables.iter().cloned()))
        .envs(passed.cloned())
        .envs(env)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    Family::spawn(command).map_err(|error| format!("{program} could not be started: {error}"))
}

/// The reason why the connection failed, without the library's own terms.
fn not_begun(error: &ClientInitializeError) -> String {
    let said = match error {
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        ClientInitializeError::LegacyFallbackFailed { discover, fallback } => {
            let (modern, older) = (not_begun(discover), not_begun(fallback));
            format!("it does not answer as an MCP server does ({modern}; asked in the older way: {older})")
        }
        other => other.to_string(),
    };
    shortened(&said, 500)
}

/// The reason why a program did not become a server: its exit, if it has ended.
async fn of_failed_start(mut child: Box<dyn ChildWrapper>, error: String) -> String {
    match tokio::time::timeout(limits::DRAIN_TIME, child.wait()).await {
        Ok(Ok(status)) => format!("it ended at once, with {status}; what it wrote is logged at level debug"),
        _ => error,
    }
}

async fn reap(mut child: Box<dyn ChildWrapper>, ended: CancellationToken) {
    let _ = child.wait().await;
    ended.cancel();
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::try_from(name).map_err(|_| format!("invalid header name {name:?}"))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| format!("the value of header {name} has characters that none may have"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn said(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => shortened(&error.message, 2_000),
        ServiceError::TransportClosed => "the server is gone".to_owned(),
        ServiceError::Timeout { timeout } => format!("no answer within {} s", timeout.as_secs()),
        other => shortened(&other.to_string(), 500),
    }
}

/// Notifies the server when the answer is no longer needed.
struct Abandoned {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the answer is no longer needed".to_owned());
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }
}
