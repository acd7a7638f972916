//! Lists of models.

use llm::Model;
use serde_json::Value;

use crate::limits;
use crate::settings::Kind;

/// Reads the answer of a list endpoint.
pub(crate) fn read(kind: Kind, body: &[u8]) -> Result<Vec<Model>, &'static str> {
    let body: Value = serde_json::from_slice(body).map_err(|_| "its list of models cannot be read")?;
    let field = if kind == Kind::Gemini { "models" } else { "data" };
    let items = match body.get(field) {
        Some(Value::Array(items)) => items,
        // A server without models leaves the list out.
        Some(Value::Null) => return Ok(Vec::new()),
        None if kind == Kind::Gemini && body.is_object() => return Ok(Vec::new()),
        _ => return Err("its list of models cannot be read: no list is in it"),
    };
    let models = items.iter().filter_map(if kind == Kind::Gemini { gemini } else { plain });
    Ok(models.take(limits::MODELS).collect())
}

fn plain(item: &Value) -> Option<Model> {
    Some(Model {
        id: text(item, "id")?,
        display_name: text(item, "display_name"),
        context_tokens: tokens(item, "max_input_tokens")
            .or_else(|| tokens(item, "max_model_len"))
            .or_else(|| tokens(item, "context_length"))
            .or_else(|| tokens(item, "context_window"))
            .or_else(|| tokens(item.get("meta")?, "n_ctx")),
    })
}

fn gemini(item: &Value) -> Option<Model> {
    let methods = item.get("supportedGenerationMethods").and_then(Value::as_array);
    if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
        return None;
    }
    let name = text(item, "name")?;
    Some(Model {
        id: name.strip_prefix("models/").unwrap_or(&name).to_owned(),
        display_name: text(item, "displayName"),
        context_tokens: tokens(item, "inputTokenLimit"),
    })
}

fn text(item: &Value, key: &str) -> Option<String> {
    item.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn tokens(item: &Value, key: &str) -> Option<u32> {
    u32::try_from(item.get(key)?.as_u64()?).ok().filter(|tokens| *tokens > 0)
}

/// The models of the settings, with their known fields.
pub(crate) fn only(listed: &[String], found: Vec<Model>) -> Vec<Model> {
    let mut found = found;
    listed
        .iter()
        .map(|id| match found.iter().position(|model| model.id == *id) {
            Some(at) => found.swap_remove(at),
            None => Model { id: id.clone(), display_name: None, context_tokens: None },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use llm::Model;

    use super::{only, read};
    use crate::settings::Kind;

    fn model(id: &str, display_name: Option<&str>, context_tokens: Option<u32>) -> Model {
        Model { id: id.into(), display_name: display_name.map(Into::into), context_tokens }
    }

    #[test]
    fn lists() {
        let anthropic =
            br#"{"data":[{"type":"model","id":"claude-x","display_name":"Claude X"}],"has_more":false}"#;
        assert_eq!(read(Kind::Anthropic, anthropic), Ok(vec![model("claude-x", Some("Claude X"), None)]));
        let chat =
            br#"{"object":"list","data":[{"id":"a"},{"id":"b","meta":{"n_ctx":4096,"n_ctx_train":32768}},
            {"id":"c","max_model_len":8192},{"id":""},{"name":"no id"},7]}"#;
        let expected =
            vec![model("a", None, None), model("b", None, Some(4096)), model("c", None, Some(8192))];
        assert_eq!(read(Kind::OpenaiChat, chat), Ok(expected.clone()));
        assert_eq!(read(Kind::OpenaiResponses, chat), Ok(expected));
        let gemini = br#"{"models":[
            {"name":"models/gemini-x","displayName":"X","inputTokenLimit":1000,"supportedGenerationMethods":["generateContent"]},
            {"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}"#;
        assert_eq!(read(Kind::Gemini, gemini), Ok(vec![model("gemini-x", Some("X"), Some(1000))]));
        assert_eq!(read(Kind::Gemini, b"{}"), Ok(vec![]));
        assert_eq!(read(Kind::OpenaiChat, br#"{"data":null}"#), Ok(vec![]));
    }

    #[test]
    fn an_invalid_list_fails() {
        for body in ["", "<html>", "[]", "{}", r#"{"data":7}"#] {
            assert!(read(Kind::OpenaiChat, body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn a_list_has_an_end() {
        let items = vec![serde_json::json!({"id": "m"}); 3_000];
        let body = serde_json::json!({ "data": items }).to_string();
        assert_eq!(read(Kind::OpenaiChat, body.as_bytes()).map(|models| models.len()), Ok(1_000));
    }

    #[test]
    fn the_settings_choose() {
        let found = vec![model("a", Some("A"), Some(1)), model("b", None, None), model("c", None, None)];
        let chosen = only(&["c".into(), "x".into(), "a".into()], found);
        assert_eq!(chosen, [model("c", None, None), model("x", None, None), model("a", Some("A"), Some(1))]);
    }
}
