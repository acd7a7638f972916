//! Anthropic Messages.

use serde_json::Value;

use super::{Listened, Listener, items, rejected, text, text_of};

pub(super) fn listen(listener: &mut Listener, body: &Value) -> Listened<()> {
    listener.model(body)?;
    if body["max_tokens"].as_u64().is_none_or(|most| most == 0) {
        return rejected("max_tokens: Field required");
    }
    match &body["system"] {
        Value::Null => {}
        system => listener.system(&text_of(system)),
    }
    listener.heard.tools = items(&body["tools"]).map(|tool| text(&tool["name"]).to_owned()).collect();
    for (index, message) in items(&body["messages"]).enumerate() {
        let content = &message["content"];
        match message["role"].as_str() {
            Some("user") => user(listener, index, content)?,
            Some("assistant") if index == 0 => {
                return rejected("messages: first message must use the \"user\" role");
            }
            Some("assistant") => assistant(listener, content)?,
            _ => return rejected(format!("messages.{index}.role: Input should be 'user' or 'assistant'")),
        }
    }
    Ok(())
}

fn user(listener: &mut Listener, index: usize, content: &Value) -> Listened<()> {
    if let Some(text) = content.as_str() {
        if text.is_empty() {
            return rejected(format!("messages.{index}: user messages must have non-empty content"));
        }
        listener.all_answered()?;
        listener.user(text);
        return Ok(());
    }
    for block in items(content) {
        match text(&block["type"]) {
            "tool_result" => listener.result(text(&block["tool_use_id"]), text_of(&block["content"]))?,
            "text" if text(&block["text"]).is_empty() => {
                return rejected(format!("messages.{index}: text content blocks must be non-empty"));
            }
            "text" => {
                // All results stand first in the message after their calls.
                listener.all_answered()?;
                listener.user(text(&block["text"]));
            }
            "image" | "document" => listener.user(""),
            other => {
                return rejected(format!(
                    "messages.{index}.content: Input tag {other:?} is not one of a user's"
                ));
            }
        }
    }
    listener.all_answered()
}

fn assistant(listener: &mut Listener, content: &Value) -> Listened<()> {
    listener.assistant()?;
    for block in items(content) {
        match text(&block["type"]) {
            "tool_use" if !block["input"].is_object() => {
                return rejected("tool_use.input: Input should be a valid dictionary");
            }
            "tool_use" => listener.call(text(&block["id"]), text(&block["name"]))?,
            "text" if text(&block["text"]).is_empty() => {
                return rejected("messages: text content blocks must be non-empty");
            }
            "thinking" if block["signature"].as_str().is_none() => {
                return rejected("thinking.signature: Field required");
            }
            _ => {}
        }
    }
    Ok(())
}
