//! Remedies: actions that may fix an error.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Kind, Name, PartType, Scope};

/// An action that may fix an error. `Display` words it for no front in particular. A front rewords a
/// remedy that names a flag, a parameter, a request or a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[schemars(inline)]
pub enum Remedy {
    /// Use one of the candidates.
    DidYouMean,
    /// List the entities of a kind.
    ListKind {
        kind: Kind,
        #[serde(skip_serializing_if = "Option::is_none")]
        part_type: Option<PartType>,
    },
    ListSessions,
    /// Use one of these.
    UseOneOf {
        words: Vec<String>,
    },
    UseForce,
    UseReplace,
    WithPieces,
    WithoutPieces,
    DropIfRevision,
    LeaveOutScope,
    /// Leave out fields of the request.
    LeaveOut {
        fields: Vec<String>,
    },
    /// Add a field to the request or to the entity.
    AddField {
        field: String,
    },
    /// Add one of these fields to the entity.
    AddOneOf {
        fields: Vec<String>,
    },
    /// Use this field instead.
    UseField {
        field: String,
    },
    ReadAgain,
    Repeat,
    TryLater,
    UpdateIt,
    OtherName,
    /// Move the tag from another revision.
    MoveTag,
    OtherTag,
    RenameOne,
    /// A rename is an operation of its own.
    RenameIt,
    DuplicateInto {
        scope: Scope,
    },
    DuplicateIt,
    PromoteTo {
        scope: Scope,
    },
    /// Create an entity of the same name, which takes the place of the builtin.
    CreateInPlace,
    UnlinkFirst,
    KeepScope {
        scope: Scope,
    },
    RollBackFirst {
        kind: Kind,
        name: Name,
        revision: String,
    },
    RollBack,
    /// A rollback to the revision takes the pieces as they are now.
    RollBackHere,
    OtherRevision,
    AskForRevision {
        revision: String,
    },
    TagOne,
    AddStage,
    AssignArc,
    ResetStage,
    RemoveExtends,
    OtherBase {
        base: String,
    },
    Shorten,
    RemoveNul,
    LinkInstead {
        name: Name,
    },
    MoveToFile,
    WriteOut,
    SplitFile,
    /// Change the entry in an editor, or give it a table of its own.
    EditByHand {
        table: String,
    },
    /// Include another file.
    IncludeOther,
    /// Name a scope that can be written.
    OtherScope,
    /// Write files on the machine itself.
    WriteLocally,
    FixEntry,
    FixFile,
    DeleteByForce,
    OpenProject,
    ServeProject,
    Serve,
    OtherDirectory,
    WaitOrCancel,
    DecideFirst,
    SeeApprovals,
    AskForPlan,
    /// Read the plan of a session.
    ReadPlan {
        session: String,
    },
    /// Send the message to the editing agent of a persona.
    TellEditor {
        persona: Name,
    },
    StartProvider,
    ConfigureProvider,
    CheckDatabase,
    OtherDatabase,
    OtherTarget,
    WriteAddress,
    /// Name a database by its path or address.
    NameDatabase,
    UpgradeMasque,
    /// Install git, in this version or a newer one.
    InstallGit {
        least: String,
    },
    /// Check out another branch in a working tree.
    LeaveBranch {
        path: String,
    },
    MakeRoom,
    CheckRights,
    UsePrimary,
    /// Let the database's owner run a statement.
    AskOwner {
        statement: String,
    },
    OtherSchema,
    PassSearchPath,
    StartOver,
    /// Send one of several fields that say the same.
    SendOne,
    /// Agree in advance.
    Confirm,
    /// Leave a grant to the user, who edits the file or runs the command line.
    LeaveToUser {
        file: String,
    },
    /// Leave what is locked as it is; only the user unlocks it.
    LeaveLocked,
    /// Run a command.
    Run {
        command: String,
    },
    /// Write it like this.
    WriteAs {
        example: String,
    },
    SetVariable {
        variable: String,
        example: String,
    },
    /// Listen on another address.
    OtherAddress {
        address: String,
    },
    SaveAsUtf8,
    NewSession,
    SendJson,
    /// Send the field in the body of this request.
    SendInBody {
        request: String,
    },
    SendInAddress,
    UseLoopback,
    /// Send another `Idempotency-Key`.
    OtherKey,
    ReportBug,
    /// Send the token of the server.
    SendToken,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ListKind { kind, part_type: None } => {
                write!(f, "list the {}s", kind.spoken())
            }
            Self::ListKind { kind, part_type: Some(part_type) } => {
                write!(f, "list the {}s of type {part_type}", kind.spoken())
            }
            Self::UseOneOf { words } => write!(f, "use {}", super::one_of(words).unwrap_or_default()),
            Self::LeaveOut { fields } => write!(f, "leave out {}", fields.join(" and ")),
            Self::AddField { .. } => f.write_str("add it"),
            Self::AddOneOf { fields } => write!(f, "add {}", super::one_of(fields).unwrap_or_default()),
            Self::AskForRevision { revision } => write!(f, "ask for revision {revision}"),
            Self::UseField { field } => write!(f, "use {field}"),
            Self::DuplicateInto { scope } => write!(f, "duplicate it into {scope}"),
            Self::PromoteTo { scope } => write!(f, "promote it to {scope} first"),
            Self::KeepScope { scope } => write!(f, "keep the one in {scope}"),
            Self::RollBackFirst { kind, name, revision } => {
                write!(f, "roll {} {:?} back to revision {revision} first", kind.spoken(), name.as_str())
            }
            Self::OtherBase { base } => write!(f, "name another scope, for example \"{base}\""),
            Self::AskOwner { statement } => write!(f, "ask the database's owner to run `{statement}`"),
            Self::LeaveToUser { file } => write!(f, "ask the user to change it in {file} or with masque"),
            Self::ReadPlan { session } => write!(f, "read the plan of session {session} again"),
            Self::TellEditor { persona } => write!(f, "tell the editing agent of persona {persona} instead"),
            Self::Run { command } => write!(f, "run `{command}`"),
            Self::InstallGit { least } => write!(f, "install git {least} or newer"),
            Self::LeaveBranch { path } => write!(f, "check out another branch in {path}"),
            Self::WriteAs { example } => write!(f, "for example {example}"),
            Self::SetVariable { variable, example } => {
                write!(f, "set {variable}, for example {variable}={example}")
            }
            Self::OtherAddress { address } => write!(f, "choose another address, such as {address}"),
            Self::SendInBody { request } => write!(f, "send it in the body of {request}"),
            Self::LinkInstead { name } => {
                write!(f, "leave out its texts to link the existing part {:?}", name.as_str())
            }
            Self::EditByHand { table } => {
                write!(f, "change it by hand, or give it a [{table}] table of its own")
            }
            other => f.write_str(other.fixed()),
        }
    }
}

impl Remedy {
    /// The words of a remedy without fields.
    const fn fixed(&self) -> &'static str {
        match self {
            Self::DidYouMean => "use one of the candidates",
            Self::ListSessions => "list the sessions",
            Self::UseForce => "repeat with force",
            Self::UseReplace => "repeat with replace to overwrite it",
            Self::WithPieces => "repeat with with_pieces",
            Self::WithoutPieces => "repeat without with_pieces to keep the pieces as they are",
            Self::DropIfRevision => "repeat without if_revision",
            Self::LeaveOutScope => "leave out the scope",
            Self::ReadAgain => "read it again, then repeat the change",
            Self::Repeat => "try again",
            Self::TryLater => "try again in a moment",
            Self::UpdateIt => "update it",
            Self::OtherName => "choose another name",
            Self::MoveTag => "repeat with move to move it",
            Self::OtherTag => "choose another tag",
            Self::RenameOne => "rename one of them first",
            Self::RenameIt => "rename it in a separate call",
            Self::DuplicateIt => "duplicate it, as a copy has a history",
            Self::CreateInPlace => "create one with the same name to override it",
            Self::UnlinkFirst => "unlink it first",
            Self::RollBack => "roll back",
            Self::RollBackHere => "roll back to it, keeping the pieces as they are now",
            Self::OtherRevision => "choose another revision",
            Self::TagOne => "tag a revision, or name one by its number",
            Self::AddStage => "add a stage first",
            Self::AssignArc => "assign it an arc first",
            Self::ResetStage => "reset its stage to start over",
            Self::RemoveExtends => "remove one of the extends",
            Self::Shorten => "shorten it",
            Self::RemoveNul => "remove it",
            Self::MoveToFile => "move the rest to a file",
            Self::WriteOut => "include the text itself",
            Self::SplitFile => "split it into a global and a project file",
            Self::IncludeOther => "include another file",
            Self::OtherScope => "name another scope, and the builtin is copied there",
            Self::WriteLocally => {
                "change files on the machine itself, over loopback or with the command line"
            }
            Self::FixEntry => "fix the entry",
            Self::FixFile => "fix the file",
            Self::DeleteByForce => "repeat with force to delete it (its current text is in no history)",
            other => other.fixed_of_surroundings(),
        }
    }

    /// Those about the project, sessions, providers, the database and the request.
    const fn fixed_of_surroundings(&self) -> &'static str {
        match self {
            Self::OpenProject => "name the project's directory",
            Self::Serve => "start masque serve",
            Self::ServeProject => "start the server in a project",
            Self::OtherDirectory => "choose another directory",
            Self::WaitOrCancel => "wait until it is idle, or cancel it",
            Self::DecideFirst => "answer it first, or cancel the run",
            Self::SeeApprovals => "see the session's approvals",
            Self::AskForPlan => "ask for one in plan mode",
            Self::StartProvider => "start it",
            Self::ConfigureProvider => "set a key such as ANTHROPIC_API_KEY",
            Self::CheckDatabase => "check the database's address",
            Self::OtherDatabase => "use another database",
            Self::OtherTarget => "choose another target",
            Self::WriteAddress => "use postgres://user:password@host:port/database",
            Self::NameDatabase => "use the path of a file, or postgres://user:password@host:port/database",
            Self::UpgradeMasque => "upgrade masque",
            Self::MakeRoom => "free some disk space",
            Self::CheckRights => "check the owner and the permissions of its files",
            Self::UsePrimary => "connect to the primary server, or as a user with write access",
            Self::OtherSchema => "name a schema in the address, such as ?schema=my_masque",
            Self::PassSearchPath => {
                "connect past the pooler, or set the search_path of the role itself to the schema"
            }
            Self::SendOne => "send one of them",
            Self::StartOver => "start again without the cursor",
            Self::Confirm => "confirm it",
            Self::LeaveLocked => "leave it as it is; only the user can unlock it",
            Self::NewSession => "start a new session",
            Self::SaveAsUtf8 => "save it as UTF-8",
            Self::SendJson => "send a JSON object with Content-Type: application/json",
            Self::SendInAddress => "send the fields in the address, for example ?scope=shared",
            Self::UseLoopback => "use 127.0.0.1, localhost or [::1]",
            Self::OtherKey => "send another Idempotency-Key",
            Self::ReportBug => "please report this",
            Self::SendToken => {
                "send it as \"Authorization: Bearer TOKEN\"; `masque serve` prints the path of its file"
            }
            // The others have fields, or are worded above.
            _ => "",
        }
    }
}
