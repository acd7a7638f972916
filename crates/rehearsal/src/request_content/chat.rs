//! OpenAI's chat completions, and all that are compatible with them.

use serde_json::Value;

use super::{ContentReader, ReadResult, items, output, rejected, rejected_at, text, text_of};

pub(super) fn read(reader: &mut ContentReader, body: &Value) -> ReadResult<()> {
    reader.model(body)?;
    output::seed(&body["seed"], "seed")?;
    answer_format(&body["response_format"])?;
    reader.received.wants_usage = body["stream_options"]["include_usage"] == true;
    reader.received.tools =
        items(&body["tools"]).map(|tool| text(&tool["function"]["name"]).to_owned()).collect();
    for (index, message) in items(&body["messages"]).enumerate() {
        match message["role"].as_str() {
            Some("system" | "developer") => reader.system(&text_of(&message["content"])),
            Some("user") => {
                reader.all_answered()?;
                reader.user(&text_of(&message["content"]));
            }
            Some("assistant") => {
                reader.all_answered()?;
                // Two messages in a row are two turns: nothing joins them on this wire.
                reader.assistant_speaks = false;
                reader.assistant()?;
                for call in items(&message["tool_calls"]) {
                    reader.call(text(&call["id"]), text(&call["function"]["name"]))?;
                }
            }
            Some("tool") => {
                let id = text(&message["tool_call_id"]);
                reader.result(id, text_of(&message["content"]))?;
            }
            _ => return rejected(format!("Invalid value for messages[{index}].role")),
        }
    }
    Ok(())
}

fn answer_format(format: &Value) -> ReadResult<()> {
    const PLACE: &str = "response_format";
    match (format, format["type"].as_str()) {
        (Value::Null, _) | (_, Some("text" | "json_object")) => Ok(()),
        (format, Some("json_schema")) => {
            output::format(&format["json_schema"], &format!("{PLACE}.json_schema"), true)
        }
        _ => rejected_at(PLACE, format!("Invalid value for '{PLACE}.type'")),
    }
}
