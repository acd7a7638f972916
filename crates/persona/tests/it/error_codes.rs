//! docs/errors.md lists every code with its kind, its HTTP status, its exit code and its meaning.

use persona::{Code, ErrorKind};

/// The HTTP status and the exit code of a kind.
fn numbers(kind: ErrorKind) -> (u16, u8) {
    match kind {
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
            let (status, exit) = numbers(code.kind());
            format!("| `{code}` | {} | {status} | {exit} | {} |\n", code.kind().as_str(), code.meaning())
        })
        .collect();
    assert_eq!(table, expected, "docs/errors.md differs from Code::ALL");
}
