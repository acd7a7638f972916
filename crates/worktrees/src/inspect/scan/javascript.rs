//! Tests of JavaScript and TypeScript: calls of `it` and `test` with a name, in calls of `describe`.

use super::{Line, Test, code, quoted};

/// A `describe` around a line. Its end is known by indentation.
#[derive(Debug)]
struct Block {
    indent: usize,
    is_skipped: bool,
    is_only: bool,
}

pub(super) fn tests(text: &str) -> Vec<Test> {
    let mut tests: Vec<(Test, bool)> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    for Line { indent, text } in code(text, "//") {
        blocks.retain(|block| block.indent < indent);
        let Some(call) = Call::of(text) else { continue };
        let is_skipped = call.is_skipped || blocks.iter().any(|block| block.is_skipped);
        let is_only = call.is_only || blocks.iter().any(|block| block.is_only);
        if call.is_block {
            blocks.push(Block { indent, is_skipped, is_only });
        } else {
            tests.push((Test::new(call.name, is_skipped), is_only));
        }
    }
    // With one `only`, every other test of the file is skipped.
    let has_only = tests.iter().any(|(_, is_only)| *is_only);
    tests
        .into_iter()
        .map(|(test, is_only)| Test { is_skipped: test.is_skipped || has_only && !is_only, ..test })
        .collect()
}

/// A call that declares a test or a block of tests.
struct Call<'a> {
    name: &'a str,
    is_block: bool,
    is_skipped: bool,
    is_only: bool,
}

impl<'a> Call<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'))?;
        let (chain, rest) = text.split_at(end);
        let rest = rest.trim_start();
        let mut words = chain.split('.');
        let first = words.next()?;
        let (plain, prefix) = match first.strip_prefix(['x', 'f']) {
            Some(plain @ ("it" | "test" | "describe" | "context")) => (plain, first.as_bytes().first()),
            _ => (first, None),
        };
        let is_block = match plain {
            "it" | "test" | "specify" => words.clone().next() == Some("describe"),
            "describe" | "context" | "suite" => true,
            _ => return None,
        };
        let words: Vec<&str> = words.collect();
        let name = match words.contains(&"each") {
            // The names are behind the table of cases, on this line or on a later one.
            true => rest.rsplit_once("](").or_else(|| rest.rsplit_once(")(")).map_or(text, |(_, rest)| rest),
            false => rest.strip_prefix('(')?,
        };
        let has_name = name.starts_with(['"', '\'', '`']);
        if !(has_name || words.contains(&"each") || is_block) {
            return None;
        }
        Some(Self {
            name: if has_name { quoted(name)? } else { text },
            is_block,
            is_skipped: prefix == Some(&b'x')
                || words.iter().any(|it| matches!(*it, "skip" | "todo" | "fixme")),
            is_only: prefix == Some(&b'f') || words.contains(&"only"),
        })
    }
}
