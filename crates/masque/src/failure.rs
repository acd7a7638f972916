//! A command that did not succeed: what a person is told, and the exit code.

use std::io;
use std::path::Path;

use app::ErrorKind;
use persona::{Kind, PartType};

use crate::signals::Signal;

/// How messages that speak of parameters are to speak of flags and commands.
const FLAGS: &[(&str, &str)] = &[
    ("repeat with force", "repeat with --force"),
    ("repeat with replace", "repeat with --replace"),
    ("repeat with with_pieces", "repeat with --with-pieces"),
    ("repeat without with_pieces", "repeat without --with-pieces"),
    ("repeat without if_revision", "repeat without --if-revision"),
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
        Self::told(error.kind(), in_commands(error.to_string()))
    }
}

/// A message as the command line tells it: a parameter everywhere else is a flag here, and a list is a
/// command.
fn in_commands(message: String) -> String {
    let mut message = FLAGS.iter().fold(message, |message, (said, flag)| message.replace(said, flag));
    if !message.contains("to see what there is") {
        return message;
    }
    for kind in Kind::ALL {
        let command = match kind {
            Kind::Persona => "masque list".to_owned(),
            kind => format!("masque list {}", kind.table().replace('_', "-")),
        };
        let listing = |what: &str| format!("list the {}s{what} to see what there is", kind.spoken());
        message = message.replace(&listing(""), &format!("`{command}` shows what there is"));
        if *kind == Kind::Part {
            for word in PartType::ALL {
                let of_type = format!("`{command} --type {word}` shows what there is");
                message = message.replace(&listing(&format!(" of type {word}")), &of_type);
            }
        }
    }
    message
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Self {
        Self::told(error.kind(), error.to_string())
    }
}

impl From<files::Error> for Failure {
    fn from(error: files::Error) -> Self {
        Self::told(error.kind(), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::in_commands;

    #[test]
    fn a_list_is_named_by_its_command() {
        for (said, told) in [
            ("list the personas to see what there is", "`masque list` shows what there is"),
            ("x; list the parts to see what there is", "x; `masque list parts` shows what there is"),
            ("list the test inputs to see what there is", "`masque list test-inputs` shows what there is"),
            ("list the arcs to see what there is", "`masque list arcs` shows what there is"),
            (
                "list the parts of type tone to see what there is",
                "`masque list parts --type tone` shows what there is",
            ),
            ("it is in use; repeat with force", "it is in use; repeat with --force"),
        ] {
            assert_eq!(in_commands(said.to_owned()), told);
        }
    }
}
