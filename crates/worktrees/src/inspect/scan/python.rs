//! Tests of Python: functions whose names begin with `test`, in a module or a class.

use super::{Line, Test, code, identifier};

/// A class around a line.
#[derive(Debug)]
struct Class {
    indent: usize,
    name: String,
    is_skipped: bool,
}

pub(super) fn tests(text: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let mut classes: Vec<Class> = Vec::new();
    // The indentation of the last test, to which the lines of its body belong.
    let mut last: Option<usize> = None;
    let (mut is_skipped, mut is_module_skipped) = (false, false);
    for Line { indent, text } in code(text, "#") {
        classes.retain(|class| class.indent < indent);
        last = last.filter(|last| *last < indent);
        let function = text.strip_prefix("async ").unwrap_or(text).strip_prefix("def ");
        if text.starts_with('@') {
            is_skipped |= is_skip(text);
        } else if let Some(rest) = text.strip_prefix("class ") {
            classes.push(Class { indent, name: identifier(rest).to_owned(), is_skipped });
            is_skipped = false;
        } else if let Some(rest) = function {
            let name = identifier(rest);
            if name.starts_with("test") {
                let path: Vec<&str> = classes.iter().map(|it| it.name.as_str()).chain([name]).collect();
                let is_skipped = is_skipped || classes.iter().any(|class| class.is_skipped);
                tests.push(Test::new(path.join("."), is_skipped));
                last = Some(indent);
            }
            is_skipped = false;
        } else if is_skip_call(text) {
            match (last, tests.last_mut()) {
                (Some(_), Some(test)) => test.is_skipped = true,
                _ => is_module_skipped |= indent == 0,
            }
        } else if text.starts_with("pytestmark") {
            is_module_skipped |= is_skip(text);
        }
    }
    tests.iter_mut().for_each(|test| test.is_skipped |= is_module_skipped);
    tests
}

fn is_skip(text: &str) -> bool {
    ["skip", "xfail"].iter().any(|word| text.contains(word))
}

fn is_skip_call(text: &str) -> bool {
    ["pytest.skip(", "self.skipTest(", "raise unittest.SkipTest", "raise SkipTest", "pytest.xfail("]
        .iter()
        .any(|call| text.starts_with(call))
}
