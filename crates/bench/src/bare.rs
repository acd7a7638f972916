//! The baselines: a server of the same stack whose only tool returns a constant, and one without MCP.

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ErrorData, ServerHandler, ServiceExt as _};
use serde_json::Value;
use tokio::sync::broadcast;

/// Events that a slow viewer of the bare server may be behind.
const BACKLOG: usize = 64;

#[derive(Debug, Clone)]
struct Constant {
    text: Arc<str>,
    value: Arc<Value>,
}

impl Constant {
    /// The answer that is returned, read from a file with the JSON of a real one.
    fn read(file: &str) -> Result<Self> {
        let text = std::fs::read_to_string(file)?;
        Ok(Self { value: Arc::new(serde_json::from_str(&text)?), text: text.into() })
    }
}

impl ServerHandler for Constant {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = Tool::new("get_agent_persona", "Returns a constant.", Arc::new(serde_json::Map::new()));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text.to_string())]);
        result.structured_content = Some((*self.value).clone());
        Ok(result.into())
    }
}

/// Serves the constant over HTTP on a free port, which is the first line of the output.
pub(crate) async fn serve_http(answer: &str) -> Result<()> {
    let constant = Constant::read(answer)?;
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(constant.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    serve(Router::new().nest_service("/mcp", service)).await
}

async fn serve(router: Router) -> Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}

/// Answers of a bare API, and the event of each request that has a body.
#[derive(Debug, Clone)]
struct Constants {
    answers: Arc<[Bytes]>,
    events: broadcast::Sender<()>,
}

/// Serves the content of the Nth file at `/N`, and at `/events` an event for each request with a body.
pub(crate) async fn serve_api(files: &[&str]) -> Result<()> {
    let answers: Vec<Bytes> =
        files.iter().map(|file| std::fs::read(file).map(Bytes::from)).collect::<Result<_, _>>()?;
    let constants = Constants { answers: answers.into(), events: broadcast::channel(BACKLOG).0 };
    let router = Router::new().route("/events", get(bare_events)).route("/{number}", any(constant));
    serve(router.with_state(constants)).await
}

async fn constant(State(all): State<Constants>, Path(number): Path<usize>, body: Bytes) -> Response {
    if !body.is_empty() {
        // Fails without viewers.
        let _ = all.events.send(());
    }
    let answer = all.answers.get(number).cloned().unwrap_or_default();
    ([(CONTENT_TYPE, "application/json")], answer).into_response()
}

async fn bare_events(State(all): State<Constants>) -> Response {
    let events = futures::stream::unfold(all.events.subscribe(), |mut receiver| async {
        receiver.recv().await.ok()?;
        Some((Ok::<_, Infallible>("event: change\ndata: {}\n\n"), receiver))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// Serves the constant over standard input and output.
pub(crate) async fn serve_stdio(answer: &str) -> Result<()> {
    let service = Constant::read(answer)?.serve(stdio()).await?;
    service.waiting().await?;
    Ok(())
}
