//! Asks the user to approve a tool call.

use agent::ToolCall;
use app::running::Decision;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use crate::ask;
use crate::failure::Result;
use crate::output::{Output, Stream, Style};

/// Maximum lines of a file's text. Commands are always shown in full.
const SHOWN_LINES: usize = 60;

const QUESTION: &str = "Allow it?";
const HELP: &str = "y: yes, once · a: always in this session · n: no · n REASON: no, with a reason";

/// An answer to the question.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reply {
    Yes,
    Always,
    No(Option<String>),
}

/// Asks the user. None if the question was interrupted.
pub(super) async fn ask(output: &mut Output) -> Result<Option<Decision>> {
    let reply = ask::until_valid(QUESTION, HELP, parse, output).await?;
    Ok(reply.map(|reply| match reply {
        Reply::Yes => Decision { approved: true, reason: None, remember: false },
        Reply::Always => Decision { approved: true, reason: None, remember: true },
        Reply::No(reason) => Decision { approved: false, reason, remember: false },
    }))
}

fn parse(answer: &str) -> std::result::Result<Reply, String> {
    let answer = answer.trim();
    let (word, rest) = answer.split_once([' ', ',', ':']).unwrap_or((answer, ""));
    let rest = rest.trim_start_matches([',', ':']).trim();
    match (word.to_lowercase().as_str(), rest) {
        ("y" | "yes", "") => Ok(Reply::Yes),
        ("a" | "always", "") => Ok(Reply::Always),
        ("n" | "no", "") => Ok(Reply::No(None)),
        ("n" | "no", reason) => Ok(Reply::No(Some(reason.to_owned()))),
        _ => Err("expected y, a, n, or n and a reason".to_owned()),
    }
}

/// Shows what a call would do.
pub(super) fn show(call: &ToolCall, to: Stream, output: &mut Output) -> Result<()> {
    output.pieces(to, &[(Style::Warning, &*call.name), (Style::Plain, " needs your approval:")])?;
    for (style, line) in described(&call.name, &call.input) {
        output.pieces(to, &[(Style::Plain, "  "), (style, &line)])?;
    }
    Ok(())
}

fn described(tool_name: &str, input: &Map<String, Value>) -> Vec<(Style, String)> {
    let text = |field: &str| input.get(field).and_then(Value::as_str);
    match (tool_name, text("command"), text("path"), text("content"), text("old"), text("new")) {
        ("run_command", Some(command), ..) => {
            let lines = command.lines().enumerate();
            lines
                .map(|(at, line)| (Style::Title, format!("{} {line}", if at == 0 { "$" } else { ">" })))
                .collect()
        }
        ("write_file", _, Some(path), Some(content), ..) => {
            let mut lines = vec![(Style::Title, path.to_owned())];
            lines.extend(limited(content.lines().map(|line| (Style::Added, format!("+ {line}"))).collect()));
            lines
        }
        ("edit_file", _, Some(path), _, Some(old), Some(new)) => {
            let every = input.get("all").and_then(Value::as_bool).unwrap_or_default();
            let every = if every { " (all occurrences)" } else { "" };
            let mut lines = vec![(Style::Title, format!("{path}{every}"))];
            lines.extend(limited(difference(old, new)));
            lines
        }
        _ => {
            let json = serde_json::to_string_pretty(input).unwrap_or_default();
            json.lines().map(|line| (Style::Plain, line.to_owned())).collect()
        }
    }
}

fn difference(old: &str, new: &str) -> Vec<(Style, String)> {
    let diff = TextDiff::from_lines(old, new);
    let lines = diff.iter_all_changes().map(|change| {
        let line = change.value().trim_end_matches('\n').to_owned();
        match change.tag() {
            ChangeTag::Equal => (Style::Faint, format!("  {line}")),
            ChangeTag::Delete => (Style::Removed, format!("- {line}")),
            ChangeTag::Insert => (Style::Added, format!("+ {line}")),
        }
    });
    lines.collect()
}

/// Keeps the first lines, and counts the rest.
fn limited(mut lines: Vec<(Style, String)>) -> Vec<(Style, String)> {
    let more = lines.len().saturating_sub(SHOWN_LINES);
    if more > 0 {
        lines.truncate(SHOWN_LINES);
        lines.push((Style::Faint, format!("… {more} more lines")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Reply, described, parse};

    #[test]
    fn only_clear_answers_are_accepted() {
        for yes in ["y", "Y", " yes "] {
            assert_eq!(parse(yes), Ok(Reply::Yes));
        }
        assert_eq!(parse("always"), Ok(Reply::Always));
        assert_eq!(parse("n"), Ok(Reply::No(None)));
        for why in ["n not now", "no, not now", "no: not now", "N  not now"] {
            assert_eq!(parse(why), Ok(Reply::No(Some("not now".to_owned()))), "{why}");
        }
        for unclear in ["", "ok", "yes but", "yn", "allow", "why?"] {
            assert!(parse(unclear).is_err(), "{unclear}");
        }
    }

    #[track_caller]
    fn shown(name: &str, input: Value) -> String {
        let Value::Object(input) = input else { panic!("an object") };
        let lines: Vec<String> = described(name, &input).into_iter().map(|(_, line)| line).collect();
        lines.join("\n")
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
        let long = shown("write_file", json!({ "path": "x", "content": "a\n".repeat(100) }));
        assert!(long.ends_with("… 40 more lines"), "{long}");
        // A command is never cut: the user must see all of it.
        let long = shown("run_command", json!({ "command": "a\n".repeat(100) }));
        assert_eq!(long.lines().count(), 100);
    }
}
