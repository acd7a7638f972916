//! Messages of the user: typed on a terminal, or lines of standard input.

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
use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;
use crate::terminal;

/// Maximum number of messages in the history.
const HISTORY_ENTRIES: usize = 1_000;
/// Longer messages are left out of the history.
const HISTORY_BYTES: usize = 16 * 1024;

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Message(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of standard input.
    End,
}

pub(super) enum Source {
    /// None while a line is read.
    Terminal(Option<Box<LineEditor>>),
    Lines,
}

pub(super) struct LineEditor {
    editor: Editor<EditorHelper, FileHistory>,
    history: Option<PathBuf>,
}

impl Source {
    pub(super) fn terminal(history: Option<PathBuf>, output: &Output) -> Result<Self> {
        terminal::save();
        let color = if output.has_color() { ColorMode::Enabled } else { ColorMode::Disabled };
        let config = Config::builder()
            .max_history_size(HISTORY_ENTRIES)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(|error| cannot_read(&error))?;
        let config = config.history_ignore_space(true).color_mode(color).build();
        let mut editor = Editor::with_config(config).map_err(|error| cannot_read(&error))?;
        editor.set_helper(Some(EditorHelper));
        if let Some(path) = &history {
            // A missing history is fine.
            let _ = editor.load_history(path);
        }
        Ok(Self::Terminal(Some(Box::new(LineEditor { editor, history }))))
    }

    /// Reads the next input on its own thread, so that other tasks keep running.
    pub(super) async fn next(&mut self, prompt: (String, String)) -> Result<Input> {
        match self {
            Self::Lines => tokio::select! {
                line = tokio::task::spawn_blocking(line) => match line {
                    Ok(line) => line,
                    Err(error) => Err(CommandError::Input(io::Error::other(error)).into()),
                },
                _ = tokio::signal::ctrl_c() => Ok(Input::End),
            },
            Self::Terminal(slot) => {
                let Some(mut editor) = slot.take() else { return Ok(Input::End) };
                let read = tokio::task::spawn_blocking(move || {
                    let input = editor.read(&prompt);
                    (editor, input)
                });
                let (editor, input) =
                    read.await.map_err(|error| CommandError::Terminal(error.to_string()))?;
                *slot = Some(editor);
                input
            }
        }
    }
}

impl LineEditor {
    fn read(&mut self, prompt: &(String, String)) -> Result<Input> {
        match self.editor.readline(prompt) {
            Ok(text) => {
                self.keep(&text);
                // A backslash at the end of a line continues the message.
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
        // A failed write does not stop the chat.
        let added = self.editor.add_history_entry(text);
        if let (Ok(true), Some(path)) = (added, &self.history)
            && let Err(error) = self.editor.append_history(path)
        {
            tracing::warn!(path = %path.display(), %error, "cannot save the chat history");
        }
    }
}

fn cannot_read(error: &ReadlineError) -> Failure {
    CommandError::Terminal(error.to_string()).into()
}

/// Reads a line of standard input. Skips empty lines.
fn line() -> Result<Input> {
    let most = limits::MESSAGE_BYTES;
    loop {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(most as u64 + 1);
        stdin.read_until(b'\n', &mut bytes).map_err(CommandError::Input)?;
        if bytes.is_empty() {
            return Ok(Input::End);
        }
        if bytes.len() > most {
            let most_mib = most / (1024 * 1024);
            return Err(CommandError::MessageTooLong { what: "the line is", most_mib }.into());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = Some(error.utf8_error().valid_up_to());
            CommandError::NotText { what: "standard input".to_owned(), at, remedy: None }
        })?;
        if !text.trim().is_empty() {
            return Ok(Input::Message(text.trim().to_owned()));
        }
    }
}

/// Continuation lines and completion of slash commands.
struct EditorHelper;

impl Validator for EditorHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for EditorHelper {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let prefix = line.get(..at).unwrap_or_default();
        let candidates = slash::WORDS.iter().map(|(word, ..)| format!("/{word}"));
        let candidates = candidates.filter(|word| prefix.starts_with('/') && word.starts_with(prefix));
        Ok((0, candidates.collect()))
    }
}

impl Hinter for EditorHelper {
    type Hint = String;
}

impl Highlighter for EditorHelper {}
impl Helper for EditorHelper {}
