//! OpenAI Responses.

use serde_json::Value;

use super::{ContentReader, ReadResult, items, output, rejected, rejected_at, text, text_of};

pub(super) fn read(reader: &mut ContentReader, body: &Value) -> ReadResult<()> {
    reader.model(body)?;
    output::unknown(body, "seed")?;
    answer_format(&body["text"]["format"])?;
    if let Some(instructions) = body["instructions"].as_str() {
        reader.system(instructions);
    }
    reader.received.tools = items(&body["tools"]).map(|tool| text(&tool["name"]).to_owned()).collect();
    reader.received.wants_encrypted =
        items(&body["include"]).any(|included| included == "reasoning.encrypted_content");
    if let Some(input) = body["input"].as_str() {
        reader.user(input);
        return Ok(());
    }
    for (index, item) in items(&body["input"]).enumerate() {
        // A message may leave its type out.
        match (item["type"].as_str().unwrap_or("message"), item["role"].as_str()) {
            ("message", Some("user")) => {
                reader.all_answered()?;
                reader.user(&text_of(&item["content"]));
            }
            ("message", Some("system" | "developer")) => reader.system(&text_of(&item["content"])),
            ("message", Some("assistant")) | ("reasoning", _) => reader.assistant()?,
            ("function_call", _) => {
                // A call may follow the result of the one before it within one turn of ours, but
                // each answer of the model is a call of its own.
                reader.call(text(&item["call_id"]), text(&item["name"]))?;
            }
            ("function_call_output", _) => {
                reader.result(text(&item["call_id"]), text_of(&item["output"]))?;
            }
            (kind, _) => {
                return rejected(format!("Invalid value for input[{index}]: {kind:?} is not supported here"));
            }
        }
    }
    Ok(())
}

fn answer_format(format: &Value) -> ReadResult<()> {
    const PLACE: &str = "text.format";
    match (format, format["type"].as_str()) {
        (Value::Null, _) | (_, Some("text" | "json_object")) => Ok(()),
        (format, Some("json_schema")) => output::format(format, PLACE, true),
        _ => rejected_at(PLACE, format!("Invalid value for '{PLACE}.type'")),
    }
}
