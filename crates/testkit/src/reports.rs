//! A report for every code and every remedy, so that a front can pin how it words them.

mod tracks;

use persona::{
    AsReport, BaseRef, Chain, ChainError, Code, Kind, Link, Name, OverrideError, PartType, Remedy, Report,
    Scope, Subject,
};
use uuid::Uuid;

/// A report of each code, in the order of the documentation.
pub fn reports() -> Vec<Report> {
    let mut real = real();
    let mut of = |code: Code| {
        let at = real.iter().position(|report| report.code == code);
        at.map_or_else(|| sample(code), |at| real.swap_remove(at))
    };
    Code::ALL.iter().map(|code| of(*code)).collect()
}

/// Reports of the errors that the storage crates and `persona` return.
fn real() -> Vec<Report> {
    let (kind, name, tone) = (Kind::Part, name(), PartType::Tone);
    let base = |text: &str| text.parse::<BaseRef>().expect("a base");
    let chain = || Chain::start(Scope::Project, name.clone());
    let id = Uuid::nil();
    let errors: Vec<Box<dyn AsReport>> = vec![
        Box::new(Name::parse("a b").expect_err("has a space")),
        Box::new("projct".parse::<Scope>().expect_err("no scope")),
        Box::new(OverrideError::Unknown { part_type: tone, name: name.clone() }),
        Box::new(OverrideError::WrongType { part_type: tone, name: name.clone(), actual: PartType::Goal }),
        Box::new(chain().missing(&base("nobody"), None)),
        Box::new(ChainError::Cycle {
            back_to: Link(Scope::Project, name.clone()),
            chain: chain(),
            other: Some(base("builtin:coder")),
        }),
        Box::new(ChainError::TooDeep(chain())),
        Box::new(store::Error::Exists { kind, name: name.clone() }),
        Box::new(store::Error::Raced { kind, name: name.clone() }),
        Box::new(store::FilterError::Cursor { cursor: "x".to_owned() }),
        Box::new(store::FilterError::EmptyQuery),
        Box::new(store::Error::StepFailed),
        Box::new(store::Error::CopyDiffers { table: "agent_parts", row: 3 }),
        Box::new(store::Error::Forgotten { revision: 1, piece: Some((Scope::Shared, kind, name.clone())) }),
        Box::new(store::Error::Occupied("two.db".to_owned())),
        Box::new(::sessions::Error::SessionExists { id }),
        Box::new(::sessions::Error::SessionBusy { id, status: agent::SessionStatus::Running }),
        Box::new(::sessions::Error::LeaseLost { id }),
        Box::new(::sessions::Error::Model { model: "sonnet".to_owned() }),
        Box::new(database::Error::Nul),
        Box::new(database::Error::Foreign),
        Box::new(database::Error::SchemaDenied {
            schema: database::SchemaName::default(),
            role: "ada".to_owned(),
            exists: false,
        }),
        Box::new(database::Error::NewerSchema { found: 99, known: 9 }),
        Box::new(database::Error::NoDatabase("one.db".to_owned())),
        Box::new(database::Error::from(database::AddressError::UnknownScheme { scheme: "mysql".to_owned() })),
        Box::new(scopes::Error::NotOpen { scope: Scope::Global }),
        Box::new(scopes::Error::Builtin),
        Box::new(scopes::Error::NoHistory),
        Box::new(scopes::Error::ReadOnly { path: "personas.toml".to_owned(), scope: Scope::Global }),
        Box::new(scopes::Error::FileChanged { path: "personas.toml".to_owned() }),
    ];
    errors.iter().map(|error| error.report()).collect()
}

/// A report for a code whose error is out of reach here: a sentence as its crate writes it, with the
/// remedies that it offers.
fn sample(code: Code) -> Report {
    let (message, remedies) = written(code).unwrap_or_else(|| panic!("{code} has no sample; add one here"));
    let report = Report::new(code, message).about(Subject::entity(Kind::Part, "calm"));
    let report = if remedies.contains(&Remedy::DidYouMean) {
        report.with_candidates(vec!["calm".to_owned(), "warm".to_owned()])
    } else {
        report
    };
    remedies.into_iter().fold(report, Report::with_remedy)
}

fn written(code: Code) -> Option<Sample> {
    let samples = [missing, conflict, of_request, of_file, of_entity, denied, broken, tracks::written];
    samples.into_iter().find_map(|sample| sample(code))
}

type Sample = (&'static str, Vec<Remedy>);

fn name() -> Name {
    Name::parse("calm").expect("a name")
}

fn run(command: &str) -> Remedy {
    Remedy::Run { command: command.to_owned() }
}

fn use_one_of(words: &[&str]) -> Remedy {
    Remedy::UseOneOf { words: words.iter().map(|word| (*word).to_owned()).collect() }
}

fn leave_out(field: &str) -> Remedy {
    Remedy::LeaveOut { fields: vec![field.to_owned()] }
}

fn missing(code: Code) -> Option<Sample> {
    Some(match code {
        Code::NotFound => (r#"no part is named "clam""#, vec![Remedy::DidYouMean]),
        Code::InOtherScope => (
            r#"part "calm" is in shared, not in project"#,
            vec![Remedy::DuplicateInto { scope: Scope::Project }],
        ),
        Code::UnknownTemplate => (r#"no template is named "clam""#, vec![Remedy::DidYouMean]),
        Code::UnknownTest => ("there is no test run 0193c0de", vec![]),
        Code::BaseNotFound => (
            "coder → nobody: there is no such persona",
            vec![Remedy::ListKind { kind: Kind::Persona, part_type: None }],
        ),
        Code::UnknownRevision => (r#"part "calm" in shared has no revision 9 (expected 1 to 3)"#, Vec::new()),
        Code::DeletedRevision => (r#"revision 3 of part "calm" is a deletion"#, vec![Remedy::OtherRevision]),
        Code::SingleRevision => (r#"skill "s" has one revision, and nothing to compare it with"#, Vec::new()),
        Code::PieceGone => (
            r#"revision 1 of persona "helper" refers to part "calm" of shared, which no longer exists"#,
            vec![
                Remedy::RollBackFirst { kind: Kind::Part, name: name(), revision: "2".to_owned() },
                Remedy::WithPieces,
            ],
        ),
        Code::UnknownGreeting => ("persona \"mentor\" has no greeting 3 (expected 1 to 2)", Vec::new()),
        Code::UnknownSession => (r#"no session has the id "ffff""#, vec![Remedy::ListSessions]),
        Code::UnknownApproval => {
            (r#"the session does not wait for call "call_9""#, vec![Remedy::SeeApprovals])
        }
        Code::NoPlan => ("the session has no plan yet", vec![Remedy::AskForPlan]),
        Code::NoProposal => (r#"the editing agent of persona "team" proposes nothing"#, Vec::new()),
        Code::NothingToUndo => ("the session has no message to take back", Vec::new()),
        Code::NotSetUp => (r#"no provider "tset" is set up"#, vec![Remedy::DidYouMean]),
        Code::UnknownModel => ("HTTP 404: no such model", vec![run("masque models")]),
        Code::FileNotFound => {
            ("cannot read nowhere.toml: No such file or directory (os error 2)", Vec::new())
        }
        Code::NoSessions => ("sessions are not served here", vec![Remedy::Serve]),
        Code::UnknownAddress => ("/nowhere does not exist", vec![use_one_of(&["/mcp", "/api/sessions"])]),
        _ => return None,
    })
}

fn conflict(code: Code) -> Option<Sample> {
    Some(match code {
        Code::Occupied => (r#"shared has another part "calm""#, vec![Remedy::UseReplace, Remedy::RenameOne]),
        Code::StaleRevision => {
            (r#"part "calm" is at revision 3, not 2"#, vec![Remedy::ReadAgain, Remedy::DropIfRevision])
        }
        Code::TagTaken => (
            r#"revision 1 of persona "team" in shared has the tag "production""#,
            vec![Remedy::MoveTag, Remedy::OtherTag],
        ),
        Code::InUse => {
            (r#"part "calm" is used by persona team"#, vec![Remedy::UnlinkFirst, Remedy::UseForce])
        }
        Code::FileHasErrors => {
            ("personas.toml:2:11: content: expected a text, found 5", vec![Remedy::FixEntry])
        }
        Code::FileExists => ("two.db exists", Vec::new()),
        Code::EditingSession => {
            ("session 0192 is a chat with the editing agent", vec![Remedy::TellEditor { persona: name() }])
        }
        Code::ApprovalPending => ("the session waits for an approval", vec![Remedy::DecideFirst]),
        Code::PlanChanged => {
            ("the session has another plan by now", vec![Remedy::ReadPlan { session: "0192".to_owned() }])
        }
        Code::AlreadyDecided => (r#"call "call_1" was approved before"#, Vec::new()),
        Code::RequestUnderWay => {
            ("the first request with this Idempotency-Key is under way", vec![Remedy::TryLater])
        }
        Code::OutcomeUnknown => (
            "the first request with this Idempotency-Key was cut off",
            vec![Remedy::ReadAgain, Remedy::OtherKey],
        ),
        Code::NothingPending => ("the session has no pending approvals", Vec::new()),
        Code::NotSent => {
            ("the message was not sent: the session is answering another one", vec![Remedy::TryLater])
        }
        _ => return None,
    })
}

/// Requests and command lines.
fn of_request(code: Code) -> Option<Sample> {
    Some(match code {
        Code::InvalidRequest => ("the address cannot be read", Vec::new()),
        Code::NoTestInputs => (
            r#"persona "calm" has no test inputs"#,
            vec![Remedy::AddOneOf { fields: vec!["test_inputs".to_owned()] }],
        ),
        Code::Unpriced => (
            "max_cost: the price of sonnet is not known",
            vec![Remedy::AddOneOf { fields: vec!["max_calls".to_owned(), "max_tokens".to_owned()] }],
        ),
        Code::InvalidJson => ("the body is JSON, but not an object", vec![Remedy::SendJson]),
        Code::UnsupportedMediaType => ("the body is not sent as JSON", vec![Remedy::SendJson]),
        Code::BodyTooLarge => ("the body is larger than 4194304 bytes", vec![Remedy::Shorten]),
        Code::IncompleteBody => ("the body ended early", vec![Remedy::Repeat]),
        Code::RequestTimeout => ("the body took too long to arrive", vec![Remedy::Repeat]),
        Code::BodyNotAllowed => ("this request has no body", vec![Remedy::SendInAddress]),
        Code::QueryNotAllowed => ("this request takes its fields from the body", Vec::new()),
        Code::MethodNotAllowed => ("/api/sessions does not support PUT", Vec::new()),
        Code::InvalidCondition => ("this request supports no If-Match", vec![leave_out("If-Match")]),
        Code::KeyReused => ("another request has this Idempotency-Key", vec![Remedy::OtherKey]),
        Code::InvalidUsage => (r#"unexpected argument after "calm""#, Vec::new()),
        Code::NotForKind => ("skills do not support --type", vec![leave_out("--type")]),
        Code::InvalidSessionId => (
            r#"invalid session id "01" (expected at least its first 4 characters)"#,
            vec![Remedy::ListSessions],
        ),
        Code::AmbiguousSession => {
            (r#"several sessions have an id that starts with "01a1""#, vec![Remedy::DidYouMean])
        }
        Code::AmbiguousKind => {
            ("entities of several kinds are named calm", vec![use_one_of(&["`part calm`", "`skill calm`"])])
        }
        Code::NoTerminal => {
            ("masque new asks questions and needs a terminal", vec![run("masque new NAME --template T")])
        }
        Code::NoJson => ("masque chat has no JSON output", vec![run("masque run NAME \"…\" --json")]),
        Code::NothingToChange => ("nothing to change", Vec::new()),
        Code::NotSupported => ("Claude Desktop does not support projects", vec![leave_out("--project")]),
        Code::NoEditor => (
            "no editor is set",
            vec![Remedy::SetVariable { variable: "EDITOR".to_owned(), example: "nano".to_owned() }],
        ),
        Code::InvalidConfig => ("config.toml:2:8: expected a whole number, found a text", Vec::new()),
        Code::UnknownField => (r#"unknown field "summry""#, vec![Remedy::DidYouMean]),
        Code::MissingField => {
            ("missing field part_type", vec![Remedy::AddField { field: "part_type".to_owned() }])
        }
        Code::InvalidValue => {
            (r#"invalid value "local" for --scope"#, vec![use_one_of(&["shared", "project"])])
        }
        Code::ConflictingFields => ("--yes cannot be used with --dry-run", vec![leave_out("--dry-run")]),
        Code::OutOfRange => ("limit must be from 1 to 100, not 0", Vec::new()),
        Code::TooLong => ("content has 300000 bytes, at most 262144 are allowed", vec![Remedy::Shorten]),
        Code::SaysNothing => {
            let fields = vec!["system_prompt".to_owned(), "summary".to_owned(), "parts".to_owned()];
            (r#"persona "ada" says nothing: its prompt would be empty"#, vec![Remedy::AddOneOf { fields }])
        }
        Code::NamedTwice => ("--take names summary twice", Vec::new()),
        Code::InvalidTag => (r#"the tag "7" is a number, which means a revision"#, vec![Remedy::OtherTag]),
        _ => return None,
    })
}

/// Files, databases and paths.
fn of_file(code: Code) -> Option<Sample> {
    Some(match code {
        Code::SameDatabase => ("source and target are the same database", vec![Remedy::OtherTarget]),
        Code::InvalidDocument => ("b.toml:6:11: summary: expected a text, found 3", Vec::new()),
        Code::IncludeNotAllowed => ("x.md cannot be included here", vec![Remedy::WriteOut]),
        Code::OtherEntry => (r#"the text defines part "warm", not part "calm""#, vec![Remedy::RenameIt]),
        Code::NotEditable => {
            ("mcp.json is unchanged: it is not JSON", vec![Remedy::UseField { field: "--print".to_owned() }])
        }
        Code::NotAFile => ("cannot read .: Is a directory (os error 21)", Vec::new()),
        Code::NotADirectory => ("notes.txt is not a directory", vec![Remedy::OpenProject]),
        Code::InvalidPath => ("the path /x is not UTF-8", vec![Remedy::OtherDirectory]),
        Code::NotUtf8 => ("latin.toml is not UTF-8 text (byte 8)", vec![Remedy::SaveAsUtf8]),
        Code::InvalidScript => ("bad.toml: line 5, column 1: unknown field `txt`", Vec::new()),
        Code::InvalidCassette => ("a.txt: a cassette's name ends in .toml or .json", Vec::new()),
        Code::TooManyProjects => {
            ("10000 projects are trusted, which is the limit", vec![run("masque trust --revoke DIR")])
        }
        Code::FileTooLarge => ("huge.toml is larger than 16 MiB", vec![Remedy::MoveToFile]),
        Code::NotToml => ("b.toml:1:5: not valid TOML: expected `=`", vec![Remedy::FixFile]),
        Code::NothingToImport => {
            ("nothing to import: the bundle has no tables such as [personas.NAME]", Vec::new())
        }
        _ => return None,
    })
}

/// Entities, scopes and models.
fn of_entity(code: Code) -> Option<Sample> {
    Some(match code {
        Code::UnknownStage => (r#"arc "growth" has no stage "giude""#, vec![Remedy::DidYouMean]),
        Code::NoStages => (r#"arc "growth" has no stages"#, vec![Remedy::AddStage]),
        Code::LastStage => {
            (r#"persona "helper" is in the last stage of arc "growth""#, vec![Remedy::ResetStage])
        }
        Code::NoArc => (r#"persona "helper" has no arc"#, vec![Remedy::AssignArc]),
        Code::OutOfReach => (
            r#"shared cannot refer to part "calm" of project"#,
            vec![Remedy::PromoteTo { scope: Scope::Shared }],
        ),
        Code::NameClash => {
            (r#"part "calm" means different parts in project and shared"#, vec![Remedy::RenameOne])
        }
        Code::AlreadyInScope => (r#"part "calm" is in shared already"#, Vec::new()),
        Code::NoConflict => (r#"part "calm" is defined in shared alone"#, Vec::new()),
        Code::NotDefinedThere => {
            (r#"builtin does not define part "calm""#, vec![use_one_of(&["project", "shared"])])
        }
        Code::FieldNotInConflict => {
            (r#"the definitions do not differ in "sumary""#, vec![Remedy::DidYouMean])
        }
        Code::UndecidedFields => (
            "no scope is chosen for description",
            vec![Remedy::AddField { field: "--take description=SCOPE".to_owned() }],
        ),
        Code::UnknownProvider => (r#"no provider is named "nix""#, vec![Remedy::ConfigureProvider]),
        Code::ProviderUnreachable => ("ollama does not answer", vec![Remedy::StartProvider]),
        Code::InvalidRoot => ("the root /x cannot be used", vec![Remedy::OtherDirectory]),
        Code::InvalidField => {
            (r#"part "calm": summary: has 300 characters, at most 200 are allowed"#, vec![Remedy::Shorten])
        }
        _ => return None,
    })
}

fn denied(code: Code) -> Option<Sample> {
    Some(match code {
        Code::DatabaseBusy => ("another process writes to the database", vec![Remedy::TryLater]),
        Code::DatabaseLost => ("the connection to the database was lost", vec![Remedy::TryLater]),
        Code::DatabaseTimeout => ("the database did not answer in time", vec![Remedy::TryLater]),
        Code::TimedOut => ("the request took longer than 60 s", vec![Remedy::TryLater]),
        Code::FileBusy => ("another process writes to personas.toml", vec![Remedy::TryLater]),
        Code::StillRunning => ("the session was asked to stop, but is still running", vec![Remedy::TryLater]),
        Code::RateLimited => ("HTTP 429: slow down", vec![Remedy::TryLater]),
        Code::AddressInUse => {
            ("127.0.0.1:4747 is in use", vec![Remedy::OtherAddress { address: "127.0.0.1:0".to_owned() }])
        }
        Code::Overloaded => ("64 streams of events are open, which is the limit", vec![Remedy::TryLater]),
        Code::ServerStopping => ("the server is stopping", vec![Remedy::TryLater]),
        Code::NoProject => ("no project is open", vec![Remedy::OpenProject]),
        Code::OutsideProject => ("/etc is outside of the project", vec![Remedy::OtherDirectory]),
        Code::FileDenied => {
            ("cannot write personas.toml: Permission denied (os error 13)", vec![Remedy::CheckRights])
        }
        Code::Unauthorized => ("HTTP 401: invalid key", vec![run("masque doctor")]),
        Code::NoKey => ("[providers.k]: no key: KKEY is not set", vec![Remedy::ConfigureProvider]),
        Code::NeedsConsent => {
            ("importing 4 entities into shared needs your confirmation", vec![Remedy::Confirm])
        }
        Code::Locked => (
            r#"the user locked system_prompt of persona "team" against the editing agent"#,
            vec![Remedy::LeaveLocked],
        ),
        Code::Declined => ("not confirmed; nothing was changed", Vec::new()),
        Code::UnsafeFile => ("trusted.toml can be written by others", vec![run("chmod 600 trusted.toml")]),
        Code::ForeignHost => (r#"the Host "evil.example" is not this machine"#, vec![Remedy::UseLoopback]),
        Code::ForeignOrigin => (r#"the Origin "http://evil.example" is not this machine"#, Vec::new()),
        Code::AddressNotLocal => (
            "0.0.0.0:4747 can be reached from other machines",
            vec![Remedy::OtherAddress { address: "127.0.0.1:4747".to_owned() }],
        ),
        Code::PortDenied => ("you may not listen on port 80", Vec::new()),
        Code::ModelRefused => ("the model refused to answer", Vec::new()),
        Code::Refused => ("the caller may not do this", Vec::new()),
        _ => return None,
    })
}

fn broken(code: Code) -> Option<Sample> {
    Some(match code {
        Code::DatabaseUnavailable => ("the database at one.db cannot be opened", vec![Remedy::CheckDatabase]),
        Code::DatabaseFailed => ("the database failed: disk I/O error", Vec::new()),
        Code::DatabaseFull => ("the database's disk is full", vec![Remedy::MakeRoom]),
        Code::DatabaseReadOnly => {
            ("the database can only be read", vec![Remedy::CheckRights, Remedy::UsePrimary])
        }
        Code::CorruptDocument => (r#"part "calm" is stored in a form that cannot be read"#, Vec::new()),
        Code::FileFull => ("cannot write personas.toml: no space left on device", vec![Remedy::MakeRoom]),
        Code::FileFailed => ("cannot write personas.toml: input/output error", Vec::new()),
        Code::Interrupted => ("the import was interrupted", vec![Remedy::Repeat]),
        Code::RehearsalFailed => ("the rehearsal model does not start", Vec::new()),
        Code::ListenFailed => ("cannot listen on 127.0.0.1:4747", Vec::new()),
        Code::ServerFailed => ("the server failed: too many open files", Vec::new()),
        Code::ConnectionLost => ("the connection to the client broke: broken pipe", Vec::new()),
        Code::EditorFailed => ("the editor vi failed (exit status: 3); nothing was saved", Vec::new()),
        Code::TerminalFailed => ("cannot read the terminal: not a tty", Vec::new()),
        Code::InputFailed => ("cannot read standard input: input/output error", Vec::new()),
        Code::OutputFailed => ("cannot write the output: no space left on device", Vec::new()),
        Code::Cancelled => ("cancelled; nothing was changed", Vec::new()),
        Code::NoHome => (
            "cannot find your home directory",
            vec![Remedy::SetVariable { variable: "HOME".to_owned(), example: "/home/me".to_owned() }],
        ),
        Code::ModelFailed => ("no model answered", vec![run("masque doctor")]),
        Code::Failed => ("something else failed", Vec::new()),
        _ => return None,
    })
}

/// A report of each remedy, with the name of its action.
pub fn remedies() -> Vec<(String, Report)> {
    let report = |remedy: Remedy| {
        let action = serde_json::to_value(&remedy).expect("a remedy is JSON")["action"].clone();
        let report = Report::new(Code::Failed, "it failed").with_candidates(vec!["calm".to_owned()]);
        (action.as_str().unwrap_or_default().to_owned(), report.with_remedy(remedy))
    };
    samples().into_iter().map(report).collect()
}

fn samples() -> Vec<Remedy> {
    vec![
        Remedy::DidYouMean,
        Remedy::ListKind { kind: Kind::Part, part_type: Some(PartType::Tone) },
        Remedy::ListSessions,
        Remedy::UseOneOf { words: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()] },
        Remedy::UseForce,
        Remedy::UseReplace,
        Remedy::WithPieces,
        Remedy::WithoutPieces,
        Remedy::DropIfRevision,
        Remedy::LeaveOutScope,
        Remedy::LeaveOut { fields: vec!["one".to_owned(), "two".to_owned()] },
        Remedy::AddField { field: "field".to_owned() },
        Remedy::AddOneOf { fields: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()] },
        Remedy::UseField { field: "field".to_owned() },
        Remedy::ReadAgain,
        Remedy::Repeat,
        Remedy::TryLater,
        Remedy::UpdateIt,
        Remedy::OtherName,
        Remedy::MoveTag,
        Remedy::OtherTag,
        Remedy::RenameOne,
        Remedy::RenameIt,
        Remedy::DuplicateInto { scope: Scope::Shared },
        Remedy::DuplicateIt,
        Remedy::PromoteTo { scope: Scope::Shared },
        Remedy::CreateInPlace,
        Remedy::UnlinkFirst,
        Remedy::KeepScope { scope: Scope::Shared },
        Remedy::RollBackFirst { kind: Kind::Part, name: name(), revision: "3".to_owned() },
        Remedy::RollBack,
        Remedy::RollBackHere,
        Remedy::OtherRevision,
        Remedy::AskForRevision { revision: "3".to_owned() },
        Remedy::TagOne,
        Remedy::AddStage,
        Remedy::AssignArc,
        Remedy::ResetStage,
        Remedy::RemoveExtends,
        Remedy::OtherBase { base: "builtin:mentor".to_owned() },
        Remedy::Shorten,
        Remedy::RemoveNul,
        Remedy::LinkInstead { name: name() },
        Remedy::MoveToFile,
        Remedy::WriteOut,
        Remedy::FixEntry,
        Remedy::FixFile,
        Remedy::DeleteByForce,
        Remedy::OpenProject,
        Remedy::ServeProject,
        Remedy::Serve,
        Remedy::OtherDirectory,
        Remedy::WaitOrCancel,
        Remedy::DecideFirst,
        Remedy::SeeApprovals,
        Remedy::AskForPlan,
        Remedy::ReadPlan { session: "0192".to_owned() },
        Remedy::TellEditor { persona: name() },
        Remedy::StartProvider,
        Remedy::ConfigureProvider,
        Remedy::CheckDatabase,
        Remedy::OtherDatabase,
        Remedy::OtherTarget,
        Remedy::WriteAddress,
        Remedy::UpgradeMasque,
        Remedy::MakeRoom,
        Remedy::CheckRights,
        Remedy::UsePrimary,
        Remedy::AskOwner { statement: "CREATE SCHEMA masque".to_owned() },
        Remedy::OtherSchema,
        Remedy::PassSearchPath,
        Remedy::StartOver,
        Remedy::SendOne,
        Remedy::Confirm,
        Remedy::Run { command: "masque doctor".to_owned() },
        Remedy::WriteAs { example: "example".to_owned() },
        Remedy::SetVariable { variable: "VARIABLE".to_owned(), example: "example".to_owned() },
        Remedy::OtherAddress { address: "127.0.0.1:0".to_owned() },
        Remedy::SaveAsUtf8,
        Remedy::NewSession,
        Remedy::SendJson,
        Remedy::SendInBody { request: "POST /api/x".to_owned() },
        Remedy::SendInAddress,
        Remedy::UseLoopback,
        Remedy::SplitFile,
        Remedy::EditByHand { table: "[skills.look]".to_owned() },
        Remedy::IncludeOther,
        Remedy::OtherScope,
        Remedy::WriteLocally,
        Remedy::NameDatabase,
        Remedy::OtherKey,
        Remedy::LeaveLocked,
        Remedy::InstallGit { least: "2.38".to_owned() },
        Remedy::LeaveBranch { path: "/srv/shop".to_owned() },
        Remedy::LeaveToUser { file: "personas.toml".to_owned() },
        Remedy::ReportBug,
        Remedy::SendToken,
    ]
}

#[cfg(test)]
mod tests;
