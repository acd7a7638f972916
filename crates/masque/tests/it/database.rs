//! `--db` and `db`.

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains};

/// A library to copy.
fn fill(home: &Home, database: &str) {
    home.ok(&["--db", database, "create", "part", "calm", "--type", "tone", "--summary", "Calm. 日本"]);
    home.ok(&["--db", database, "create", "persona", "helper", "--part", "calm", "--tag", "a"]);
    home.ok(&["--db", database, "update", "part", "calm", "--content", "Very calm.", "--message", "more"]);
    home.ok(&["--db", database, "arc", "assign", "helper", "mentors-path", "--stage", "coach"]);
}

fn helper(home: &Home, database: &str) -> Value {
    home.json(&["--db", database, "show", "helper", "--detail"])
}

#[test]
fn a_database_is_named_by_flag_or_variable() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("deep/down")).unwrap();
    home.ok(&["--db", "deep/down/mine.db", "create", "skill", "s", "--content", "x"]);
    assert!(home.path("deep/down/mine.db").is_file());
    let mut command = home.command();
    command.args(["show", "skill", "s"]).env("MASQUE_DB", "sqlite:deep/down/mine.db");
    contains(&CommandOutput::of(command.output().unwrap()).ok(), &["shared, revision 1"]);
    home.refused("not_found", &["show", "skill", "s"]).offers("list_kind");
}

#[test]
fn a_named_database_needs_no_data_directory() {
    let home = Home::new();
    // A file in its place prevents the directory.
    home.write("taken", "");
    let run = |arguments: &[&str]| {
        let mut command = home.command();
        command.args(arguments).env("XDG_DATA_HOME", home.path("taken"));
        CommandOutput::of(command.output().unwrap())
    };
    contains(
        &run(&["--db", "mine.db", "create", "skill", "s", "--content", "x"]).ok(),
        &["(shared, revision 1)"],
    );
    // Without a history, files can be read, and not changed.
    home.write("personas.toml", "[skills.t]\ncontent = \"x\"\n");
    let listed = run(&["--db", "mine.db", "list", "skills"]);
    contains(&listed.stderr, &["taken/masque cannot be written"]);
    contains(&listed.ok(), &["\ns ", "\nt "]);
    run(&["--db", "mine.db", "update", "skill", "s", "--content", "y"]).ok();
    let update = ["--db", "mine.db", "update", "skill", "t", "--content", "y", "--json"];
    assert_ne!(run(&update).code, 0);
    assert_eq!(home.read("personas.toml"), "[skills.t]\ncontent = \"x\"\n");
}

#[test]
fn a_database_in_a_missing_directory_is_an_error() {
    let home = Home::new();
    for arguments in [&["list"][..], &["create", "skill", "s", "--content", "x"], &["mcp"]] {
        let named = [&["--db", "no/such/x.db"], arguments].concat();
        let refused = home.refused("no_database", &named);
        refused.in_file("no/such/x.db").offers("check_database").offers("run");
    }
    assert!(!home.path("no").exists());
    // The user's own place is created.
    home.ok(&["list"]);
    assert!(home.path(".local/share/masque/masque.db").is_file());
}

#[test]
fn a_backup_is_a_database() {
    let home = Home::new();
    fill(&home, "one.db");
    contains(&home.ok(&["--db", "one.db", "db", "backup", "two.db"]), &["backed up to two.db"]);
    assert_eq!(helper(&home, "two.db"), helper(&home, "one.db"));
    home.refused("target_not_empty", &["--db", "one.db", "db", "backup", "two.db"]).offers("other_target");
}

#[test]
fn a_copy_has_the_same_content() {
    let home = Home::new();
    fill(&home, "one.db");
    contains(&home.ok(&["--db", "one.db", "db", "copy", "--to", "new/two.db"]), &["copied", "verified"]);
    assert_eq!(helper(&home, "new/two.db"), helper(&home, "one.db"));
    home.refused("target_not_empty", &["--db", "one.db", "db", "copy", "--to", "new/two.db"])
        .offers("other_target");
}

#[test]
fn copy_warns_about_histories_of_files() {
    let home = Home::new();
    home.write("personas.toml", "[skills.look]\ncontent = \"Look.\"\n");
    home.ok(&["list"]);
    let told = home.run(&["db", "copy", "--to", "two.db"]);
    contains(&told.stdout, &["verified"]);
    contains(&told.stderr, &["personas.toml", "`masque db backup`"]);
    let told = home.json(&["db", "copy", "--to", "three.db"]);
    assert!(told["left_behind"].as_u64().unwrap() > 0, "{told}");
}

/// The error is about --to, not about --db.
#[test]
fn copy_names_an_unusable_target() {
    let home = Home::new();
    fill(&home, "one.db");
    home.write("taken.db", "no database at all, but long enough to be taken for the head of a file");
    for to in ["taken.db", "mysql://x", "postgres://127.0.0.1:1/none"] {
        let told = home.fails_with_error(&["--db", "one.db", "db", "copy", "--to", to]);
        let is_about_target =
            told["subject"]["field"] == "--to" || told["remedies"][0]["action"] == "other_target";
        assert!(is_about_target, "{to}: {told:#}");
    }
}

#[tokio::test]
async fn a_copy_goes_to_postgres_and_back() {
    let Some(database) = testkit::postgres().await else { return };
    let home = Home::new();
    fill(&home, "one.db");
    let location = database.location.as_str();
    contains(&home.ok(&["--db", "one.db", "db", "copy", "--to", location]), &["verified"]);
    assert_eq!(helper(&home, location), helper(&home, "one.db"));
    contains(&home.ok(&["--db", location, "db", "info"]), &["postgres", "1 persona"]);
    contains(&home.ok(&["--db", location, "doctor"]), &["postgres", "No problems found."]);
    home.ok(&["--db", location, "db", "copy", "--to", "back.db"]);
    assert_eq!(helper(&home, "back.db"), helper(&home, "one.db"));
    database.remove().await;
}

#[test]
fn a_database_is_described() {
    let home = Home::new();
    fill(&home, "one.db");
    contains(
        &home.ok(&["--db", "one.db", "db", "info"]),
        &["one.db", "sqlite", "wal", "1 persona,", "version "],
    );
    let info = home.json(&["--db", "one.db", "db", "info"]);
    assert_eq!((&info["engine"], &info["counts"]["persona"]), (&json!("sqlite"), &json!(1)));
}

/// The attack: another user of the machine reads what was said.
#[test]
fn the_database_belongs_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let mode = |path: &str| std::fs::metadata(home.path(path)).unwrap().permissions().mode() & 0o777;
    let (directory, file) = (".local/share/masque", ".local/share/masque/masque.db");
    home.ok(&["list"]);
    assert_eq!((mode(directory), mode(file)), (0o700, 0o600));
    home.ok(&["--db", "one.db", "list"]);
    assert_eq!(mode("one.db"), 0o600);
    home.ok(&["db", "backup", "copy.db"]);
    assert_eq!(mode("copy.db"), 0o600);
    // Those of an older version are mended, with a line that says so.
    for (path, old) in [(directory, 0o755), (file, 0o644)] {
        std::fs::set_permissions(home.path(path), std::fs::Permissions::from_mode(old)).unwrap();
    }
    let answer = home.run(&["list"]);
    contains(
        &answer.stderr,
        &["masque could be read by other users", "masque.db could be read by other users"],
    );
    assert_eq!((mode(directory), mode(file)), (0o700, 0o600));
    assert!(!home.run(&["list"]).stderr.contains("could be read"), "once is enough");
}

#[test]
fn a_copy_leaves_sessions_out_unless_asked() {
    let home = Home::new();
    home.run(&["run", "mentor", "hi"]).ok();
    let told = home.run(&["db", "copy", "--to", "two.db"]);
    contains(&told.stderr, &["Sessions (", "--with-sessions"]);
    assert_eq!(home.json(&["--db", "two.db", "sessions"])["items"], serde_json::json!([]));
    let told = home.json(&["db", "copy", "--to", "three.db", "--with-sessions"]);
    assert_eq!(told["left_sessions"], 0);
    assert_eq!(home.json(&["--db", "three.db", "sessions"])["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_directory_is_no_database() {
    let home = Home::new();
    std::fs::create_dir(home.path("data")).unwrap();
    home.refused("not_a_file", &["--db", "data", "list"]).in_file("data").offers("write_as");
    contains(&home.fails(2, &["--db", "data", "list"]), &["is a directory", "--db data/masque.db"]);
}

/// Only database files are made private. A directory with the mode of a file could not be entered.
#[cfg(unix)]
#[test]
fn a_directory_named_by_mistake_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    let directory = home.path("data");
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    home.fails(2, &["--db", "data", "list"]);
    assert_eq!(std::fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o755);
}
