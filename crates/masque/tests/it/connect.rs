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
        contains(&answer, &["connected", file, ".bak-", "next: ", "--tools author", "--tools all"]);
        let new = home.read(file);
        contains(&new, &["masque", "\"mcp\", \"--tools\", \"load\"", env!("CARGO_BIN_EXE_masque")]);
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
        let printed = home.ok(&["connect", client, "--tools", "author", "--print"]);
        assert!(!home.path(file).exists());
        assert!(!home.ok(&["connect", client, "--tools", "author"]).contains("--tools"));
        assert_eq!(home.read(file), printed);
        contains(&printed, &["\"mcp\", \"--tools\", \"author\""]);
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
        let told = home.run(&["connect", client, "--project", "code"]);
        contains(&told.stderr, &["`masque` is not on your PATH"]);
        told.ok();
        let written = home.read(file);
        let by_name = ["\"command\": \"masque\"", "command = \"masque\""];
        assert!(by_name.iter().any(|command| written.contains(command)), "{written}");
        assert!(!written.contains(home.path("").to_str().unwrap()), "a path of this machine: {written}");
        assert!(!written.contains(env!("CARGO_BIN_EXE_masque")), "a path of this machine: {written}");
        assert_eq!(home.json(&["connect", client, "--project", "code"])["on_path"], false);
    }
    let mut command = home.command();
    let directory = std::path::Path::new(env!("CARGO_BIN_EXE_masque")).parent().unwrap();
    command.args(["connect", "cursor", "--project", "code"]).env("PATH", directory);
    let told = CommandOutput::of(command.output().unwrap());
    assert_eq!(told.stderr, "", "it is on the PATH");
    told.ok();
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
    assert_eq!(arguments[3], "--db");
    assert_eq!(arguments[4], home.path("team.db").to_str().unwrap());
}

#[test]
fn a_project_names_no_path_of_this_machine() {
    let home = Home::new();
    std::fs::create_dir(home.path("code")).unwrap();
    let connect = ["connect", "cursor", "--project", "code"];
    let answer = home.json(&[&["--db", "./team.db"], &connect[..]].concat());
    assert_eq!((&answer["path_left_out"], &answer["password_left_out"]), (&true.into(), &false.into()));
    let without = home.read("code/.cursor/mcp.json");
    assert!(!without.contains("team.db") && !without.contains("--db"), "{without}");
    let told = home.run(&[&["--db", "./team.db"], &connect[..], &["--print"]].concat());
    contains(&told.stderr, &["MASQUE_DB"]);
    assert_eq!(told.ok(), without);
    let mut command = home.command();
    command.args(connect).env("MASQUE_DB", home.path("mine.db"));
    let told = CommandOutput::of(command.output().unwrap());
    contains(&told.stderr, &["the path of the database is not written", "MASQUE_DB"]);
    contains(&told.ok(), &["already connected"]);
    // The address of a server is the same for everyone.
    let answer = home.json(&[&["--db", "postgres://me:secret@db/team"], &connect[..]].concat());
    assert_eq!((&answer["path_left_out"], &answer["password_left_out"]), (&false.into(), &true.into()));
    contains(&home.read("code/.cursor/mcp.json"), &["\"--db\", \"postgres://me@db/team\""]);
}

#[test]
fn a_project_gets_no_backup_files() {
    let home = Home::new();
    let file = "code/.mcp.json";
    home.write(file, "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}\n");
    assert_eq!(home.json(&["connect", "claude-code", "--project", "code"])["backup"], Value::Null);
    contains(&home.read(file), &["masque"]);
    assert_eq!(home.json(&["disconnect", "claude-code", "--project", "code"])["backup"], Value::Null);
    let left: Vec<_> =
        std::fs::read_dir(home.path("code")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, [".mcp.json"]);
}

#[test]
fn a_password_is_never_written() {
    let home = Home::new();
    for (client, file, old) in CLIENTS {
        home.write(file, old);
        let secret = "postgres://me:hunter2@db/team?sslmode=require";
        let answer = home.run(&["--db", secret, "connect", client]);
        contains(&answer.stderr, &["password", "PGPASSWORD", "~/.pgpass"]);
        answer.ok();
        contains(&home.read(file), &["postgres://me@db/team?sslmode=require"]);
        let mut command = home.command();
        command.args(["connect", client, "--json"]).env("MASQUE_DB", "postgres://db/team?password=hunter2");
        let answer = CommandOutput::of(command.output().unwrap()).ok();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["password_left_out"], true);
        assert!(!home.read(file).contains("hunter2"), "{}", home.read(file));
        assert!(!home.ok(&["--db", secret, "connect", client, "--print"]).contains("hunter2"));
    }
    let refused =
        home.run(&["--json", "connect", "cursor", "--http", "http://me:hunter2@127.0.0.1:4747/mcp"]);
    assert!(!refused.stderr.contains("hunter2"), "{refused:#?}");
    refused.refused_with("invalid_value").about("field", "--http").offers("write_as");
    // An older version wrote it into the variables.
    let old = r#"{"mcpServers": {"masque": {"env": {"MASQUE_DB": "postgres://me:hunter2@db/x", "A": "b"}}}}"#;
    home.write(".cursor/mcp.json", old);
    home.ok(&["connect", "cursor"]);
    let new = home.read(".cursor/mcp.json");
    assert!(!new.contains("hunter2") && new.contains("\"A\": \"b\""), "{new}");
}

#[test]
fn disconnect_removes_our_entry_alone() {
    for (client, file, old) in CLIENTS {
        let home = Home::new();
        contains(&home.ok(&["disconnect", client]), &["nothing to remove"]);
        assert!(!home.path(file).exists());
        home.write(file, old);
        assert_eq!(home.json(&["disconnect", client])["changed"], false);
        assert_eq!(home.read(file), old);
        home.ok(&["connect", client]);
        let answer = home.ok(&["disconnect", client]);
        contains(&answer, &["disconnected", file, ".bak-"]);
        let new = home.read(file);
        assert!(!new.contains("masque"), "{new}");
        let spread = !old.contains('\n');
        // The object that `connect` made for its entry stays, empty.
        let made = !old.contains("ervers");
        assert!(new == old || spread && compact(&new) == compact(old) || made, "{client}:\n{new}");
        contains(&home.ok(&["disconnect", client]), &["nothing to remove"]);
    }
    let home = Home::new();
    let old = "{\n  // ours\n  \"servers\": {\n    \"other\": {} // theirs\n  }, // end\n}\n";
    home.write("code/.vscode/mcp.json", old);
    home.ok(&["connect", "vscode", "--project", "code"]);
    assert_ne!(home.read("code/.vscode/mcp.json"), old);
    home.ok(&["disconnect", "vscode", "--project", "code"]);
    assert_eq!(home.read("code/.vscode/mcp.json"), old);
    home.write("code/.vscode/mcp.json", "{ broken");
    home.refused("not_editable", &["disconnect", "vscode", "--project", "code"]).in_file("mcp.json");
}

#[test]
fn disconnect_removes_a_file_that_connect_made() {
    let home = Home::new();
    let left = || {
        let entries = std::fs::read_dir(home.path("code")).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    std::fs::create_dir_all(home.path("code")).unwrap();
    for (client, file) in [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("codex", ".codex/config.toml"),
    ] {
        let file = format!("code/{file}");
        home.ok(&["connect", client, "--project", "code"]);
        assert!(home.path(&file).is_file());
        let answer = home.json(&["disconnect", client, "--project", "code"]);
        assert_eq!((&answer["changed"], &answer["removed"]), (&true.into(), &true.into()), "{client}");
        assert!(left().is_empty(), "{client}: {:?}", left());
        contains(&home.ok(&["disconnect", client, "--project", "code"]), &["nothing to remove"]);
        // A comment is worth keeping.
        home.ok(&["connect", client, "--project", "code"]);
        let mark = if client == "codex" { "# ours\n" } else { "// ours\n" };
        home.write(&file, &format!("{mark}{}", home.read(&file)));
        assert_eq!(home.json(&["disconnect", client, "--project", "code"])["removed"], false);
        contains(&home.read(&file), &["ours"]);
        std::fs::remove_file(home.path(&file)).unwrap();
        home.ok(&["connect", client, "--project", "code"]);
        home.ok(&["disconnect", client, "--project", "code"]);
    }
    // The user's own file stays.
    home.ok(&["connect", "cursor"]);
    assert_eq!(home.json(&["disconnect", "cursor"])["removed"], false);
    assert!(home.path(".cursor/mcp.json").is_file());
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
    contains(&home.read(".codex/config.toml"), &["url = \"http://127.0.0.1:9/mcp?tools=load\""]);
    home.ok(&["connect", "codex", "--http", "http://127.0.0.1:9/mcp?tools=all"]);
    contains(&home.read(".codex/config.toml"), &["url = \"http://127.0.0.1:9/mcp?tools=all\""]);
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
