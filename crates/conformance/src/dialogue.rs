//! Tools that speak to the client while they run: progress, logging, sampling, elicitation.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, CustomRequest, ErrorData, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ServerRequest,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::content::text;

type Context = RequestContext<RoleServer>;
type Outcome = Result<CallToolResult, ErrorData>;

/// The pause between two steps of a slow tool.
const STEP: Duration = Duration::from_millis(50);

pub(crate) async fn call(request: &CallToolRequestParams, context: &Context) -> Option<Outcome> {
    Some(match &*request.name {
        "test_tool_with_progress" => progress(context).await,
        "test_tool_with_logging" => logging(context).await,
        "test_logging_tool" => maybe_log(context).await,
        "test_streaming_elicitation" => streaming(context).await,
        "test_missing_capability" => sampling_needed(context),
        "test_sampling" => sampling(request, context).await,
        "test_elicitation" => elicitation(request, context).await,
        "test_elicitation_sep1034_defaults" => show_form(context, defaults()).await,
        "test_elicitation_sep1330_enums" => show_form(context, enums()).await,
        _ => return None,
    })
}

async fn progress(context: &Context) -> Outcome {
    if let Some(token) = context.meta.get_progress_token() {
        for done in [0.0, 50.0, 100.0] {
            let step = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
            // The client may have left.
            let _ = context.peer.notify_progress(step).await;
            sleep(STEP).await;
        }
    }
    Ok(text("Progress completed"))
}

async fn log(context: &Context, message: &str) {
    let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
    let _ = context.peer.notify_logging_message(line).await;
}

async fn logging(context: &Context) -> Outcome {
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        log(context, message).await;
        sleep(STEP).await;
    }
    Ok(text("Logging completed"))
}

async fn maybe_log(context: &Context) -> Outcome {
    if context.meta.log_level().is_some() {
        log(context, "Tool execution started").await;
    }
    Ok(text("Logging evaluated"))
}

async fn streaming(context: &Context) -> Outcome {
    if let Some(token) = context.meta.get_progress_token() {
        let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, 1.0)).await;
    }
    Ok(text("Streaming complete"))
}

fn sampling_needed(context: &Context) -> Outcome {
    let declared = context.client_capabilities().is_some_and(|client| client.sampling.is_some());
    if declared {
        return Ok(text("Success"));
    }
    let needed = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(needed))
}

fn argument(request: &CallToolRequestParams, name: &str) -> Result<String, ErrorData> {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
    let text = value.and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
}

/// Sends a request to the client of a session and waits for its answer.
async fn ask(context: &Context, method: &str, params: Value) -> Result<Value, ErrorData> {
    if mcp::is_modern(context) {
        return Err(ErrorData::invalid_request("a stateless request cannot ask its client", None));
    }
    let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    let answer = context.peer.send_request(request).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    serde_json::to_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

async fn sampling(request: &CallToolRequestParams, context: &Context) -> Outcome {
    let prompt = argument(request, "prompt")?;
    let params = json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
        "maxTokens": 100,
    });
    let answer = ask(context, "sampling/createMessage", params).await?;
    let said = answer["content"]["text"].as_str().unwrap_or_default();
    Ok(text(&format!("LLM response: {said}")))
}

async fn elicitation(request: &CallToolRequestParams, context: &Context) -> Outcome {
    let message = argument(request, "message")?;
    let schema = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    });
    let params = json!({ "message": message, "requestedSchema": schema });
    let answer = ask(context, "elicitation/create", params).await?;
    Ok(text(&format!("User response: {}", outcome(&answer))))
}

/// Asks the user to fill in a form.
async fn show_form(context: &Context, properties: Value) -> Outcome {
    let schema = json!({ "type": "object", "properties": properties });
    let params = json!({ "message": "Please review the form", "requestedSchema": schema });
    let answer = ask(context, "elicitation/create", params).await?;
    Ok(text(&format!("Elicitation completed: {}", outcome(&answer))))
}

fn outcome(answer: &Value) -> String {
    format!("action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"])
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn enums() -> Value {
    let titled = |word: &str| {
        json!([
            { "const": "value1", "title": format!("First {word}") },
            { "const": "value2", "title": format!("Second {word}") },
            { "const": "value3", "title": format!("Third {word}") },
        ])
    };
    json!({
        "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    })
}
