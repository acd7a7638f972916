//! Prompts on a terminal. They go to standard error, so the command's output can be piped.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use inquire::validator::Validation;
use inquire::{Confirm, InquireError, Select, Text};
use persona::Name;

use crate::failure::{CommandError, Failure, Result};
use crate::output::{Output, clean, one_line, truncate};
use crate::terminal;

/// Columns of a choice, if the terminal does not tell its own.
const COLUMNS: usize = 80;
/// Columns that a prompt takes beside a choice.
const BESIDE_CHOICE: usize = 4;
/// More choices than any question has.
const MOST_CHOICES: usize = 1 << 20;
/// Clears the terminal from the start of the current line.
const CLEAR_BELOW: &str = "\r\x1b[J";

/// True if a user can answer prompts: on a terminal, without `--json`.
pub(crate) fn can_ask(output: &Output) -> bool {
    !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A choice: its name, which the user types or sees after choosing, and a text about it.
#[derive(Debug, Clone)]
pub(crate) struct Choice<T> {
    key: String,
    about: String,
    /// The line of the list, once the width of the terminal is known.
    label: String,
    pub(crate) value: T,
}

impl<T> Choice<T> {
    pub(crate) fn new(key: impl fmt::Display, about: &str, value: T) -> Self {
        Self { key: one_line(&key.to_string()), about: one_line(about), label: String::new(), value }
    }

    fn with_label(mut self, columns: usize) -> Self {
        let label =
            if self.about.is_empty() { self.key.clone() } else { format!("{}: {}", self.key, self.about) };
        self.label = truncate(&label, columns);
        self
    }

    /// How well a choice matches typed text: by the beginning of its name, within its name, within the
    /// text about it. Equal choices keep their order.
    fn score(&self, typed: &str, place: usize) -> Option<i64> {
        let typed = typed.trim().to_lowercase();
        let (key, about) = (self.key.to_lowercase(), self.about.to_lowercase());
        let rank = match () {
            () if key.starts_with(&typed) => 0,
            () if key.contains(&typed) => 1,
            () if about.contains(&typed) => 2,
            () => return None,
        };
        // The highest score comes first.
        Some(-i64::try_from(rank * MOST_CHOICES + place.min(MOST_CHOICES - 1)).unwrap_or(i64::MAX))
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

/// Lets the user choose one of at least one choices. Enter alone takes `start`; typing narrows the list.
pub(crate) async fn choose<T: Send + 'static>(
    question: &str,
    choices: Vec<Choice<T>>,
    start: usize,
    output: &mut Output,
) -> Result<T> {
    let question = clean(question).into_owned();
    let start = start.min(choices.len().saturating_sub(1));
    let columns = terminal_size::terminal_size_of(io::stderr()).map_or(COLUMNS, |(width, _)| width.0.into());
    let columns = columns.saturating_sub(BESIDE_CHOICE).max(1);
    let choices: Vec<Choice<T>> = choices.into_iter().map(|choice| choice.with_label(columns)).collect();
    let ask = move || {
        let score = |typed: &str, choice: &Choice<T>, _: &str, place: usize| choice.score(typed, place);
        Select::new(&question, choices)
            .with_starting_cursor(start)
            .with_scorer(&score)
            .with_formatter(&|chosen| chosen.value.key.clone())
            .prompt()
    };
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
        // Input typed before the prompt appeared is not an answer to it.
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

#[cfg(test)]
mod tests {
    use super::Choice;

    /// The keys that remain after typing, best first.
    fn check(typed: &str, expected: &str) {
        let choices = [
            ("doc_writer", "You write documentation."),
            ("comment_bot", "You comment."),
            ("Mentor", "You teach."),
            ("tormentor", ""),
        ];
        let choices = choices.map(|(key, about)| Choice::new(key, about, ()));
        let scored = choices.iter().enumerate().filter_map(|(at, it)| Some((it.score(typed, at)?, &it.key)));
        let mut scored: Vec<_> = scored.collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let keys: Vec<&str> = scored.iter().map(|(_, key)| key.as_str()).collect();
        assert_eq!(keys.join(" "), expected, "{typed:?}");
    }

    #[test]
    fn names_match_before_texts() {
        check("", "doc_writer comment_bot Mentor tormentor");
        check("ment", "Mentor comment_bot tormentor doc_writer");
        check("MENT", "Mentor comment_bot tormentor doc_writer");
        check("or", "Mentor tormentor");
        check("teach", "Mentor");
        check("nobody", "");
    }

    #[test]
    fn a_label_fits_the_terminal() {
        let label =
            |columns| Choice::new("mentor", "You teach\nby questions.", ()).with_label(columns).to_string();
        assert_eq!(label(80), "mentor: You teach by questions.");
        assert_eq!(label(13), "mentor: You…");
        assert_eq!(Choice::new("none", "", ()).with_label(80).to_string(), "none");
    }
}
