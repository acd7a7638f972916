//! Tools that answer with each kind of content.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// One white pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// One silent sample.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

pub(crate) fn text(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

pub(crate) fn call(name: &str) -> Option<CallToolResult> {
    let embedded = |text: &str, uri: &str, mime_type: &str| {
        ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime_type))
    };
    let content = match name {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => {
            vec![embedded("This is an embedded resource content.", "test://embedded-resource", "text/plain")]
        }
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            embedded(r#"{"test":"data","value":123}"#, "test://mixed-content-resource", "application/json"),
        ],
        "test_header_parameter" | "json_schema_2020_12_tool" => vec![ContentBlock::text("Accepted")],
        "test_error_handling" => {
            let message = "This tool intentionally returns an error for testing";
            return Some(CallToolResult::error(vec![ContentBlock::text(message)]));
        }
        _ => return None,
    };
    Some(CallToolResult::success(content))
}
