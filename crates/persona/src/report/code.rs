//! The closed vocabulary of errors. docs/errors.md lists it; a test compares the two.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The kind of an error. Each front maps kinds to statuses or exit codes once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ErrorKind {
    Missing,
    Conflict,
    Invalid,
    Busy,
    Denied,
    Broken,
}

impl ErrorKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Busy => "busy",
            Self::Denied => "denied",
            Self::Broken => "broken",
        }
    }
}

/// Declares every code once: its variant, its word, its kind and its meaning.
macro_rules! codes {
    ($($variant:ident = $word:literal, $kind:ident, $meaning:literal;)+) => {
        /// The error as a word that stays the same when the message changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $meaning] $variant),+ }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub const fn kind(self) -> ErrorKind {
                match self { $(Self::$variant => ErrorKind::$kind),+ }
            }

            /// One line for the documentation.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning),+ }
            }
        }
    };
}

codes! {
    // Missing: the caller named something that does not exist.
    NotFound = "not_found", Missing, "No entity of this kind has this name.";
    InOtherScope = "in_other_scope", Missing, "Another scope has the entity, the named one has not.";
    UnknownTemplate = "unknown_template", Missing, "No template has this name.";
    BaseNotFound = "base_not_found", Missing, "The persona that `extends` names does not exist.";
    UnknownRevision = "unknown_revision", Missing, "The history has no such revision or tag.";
    DeletedRevision = "deleted_revision", Missing, "The revision records a deletion, so there is nothing to read.";
    ForgottenRevision = "forgotten_revision", Missing, "The history no longer has the revision, or a piece it refers to.";
    SingleRevision = "single_revision", Missing, "The entity has one revision, so there is nothing to compare.";
    PieceGone = "piece_gone", Missing, "A revision refers to a piece that no longer exists.";
    UnknownSession = "unknown_session", Missing, "No session has this id.";
    UnknownTrack = "unknown_track", Missing, "No track has this id.";
    UnknownTicket = "unknown_ticket", Missing, "The track has no such ticket.";
    UnknownTest = "unknown_test", Missing, "No test run has this id.";
    UnknownApproval = "unknown_approval", Missing, "The session does not ask for permission for this call.";
    UnknownGreeting = "unknown_greeting", Missing, "The persona has no greeting of this number.";
    NoPlan = "no_plan", Missing, "The session has no plan to decide on.";
    NoProposal = "no_proposal", Missing, "The editing agent proposes nothing, or something else by now.";
    NothingToUndo = "nothing_to_undo", Missing, "The session has no message to take back.";
    NotSetUp = "not_set_up", Missing, "The provider is not configured.";
    UnknownModel = "unknown_model", Missing, "The provider has no such model.";
    NoDatabase = "no_database", Missing, "There is no database at this address.";
    FileNotFound = "file_not_found", Missing, "The file does not exist.";
    NoSessions = "no_sessions", Missing, "Sessions are not served here.";
    UnknownAddress = "unknown_address", Missing, "The server has nothing at this path.";
    UnknownCommit = "unknown_commit", Missing, "The repository has no such commit.";
    NoGit = "no_git", Missing, "The command `git` cannot be started.";

    // Conflict: the request is fine, but not in the present state.
    AlreadyExists = "already_exists", Conflict, "An entity of this kind has this name.";
    Occupied = "occupied", Conflict, "The scope has a different entity of this name.";
    StaleRevision = "stale_revision", Conflict, "The entity is not at the revision that `if_revision` names.";
    ChangedMeanwhile = "changed_meanwhile", Conflict, "Another caller changed the entity at the same time.";
    TagTaken = "tag_taken", Conflict, "Another revision has the tag.";
    InUse = "in_use", Conflict, "Other entities use it.";
    FileHasErrors = "file_has_errors", Conflict, "A personas.toml, or an entry of it, must be fixed first.";
    FileChanged = "file_changed", Conflict, "Another process changed the file at the same time; nothing was written.";
    FileExists = "file_exists", Conflict, "The file exists.";
    TargetNotEmpty = "target_not_empty", Conflict, "The target of a copy is not empty.";
    SessionExists = "session_exists", Conflict, "A session with this id exists.";
    SessionBusy = "session_busy", Conflict, "The session answers a message.";
    ApprovalPending = "approval_pending", Conflict, "The session waits for an approval.";
    EditingSession = "editing_session", Conflict, "The session is a chat with the editing agent, which takes messages itself.";
    AlreadyDecided = "already_decided", Conflict, "The call or the plan was decided before.";
    PlanChanged = "plan_changed", Conflict, "The session has another plan than the one that was approved.";
    NothingPending = "nothing_pending", Conflict, "The session has no pending approvals.";
    NotSent = "not_sent", Conflict, "The message was not sent, because the session was busy.";
    RequestUnderWay = "request_under_way", Conflict, "A request with this `Idempotency-Key` is under way.";
    OutcomeUnknown = "outcome_unknown", Conflict, "The answer to the request with this `Idempotency-Key` is not known; it may have been carried out.";
    SessionLost = "session_lost", Conflict, "Another process took the session over, or it was deleted.";
    TrackExists = "track_exists", Conflict, "A track with this id exists.";
    TrackBusy = "track_busy", Conflict, "A process works on the track.";
    TrackState = "track_state", Conflict, "The track or the ticket is in another state.";
    OtherProject = "other_project", Conflict, "The track belongs to another project than the open one.";
    BranchTaken = "branch_taken", Conflict, "A branch of this name exists, and it does not belong to the track.";
    BranchCheckedOut = "branch_checked_out", Conflict, "The branch is checked out in a working tree of the user.";
    WorktreeUnsound = "worktree_unsound", Conflict, "The directory of a ticket's worktree is something else.";
    WorktreeDirty = "worktree_dirty", Conflict, "The worktree has changes that are not committed.";

    // Invalid: the request cannot be understood, or can never succeed.
    InvalidRequest = "invalid_request", Invalid, "The request cannot be read.";
    InvalidJson = "invalid_json", Invalid, "The body is not a JSON object.";
    UnsupportedMediaType = "unsupported_media_type", Invalid, "The body is not sent as JSON.";
    BodyTooLarge = "body_too_large", Invalid, "The body is too large.";
    IncompleteBody = "incomplete_body", Invalid, "The body ended early.";
    RequestTimeout = "request_timeout", Invalid, "The body took too long to arrive.";
    BodyNotAllowed = "body_not_allowed", Invalid, "The request takes its fields from the address.";
    QueryNotAllowed = "query_not_allowed", Invalid, "The request takes its fields from the body.";
    MethodNotAllowed = "method_not_allowed", Invalid, "The path does not support this method.";
    InvalidCondition = "invalid_condition", Invalid, "The request does not support this condition, or it is not an ETag.";
    KeyReused = "key_reused", Invalid, "A different request had this `Idempotency-Key`.";
    InvalidUsage = "invalid_usage", Invalid, "The command line is wrong.";
    NotForKind = "not_for_kind", Invalid, "The option does not apply to this kind.";
    InvalidSessionId = "invalid_session_id", Invalid, "The text cannot be the start of a session's id.";
    AmbiguousSession = "ambiguous_session", Invalid, "Several sessions have an id that starts or ends like this.";
    AmbiguousTrack = "ambiguous_track", Invalid, "Several tracks have an id that starts or ends like this.";
    AmbiguousKind = "ambiguous_kind", Invalid, "Entities of several kinds have this name.";
    NoTerminal = "no_terminal", Invalid, "The command asks questions and needs a terminal.";
    NoJson = "no_json", Invalid, "The command has no JSON output.";
    NothingToChange = "nothing_to_change", Invalid, "The update names no field.";
    NotSupported = "not_supported", Invalid, "The other side does not support this.";
    NoEditor = "no_editor", Invalid, "No editor is set, or it does not start.";
    InvalidConfig = "invalid_config", Invalid, "A configuration file or variable is wrong.";
    UnknownField = "unknown_field", Invalid, "The input has no such field.";
    MissingField = "missing_field", Invalid, "A required field is missing.";
    InvalidValue = "invalid_value", Invalid, "A field has a value of the wrong type or form.";
    InvalidName = "invalid_name", Invalid, "The text cannot be a name.";
    UnknownWord = "unknown_word", Invalid, "The word is not one of a fixed list.";
    InvalidField = "invalid_field", Invalid, "A field of an entity breaks a rule.";
    ConflictingFields = "conflicting_fields", Invalid, "Fields of the request exclude or contradict each other.";
    OutOfRange = "out_of_range", Invalid, "A number is too small or too large.";
    TooLong = "too_long", Invalid, "A text or a list is too long.";
    Empty = "empty", Invalid, "A text must not be empty.";
    NulCharacter = "nul_character", Invalid, "A text contains a NUL character.";
    SaysNothing = "says_nothing", Invalid, "The prompt of a new persona would be empty.";
    NamedTwice = "named_twice", Invalid, "A list names the same entity twice.";
    InvalidTag = "invalid_tag", Invalid, "The text cannot be the tag of a revision.";
    InvalidCursor = "invalid_cursor", Invalid, "The cursor is not one that a list returned.";
    InvalidAddress = "invalid_address", Invalid, "The address of a database is not valid.";
    ForeignDatabase = "foreign_database", Invalid, "The database belongs to another program.";
    SameDatabase = "same_database", Invalid, "Source and target of a copy are the same.";
    NotUtf8 = "invalid_encoding", Invalid, "The file or input is not UTF-8 text.";
    NotToml = "not_toml", Invalid, "The text is not TOML.";
    InvalidDocument = "invalid_document", Invalid, "The text is not a valid personas.toml.";
    IncludeNotAllowed = "include_not_allowed", Invalid, "Files cannot be included here, or not this one.";
    OtherEntry = "other_entry", Invalid, "The text defines something else than the entity that is saved.";
    NotEditable = "not_editable", Invalid, "The file has to be changed by hand.";
    NotAFile = "not_a_file", Invalid, "The path is not a file.";
    NotADirectory = "not_a_directory", Invalid, "The path is not a directory.";
    InvalidPath = "invalid_path", Invalid, "The path is not UTF-8 text.";
    InvalidScript = "invalid_script", Invalid, "The file is not a script of the rehearsal model.";
    InvalidCassette = "invalid_cassette", Invalid, "The file is not a recording.";
    TooManyProjects = "too_many_projects", Invalid, "The list of trusted projects is full.";
    FileTooLarge = "file_too_large", Invalid, "The file is too large.";
    NothingToImport = "nothing_to_import", Invalid, "The bundle defines no entities.";
    UnknownStage = "unknown_stage", Invalid, "The arc has no such stage.";
    NoStages = "no_stages", Invalid, "The arc has no stages.";
    LastStage = "last_stage", Invalid, "The persona is in the last stage of its arc.";
    NoArc = "no_arc", Invalid, "The persona has no arc.";
    UnknownOverride = "unknown_override", Invalid, "An override names a part that does not exist.";
    WrongPartType = "wrong_part_type", Invalid, "An override names a part of another type.";
    BaseMissing = "base_missing", Invalid, "A stored persona extends one that does not exist.";
    BaseCycle = "base_cycle", Invalid, "Personas extend each other in a circle.";
    TooManyBases = "too_many_bases", Invalid, "The chain of bases is too long.";
    OutOfReach = "out_of_reach", Invalid, "A definition refers to an entity of a stronger scope.";
    NameClash = "name_clash", Invalid, "One name means different entities in two scopes.";
    AlreadyInScope = "already_in_scope", Invalid, "The entity is in the target scope.";
    ScopeNotOpen = "scope_not_open", Invalid, "The scope is not available here.";
    NoConflict = "no_conflict", Invalid, "Only one scope defines the entity.";
    NotDefinedThere = "not_defined_there", Invalid, "The chosen scope does not define the entity.";
    FieldNotInConflict = "field_not_in_conflict", Invalid, "The scopes agree on this field.";
    UndecidedFields = "undecided_fields", Invalid, "A merge must name a scope for each field that differs.";
    NoHistory = "no_history", Invalid, "Builtins have no history.";
    InvalidModel = "invalid_model", Invalid, "A model is written as provider/model.";
    UnknownProvider = "unknown_provider", Invalid, "No provider of this name is configured.";
    ProviderUnreachable = "provider_unreachable", Invalid, "A local provider does not answer.";
    InvalidRoot = "invalid_root", Invalid, "The session's root cannot be used.";
    NoTestInputs = "no_test_inputs", Invalid, "The persona has no test inputs.";
    Unpriced = "unpriced", Invalid, "The price of a model is not known, so a cost bounds nothing.";
    TrackCycle = "track_cycle", Invalid, "Tickets of the track wait for each other.";
    InvalidTrack = "invalid_track", Invalid, "The track has mistakes.";
    NoRepository = "no_repository", Invalid, "The project is not in a git repository.";
    GitTooOld = "git_too_old", Invalid, "The installed git is too old.";
    PlaceInCheckout = "place_in_checkout", Invalid, "Worktrees would lie inside of the checkout.";

    // Busy: the same request may succeed in a moment.
    DatabaseBusy = "database_busy", Busy, "Another writer holds the database.";
    DatabaseLost = "database_lost", Busy, "The connection to the database broke.";
    DatabaseTimeout = "database_timeout", Busy, "The database did not answer in time.";
    TimedOut = "timed_out", Busy, "The request took too long; a write may still complete.";
    FileBusy = "file_busy", Busy, "Another process writes the file.";
    StillRunning = "still_running", Busy, "The session has not ended yet.";
    RateLimited = "rate_limited", Busy, "The provider limits how often it answers.";
    AddressInUse = "address_in_use", Busy, "Another program listens on this address.";
    Overloaded = "overloaded", Busy, "The server has reached a limit.";
    GitTimeout = "git_timeout", Busy, "A git command took too long.";
    WorktreeBusy = "worktree_busy", Busy, "Another process works in the worktree.";
    NoPort = "no_port", Busy, "No port is free for the worktree.";
    ServerStopping = "server_stopping", Busy, "The server is stopping.";

    // Denied: the caller may not do this.
    BuiltinFixed = "builtin_fixed", Denied, "Builtins cannot be changed or deleted.";
    NoProject = "no_project", Denied, "No project is open.";
    OutsideProject = "outside_project", Denied, "The path lies outside of the project.";
    ReadOnlyScope = "read_only_scope", Denied, "This process does not write to the scope.";
    SchemaDenied = "schema_denied", Denied, "The database's role may not make tables in the schema.";
    FileDenied = "file_denied", Denied, "The system refuses access to the file.";
    Unauthorized = "unauthorized", Denied, "The token of the server, or the key of a provider, is missing or wrong.";
    NoKey = "no_key", Denied, "A provider is configured without its key.";
    NeedsConsent = "needs_consent", Denied, "The user has to agree first.";
    Locked = "locked", Denied, "The user locked the entity, or a field of it, against the editing agent.";
    Declined = "declined", Denied, "The user declined.";
    UnsafeFile = "unsafe_file", Denied, "Other users can change the file, so it has no effect.";
    ForeignHost = "foreign_host", Denied, "The request is not addressed to this machine.";
    ForeignOrigin = "foreign_origin", Denied, "The request comes from a page of another site.";
    AddressNotLocal = "address_not_local", Denied, "Other machines can reach the address.";
    PortDenied = "port_denied", Denied, "The system refuses the port.";
    ModelRefused = "model_refused", Denied, "The model refused to answer.";
    Refused = "refused", Denied, "The caller may not do this.";

    // Broken: something failed that should work.
    NewerSchema = "newer_schema", Broken, "A newer Masque wrote the database.";
    DatabaseUnavailable = "database_unavailable", Broken, "The database cannot be opened.";
    DatabaseFailed = "database_failed", Broken, "The database failed.";
    DatabaseFull = "database_full", Broken, "The database's disk is full.";
    DatabaseReadOnly = "database_read_only", Broken, "The database can only be read.";
    CorruptDocument = "corrupt_document", Broken, "A stored document cannot be read.";
    CopyDiffers = "copy_differs", Broken, "A copied database differs from its source.";
    FileFull = "file_full", Broken, "The disk of the file is full.";
    FileFailed = "file_failed", Broken, "Reading or writing the file failed.";
    WriteFailed = "write_failed", Broken, "An earlier step of the same write failed.";
    Interrupted = "interrupted", Broken, "A task ended before it had finished.";
    RehearsalFailed = "rehearsal_failed", Broken, "The rehearsal model does not start.";
    ListenFailed = "listen_failed", Broken, "The server cannot listen on the address.";
    ServerFailed = "server_failed", Broken, "The server stopped with an error.";
    ConnectionLost = "connection_lost", Broken, "The connection to the client broke.";
    EditorFailed = "editor_failed", Broken, "The editor ended with an error.";
    TerminalFailed = "terminal_failed", Broken, "The terminal cannot be read.";
    InputFailed = "input_failed", Broken, "Standard input cannot be read.";
    OutputFailed = "output_failed", Broken, "The output cannot be written.";
    Cancelled = "cancelled", Broken, "The user cancelled a question.";
    NoHome = "no_home", Broken, "The home directory is unknown.";
    ModelFailed = "model_failed", Broken, "No model answered.";
    GitFailed = "git_failed", Broken, "A git command failed.";
    Failed = "failed", Broken, "Something else failed.";
}

impl Code {
    /// The code of a file that cannot be read or written.
    pub fn of_io(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Self::FileDenied,
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::FileFull,
            _ => Self::FileFailed,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = Self::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}
