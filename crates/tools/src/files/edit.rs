//! `edit_file`.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::guard::refuse_secret;
use super::root::{Root, open_regular, read_whole, shown};
use super::walk::Watch;
use super::write::Target;
use crate::Consent;
use crate::input::parsed;
use crate::limits;
use crate::text::{is_binary, shortened};

#[derive(Debug, Deserialize)]
pub(super) struct Input {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

pub(super) fn run(
    root: &Root,
    input: Map<String, Value>,
    _: &Watch,
    consent: Consent,
) -> Result<String, String> {
    let input: Input = parsed(input)?;
    if input.old == input.new {
        return Err("old and new are the same; nothing was changed".to_owned());
    }
    let path = root.relative(&input.path)?;
    // Nothing is made for a file that is not there.
    root.dir().metadata(&path).map_err(|error| root.explain(&path, &error))?;
    refuse_secret(root, &path, consent)?;
    let target = Target::find(root, &path, consent)?;
    let _alone = target.lock();
    let explain = |error: std::io::Error| root.explain(&target.path, &error);
    let (mut file, metadata) = open_regular(target.dir(), target.name()).map_err(explain)?;
    let bytes = read_whole(&mut file, &metadata).map_err(explain)?;
    if is_binary(&bytes) {
        return Err(format!("{} is binary and is not edited as text", shown(&target.path)));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("{} is not valid UTF-8 and is not edited as text", shown(&target.path)))?;
    let (changed, places) = replaced(&text, input)?;
    if changed.len() as u64 > limits::FILE_BYTES {
        return Err(format!(
            "the file would grow to {} bytes; at most {} are written",
            changed.len(),
            limits::FILE_BYTES
        ));
    }
    target.replace(changed.as_bytes())?;
    Ok(format!("edited {}: {}", shown(&target.path), named(&places)))
}

/// The text with the replacement made, and the lines at which it was made.
pub(super) fn replaced(text: &str, input: Input) -> Result<(String, Vec<usize>), String> {
    let Input { mut old, mut new, all, .. } = input;
    // A model writes \n; a file with the other line ends keeps them.
    if !text.contains(&old) && !old.contains('\r') && text.contains("\r\n") {
        old = old.replace('\n', "\r\n");
        new = new.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    let places: Vec<usize> = lines_of(text, text.match_indices(&old).map(|(at, _)| at));
    match places.len() {
        0 => Err(format!("old does not occur in the file; nothing was changed.{}", nearest(text, &old))),
        1 => Ok((text.replacen(&old, &new, 1), places)),
        _ if all => Ok((text.replace(&old, &new), places)),
        count => Err(format!(
            "old occurs {count} times, {}; nothing was changed. Add lines around it to make it unique, or set all.",
            named(&places)
        )),
    }
}

/// The numbers of the lines in which the ascending places lie, without counting from the top each time.
fn lines_of(text: &str, places: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut from, mut line) = (0, 1);
    places
        .map(|at| {
            line += text.as_bytes()[from..at].iter().filter(|byte| **byte == b'\n').count();
            from = at;
            line
        })
        .collect()
}

fn named(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(limits::NAMED_PLACES).map(usize::to_string).collect();
    let more = lines.len().saturating_sub(limits::NAMED_PLACES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} {}{more}", if lines.len() == 1 { "line" } else { "lines" }, shown.join(", "))
}

/// The place of the text that was probably meant.
fn nearest(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().take(limits::NEAR_LINES).collect();
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    if let Some(at) = lines
        .windows(wanted.len().max(1))
        .position(|window| window.iter().zip(&wanted).all(|(line, wanted)| words(line).eq(words(wanted))))
    {
        let found = lines[at..at + wanted.len().max(1)].join("\n");
        return format!(
            " Line {} and the following differ only in white space:\n{}",
            at + 1,
            shortened(&found, 4 * limits::SEARCH_LINE_CHARS)
        );
    }
    let Some(first) = wanted.iter().find(|line| !line.is_empty()) else { return String::new() };
    let first = shortened(first, limits::NEAR_CHARS);
    let mut near: Vec<(f64, usize)> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            let line = line.trim();
            // Lines of very unequal length are not alike, and comparing long ones takes time.
            let comparable = line.len() <= 2 * first.len() + 8 && first.len() <= 2 * line.len() + 8;
            (if comparable { strsim::normalized_levenshtein(line, &first) } else { 0.0 }, index)
        })
        .filter(|(likeness, _)| *likeness > 0.6)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut message = String::new();
    for (_, index) in near.into_iter().take(3) {
        let line = shortened(lines[index], limits::SEARCH_LINE_CHARS);
        let _ = write!(message, "\nline {}: {line}", index + 1);
    }
    if message.is_empty() {
        " No line is like it; read the file again.".to_owned()
    } else {
        format!(" Lines that are like its first:{message}")
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
}
