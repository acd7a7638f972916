//! What the user says: typed on a terminal, or a line at a time from elsewhere.

use std::io::{self, BufRead as _, Read as _};
use std::path::PathBuf;

use agent::limits;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, Config, Context, Editor, Helper};

use super::slash;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::terminal;

/// Messages that are kept to be called up again.
const HISTORY_ENTRIES: usize = 1_000;
/// A longer message is not kept.
const HISTORY_BYTES: usize = 16 * 1024;

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Message(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of what was piped in.
    End,
}

pub(super) enum Source {
    /// None only while a line is read.
    Terminal(Option<Box<Typed>>),
    Lines,
}

pub(super) struct Typed {
    editor: Editor<Typing, FileHistory>,
    history: Option<PathBuf>,
}

impl Source {
    pub(super) fn terminal(history: Option<PathBuf>, output: &Output) -> Result<Self> {
        terminal::remember();
        let color = if output.has_color() { ColorMode::Enabled } else { ColorMode::Disabled };
        let config = Config::builder()
            .max_history_size(HISTORY_ENTRIES)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(|error| cannot_read(&error))?;
        let config = config.history_ignore_space(true).color_mode(color).build();
        let mut editor = Editor::with_config(config).map_err(|error| cannot_read(&error))?;
        editor.set_helper(Some(Typing));
        if let Some(path) = &history {
            // There is none at first.
            let _ = editor.load_history(path);
        }
        Ok(Self::Terminal(Some(Box::new(Typed { editor, history }))))
    }

    /// The next thing that is said. Reading waits on a thread of its own: what runs goes on.
    pub(super) async fn next(&mut self, prompt: (String, String)) -> Result<Input> {
        match self {
            Self::Lines => tokio::select! {
                line = tokio::task::spawn_blocking(line) => match line {
                    Ok(line) => line,
                    Err(error) => Err(Failure::broken(format!("cannot read standard input: {error}"))),
                },
                _ = tokio::signal::ctrl_c() => Ok(Input::End),
            },
            Self::Terminal(typed) => {
                let Some(mut taken) = typed.take() else { return Ok(Input::End) };
                let read = tokio::task::spawn_blocking(move || {
                    let said = taken.read(&prompt);
                    (taken, said)
                });
                let (taken, said) = read
                    .await
                    .map_err(|error| Failure::broken(format!("cannot read the terminal: {error}")))?;
                *typed = Some(taken);
                said
            }
        }
    }
}

impl Typed {
    fn read(&mut self, prompt: &(String, String)) -> Result<Input> {
        match self.editor.readline(prompt) {
            Ok(text) => {
                self.keep(&text);
                // A backslash at the end of a line only says that there is another.
                Ok(Input::Message(text.replace("\\\n", "\n")))
            }
            Err(ReadlineError::Interrupted) => Ok(Input::Interrupted),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(error) => Err(cannot_read(&error)),
        }
    }

    fn keep(&mut self, text: &str) {
        if text.trim().is_empty() || text.len() > HISTORY_BYTES {
            return;
        }
        // A history that cannot be written is no reason to stop talking. Only the user may read it.
        let added = self.editor.add_history_entry(text);
        if let (Ok(true), Some(path)) = (added, &self.history)
            && let Err(error) = self.editor.append_history(path)
        {
            tracing::warn!(path = %path.display(), %error, "the history of the chat is not kept");
        }
    }
}

fn cannot_read(error: &ReadlineError) -> Failure {
    Failure::broken(format!("cannot read the terminal: {error}; pipe the message in instead"))
}

/// One line of standard input; empty ones say nothing.
fn line() -> Result<Input> {
    let most = limits::MESSAGE_BYTES;
    loop {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(most as u64 + 1);
        stdin
            .read_until(b'\n', &mut bytes)
            .map_err(|error| Failure::broken(format!("cannot read standard input: {error}")))?;
        if bytes.is_empty() {
            return Ok(Input::End);
        }
        if bytes.len() > most {
            let mebibytes = most / (1024 * 1024);
            return Err(Failure::invalid(format!(
                "a line is longer than {mebibytes} MiB; put it into a file"
            )));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::invalid("standard input is not UTF-8 text; pipe text in"))?;
        if !text.trim().is_empty() {
            return Ok(Input::Message(text.trim().to_owned()));
        }
    }
}

/// How a line is typed.
struct Typing;

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Typing {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..at).unwrap_or_default();
        let candidates = slash::WORDS.iter().map(|(word, ..)| format!("/{word}"));
        let candidates = candidates.filter(|word| typed.starts_with('/') && word.starts_with(typed));
        Ok((0, candidates.collect()))
    }
}

impl Hinter for Typing {
    type Hint = String;
}

impl Highlighter for Typing {}
impl Helper for Typing {}
