use super::*;
use crate::wording;

fn text(text: &str) -> String {
    text.to_owned()
}

fn name() -> Name {
    Name::parse("calm").expect("a name")
}

/// Arguments, sessions and conflicts.
fn of_commands() -> Vec<CommandError> {
    let id = Uuid::nil();
    let (kind, scopes) = (Kind::Part, vec![Scope::Project, Scope::Shared]);
    vec![
        CommandError::MissingArgument { argument: "REV", example: text("`masque rollback calm REV`") },
        CommandError::UnexpectedArgument { after: text("calm") },
        CommandError::LintPath { path: text("a.toml"), command: text("masque lint") },
        CommandError::NotForKind { flags: vec!["--order", "--priority"], kind: Kind::Trait },
        CommandError::OtherKind { command: "compile", kind: Kind::Part, kinds: vec![Kind::Persona] },
        CommandError::UnquotedMessage { name: text("mentor") },
        CommandError::NamedTwice { flag: "--take", value: text("summary") },
        CommandError::Conflicting { flag: "--http", others: vec!["--db", "MASQUE_DB"] },
        CommandError::InvalidValue {
            flag: "--http",
            value: text("localhost"),
            example: "http://127.0.0.1:4747/mcp",
        },
        CommandError::NothingToChange { kind },
        CommandError::InvalidSessionId { text: text("01"), least: 4 },
        CommandError::UnknownSession { text: text("ffff") },
        CommandError::AmbiguousSession { text: text("0000"), sessions: vec![id] },
        CommandError::NothingToContinue { persona: Some(name()) },
        CommandError::NoTrackFile { path: text("track.toml") },
        CommandError::InvalidTrackId { text: text("01"), least: 4 },
        CommandError::UnknownTrack { text: text("ffff") },
        CommandError::AmbiguousTrack { text: text("0000"), tracks: vec![id] },
        CommandError::NoOpenTrack,
        CommandError::NoPlan { id },
        CommandError::NothingPending { id },
        CommandError::UnknownApproval { id, call: text("call_9"), pending: vec![text("call_1")] },
        CommandError::StillRunning { id },
        CommandError::Answering { id },
        CommandError::AwaitsPermission { id, calls: vec![text("write_file out.txt")] },
        CommandError::PersonaElsewhere { name: name(), id, project: text("/shop") },
        CommandError::AmbiguousKind { name: name(), kinds: vec![Kind::Part, Kind::Skill] },
        CommandError::NoPiece { name: name(), kinds: &[Kind::Part, Kind::Trait] },
        CommandError::NotDefinedThere { scope: Scope::Builtin, kind, name: name(), scopes },
        CommandError::UndecidedFields { fields: vec![text("summary"), text("content")] },
        CommandError::FieldNotInConflict { field: text("sumary"), differing: vec![text("summary")] },
        CommandError::FieldNotInConflict {
            field: text("x"),
            differing: vec![text("summary"), text("content")],
        },
        CommandError::NeedsConsent { action: text("trusting /shop") },
        CommandError::Declined,
        CommandError::Cancelled,
        CommandError::NoTerminal {
            command: "masque new",
            instead: vec![text("masque new NAME --template T")],
        },
        CommandError::NoJson { command: "masque chat", instead: "masque run NAME \"…\" --json" },
        CommandError::Terminal(text("not a tty")),
        CommandError::Input(io::ErrorKind::Other.into()),
        CommandError::Output(io::ErrorKind::Other.into()),
    ]
}

/// Files, editors and addresses.
fn of_surroundings() -> Vec<CommandError> {
    let address = "127.0.0.1:80".parse().expect("an address");
    vec![
        CommandError::NotText { what: text("x.toml"), at: Some(8), remedy: Some(Remedy::SaveAsUtf8) },
        CommandError::MessageTooLong { what: "standard input is", most_mib: 1 },
        CommandError::FileTooLarge { file: text("x.toml"), most_mib: 16, remedy: None },
        CommandError::EmptyMessage,
        CommandError::NoEditor,
        CommandError::InvalidEditor { variable: text("EDITOR"), value: text("vi 'x") },
        CommandError::EditorNotStarted { program: text("vy"), source: io::ErrorKind::NotFound.into() },
        CommandError::EditorFailed { program: text("vi"), how: text("exit status: 3") },
        CommandError::StillWrong { attempts: 20, wrong: text("x.toml:1:1: unknown key") },
        CommandError::NoHome(text("no HOME")),
        CommandError::InvalidPath { path: text("/x"), remedy: Remedy::OtherDatabase },
        CommandError::NotADirectory { path: text("/x"), how: Some("named by --project"), exists: true },
        CommandError::NoDirectory { path: text("shop"), exists: false },
        CommandError::HasPersonas { file: text("shop/personas.toml") },
        CommandError::NoWorkingDirectory,
        CommandError::ForeignDirectory { path: text("/theirs") },
        CommandError::DatabaseIsDirectory { path: text("/tmp") },
        CommandError::TooManyProjects { most: 10_000 },
        CommandError::UnsafeFile { path: text("/t"), why: "belongs to another user", command: text("rm /t") },
        CommandError::NotSupported { client: "Claude Desktop", what: "projects", flag: "--project" },
        CommandError::NotEditable { file: text("mcp.json"), problem: text("it is not JSON") },
        CommandError::NotAFile { file: text("mcp.json") },
        CommandError::FileChanged { file: text("mcp.json") },
        CommandError::TooManyCopies { file: text("mcp.json") },
        CommandError::AddressInUse { address, by: Some("another program") },
        CommandError::PortDenied { address },
        CommandError::Listen { address: text("127.0.0.1:80"), source: io::ErrorKind::Other.into() },
        CommandError::Server(text("too many open files")),
        CommandError::Connection(text("broken pipe")),
        CommandError::InvalidScript { path: text("s.toml"), problem: text("line 5: unknown field") },
        CommandError::InvalidCassette(text("a.txt: a cassette's name ends in .toml or .json")),
        CommandError::InvalidUpstream(text("\"mine\" is not an address")),
        CommandError::InvalidProviders(text("[providers.k]: unknown kind")),
        CommandError::InvalidLogFilter { value: text("x=y=z"), problem: text("invalid directive") },
        CommandError::NoAnswer,
        CommandError::Internal(text("cannot write JSON: key must be a string")),
    ]
}

#[test]
fn sentences() {
    let errors = of_commands().into_iter().chain(of_surroundings());
    let lines = errors.map(|error| {
        let report = error.report();
        format!("{}: {}\n", report.code, report.sentence(wording::remedy))
    });
    insta::assert_snapshot!(lines.collect::<String>());
}
