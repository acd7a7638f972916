//! Lists of tools that violate the protocol. One invalid tool must not hide the server's others.

use rmcp::model::Tool;
use serde_json::{Map, Value};

use crate::text::shortened;

/// The fields of a tool that matter here. The others need not be valid.
const FIELDS: [&str; 5] = ["name", "title", "description", "inputSchema", "annotations"];

/// A page of a list.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) tools: Vec<Tool>,
    pub(super) next_cursor: Option<String>,
    /// The tools that were left out, and why.
    pub(super) problems: Vec<String>,
}

impl Page {
    /// Reads a server's answer. Hints that are not booleans count as absent.
    pub(super) fn read(answer: Value) -> Result<Self, String> {
        let Value::Object(mut answer) = answer else { return Err("its answer is not a list".to_owned()) };
        let Some(Value::Array(listed)) = answer.remove("tools") else {
            return Err("its answer has no tools".to_owned());
        };
        let next_cursor = answer.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        let mut page = Self { tools: Vec::new(), next_cursor, problems: Vec::new() };
        for (at, tool) in listed.into_iter().enumerate() {
            let name = tool.get("name").and_then(Value::as_str);
            let name = name.map_or(format!("tool {} of its list", at + 1), |name| format!("{name:?}"));
            match serde_json::from_value(plain(tool)) {
                Ok(tool) => page.tools.push(tool),
                Err(error) => page.problems.push(format!(
                    "{} is not as the protocol has it, and is left out: {}",
                    shortened(&name, 80),
                    shortened(&error.to_string(), 200)
                )),
            }
        }
        Ok(page)
    }
}

/// A tool's relevant fields, without invalid hints.
fn plain(tool: Value) -> Value {
    let Value::Object(mut tool) = tool else { return tool };
    tool.retain(|field, _| FIELDS.contains(&field.as_str()));
    for text in ["title", "description"] {
        if tool.get(text).is_some_and(|text| !text.is_string()) {
            tool.remove(text);
        }
    }
    if let Some(annotations) = tool.remove("annotations") {
        let hints = match annotations {
            Value::Object(hints) => hints.into_iter().filter(|(_, hint)| hint.is_boolean()).collect(),
            _ => Map::new(),
        };
        tool.insert("annotations".to_owned(), Value::Object(hints));
    }
    Value::Object(tool)
}
