//! Sets or removes one entry in Codex's TOML file. Comments and layout stay.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::NAME;
use super::bearer::{Bearer, VARIABLE};
use super::entry::{Entry, has_password};
use super::json_file::DATABASE_VARIABLE;

mod remove;
pub(super) use remove::remove;

const SERVERS: &str = "mcp_servers";
/// Headers with their values.
const HEADERS: &str = "http_headers";
const AUTHORIZATION: &str = "Authorization";
/// Names the variable with a token.
const VARIABLE_KEY: &str = "bearer_token_env_var";

/// Returns the text with our entry. The error says why the file stays unchanged.
pub(super) fn merge(old: &str, entry: &Entry) -> Result<String, String> {
    let mut document: DocumentMut = old.parse().map_err(|error| invalid(&error))?;
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
            for key in ["url", HEADERS, VARIABLE_KEY] {
                ours.remove(key);
            }
            set(ours, "command", Value::from(command.as_str()));
            set(ours, "args", Value::from(arguments.iter().collect::<Array>()));
        }
        Entry::Address { url, bearer } => {
            ours.remove("command");
            ours.remove("args");
            set(ours, "url", Value::from(url.as_str()));
            set_bearer(ours, bearer.as_ref())?;
        }
    }
    drop_password(ours);
    Ok(document.to_string())
}

/// Sets the token. Codex has a key of its own for a variable; the user's other headers stay.
fn set_bearer(ours: &mut dyn TableLike, bearer: Option<&Bearer>) -> Result<(), String> {
    let Some(bearer) = bearer else { return Ok(()) };
    if let Bearer::Variable = bearer {
        set(ours, VARIABLE_KEY, Value::from(VARIABLE));
        if let Some(headers) = ours.get_mut(HEADERS).and_then(Item::as_table_like_mut) {
            headers.remove(AUTHORIZATION);
            if headers.is_empty() {
                ours.remove(HEADERS);
            }
        }
        return Ok(());
    }
    ours.remove(VARIABLE_KEY);
    if !ours.contains_key(HEADERS) {
        ours.insert(HEADERS, Item::Value(Value::InlineTable(InlineTable::new())));
    }
    let headers = ours.get_mut(HEADERS).and_then(Item::as_table_like_mut);
    let headers = headers.ok_or_else(|| format!("its {SERVERS}.{NAME}.{HEADERS} is not a table"))?;
    set(headers, AUTHORIZATION, Value::from(bearer.header(str::to_owned)));
    Ok(())
}

fn invalid(error: &toml_edit::TomlError) -> String {
    format!("it is not valid TOML ({})", error.to_string().trim_end().replace('\n', " "))
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

/// Drops a password that an older version wrote.
fn drop_password(ours: &mut dyn TableLike) {
    let Some(variables) = ours.get_mut("env").and_then(Item::as_table_like_mut) else { return };
    if !variables.get(DATABASE_VARIABLE).and_then(Item::as_str).is_some_and(has_password) {
        return;
    }
    variables.remove(DATABASE_VARIABLE);
    if variables.is_empty() {
        ours.remove("env");
    }
}

#[cfg(test)]
mod tests {
    use super::{Bearer, Entry, merge, remove};

    fn program() -> Entry {
        Entry::Program {
            command: "/bin/masque".to_owned(),
            arguments: vec!["mcp".to_owned(), "--tools".to_owned(), "load".to_owned()],
            left_out: None,
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
        assert_eq!(merged("", &program()), OURS);
        let old = "# mine\nmodel = \"x\"   # why\n\n[mcp_servers.other]\ncommand = 'y'\n";
        assert_eq!(merged(old, &program()), format!("{old}\n{OURS}"));
    }

    #[test]
    fn an_entry_of_ours_is_brought_up_to_date() {
        let old = "[mcp_servers.masque]\ncommand = \"/old\" # where it is\nstartup_timeout_sec = 5\n\
                   env = { MASQUE_DB = \"postgres://me:x@h/d\" }\n\n[after]\na = 1\n";
        let new = merged(old, &program());
        assert!(new.contains("command = \"/bin/masque\" # where it is\nstartup_timeout_sec = 5\n"), "{new}");
        assert!(new.ends_with("\n[after]\na = 1\n"), "{new}");
        assert!(!new.contains("env"), "an older version wrote the password: {new}");
        let own = old.replace("me:x@", "me@");
        assert!(merged(&own, &program()).contains("env = { MASQUE_DB = \"postgres://me@h/d\" }"));
        let http = merged(&new, &address(None));
        assert!(http.contains("url = ") && !http.contains("command") && !http.contains("args"), "{http}");
    }

    fn address(bearer: Option<Bearer>) -> Entry {
        Entry::Address { url: "http://127.0.0.1:4747/mcp".to_owned(), bearer }
    }

    #[test]
    fn the_token_is_a_header_or_a_variable() {
        let token = server::Token::generate();
        let header = format!("http_headers = {{ Authorization = \"Bearer {}\" }}\n", token.expose());
        let literal = merged("", &address(Some(Bearer::Literal(token))));
        assert!(literal.ends_with(&header), "{literal}");
        let variable = merged(&literal, &address(Some(Bearer::Variable)));
        assert!(variable.ends_with("bearer_token_env_var = \"MASQUE_TOKEN\"\n"), "{variable}");
        assert!(!variable.contains("http_headers"), "{variable}");
        let own = "[mcp_servers.masque]\nhttp_headers = { X-Team = \"blue\" }\n";
        let token = Bearer::Literal(server::Token::generate());
        let both = merged(own, &address(Some(token)));
        assert!(both.contains("X-Team = \"blue\"") && both.contains("Authorization = "), "{both}");
        for connected in [literal, variable] {
            assert_eq!(merged(&connected, &program()), OURS);
        }
    }

    #[test]
    fn an_entry_of_ours_is_removed_and_nothing_else() {
        let check = |old: &str| {
            let connected = merged(old, &program());
            assert_eq!(remove(&connected).expect("valid").expect("connected"), old);
        };
        check("# mine\nmodel = \"x\"   # why\n\n[mcp_servers.other]\ncommand = 'y'\n");
        check("");
        check("a = 1\n");
        let cut = |old: &str, new: &str| {
            assert_eq!(remove(old).expect("valid").as_deref(), Some(new), "{old}");
        };
        cut(
            "# the file\n[mcp_servers.masque]\ncommand = \"m\" # ours\n[mcp_servers.masque.env]\nA = \"b\"\n\n# next\n[x]\ny = 1\n",
            "# the file\n\n# next\n[x]\ny = 1\n",
        );
        cut("[x]\n[mcp_servers.masque]\r\ncommand = \"m\"", "[x]\n");
        cut(
            "[mcp_servers]\nmasque = { command = \"m\" }\nother = { command = \"y\" }\n",
            "[mcp_servers]\nother = { command = \"y\" }\n",
        );
        cut("[mcp_servers.masque]\na = \"\"\"\n[x]\n\"\"\"\n[y]\n", "[y]\n");
        for none in ["", "[mcp_servers.other]\n", "mcp_servers = 1\n"] {
            assert_eq!(remove(none).expect("valid"), None, "{none}");
        }
        assert!(remove("a = [").expect_err("refused").contains("line 1"));
    }

    #[test]
    fn an_unparsable_file_is_an_error() {
        assert!(merge("a = [", &program()).expect_err("refused").contains("line 1"));
        assert!(merge("mcp_servers = 1", &program()).expect_err("refused").contains("not a table"));
    }
}
