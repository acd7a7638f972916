//! Every limit of a tool. The size of an answer is in `agent::limits`.

use std::time::Duration;

/// How long a handler may take to notice that its call was cancelled before it is dropped.
pub const CANCEL_GRACE: Duration = Duration::from_millis(500);
/// Violations of a schema that one answer lists.
pub const VIOLATIONS: usize = 10;
/// Characters of the description of one violation.
pub const VIOLATION_CHARS: usize = 300;
/// Steps back that a pattern in a schema may take on one text.
pub const PATTERN_BACKTRACKS: usize = 100_000;
/// Bytes of memory for one compiled pattern of a schema.
pub const PATTERN_BYTES: usize = 1024 * 1024;

/// Bytes of a file that can be read, searched or edited.
pub const FILE_BYTES: u64 = 10 * 1024 * 1024;
/// Bytes of a file that can be written; a model's reply is smaller.
pub const WRITTEN_BYTES: usize = 4 * 1024 * 1024;
/// Lines that `read_file` shows by default.
pub const READ_LINES: u64 = 2_000;
/// The first bytes of a file. A NUL among them marks it as binary.
pub const BINARY_PROBE_BYTES: usize = 8 * 1024;
/// Time that one call of a file tool may take.
pub const FILES_TIME: Duration = Duration::from_secs(20);
/// Directory entries that one call looks at.
pub const WALK_ENTRIES: usize = 200_000;
/// Directories within directories.
pub const WALK_DEPTH: usize = 64;
/// Bytes of one file of ignore rules; the rest is ignored.
pub const IGNORE_RULES_BYTES: u64 = 256 * 1024;
/// Entries that `list_files` shows.
pub const LISTED_ENTRIES: usize = 1_000;
/// The default depth of `list_files` without a glob.
pub const LIST_DEPTH: usize = 2;
/// Matching lines that `search_files` shows by default.
pub const SEARCH_MATCHES: u64 = 100;
/// The most matching lines that it shows.
pub const MOST_SEARCH_MATCHES: u64 = 1_000;
/// The most lines of context on either side.
pub const SEARCH_CONTEXT: u64 = 20;
/// Characters of one line in an answer of `search_files`.
pub const SEARCH_LINE_CHARS: usize = 400;
/// Bytes of memory for a compiled search pattern.
pub const SEARCH_PATTERN_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of one line that is searched.
pub const SEARCH_LINE_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of an answer about files; the rest is for its notes.
pub const FILES_ANSWER_BYTES: usize = agent::limits::TOOL_OUTPUT_BYTES - 1_024;
/// Lines of a file that are compared for a near match.
pub const NEAR_LINES: usize = 20_000;
/// Characters of a line that are compared for one.
pub const NEAR_CHARS: usize = 120;
/// Places that an error about a match names.
pub const NAMED_PLACES: usize = 20;

/// Entries of a directory among which leftover temporary files are looked for.
pub const LEFTOVER_ENTRIES: usize = 10_000;
/// Words in the settings of one MCP server that may name files, and directories among them.
pub const PROGRAM_WORDS: usize = 1_000;
pub const PROGRAM_DIRECTORIES: usize = 8;

/// The default time limit of a command.
pub const COMMAND_TIME: Duration = Duration::from_secs(120);
/// The most time that a command may ask for.
pub const MOST_COMMAND_TIME: Duration = Duration::from_secs(600);
/// Bytes of a command line.
pub const COMMAND_BYTES: usize = 64 * 1024;
/// Bytes from the beginning of a command's output that are kept.
pub const OUTPUT_HEAD_BYTES: usize = 20 * 1024;
/// Bytes from the end of a command's output that are kept.
pub const OUTPUT_TAIL_BYTES: usize = 40 * 1024;
/// Bytes of output after which a command is ended.
pub const OUTPUT_BYTES: u64 = 256 * 1024 * 1024;
/// How long the rest of the output is waited for when a command has ended.
pub const DRAIN_TIME: Duration = Duration::from_millis(500);
/// How long a keeper may take to end a command and all that it started.
pub const KEEPER_TIME: Duration = Duration::from_secs(1);
/// Rounds in which the children of a killed process are looked for.
pub const KILL_ROUNDS: usize = 20;
/// The pause before a round, if a process that is just starting a program cannot be told apart yet.
pub const KILL_PAUSE: Duration = Duration::from_millis(1);

/// Time in which an MCP server has to start and to list its tools.
pub const SERVER_START_TIME: Duration = Duration::from_secs(30);
/// Time that one call of an MCP server's tool may take.
pub const SERVER_CALL_TIME: Duration = Duration::from_secs(120);
/// The most that either may be set to.
pub const MOST_SERVER_TIME: Duration = Duration::from_secs(3_600);
/// Time for a server to end by itself after it was closed.
pub const SERVER_CLOSE_TIME: Duration = Duration::from_secs(2);
/// Tools of one server; the others are left out.
pub const SERVER_TOOLS: usize = 512;
/// Pages of one server's list of tools.
pub const SERVER_PAGES: usize = 64;
/// Bytes of a description; the rest is cut.
pub const DESCRIPTION_BYTES: usize = 4 * 1024;
/// Bytes of an input schema; a tool with a larger one is left out.
pub const SCHEMA_BYTES: usize = 64 * 1024;
/// Characters of a tool's name.
pub const TOOL_NAME_CHARS: usize = 64;
/// Characters of a tool's name that its server's name may fill.
pub const SERVER_NAME_CHARS: usize = 24;
/// A server that lived shorter than this counts as one that fails.
pub const SERVER_SHORT_LIFE: Duration = Duration::from_secs(10);
/// Failures in a row after which a server is started again only after a pause.
pub const SERVER_QUICK_RESTARTS: u32 = 1;
/// The longest pause; the first is a second, and each is twice the last.
pub const SERVER_PAUSE: Duration = Duration::from_secs(60);
/// Bytes of a line of a server's standard error that are logged.
pub const SERVER_LOG_LINE_BYTES: usize = 1_024;
/// Lines of a server's standard error that are logged; the rest is read and dropped.
pub const SERVER_LOG_LINES: usize = 1_000;
/// How often a server may ask for a call again before it answers.
pub const SERVER_ROUNDS: u32 = 8;
/// The pause before that, longer by this much each time.
pub const SERVER_ROUND_PAUSE: Duration = Duration::from_millis(250);
/// Bytes of one message of a server.
pub const SERVER_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Time that fetching an address may take, redirects included.
pub const FETCH_TIME: Duration = Duration::from_secs(30);
/// Time that one connection may take to be made.
pub const FETCH_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Redirects that are followed.
pub const FETCH_REDIRECTS: usize = 5;
/// Bytes of a page that are read by default.
pub const FETCH_BYTES: usize = 1024 * 1024;
/// The most bytes that are read.
pub const MOST_FETCH_BYTES: usize = 5 * 1024 * 1024;
/// Characters of an address.
pub const URL_CHARS: usize = 2_048;
/// Characters of a link that is shown with a page's text.
pub const LINK_CHARS: usize = 200;
/// Directories whose tools are kept open.
pub const OPEN_ROOTS: usize = 64;
/// Events of running calls that wait to be received.
pub const WAITING_EVENTS: usize = 64;
/// Characters of a message about a call's progress.
pub const PROGRESS_CHARS: usize = 500;
