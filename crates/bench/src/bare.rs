//! The baseline: a server of the same stack whose only tool returns a constant.

use std::sync::Arc;

use anyhow::Result;
use axum::Router;
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
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, Router::new().nest_service("/mcp", service)).await?)
}

/// Serves the constant over standard input and output.
pub(crate) async fn serve_stdio(answer: &str) -> Result<()> {
    let service = Constant::read(answer)?.serve(stdio()).await?;
    service.waiting().await?;
    Ok(())
}
