//! The fixture resources.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::content::PNG;

const STATIC_TEXT: &str = "test://static-text";
const STATIC_BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

pub(crate) fn list() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, mime_type: &str| {
        Resource::new(uri, name).with_mime_type(mime_type).with_description("A fixture")
    };
    vec![
        resource(STATIC_TEXT, "static-text", "text/plain"),
        resource(STATIC_BINARY, "static-binary", "image/png"),
        resource(WATCHED, "watched-resource", "text/plain"),
    ]
}

pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "template-data")
        .with_description("A fixture")
        .with_mime_type("application/json")
}

pub(crate) fn read(uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri {
        STATIC_TEXT => ResourceContents::text("This is the content of the static text resource.", uri),
        STATIC_BINARY => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        WATCHED => ResourceContents::text("Watched resource content", uri),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}
