//! `connect` changes one place in another program's file.

use std::path::PathBuf;

use serde_json::Value;

use crate::home::{CommandOutput, Home, contains};

/// For each client: its user's file, possible content of it, and the servers' key.
const CLIENTS: [(&str, &str, &str); 5] = [
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"projects\": {\"/x\": {\"a\":[1,  2]}}\n}\n",
    ),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "{\"globalShortcut\":\"\",\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\n\t\"mcpServers\": {\n\t\t\"other\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t}\n}",
    ),
    ("vscode", ".config/Code/User/mcp.json", "{\n    \"inputs\": [],\n    \"servers\": {}\n}\n"),
    ("codex", ".codex/config.toml", "# mine\nmodel = \"x\"  # why\n\n[mcp_servers.other]\ncommand = 'y'\n"),
];

fn backups(home: &Home, file: &str) -> Vec<PathBuf> {
    let directory = home.path(file).parent().unwrap().to_path_buf();
    let name = home.path(file).file_name().unwrap().to_str().unwrap().to_owned() + ".bak-";
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&name)).collect()
}

/// True if `new` is `old` with an insertion at one place.
fn is_insertion(old: &str, new: &str) -> bool {
    let same_start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let same_end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    new.len() > old.len() && same_start + same_end >= old.len()
}

fn compact(json: &str) -> String {
    json.split_whitespace().collect()
}

#[test]
fn connect_keeps_existing_content() {
    for (client, file, old) in CLIENTS {
        let home = Home::new();
        home.write(file, old);
        let answer = home.ok(&["connect", client]);
        contains(&answer, &["connected", file, ".bak-", "next: "]);
        let new = home.read(file);
        contains(&new, &["masque", "mcp", env!("CARGO_BIN_EXE_masque")]);
        let old_without_empty = old.replace("\"servers\": {}", "\"servers\": {");
        // An object on one line becomes several lines when it gets a member.
        let spread = !old.contains('\n') && is_insertion(&compact(old), &compact(&new));
        let inserted = is_insertion(&old_without_empty, &new) || is_insertion(old, &new);
        assert!(inserted || spread, "{client}:\n{new}");
        let copies = backups(&home, file);
        assert_eq!(copies.len(), 1, "{copies:?}");
        assert_eq!(std::fs::read_to_string(&copies[0]).unwrap(), old);

        contains(&home.ok(&["connect", client]), &["already connected"]);
        assert_eq!((home.read(file), backups(&home, file).len()), (new, 1));
    }
}

#[test]
fn connect_creates_a_missing_file() {
    for (client, file, _) in CLIENTS {
        let home = Home::new();
        let printed = home.ok(&["connect", client, "--tools", "load", "--print"]);
        assert!(!home.path(file).exists());
        home.ok(&["connect", client, "--tools", "load"]);
        assert_eq!(home.read(file), printed);
        contains(&printed, &["\"mcp\", \"--tools\", \"load\""]);
        assert!(backups(&home, file).is_empty());
    }
}

#[test]
fn projects_have_files_of_their_own() {
    let home = Home::new();
    std::fs::create_dir(home.path("code")).unwrap();
    for (client, file) in [
        ("claude-code", "code/.mcp.json"),
        ("cursor", "code/.cursor/mcp.json"),
        ("vscode", "code/.vscode/mcp.json"),
        ("codex", "code/.codex/config.toml"),
    ] {
        home.ok(&["connect", client, "--project", "code"]);
        contains(&home.read(file), &["masque"]);
    }
    home.ok(&["connect", "claude-code", "--project"]);
    assert!(home.path(".mcp.json").is_file());
    home.refused("not_supported", &["connect", "claude-desktop", "--project", "code"]).offers("leave_out");
    home.refused("file_not_found", &["connect", "cursor", "--project", "nowhere"]).offers("open_project");
}

#[test]
fn a_database_is_handed_on() {
    let home = Home::new();
    home.ok(&["--db", "team.db", "connect", "cursor"]);
    let value: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    let arguments = &value["mcpServers"]["masque"]["args"];
    assert_eq!(arguments[1], "--db");
    assert_eq!(arguments[2], home.path("team.db").to_str().unwrap());

    let url = "postgres://me:hunter2@db/team";
    let answer = home.ok(&["--db", url, "connect", "cursor"]);
    contains(&answer, &["contains the password"]);
    let value: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    let entry = &value["mcpServers"]["masque"];
    assert_eq!((entry["env"]["MASQUE_DB"].as_str(), entry["args"].as_array().unwrap().len()), (Some(url), 1));
    home.ok(&["connect", "cursor"]);
    assert!(!home.read(".cursor/mcp.json").contains("hunter2"));
}

#[test]
fn a_running_server_can_be_named() {
    let home = Home::new();
    home.ok(&["connect", "vscode", "--http", "--tools", "load"]);
    let value: Value = serde_json::from_str(&home.read(".config/Code/User/mcp.json")).unwrap();
    let entry = &value["servers"]["masque"];
    assert_eq!(entry["url"], "http://127.0.0.1:4747/mcp?tools=load");
    assert_eq!((&entry["type"], entry.get("command")), (&"http".into(), None));
    home.ok(&["connect", "codex", "--http", "http://127.0.0.1:9/mcp"]);
    contains(&home.read(".codex/config.toml"), &["url = \"http://127.0.0.1:9/mcp\""]);
    home.refused("not_supported", &["connect", "claude-desktop", "--http"]).about("field", "--http");
    home.refused("invalid_value", &["connect", "cursor", "--http", "localhost"]).offers("write_as");
    home.refused("invalid_value", &["connect", "cursor", "--tools", "laod"]);
}

#[test]
fn connect_leaves_an_invalid_file_unchanged() {
    let home = Home::new();
    let old = "{\n  my servers\n  \"servers\": {}\n}\n";
    home.write(".config/Code/User/mcp.json", old);
    contains(&home.fails(2, &["connect", "vscode"]), &["line 2", "\"masque\": {"]);
    home.refused("not_editable", &["connect", "vscode"]).in_file("mcp.json");
    home.write(".codex/config.toml", "model = [");
    home.refused("not_editable", &["connect", "codex"]).in_file("config.toml");
    assert_eq!(home.read(".config/Code/User/mcp.json"), old);
    assert!(backups(&home, ".config/Code/User/mcp.json").is_empty());
}

#[test]
fn connect_keeps_comments() {
    let home = Home::new();
    let file = ".config/Code/User/mcp.json";
    home.write(file, "{\n  // my servers\n  \"servers\": {}\n}\n");
    home.ok(&["connect", "vscode"]);
    let new = home.read(file);
    assert!(new.starts_with("{\n  // my servers\n  \"servers\": {\n    \"masque\": {"), "{new}");
    contains(&home.ok(&["connect", "vscode"]), &["already connected"]);
    contains(&home.ok(&["doctor"]), &["vscode         connected: starts"]);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    let real = home.write("dotfiles/cursor.json", "{}");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir(home.path(".cursor")).unwrap();
    symlink(&real, home.path(".cursor/mcp.json")).unwrap();
    home.ok(&["connect", "cursor"]);
    assert!(home.path(".cursor/mcp.json").is_symlink());
    contains(&home.read("dotfiles/cursor.json"), &["masque"]);
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(backups(&home, "dotfiles/cursor.json").len(), 1);
}

#[test]
fn connect_follows_moved_settings() {
    let home = Home::new();
    let mut command = home.command();
    command.args(["connect", "codex"]).env("CODEX_HOME", home.path("elsewhere"));
    CommandOutput::of(command.output().unwrap()).ok();
    assert!(home.path("elsewhere/config.toml").is_file());
}
