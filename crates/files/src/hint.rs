//! Hints for a text that is not TOML.

use super::problem::Problem;

const SEVERAL_LINES: [&str; 2] = ["\"\"\"", "'''"];
/// The marks of an unresolved merge.
const MERGE_MARKS: [&str; 3] = ["<<<<<<<", "=======", ">>>>>>>"];

/// A mistake of syntax, as far as a hint depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxError {
    DuplicateKey,
    NestedTooDeep,
    UnclosedArrayTable,
    UnclosedTable,
    MissingComma,
    UnclosedArray,
    UnclosedInlineTable,
    UnclosedText,
    UnclosedLiteralText,
    ControlCharacter,
    InvalidText,
    InvalidLiteralText,
    InvalidEscape,
    KeyWithoutValue,
    MissingAssignment,
    MissingValue,
    InvalidBoolean,
    Unquoted,
    InvalidKey,
    EmptyKey,
    ExtraComma,
    ExtraAssignment,
    AssignmentInArray,
    CarriageReturn,
    InvalidNumber,
    Trailing,
    StrayBracket,
    Other,
}

/// Parts of the parser's descriptions. The first that occurs decides.
const DESCRIPTIONS: [(&str, SyntaxError); 34] = [
    ("duplicate key", SyntaxError::DuplicateKey),
    ("recur", SyntaxError::NestedTooDeep),
    ("unclosed array table", SyntaxError::UnclosedArrayTable),
    ("unclosed table", SyntaxError::UnclosedTable),
    ("missing comma between array elements", SyntaxError::MissingComma),
    ("unclosed array", SyntaxError::UnclosedArray),
    ("unclosed inline table", SyntaxError::UnclosedInlineTable),
    ("multi-line literal", SyntaxError::UnclosedLiteralText),
    ("multi-line", SyntaxError::UnclosedText),
    ("visible characters", SyntaxError::ControlCharacter),
    ("invalid comment character", SyntaxError::ControlCharacter),
    ("invalid basic string", SyntaxError::InvalidText),
    ("invalid literal string", SyntaxError::InvalidLiteralText),
    ("missing escaped value", SyntaxError::InvalidEscape),
    ("unicode", SyntaxError::InvalidEscape),
    ("key with no value", SyntaxError::KeyWithoutValue),
    ("missing assignment", SyntaxError::MissingAssignment),
    ("missing value", SyntaxError::MissingValue),
    ("invalid boolean", SyntaxError::InvalidBoolean),
    ("must be quoted", SyntaxError::Unquoted),
    ("invalid unquoted key", SyntaxError::InvalidKey),
    ("keys cannot be empty", SyntaxError::EmptyKey),
    ("extra comma", SyntaxError::ExtraComma),
    ("extra `=`", SyntaxError::ExtraAssignment),
    ("unexpected `=` in array", SyntaxError::AssignmentInArray),
    ("carriage return", SyntaxError::CarriageReturn),
    ("leading zero", SyntaxError::InvalidNumber),
    ("fraction", SyntaxError::InvalidNumber),
    ("mantissa", SyntaxError::InvalidNumber),
    ("exponent", SyntaxError::InvalidNumber),
    ("date", SyntaxError::InvalidNumber),
    ("unexpected key or value", SyntaxError::Trailing),
    ("missing table open", SyntaxError::StrayBracket),
    ("invalid key-value pair", SyntaxError::StrayBracket),
];

impl SyntaxError {
    /// Reads the parser's description. `toml` has a span and a sentence, and no code to match instead.
    /// The tests below fail if a new version words a description differently.
    pub(super) fn of(error: &toml::de::Error) -> Self {
        let description = error.message();
        let known = DESCRIPTIONS.iter().find(|(part, _)| description.contains(part));
        known.map_or(Self::Other, |(_, error)| *error)
    }
}

/// A hint for a mistake of syntax, where its line suggests a cause.
pub(super) fn of_syntax(error: SyntaxError, problem: &Problem, text: &str) -> Option<String> {
    let line = problem.source_line.trim();
    let is_of_whole = matches!(error, SyntaxError::DuplicateKey | SyntaxError::NestedTooDeep);
    if let Some(hint) = other_language(line).filter(|_| !is_of_whole) {
        return Some(hint.to_owned());
    }
    let hint = match error {
        SyntaxError::DuplicateKey => "it is defined twice in this file; keep one, or rename one",
        SyntaxError::NestedTooDeep => "nothing needs to be nested that deep",
        SyntaxError::UnclosedArrayTable => {
            "end the heading with ]]; entries are written [personas.NAME], with single brackets"
        }
        SyntaxError::UnclosedTable if heading_has_space(line) => "a name has no spaces; write it with - or _",
        SyntaxError::UnclosedTable => "end the heading with ]",
        SyntaxError::MissingComma if problem.column == 1 && line.starts_with('[') => {
            "the list above this line is not closed; end it with ]"
        }
        SyntaxError::MissingComma => "put a comma between the two",
        SyntaxError::UnclosedArray => "end the list with ]",
        SyntaxError::UnclosedInlineTable => "end it with }",
        SyntaxError::UnclosedText => return Some(unclosed(text, SEVERAL_LINES[0])),
        SyntaxError::UnclosedLiteralText => return Some(unclosed(text, SEVERAL_LINES[1])),
        SyntaxError::ControlCharacter => {
            "there is a control character here; delete it, or write it as \\uXXXX in a text"
        }
        SyntaxError::InvalidText => {
            "close it with \" on the same line, or put \"\"\" around a text of several lines"
        }
        SyntaxError::InvalidLiteralText => {
            "close it with ' on the same line, or put ''' around a text of several lines"
        }
        SyntaxError::InvalidEscape => {
            "write \\\\ for a backslash, or put '…' around a text in which nothing is escaped"
        }
        SyntaxError::KeyWithoutValue if line.contains('=') => "a key has no spaces; write it with _",
        SyntaxError::KeyWithoutValue | SyntaxError::MissingAssignment => "write key = value",
        SyntaxError::MissingValue => "write a value after the =, or delete the line",
        SyntaxError::Unquoted if line.ends_with('=') => "write a value after the =, or delete the line",
        SyntaxError::InvalidBoolean => "write true or false, in small letters",
        SyntaxError::Unquoted if line.contains(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']) => {
            "use straight quotes: \"…\""
        }
        SyntaxError::Unquoted => "put the text in quotes: key = \"…\"",
        SyntaxError::InvalidKey => "a name has only letters a to z, digits, - and _",
        SyntaxError::EmptyKey => "write a name here",
        SyntaxError::ExtraComma => "leave out one of the commas",
        SyntaxError::ExtraAssignment => "one = is enough",
        SyntaxError::AssignmentInArray => "put { } around the keys of one element: [{ name = \"…\" }]",
        SyntaxError::CarriageReturn => "save the file with Unix or Windows line endings",
        SyntaxError::InvalidNumber => "write it as a number, such as 7 or 0.5, or put it in quotes",
        SyntaxError::Trailing => trailing(problem),
        SyntaxError::StrayBracket => {
            "there is a closing bracket too many, or its opening one is missing above"
        }
        SyntaxError::Other => return None,
    };
    Some(hint.to_owned())
}

/// A hint for a line of another language, or of a merge.
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

/// A text of several lines without an end. It begins at the last mark of the file.
fn unclosed(text: &str, mark: &str) -> String {
    let began = text.rfind(mark).unwrap_or(0);
    let line = text[..began].bytes().filter(|byte| *byte == b'\n').count() + 1;
    format!("the text that begins in line {line} is not closed; end it with {mark}")
}

/// A hint for the rest of a line, after its value or heading.
fn trailing(problem: &Problem) -> &'static str {
    let line = &problem.source_line;
    let at = |column: usize| line.chars().nth(column.saturating_sub(1));
    match at(problem.column) {
        Some(',') => "leave out the comma: each key has a line of its own",
        Some(']') => "there is one ] too many",
        _ if line.trim_start().starts_with('[') => "the keys of a heading begin on the next line",
        _ if line.contains(SEVERAL_LINES[0]) || line.contains(SEVERAL_LINES[1]) => {
            "the text ends at its second mark of three; put the other kind of quotes around it"
        }
        _ if line.contains(['"', '\'']) => {
            "a text ends at its next quote; write \\\" for one within \"…\", or put ''' around the text"
        }
        _ => "each key has a line of its own",
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
    fn unclosed_brackets_and_texts() {
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
    fn missing_quotes() {
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
        check("a = 1\rb = 2", "line endings");
    }

    #[test]
    fn other_languages() {
        check("{\n  \"personas\": {}\n}\n", "JSON");
        check("personas:\n  a:\n", "YAML");
        check("a = 1\n<<<<<<< HEAD\nb = 1\n=======\n", "merge");
        check("// a comment\n", "begins with #");
    }
}
