//! Tests of Go, Java, Kotlin, C and C++.

use super::{Line, Test, code, identifier, quoted};

/// Functions whose names begin with `Test`, `Fuzz` or `Example`.
pub(super) fn go(text: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let mut is_in_test = false;
    for Line { text, .. } in code(text, "//") {
        if let Some(rest) = text.strip_prefix("func ") {
            let name = identifier(rest);
            is_in_test = ["Test", "Fuzz", "Example"].iter().any(|prefix| name.starts_with(prefix));
            if is_in_test {
                tests.push(Test::new(name, false));
            }
        } else if is_in_test && ["t.Skip(", "t.Skipf(", "t.SkipNow("].iter().any(|it| text.starts_with(it)) {
            tests.iter_mut().last().into_iter().for_each(|test| test.is_skipped = true);
        }
    }
    // A build constraint is a comment.
    let is_ignored = text.lines().any(|line| line.trim() == "//go:build ignore");
    tests.iter_mut().for_each(|test| test.is_skipped |= is_ignored);
    tests
}

/// Methods with an annotation.
pub(super) fn java(text: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    let (mut is_test, mut is_skipped) = (false, false);
    // The indentation of a class that is skipped.
    let mut skipped: Option<usize> = None;
    for Line { indent, text } in code(text, "//") {
        skipped = skipped.filter(|class| indent > *class || text.starts_with('}'));
        for annotation in text.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
            match identifier(annotation) {
                "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory" | "Property" => is_test = true,
                "Disabled" | "Ignore" => is_skipped = true,
                _ => {}
            }
        }
        let is_class = text.split_whitespace().any(|word| word == "class");
        if is_class {
            skipped = skipped.or(is_skipped.then_some(indent));
            (is_test, is_skipped) = (false, false);
        } else if let (true, Some(name)) = (is_test, method(text)) {
            tests.push(Test::new(name, is_skipped || skipped.is_some()));
            (is_test, is_skipped) = (false, false);
        }
    }
    tests
}

/// The name of the method that a line declares. Annotations before it are passed over.
fn method(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(annotation) = rest.strip_prefix('@') {
        let after = annotation[identifier(annotation).len()..].trim_start();
        rest = match after.strip_prefix('(') {
            Some(arguments) => arguments.split_once(')')?.1.trim_start(),
            None => after,
        };
    }
    // Kotlin allows names in backticks.
    let before = match rest.split_once('`') {
        Some((_, name)) => return name.split_once('`').map(|(name, _)| name),
        None => rest.split_once('(')?.0,
    };
    before.split_whitespace().last().filter(|_| before.contains(' '))
}

/// The macros of GoogleTest, Catch2 and doctest.
pub(super) fn cpp(text: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    for Line { text, .. } in code(text, "//") {
        let name = identifier(text);
        let Some(arguments) = text[name.len()..].trim_start().strip_prefix('(') else { continue };
        match name {
            "TEST" | "TEST_F" | "TEST_P" | "TYPED_TEST" | "TYPED_TEST_P" => {
                let arguments = arguments.split(')').next().unwrap_or_default();
                let parts: Vec<&str> = arguments.split(',').map(str::trim).collect();
                let is_skipped = parts.iter().any(|part| part.starts_with("DISABLED_"));
                let parts: Vec<&str> =
                    parts.iter().map(|part| part.strip_prefix("DISABLED_").unwrap_or(part)).collect();
                tests.push(Test::new(parts.join("."), is_skipped));
            }
            "TEST_CASE" | "SCENARIO" => {
                let is_skipped = arguments.contains("[!") || arguments.contains("skip(");
                tests.push(Test::new(quoted(arguments).unwrap_or(arguments), is_skipped));
            }
            "GTEST_SKIP" | "SKIP" => {
                tests.iter_mut().last().into_iter().for_each(|test| test.is_skipped = true);
            }
            _ => {}
        }
    }
    tests
}
