//! Gemini. Its JSON may be written in camel case or with underscores.

use serde_json::Value;

use super::output::{self, Strictness};
use super::{ContentReader, ReadResult, items, rejected, text, text_of};

pub(super) fn read(reader: &mut ContentReader, body: &Value) -> ReadResult<()> {
    answer_format(either(body, "generationConfig", "generation_config"))?;
    let system = either(body, "systemInstruction", "system_instruction");
    if !system.is_null() {
        reader.system(&text_of(&system["parts"]));
    }
    let declared = |tool| items(either(tool, "functionDeclarations", "function_declarations"));
    reader.received.tools =
        items(&body["tools"]).flat_map(declared).map(|tool| text(&tool["name"]).to_owned()).collect();
    for content in items(&body["contents"]) {
        match content["role"].as_str() {
            Some("user" | "function") | None => user(reader, &content["parts"])?,
            Some("model") => {
                reader.assistant()?;
                for part in items(&content["parts"]) {
                    let call = either(part, "functionCall", "function_call");
                    if !call.is_null() {
                        reader.call(text(&call["id"]), text(&call["name"]))?;
                    }
                }
            }
            Some(_) => return rejected("Please use a valid role: user, model."),
        }
    }
    Ok(())
}

fn answer_format(settings: &Value) -> ReadResult<()> {
    const PLACE: &str = "generation_config";
    output::seed(&settings["seed"], &format!("{PLACE}.seed"))?;
    let own = either(settings, "responseSchema", "response_schema");
    let standard = either(settings, "responseJsonSchema", "response_json_schema");
    let media = either(settings, "responseMimeType", "response_mime_type");
    let schema = match (own, standard) {
        (Value::Null, Value::Null) => return Ok(()),
        (Value::Null, schema) | (schema, Value::Null) => schema,
        _ => return rejected("Only one of response_schema and response_json_schema may be set."),
    };
    if !matches!(media.as_str(), Some("application/json" | "text/x.enum")) {
        return rejected("Response schema is supported only with the MIME type application/json.");
    }
    output::schema(schema, &format!("{PLACE}.response_json_schema"), Strictness::Plain)
}

fn user(reader: &mut ContentReader, parts: &Value) -> ReadResult<()> {
    let (mut results, mut texts) = (0, 0);
    let expected = reader.open.len();
    for part in items(parts) {
        let response = either(part, "functionResponse", "function_response");
        if response.is_null() {
            texts += 1;
            reader.user(text(&part["text"]));
            continue;
        }
        results += 1;
        // Results without an id belong to the calls of their name, in order.
        let (id, name) = (text(&response["id"]), text(&response["name"]));
        let fits = |(open, tool): &&(String, String)| (id.is_empty() || open == id) && tool == name;
        let Some((id, _)) = reader.open.iter().find(fits).cloned() else { return mismatch() };
        reader.result(&id, output(&response["response"]))?;
    }
    if results != expected && (results > 0 || texts > 0) {
        return mismatch();
    }
    Ok(())
}

fn mismatch<T>() -> ReadResult<T> {
    rejected(
        "Please ensure that the number of function response parts is equal to the number of function call \
         parts of the function call turn.",
    )
}

/// The text of a response that holds nothing else, or all of it as JSON.
fn output(response: &Value) -> String {
    let only = response.as_object().filter(|fields| fields.len() == 1);
    match only.and_then(|fields| fields.values().next()?.as_str()) {
        Some(text) => text.to_owned(),
        None => response.to_string(),
    }
}

fn either<'a>(value: &'a Value, camel: &str, snake: &str) -> &'a Value {
    match &value[camel] {
        Value::Null => &value[snake],
        found => found,
    }
}
