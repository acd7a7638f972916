//! The failures of the command line itself, each with its code, its subject and its remedies.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use app::{AsReport, Code, Remedy, Subject};
use persona::{Kind, Name, Scope};
use uuid::Uuid;

use crate::failure::words::{joined, listed};

/// A failure of the command line itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("missing argument {argument}")]
    MissingArgument { argument: &'static str, example: String },
    #[error("unexpected argument after {after:?}")]
    UnexpectedArgument { after: String },
    #[error("lint checks a whole project, not {path} alone")]
    LintPath { path: String, command: String },
    #[error("{}s do not support {}", kind.spoken(), listed(flags))]
    NotForKind { flags: Vec<&'static str>, kind: Kind },
    #[error("{command} takes {} only", plurals(kinds))]
    OtherKind { command: &'static str, kind: Kind, kinds: Vec<Kind> },
    #[error("the message is more than one argument")]
    UnquotedMessage { name: String },
    #[error("{flag} names {value} twice")]
    NamedTwice { flag: &'static str, value: String },
    #[error("{} cannot be used with {flag}", listed(others))]
    Conflicting { flag: &'static str, others: Vec<&'static str> },
    #[error("invalid value {value:?} for {flag}")]
    InvalidValue { flag: &'static str, value: String, example: &'static str },
    #[error("nothing to change")]
    NothingToChange { kind: Kind },

    #[error(
        "invalid session id {text:?} (expected at least {least} hexadecimal digits of its beginning or end)"
    )]
    InvalidSessionId { text: String, least: usize },
    #[error("no session has the id {text:?}")]
    UnknownSession { text: String },
    #[error("several sessions have an id that starts or ends with {text:?}")]
    AmbiguousSession { text: String, sessions: Vec<Uuid> },
    #[error("there is no earlier session{} in this project", persona.as_ref().map(|name| format!(" with {name}")).unwrap_or_default())]
    NothingToContinue { persona: Option<Name> },
    #[error("there is no track file {path}")]
    NoTrackFile { path: String },
    #[error(
        "invalid track id {text:?} (expected at least {least} hexadecimal digits of its beginning or end)"
    )]
    InvalidTrackId { text: String, least: usize },
    #[error("no track has the id {text:?}")]
    UnknownTrack { text: String },
    #[error("several tracks have an id that starts or ends with {text:?}")]
    AmbiguousTrack { text: String, tracks: Vec<Uuid> },
    #[error("this project has no open track")]
    NoOpenTrack,
    #[error("session {id} has no plan yet")]
    NoPlan { id: Uuid },
    #[error("session {id} has no pending approvals")]
    NothingPending { id: Uuid },
    #[error("session {id} does not wait for call {call:?} (pending: {})", listed(pending))]
    UnknownApproval { id: Uuid, call: String, pending: Vec<String> },
    #[error("session {id} was asked to stop, but is still running")]
    StillRunning { id: Uuid },
    #[error("the message was not sent: session {id} is answering another one")]
    Answering { id: Uuid },
    #[error("the message was not sent: session {id} waits for permission{}", joined(" to call ", calls))]
    AwaitsPermission { id: Uuid, calls: Vec<String> },
    #[error("no persona is named {name:?} here; session {id} belongs to {project}")]
    PersonaElsewhere { name: Name, id: Uuid, project: String },

    #[error("entities of several kinds are named {name}")]
    AmbiguousKind { name: Name, kinds: Vec<Kind> },
    #[error("no piece is named {:?}", name.as_str())]
    NoPiece { name: Name, kinds: &'static [Kind] },
    #[error("{scope} does not define {} {name}", kind.spoken())]
    NotDefinedThere { scope: Scope, kind: Kind, name: Name, scopes: Vec<Scope> },
    #[error("no scope is chosen for {}", listed(fields))]
    UndecidedFields { fields: Vec<String> },
    #[error("the definitions do not differ in {field:?}")]
    FieldNotInConflict { field: String, differing: Vec<String> },

    #[error("{action} needs your confirmation")]
    NeedsConsent { action: String },
    #[error("not confirmed; nothing was changed")]
    Declined,
    #[error("cancelled; nothing was changed")]
    Cancelled,
    #[error("{command} asks questions and needs a terminal")]
    NoTerminal { command: &'static str, instead: Vec<String> },
    #[error("{command} has no JSON output")]
    NoJson { command: &'static str, instead: &'static str },
    #[error("cannot read the terminal: {0}")]
    Terminal(String),
    #[error("cannot read standard input: {0}")]
    Input(io::Error),
    #[error("cannot write the output: {0}")]
    Output(io::Error),

    #[error("{what} is not UTF-8 text{}", at.map(|at| format!(" (byte {at})")).unwrap_or_default())]
    NotText { what: String, at: Option<usize>, remedy: Option<Remedy> },
    #[error("{what} longer than {most_mib} MiB")]
    MessageTooLong { what: &'static str, most_mib: usize },
    #[error("{file} is larger than {most_mib} MiB")]
    FileTooLarge { file: String, most_mib: u64, remedy: Option<Remedy> },
    #[error("there is no message to send")]
    EmptyMessage,
    #[error("no editor is set")]
    NoEditor,
    #[error("{variable} is not a command: {value}")]
    InvalidEditor { variable: String, value: String },
    #[error("cannot start the editor {program}: {source}")]
    EditorNotStarted { program: String, source: io::Error },
    #[error("the editor {program} failed ({how}); nothing was saved")]
    EditorFailed { program: String, how: String },
    #[error("the text still has an error after {attempts} attempts; nothing was saved\n{wrong}")]
    StillWrong { attempts: usize, wrong: String },

    #[error("cannot find your home directory: {0}")]
    NoHome(String),
    #[error("the path {path} is not UTF-8")]
    InvalidPath { path: String, remedy: Remedy },
    #[error("{path} is not a directory{}", how.map(|how| format!(" ({how})")).unwrap_or_default())]
    NotADirectory { path: String, how: Option<&'static str>, exists: bool },
    #[error("there is no directory {directory} for the database {path}")]
    NoDatabaseDirectory { path: String, directory: String },
    #[error("{path} is a directory, not a database")]
    DatabaseIsDirectory { path: String },
    #[error("{path} is not a directory")]
    NoDirectory { path: String, exists: bool },
    #[error("{file} exists already; it is left as it is")]
    HasPersonas { file: String },
    #[error("the working directory no longer exists")]
    NoWorkingDirectory,
    #[error("{path} belongs to another user, so it is not taken for your project")]
    ForeignDirectory { path: String },
    #[error("{most} projects are trusted, which is the limit")]
    TooManyProjects { most: usize },
    #[error("{path} {why}, so no project is trusted")]
    UnsafeFile { path: String, why: &'static str, command: String },

    #[error("the address of {flag} has a user or a password, which a configuration file must not hold")]
    PasswordInAddress { flag: &'static str },
    #[error("{client} does not support {what}")]
    NotSupported { client: &'static str, what: &'static str, flag: &'static str },
    #[error("{file} is unchanged: {problem}")]
    NotEditable { file: String, problem: String },
    #[error("{file} is not a file")]
    NotAFile { file: String },
    #[error("another program changed {file}, so it is left as it is")]
    FileChanged { file: String },
    #[error("{file} has too many .bak copies beside it")]
    TooManyCopies { file: String },

    #[error("{address} is in use{}", by.map(|by| format!(" by {by}")).unwrap_or_default())]
    AddressInUse { address: SocketAddr, by: Option<&'static str> },
    #[error("you may not listen on port {}", address.port())]
    PortDenied { address: SocketAddr },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: String, source: io::Error },
    #[error("the server failed: {0}")]
    Server(String),
    #[error("the connection to the client broke: {0}")]
    Connection(String),
    #[error("{path}: {problem}")]
    InvalidScript { path: String, problem: String },
    #[error("{0}")]
    InvalidCassette(String),
    #[error("{0}")]
    InvalidUpstream(String),
    #[error("{0}")]
    InvalidProviders(String),
    #[error("MASQUE_LOG={value:?} is not a filter: {problem}")]
    InvalidLogFilter { value: String, problem: String },
    #[error("{path} has no token of 32 to 256 letters, digits, \"-\", \".\", \"_\" or \"~\"")]
    InvalidToken { path: String },
    #[error("no token for the server: {0}")]
    NoToken(String),
    #[error("no model answered")]
    NoAnswer,
    #[error("{0}")]
    Internal(String),
}

impl AsReport for CommandError {
    fn code(&self) -> Code {
        match self {
            Self::MissingArgument { .. } => Code::MissingField,
            Self::UnexpectedArgument { .. } | Self::UnquotedMessage { .. } | Self::LintPath { .. } => {
                Code::InvalidUsage
            }
            Self::NotForKind { .. } | Self::OtherKind { .. } => Code::NotForKind,
            Self::NamedTwice { .. } => Code::NamedTwice,
            Self::Conflicting { .. } => Code::ConflictingFields,
            Self::InvalidValue { .. } | Self::InvalidUpstream(_) | Self::PasswordInAddress { .. } => {
                Code::InvalidValue
            }
            Self::NothingToChange { .. } => Code::NothingToChange,
            Self::InvalidSessionId { .. } => Code::InvalidSessionId,
            Self::UnknownSession { .. } | Self::NothingToContinue { .. } => Code::UnknownSession,
            Self::AmbiguousSession { .. } => Code::AmbiguousSession,
            Self::NoTrackFile { .. } => Code::FileNotFound,
            Self::InvalidTrackId { .. } => Code::InvalidValue,
            Self::UnknownTrack { .. } | Self::NoOpenTrack => Code::UnknownTrack,
            Self::AmbiguousTrack { .. } => Code::AmbiguousTrack,
            Self::NoPlan { .. } => Code::NoPlan,
            Self::NothingPending { .. } => Code::NothingPending,
            Self::UnknownApproval { .. } => Code::UnknownApproval,
            Self::StillRunning { .. } => Code::StillRunning,
            Self::Answering { .. } | Self::AwaitsPermission { .. } => Code::NotSent,
            Self::PersonaElsewhere { .. } | Self::NoPiece { .. } => Code::NotFound,
            Self::AmbiguousKind { .. } => Code::AmbiguousKind,
            Self::NotDefinedThere { .. } => Code::NotDefinedThere,
            Self::UndecidedFields { .. } => Code::UndecidedFields,
            Self::FieldNotInConflict { .. } => Code::FieldNotInConflict,
            Self::NeedsConsent { .. } => Code::NeedsConsent,
            Self::Declined => Code::Declined,
            Self::Cancelled => Code::Cancelled,
            Self::NoTerminal { .. } => Code::NoTerminal,
            Self::NoJson { .. } => Code::NoJson,
            Self::Terminal(_) => Code::TerminalFailed,
            Self::Input(_) => Code::InputFailed,
            Self::Output(_) => Code::OutputFailed,
            other => other.code_of_surroundings(),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Self::MissingArgument { argument, .. } => Subject::field(*argument),
            Self::NamedTwice { flag, .. }
            | Self::InvalidValue { flag, .. }
            | Self::NotSupported { flag, .. }
            | Self::PasswordInAddress { flag }
            | Self::Conflicting { flag, .. } => Subject::field(*flag),
            Self::NotForKind { flags, kind } => Subject {
                kind: Some(*kind),
                field: flags.first().map(|flag| (*flag).to_owned()),
                ..Subject::default()
            },
            Self::NothingToChange { kind } | Self::OtherKind { kind, .. } => {
                Subject { kind: Some(*kind), ..Subject::default() }
            }
            Self::InvalidSessionId { text, .. }
            | Self::UnknownSession { text }
            | Self::AmbiguousSession { text, .. } => Subject::session(text),
            Self::InvalidTrackId { .. } => Subject::field("ID"),
            Self::UnknownTrack { text } | Self::AmbiguousTrack { text, .. } => {
                Subject { name: Some(text.clone()), ..Subject::default() }
            }
            Self::NoPlan { id }
            | Self::NothingPending { id }
            | Self::UnknownApproval { id, .. }
            | Self::StillRunning { id }
            | Self::Answering { id }
            | Self::AwaitsPermission { id, .. } => Subject::session(id),
            Self::PersonaElsewhere { name, id, .. } => {
                Subject { session: Some(id.to_string()), ..Subject::entity(Kind::Persona, name.as_str()) }
            }
            Self::AmbiguousKind { name, .. } | Self::NoPiece { name, .. } => {
                Subject { name: Some(name.to_string()), ..Subject::default() }
            }
            Self::NotDefinedThere { scope, kind, name, .. } => {
                Subject::entity(*kind, name.as_str()).in_scope(*scope)
            }
            Self::UndecidedFields { fields } => Subject::field(listed(fields)),
            Self::FieldNotInConflict { field, .. } => Subject::field(field),
            Self::NotText { what: path, .. }
            | Self::NoTrackFile { path }
            | Self::FileTooLarge { file: path, .. }
            | Self::LintPath { path, .. }
            | Self::InvalidPath { path, .. }
            | Self::NotADirectory { path, .. }
            | Self::NoDatabaseDirectory { path, .. }
            | Self::DatabaseIsDirectory { path }
            | Self::ForeignDirectory { path }
            | Self::UnsafeFile { path, .. }
            | Self::NoDirectory { path, .. }
            | Self::HasPersonas { file: path }
            | Self::NotEditable { file: path, .. }
            | Self::NotAFile { file: path }
            | Self::FileChanged { file: path }
            | Self::TooManyCopies { file: path }
            | Self::InvalidToken { path }
            | Self::InvalidScript { path, .. } => Subject::file(path),
            Self::InvalidEditor { variable, .. } => Subject::field(variable),
            Self::InvalidLogFilter { .. } => Subject::field("MASQUE_LOG"),
            _ => Subject::default(),
        }
    }

    fn candidates(&self) -> Vec<String> {
        match self {
            Self::AmbiguousTrack { tracks, .. } => tracks.iter().map(ToString::to_string).collect(),
            Self::AmbiguousSession { sessions, .. } => sessions.iter().map(ToString::to_string).collect(),
            Self::FieldNotInConflict { field, differing } => {
                let near = persona::nearest(field, differing.iter().map(String::as_str));
                near.iter().map(|field| (*field).to_owned()).collect()
            }
            Self::UnknownApproval { pending, .. } => pending.clone(),
            Self::AmbiguousKind { kinds, .. } => kinds.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        let run = |command: String| Remedy::Run { command };
        match self {
            Self::MissingArgument { example, .. } => {
                vec![Remedy::WriteAs { example: example.clone() }]
            }
            Self::InvalidValue { example, .. } => vec![Remedy::WriteAs { example: (*example).to_owned() }],
            Self::LintPath { command, .. } => vec![run(command.clone())],
            Self::NotForKind { flags, .. } => vec![Remedy::LeaveOut { fields: owned(flags) }],
            Self::Conflicting { others, .. } => vec![Remedy::LeaveOut { fields: owned(others) }],
            Self::PasswordInAddress { .. } => {
                vec![Remedy::WriteAs { example: "http://127.0.0.1:4747/mcp".to_owned() }]
            }
            Self::NotSupported { flag, .. } => vec![Remedy::LeaveOut { fields: owned(&[*flag]) }],
            Self::NothingToChange { kind } => vec![
                Remedy::WriteAs { example: format!("`masque update {kind} NAME --summary TEXT`") },
                Remedy::AddField { field: "--file".to_owned() },
            ],
            Self::InvalidSessionId { .. } | Self::UnknownSession { .. } => vec![Remedy::ListSessions],
            Self::NothingToContinue { persona } => {
                let name = persona.as_ref().map_or("NAME", Name::as_str);
                vec![run(format!("masque chat {name}")), Remedy::ListSessions]
            }
            Self::AmbiguousSession { .. } | Self::AmbiguousTrack { .. } => vec![Remedy::DidYouMean],
            Self::NoTrackFile { .. } => {
                vec![
                    run("masque conduct FILE".to_owned()),
                    run("masque conduct --draft EPIC.md --output track.toml".to_owned()),
                ]
            }
            Self::InvalidTrackId { .. } | Self::UnknownTrack { .. } | Self::NoOpenTrack => {
                vec![run("masque conduct list".to_owned())]
            }
            Self::NoPlan { .. } => vec![Remedy::AskForPlan],
            Self::NothingPending { id } | Self::StillRunning { id } => {
                vec![run(format!("masque sessions show {id}"))]
            }
            Self::Answering { id } => {
                vec![Remedy::TryLater, run(format!("masque sessions cancel {id}"))]
            }
            Self::AwaitsPermission { id, .. } => vec![
                run(format!("masque sessions resume {id}")),
                run(format!("masque sessions approve {id} --all")),
                run(format!("masque sessions cancel {id}")),
            ],
            Self::PersonaElsewhere { project, .. } => vec![run(format!("masque --project {project} …"))],
            Self::UnquotedMessage { name } => {
                vec![Remedy::WriteAs { example: format!("`masque run {name} \"…\"`") }]
            }
            Self::NoPiece { .. }
            | Self::OtherKind { .. }
            | Self::AmbiguousKind { .. }
            | Self::NotDefinedThere { .. } => self.remedies_of_places(),
            Self::UndecidedFields { .. } | Self::FieldNotInConflict { .. } => self.remedies_of_conflicts(),
            Self::NeedsConsent { .. } => vec![Remedy::Confirm],
            Self::NoTerminal { instead, .. } => instead.iter().cloned().map(run).collect(),
            Self::NoJson { instead, .. } => vec![run((*instead).to_owned())],
            other => other.remedies_of_surroundings(),
        }
    }
}

/// Kinds, scopes, files, editors, addresses and what else is around a command.
impl CommandError {
    fn remedies_of_places(&self) -> Vec<Remedy> {
        match self {
            Self::NoPiece { kinds, .. } => {
                kinds.iter().map(|kind| Remedy::ListKind { kind: *kind, part_type: None }).collect()
            }
            Self::OtherKind { kinds, .. } if kinds.len() == 1 => {
                kinds.iter().map(|kind| Remedy::ListKind { kind: *kind, part_type: None }).collect()
            }
            Self::OtherKind { kinds, .. } => {
                vec![Remedy::UseOneOf { words: kinds.iter().map(ToString::to_string).collect() }]
            }
            Self::AmbiguousKind { name, kinds } => {
                let words = kinds.iter().map(|kind| format!("`{kind} {name}`")).collect();
                vec![Remedy::UseOneOf { words }]
            }
            Self::NotDefinedThere { scopes, .. } => {
                vec![Remedy::UseOneOf { words: scopes.iter().map(ToString::to_string).collect() }]
            }
            _ => Vec::new(),
        }
    }

    fn remedies_of_conflicts(&self) -> Vec<Remedy> {
        match self {
            Self::UndecidedFields { fields } => {
                let first = fields.iter().take(1);
                first.map(|field| Remedy::AddField { field: format!("--take {field}=SCOPE") }).collect()
            }
            Self::FieldNotInConflict { differing, .. } if !differing.is_empty() => {
                match self.candidates().is_empty() {
                    true => vec![Remedy::UseOneOf { words: differing.clone() }],
                    false => vec![Remedy::DidYouMean],
                }
            }
            _ => Vec::new(),
        }
    }

    fn code_of_surroundings(&self) -> Code {
        match self {
            Self::NotText { .. } => Code::NotUtf8,
            Self::MessageTooLong { .. } => Code::TooLong,
            Self::FileTooLarge { .. } => Code::FileTooLarge,
            Self::EmptyMessage => Code::Empty,
            Self::NoEditor | Self::EditorNotStarted { .. } => Code::NoEditor,
            Self::InvalidEditor { .. }
            | Self::InvalidProviders(_)
            | Self::InvalidLogFilter { .. }
            | Self::InvalidToken { .. } => Code::InvalidConfig,
            Self::NoToken(_) => Code::FileFailed,
            Self::EditorFailed { .. } => Code::EditorFailed,
            Self::StillWrong { .. } => Code::InvalidDocument,
            Self::NoHome(_) => Code::NoHome,
            Self::InvalidPath { .. } => Code::InvalidPath,
            Self::NoDatabaseDirectory { .. } => Code::NoDatabase,
            Self::DatabaseIsDirectory { .. } => Code::NotAFile,
            Self::ForeignDirectory { .. } => Code::UnsafeFile,
            Self::NotADirectory { exists, .. } | Self::NoDirectory { exists, .. } => match exists {
                true => Code::NotADirectory,
                false => Code::FileNotFound,
            },
            Self::NoWorkingDirectory => Code::FileNotFound,
            Self::HasPersonas { .. } => Code::FileExists,
            Self::TooManyProjects { .. } => Code::TooManyProjects,
            Self::UnsafeFile { .. } => Code::UnsafeFile,
            Self::NotSupported { .. } => Code::NotSupported,
            Self::NotEditable { .. } => Code::NotEditable,
            Self::NotAFile { .. } => Code::NotAFile,
            Self::FileChanged { .. } => Code::FileChanged,
            Self::TooManyCopies { .. } => Code::FileFailed,
            Self::AddressInUse { .. } => Code::AddressInUse,
            Self::PortDenied { .. } => Code::PortDenied,
            Self::Listen { .. } => Code::ListenFailed,
            Self::Server(_) => Code::ServerFailed,
            Self::Connection(_) => Code::ConnectionLost,
            Self::InvalidScript { .. } => Code::InvalidScript,
            Self::InvalidCassette(_) => Code::InvalidCassette,
            Self::NoAnswer => Code::ModelFailed,
            _ => Code::Failed,
        }
    }

    fn remedies_of_surroundings(&self) -> Vec<Remedy> {
        let doctor = || Remedy::Run { command: "masque doctor".to_owned() };
        let set = |variable: &str, example: &str| Remedy::SetVariable {
            variable: variable.to_owned(),
            example: example.to_owned(),
        };
        match self {
            Self::Terminal(_) | Self::Internal(_) => Vec::new(),
            Self::NotText { remedy, .. } | Self::FileTooLarge { remedy, .. } => {
                remedy.iter().cloned().collect()
            }
            Self::MessageTooLong { .. } => vec![Remedy::MoveToFile],
            Self::EmptyMessage => {
                vec![Remedy::WriteAs { example: "`masque run mentor \"How do I begin?\"`".to_owned() }]
            }
            Self::NoEditor | Self::InvalidEditor { .. } => vec![set("EDITOR", "\"code --wait\"")],
            Self::EditorNotStarted { .. } => vec![set("EDITOR", "nano")],
            Self::NoHome(_) => vec![set("HOME", "/home/me"), Remedy::OtherDatabase],
            Self::InvalidPath { remedy, .. } => vec![remedy.clone()],
            Self::NoDatabaseDirectory { directory, .. } => {
                vec![Remedy::CheckDatabase, Remedy::Run { command: format!("mkdir -p {directory}") }]
            }
            Self::DatabaseIsDirectory { path } => {
                let example = Path::new(path).join("masque.db").display().to_string();
                vec![Remedy::WriteAs { example: format!("`--db {example}`") }]
            }
            Self::ForeignDirectory { path } => vec![Remedy::Run { command: format!("masque trust {path}") }],
            Self::NotADirectory { .. } | Self::NoWorkingDirectory => vec![Remedy::OpenProject],
            Self::NoDirectory { path, exists: false } => {
                vec![Remedy::Run { command: format!("mkdir -p {path}") }]
            }
            Self::HasPersonas { .. } => vec![
                Remedy::Run { command: "masque new NAME".to_owned() },
                Remedy::Run { command: "masque list --scope project".to_owned() },
            ],
            Self::TooManyProjects { .. } => {
                vec![Remedy::Run { command: "masque trust --revoke DIR".to_owned() }]
            }
            Self::UnsafeFile { command, .. } => vec![Remedy::Run { command: command.clone() }],
            Self::NotAFile { .. } | Self::NotEditable { .. } => {
                vec![Remedy::UseField { field: "--print".to_owned() }]
            }
            Self::FileChanged { .. } => vec![Remedy::Repeat],
            Self::AddressInUse { .. } => vec![Remedy::OtherAddress { address: "--port 0".to_owned() }],
            Self::PortDenied { .. } => vec![Remedy::OtherAddress { address: "--port 8080".to_owned() }],
            Self::InvalidProviders(_) | Self::NoAnswer => vec![doctor()],
            Self::InvalidLogFilter { .. } => vec![set("MASQUE_LOG", "debug")],
            Self::InvalidToken { path } => vec![Remedy::Run { command: format!("rm {path}") }],
            Self::NoToken(_) => vec![Remedy::UseField { field: "--token-file".to_owned() }],
            _ => Vec::new(),
        }
    }
}

/// Kinds in the plural, as a list.
fn plurals(kinds: &[Kind]) -> String {
    listed(&kinds.iter().map(|kind| format!("{}s", kind.spoken())).collect::<Vec<_>>())
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests;
