//! Lists of models.

use serde_json::{Value, json};

use crate::protocol::Protocol;

/// A day in 2025: models need a date, and scripts have none.
const CREATED: u64 = 1_735_689_600;
const CREATED_AT: &str = "2025-01-01T00:00:00Z";
const CONTEXT_TOKENS: u32 = 200_000;
const OUTPUT_TOKENS: u32 = 8_192;

/// All models, or one of them. None if that one is unknown.
pub(crate) fn models(protocol: Protocol, names: &[String], one: Option<&str>) -> Option<Value> {
    let wanted = one.map(|one| one.strip_prefix("models/").unwrap_or(one));
    if let Some(wanted) = wanted {
        return names.iter().find(|name| *name == wanted).map(|name| model(protocol, name));
    }
    let all: Vec<Value> = names.iter().map(|name| model(protocol, name)).collect();
    Some(match protocol {
        Protocol::Anthropic => json!({
            "data": all,
            "has_more": false,
            "first_id": names.first(),
            "last_id": names.last(),
        }),
        Protocol::OpenaiResponses | Protocol::OpenaiChat => json!({ "object": "list", "data": all }),
        Protocol::Gemini => json!({ "models": all }),
    })
}

fn model(protocol: Protocol, name: &str) -> Value {
    match protocol {
        Protocol::Anthropic => {
            json!({ "type": "model", "id": name, "display_name": name, "created_at": CREATED_AT })
        }
        Protocol::OpenaiResponses | Protocol::OpenaiChat => {
            json!({ "id": name, "object": "model", "created": CREATED, "owned_by": "rehearsal" })
        }
        Protocol::Gemini => json!({
            "name": format!("models/{name}"),
            "version": "rehearsal",
            "displayName": name,
            "description": "A scripted model: a rehearsal.",
            "inputTokenLimit": CONTEXT_TOKENS,
            "outputTokenLimit": OUTPUT_TOKENS,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent"],
        }),
    }
}
