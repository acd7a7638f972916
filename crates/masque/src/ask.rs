//! Prompts on a terminal. They go to standard error, so the command's output can be piped.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use inquire::validator::Validation;
use inquire::{Confirm, InquireError, Select, Text};
use persona::Name;

use crate::failure::{CommandError, Failure, Result};
use crate::output::{Output, clean, one_line, truncate};
use crate::terminal;

/// Maximum columns of a choice.
const OPTION_COLUMNS: usize = 76;
/// Clears the terminal from the start of the current line.
const CLEAR_BELOW: &str = "\r\x1b[J";

/// True if a user can answer prompts: on a terminal, without `--json`.
pub(crate) fn can_ask(output: &Output) -> bool {
    !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A choice with its label.
#[derive(Debug, Clone)]
pub(crate) struct Choice<T> {
    label: String,
    pub(crate) value: T,
}

impl<T> Choice<T> {
    pub(crate) fn new(label: &str, value: T) -> Self {
        Self { label: truncate(&one_line(label), OPTION_COLUMNS), value }
    }
}

impl<T> fmt::Display for Choice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

pub(crate) async fn confirm(question: &str, output: &mut Output) -> Result<bool> {
    let question = clean(question).into_owned();
    prompt(output, move || Confirm::new(&question).with_default(false).prompt()).await
}

/// Lets the user choose one of at least one choices. Enter alone takes `start`.
pub(crate) async fn choose<T: Send + 'static>(
    question: &str,
    choices: Vec<Choice<T>>,
    start: usize,
    output: &mut Output,
) -> Result<T> {
    let question = clean(question).into_owned();
    let start = start.min(choices.len().saturating_sub(1));
    let ask = move || Select::new(&question, choices).with_starting_cursor(start).prompt();
    Ok(prompt(output, ask).await?.value)
}

/// Asks for a line of text. None if it is empty.
pub(crate) async fn text(question: &str, help: &'static str, output: &mut Output) -> Result<Option<String>> {
    let question = clean(question).into_owned();
    let ask = move || Text::new(&question).with_help_message(help).prompt();
    let answer = prompt(output, ask).await?;
    Ok(Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty()))
}

/// Asks until `check` accepts the line. None if the user cancels.
pub(crate) async fn until_valid<T: Send + 'static>(
    question: &'static str,
    help: &'static str,
    check: fn(&str) -> std::result::Result<T, String>,
    output: &mut Output,
) -> Result<Option<T>> {
    let ask = move || {
        // Input typed before the prompt appeared is no answer to it.
        terminal::discard_input();
        loop {
            let answer = Text::new(question).with_help_message(help).prompt()?;
            match check(&answer) {
                Ok(answer) => return Ok(answer),
                // The next prompt starts empty, without the rejected answer.
                Err(message) => {
                    let _ = writeln!(io::stderr(), "{}", clean(&message));
                }
            }
        }
    };
    match run_prompt(output, ask).await? {
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(None),
        answer => answer.map(Some).map_err(prompt_error),
    }
}

/// Asks for a name. Invalid names are rejected while typing.
pub(crate) async fn name(question: &'static str, output: &mut Output) -> Result<Name> {
    let check = |answer: &str| match answer.trim().parse::<Name>() {
        Ok(_) => Ok(Validation::Valid),
        Err(error) => Ok(Validation::Invalid(error.to_string().into())),
    };
    let ask = move || Text::new(question).with_validator(check).prompt();
    let answer = prompt(output, ask).await?;
    Ok(answer.trim().parse()?)
}

async fn prompt<T: Send + 'static>(
    output: &mut Output,
    ask: impl FnOnce() -> std::result::Result<T, InquireError> + Send + 'static,
) -> Result<T> {
    run_prompt(output, ask).await?.map_err(prompt_error)
}

/// Runs a prompt on its own thread, so the library's connections keep working.
async fn run_prompt<T: Send + 'static>(
    output: &mut Output,
    ask: impl FnOnce() -> std::result::Result<T, InquireError> + Send + 'static,
) -> Result<std::result::Result<T, InquireError>> {
    output.flush()?;
    terminal::save();
    match tokio::task::spawn_blocking(ask).await {
        Ok(answer) => {
            if matches!(answer, Err(InquireError::OperationInterrupted)) {
                // The lines below the prompt are still there and would mix with the next output.
                let _ = write!(io::stderr(), "{CLEAR_BELOW}");
            }
            Ok(answer)
        }
        Err(error) => Err(CommandError::Terminal(error.to_string()).into()),
    }
}

/// Esc cancels the prompt; Ctrl-C ends the command.
fn prompt_error(error: InquireError) -> Failure {
    match error {
        InquireError::OperationCanceled => CommandError::Cancelled.into(),
        InquireError::OperationInterrupted => {
            let _ = writeln!(io::stderr(), "{}", CommandError::Cancelled);
            Failure::Interrupted
        }
        error => CommandError::Terminal(error.to_string()).into(),
    }
}
