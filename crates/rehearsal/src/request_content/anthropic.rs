//! Anthropic Messages.

use serde_json::Value;

use super::{ContentReader, ReadResult, items, output, rejected, rejected_at, text, text_of};

pub(super) fn read(reader: &mut ContentReader, body: &Value) -> ReadResult<()> {
    reader.model(body)?;
    if body["max_tokens"].as_u64().is_none_or(|most| most == 0) {
        return rejected("max_tokens: Field required");
    }
    output::unknown(body, "seed")?;
    answer_format(&body["output_config"]["format"])?;
    match &body["system"] {
        Value::Null => {}
        system => reader.system(&text_of(system)),
    }
    reader.received.tools = items(&body["tools"]).map(|tool| text(&tool["name"]).to_owned()).collect();
    for (index, message) in items(&body["messages"]).enumerate() {
        let content = &message["content"];
        match message["role"].as_str() {
            Some("user") => user(reader, index, content)?,
            Some("assistant") if index == 0 => {
                return rejected("messages: first message must use the \"user\" role");
            }
            Some("assistant") => assistant(reader, content)?,
            _ => return rejected(format!("messages.{index}.role: Input should be 'user' or 'assistant'")),
        }
    }
    Ok(())
}

fn answer_format(format: &Value) -> ReadResult<()> {
    const PLACE: &str = "output_config.format";
    match format {
        Value::Null => Ok(()),
        format if format["type"] == "json_schema" => output::format(format, PLACE, false),
        _ => rejected_at(PLACE, format!("{PLACE}.type: Input should be 'json_schema'")),
    }
}

fn user(reader: &mut ContentReader, index: usize, content: &Value) -> ReadResult<()> {
    if let Some(text) = content.as_str() {
        if text.is_empty() {
            return rejected(format!("messages.{index}: user messages must have non-empty content"));
        }
        reader.all_answered()?;
        reader.user(text);
        return Ok(());
    }
    for block in items(content) {
        match text(&block["type"]) {
            "tool_result" => reader.result(text(&block["tool_use_id"]), text_of(&block["content"]))?,
            "text" if text(&block["text"]).is_empty() => {
                return rejected(format!("messages.{index}: text content blocks must be non-empty"));
            }
            "text" => {
                // All results stand first in the message after their calls.
                reader.all_answered()?;
                reader.user(text(&block["text"]));
            }
            "image" | "document" => reader.user(""),
            other => {
                return rejected(format!(
                    "messages.{index}.content: Input tag {other:?} is not one of a user's"
                ));
            }
        }
    }
    reader.all_answered()
}

fn assistant(reader: &mut ContentReader, content: &Value) -> ReadResult<()> {
    reader.assistant()?;
    for block in items(content) {
        match text(&block["type"]) {
            "tool_use" if !block["input"].is_object() => {
                return rejected("tool_use.input: Input should be a valid dictionary");
            }
            "tool_use" => reader.call(text(&block["id"]), text(&block["name"]))?,
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
