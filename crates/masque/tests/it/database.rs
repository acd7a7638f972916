//! `--db` and `db`.

use serde_json::{Value, json};

use crate::home::{Answer, Home, contains};

/// A library of one's own, to be copied about.
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
    home.ok(&["--db", "deep/down/mine.db", "create", "skill", "s", "--content", "x"]);
    assert!(home.path("deep/down/mine.db").is_file());
    let mut command = home.command();
    command.args(["show", "skill", "s"]).env("MASQUE_DB", "sqlite:deep/down/mine.db");
    contains(&Answer::of(command.output().unwrap()).ok(), &["shared, revision 1"]);
    home.fails(3, &["show", "skill", "s"]);
}

#[test]
fn a_backup_is_a_database() {
    let home = Home::new();
    fill(&home, "one.db");
    contains(&home.ok(&["--db", "one.db", "db", "backup", "two.db"]), &["backed up to two.db"]);
    assert_eq!(helper(&home, "two.db"), helper(&home, "one.db"));
    contains(&home.fails(2, &["--db", "one.db", "db", "backup", "two.db"]), &["two.db exists already"]);
}

#[test]
fn a_copy_is_the_same() {
    let home = Home::new();
    fill(&home, "one.db");
    contains(
        &home.ok(&["--db", "one.db", "db", "copy", "--to", "new/two.db"]),
        &["copied", "nothing differs"],
    );
    assert_eq!(helper(&home, "new/two.db"), helper(&home, "one.db"));
    contains(
        &home.fails(2, &["--db", "one.db", "db", "copy", "--to", "new/two.db"]),
        &["new/two.db", "empty"],
    );
}

#[test]
fn a_copy_goes_to_postgres_and_back() {
    let Some(server) = std::env::var("MASQUE_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty()) else {
        return;
    };
    let home = Home::new();
    fill(&home, "one.db");
    let name = format!("masque_cli_{}", std::process::id());
    let database = testkit_database(&server, &name);
    contains(&home.ok(&["--db", "one.db", "db", "copy", "--to", &database]), &["nothing differs"]);
    assert_eq!(helper(&home, &database), helper(&home, "one.db"));
    contains(&home.ok(&["--db", &database, "db", "info"]), &["postgres", "1 persona"]);
    contains(&home.ok(&["--db", &database, "doctor"]), &["postgres", "Nothing is wrong."]);
    home.ok(&["--db", &database, "db", "copy", "--to", "back.db"]);
    assert_eq!(helper(&home, "back.db"), helper(&home, "one.db"));
    drop_database(&server, &name);
}

fn psql(server: &str, statement: &str) {
    let status = std::process::Command::new("psql").args([server, "-qc", statement]).status().unwrap();
    assert!(status.success(), "{statement}");
}

fn testkit_database(server: &str, name: &str) -> String {
    psql(server, &format!("CREATE DATABASE {name}"));
    let (address, options) = server.split_once('?').map_or((server, None), |(a, o)| (a, Some(o)));
    let root = address.rsplit_once('/').unwrap().0;
    match options {
        Some(options) => format!("{root}/{name}?{options}"),
        None => format!("{root}/{name}"),
    }
}

fn drop_database(server: &str, name: &str) {
    psql(server, &format!("DROP DATABASE {name} WITH (FORCE)"));
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
