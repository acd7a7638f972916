//! The texts in place of what a skeleton leaves out. Each is read by the grammar of its language.

use std::ops::Range;

use super::edits::Edit;
use crate::language::Language;
use crate::symbols::{Symbol, SymbolKind};

/// A block of a language with braces.
const BLOCK: &str = "{/*…*/}";

/// The text in place of a body or of a long value. It may be longer than that.
pub(super) fn placeholder(language: Language, kind: SymbolKind, body: &str) -> &'static str {
    let is_code = matches!(kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Test);
    let is_script = matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript);
    if let Some(value) = body.strip_prefix('=') {
        return match value.trim_start().chars().next() {
            Some('{') if is_script => "= {/*…*/}",
            Some('[') if is_script => "= [/*…*/]",
            // The declaration without its value.
            _ => "",
        };
    }
    match (language, body.chars().next()) {
        (Language::Python, _) => "...",
        (Language::Rust, _) if is_code => "{ .. }",
        (Language::C | Language::Cpp, _) if matches!(kind, SymbolKind::Constant | SymbolKind::Macro) => "...",
        (_, Some('{')) => BLOCK,
        _ if is_code => BLOCK,
        (Language::Cpp, Some('(')) => BLOCK,
        (_, Some('[')) => "[/*…*/]",
        _ => "_",
    }
}

/// The edits of a symbol of Python: a body without a doc comment needs a statement. `doc` is that of a doc
/// comment to leave out, `body` that of code.
pub(super) fn python(
    source: &str,
    symbol: &Symbol,
    doc: Option<&Range<usize>>,
    body: Option<&Range<usize>>,
) -> Vec<Edit> {
    let trimmed = |bytes: &Range<usize>| {
        let length = source.get(bytes.clone()).map_or(0, |text| text.trim_end().len());
        bytes.start..bytes.start + length
    };
    let replaced = |bytes: Range<usize>| {
        let text = placeholder(Language::Python, symbol.kind, "");
        (bytes.len() > text.len()).then(|| Edit { bytes, text: text.to_owned(), is_comment: false })
    };
    let has_code = !symbol.kind.is_container();
    match (doc, body) {
        (Some(doc), Some(body)) => replaced(doc.start..trimmed(body).end).into_iter().collect(),
        (Some(doc), None) if has_code => replaced(doc.clone()).into_iter().collect(),
        (Some(doc), None) => vec![Edit::delete(doc.clone())],
        // A doc comment that is shown is a body.
        (None, Some(body)) if symbol.doc.is_some() => vec![Edit::delete(trimmed(body))],
        (None, Some(body)) => replaced(trimmed(body)).into_iter().collect(),
        (None, None) => Vec::new(),
    }
}

/// A comment with names in place of a symbol. `None` if a comment cannot stand there.
pub(super) fn name_comment(
    source: &str,
    at: &Range<usize>,
    names: &[String],
    language: Language,
) -> Option<String> {
    let names = names.join(", ");
    if language != Language::Python {
        return Some(format!("/* {names} */"));
    }
    let after = source.get(at.end..).and_then(|after| after.lines().next()).unwrap_or_default();
    after.trim().is_empty().then(|| format!("# {names}"))
}

/// The statement in an empty block, with the comments of the block behind it.
pub(super) fn filler(language: Language, comments: &str) -> String {
    match (language, comments.is_empty()) {
        (Language::Python, true) => "...".to_owned(),
        (Language::Python, false) => format!("...  {comments}"),
        (_, _) => comments.to_owned(),
    }
}
