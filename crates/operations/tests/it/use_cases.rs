//! Every use case of `app` has a row, or a reason why it is not an operation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{ImplItem, Item, Type, Visibility};

/// Public async functions of `Library` and `Runtime` that are not operations.
const NO_OPERATIONS: &[(&str, &str)] = &[
    ("open", "opens the library that operations work on"),
    ("close", "ends it"),
    ("nothing_named", "the error of a command for a name that nothing has"),
    ("near_names", "the command line suggests names of all kinds"),
    ("stop", "ends the runtime"),
    ("ping", "/healthz asks it"),
    ("database_info", "masque db and masque doctor describe the database of this machine"),
    ("backup", "masque db: a file of this machine"),
    ("copy_to", "masque db: a database of this machine"),
    ("follow_import", "import with a progress bar, for the command line"),
    ("follow_plan", "plan_import with a progress bar, for the command line"),
    ("open_editor_chat", "a step of chat_with_editor, for the command line"),
    ("is_worked_elsewhere", "masque sessions approve says where a ticket goes on"),
    ("approve_plan", "a step of decide_plan, for the chat"),
    ("send_plan_back", "a step of decide_plan, for the chat"),
    ("plan_delete", "masque delete says who uses an entity before it asks"),
    ("preview", "masque shows a call before it asks about it"),
    ("prune", "masque db: the operator decides which revisions to keep"),
    ("recent_personas", "the menu of MCP prompts"),
    ("complete_names", "completion of names, in shells and MCP clients"),
    ("kinds_named", "masque takes a name without its kind; other fronts name both"),
    ("kinds_recorded", "the same for names in the history"),
    ("may_differ", "filters the events of subscribers"),
    ("history", "the first page of history_page"),
    ("recorded_scope", "a step of history"),
    ("revision", "a step of history; get_entity takes a revision"),
    ("scope_of", "masque lint looks where a name resolves"),
    ("overrides", "explains why masque conflicts lists nothing"),
    ("prompt", "get_agent_persona with compiled, as MCP prompts and resources send it"),
    ("text_origins", "masque compile --origins; preview_persona has the blocks of any definition"),
    ("flat", "a step of running a persona"),
    ("settings", "masque show prints it beside a loaded persona; get_entity has the fields"),
    ("written_out", "masque show --flat writes a persona for a file"),
    ("entity_toml", "masque edit opens an editor with it"),
    ("check_can_save", "masque edit asks before the editor opens"),
    ("save_toml", "masque edit saves the edited text"),
    ("events", "watch checks the place first"),
    ("sessions_beginning", "the command line takes the beginning of a session's id"),
    ("sessions_ending", "the command line takes the end of a session's id"),
    ("unique_end", "masque sessions shows short ids"),
    ("perform", "a run without a session, for players and judges; callers have sessions"),
    ("set_persona", "masque chat; update_session does it over HTTP"),
    ("set_model", "masque chat; update_session does it over HTTP"),
    ("local_providers", "masque doctor"),
    ("follow_run", "send_message with an Idempotency-Key that was sent before"),
    ("claim_request", "a step of every write over HTTP with an Idempotency-Key"),
    ("renew_request", "a step of every write over HTTP with an Idempotency-Key"),
    ("answer_request", "a step of every write over HTTP with an Idempotency-Key"),
    ("release_request", "a step of every write over HTTP with an Idempotency-Key"),
    ("finish", "ends the runtime with its runs"),
    ("session_counts", "/metrics shows it"),
];

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The use cases, each with the file that has it.
fn use_cases() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/src")) {
        let file = syn::parse_file(&fs::read_to_string(&path).expect("a source")).expect("Rust");
        let blocks = file.items.into_iter().filter_map(|item| match item {
            Item::Impl(block) if block.trait_.is_none() => Some(block),
            _ => None,
        });
        for block in blocks {
            let Type::Path(of) = &*block.self_ty else { continue };
            if !of.path.segments.last().is_some_and(|last| last.ident == "Library" || last.ident == "Runtime")
            {
                continue;
            }
            for item in block.items {
                if let ImplItem::Fn(function) = item
                    && matches!(function.vis, Visibility::Public(_))
                    && function.sig.asyncness.is_some()
                {
                    found.insert(function.sig.ident.to_string(), path.display().to_string());
                }
            }
        }
    }
    found
}

/// The methods that the table's sources call.
fn called() -> BTreeSet<String> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/table");
    let mut called = BTreeSet::new();
    for path in sources(&table) {
        let text = fs::read_to_string(path).expect("a source");
        let words = text.split('.').skip(1);
        called.extend(
            words.map(|word| word.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()),
        );
    }
    called
}

#[test]
fn every_use_case_has_a_row_or_a_reason() {
    let (use_cases, called) = (use_cases(), called());
    assert!(use_cases.len() > 60, "{} use cases were found", use_cases.len());
    let excluded: BTreeMap<&str, &str> = NO_OPERATIONS.iter().copied().collect();
    for (name, file) in &use_cases {
        assert!(
            called.contains(name) || excluded.contains_key(name.as_str()),
            "{file}: {name} has no row; add one to crates/operations/src/table, or a reason to NO_OPERATIONS"
        );
    }
    for (name, reason) in excluded {
        assert!(use_cases.contains_key(name), "{name} is no use case any more; take it out of NO_OPERATIONS");
        assert!(!called.contains(name), "{name} has a row; take it out of NO_OPERATIONS");
        assert!(!reason.is_empty(), "{name}");
    }
}
