//! A source file in part: each symbol in full, by its signature, by its name, or not.

mod edits;
mod placeholder;

use std::ops::Range;

use crate::language::Language;
use crate::symbols::{Frame, SourceMap, Symbol, errors};
use edits::{Edit, apply, blank};
use placeholder::{filler, name_comment, placeholder};

/// How much of a symbol is shown, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Full,
    /// Doc comment, attributes and signature. A body becomes a placeholder.
    SignatureWithDoc,
    Signature,
    /// The name, in a comment that lists the names of neighbours.
    Name,
    LeftOut,
}

/// The skeleton of a file: every symbol at [`Level::SignatureWithDoc`].
///
/// It parses with no more errors than the source: if the parser does not recover well enough, the symbols with
/// errors are in full, or else all names are in a comment.
#[must_use]
pub fn skeleton(source: &str, map: &SourceMap) -> String {
    let text = render(source, map, |_| Level::SignatureWithDoc, Errors::Drop);
    if !map.layout.has_error {
        return text;
    }
    let Some(allowed) = errors(source, map.language) else { return text };
    let is_sound = |text: &str| errors(text, map.language).is_some_and(|found| found <= allowed);
    if is_sound(&text) {
        return text;
    }
    let level = |index| match map.layout.broken.binary_search(&index) {
        Ok(_) => Level::Full,
        Err(_) => Level::SignatureWithDoc,
    };
    let text = render(source, map, level, Errors::Keep);
    if is_sound(&text) {
        return text;
    }
    render(source, map, |_| Level::Name, Errors::Drop)
}

/// A file with each symbol at its own level, by index in `map.symbols`.
///
/// A symbol inside another one follows its own level; if it is shown, so is the signature of the one around it.
/// The text outside of symbols (statements, loose comments) is shown only around symbols in full. Imports are
/// shown if any symbol is. With every symbol at [`Level::Full`] the result is the source.
#[must_use]
pub fn at_levels(source: &str, map: &SourceMap, level: impl Fn(usize) -> Level) -> String {
    render(source, map, level, Errors::Drop)
}

/// Stretches that the parser could not read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errors {
    Drop,
    Keep,
}

fn render(source: &str, map: &SourceMap, level: impl Fn(usize) -> Level, errors: Errors) -> String {
    let levels = Levels::new(&map.symbols, level);
    let mut edits = Vec::new();
    if !map.symbols.is_empty() && !levels.is_any_shown() {
        edits.extend(map.layout.imports.iter().cloned().map(Edit::delete));
    }
    for loose in &map.layout.loose {
        let is_kept = loose.is_error && errors == Errors::Keep;
        if !is_kept && levels.of(loose.owner) != Level::Full {
            edits.push(Edit::delete(loose.bytes.clone()));
        }
    }
    symbols(source, map, &levels, &mut edits);
    edits::nest(&mut edits);
    for frame in &map.layout.frames {
        collapse(source, map.language, frame, &mut edits);
    }
    apply(source, &edits)
}

/// The level of each symbol, with those around shown ones raised to a signature.
struct Levels {
    levels: Vec<Level>,
    is_all_full: bool,
}

impl Levels {
    fn new(symbols: &[Symbol], level: impl Fn(usize) -> Level) -> Self {
        let mut levels: Vec<Level> = (0..symbols.len()).map(level).collect();
        let is_all_full = !levels.is_empty() && levels.iter().all(|level| *level == Level::Full);
        // Backwards: the symbols inside come before the one around them.
        let mut shown_at: Option<u16> = None;
        for (symbol, level) in symbols.iter().zip(levels.iter_mut()).rev() {
            let has_shown_inside = shown_at.is_some_and(|depth| depth > symbol.depth);
            if has_shown_inside && !is_shown(*level) {
                *level = Level::Signature;
            }
            if is_shown(*level) {
                shown_at = Some(symbol.depth);
            } else if has_shown_inside || shown_at.is_some_and(|depth| depth > symbol.depth) {
                shown_at = None;
            }
        }
        Self { levels, is_all_full }
    }

    fn of(&self, symbol: Option<usize>) -> Level {
        match symbol {
            Some(index) => self.levels.get(index).copied().unwrap_or(Level::LeftOut),
            None if self.is_all_full => Level::Full,
            None => Level::SignatureWithDoc,
        }
    }

    fn is_any_shown(&self) -> bool {
        self.levels.iter().any(|level| is_shown(*level))
    }
}

fn is_shown(level: Level) -> bool {
    level <= Level::Signature
}

/// Adds the edits of all symbols.
fn symbols(source: &str, map: &SourceMap, levels: &Levels, edits: &mut Vec<Edit>) {
    let mut index = 0;
    let mut listed = Listed::default();
    while let Some(symbol) = map.symbols.get(index) {
        let level = levels.of(Some(index));
        if is_shown(level) {
            listed.flush(source, map.language, edits);
            shown(source, map, symbol, level, edits);
            index += 1;
            continue;
        }
        let after = map.symbols.iter().skip(index + 1).take_while(|inner| inner.depth > symbol.depth).count();
        let inside = index..=index + after;
        let names = inside
            .filter(|index| levels.of(Some(*index)) == Level::Name)
            .filter_map(|index| map.symbols.get(index))
            .map(|symbol| symbol.name.as_str());
        let end = symbol.bytes.end;
        if listed.depth != symbol.depth || listed.is_apart(source, symbol) {
            listed.flush(source, map.language, edits);
        }
        listed.depth = symbol.depth;
        listed.names.extend(names.map(str::to_owned));
        listed.ranges.push(symbol.bytes.start..end);
        index += after + 1;
    }
    listed.flush(source, map.language, edits);
}

/// Neighbours of which only the names are shown, in one comment.
#[derive(Default)]
struct Listed {
    depth: u16,
    names: Vec<String>,
    ranges: Vec<Range<usize>>,
}

impl Listed {
    /// True if the last symbol is not of the same construct as this one.
    fn is_apart(&self, source: &str, symbol: &Symbol) -> bool {
        let Some(last) = self.ranges.last() else { return false };
        source.get(last.end..symbol.bytes.start).is_none_or(|gap| gap.contains(['{', '}', '#']))
    }

    fn flush(&mut self, source: &str, language: Language, edits: &mut Vec<Edit>) {
        let names = std::mem::take(&mut self.names);
        for (at, range) in std::mem::take(&mut self.ranges).into_iter().enumerate() {
            let is_listed = at == 0 && !names.is_empty();
            let comment = is_listed.then(|| name_comment(source, &range, &names, language)).flatten();
            edits.push(Edit { bytes: range, text: comment.unwrap_or_default(), is_comment: true });
        }
    }
}

/// Adds the edits of a symbol that is shown: its body, and its doc comment if only the signature is wanted.
fn shown(source: &str, map: &SourceMap, symbol: &Symbol, level: Level, edits: &mut Vec<Edit>) {
    if level == Level::Full {
        return;
    }
    let doc = symbol.doc.as_ref().filter(|_| level == Level::Signature);
    let body = symbol.body.as_ref().filter(|_| !symbol.kind.is_container());
    if map.language == Language::Python {
        edits.extend(placeholder::python(source, symbol, doc, body));
        return;
    }
    edits.extend(doc.cloned().map(Edit::delete));
    let Some(body) = body else { return };
    let text = source.get(body.clone()).unwrap_or_default();
    let placeholder = placeholder(map.language, symbol.kind, text);
    if placeholder.len() < text.len() {
        edits.push(Edit { bytes: body.clone(), text: placeholder.to_owned(), is_comment: false });
    }
}

/// Removes a construct whose blocks are empty after the edits, and fills empty blocks that need a statement.
fn collapse(source: &str, language: Language, frame: &Frame, edits: &mut Vec<Edit>) {
    let is_empty: Vec<bool> = frame.blocks.iter().map(|block| blank(source, block, edits)).collect();
    if let Some(bytes) = frame.bytes.as_ref().filter(|_| is_empty.iter().all(|is_empty| *is_empty)) {
        let comments = edits::replace(edits, bytes.clone());
        edits::set_text(edits, bytes, comments);
        return;
    }
    if !frame.needs_filler {
        return;
    }
    for (block, _) in frame.blocks.iter().zip(is_empty).filter(|(_, is_empty)| *is_empty) {
        let comments = edits::replace(edits, block.clone());
        edits::set_text(edits, block, filler(language, &comments));
    }
}
