//! Shows an answer as it arrives, asks for approvals, and interrupts it.

use agent::{End, ErrorCode, Turn};
use app::running::Reported;
use app::{Code, Remedy, Report};

use crate::failure::{CommandError, Failure, Result};
use crate::output::Output;

mod call;
pub(super) use call::{label, outcome};

mod markdown;
pub(super) use markdown::Markdown;

mod permission;
pub(super) use permission::described;

mod printer;
pub(super) use printer::AnswerPrinter;

mod json_lines;
pub(super) use json_lines::{print_greeting, print_session_line};

mod pending;
pub(super) use pending::{ApprovalRequest, pending};

mod send_error;
pub(super) use send_error::send_failure;

mod watch;
pub(super) use watch::{Approver, Watch, stop};

/// The receiver of a session's events.
pub(super) enum Viewer {
    Person(Box<AnswerPrinter>),
    /// Each event is a line of JSON.
    Program,
}

impl Viewer {
    /// The viewer of a single answer: a person, or a program with `--json`.
    pub(super) fn of_one_answer(verbose: bool, output: &Output) -> Self {
        match output.is_json() {
            true => Self::Program,
            false => Self::Person(Box::new(AnswerPrinter::new(false, verbose, output))),
        }
    }

    /// Learns about earlier calls.
    pub(super) fn recall(&mut self, turns: &[Turn]) {
        if let Self::Person(printer) = self {
            printer.recall(turns);
        }
    }

    fn event(&mut self, reported: &Reported, output: &mut Output) -> Result<()> {
        match self {
            Self::Person(printer) => printer.event(&reported.event, output),
            Self::Program => json_lines::print_event(reported, output),
        }
    }

    /// Ends the open line in the middle of an answer.
    fn leave(&mut self, output: &mut Output) -> Result<()> {
        if let Self::Person(printer) = self {
            printer.end_line(output)?;
        }
        Ok(())
    }
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) end: End,
    /// Why it failed.
    pub(super) error: Option<(ErrorCode, String)>,
    /// The plan that was handed over.
    pub(super) plan: Option<String>,
    /// Calls that were refused because there was no one to approve them.
    pub(super) refused: Vec<RefusedCall>,
}

/// A call that was refused because there was no one to approve it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefusedCall {
    pub(super) label: String,
    /// True if no flag allows it: the user is always asked about its file.
    pub(super) always_asks: bool,
}

impl Outcome {
    /// The failure that the process exits with. None if the answer is complete.
    pub(super) fn failure(&self) -> Option<Failure> {
        match self.end {
            End::EndTurn => None,
            End::Cancelled => Some(Failure::Interrupted),
            End::MaxTokens | End::MaxToolRounds | End::LoopDetected => Some(Failure::Unfinished),
            End::Refusal => Some(Failure::new(Code::ModelRefused, "the model refused to answer")),
            End::Failed => Some(match &self.error {
                Some((code, message)) => failed_run(*code, message).into(),
                None => CommandError::NoAnswer.into(),
            }),
        }
    }
}

/// A run that failed, with what may help.
pub(super) fn failed_run(code: ErrorCode, message: &str) -> Report {
    let report = Report::new(end_code(code), message.trim_end_matches('.'));
    remedies(code).into_iter().fold(report, Report::with_remedy)
}

/// The code of a run that failed.
fn end_code(code: ErrorCode) -> Code {
    match code {
        ErrorCode::RateLimited => Code::RateLimited,
        ErrorCode::Unauthorized => Code::Unauthorized,
        ErrorCode::UnknownModel => Code::UnknownModel,
        ErrorCode::UnknownProvider => Code::NotSetUp,
        ErrorCode::UnknownPersona => Code::NotFound,
        ErrorCode::Transport
        | ErrorCode::ContextExceeded
        | ErrorCode::Rejected
        | ErrorCode::Persona
        | ErrorCode::Storage
        | ErrorCode::Tools
        | ErrorCode::Interrupted => Code::ModelFailed,
    }
}

/// Advice after a failed run.
fn remedies(code: ErrorCode) -> Vec<Remedy> {
    let run = |command: &str| Remedy::Run { command: command.to_owned() };
    let other_model = || Remedy::UseField { field: "--model".to_owned() };
    match code {
        ErrorCode::Unauthorized | ErrorCode::Transport => vec![run("masque doctor")],
        ErrorCode::UnknownModel | ErrorCode::UnknownProvider => vec![run("masque models")],
        ErrorCode::RateLimited => vec![Remedy::TryLater, other_model()],
        ErrorCode::ContextExceeded => vec![Remedy::NewSession, other_model()],
        ErrorCode::Rejected
        | ErrorCode::Persona
        | ErrorCode::Storage
        | ErrorCode::Tools
        | ErrorCode::UnknownPersona
        | ErrorCode::Interrupted => Vec::new(),
    }
}

/// The text for an early end.
pub(super) fn end_text(end: End) -> Option<&'static str> {
    match end {
        End::EndTurn => None,
        End::MaxTokens => Some("the answer reached the token limit (max_tokens)"),
        End::Refusal => Some("the model refused to answer (refusal)"),
        End::Cancelled => Some("stopped (cancelled)"),
        End::MaxToolRounds => Some("stopped: reached the tool round limit (max_tool_rounds)"),
        End::LoopDetected => Some("stopped: it repeated the same tool calls (loop_detected)"),
        End::Failed => Some("no answer (failed)"),
    }
}

/// The text of an error after which the chat continues.
pub(super) fn error_text(error: impl Into<Failure>) -> String {
    let failure = error.into();
    failure.sentence().unwrap_or_else(|| format!("{failure:?}"))
}
