//! OpenAI's chat completions, and all that are compatible with them.

use serde_json::Value;

use super::{Listened, Listener, items, rejected, text, text_of};

pub(super) fn listen(listener: &mut Listener, body: &Value) -> Listened<()> {
    listener.model(body)?;
    listener.heard.wants_usage = body["stream_options"]["include_usage"] == true;
    listener.heard.tools =
        items(&body["tools"]).map(|tool| text(&tool["function"]["name"]).to_owned()).collect();
    for (index, message) in items(&body["messages"]).enumerate() {
        match message["role"].as_str() {
            Some("system" | "developer") => listener.system(&text_of(&message["content"])),
            Some("user") => {
                listener.all_answered()?;
                listener.user(&text_of(&message["content"]));
            }
            Some("assistant") => {
                listener.all_answered()?;
                // Two messages in a row are two turns: nothing joins them on this wire.
                listener.assistant_speaks = false;
                listener.assistant()?;
                for call in items(&message["tool_calls"]) {
                    listener.call(text(&call["id"]), text(&call["function"]["name"]))?;
                }
            }
            Some("tool") => {
                let id = text(&message["tool_call_id"]);
                listener.result(id, text_of(&message["content"]))?;
            }
            _ => return rejected(format!("Invalid value for messages[{index}].role")),
        }
    }
    Ok(())
}
