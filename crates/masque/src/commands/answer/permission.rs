//! Asks the user to approve a tool call.

use std::collections::VecDeque;

use agent::{Concern, ToolCall};
use app::running::Decision;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};
use tools::{FileChange, Preview};

use crate::ask;
use crate::failure::Result;
use crate::output::{Output, Stream, Style, width_of};

/// Rows of a screen that are not part of a page: the title, the number of further lines, the question, its
/// help, and one to see where the page begins.
const ROWS_AROUND: usize = 5;
/// The least rows of a page.
const LEAST_ROWS: usize = 5;
/// Columns before a line.
const INDENT: usize = 2;
/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

const QUESTION: &str = "Allow it?";
const HELP: &str = "y: yes, once · a: always in this session · n: no · n REASON: no, with a reason";
const HELP_MORE: &str =
    "m: more · y: yes, once · a: always in this session · n: no · n REASON: no, with a reason";
/// No answer covers later calls about a protected or secret file.
const HELP_ONCE: &str = "y: yes, once · n: no · n REASON: no, with a reason";
const HELP_ONCE_MORE: &str = "m: more · y: yes, once · n: no · n REASON: no, with a reason";

/// An answer to the question.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reply {
    Yes,
    Always,
    More,
    No(Option<String>),
}

/// A call that the user decides about.
#[derive(Debug)]
pub(super) struct Question {
    tool: String,
    /// The lines that were not shown yet.
    lines: VecDeque<(Style, String)>,
    /// True if only this very call can be allowed.
    is_once: bool,
    to: Stream,
}

impl Question {
    pub(super) fn new(call: &ToolCall, preview: &Preview, to: Stream) -> Self {
        let (lines, is_once) = (described(call, preview).into(), !preview.concerns.is_empty());
        Self { tool: call.name.clone(), lines, is_once, to }
    }

    /// Shows what the call would do, and asks. None if the question was interrupted.
    pub(super) async fn ask(mut self, output: &mut Output) -> Result<Option<Decision>> {
        output.pieces(self.to, &[(Style::Warning, &*self.tool), (Style::Plain, " needs your approval:")])?;
        loop {
            self.turn_page(output)?;
            let (help, parse): (_, fn(&str) -> _) = match (self.is_once, self.lines.is_empty()) {
                (false, true) => (HELP, parse),
                (false, false) => (HELP_MORE, parse),
                (true, true) => (HELP_ONCE, parse_once),
                (true, false) => (HELP_ONCE_MORE, parse_once),
            };
            let decision = match ask::until_valid(QUESTION, help, parse, output).await? {
                None => return Ok(None),
                Some(Reply::More) => continue,
                Some(Reply::Yes) => Decision { approved: true, reason: None, remember: false },
                Some(Reply::Always) => Decision { approved: true, reason: None, remember: true },
                Some(Reply::No(reason)) => Decision { approved: false, reason, remember: false },
            };
            return Ok(Some(decision));
        }
    }

    /// Shows the next page, and how many lines follow it.
    fn turn_page(&mut self, output: &mut Output) -> Result<()> {
        let end = page(&self.lines, Screen::of_questions());
        for (style, line) in self.lines.drain(..end) {
            output.pieces(self.to, &[(Style::Plain, "  "), (style, &line)])?;
        }
        match self.lines.len() {
            0 => Ok(()),
            more => {
                let more = format!("… {more} more lines; m shows them");
                output.pieces(self.to, &[(Style::Plain, "  "), (Style::Warning, &more)])
            }
        }
    }
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy)]
struct Screen {
    columns: usize,
    rows: usize,
}

impl Screen {
    /// The terminal on which questions appear.
    fn of_questions() -> Self {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        let (columns, rows) = size.map_or((80, 24), |(columns, rows)| (columns.0, rows.0));
        Self { columns: usize::from(columns).max(1), rows: usize::from(rows) }
    }
}

/// The number of lines that fit on a screen beside a question. At least one, however long it is.
fn page(lines: &VecDeque<(Style, String)>, screen: Screen) -> usize {
    let mut left = screen.rows.saturating_sub(ROWS_AROUND).max(LEAST_ROWS);
    let fits = |(_, line): &&(Style, String)| {
        let rows = (INDENT + width_of(line)).div_ceil(screen.columns);
        let fits = rows <= left;
        left = left.saturating_sub(rows);
        fits
    };
    lines.iter().take_while(fits).count().max(1).min(lines.len())
}

/// The same without an answer for later calls.
fn parse_once(answer: &str) -> std::result::Result<Reply, String> {
    match parse(answer) {
        Ok(Reply::Always) => Err("masque asks about this file every time: expected y, n or m".to_owned()),
        other => other.map_err(|_| "expected y, n, n and a reason, or m for more".to_owned()),
    }
}

fn parse(answer: &str) -> std::result::Result<Reply, String> {
    let answer = answer.trim();
    let (word, rest) = answer.split_once([' ', ',', ':']).unwrap_or((answer, ""));
    let rest = rest.trim_start_matches([',', ':']).trim();
    match (word.to_lowercase().as_str(), rest) {
        ("y" | "yes", "") => Ok(Reply::Yes),
        ("a" | "always", "") => Ok(Reply::Always),
        ("m" | "more", "") => Ok(Reply::More),
        ("n" | "no", "") => Ok(Reply::No(None)),
        ("n" | "no", reason) => Ok(Reply::No(Some(reason.to_owned()))),
        _ => Err("expected y, a, n, n and a reason, or m for more".to_owned()),
    }
}

pub(crate) fn described(call: &ToolCall, preview: &Preview) -> Vec<(Style, String)> {
    let concerns = preview.concerns.iter().map(|concern| match concern {
        Concern::Protected(path) => {
            (Style::Warning, format!("{path} is protected: it decides what masque or git does later"))
        }
        Concern::Secret(path) => (Style::Warning, format!("{path} usually holds secrets")),
    });
    concerns.chain(described_input(&call.name, &call.input, preview.change.as_ref())).collect()
}

fn described_input(
    tool_name: &str,
    input: &Map<String, Value>,
    change: Option<&FileChange>,
) -> Vec<(Style, String)> {
    let text = |field: &str| input.get(field).and_then(Value::as_str);
    match (tool_name, text("command"), text("path"), text("content"), text("old"), text("new")) {
        ("run_command", Some(command), ..) => {
            let lines = command.lines().enumerate();
            lines
                .map(|(at, line)| (Style::Title, format!("{} {line}", if at == 0 { "$" } else { ">" })))
                .collect()
        }
        ("write_file", _, Some(path), Some(content), ..) => {
            let path = change.map_or(path, |change| &change.path);
            let state = match change {
                Some(FileChange { exists: true, before: Some(_), .. }) => " (overwrites the file)",
                Some(FileChange { exists: true, .. }) => " (overwrites a file that is not text)",
                Some(_) => " (a new file)",
                None => "",
            };
            let before = change.and_then(|change| change.before.as_deref()).unwrap_or_default();
            with_title(format!("{path}{state}"), difference(before, content))
        }
        ("edit_file", _, Some(path), _, Some(old), Some(new)) => {
            let every = input.get("all").and_then(Value::as_bool).unwrap_or_default();
            let every = if every { " (all occurrences)" } else { "" };
            let path = change.map_or(path, |change| &change.path);
            let (before, after) = match change {
                Some(FileChange { before: Some(before), after: Some(after), .. }) => (&**before, &**after),
                _ => (old, new),
            };
            with_title(format!("{path}{every}"), difference(before, after))
        }
        _ => {
            let json = serde_json::to_string_pretty(input).unwrap_or_default();
            json.lines().map(|line| (Style::Plain, line.to_owned())).collect()
        }
    }
}

fn with_title(title: String, lines: Vec<(Style, String)>) -> Vec<(Style, String)> {
    [(Style::Title, title)].into_iter().chain(lines).collect()
}

/// The changed lines with some around them.
fn difference(old: &str, new: &str) -> Vec<(Style, String)> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for (at, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if at > 0 {
            lines.push((Style::Faint, "⋯".to_owned()));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value().trim_end_matches('\n').to_owned();
            lines.push(match change.tag() {
                ChangeTag::Equal => (Style::Faint, format!("  {line}")),
                ChangeTag::Delete => (Style::Removed, format!("- {line}")),
                ChangeTag::Insert => (Style::Added, format!("+ {line}")),
            });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use agent::{Concern, ToolCall};
    use serde_json::{Value, json};
    use tools::{FileChange, Preview};

    use super::{Reply, Screen, Style, described, page, parse, parse_once};

    #[test]
    fn only_clear_answers_are_accepted() {
        for yes in ["y", "Y", " yes "] {
            assert_eq!(parse(yes), Ok(Reply::Yes));
        }
        assert_eq!(parse("always"), Ok(Reply::Always));
        assert_eq!(parse("m"), Ok(Reply::More));
        assert_eq!(parse("n"), Ok(Reply::No(None)));
        for why in ["n not now", "no, not now", "no: not now", "N  not now"] {
            assert_eq!(parse(why), Ok(Reply::No(Some("not now".to_owned()))), "{why}");
        }
        for unclear in ["", "ok", "yes but", "yn", "allow", "why?"] {
            assert!(parse(unclear).is_err(), "{unclear}");
        }
    }

    #[test]
    fn no_answer_covers_later_calls_about_a_protected_file() {
        for always in ["a", "always"] {
            assert!(parse_once(always).is_err(), "{always}");
        }
        assert_eq!(parse_once("y"), Ok(Reply::Yes));
        assert_eq!(parse_once("n why"), Ok(Reply::No(Some("why".to_owned()))));
    }

    #[test]
    fn a_page_fits_the_screen() {
        let lines = |count: usize, width: usize| vec![(Style::Plain, "x".repeat(width)); count].into();
        let screen = |rows| Screen { columns: 80, rows };
        assert_eq!(page(&lines(100, 10), screen(24)), 19);
        assert_eq!(page(&lines(100, 10), screen(60)), 55);
        assert_eq!(page(&lines(3, 10), screen(24)), 3);
        assert_eq!(page(&lines(100, 100), screen(24)), 9, "long lines take two rows");
        assert_eq!(page(&lines(2, 100_000), screen(24)), 1, "a line is never cut");
        assert_eq!(page(&lines(100, 10), screen(2)), 5);
        assert_eq!(page(&lines(0, 0), screen(24)), 0);
    }

    fn call(name: &str, input: Value) -> ToolCall {
        let Value::Object(input) = input else { panic!("an object") };
        ToolCall { name: name.to_owned(), input, ..ToolCall::default() }
    }

    fn shown_with(name: &str, input: Value, preview: &Preview) -> String {
        let lines = described(&call(name, input), preview).into_iter();
        lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n")
    }

    fn shown(name: &str, input: Value) -> String {
        shown_with(name, input, &Preview::default())
    }

    #[test]
    fn calls_are_described() {
        assert_eq!(shown("run_command", json!({ "command": "a\nb" })), "$ a\n> b");
        assert_eq!(shown("write_file", json!({ "path": "x", "content": "a\nb\n" })), "x\n+ a\n+ b");
        let edit = json!({ "path": "x", "old": "a\nb", "new": "a\nc", "all": true });
        assert_eq!(shown("edit_file", edit), "x (all occurrences)\n  a\n- b\n+ c");
        assert_eq!(shown("mcp__a__b", json!({ "n": 1 })), "{\n  \"n\": 1\n}");
        // Invalid input is shown as JSON.
        assert_eq!(shown("run_command", json!({ "command": 1 })), "{\n  \"command\": 1\n}");
        // Nothing is cut: the user can turn the pages.
        let long = shown("write_file", json!({ "path": "x", "content": "a\n".repeat(100) }));
        assert_eq!(long.lines().count(), 101);
        let long = shown("run_command", json!({ "command": "a\n".repeat(100) }));
        assert_eq!(long.lines().count(), 100);
    }

    /// The attack: a call that overwrites a file looked like one that makes it.
    #[test]
    fn a_call_shows_the_change_of_the_file() {
        let change = |before: Option<&str>, after: &str| {
            let (path, exists) = ("real.toml".to_owned(), before.is_some());
            FileChange { path, exists, before: before.map(str::to_owned), after: Some(after.to_owned()) }
        };
        let preview = |change| Preview { change: Some(change), ..Preview::default() };
        let write = |content: &str| json!({ "path": "link", "content": content });
        let new = preview(change(None, "a\n"));
        assert_eq!(shown_with("write_file", write("a\n"), &new), "real.toml (a new file)\n+ a");
        let over = preview(change(Some("a\nb\n"), "a\nc\n"));
        assert_eq!(
            shown_with("write_file", write("a\nc\n"), &over),
            "real.toml (overwrites the file)\n  a\n- b\n+ c"
        );
        let edit = json!({ "path": "link", "old": "b", "new": "c" });
        assert_eq!(shown_with("edit_file", edit, &over), "real.toml\n  a\n- b\n+ c");
        let protected = Preview { concerns: vec![Concern::Protected("real.toml".to_owned())], ..over };
        let told = shown_with("write_file", write("a\nc\n"), &protected);
        assert!(told.starts_with("real.toml is protected"), "{told}");
        let secret = Preview { concerns: vec![Concern::Secret(".env".to_owned())], change: None };
        assert!(
            shown_with("read_file", json!({ "path": ".env" }), &secret).starts_with(".env usually holds")
        );
    }
}
