//! The outline of a file: its names or headings with their lines.

use std::fmt::Write as _;

use crate::limits;
use crate::symbols::{SourceMap, Symbol, SymbolKind};

/// The outline of a file: symbols of code, headings of Markdown, sections and keys of TOML, YAML, JSON and INI,
/// and the first lines of any other text. Each line starts with its number in the file.
#[must_use]
pub fn outline(path: &str, source: &str, map: Option<&SourceMap>) -> String {
    if let Some(map) = map.filter(|map| !map.symbols.is_empty()) {
        return of_symbols(map);
    }
    let entries = entries(path, source);
    if entries.is_empty() {
        return first_lines(source);
    }
    listed(entries.len(), entries.iter().map(|entry| (entry.line, usize::from(entry.depth), entry.text)))
}

fn of_symbols(map: &SourceMap) -> String {
    let is_shown = |symbol: &&Symbol| symbol.kind != SymbolKind::Field;
    let texts: Vec<(usize, usize, String)> = map
        .symbols
        .iter()
        .filter(is_shown)
        .map(|symbol| {
            let line = usize::try_from(symbol.lines.start).unwrap_or(usize::MAX);
            (line, usize::from(symbol.depth), format!("{} {}", symbol.kind.word(), symbol.name))
        })
        .collect();
    listed(texts.len(), texts.iter().map(|(line, depth, text)| (*line, *depth, text.as_str())))
}

/// Lines with numbers, indented by depth.
fn listed<'a>(count: usize, entries: impl Iterator<Item = (usize, usize, &'a str)>) -> String {
    let mut text = String::new();
    for (line, depth, entry) in entries.take(limits::OUTLINE_ENTRIES) {
        let _ = writeln!(text, "{line}: {:1$}{2}", "", depth * 2, short(entry));
    }
    if count > limits::OUTLINE_ENTRIES {
        let _ = writeln!(text, "… and {} more", count - limits::OUTLINE_ENTRIES);
    }
    text
}

fn first_lines(source: &str) -> String {
    let mut text = String::new();
    let mut lines = source.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (number, line) in lines.by_ref().take(limits::OUTLINE_LINES) {
        let _ = writeln!(text, "{}: {}", number + 1, short(line.trim_end()));
    }
    let more = lines.count();
    if more > 0 {
        let _ = writeln!(text, "… and {more} more lines");
    }
    text
}

/// A line of at most [`limits::OUTLINE_LINE_CHARS`] characters.
fn short(line: &str) -> &str {
    let end = line.char_indices().nth(limits::OUTLINE_LINE_CHARS).map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or(line)
}

/// A heading or a key.
struct Entry<'s> {
    line: usize,
    depth: u16,
    text: &'s str,
}

/// The structure of a text, by the ending of its name.
fn entries<'s>(path: &str, source: &'s str) -> Vec<Entry<'s>> {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let reads: fn(&str) -> Option<(u16, &str)> = match ending.as_str() {
        "md" | "markdown" | "mdx" => return markdown(source),
        "toml" | "ini" | "cfg" | "conf" | "properties" => section_or_key,
        "yaml" | "yml" => yaml_key,
        "json" | "jsonc" | "json5" => json_key,
        _ => return Vec::new(),
    };
    let numbered = source.lines().zip(1..);
    numbered
        .filter_map(|(line, number)| reads(line).map(|(depth, text)| Entry { line: number, depth, text }))
        .collect()
}

/// Headings outside of code.
fn markdown(source: &str) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, number) in source.lines().zip(1..) {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                let level = line.bytes().take_while(|byte| *byte == b'#').count();
                if (1..=6).contains(&level) && line.get(level..).is_some_and(|rest| rest.starts_with(' ')) {
                    entries.push(Entry { line: number, depth: 0, text: line.trim_end() });
                }
            }
            _ => {}
        }
    }
    entries
}

/// `[section]`, or the key of `key = value` below one.
fn section_or_key(line: &str) -> Option<(u16, &str)> {
    if line.starts_with('[') {
        let end = line.rfind(']')?;
        return Some((0, line.get(..=end)?));
    }
    let (key, _) = line.split_once('=')?;
    let key = key.trim_end();
    let is_key = !key.is_empty() && !key.starts_with([' ', '\t', '#', ';', ']', '}', '"', '\'']);
    is_key.then_some((1, key))
}

/// A key at the top of a mapping, or directly below one.
fn yaml_key(line: &str) -> Option<(u16, &str)> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let (key, rest) = text.split_once(':')?;
    let is_key = !key.is_empty() && !key.starts_with(['#', '-', '"', '\'', '{', '[']) && !key.contains(' ');
    let is_mapping = rest.is_empty() || rest.starts_with(' ');
    (is_key && is_mapping && indent <= 2).then_some((u16::from(indent > 0), key))
}

/// A key at the top of an object, or directly below one, as formatted by the usual tools.
fn json_key(line: &str) -> Option<(u16, &str)> {
    let text = line.trim_start();
    let indent = line.get(..line.len() - text.len())?;
    let depth = match indent {
        "  " | "    " | "\t" => 0,
        "\t\t" => 1,
        _ => return None,
    };
    let (key, rest) = text.strip_prefix('"')?.split_once('"')?;
    rest.trim_start().starts_with(':').then_some((depth, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::symbols::read;

    #[track_caller]
    fn check(path: &str, source: &str, expected: &str) {
        let map = Language::of(path, source).and_then(|language| read(source, language));
        let lines = outline(path, source, map.as_ref());
        assert_eq!(lines.lines().collect::<Vec<_>>().join(" | "), expected, "{source}");
    }

    #[test]
    fn code_has_names_by_nesting() {
        let source = "pub struct A {\n    b: u32,\n}\n\nimpl A {\n    fn new() {}\n}\n";
        check("a.rs", source, "1: struct A | 5: impl A | 6:   method new");
        check("a.py", "class A:\n    x = 1\n    def f(self): pass\n", "1: class A | 3:   method f");
    }

    #[test]
    fn texts_have_headings_and_keys() {
        check("a.md", "# A\n\ntext\n```sh\n# no\n```\n## B\n#tag\n", "1: # A | 7: ## B");
        check("a.toml", "a = 1\n[b]\n# c = 2\nd.e = 3\n", "1:   a | 2: [b] | 4:   d.e");
        check("a.yml", "on: push\njobs:\n  test:\n    runs: x\n  - no: 1\n", "1: on | 2: jobs | 3:   test");
        check("a.json", "{\n  \"a\": 1,\n  \"b\": [\n    \"c\"\n  ]\n}\n", "2: a | 3: b");
    }

    #[test]
    fn other_texts_have_their_first_lines() {
        check("a.txt", "\none\n\ntwo\n", "2: one | 4: two");
        check("a.rs", "// only a comment\n", "1: // only a comment");
        let long = "line\n".repeat(limits::OUTLINE_LINES + 5);
        let outline = outline("a", &long, None);
        assert_eq!(outline.lines().count(), limits::OUTLINE_LINES + 1);
        assert!(outline.ends_with("… and 5 more lines\n"), "{outline}");
        assert_eq!(first_lines(&"é".repeat(500)).chars().count(), limits::OUTLINE_LINE_CHARS + 4);
    }
}
