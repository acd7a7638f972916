//! The real handler, wrapped by the suite's fixtures.

use mcp::Masque;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    CustomRequest, CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, Reference, RequestStateCodec,
    ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    Tool, ToolsCapability, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::broadcast;

use crate::{content, dialogue, input_required, listing, prompts, resources};

type Context = RequestContext<RoleServer>;

/// A list that a fixture reports as changed.
#[derive(Debug, Clone, Copy)]
enum Trigger {
    Tools,
    Prompts,
}

/// State that all handlers of one server share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    changes: broadcast::Sender<Trigger>,
    /// Seals the state that a client carries between two rounds.
    states: RequestStateCodec,
}

impl Default for Shared {
    fn default() -> Self {
        let key: [u8; RequestStateCodec::MIN_KEY_LENGTH] = rand::random();
        Self { changes: broadcast::channel(16).0, states: RequestStateCodec::new_unchecked(key) }
    }
}

/// Answers the suite's requests and passes all others on to Masque.
#[derive(Debug)]
pub(crate) struct Fixtures {
    masque: Masque,
    shared: Shared,
}

impl Fixtures {
    pub(crate) fn new(masque: Masque, shared: Shared) -> Self {
        Self { masque, shared }
    }

    fn trigger(&self, trigger: Trigger) {
        // Sending fails only if no client is listening.
        let _ = self.shared.changes.send(trigger);
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut server = self.masque.get_info();
        server.capabilities.logging = Some(JsonObject::new());
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        server.capabilities.tools = Some(tools);
        server
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.masque.discover(context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.masque.list_tools(request, context).await?;
        result.tools.extend(listing::tools());
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        listing::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(result) = content::call(&request.name) {
            return Ok(result.into());
        }
        if let Some(result) = input_required::call(&request, &context, &self.shared.states) {
            return result;
        }
        match &*request.name {
            "test_trigger_tool_change" => self.trigger(Trigger::Tools),
            "test_trigger_prompt_change" => self.trigger(Trigger::Prompts),
            _ => {
                return match dialogue::call(&request, &context).await {
                    Some(result) => result.map(Into::into),
                    None => self.masque.call_tool(request, context).await,
                };
            }
        }
        Ok(content::text("Mutation triggered").into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut result = self.masque.list_prompts(request, context).await?;
        result.prompts.extend(prompts::list());
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        match prompts::get(&request) {
            Some(result) => result,
            None => self.masque.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        match &request.r#ref {
            Reference::Prompt(prompt) if prompt.name.starts_with("test_") => {
                let values = CompletionInfo::with_all_values(vec!["testValue1".to_owned()]);
                values.map(CompleteResult::new).map_err(|message| ErrorData::internal_error(message, None))
            }
            _ => self.masque.complete(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let first_page = request.as_ref().is_none_or(|request| request.cursor.is_none());
        let mut result = self.masque.list_resources(request, context).await?;
        if first_page {
            result.resources.splice(0..0, resources::list());
        }
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = self.masque.list_resource_templates(request, context).await?;
        result.resource_templates.push(resources::template());
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&request.uri) {
            Some(result) => Ok(result.into()),
            None => self.masque.read_resource(request, context).await,
        }
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        if resources::read(&request.uri).is_some() {
            return Ok(());
        }
        self.masque.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.masque.unsubscribe(request, context).await
    }

    async fn set_level(&self, _: SetLevelRequestParams, context: Context) -> Result<(), ErrorData> {
        if mcp::is_modern(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = self.masque.accepted_subscription_filter(requested)?;
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, stream: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.changes.subscribe();
        let sink = stream.sink().clone();
        let triggered = async {
            while let Ok(trigger) = changes.recv().await {
                // The sink drops notifications that the client did not subscribe to.
                let _ = match trigger {
                    Trigger::Tools => sink.notify_tool_list_changed().await,
                    Trigger::Prompts => sink.notify_prompt_list_changed().await,
                };
            }
        };
        tokio::select! {
            ended = self.masque.listen(stream) => ended,
            () = triggered => Ok(()),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.masque.on_initialized(context).await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        self.masque.on_custom_request(request, context).await
    }
}
