//! Dispatches the protocol's requests to their modules.

use std::sync::{Arc, OnceLock};

use app::{Library, Runtime};
use http::request::Parts;
use operations::{Front, ToolSelection};
use persona::{Code, Remedy, Report};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use crate::http::Stopping;
use crate::subscriptions::{self, Watch};
use crate::uri::ResourceUri;
use crate::{caller, completion, info, prompts, resources, skills, tools, wording};

/// Options of the server.
#[derive(Debug, Clone, Default)]
pub struct McpOptions {
    /// The tools of a connection that does not choose by itself.
    pub tools: ToolSelection,
    /// The author of clients' changes: the user who runs the server.
    pub user: Option<Arc<str>>,
    /// Runs personas for their tests. Absent: only the library is served.
    pub runtime: Option<Runtime>,
}

/// The library as an MCP server. One is made for every session of the older era and for every
/// request of the newer one, so making one is cheap.
#[derive(Debug)]
pub struct Masque {
    library: Library,
    tools: ToolSelection,
    user: Option<Arc<str>>,
    runtime: Option<Runtime>,
    /// Cancelled when the client is gone; over HTTP every request carries its own.
    gone: CancellationToken,
    /// The subscriptions of a session of the older era. Set when its client is known.
    watch: OnceLock<Watch>,
}

type Context = RequestContext<RoleServer>;

impl Masque {
    pub fn new(library: Library, options: &McpOptions) -> Self {
        let McpOptions { tools, user, runtime } = options;
        let (tools, user, runtime) = (*tools, user.clone(), runtime.clone());
        Self { library, tools, user, runtime, gone: CancellationToken::new(), watch: OnceLock::new() }
    }

    /// Ends open streams regularly when the token is cancelled.
    pub(crate) fn until(self, gone: CancellationToken) -> Self {
        Self { gone, ..self }
    }

    fn watch(&self, peer: &Peer<RoleServer>) -> &Watch {
        self.watch.get_or_init(|| Watch::start(&self.library, peer.clone()))
    }
}

/// The metadata of results of the newer era.
fn meta(context: &Context) -> Option<MetaObject> {
    caller::is_modern(context).then(info::meta)
}

fn cursor(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

/// Refuses a cursor for a list with one page.
fn no_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match cursor(request) {
        None => Ok(()),
        Some(_) => {
            let report = Report::new(Code::InvalidCursor, "the list has one page");
            Err(wording::invalid_params(&report.with_remedy(Remedy::StartOver)))
        }
    }
}

impl ServerHandler for Masque {
    fn get_info(&self) -> ServerConfig {
        info::server()
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        Ok(info::discovered(&self.supported_protocol_versions(), self.get_info()))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        no_cursor(request)?;
        let mut result = tools::list(caller::selection(&context, self.tools));
        result.meta = meta(&context);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let selection = caller::selection(&context, self.tools);
        let user = self.user.as_deref();
        let operation_context = operations::Context {
            library: &self.library,
            runtime: self.runtime.as_ref(),
            author: &|| caller::author(&context, user),
            front: Front::Mcp(selection),
            lint: None,
        };
        let arguments = request.arguments.unwrap_or_default();
        let parent = caller::span(&context).cloned().unwrap_or_else(Span::current);
        let called = tools::call(
            &request.name,
            arguments,
            selection,
            operation_context,
            caller::traceparent(&context),
        );
        let mut result = called.instrument(parent).await?;
        // An error has its data here already.
        if let Some(meta) = meta(&context) {
            result.meta.get_or_insert_default().0.extend(meta.0);
        }
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        no_cursor(request)?;
        let mut result = prompts::list(&self.library).await?;
        result.meta = meta(&context);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let mut result = prompts::get(&self.library, &request.name, &arguments).await?;
        result.meta = meta(&context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let mut result = completion::complete(&self.library, &request).await?;
        result.meta = meta(&context);
        Ok(result)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result = resources::list(&self.library, cursor(request).as_deref()).await?;
        result.meta = meta(&context);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        no_cursor(request)?;
        let mut result = resources::templates();
        result.meta = meta(&context);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let selection = caller::selection(&context, self.tools);
        let mut result = resources::read(&self.library, &request.uri, selection).await?;
        result.meta = meta(&context);
        Ok(result.into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted(requested))
    }

    async fn listen(&self, stream: SubscriptionContext) -> Result<(), ErrorData> {
        let parts = stream.request_context().extensions.get::<Parts>();
        let stopping = parts.and_then(|parts| parts.extensions.get::<Stopping>());
        let stop = stopping.map_or(&self.gone, |stopping| &stopping.0);
        subscriptions::listen(&self.library, &stream, stop).await
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        if ResourceUri::parse(&request.uri).is_none() {
            return Err(resources::unknown(&request.uri));
        }
        self.watch(&context.peer).add(request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.watch(&context.peer).remove(&request.uri);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.watch(&context.peer);
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        if !matches!(request.method.as_str(), skills::LIST | skills::GET) {
            return Err(misfit(&request));
        }
        let mut result = skills::answer(&self.library, &request).await?;
        if caller::is_modern(&context) {
            result.insert("resultType".to_owned(), Value::from("complete"));
            result.insert("_meta".to_owned(), Value::Object(info::meta().0));
        }
        Ok(CustomResult::new(Value::Object(result)))
    }
}

/// The error of a request outside the protocol: an unknown method, or parameters that do not match
/// the method.
fn misfit(request: &CustomRequest) -> ErrorData {
    const KNOWN: [&str; 5] =
        ["tools/call", "prompts/get", "resources/read", "completion/complete", "subscriptions/listen"];
    let method = request.method.as_str();
    if KNOWN.contains(&method) {
        let message = format!("missing or invalid params of {method}");
        return wording::invalid_params(&Report::new(Code::InvalidRequest, message));
    }
    let shown: String = method.chars().take(80).collect();
    let report = Report::new(Code::UnknownWord, format!("unknown method {shown:?}"));
    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, report.message.clone(), None);
    wording::with_data(error, &report)
}
