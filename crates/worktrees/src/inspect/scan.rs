//! Tests in the text of a file: Rust, Python, JavaScript, TypeScript, Go, Java, Kotlin, C and C++.
//!
//! Reads line by line, relies on usual formatting, and resolves nothing. It finds deleted and skipped
//! tests that a worker leaves behind; the counts of the check's own runner find the rest.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

mod braces;
mod javascript;
mod python;
mod rust;

/// A test by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) is_skipped: bool,
}

impl Test {
    fn new(name: impl Into<String>, is_skipped: bool) -> Self {
        Self { name: name.into(), is_skipped }
    }
}

/// The tests of a file.
pub(super) fn tests_in(path: &[u8], text: &str) -> Vec<Test> {
    match extension(path) {
        "rs" => rust::tests(text),
        "py" => python::tests(text),
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => javascript::tests(text),
        "go" => braces::go(text),
        "java" | "kt" => braces::java(text),
        "c" | "cc" | "cpp" | "cxx" => braces::cpp(text),
        _ => Vec::new(),
    }
}

/// True if files of this name are searched.
pub(super) fn is_searched(path: &[u8]) -> bool {
    const SEARCHED: &[&str] = &[
        "rs", "py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "go", "java", "kt", "c", "cc",
        "cpp", "cxx",
    ];
    SEARCHED.contains(&extension(path))
}

fn extension(path: &[u8]) -> &str {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// A line of code without the space before it.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a str,
}

/// The lines that are neither empty nor comments.
fn code<'a>(text: &'a str, comment: &'a str) -> impl Iterator<Item = Line<'a>> {
    let mut is_in_comment = false;
    text.lines().filter_map(move |line| {
        let trimmed = line.trim();
        let has_blocks = comment == "//";
        if is_in_comment {
            is_in_comment = !trimmed.contains("*/");
            return None;
        }
        if has_blocks && trimmed.starts_with("/*") {
            is_in_comment = !trimmed.contains("*/");
            return None;
        }
        let is_code = !trimmed.is_empty() && !trimmed.starts_with(comment);
        is_code.then(|| Line { indent: line.len() - line.trim_start().len(), text: trimmed })
    })
}

/// The name at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// The first text in quotes.
fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\'', '`'])?;
    let quote = text[start..].chars().next()?;
    let rest = &text[start + 1..];
    Some(&rest[..rest.find(quote).unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests;
