//! What to do about a text that is not TOML.

use super::problem::Problem;

const SEVERAL_LINES: [&str; 2] = ["\"\"\"", "'''"];
/// What a merge leaves in a file until somebody has settled it.
const MERGE_MARKS: [&str; 3] = ["<<<<<<<", "=======", ">>>>>>>"];

/// A hint for a mistake of syntax, where its cause can be guessed from what stands there.
pub(super) fn of_syntax(problem: &Problem, text: &str) -> Option<String> {
    let line = problem.source_line.trim();
    if let Some(hint) = other_language(line) {
        return Some(hint.to_owned());
    }
    let said = problem.message.as_str();
    let has = |words: &str| said.contains(words);
    let hint = if has("unclosed array table") {
        "end the heading with ]]; entries are written [personas.NAME], with single brackets"
    } else if has("unclosed table") && heading_has_space(line) {
        "a name has no spaces; write it with - or _"
    } else if has("unclosed table") {
        "end the heading with ]"
    } else if has("missing comma between array elements") && problem.column == 1 && line.starts_with('[') {
        "the list above this line is not closed; end it with ]"
    } else if has("missing comma between array elements") {
        "put a comma between the two"
    } else if has("unclosed array") {
        "end the list with ]"
    } else if has("unclosed inline table") {
        "end it with }"
    } else if has("multi-line") {
        return Some(unclosed(text, has("literal")));
    } else if has("visible characters") || has("invalid comment character") {
        "there is a control character here; delete it, or write it as \\uXXXX in a text"
    } else if has("invalid basic string") {
        "close it with \" on the same line, or put \"\"\" around a text of several lines"
    } else if has("invalid literal string") {
        "close it with ' on the same line, or put ''' around a text of several lines"
    } else if has("missing escaped value") || has("unicode") {
        "write \\\\ for a backslash, or put '…' around a text in which nothing is escaped"
    } else if has("key with no value") && line.contains('=') {
        "a key has no spaces; write it with _"
    } else if has("key with no value") || has("missing assignment") {
        "write key = value"
    } else if has("missing value") || has("must be quoted") && line.ends_with('=') {
        "write a value after the =, or delete the line"
    } else if has("invalid boolean") {
        "write true or false, in small letters"
    } else if has("must be quoted") && line.contains(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']) {
        "use straight quotes: \"…\""
    } else if has("must be quoted") {
        "put the text in quotes: key = \"…\""
    } else if has("invalid unquoted key") {
        "a name has only letters a to z, digits, - and _"
    } else if has("keys cannot be empty") {
        "write a name here"
    } else if has("extra comma") {
        "leave out one of the commas"
    } else if has("extra `=`") {
        "one = is enough"
    } else if has("unexpected `=` in array") {
        "put { } around what belongs together: [{ name = \"…\" }]"
    } else if has("carriage return") {
        "save the file with the line ends of Unix or Windows"
    } else if has("leading zero") || has("fraction") || has("mantissa") || has("exponent") || has("date") {
        "write it as a number, such as 7 or 0.5, or put it in quotes"
    } else if has("unexpected key or value") {
        left_over(problem)
    } else if has("missing table open") || has("invalid key-value pair") {
        "there is a closing bracket too many, or its opening one is missing above"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// Whether somebody wrote another language, or a program did.
fn other_language(line: &str) -> Option<&'static str> {
    let word = line.split(':').next().unwrap_or_default();
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if MERGE_MARKS.iter().any(|mark| line.starts_with(mark)) {
        Some("a merge left its marks here; keep one of the two sides and delete the marks")
    } else if line.starts_with('{') {
        Some("this looks like JSON; write [personas.NAME] and key = value below it")
    } else if line.starts_with("//") || line.starts_with("--") {
        Some("a comment begins with #")
    } else if is_word && line.len() > word.len() && !line.contains('=') {
        Some("this looks like YAML; write [personas.NAME] and key = value below it")
    } else {
        None
    }
}

fn heading_has_space(line: &str) -> bool {
    let inner = line.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
    line.starts_with('[') && line.contains(']') && inner.contains(' ')
}

/// A text of several lines that has no end: its beginning is the last mark that there is.
fn unclosed(text: &str, literal: bool) -> String {
    let mark = SEVERAL_LINES[usize::from(literal)];
    let began = text.rfind(mark).unwrap_or(0);
    let line = text[..began].bytes().filter(|byte| *byte == b'\n').count() + 1;
    format!("the text that begins in line {line} is not closed; end it with {mark}")
}

/// What follows a value or a heading on its line.
fn left_over(problem: &Problem) -> &'static str {
    let line = &problem.source_line;
    let at = |column: usize| line.chars().nth(column.saturating_sub(1));
    match at(problem.column) {
        Some(',') => "leave out the comma: each key stands on a line of its own",
        Some(']') => "there is one ] too many",
        _ if line.trim_start().starts_with('[') => "what belongs to the heading begins on the next line",
        _ if line.contains(SEVERAL_LINES[0]) || line.contains(SEVERAL_LINES[1]) => {
            "the text ends at its second mark of three; put the other kind of quotes around it"
        }
        _ if line.contains(['"', '\'']) => {
            "a text ends at its next quote; write \\\" for one within \"…\", or put ''' around the text"
        }
        _ => "each key stands on a line of its own",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::document;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let problem = document::read(Path::new("p.toml"), text).expect_err("it is not TOML");
        let hint = problem.hint.unwrap_or_default();
        assert!(hint.contains(expected), "{text:?}: {:?} got {hint:?}", problem.message);
    }

    #[test]
    fn what_is_not_closed() {
        check("[personas.a\nsummary = \"x\"\n", "end the heading with ]");
        check("[[personas]\n", "[personas.NAME]");
        check("[personas.my persona]\n", "no spaces");
        check("a = [\"x\"\n\n[b]\nc = 1\n", "end it with ]");
        check("a = [\"x\"", "end the list with ]");
        check("a = {b = 1\n", "end it with }");
        check("a = \"x\n", "close it with \"");
        check("a = 'x\n", "close it with '");
        check("b = 1\na = \"\"\"x\n[b]\n", "line 2 is not closed; end it with \"\"\"");
        check("a = '''x\n[b]\n", "line 1 is not closed; end it with '''");
        check("[personas.a]]\n", "too many");
    }

    #[test]
    fn what_needs_quotes() {
        check("a = hello world\n", "in quotes");
        check("a = [x]\n", "in quotes");
        check("a = \u{201c}x\u{201d}\n", "straight quotes");
        check("a = True\n", "small letters");
        check("a = \"say \"hi\" to\"\n", "ends at its next quote");
        check("a = 'it's'\n", "ends at its next quote");
        check("a = '''it's'''x'''\n", "mark of three");
        check("a = \"C:\\dir\"\n", "\\\\ for a backslash");
        check("a = \"x\u{1}\"\n", "control character");
    }

    #[test]
    fn keys_and_values() {
        check("summary\n", "key = value");
        check("a b = 1\n", "a key has no spaces");
        check("a = \n", "after the =");
        check("a == 1\n", "one = is enough");
        check("a = {b 1}\n", "key = value");
        check("a = [1,,2]\n", "commas");
        check("a = [\"x\" \"y\"]\n", "put a comma");
        check("a = [b = 1]\n", "{ name =");
        check("a = \"x\",\n", "leave out the comma");
        check("[a] b = 1\n", "the next line");
        check("a = 01\n", "as a number");
        check("[personas.ü]\n", "letters a to z");
        check("[a.]\n", "write a name");
        check("]\n", "too many");
        check("a = 1\rb = 2", "line ends");
    }

    #[test]
    fn other_languages() {
        check("{\n  \"personas\": {}\n}\n", "JSON");
        check("personas:\n  a:\n", "YAML");
        check("a = 1\n<<<<<<< HEAD\nb = 1\n=======\n", "merge");
        check("// a comment\n", "begins with #");
    }
}
