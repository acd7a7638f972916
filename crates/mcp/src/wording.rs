//! Errors in the words of MCP: remedies name parameters of tools.

use persona::{Remedy, Report};
use rmcp::model::{ErrorData, JsonObject, MetaObject};
use serde_json::{Value, json};

/// The member of a result's `_meta` that has an error as data. Not the structured content: clients check
/// that against the tool's output schema, also where the result is an error.
pub(crate) const ERROR_META: &str = "masque/error";

/// A remedy as an agent can follow it.
pub(crate) fn remedy(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::LeaveOutScope => "leave out scope".to_owned(),
        Remedy::OpenProject | Remedy::ServeProject => "start Masque in a project".to_owned(),
        other => other.to_string(),
    })
}

pub(crate) fn meta(report: &Report) -> MetaObject {
    let mut meta = JsonObject::new();
    meta.insert(ERROR_META.to_owned(), json!(report));
    MetaObject(meta)
}

/// Wrong parameters, as a protocol error.
pub(crate) fn invalid_params(report: &Report) -> ErrorData {
    with_data(ErrorData::invalid_params(report.sentence(remedy), None), report)
}

/// The same as the data of a protocol error.
pub(crate) fn with_data(error: ErrorData, report: &Report) -> ErrorData {
    let mut data = match error.data {
        Some(Value::Object(data)) => data,
        _ => JsonObject::new(),
    };
    data.insert("error".to_owned(), json!(report));
    ErrorData { data: Some(Value::Object(data)), ..error }
}

#[cfg(test)]
mod tests;
