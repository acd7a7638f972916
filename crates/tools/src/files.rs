//! Reading, finding and changing files below a session's root.

use std::sync::Arc;

use agent::{Annotations, Concern, Schema, Tool, ToolCall};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::input::object;
use crate::{Consent, Handler, Invocation, Outcome, Registered, limits};

mod root;
pub use root::{Root, RootError};

mod guard;
pub use guard::{Guard, SecretPatternError, SecretPatterns};

mod preview;
pub(crate) use preview::change;
pub use preview::{FileChange, Preview};

mod ignored;
mod walk;
use walk::Watch;

mod edit;
mod list;
mod read;
mod search;
mod write;
pub(crate) use write::clear_leftovers;

/// The set `files`: `read_file`, `list_files` and `search_files`, which only read, and `write_file` and
/// `edit_file`, which do not.
pub fn files(root: &Root) -> Vec<Registered> {
    vec![
        tool(root, "read_file", READ, read_schema(), Annotations::READ_ONLY, (Access::Read, read::run)),
        tool(root, "list_files", LIST, list_schema(), Annotations::READ_ONLY, (Access::Names, list::run)),
        tool(
            root,
            "search_files",
            SEARCH,
            search_schema(),
            Annotations::READ_ONLY,
            (Access::Read, search::run),
        ),
        tool(root, "write_file", WRITE, write_schema(), WRITES, (Access::Write, write::run)),
        tool(root, "edit_file", EDIT, edit_schema(), EDITS, (Access::ReadAndWrite, edit::run)),
    ]
}

const WRITES: Annotations = Annotations {
    read_only_hint: false,
    destructive_hint: true,
    idempotent_hint: true,
    open_world_hint: false,
    is_claimed: false,
};
const EDITS: Annotations = Annotations { idempotent_hint: false, ..WRITES };

const READ: &str = "Reads a text file below the root. The text comes as it is, without line numbers; where \
    lines are left out, a first line in brackets says which were shown.";
const LIST: &str = "Lists files and directories below the root, sorted, directories with a slash at the end. \
    Ignored and hidden files are left out unless the path or the glob names them.";
const SEARCH: &str = "Searches the text of files below the root for a regular expression, line by line. \
    Shows matching lines by file with their numbers. Ignored, hidden and binary files are left out.";
const WRITE: &str = "Writes a whole file below the root, replacing it if it is there; makes missing \
    directories. To change a part of a file, use edit_file.";
const EDIT: &str = "Replaces a piece of text in a file below the root. The old text must occur exactly once, \
    white space included, unless all is true.";

const PATH: &str = "Path relative to the root";

fn read_schema() -> Value {
    object(
        &["path"],
        json!({
            "path": { "type": "string", "minLength": 1, "description": PATH },
            "offset": { "type": "integer", "minimum": 1, "description": "First line, counted from 1" },
            "limit": {
                "type": "integer", "minimum": 1,
                "description": format!("Number of lines; {} by default", limits::READ_LINES),
            },
        }),
    )
}

fn list_schema() -> Value {
    object(
        &[],
        json!({
            "path": { "type": "string", "description": "Directory, relative to the root; the root by default" },
            "glob": {
                "type": "string", "minLength": 1, "maxLength": 1_000,
                "description": "Only files that match, such as *.rs at any depth, or src/**/*.rs",
            },
            "depth": {
                "type": "integer", "minimum": 1,
                "description": format!("Levels to go down; {} by default, all with a glob", limits::LIST_DEPTH),
            },
        }),
    )
}

fn search_schema() -> Value {
    object(
        &["pattern"],
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 10_000,
                "description": "Regular expression without look-around and back-references",
            },
            "path": { "type": "string", "description": "File or directory, relative to the root; the root by default" },
            "glob": {
                "type": "string", "minLength": 1, "maxLength": 1_000,
                "description": "Only files that match, such as *.rs at any depth, or src/**/*.rs",
            },
            "ignore_case": { "type": "boolean" },
            "context": {
                "type": "integer", "minimum": 0, "maximum": limits::SEARCH_CONTEXT,
                "description": "Lines to show before and after a match; 0 by default",
            },
            "max": {
                "type": "integer", "minimum": 1, "maximum": limits::MOST_SEARCH_MATCHES,
                "description": format!("Matching lines to show; {} by default", limits::SEARCH_MATCHES),
            },
        }),
    )
}

fn write_schema() -> Value {
    object(
        &["path", "content"],
        json!({
            "path": { "type": "string", "minLength": 1, "description": PATH },
            "content": { "type": "string", "description": "The whole text of the file" },
        }),
    )
}

fn edit_schema() -> Value {
    object(
        &["path", "old", "new"],
        json!({
            "path": { "type": "string", "minLength": 1, "description": PATH },
            "old": { "type": "string", "minLength": 1, "description": "The text to replace, exactly as in the file" },
            "new": { "type": "string", "description": "The text to put in its place" },
            "all": { "type": "boolean", "description": "Replace every occurrence" },
        }),
    )
}

type Run = fn(&Root, Map<String, Value>, &Watch, Consent) -> Result<String, String>;

/// The access to the file of `path`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Only its name is shown.
    Names,
    Read,
    Write,
    ReadAndWrite,
}

impl Access {
    fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadAndWrite)
    }

    fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadAndWrite)
    }
}

fn tool(
    root: &Root,
    name: &str,
    description: &str,
    input_schema: Value,
    annotations: Annotations,
    (access, run): (Access, Run),
) -> Registered {
    let tool = Tool {
        name: name.to_owned(),
        set: "files",
        description: description.to_owned(),
        input_schema: Schema::new(input_schema),
        annotations,
    };
    Registered::new(tool, Arc::new(OfFiles { root: root.clone(), access, run }))
}

/// Runs a file tool on a thread that may block.
#[derive(Debug)]
struct OfFiles {
    root: Root,
    access: Access,
    run: Run,
}

impl OfFiles {
    /// The concerns about a path. An invalid path has none: the call fails.
    fn concerns_of(&self, given: &str) -> Result<Vec<Concern>, String> {
        let path = self.root.expected(&self.root.relative(given)?)?;
        let guard = self.root.guard();
        let mut concerns = Vec::new();
        if self.access.writes() && guard.protects(&self.root, &path) {
            concerns.push(Concern::Protected(root::shown(&path)));
        }
        // The content of a directory is looked at file by file.
        let is_dir = || self.root.dir().metadata(&path).is_ok_and(|found| found.is_dir());
        if self.access.reads() && guard.is_secret(&self.root, &path) && !is_dir() {
            concerns.push(Concern::Secret(root::shown(&path)));
        }
        Ok(concerns)
    }
}

impl Handler for OfFiles {
    fn concerns(&self, call: &ToolCall) -> Vec<Concern> {
        let given = call.input.get("path").and_then(Value::as_str);
        given.and_then(|given| self.concerns_of(given).ok()).unwrap_or_default()
    }

    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let cancelled = invocation.cancelled.child_token();
            let watch = Watch::new(cancelled.clone());
            // Dropping this future tells the thread, which nothing else would stop.
            let _stops = cancelled.drop_guard();
            let (root, run, consent) = (self.root.clone(), self.run, invocation.consent);
            let input = invocation.call.input;
            match tokio::task::spawn_blocking(move || run(&root, input, &watch, consent)).await {
                Ok(Ok(text)) => Outcome::text(text),
                Ok(Err(message)) => Outcome::error(message),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => Outcome::error("the program is shutting down"),
            }
        })
    }
}
