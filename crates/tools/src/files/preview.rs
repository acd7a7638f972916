//! The effect of a call that changes a file, before it runs.

use agent::{Concern, ToolCall};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::edit;
use super::root::{Root, open_regular, read_whole, shown};
use crate::input::parsed;
use crate::text::is_binary;

/// The facts by which a user decides about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Preview {
    /// Reasons to ask whatever a preset says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<Concern>,
    /// None for a call that changes no file below the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<FileChange>,
}

/// The change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FileChange {
    /// Relative to the root, without links.
    pub path: String,
    /// True if the file is there.
    pub exists: bool,
    /// The text of the file now. None if there is none, or if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text of the file afterwards. None if the call would fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The change that a call of a file tool makes. None for tools that change no file.
pub(crate) fn change(root: &Root, call: &ToolCall) -> Option<FileChange> {
    if !["write_file", "edit_file"].contains(&call.name.as_str()) {
        return None;
    }
    let given = call.input.get("path").and_then(Value::as_str)?;
    let path = root.expected(&root.relative(given).ok()?).ok()?;
    let opened = open_regular(root.dir(), &path);
    let exists = opened.is_ok();
    let bytes = opened.and_then(|(mut file, metadata)| read_whole(&mut file, &metadata)).ok();
    let before = bytes.filter(|bytes| !is_binary(bytes)).and_then(|bytes| String::from_utf8(bytes).ok());
    let after = match (call.input.get("content").and_then(Value::as_str), &before) {
        (Some(content), _) => Some(content.to_owned()),
        (None, Some(before)) => parsed(call.input.clone())
            .and_then(|input| edit::replaced(before, input))
            .ok()
            .map(|(text, _)| text),
        (None, None) => None,
    };
    Some(FileChange { path: shown(&path), exists, before, after })
}
