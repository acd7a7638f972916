//! Prints an answer for people: its text as it arrives, and a line for every other event.
//!
//! A terminal shows the text word by word. Elsewhere it is buffered until the attempt succeeded, so
//! that the text of a failed attempt never reaches a file or a pipe.

use std::io::{self, IsTerminal as _, Write as _};

use agent::{End, ErrorCode, Event, Notice, SelectionReason, Turn, TurnBody};
use llm::{ModelRef, Usage};
use uuid::Uuid;

use super::{Markdown, end_text, failed_run, label, outcome};
use crate::failure::Result;
use crate::output::{Output, Stream, Style, clean, one_line, truncate, wrap};
use crate::wording;

/// Bytes of reasoning that are kept to show its start.
const REASONING_BYTES: usize = 2048;
/// The width without a terminal.
const COLUMNS: usize = 100;
/// Columns of the mark before a line, with the space.
const MARK_COLUMNS: usize = 2;

const REHEARSAL: &str = "No model is configured, so a scripted rehearsal answers. Set ANTHROPIC_API_KEY, \
     OPENAI_API_KEY or GEMINI_API_KEY, run Ollama, or add [providers.NAME] to config.toml; \
     `masque doctor` shows what was found.";

/// A tool call without a result.
#[derive(Debug)]
struct Running {
    call_id: String,
    label: String,
}

#[derive(Debug)]
pub(crate) struct AnswerPrinter {
    /// The stream for everything except the answer.
    side: Stream,
    verbose: bool,
    /// True in a chat, where several answers follow each other.
    is_chat: bool,
    /// None without a terminal.
    markdown: Option<Markdown>,
    /// True if a temporary status line can be shown.
    has_status: bool,
    status_shown: bool,
    width: usize,
    /// The text since the last complete one.
    text: String,
    /// Complete texts of an attempt that may still fail. Unused on a terminal.
    buffered: Vec<(Uuid, String)>,
    reasoning: String,
    running: Vec<Running>,
    shown_model: Option<ModelRef>,
    shown_rehearsal: bool,
    /// True if a text was printed without a terminal. The next is a new paragraph.
    has_printed: bool,
}

impl AnswerPrinter {
    /// A chat on a terminal prints everything to standard output. Otherwise only the answer goes there.
    pub(crate) fn new(is_chat: bool, verbose: bool, output: &Output) -> Self {
        let side = if is_chat && output.is_terminal() { Stream::Output } else { Stream::Error };
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let shown = match side {
            Stream::Output => true,
            Stream::Error => io::stderr().is_terminal(),
        };
        Self {
            side,
            verbose,
            is_chat,
            markdown: output.is_terminal().then(|| Markdown::new(output.has_color(), output.width())),
            has_status: shown && !is_dumb && output.width().is_some(),
            status_shown: false,
            width: output.width().unwrap_or(COLUMNS),
            text: String::new(),
            buffered: Vec::new(),
            reasoning: String::new(),
            running: Vec::new(),
            shown_model: None,
            shown_rehearsal: false,
            has_printed: false,
        }
    }

    /// Learns about earlier calls without a result.
    pub(crate) fn recall(&mut self, turns: &[Turn]) {
        for turn in turns {
            match &turn.body {
                TurnBody::ToolCall { call, .. } => {
                    self.running.push(Running { call_id: call.id.clone(), label: label(call) });
                }
                TurnBody::ToolResult { tool_use_id, .. } => {
                    self.running.retain(|running| running.call_id != *tool_use_id);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn event(&mut self, event: &Event, output: &mut Output) -> Result<()> {
        if !matches!(event, Event::ReasoningDelta { .. }) {
            self.end_reasoning(output)?;
        }
        match event {
            Event::TextDelta { content } => self.text_delta(content, output)?,
            Event::TextComplete { id, content } => self.text_complete(*id, content, output)?,
            Event::ReasoningDelta { content } => self.reasoning_delta(content, output)?,
            Event::ToolCall { call, .. } => {
                let running = Running { call_id: call.id.clone(), label: label(call) };
                self.running.push(running);
                self.show_status(output)?;
            }
            Event::ToolResult { tool_use_id, output: result, is_error, .. } => {
                self.tool_result(tool_use_id, result, is_error.unwrap_or_default(), output)?;
            }
            Event::ModelSelected { provider, model, reason } => {
                let model = ModelRef { provider: provider.clone(), model: model.clone() };
                self.model_selected(model, *reason, output)?;
            }
            Event::ModelEscalated { from, to, message, .. } => {
                let line = format!("{from} failed ({}); trying {to}", one_line(message));
                self.faint(&line, output)?;
            }
            Event::Waiting { provider, model, seconds, message, .. } => {
                let line = format!("retrying {provider}/{model} in {seconds} s ({})", one_line(message));
                self.faint(&line, output)?;
            }
            Event::TextDiscarded { turn_ids } => self.discarded(turn_ids, output)?,
            Event::Usage { usage, .. } => self.usage(usage, output)?,
            Event::ModeChanged { mode } => {
                self.side_line(&[(Style::Faint, &format!("— {mode} mode —"))], output)?;
            }
            Event::PlanReady { plan } => self.plan(plan, output)?,
            Event::Summary { .. } => {
                let line = "— earlier messages are summarized from here on; /history shows all of them —";
                self.side_line(&[(Style::Faint, line)], output)?;
            }
            Event::Notice { notice } => {
                let message = wording::notice(notice);
                match notice {
                    Notice::FilesShown { .. } => {
                        self.side_line(&[(Style::Faint, &format!("— {message} —"))], output)?;
                    }
                    _ => {
                        self.side_line(&[(Style::Warning, "warning: "), (Style::Plain, &message)], output)?;
                    }
                }
            }
            Event::Error { code, message } => self.error(*code, message, output)?,
            Event::Done { stop_reason } => self.done(*stop_reason, output)?,
            Event::User { .. }
            | Event::ToolEvent { .. }
            | Event::ApprovalRequest { .. }
            | Event::ApprovalAnswered { .. } => {}
        }
        // A terminal shows events at once. A pipe can wait for the end.
        if self.markdown.is_some() { output.flush() } else { Ok(()) }
    }

    /// Ends the open line. Returns the stream for the next one.
    pub(crate) fn end_line(&mut self, output: &mut Output) -> Result<Stream> {
        self.clear_status(output)?;
        if let Some(markdown) = &mut self.markdown
            && markdown.is_in_line()
        {
            output.styled_text(&markdown.finish())?;
        }
        Ok(self.side)
    }

    fn side_line(&mut self, pieces: &[(Style, &str)], output: &mut Output) -> Result<()> {
        let to = self.end_line(output)?;
        output.pieces(to, pieces)
    }

    /// Prints a wrapped side line.
    fn faint(&mut self, text: &str, output: &mut Output) -> Result<()> {
        let to = self.end_line(output)?;
        let lines = wrap(&one_line(text), output.width());
        lines.iter().try_for_each(|line| output.pieces(to, &[(Style::Faint, line)]))
    }

    fn text_delta(&mut self, content: &str, output: &mut Output) -> Result<()> {
        // Skip empty lines at the start of an answer.
        let content = if self.text.is_empty() { content.trim_start() } else { content };
        if content.is_empty() {
            return Ok(());
        }
        self.text.push_str(content);
        if let Some(markdown) = &mut self.markdown {
            let shown = markdown.push(content);
            self.clear_status(output)?;
            output.styled_text(&shown)?;
        }
        Ok(())
    }

    fn text_complete(&mut self, id: Uuid, content: &str, output: &mut Output) -> Result<()> {
        let shown_text = std::mem::take(&mut self.text);
        let content = content.trim();
        let Some(markdown) = &mut self.markdown else {
            if !content.is_empty() {
                self.buffered.push((id, content.to_owned()));
            }
            return Ok(());
        };
        let mut shown = String::new();
        match content.strip_prefix(&shown_text) {
            Some(rest) => shown.push_str(&markdown.push(rest)),
            None if shown_text.trim_end() == content => {}
            // A slow viewer may miss deltas.
            None => {
                shown.push_str(&markdown.finish());
                shown.push_str(&markdown.push(content));
            }
        }
        shown.push_str(&markdown.finish());
        self.clear_status(output)?;
        output.styled_text(&shown)
    }

    fn reasoning_delta(&mut self, content: &str, output: &mut Output) -> Result<()> {
        if self.reasoning.is_empty() {
            self.clear_status(output)?;
            self.status("… thinking", output)?;
        }
        if self.verbose || self.reasoning.len() < REASONING_BYTES {
            self.reasoning.push_str(content);
        }
        Ok(())
    }

    /// Prints the reasoning: its start, or all of it in verbose mode.
    fn end_reasoning(&mut self, output: &mut Output) -> Result<()> {
        let reasoning = std::mem::take(&mut self.reasoning);
        if reasoning.trim().is_empty() {
            return Ok(());
        }
        if !self.verbose {
            let line = truncate(&format!("∴ {}", one_line(&reasoning)), self.width.saturating_sub(1));
            return self.side_line(&[(Style::Faint, &line)], output);
        }
        for line in reasoning.trim().lines() {
            self.side_line(&[(Style::Faint, &format!("∴ {line}"))], output)?;
        }
        Ok(())
    }

    fn tool_result(
        &mut self,
        call_id: &str,
        result: &str,
        is_error: bool,
        output: &mut Output,
    ) -> Result<()> {
        let found = self.running.iter().position(|running| running.call_id == call_id);
        let label = match found {
            Some(at) => self.running.remove(at).label,
            // The call was made before this viewer.
            None => "tool".to_owned(),
        };
        let summary = outcome(result, is_error);
        if is_error {
            let to = self.end_line(output)?;
            let room = output.width().map(|width| width.saturating_sub(MARK_COLUMNS));
            let lines = wrap(&format!("{label}: {summary}"), room);
            for (at, line) in lines.iter().enumerate() {
                let mark = if at == 0 { "✗ " } else { "  " };
                output.pieces(to, &[(Style::Bad, mark), (Style::Removed, line)])?;
            }
        } else {
            self.side_line(&[(Style::Good, "✓ "), (Style::Faint, &format!("{label} ({summary})"))], output)?;
        }
        self.show_status(output)
    }

    fn model_selected(
        &mut self,
        model: ModelRef,
        reason: SelectionReason,
        output: &mut Output,
    ) -> Result<()> {
        if reason == SelectionReason::Rehearsal {
            if !std::mem::replace(&mut self.shown_rehearsal, true) {
                self.faint(REHEARSAL, output)?;
            }
            return Ok(());
        }
        // A chat shows the model when it changes.
        let is_known = self.shown_model.as_ref() == Some(&model) || !(self.is_chat || self.verbose);
        if !is_known {
            let line = format!("{model} ({})", why(reason));
            self.side_line(&[(Style::Faint, &line)], output)?;
        }
        self.shown_model = Some(model);
        Ok(())
    }

    fn discarded(&mut self, turns: &[Uuid], output: &mut Output) -> Result<()> {
        self.buffered.retain(|(id, _)| !turns.contains(id));
        self.text.clear();
        self.running.clear();
        if self.markdown.is_none() && !self.is_chat {
            return Ok(());
        }
        self.side_line(&[(Style::Faint, "— the answer was cut off; trying again —")], output)
    }

    fn usage(&mut self, usage: &Usage, output: &mut Output) -> Result<()> {
        self.release(output)?;
        if !self.verbose {
            return Ok(());
        }
        let Usage { input_tokens, output_tokens, cache_read_tokens, .. } = usage;
        let cached =
            if *cache_read_tokens > 0 { format!(" ({cache_read_tokens} cached)") } else { String::new() };
        let line = format!("{input_tokens} tokens in{cached}, {output_tokens} out");
        self.side_line(&[(Style::Faint, &line)], output)
    }

    /// Prints the buffered texts.
    fn release(&mut self, output: &mut Output) -> Result<()> {
        for (_, text) in std::mem::take(&mut self.buffered) {
            self.print(&text, output)?;
        }
        Ok(())
    }

    fn print(&mut self, text: &str, output: &mut Output) -> Result<()> {
        if std::mem::replace(&mut self.has_printed, true) {
            output.blank()?;
        }
        output.exact(text)?;
        output.blank()
    }

    fn plan(&mut self, plan: &str, output: &mut Output) -> Result<()> {
        self.release(output)?;
        self.end_line(output)?;
        match &self.markdown {
            Some(_) => {
                output.blank()?;
                output.styled_text(&Markdown::render(output.has_color(), output.width(), plan.trim()))
            }
            None => self.print(plan.trim_end(), output),
        }
    }

    fn error(&mut self, code: ErrorCode, message: &str, output: &mut Output) -> Result<()> {
        // The run continues after a warning. Other errors end it; outside a chat, the command reports them.
        if code.is_warning() {
            return self.side_line(&[(Style::Warning, "warning: "), (Style::Plain, message)], output);
        }
        if self.is_chat {
            let message = failed_run(code, message).sentence(wording::remedy);
            return self.side_line(&[(Style::Bad, "error: "), (Style::Plain, &message)], output);
        }
        Ok(())
    }

    fn done(&mut self, end: End, output: &mut Output) -> Result<()> {
        // Keep the text of a stopped answer.
        let text = std::mem::take(&mut self.text);
        if self.markdown.is_none() && !text.trim().is_empty() {
            self.buffered.push((Uuid::nil(), text.trim_end().to_owned()));
        }
        self.release(output)?;
        self.running.clear();
        self.end_line(output)?;
        let is_reported_later = !self.is_chat && matches!(end, End::Failed | End::Refusal);
        match end_text(end) {
            Some(words) if !is_reported_later => {
                self.side_line(&[(Style::Warning, &format!("— {words} —"))], output)
            }
            _ => Ok(()),
        }
    }

    /// Shows the running calls in the status line.
    fn show_status(&mut self, output: &mut Output) -> Result<()> {
        let Some(first) = self.running.first() else { return Ok(()) };
        let line = match self.running.len() {
            1 => format!("… {}", first.label),
            count => format!("… {} and {} more", first.label, count - 1),
        };
        self.status(&line, output)
    }

    fn status(&mut self, line: &str, output: &mut Output) -> Result<()> {
        if !self.has_status {
            return Ok(());
        }
        self.end_line(output)?;
        let line = truncate(&clean(line), self.width.saturating_sub(1));
        let color = output.has_color();
        let line = if color { format!("\x1b[2m{line}\x1b[0m") } else { line };
        self.status_shown = true;
        self.raw(&line, output)
    }

    fn clear_status(&mut self, output: &mut Output) -> Result<()> {
        if std::mem::take(&mut self.status_shown) {
            return self.raw("\r\x1b[2K", output);
        }
        Ok(())
    }

    fn raw(&mut self, text: &str, output: &mut Output) -> Result<()> {
        match self.side {
            Stream::Output => output.styled_text(text),
            Stream::Error => {
                output.flush()?;
                let mut stderr = io::stderr();
                let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
                Ok(())
            }
        }
    }
}

fn why(reason: SelectionReason) -> &'static str {
    match reason {
        SelectionReason::Requested => "your choice",
        SelectionReason::Plan => "the persona's choice for plans",
        SelectionReason::Preferred => "the persona's choice",
        SelectionReason::Default => "the first configured model",
        SelectionReason::Escalated => "fallback",
        SelectionReason::Cooldown => "fallback that answered before",
        SelectionReason::Rehearsal => "rehearsal",
    }
}
