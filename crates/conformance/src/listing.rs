//! The fixture tools as they are listed.

use rmcp::model::{JsonObject, Tool, object};
use serde_json::json;

/// Tools without arguments.
const PLAIN: [(&str, &str); 23] = [
    ("test_simple_text", "Answers with text"),
    ("test_image_content", "Answers with an image"),
    ("test_audio_content", "Answers with audio"),
    ("test_embedded_resource", "Answers with a resource"),
    ("test_multiple_content_types", "Answers with text, an image and a resource"),
    ("test_error_handling", "Answers with an error"),
    ("test_tool_with_progress", "Reports progress"),
    ("test_tool_with_logging", "Logs to its client"),
    ("test_elicitation_sep1034_defaults", "Asks with defaults"),
    ("test_elicitation_sep1330_enums", "Asks with every kind of enumeration"),
    ("test_input_required_result_elicitation", "Needs a name"),
    ("test_input_required_result_sampling", "Needs a model's answer"),
    ("test_input_required_result_list_roots", "Needs the client's roots"),
    ("test_input_required_result_request_state", "Needs a confirmation, with state"),
    ("test_input_required_result_multiple_inputs", "Needs three answers at once"),
    ("test_input_required_result_multi_round", "Needs two answers, one after the other"),
    ("test_input_required_result_tampered_state", "Refuses state that was changed"),
    ("test_input_required_result_capabilities", "Asks what the client can answer"),
    ("test_missing_capability", "Needs sampling"),
    ("test_streaming_elicitation", "Answers over a stream"),
    ("test_logging_tool", "Logs when it is asked to"),
    ("test_trigger_tool_change", "Says that the tools changed"),
    ("test_trigger_prompt_change", "Says that the prompts changed"),
];

pub(crate) fn tools() -> Vec<Tool> {
    let nothing = || object(json!({ "type": "object", "properties": {} }));
    let mut tools: Vec<Tool> =
        PLAIN.into_iter().map(|(name, description)| Tool::new(name, description, nothing())).collect();
    tools.push(Tool::new("test_sampling", "Asks the client's model", one_text("prompt")));
    tools.push(Tool::new("test_elicitation", "Asks the user", one_text("message")));
    tools.push(Tool::new(
        "test_header_parameter",
        "Takes a parameter that a header repeats",
        header_parameter(),
    ));
    tools.push(Tool::new(
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
        full_schema(),
    ));
    tools
}

fn one_text(name: &str) -> JsonObject {
    object(json!({
        "type": "object",
        "properties": { name: { "type": "string" } },
        "required": [name],
    }))
}

fn header_parameter() -> JsonObject {
    object(json!({
        "type": "object",
        "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
        "required": ["value"],
    }))
}

fn full_schema() -> JsonObject {
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    }))
}
