//! The transcript of a session, for a terminal and as Markdown.

use std::collections::HashMap;
use std::fmt::Write as _;

use agent::{Turn, TurnBody};
use app::running::SessionView;

use crate::commands::answer::{Markdown, label, outcome};
use crate::failure::Result;
use crate::output::{Output, Stream, Style, one_line, truncate};

/// The space of the mark before a message.
const MARK: &str = "  ";
/// Lines of the last answer, for a user who takes a session up.
const LAST_LINES: usize = 3;
/// Columns without a known width.
const NO_WIDTH: usize = 80;

/// Prints turns like the chat does.
pub(crate) fn print(turns: &[Turn], output: &mut Output) -> Result<()> {
    let mut labels: HashMap<&str, String> = HashMap::new();
    for turn in turns {
        match &turn.body {
            TurnBody::User { content } => {
                output.blank()?;
                for (at, line) in content.trim_end().lines().enumerate() {
                    let mark = if at == 0 { "› " } else { MARK };
                    output.pieces(Stream::Output, &[(Style::Name, mark), (Style::Title, line)])?;
                }
            }
            TurnBody::AssistantText { content } => {
                let width = output.width();
                output.styled_text(&Markdown::render(output.has_color(), width, content.trim()))?;
            }
            TurnBody::ToolCall { call, .. } => {
                labels.insert(&call.id, label(call));
            }
            TurnBody::ToolResult { tool_use_id, output: result, is_error, .. } => {
                let label = labels.remove(tool_use_id.as_str()).unwrap_or_else(|| "tool".to_owned());
                let summary = outcome(result, *is_error);
                let pieces = match is_error {
                    true => [(Style::Bad, "✗ "), (Style::Removed, &*format!("{label}: {summary}"))],
                    false => [(Style::Good, "✓ "), (Style::Faint, &*format!("{label} ({summary})"))],
                };
                output.pieces(Stream::Output, &pieces)?;
            }
            TurnBody::Summary { .. } => {
                let line = "— the model sees a summary of everything above —";
                output.pieces(Stream::Output, &[(Style::Faint, line)])?;
            }
        }
    }
    for label in labels.values() {
        output.pieces(Stream::Output, &[(Style::Faint, &format!("… {label}"))])?;
    }
    Ok(())
}

/// Prints the last message and the end of its answer, shortened, for a user who takes a session up.
pub(crate) fn print_last(turns: &[Turn], output: &mut Output) -> Result<()> {
    let columns = output.width().unwrap_or(NO_WIDTH).saturating_sub(MARK.len());
    let Some(at) = turns.iter().rposition(|turn| matches!(turn.body, TurnBody::User { .. })) else {
        return Ok(());
    };
    if let TurnBody::User { content } = &turns[at].body {
        let message = truncate(&one_line(content), columns);
        output.pieces(Stream::Output, &[(Style::Name, "› "), (Style::Title, &*message)])?;
    }
    let mut texts = turns[at..].iter().filter_map(|turn| match &turn.body {
        TurnBody::AssistantText { content } if !content.trim().is_empty() => Some(content),
        _ => None,
    });
    match texts.next_back() {
        Some(answer) => {
            let answer = truncate(&one_line(answer.trim()), columns * LAST_LINES);
            output.paragraph(MARK.len(), &answer)
        }
        None => Ok(()),
    }
}

/// A session as a Markdown document.
pub(super) fn markdown(view: &SessionView) -> String {
    let SessionView { session, turns, .. } = view;
    let title = session.title.as_deref().unwrap_or("No messages yet");
    let mut text = format!(
        "# {title}\n\n{} · {} · session {}\n",
        session.persona,
        session.created_at.format("%Y-%m-%d %H:%M UTC"),
        session.id
    );
    for turn in turns {
        let _ = match &turn.body {
            TurnBody::User { content } => write!(text, "\n## You\n\n{}\n", content.trim_end()),
            TurnBody::AssistantText { content } => {
                write!(text, "\n## {}\n\n{}\n", session.persona, content.trim())
            }
            TurnBody::ToolCall { call, .. } => {
                let input = serde_json::to_string_pretty(&call.input).unwrap_or_default();
                write!(text, "\n### Call of `{}`\n\n{}", call.name, fenced("json", &input))
            }
            TurnBody::ToolResult { output, is_error, .. } => {
                let heading = if *is_error { "Error" } else { "Result" };
                write!(text, "\n### {heading}\n\n{}", fenced("", output.trim_end()))
            }
            TurnBody::Summary { content, .. } => {
                write!(text, "\n## Summary of everything above\n\n{}\n", content.trim())
            }
        };
    }
    if let Some(plan) = &session.plan {
        let _ = write!(text, "\n## Plan\n\n{}\n", plan.content.trim());
    }
    text
}

/// A code block whose fence is longer than any inside.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!(super::fenced("", "a"), "```\na\n```\n");
        assert_eq!(super::fenced("json", "````\nx"), "`````json\n````\nx\n`````\n");
    }
}
