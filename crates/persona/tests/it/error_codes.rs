//! docs/errors.md lists every code with its kind, its HTTP status, its exit code and its meaning.

use persona::{Code, ErrorKind};

/// The HTTP status and the exit code. A test of the server compares the statuses with what it sends.
fn numbers(code: Code) -> (u16, u8) {
    match code.kind() {
        _ if code == Code::Unauthorized => (401, 5),
        _ if code == Code::MethodNotAllowed => (405, 2),
        _ if code == Code::RequestTimeout => (408, 2),
        _ if code == Code::BodyTooLarge => (413, 2),
        _ if code == Code::UnsupportedMediaType => (415, 2),
        _ if code == Code::KeyReused => (422, 2),
        _ if matches!(code, Code::DatabaseUnavailable | Code::DatabaseReadOnly) => (503, 1),
        _ if matches!(code, Code::DatabaseFull | Code::FileFull) => (507, 1),
        ErrorKind::Missing => (404, 3),
        ErrorKind::Conflict => (409, 4),
        ErrorKind::Invalid => (400, 2),
        ErrorKind::Busy => (503, 6),
        ErrorKind::Denied => (403, 5),
        ErrorKind::Broken => (500, 1),
    }
}

#[test]
fn the_documentation_has_exactly_the_codes() {
    let text = include_str!("../../../../docs/errors.md");
    let (_, table) =
        text.split_once("| code | kind | HTTP | exit | meaning |\n|---|---|---|---|---|\n").expect("a table");
    let expected: String = Code::ALL
        .iter()
        .map(|code| {
            let (status, exit) = numbers(*code);
            format!("| `{code}` | {} | {status} | {exit} | {} |\n", code.kind().as_str(), code.meaning())
        })
        .collect();
    // The warnings of commands follow the table.
    let table = table.split_once("\n\n").map_or(table, |(table, _)| table).trim_end();
    assert_eq!(table, expected.trim_end(), "docs/errors.md differs from Code::ALL");
}
