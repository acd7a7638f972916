//! A server's result as text for a model.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::Outcome;

pub(super) fn outcome(result: CallToolResult) -> Outcome {
    let is_error = result.is_error.unwrap_or_default();
    let has_text = result.content.iter().any(|block| matches!(block, ContentBlock::Text(_)));
    let mut parts: Vec<String> = result.content.into_iter().map(described).collect();
    if let Some(structured) = result.structured_content.filter(|_| !has_text) {
        parts.insert(0, structured.to_string());
    }
    let text = if parts.is_empty() { "[the tool answered nothing]".to_owned() } else { parts.join("\n") };
    Outcome { text, is_error, ..Outcome::default() }
}

fn described(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => format!("[image, {}, {} bytes]", image.mime_type, decoded(&image.data)),
        ContentBlock::Audio(audio) => format!("[audio, {}, {} bytes]", audio.mime_type, decoded(&audio.data)),
        ContentBlock::Resource(embedded) => resource(embedded.resource),
        ContentBlock::ResourceLink(link) => format!("[resource {} at {}]", link.name, link.uri),
        _ => "[content of a kind that is not known here]".to_owned(),
    }
}

/// Shows the name of a resource and its text: the tool was called for it.
fn resource(contents: ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let kind = mime_type.unwrap_or_else(|| "of no stated type".to_owned());
            format!("[resource {uri}, {kind}, {} bytes]", decoded(&blob))
        }
        _ => "[resource of a kind that is not known here]".to_owned(),
    }
}

fn decoded(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}
