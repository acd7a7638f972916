//! Output: text for people, or one JSON value for programs.
//!
//! Text from the library is untrusted: every method escapes its control characters. Only
//! [`Output::exact`] writes raw text, and only if standard output is not a terminal.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};

use app::Report;
use clap::ValueEnum;
use serde::Serialize;

use crate::failure::{Failure, Result};

mod clean;
pub(crate) use clean::{clean, one_line};

mod layer;
pub(crate) use layer::{layer_mark, layer_style};

mod layout;
pub(crate) use layout::{truncate, width_of, wrap};

mod table;
pub(crate) use table::{Column, Table};

mod pager;
use pager::Pager;

mod progress;
pub(crate) use progress::{Counter, TransferProgress};

mod warning;
pub(crate) use warning::{Warning, WarningCode};

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    pub(crate) fn applies(self, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let refused = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
                terminal && !refused("NO_COLOR") && !dumb
            }
        }
    }
}

/// A standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    /// Keeps messages out of the output, which may be piped. Write errors are ignored.
    Error,
}

/// The style of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Title,
    Name,
    Faint,
    Good,
    Bad,
    Warning,
    /// Lines of a diff.
    Removed,
    Added,
    /// Changed words within these lines.
    RemovedWord,
    AddedWord,
    /// The layers of a persona, as in the editor.
    BaseLayer,
    OwnLayer,
    StageLayer,
    OverrideLayer,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Title => "1",
            Self::Name => "36",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Bad => "1;31",
            Self::Warning => "1;33",
            Self::Removed => "31",
            Self::Added => "32",
            Self::RemovedWord => "1;4;31",
            Self::AddedWord => "1;4;32",
            Self::BaseLayer => "34",
            Self::OwnLayer => "32",
            Self::StageLayer => "35",
            Self::OverrideLayer => "33",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Output {
    stdout: BufWriter<Stdout>,
    json: bool,
    color: bool,
    /// True if standard error is colored.
    error_color: bool,
    terminal: bool,
    width: Option<usize>,
    pager: Option<Pager>,
    /// Hints that wait for the end of the pager.
    hints: Vec<String>,
}

impl Output {
    pub(crate) fn new(json: bool, color: ColorChoice) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        Self {
            json,
            color: color.applies(terminal),
            error_color: color.applies(io::stderr().is_terminal()),
            terminal,
            width: layout::terminal_width(terminal),
            stdout: BufWriter::new(stdout),
            pager: None,
            hints: Vec::new(),
        }
    }

    /// Sends output that is longer than the screen to the user's pager, on a terminal.
    pub(crate) fn start_paging(&mut self) {
        if self.terminal && !self.json {
            self.pager = Pager::find();
        }
    }

    /// Waits until the user closes the pager.
    pub(crate) fn finish_paging(&mut self) -> Result<()> {
        let Some(pager) = self.pager.take() else { return Ok(()) };
        let finished = pager.finish().map_err(Failure::output);
        for hint in std::mem::take(&mut self.hints) {
            let _ = writeln!(io::stderr(), "{hint}");
        }
        finished
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(crate) fn has_color(&self) -> bool {
        self.color
    }

    /// Columns to fit text into. None without a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Returns escaped text, styled if colors are on.
    pub(crate) fn styled(&self, style: Style, text: impl Display) -> String {
        let text = text.to_string();
        let text = clean(&text);
        if self.color { format!("\x1b[{}m{text}\x1b[0m", style.code()) } else { text.into_owned() }
    }

    /// Writes a JSON value: pretty on a terminal, on one line elsewhere.
    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let text =
            if self.terminal { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        let text = text.map_err(|error| Failure::json(&error))?;
        self.json_text(&text)?;
        self.write("\n")
    }

    /// Writes JSON text. On a terminal, remaining control characters become JSON escapes, which
    /// change no value.
    pub(crate) fn json_text(&mut self, text: &str) -> Result<()> {
        if self.terminal { self.write(&clean::json(text)) } else { self.write(text) }
    }

    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.paragraph(0, text.as_ref())
    }

    /// Writes a line made of [`Output::styled`] pieces.
    pub(crate) fn styled_line(&mut self, text: &str) -> Result<()> {
        self.write(text)?;
        self.write("\n")
    }

    /// Writes text that is already escaped and styled, without a line break.
    pub(crate) fn styled_text(&mut self, text: &str) -> Result<()> {
        self.write(text)
    }

    /// Writes a line of styled pieces to a stream.
    pub(crate) fn pieces(&mut self, to: Stream, pieces: &[(Style, &str)]) -> Result<()> {
        let color = match to {
            Stream::Output => self.color,
            Stream::Error => self.error_color,
        };
        let mut line = String::new();
        for (style, text) in pieces {
            let text = clean(text);
            match color && *style != Style::Plain {
                true => line.push_str(&format!("\x1b[{}m{text}\x1b[0m", style.code())),
                false => line.push_str(&text),
            }
        }
        match to {
            Stream::Output => self.styled_line(&line),
            Stream::Error => {
                self.flush()?;
                let _ = writeln!(io::stderr(), "{line}");
                Ok(())
            }
        }
    }

    pub(crate) fn blank(&mut self) -> Result<()> {
        self.write("\n")
    }

    pub(crate) fn heading(&mut self, text: &str) -> Result<()> {
        let text = self.styled(Style::Title, text);
        self.styled_line(&text)
    }

    /// Writes text of any length, indented and wrapped to the width.
    pub(crate) fn paragraph(&mut self, indent: usize, text: &str) -> Result<()> {
        let text = clean(text).into_owned();
        for line in wrap(text.trim_end(), self.width.map(|width| width.saturating_sub(indent))) {
            if line.is_empty() {
                self.write("\n")?;
            } else {
                self.write(&format!("{:indent$}{line}\n", ""))?;
            }
        }
        Ok(())
    }

    /// Writes a label and its value. Further lines are aligned with the first.
    pub(crate) fn field(&mut self, label: &str, value: &str) -> Result<()> {
        const LABEL_COLUMNS: usize = 15;
        let width = self.width.map(|width| width.saturating_sub(LABEL_COLUMNS));
        let value = clean(value).into_owned();
        let mut label = self.styled(Style::Faint, format!("{label:<LABEL_COLUMNS$}"));
        for line in wrap(value.trim_end(), width) {
            self.write(&format!("{label}{line}\n"))?;
            label = " ".repeat(LABEL_COLUMNS);
        }
        Ok(())
    }

    /// Writes text unchanged, or escaped on a terminal.
    pub(crate) fn exact(&mut self, text: &str) -> Result<()> {
        if self.terminal {
            let text = clean(text).into_owned();
            return self.write(&text);
        }
        self.write(text)
    }

    /// Writes a hint to standard error. Nothing with `--json`.
    pub(crate) fn advise(&mut self, text: &str) -> Result<()> {
        self.flush()?;
        let text = clean(text).into_owned();
        match (self.json, &self.pager) {
            (true, _) => {}
            // Written now, it would mix with the pager's screen.
            (false, Some(_)) => self.hints.push(text),
            (false, None) => {
                let _ = writeln!(io::stderr(), "{text}");
            }
        }
        Ok(())
    }

    /// Writes warnings to standard error.
    pub(crate) fn warn(&mut self, warnings: &[Warning]) -> Result<()> {
        self.finish_paging()?;
        self.flush()?;
        warning::write(warnings, self.json, self.error_color);
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stdout.flush().map_err(Failure::output)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        if let Some(pager) = &mut self.pager {
            return pager.write(text.as_bytes()).map_err(Failure::output);
        }
        self.stdout.write_all(text.as_bytes()).map_err(Failure::output)
    }
}

/// Writes text to standard output, through the pager if it is longer than the screen. Needs a runtime.
pub(crate) fn page(text: &str) -> io::Result<()> {
    match Pager::find() {
        Some(mut pager) => {
            // A pager that was closed early has shown enough.
            let _ = pager.write(text.as_bytes());
            pager.finish()
        }
        None => io::stdout().write_all(text.as_bytes()),
    }
}

/// Writes warnings to standard error, before there is an [`Output`].
pub(crate) fn warn(warnings: &[Warning], json: bool) {
    warning::write(warnings, json, false);
}

/// Prints a failure to standard error, as text or JSON.
pub(crate) fn report(failure: &Failure, json: bool, color: ColorChoice) {
    let Some(message) = failure.sentence() else { return };
    // Errors of writing to standard error are ignored.
    let mut stderr = io::stderr();
    if json {
        let _ = writeln!(stderr, "{}", clean::json(&as_json(failure).to_string()));
    } else if failure.is_users_choice() {
        let _ = writeln!(stderr, "{}", clean(&message));
    } else if color.applies(stderr.is_terminal()) {
        let _ = writeln!(stderr, "\x1b[{}merror:\x1b[0m {}", Style::Bad.code(), clean(&message));
    } else {
        let _ = writeln!(stderr, "error: {}", clean(&message));
    }
}

/// A failure as data. Its message is the sentence that a person reads.
pub(crate) fn as_json(failure: &Failure) -> serde_json::Value {
    let Failure::Reported(report) = failure else { return serde_json::Value::Null };
    let message = report.sentence(crate::wording::remedy);
    serde_json::json!({ "error": Report { message, ..(**report).clone() } })
}
