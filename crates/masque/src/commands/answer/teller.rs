//! An answer for people: the text as it arrives, and a line for whatever else happens.
//!
//! On a terminal the text is shown word by word. Elsewhere it is held back until it is certain:
//! what a failed attempt had said never reaches a file or a pipe.

use std::io::{self, IsTerminal as _, Write as _};

use agent::{End, ErrorCode, Event, SelectionReason, Turn, TurnBody};
use llm::{ModelRef, Usage};
use uuid::Uuid;

use super::{Markdown, end_in_words, label, outcome, with_advice};
use crate::failure::Result;
use crate::output::{Output, Stream, Style, clean, one_line, truncate, wrap};

/// Bytes of a model's thinking that are looked at to show its beginning.
const THOUGHT_BYTES: usize = 2048;
/// Columns of a line that nobody measured.
const COLUMNS: usize = 100;
/// Columns of the mark before a line, with its space.
const MARK_COLUMNS: usize = 2;

const REHEARSAL: &str = "No model is set up: a rehearsal answers, which is a script. Set ANTHROPIC_API_KEY, \
     OPENAI_API_KEY or GEMINI_API_KEY, run Ollama, or add [providers.NAME] to config.toml; \
     `masque doctor` shows what is found.";

/// A tool that has not answered yet.
#[derive(Debug)]
struct Running {
    call_id: String,
    label: String,
}

#[derive(Debug)]
pub(crate) struct Teller {
    /// Where whatever is not the answer goes.
    beside: Stream,
    verbose: bool,
    /// Whether every answer is one of a longer talk.
    is_chat: bool,
    /// None where no terminal shows the text.
    markdown: Option<Markdown>,
    /// Whether a line may be shown for a while and then be replaced.
    has_status: bool,
    status_shown: bool,
    width: usize,
    /// The text so far since the last that was complete.
    said: String,
    /// Texts that are complete but not certain yet, where no terminal shows them.
    held: Vec<(Uuid, String)>,
    thought: String,
    running: Vec<Running>,
    told_model: Option<ModelRef>,
    told_rehearsal: bool,
    /// Whether a text was printed where no terminal shows it: the next is a paragraph of its own.
    has_printed: bool,
}

impl Teller {
    /// For a talk on a terminal everything stands in one place; otherwise the answer alone.
    pub(crate) fn new(is_chat: bool, verbose: bool, output: &Output) -> Self {
        let beside = if is_chat && output.is_terminal() { Stream::Output } else { Stream::Error };
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let shown = match beside {
            Stream::Output => true,
            Stream::Error => io::stderr().is_terminal(),
        };
        Self {
            beside,
            verbose,
            is_chat,
            markdown: output.is_terminal().then(|| Markdown::new(output.has_color(), output.width())),
            has_status: shown && !is_dumb && output.width().is_some(),
            status_shown: false,
            width: output.width().unwrap_or(COLUMNS),
            said: String::new(),
            held: Vec::new(),
            thought: String::new(),
            running: Vec::new(),
            told_model: None,
            told_rehearsal: false,
            has_printed: false,
        }
    }

    /// Learns of calls that were made before anybody watched and have no result yet.
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
            self.end_thought(output)?;
        }
        match event {
            Event::TextDelta { content } => self.text(content, output)?,
            Event::TextComplete { id, content } => self.text_complete(*id, content, output)?,
            Event::ReasoningDelta { content } => self.reasoning(content, output)?,
            Event::ToolCall { call, .. } => {
                let running = Running { call_id: call.id.clone(), label: label(call) };
                self.running.push(running);
                self.show_status(output)?;
            }
            Event::ToolResult { tool_use_id, output: said, is_error, .. } => {
                self.tool_result(tool_use_id, said, is_error.unwrap_or_default(), output)?;
            }
            Event::ModelSelected { provider, model, reason } => {
                let model = ModelRef { provider: provider.clone(), model: model.clone() };
                self.model_selected(model, *reason, output)?;
            }
            Event::ModelEscalated { from, to, message, .. } => {
                let line = format!("{from} did not answer ({}); trying {to}", one_line(message));
                self.faint(&line, output)?;
            }
            Event::Waiting { provider, model, seconds, message, .. } => {
                let line =
                    format!("{provider}/{model} is asked again in {seconds} s ({})", one_line(message));
                self.faint(&line, output)?;
            }
            Event::TextDiscarded { turn_ids } => self.discarded(turn_ids, output)?,
            Event::Usage { usage, .. } => self.usage(usage, output)?,
            Event::ModeChanged { mode } => {
                self.beside(&[(Style::Faint, &format!("— {mode} mode —"))], output)?;
            }
            Event::PlanReady { plan } => self.plan(plan, output)?,
            Event::Summary { .. } => {
                let line = "— what was said before is summed up from here on; /history still has all of it —";
                self.beside(&[(Style::Faint, line)], output)?;
            }
            Event::Error { code, message } => self.error(*code, message, output)?,
            Event::Done { stop_reason } => self.done(*stop_reason, output)?,
            Event::User { .. }
            | Event::ToolEvent { .. }
            | Event::ApprovalRequest { .. }
            | Event::ApprovalAnswered { .. } => {}
        }
        // Whoever watches wants to see it now; a pipe can wait for the end.
        if self.markdown.is_some() { output.flush() } else { Ok(()) }
    }

    /// Ends whatever line is open, so that something else can stand below; where that goes.
    pub(crate) fn make_way(&mut self, output: &mut Output) -> Result<Stream> {
        self.clear_status(output)?;
        if let Some(markdown) = &mut self.markdown
            && markdown.is_in_line()
        {
            output.styled_text(&markdown.finish())?;
        }
        Ok(self.beside)
    }

    fn beside(&mut self, pieces: &[(Style, &str)], output: &mut Output) -> Result<()> {
        let to = self.make_way(output)?;
        output.pieces(to, pieces)
    }

    /// A sentence that may be longer than a line.
    fn faint(&mut self, text: &str, output: &mut Output) -> Result<()> {
        let to = self.make_way(output)?;
        let lines = wrap(&one_line(text), output.width());
        lines.iter().try_for_each(|line| output.pieces(to, &[(Style::Faint, line)]))
    }

    fn text(&mut self, content: &str, output: &mut Output) -> Result<()> {
        // Only what is shown stays shown: an answer may begin with empty lines.
        let content = if self.said.is_empty() { content.trim_start() } else { content };
        if content.is_empty() {
            return Ok(());
        }
        self.said.push_str(content);
        if let Some(markdown) = &mut self.markdown {
            let shown = markdown.push(content);
            self.clear_status(output)?;
            output.styled_text(&shown)?;
        }
        Ok(())
    }

    fn text_complete(&mut self, id: Uuid, content: &str, output: &mut Output) -> Result<()> {
        let said = std::mem::take(&mut self.said);
        let content = content.trim();
        let Some(markdown) = &mut self.markdown else {
            if !content.is_empty() {
                self.held.push((id, content.to_owned()));
            }
            return Ok(());
        };
        let mut shown = String::new();
        match content.strip_prefix(&said) {
            Some(rest) => shown.push_str(&markdown.push(rest)),
            None if said.trim_end() == content => {}
            // Deltas pass by, and a viewer that was too slow has missed some.
            None => {
                shown.push_str(&markdown.finish());
                shown.push_str(&markdown.push(content));
            }
        }
        shown.push_str(&markdown.finish());
        self.clear_status(output)?;
        output.styled_text(&shown)
    }

    fn reasoning(&mut self, content: &str, output: &mut Output) -> Result<()> {
        if self.thought.is_empty() {
            self.clear_status(output)?;
            self.status("… thinking", output)?;
        }
        if self.verbose || self.thought.len() < THOUGHT_BYTES {
            self.thought.push_str(content);
        }
        Ok(())
    }

    /// Folds what the model thought into a line; all of it where somebody wants to know.
    fn end_thought(&mut self, output: &mut Output) -> Result<()> {
        let thought = std::mem::take(&mut self.thought);
        if thought.trim().is_empty() {
            return Ok(());
        }
        if !self.verbose {
            let line = truncate(&format!("∴ {}", one_line(&thought)), self.width.saturating_sub(1));
            return self.beside(&[(Style::Faint, &line)], output);
        }
        for line in thought.trim().lines() {
            self.beside(&[(Style::Faint, &format!("∴ {line}"))], output)?;
        }
        Ok(())
    }

    fn tool_result(&mut self, call_id: &str, said: &str, is_error: bool, output: &mut Output) -> Result<()> {
        let found = self.running.iter().position(|running| running.call_id == call_id);
        let label = match found {
            Some(at) => self.running.remove(at).label,
            // It was made before anybody watched.
            None => "tool".to_owned(),
        };
        let came = outcome(said, is_error);
        if is_error {
            let to = self.make_way(output)?;
            let room = output.width().map(|width| width.saturating_sub(MARK_COLUMNS));
            let lines = wrap(&format!("{label}: {came}"), room);
            for (at, line) in lines.iter().enumerate() {
                let mark = if at == 0 { "✗ " } else { "  " };
                output.pieces(to, &[(Style::Bad, mark), (Style::Gone, line)])?;
            }
        } else {
            self.beside(&[(Style::Good, "✓ "), (Style::Faint, &format!("{label} ({came})"))], output)?;
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
            if !std::mem::replace(&mut self.told_rehearsal, true) {
                self.faint(REHEARSAL, output)?;
            }
            return Ok(());
        }
        // In a longer talk it is of interest where it changes.
        let is_told = self.told_model.as_ref() == Some(&model) || !(self.is_chat || self.verbose);
        if !is_told {
            let line = format!("{model} ({})", why(reason));
            self.beside(&[(Style::Faint, &line)], output)?;
        }
        self.told_model = Some(model);
        Ok(())
    }

    fn discarded(&mut self, turns: &[Uuid], output: &mut Output) -> Result<()> {
        self.held.retain(|(id, _)| !turns.contains(id));
        self.said.clear();
        self.running.clear();
        if self.markdown.is_none() && !self.is_chat {
            return Ok(());
        }
        self.beside(&[(Style::Faint, "— that answer broke off; trying again —")], output)
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
        self.beside(&[(Style::Faint, &line)], output)
    }

    /// Prints what is certain by now.
    fn release(&mut self, output: &mut Output) -> Result<()> {
        for (_, text) in std::mem::take(&mut self.held) {
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
        self.make_way(output)?;
        match &self.markdown {
            Some(_) => {
                output.blank()?;
                output.styled_text(&Markdown::whole(output.has_color(), output.width(), plan.trim()))
            }
            None => self.print(plan.trim_end(), output),
        }
    }

    fn error(&mut self, code: ErrorCode, message: &str, output: &mut Output) -> Result<()> {
        // The run goes on after a warning; anything else is why it failed, and whoever asked once is
        // told of that at the very end.
        if code.is_warning() {
            return self.beside(&[(Style::Doubtful, "warning: "), (Style::Plain, message)], output);
        }
        if self.is_chat {
            let message = with_advice(code, message);
            return self.beside(&[(Style::Bad, "error: "), (Style::Plain, &message)], output);
        }
        Ok(())
    }

    fn done(&mut self, end: End, output: &mut Output) -> Result<()> {
        // What was said before it was stopped counts.
        let said = std::mem::take(&mut self.said);
        if self.markdown.is_none() && !said.trim().is_empty() {
            self.held.push((Uuid::nil(), said.trim_end().to_owned()));
        }
        self.release(output)?;
        self.running.clear();
        self.make_way(output)?;
        let is_told_later = !self.is_chat && matches!(end, End::Failed | End::Refusal);
        match end_in_words(end) {
            Some(words) if !is_told_later => {
                self.beside(&[(Style::Doubtful, &format!("— {words} —"))], output)
            }
            _ => Ok(()),
        }
    }

    /// Shows what is running, until something else is to be shown.
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
        self.make_way(output)?;
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
        match self.beside {
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
        SelectionReason::Requested => "as you asked",
        SelectionReason::Plan => "the persona's choice for plans",
        SelectionReason::Preferred => "the persona's choice",
        SelectionReason::Default => "the first that is set up",
        SelectionReason::Escalated => "the next choice",
        SelectionReason::Cooldown => "it answered when another did not",
        SelectionReason::Rehearsal => "a rehearsal",
    }
}
