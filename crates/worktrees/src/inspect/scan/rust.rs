//! Tests of Rust: functions with an attribute.

use super::{Line, Test, code, identifier};

const TESTS: &[&str] = &["test", "rstest", "test_case", "quickcheck", "wasm_bindgen_test"];

pub(super) fn tests(text: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    let (mut is_test, mut is_skipped) = (false, false);
    for Line { text, .. } in code(text, "//") {
        let mut rest = text;
        while let Some((attribute, after)) = attribute(rest) {
            let path = attribute.split(['(', '=', ' ']).next().unwrap_or_default();
            let name = path.rsplit("::").next().unwrap_or_default();
            is_test |= TESTS.contains(&name);
            is_skipped |= name == "ignore"
                || name == "cfg_attr" && attribute.contains("ignore")
                || name == "cfg" && attribute.contains("any()");
            rest = after.trim_start();
        }
        let words = rest.split_inclusive(' ').scan(0, |end, word| {
            *end += word.len();
            Some((word, *end))
        });
        let function =
            words.take_while(|(word, _)| !word.contains(['(', '{', ';'])).find(|(word, _)| *word == "fn ");
        if let Some((_, end)) = function {
            if is_test {
                tests.push(Test::new(identifier(&rest[end..]), is_skipped));
            }
            (is_test, is_skipped) = (false, false);
        } else if rest.ends_with(['{', ';']) {
            (is_test, is_skipped) = (false, false);
        }
    }
    tests
}

/// The attribute at the start of a text, and the rest.
fn attribute(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("#[")?;
    let mut depth = 1;
    for (at, c) in inner.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&inner[..at], &inner[at + 1..]));
        }
    }
    None
}
