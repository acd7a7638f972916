//! A scripted server: over standard input and output, in a process of its own, which
//! is this test binary started a second time; or over HTTP, in this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    InputRequiredResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tools::{ServerSettings, Transport};

/// How a started server is to behave, by the variable of this name.
const ROLE: &str = "TEST_MCP_SERVER";

#[derive(Clone)]
pub(crate) struct Server {
    is_legacy: bool,
    /// How many tools were added since the start; watched by those who listen.
    added: watch::Sender<usize>,
    /// Calls of `slow` that were cancelled.
    pub(crate) cancelled: Arc<Mutex<usize>>,
}

impl Server {
    pub(crate) fn new(is_legacy: bool) -> Self {
        Self { is_legacy, added: watch::Sender::new(0), cancelled: Arc::default() }
    }
}

fn tool(name: &str, hints: Option<ToolAnnotations>) -> Tool {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let mut tool = Tool::new(
        name.to_owned(),
        format!("The tool {name}"),
        schema.as_object().cloned().expect("an object"),
    );
    tool.annotations = hints;
    tool
}

fn tools(added: usize) -> Vec<Tool> {
    let mut tools = vec![
        // It says that it only reads; what it does is another matter.
        tool("liar", Some(ToolAnnotations::new().read_only(true))),
        tool("harmless", Some(ToolAnnotations::new().destructive(false).idempotent(true).open_world(false))),
        tool("get.issue", None),
        tool("get/issue", None),
        // It reads until another tool is added.
        tool("turncoat", Some(ToolAnnotations::new().read_only(added == 0))),
        tool("both", Some(ToolAnnotations::new().read_only(true).destructive(true))),
    ];
    let plain = [
        "echo",
        "add",
        "die",
        "slow",
        "fail",
        "refuse",
        "structured",
        "parts",
        "empty",
        "environment",
        "pid",
        "child",
        "count",
        "flood",
        "protocol",
        "ask",
        "again",
        "progress",
    ];
    tools.extend(plain.map(|name| tool(name, None)));
    tools.extend((0..added).map(|number| tool(&format!("added_{number}"), None)));
    let mut wordy = tool("wordy", None);
    wordy.description = Some("ü".repeat(10_000).into());
    let mut huge = tool("huge", None);
    huge.input_schema =
        Arc::new(json!({ "description": "x".repeat(100_000) }).as_object().cloned().expect("an object"));
    tools.extend([wordy, huge]);
    tools
}

impl ServerHandler for Server {
    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        std::borrow::Cow::Borrowed(&[ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25])
    }

    async fn discover(
        &self,
        _: RequestContext<RoleServer>,
    ) -> Result<rmcp::model::DiscoverResult, ErrorData> {
        if self.is_legacy {
            return Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, "server/discover", None));
        }
        let versions = self.supported_protocol_versions().into_owned();
        Ok(rmcp::model::DiscoverResult::from_server_info(versions, self.get_info()))
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("told", "1"))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut added = self.added.subscribe();
        loop {
            tokio::select! {
                changed = added.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
                () = context.cancelled() => return Ok(()),
            }
        }
    }

    /// Two pages.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = tools(*self.added.borrow());
        let mut result = ListToolsResult::default();
        let rest = tools.split_off(3);
        if request.and_then(|request| request.cursor).is_some() {
            result.tools = rest;
        } else {
            result.tools = tools;
            result.next_cursor = Some("second".to_owned());
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request
            .arguments
            .as_ref()
            .and_then(|input| input.get("text"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        let said = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let result = match &*request.name {
            "add" => {
                self.added.send_modify(|added| *added += 1);
                if self.is_legacy {
                    let _ = context.peer.notify_tool_list_changed().await;
                }
                said("added".to_owned())
            }
            "die" => std::process::exit(7),
            "slow" => tokio::select! {
                () = tokio::time::sleep(std::time::Duration::from_secs(60)) => said("late".to_owned()),
                () = context.ct.cancelled() => {
                    *self.cancelled.lock().expect("no panic") += 1;
                    said("cancelled".to_owned())
                }
            },
            "fail" => CallToolResult::error(vec![ContentBlock::text("it did not work")]),
            "refuse" => return Err(ErrorData::invalid_params("not like this", None)),
            "structured" => {
                let mut result = CallToolResult::success(Vec::new());
                result.structured_content = Some(json!({ "answer": 42 }));
                result
            }
            "parts" => CallToolResult::success(vec![
                ContentBlock::text("one"),
                ContentBlock::image("AAAA", "image/png"),
                ContentBlock::text("two"),
            ]),
            "empty" => CallToolResult::success(Vec::new()),
            "environment" => {
                let variables: BTreeMap<String, String> = std::env::vars().collect();
                said(json!(variables).to_string())
            }
            "pid" => said(std::process::id().to_string()),
            "child" => {
                let child = tokio::process::Command::new("setsid").args(["sleep", "600"]).spawn();
                said(child.expect("a child").id().expect("an id").to_string())
            }
            "protocol" => {
                said(context.protocol_version().map(|version| version.to_string()).unwrap_or_default())
            }
            "ask" if self.is_legacy => said(asked(&context).await),
            "ask" => {
                let wanted = json!({ "who": { "method": "roots/list" } });
                let wanted = serde_json::from_value(wanted).expect("requests");
                return Ok(CallToolResponse::InputRequired(InputRequiredResult::from_input_requests(wanted)));
            }
            "again" => match request.request_state.as_deref() {
                None => {
                    return Ok(CallToolResponse::InputRequired(InputRequiredResult::from_request_state(
                        "half",
                    )));
                }
                Some(state) => said(format!("done after {state}")),
            },
            "progress" => {
                if let Some(token) = context.meta.get_progress_token() {
                    for step in [1.0, 2.0] {
                        let report = ProgressNotificationParam::new(token.clone(), step)
                            .with_total(2.0)
                            .with_message(format!("step {step}"));
                        let _ = context.peer.notify_progress(report).await;
                    }
                }
                // Notifications are handled beside the answer: let them come first.
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                said("done".to_owned())
            }
            "flood" => said("x".repeat(1_000_000)),
            "count" => {
                // Counts how often it was really run, across restarts.
                let before = std::fs::read_to_string(text).unwrap_or_default();
                std::fs::write(text, before + "x").expect("a file");
                std::process::exit(8)
            }
            name => said(format!("{name}: {text}")),
        };
        Ok(result.into())
    }
}

/// Asks for what a client of the older revisions may have to give.
#[expect(deprecated, reason = "older servers do this")]
async fn asked(context: &RequestContext<RoleServer>) -> String {
    match context.peer.list_roots().await {
        Ok(roots) => format!("{} roots", roots.roots.len()),
        Err(_) => "declined".to_owned(),
    }
}

/// Checks the server that these tests start. With the variable set, it is that server.
#[test]
fn each_tool_is_listed_once() {
    if let Ok(role) = std::env::var(ROLE) {
        serve(&role);
    }
    let listed = tools(2);
    let names: std::collections::BTreeSet<&str> = listed.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names.len(), listed.len());
}

/// Standard output is the test runner's, so that the server speaks by another descriptor.
fn serve(role: &str) -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if role == "mute" {
            std::future::pending::<()>().await;
        }
        eprintln!("started as {role}");
        let out = tokio::fs::OpenOptions::new().write(true).open("/dev/fd/3").await.expect("descriptor 3");
        let transport = AsyncRwTransport::new_server(tokio::io::stdin(), out);
        let service = Server::new(role == "legacy").serve(transport).await.expect("a client");
        let _ = service.waiting().await;
    });
    std::process::exit(0)
}

/// Settings that start this binary as a server.
pub(crate) fn started_as(role: &str) -> ServerSettings {
    started_by("exec 3>&1 1>&2; exec \"$0\" --exact mcp_server::each_tool_is_listed_once --nocapture", role)
}

/// The same with what it says edited, so that it breaks the protocol.
pub(crate) fn edited_as(role: &str, edit: &str) -> ServerSettings {
    let started = "\"$0\" --exact mcp_server::each_tool_is_listed_once --nocapture 3>&1 1>&2";
    started_by(&format!("{started} | sed -u '{edit}'"), role)
}

fn started_by(line: &str, role: &str) -> ServerSettings {
    let binary = std::env::current_exe().expect("a path").display().to_string();
    ServerSettings::new(Transport::Stdio {
        command: "sh".to_owned(),
        args: ["-c", line, &binary].map(str::to_owned).into(),
        env: BTreeMap::from([(ROLE.to_owned(), role.to_owned())]),
        env_pass: Vec::new(),
        cwd: None,
    })
}
