//! Questions to somebody at a terminal. They stand on standard error, so that the answer of the
//! command can be piped.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use inquire::validator::Validation;
use inquire::{Confirm, InquireError, Select, Text};
use persona::Name;

use crate::failure::{Failure, Result};
use crate::output::{Output, clean, one_line, truncate};
use crate::terminal;

/// Columns of an option in a list of choices.
const OPTION_COLUMNS: usize = 76;
/// Clears a terminal from the beginning of the cursor's line on.
const CLEAR_BELOW: &str = "\r\x1b[J";

/// Whether somebody is there who can answer; a program that asked for JSON is not.
pub(crate) fn can_ask(output: &Output) -> bool {
    !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// One of the things that can be chosen, with the words that it is offered in.
#[derive(Debug, Clone)]
pub(crate) struct Choice<T> {
    words: String,
    pub(crate) value: T,
}

impl<T> Choice<T> {
    pub(crate) fn new(words: &str, value: T) -> Self {
        Self { words: truncate(&one_line(words), OPTION_COLUMNS), value }
    }
}

impl<T> fmt::Display for Choice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

pub(crate) async fn confirm(question: &str, output: &mut Output) -> Result<bool> {
    let question = clean(question).into_owned();
    wait_for(output, move || Confirm::new(&question).with_default(false).prompt()).await
}

/// One of several; there must be at least one. `start` is the one that Enter alone takes.
pub(crate) async fn choose<T: Send + 'static>(
    question: &str,
    choices: Vec<Choice<T>>,
    start: usize,
    output: &mut Output,
) -> Result<T> {
    let question = clean(question).into_owned();
    let start = start.min(choices.len().saturating_sub(1));
    let ask = move || Select::new(&question, choices).with_starting_cursor(start).prompt();
    Ok(wait_for(output, ask).await?.value)
}

/// A line of text; empty where there is nothing to say.
pub(crate) async fn text(question: &str, help: &'static str, output: &mut Output) -> Result<Option<String>> {
    let question = clean(question).into_owned();
    let ask = move || Text::new(&question).with_help_message(help).prompt();
    let answer = wait_for(output, ask).await?;
    Ok(Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty()))
}

/// A line that `check` accepts, with what it made of it; none where the question was broken off.
pub(crate) async fn parsed<T: Send + 'static>(
    question: &'static str,
    help: &'static str,
    check: fn(&str) -> std::result::Result<T, String>,
    output: &mut Output,
) -> Result<Option<T>> {
    let ask = move || {
        // What was typed before the question stood there is no answer to it.
        terminal::forget_typed();
        loop {
            let answer = Text::new(question).with_help_message(help).prompt()?;
            match check(&answer) {
                Ok(answer) => return Ok(answer),
                // Asked again with an empty line: what was wrong must not begin the next answer.
                Err(message) => {
                    let _ = writeln!(io::stderr(), "{}", clean(&message));
                }
            }
        }
    };
    match answered(output, ask).await? {
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(None),
        answer => answer.map(Some).map_err(unanswered),
    }
}

/// A name; what is none is refused while it is typed.
pub(crate) async fn name(question: &'static str, output: &mut Output) -> Result<Name> {
    let check = |answer: &str| match answer.trim().parse::<Name>() {
        Ok(_) => Ok(Validation::Valid),
        Err(error) => Ok(Validation::Invalid(error.to_string().into())),
    };
    let ask = move || Text::new(question).with_validator(check).prompt();
    let answer = wait_for(output, ask).await?;
    answer.trim().parse().map_err(|error: persona::NameError| Failure::invalid(error.to_string()))
}

async fn wait_for<T: Send + 'static>(
    output: &mut Output,
    ask: impl FnOnce() -> std::result::Result<T, InquireError> + Send + 'static,
) -> Result<T> {
    answered(output, ask).await?.map_err(unanswered)
}

/// Waits on a thread of its own: the connections of the library go on meanwhile.
async fn answered<T: Send + 'static>(
    output: &mut Output,
    ask: impl FnOnce() -> std::result::Result<T, InquireError> + Send + 'static,
) -> Result<std::result::Result<T, InquireError>> {
    output.flush()?;
    terminal::remember();
    match tokio::task::spawn_blocking(ask).await {
        Ok(answer) => {
            if matches!(answer, Err(InquireError::OperationInterrupted)) {
                // What stood below the question is still there, and what comes next would be
                // written into it.
                let _ = write!(io::stderr(), "{CLEAR_BELOW}");
            }
            Ok(answer)
        }
        Err(error) => Err(Failure::broken(format!("the question could not be asked: {error}"))),
    }
}

/// Esc takes a question back; Ctrl-C ends the command, as it ends others.
fn unanswered(error: InquireError) -> Failure {
    const STOPPED: &str = "stopped; nothing was changed";
    match error {
        InquireError::OperationCanceled => Failure::broken(STOPPED),
        InquireError::OperationInterrupted => {
            // Questions stand on standard error, and so does this.
            let _ = writeln!(io::stderr(), "{STOPPED}");
            Failure::Interrupted
        }
        error => Failure::broken(format!("the question could not be asked: {error}")),
    }
}
