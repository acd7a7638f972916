//! The fingerprint of everything that trust lets a project do.
//!
//! It covers MCP servers, providers, tool presets and the presets that personas use. Texts of personas,
//! comments and layout can change without a new question.

use std::path::Path;

use sha2::{Digest as _, Sha256};
use toml::{Table, Value};

/// Tables that take effect in a trusted project only.
const TABLES: [&str; 3] = ["mcp_servers", "providers", "tool_presets"];
/// Fields of a persona that select its tool presets.
const PERSONA_FIELDS: [&str; 3] = ["extends", "tool_preset", "plan_persona"];

/// Hashes the personas.toml of a project. A text that is not TOML is hashed as a whole.
pub(super) fn fingerprint(root: &Path, text: &str) -> String {
    let mut hash = Sha256::new();
    match toml::from_str::<Table>(text) {
        Ok(table) => feed(&mut hash, &Value::Table(relevant(table))),
        Err(_) => hash.update(text),
    }
    // A link out of the project must keep its target.
    if app::project::leads_out(root)
        && let Ok(target) = root.join(app::project::FILE_NAME).canonicalize()
    {
        hash.update(target.as_os_str().as_encoded_bytes());
    }
    format!("sha256:{:x}", hash.finalize())
}

/// The parts of a personas.toml that need trust.
fn relevant(mut table: Table) -> Table {
    let personas = table.remove("personas");
    table.retain(|name, _| TABLES.contains(&name));
    let Some(Value::Table(mut personas)) = personas else { return table };
    for (_, persona) in &mut personas {
        if let Value::Table(fields) = persona {
            fields.retain(|name, _| PERSONA_FIELDS.contains(&name));
        }
    }
    personas.retain(|_, persona| persona.as_table().is_some_and(|fields| !fields.is_empty()));
    if !personas.is_empty() {
        table.insert("personas".to_owned(), Value::Table(personas));
    }
    table
}

/// Feeds a value in an unambiguous form that does not depend on the order of keys.
fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Table(table) => {
            let mut entries: Vec<(&String, &Value)> = table.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            hash.update(format!("table {} ", entries.len()));
            for (name, value) in entries {
                hash.update(format!("{name:?} "));
                feed(hash, value);
            }
        }
        Value::Array(items) => {
            hash.update(format!("list {} ", items.len()));
            items.iter().for_each(|item| feed(hash, item));
        }
        scalar => hash.update(format!("{} {scalar} ", scalar.type_str())),
    }
}
