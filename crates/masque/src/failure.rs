//! The failure of a command: its message and its exit code.

use std::io;
use std::path::Path;

use app::{AsReport as _, Code, ErrorKind, Remedy, Report, Subject};

use crate::signals::Signal;
use crate::wording;

mod command_error;
mod usage;
mod words;

pub(crate) use command_error::CommandError;
pub(crate) use usage::usage;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

#[derive(Debug)]
pub(crate) enum Failure {
    /// An error as data; a person reads it as a sentence.
    Reported(Box<Report>),
    /// A run stopped before its end. The reason is already printed.
    Unfinished,
    /// The answer was stopped with Ctrl-C, or by another process.
    Interrupted,
    /// The process was asked to end.
    Stopped(Signal),
    /// The answer itself says what is wrong, as that of `doctor` does.
    Answered,
    /// The reader of our output has stopped, as `head` does, so there is no message.
    OutputClosed,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Report::new(code, message).into()
    }

    /// The message, if there is one.
    pub(crate) fn sentence(&self) -> Option<String> {
        match self {
            Self::Reported(report) => Some(report.sentence(wording::remedy)),
            _ => None,
        }
    }

    /// True if the user cancelled or declined a question, which is not an error to them.
    pub(crate) fn is_users_choice(&self) -> bool {
        matches!(self, Self::Reported(report) if matches!(report.code, Code::Cancelled | Code::Declined))
    }

    /// A file that cannot be used: `doing` names what was tried, as in "read".
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::NotFound => Code::FileNotFound,
            io::ErrorKind::AlreadyExists => Code::FileExists,
            io::ErrorKind::IsADirectory => Code::NotAFile,
            _ => Code::of_io(error),
        };
        let shown = path.display().to_string();
        let report = Report::new(code, format!("cannot {doing} {shown}: {error}"));
        let report = report.about(Subject::file(shown));
        match code {
            Code::FileFull => report.with_remedy(Remedy::MakeRoom).into(),
            _ => report.into(),
        }
    }

    pub(crate) fn output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::OutputClosed;
        }
        CommandError::Output(error).into()
    }

    /// A value that cannot be written as JSON, which is a bug.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        CommandError::Internal(format!("cannot write JSON: {error}")).into()
    }

    /// The code that the process ends with; the help of the root command lists them.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Answered => 1,
            Self::Unfinished => 7,
            Self::Interrupted => Signal::Interrupt.exit_code(),
            Self::Stopped(signal) => signal.exit_code(),
            Self::Reported(report) => match report.kind {
                ErrorKind::Broken => 1,
                ErrorKind::Invalid => 2,
                ErrorKind::Missing => 3,
                ErrorKind::Conflict => 4,
                ErrorKind::Denied => 5,
                ErrorKind::Busy => 6,
            },
        }
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Self::Reported(Box::new(report))
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        error.report().into()
    }
}

impl From<persona::NameError> for Failure {
    fn from(error: persona::NameError) -> Self {
        error.report().into()
    }
}

impl From<app::Error> for Failure {
    fn from(error: app::Error) -> Self {
        error.report().into()
    }
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Self {
        error.report().into()
    }
}

impl From<files::Error> for Failure {
    fn from(error: files::Error) -> Self {
        error.report().into()
    }
}
