//! Sets one entry in Codex's TOML file. Comments and layout stay.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::NAME;
use super::entry::{DATABASE_VARIABLE, Entry};

const SERVERS: &str = "mcp_servers";

/// Returns the text with our entry. The error says why the file stays unchanged.
pub(super) fn merge(old: &str, entry: &Entry) -> Result<String, String> {
    let mut document: DocumentMut = old.parse().map_err(|error: toml_edit::TomlError| {
        format!("it is not valid TOML ({})", error.to_string().trim_end().replace('\n', " "))
    })?;
    let servers = document.entry(SERVERS).or_insert_with(|| {
        let mut table = Table::new();
        // Write `[mcp_servers.masque]` only, without an empty `[mcp_servers]` above it.
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| format!("its {SERVERS} is not a table"))?;
    if !servers.contains_key(NAME) {
        servers.insert(NAME, Item::Table(Table::new()));
    }
    let ours = servers.get_mut(NAME).and_then(Item::as_table_like_mut);
    let ours = ours.ok_or_else(|| format!("its {SERVERS}.{NAME} is not a table"))?;
    match entry {
        Entry::Program { command, arguments, .. } => {
            ours.remove("url");
            set(ours, "command", Value::from(command.as_str()));
            set(ours, "args", Value::from(arguments.iter().collect::<Array>()));
        }
        Entry::Address(url) => {
            ours.remove("command");
            ours.remove("args");
            set(ours, "url", Value::from(url.as_str()));
        }
    }
    set_environment(ours, entry.secret_database())?;
    Ok(document.to_string())
}

/// Sets a value. An equal value keeps its spelling; a new one keeps the comment of the old.
fn set(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) if same(old, &value) => {}
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        _ => false,
    }
}

fn set_environment(ours: &mut dyn TableLike, database: Option<&str>) -> Result<(), String> {
    let Some(database) = database else {
        let variables = ours.get_mut("env").and_then(Item::as_table_like_mut);
        let now_empty = variables
            .is_some_and(|variables| variables.remove(DATABASE_VARIABLE).is_some() && variables.is_empty());
        if now_empty {
            ours.remove("env");
        }
        return Ok(());
    };
    if !ours.contains_key("env") {
        ours.insert("env", Item::Value(Value::InlineTable(toml_edit::InlineTable::new())));
    }
    let variables = ours.get_mut("env").and_then(Item::as_table_like_mut);
    let variables = variables.ok_or_else(|| format!("its {SERVERS}.{NAME}.env is not a table"))?;
    set(variables, DATABASE_VARIABLE, Value::from(database));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Entry, merge};

    fn program(secret_database: Option<&str>) -> Entry {
        Entry::Program {
            command: "/bin/masque".to_owned(),
            arguments: vec!["mcp".to_owned(), "--tools".to_owned(), "load".to_owned()],
            secret_database: secret_database.map(str::to_owned),
        }
    }

    fn merged(old: &str, entry: &Entry) -> String {
        let once = merge(old, entry).expect("it can be merged");
        assert_eq!(merge(&once, entry).expect("it can be merged again"), once);
        once
    }

    const OURS: &str =
        "[mcp_servers.masque]\ncommand = \"/bin/masque\"\nargs = [\"mcp\", \"--tools\", \"load\"]\n";

    #[test]
    fn comments_and_order_are_kept() {
        assert_eq!(merged("", &program(None)), OURS);
        let old = "# mine\nmodel = \"x\"   # why\n\n[mcp_servers.other]\ncommand = 'y'\n";
        assert_eq!(merged(old, &program(None)), format!("{old}\n{OURS}"));
    }

    #[test]
    fn an_entry_of_ours_is_brought_up_to_date() {
        let old = "[mcp_servers.masque]\ncommand = \"/old\" # where it is\nstartup_timeout_sec = 5\n\n[after]\na = 1\n";
        let new = merged(old, &program(Some("postgres://me:x@h/d")));
        assert!(new.contains("command = \"/bin/masque\" # where it is\nstartup_timeout_sec = 5\n"), "{new}");
        assert!(new.contains("env = { MASQUE_DB = \"postgres://me:x@h/d\" }"), "{new}");
        assert!(new.ends_with("\n[after]\na = 1\n"), "{new}");
        assert!(!merged(&new, &program(None)).contains("env"));
        let http = merged(&new, &Entry::Address("http://127.0.0.1:4747/mcp".to_owned()));
        assert!(http.contains("url = ") && !http.contains("command") && !http.contains("args"), "{http}");
    }

    #[test]
    fn an_unparsable_file_is_an_error() {
        assert!(merge("a = [", &program(None)).expect_err("refused").contains("line 1"));
        assert!(merge("mcp_servers = 1", &program(None)).expect_err("refused").contains("not a table"));
    }
}
