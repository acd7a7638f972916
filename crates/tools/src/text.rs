//! Cleans foreign text.

use agent::limits::TOOL_OUTPUT_BYTES;

use crate::limits;

/// The beginning of a text.
pub(crate) fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Makes a text fit to store and send: without NUL, which databases reject, and within the limit.
pub(crate) fn presentable(mut text: String) -> String {
    if text.contains('\0') {
        text = text.replace('\0', "\u{FFFD}");
    }
    if text.len() <= TOOL_OUTPUT_BYTES {
        return text;
    }
    let whole = text.len();
    // Leave room for the note.
    text.truncate(text.floor_char_boundary(TOOL_OUTPUT_BYTES - 100));
    let cut = whole - text.len();
    text.push_str(&format!("\n[cut here: {cut} of {whole} bytes are not shown]"));
    text
}

/// True if bytes are not text, judging by their beginning.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(limits::BINARY_PROBE_BYTES)].contains(&0)
}
