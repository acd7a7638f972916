//! `read_file`.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::guard::refuse_secret;
use super::root::{Root, open_regular, read_whole, shown};
use super::walk::Watch;
use crate::Consent;
use crate::input::parsed;
use crate::limits;
use crate::text::is_binary;

#[derive(Debug, Deserialize)]
struct Input {
    path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

pub(super) fn run(
    root: &Root,
    input: Map<String, Value>,
    _: &Watch,
    consent: Consent,
) -> Result<String, String> {
    let input: Input = parsed(input)?;
    let path = root.relative(&input.path)?;
    refuse_secret(root, &path, consent)?;
    let explain = |error: std::io::Error| root.explain(&path, &error);
    let (mut file, metadata) = open_regular(root.dir(), &path).map_err(explain)?;
    let bytes = read_whole(&mut file, &metadata).map_err(explain)?;
    if is_binary(&bytes) {
        return Err(format!("{} is binary, {} bytes; it is not shown", shown(&path), bytes.len()));
    }
    if bytes.is_empty() {
        return Ok("[the file is empty]".to_owned());
    }
    let text = String::from_utf8_lossy(&bytes);
    let is_lossy = matches!(text, std::borrow::Cow::Owned(_));
    let offset = input.offset.unwrap_or(1);
    let excerpt = excerpt(&text, offset, input.limit.unwrap_or(limits::READ_LINES));
    if excerpt.lines == 0 {
        return Err(format!("{} has {} lines; offset {offset} is past its end", shown(&path), excerpt.total));
    }
    Ok(with_header(&excerpt, offset, is_lossy))
}

struct Excerpt<'a> {
    text: &'a str,
    lines: u64,
    total: u64,
    /// The last line shown is shown in part.
    is_broken: bool,
}

fn excerpt(text: &str, offset: u64, limit: u64) -> Excerpt<'_> {
    let first = usize::try_from(offset.saturating_sub(1)).unwrap_or(usize::MAX);
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let total = text.split_inclusive('\n').count() as u64;
    let start: usize = text.split_inclusive('\n').take(first).map(str::len).sum();
    let mut excerpt = Excerpt { text: "", lines: 0, total, is_broken: false };
    let mut bytes = 0;
    for line in text[start..].split_inclusive('\n').take(most) {
        if bytes + line.len() > limits::FILES_ANSWER_BYTES {
            // A line that alone is too long is still begun.
            if excerpt.lines == 0 {
                bytes = line.floor_char_boundary(limits::FILES_ANSWER_BYTES);
                excerpt.lines = 1;
                excerpt.is_broken = true;
            }
            break;
        }
        bytes += line.len();
        excerpt.lines += 1;
    }
    excerpt.text = &text[start..start + bytes];
    excerpt
}

fn with_header(excerpt: &Excerpt<'_>, offset: u64, is_lossy: bool) -> String {
    let last = offset + excerpt.lines - 1;
    let mut notes = Vec::new();
    if offset > 1 || last < excerpt.total {
        let mut note = format!("lines {offset} to {last} of {}", excerpt.total);
        if last < excerpt.total {
            let _ = write!(note, "; read on with offset {}", last + 1);
        }
        notes.push(note);
    }
    if excerpt.is_broken {
        notes.push(format!("line {offset} is longer than {} bytes and cut", limits::FILES_ANSWER_BYTES));
    }
    if is_lossy {
        notes.push("not valid UTF-8: unreadable bytes are shown as \u{FFFD}".to_owned());
    }
    if notes.is_empty() {
        excerpt.text.to_owned()
    } else {
        format!("[{}]\n{}", notes.join("; "), excerpt.text)
    }
}
