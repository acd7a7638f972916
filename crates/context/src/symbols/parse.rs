//! Parsing with a bound on the work. Each thread keeps its parsers.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree, TreeCursor};

use crate::language::Language;
use crate::limits;

thread_local! {
    static PARSERS: RefCell<Vec<(Language, Parser)>> = const { RefCell::new(Vec::new()) };
}

/// Parses a source. Returns `None` if that takes too many steps. A count of steps, unlike a clock, gives the same
/// answer on every machine.
pub(super) fn parse(source: &str, language: Language) -> Option<Tree> {
    PARSERS.with_borrow_mut(|parsers| {
        let index = match parsers.iter().position(|(known, _)| *known == language) {
            Some(index) => index,
            None => {
                let mut parser = Parser::new();
                parser.set_language(&language.grammar()).ok()?;
                parsers.push((language, parser));
                parsers.len() - 1
            }
        };
        let (_, parser) = parsers.get_mut(index)?;
        let mut checks = limits::PARSE_CHECKS + source.len() * limits::PARSE_CHECKS_PER_BYTE;
        let mut progress = |_: &ParseState| match checks.checked_sub(1) {
            Some(left) => {
                checks = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let bytes = source.as_bytes();
        let tree =
            parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}

/// The number of errors in a source: stretches that the grammar does not read, and tokens that it misses.
pub(crate) fn errors(source: &str, language: Language) -> Option<usize> {
    let tree = parse(source, language)?;
    let mut cursor = tree.walk();
    let mut count = 0;
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            count += 1;
        }
        let is_inside = node.has_error() && cursor.goto_first_child();
        if !is_inside && !next(&mut cursor) {
            return Some(count);
        }
    }
}

/// Goes to the next node that is not inside the current one. Returns false at the end of the tree.
pub(super) fn next(cursor: &mut TreeCursor<'_>) -> bool {
    loop {
        if cursor.goto_next_sibling() {
            return true;
        }
        if !cursor.goto_parent() {
            return false;
        }
    }
}
