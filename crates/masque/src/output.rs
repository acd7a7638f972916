//! What is printed: text for people, or one JSON value for programs.
//!
//! Text from the library is somebody else's: every method here shows its control characters
//! instead of handing them to the terminal. Only [`Output::exact`] passes text on as it is, and
//! only where no terminal reads it.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};

use app::Report;
use clap::ValueEnum;
use serde::Serialize;

use crate::failure::{Failure, Result};

mod clean;
pub(crate) use clean::{clean, one_line};

mod layout;
pub(crate) use layout::{truncate, width_of, wrap};

mod table;
pub(crate) use table::{Column, Table};

mod progress;
pub(crate) use progress::{Counter, TransferProgress};

mod warning;
pub(crate) use warning::Warning;

/// When to use colour.
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

/// Where something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    /// Beside the answer, so that the answer can be piped. Nothing can be done where it is closed.
    Error,
}

/// The few ways in which text stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Not at all.
    Plain,
    Title,
    Name,
    Faint,
    Good,
    Bad,
    /// Not wrong enough to stop for.
    Doubtful,
    /// What a comparison has no more, and what it has instead.
    Gone,
    New,
    /// The words within these that make the difference.
    GoneWord,
    NewWord,
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
            Self::Doubtful => "1;33",
            Self::Gone => "31",
            Self::New => "32",
            Self::GoneWord => "1;4;31",
            Self::NewWord => "1;4;32",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Output {
    stdout: BufWriter<Stdout>,
    json: bool,
    color: bool,
    /// Whether standard error has colour.
    error_color: bool,
    terminal: bool,
    width: Option<usize>,
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
        }
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

    /// Columns to fit text into; none where no terminal reads it.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Cleaned and, where there is colour, styled text, for one of the methods that write.
    pub(crate) fn styled(&self, style: Style, text: impl Display) -> String {
        let text = text.to_string();
        let text = clean(&text);
        if self.color { format!("\x1b[{}m{text}\x1b[0m", style.code()) } else { text.into_owned() }
    }

    /// The answer as JSON: laid out on a terminal, on one line elsewhere.
    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let text =
            if self.terminal { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        let text = text.map_err(|error| Failure::broken(format!("cannot write JSON: {error}")))?;
        self.json_text(&text)?;
        self.write("\n")
    }

    /// Text that is JSON already. JSON escapes most control characters itself; what it lets
    /// through is escaped here, in JSON's own way, which changes no value.
    pub(crate) fn json_text(&mut self, text: &str) -> Result<()> {
        if self.terminal { self.write(&clean::json(text)) } else { self.write(text) }
    }

    /// A line for people.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.paragraph(0, text.as_ref())
    }

    /// A line whose pieces came from [`Output::styled`].
    pub(crate) fn styled_line(&mut self, text: &str) -> Result<()> {
        self.write(text)?;
        self.write("\n")
    }

    /// Text that was cleaned and styled where it was made, without the end of its line.
    pub(crate) fn styled_text(&mut self, text: &str) -> Result<()> {
        self.write(text)
    }

    /// Pieces of a line, each cleaned and in its style, on standard output or standard error.
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

    /// Text of any length, indented and wrapped where there is a width to fit into.
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

    /// A label with its value; further lines of the value stand below its first.
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

    /// Text that another program may read: to the byte, except on a terminal.
    pub(crate) fn exact(&mut self, text: &str) -> Result<()> {
        if self.terminal {
            let text = clean(text).into_owned();
            return self.write(&text);
        }
        self.write(text)
    }

    /// Advice beside the answer, on standard error, so that the answer can be piped.
    pub(crate) fn advise(&mut self, text: &str) -> Result<()> {
        self.flush()?;
        if !self.json {
            let _ = writeln!(io::stderr(), "{}", clean(text));
        }
        Ok(())
    }

    /// Warnings beside the answer, on standard error, so that the answer stays whole.
    pub(crate) fn warn(&mut self, warnings: &[Warning]) -> Result<()> {
        self.flush()?;
        warning::write(warnings, self.json, self.error_color);
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stdout.flush().map_err(|error| Failure::output(&error))
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.stdout.write_all(text.as_bytes()).map_err(|error| Failure::output(&error))
    }
}

/// Warnings where no answer is being written yet.
pub(crate) fn warn(warnings: &[Warning], json: bool) {
    warning::write(warnings, json, false);
}

/// Tells a person, or a program that asked for JSON, what went wrong.
pub(crate) fn report(failure: &Failure, json: bool, color: ColorChoice) {
    let Failure::Told(report) = failure else { return };
    let message = report.sentence(crate::wording::remedy);
    // Nothing can be done about a standard error that is closed.
    let mut stderr = io::stderr();
    if json {
        // The message is the sentence that a person reads; everything else is data.
        let value = serde_json::json!({ "error": Report { message, ..(**report).clone() } });
        let _ = writeln!(stderr, "{}", clean::json(&value.to_string()));
    } else if color.applies(stderr.is_terminal()) {
        let _ = writeln!(stderr, "\x1b[{}merror:\x1b[0m {}", Style::Bad.code(), clean(&message));
    } else {
        let _ = writeln!(stderr, "error: {}", clean(&message));
    }
}
