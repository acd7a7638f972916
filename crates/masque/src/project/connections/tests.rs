use std::path::{Path, PathBuf};

use tools::Transport;

use super::Connections;

fn parse(text: &str) -> Connections {
    Connections::parse(Path::new("/shop/personas.toml"), text)
}

#[test]
fn connections_are_read_beside_personas() {
    let found = parse(
        "[personas.clerk]\nsummary = 'x'\n\
         [mcp_servers.stock]\ncommand = './bin/stock'\n[mcp_servers.git]\ncommand = 'git-mcp'\ncwd = 'sub'\n\
         [providers.local]\nkind = 'openai-chat'\nbase_url = 'http://127.0.0.1:9/v1'\nca_file = 'ca.pem'\n",
    );
    assert_eq!(found.warnings, [""; 0]);
    assert_eq!(found.server_names, ["git", "stock"]);
    assert_eq!(found.provider_names, ["local"]);
    let started = |name: &str| match &found.mcp_servers[name].transport {
        Transport::Stdio { command, cwd, .. } => (command.clone(), cwd.clone()),
        Transport::Http { .. } => panic!("{name} is a program"),
    };
    assert_eq!(started("stock"), ("/shop/./bin/stock".to_owned(), Some(PathBuf::from("/shop/"))));
    assert_eq!(started("git"), ("git-mcp".to_owned(), Some(PathBuf::from("/shop/sub"))));
    assert_eq!(found.providers["local"].ca_file.as_deref(), Some(Path::new("/shop/ca.pem")));
}

#[test]
fn invalid_entries_are_skipped_with_a_warning() {
    let found = parse(
        "[mcp_servers.good]\ncommand = 'x'\n[mcp_servers.odd]\ncommand = 'x'\ncolour = 1\n\
         [providers.far]\nkind = 'gemini'\nbase_url = 'ftp://x'\n[providers.key]\nkind = 'gemini'\nheaders = 's3cret'\n",
    );
    assert_eq!(found.mcp_servers.keys().collect::<Vec<_>>(), ["good"]);
    assert_eq!(found.server_names, ["good", "odd"]);
    assert!(found.providers.is_empty());
    let warnings = found.warnings.join("\n");
    for said in [
        "/shop/personas.toml:8:1: providers.far.base_url: ",
        "/shop/personas.toml:11:11: providers.key: expected a table, found a text; skipped",
        "mcp_servers.odd: unknown key \"colour\"",
    ] {
        assert!(warnings.contains(said), "{said:?} is not in:\n{warnings}");
    }
    assert!(!warnings.contains("s3cret"), "{warnings}");
    assert!(parse("mcp_servers = 3\n").warnings[0].contains("use [mcp_servers.NAME]"));
}

#[test]
fn a_broken_or_missing_file_has_no_connections() {
    assert_eq!(parse("[mcp_servers.x\n"), Connections::default());
    assert_eq!(Connections::read(Path::new("/nowhere/at/all/personas.toml")), Connections::default());
}
