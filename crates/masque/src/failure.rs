//! A command that did not succeed: what a person is told, and the exit code.

use std::io;
use std::path::Path;

use app::ErrorKind;

use crate::signals::Signal;

/// How messages that speak of parameters are to speak of flags and commands.
const FLAGS: &[(&str, &str)] = &[
    ("repeat with force", "repeat with --force"),
    ("repeat with replace", "repeat with --replace"),
    ("repeat with with_pieces", "repeat with --with-pieces"),
    ("repeat without if_revision", "repeat without --if-revision"),
    ("list the personas to see what there is", "`masque list` shows what there is"),
    ("list the sessions to see which there are", "`masque sessions` lists them"),
];

pub(crate) type Result<T> = std::result::Result<T, Failure>;

#[derive(Debug)]
pub(crate) enum Failure {
    /// A sentence for a person, which says what to do next.
    Told { kind: ErrorKind, message: String },
    /// A persona was stopped before it came to its end, as was told.
    Unfinished,
    /// The answer was stopped with Ctrl-C, or by somebody else.
    Interrupted,
    /// The process was asked to end.
    Stopped(Signal),
    /// The answer itself says what is wrong, as that of `doctor` does.
    Answered,
    /// Whoever read our output has stopped, as `head` does: there is nothing to tell.
    OutputClosed,
}

impl Failure {
    pub(crate) fn told(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Told { kind, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::told(ErrorKind::Invalid, message)
    }

    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self::told(ErrorKind::Broken, message)
    }

    /// A file that cannot be used: `doing` names what was tried, as in "read".
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ErrorKind::Missing,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
            io::ErrorKind::AlreadyExists => ErrorKind::Conflict,
            io::ErrorKind::IsADirectory => ErrorKind::Invalid,
            _ => ErrorKind::Broken,
        };
        Self::told(kind, format!("cannot {doing} {}: {error}", path.display()))
    }

    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::OutputClosed;
        }
        Self::broken(format!("cannot write the output: {error}"))
    }

    /// The code that the process ends with; the help of the root command lists them.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Answered => 1,
            Self::Unfinished => 7,
            Self::Interrupted => Signal::Interrupt.exit_code(),
            Self::Stopped(signal) => signal.exit_code(),
            Self::Told { kind, .. } => match kind {
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

impl From<app::Error> for Failure {
    fn from(error: app::Error) -> Self {
        // A parameter everywhere else, a flag here.
        let message =
            FLAGS.iter().fold(error.to_string(), |message, (said, flag)| message.replace(said, flag));
        Self::told(error.kind(), message)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::told(error.kind(), error.to_string())
    }
}
