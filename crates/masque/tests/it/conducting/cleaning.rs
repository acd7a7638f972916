//! `masque conduct clean`: what nobody has elsewhere is kept, whatever the database says.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::site::{Site, adds, ask, calls, commit, git, ticket, ticket_of, write_file};
use crate::home::contains;

/// A track with a merged ticket, and two that wait: one with files that nobody committed, one with a commit
/// that is nowhere else.
fn waiting() -> (Site, String) {
    let half = |id: &str| {
        let words = format!("# {id}:");
        calls(
            "worker",
            &words,
            &[write_file("src/words", "hello\nhalf\n"), write_file("src/new", "new\n"), ask("Which?")],
        )
    };
    let site = Site::new(&[adds("T1"), half("Dirty"), half("Ahead")]);
    let tickets = json!([ticket("T1", &[]), ticket("Dirty", &["T1"]), ticket("Ahead", &["T1"])]);
    site.write_track(&json!({ "tickets": tickets }));
    let id = site.conduct(7, &[]).pop().unwrap()["id"].as_str().unwrap().to_owned();
    let ahead = site.worktree("Ahead");
    git(&ahead, &["checkout", "--quiet", "--detach"]);
    git(&ahead, &["add", "--all"]);
    commit(&ahead, "Not pushed");
    // A file that is staged, and then changed again.
    std::fs::write(ahead.join("src/staged"), "staged\n").unwrap();
    git(&ahead, &["add", "src/staged"]);
    std::fs::write(ahead.join("src/staged"), "changed\n").unwrap();
    (site, id)
}

/// Every file below the worktrees, and every reference.
fn everything(site: &Site) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    files(&site.rehearsed.home.path(".local/state"), &mut found);
    files(&site.path("src"), &mut found);
    let refs = site.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    found.insert("references".to_owned(), refs.into_bytes());
    found.insert("worktrees".to_owned(), site.git(&["worktree", "list", "--porcelain"]).into_bytes());
    found
}

fn files(directory: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else {
            found.insert(path.display().to_string(), std::fs::read(&path).unwrap_or_default());
        }
    }
}

/// The items of a cleaning by their tickets.
fn items(cleaned: &Value) -> BTreeMap<String, Value> {
    let items = cleaned["items"].as_array().unwrap().iter();
    items.map(|item| (item["ticket"].as_str().unwrap().to_owned(), item.clone())).collect()
}

fn outcome<'a>(items: &'a BTreeMap<String, Value>, ticket: &str) -> &'a str {
    items[ticket]["outcome"].as_str().unwrap()
}

// 9.
#[test]
fn worktrees_survive_a_cleaning_without_their_database() {
    let (site, id) = waiting();
    site.ok(&["conduct", "cancel", &id]);
    let before = everything(&site);
    let clean = |arguments: &[&str]| site.run(&[&["conduct", "clean", "--json"], arguments].concat());

    // A server that is down.
    let down = clean(&["--db", "postgres://nobody@127.0.0.1:1/none"]);
    assert_ne!(down.code, 0, "{down:?}");
    assert_eq!(everything(&site), before);

    // A file that is no database.
    let file = site.rehearsed.home.path(".local/share/masque/masque.db");
    let kept = std::fs::read(&file).unwrap();
    remove_database(&file);
    std::fs::write(&file, vec![b'x'; 8192]).unwrap();
    let corrupt = clean(&[]);
    assert_ne!(corrupt.code, 0, "{corrupt:?}");
    assert_eq!(everything(&site), before);

    // A file that is gone: the next one is empty, and knows no ticket.
    remove_database(&file);
    let cleaned = items(&serde_json::from_str(&clean(&[]).ok()).unwrap());
    for ticket in ["T1", "Dirty", "Ahead"] {
        assert_eq!(outcome(&cleaned, ticket), "kept");
        contains(cleaned[ticket]["reason"].as_str().unwrap(), &["the database does not know its ticket"]);
    }
    assert_eq!(everything(&site), before);

    // With its database, it goes.
    remove_database(&file);
    std::fs::write(&file, kept).unwrap();
    let cleaned = items(&serde_json::from_str(&clean(&[]).ok()).unwrap());
    assert_eq!(outcome(&cleaned, "Dirty"), "archived");
}

fn remove_database(file: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
    }
}

// 9.
#[test]
fn what_is_removed_is_kept_in_a_reference_first() {
    let (site, id) = waiting();
    let clean = |arguments: &[&str]| items(&site.json(&[&["conduct", "clean"], arguments].concat()));
    let before = everything(&site);

    // Tickets that wait need theirs.
    let shown = clean(&["--dry-run"]);
    assert_eq!((outcome(&shown, "T1"), outcome(&shown, "Dirty")), ("removed", "kept"));
    assert_eq!(everything(&site), before, "--dry-run changes nothing");
    let said = site.run(&["conduct", "clean", "--dry-run"]);
    contains(&said.stderr, &["Nothing was changed"]);
    contains(&said.stdout, &["would be removed", "its ticket may still need it"]);
    assert_eq!(everything(&site), before);

    assert_eq!(clean(&[]), shown);
    let board = site.board(&id);
    let branch = ticket_of(&board, "T1")["branch"].as_str().unwrap();
    let branches = site.git(&["branch", "--contains", ticket_of(&board, "T1")["merged"].as_str().unwrap()]);
    assert!(branches.contains("masque/two-words-"), "{branches} without {branch}");
    assert!(!site.git(&["worktree", "list"]).contains("/T1 "));

    // Cancelled, they go, and nothing of theirs is lost.
    site.ok(&["conduct", "cancel", &id]);
    let (dirty, ahead) = (site.worktree("Dirty"), site.worktree("Ahead"));
    let unpushed = git(&ahead, &["rev-parse", "HEAD"]);
    let shown = clean(&["--dry-run"]);
    assert_eq!((outcome(&shown, "Dirty"), outcome(&shown, "Ahead")), ("archived", "archived"));
    assert!(dirty.exists() && ahead.exists());
    let cleaned = clean(&[]);
    let archive = |ticket: &str| {
        let reference = cleaned[ticket]["reference"].as_str().unwrap().to_owned();
        assert!(reference.starts_with("refs/masque/archive/"), "{reference}");
        reference
    };
    assert!(!dirty.exists() && !ahead.exists());
    let file = |ticket: &str, path: &str| site.git(&["show", &format!("{}:{path}", archive(ticket))]);
    assert_eq!(
        (file("Dirty", "src/words"), file("Dirty", "src/new")),
        ("hello\nhalf\n".into(), "new\n".into())
    );
    assert_eq!((file("Ahead", "src/staged"), file("Ahead", "src/new")), ("changed\n".into(), "new\n".into()));
    let history = site.git(&["rev-list", &archive("Ahead")]);
    assert!(history.contains(unpushed.trim()), "the commit that was nowhere else");
    // What was staged, too.
    let all: Vec<String> = history.lines().map(str::to_owned).collect();
    let staged = |commit: &String| {
        site.git(&["ls-tree", "-r", "--name-only", commit]).contains("src/staged")
            && site.git(&["show", &format!("{commit}:src/staged")]) == "staged\n"
    };
    assert!(all.iter().any(staged), "the index");
    // Nothing is left to clean, and the user's own files are as they were.
    assert_eq!(site.git(&["status", "--porcelain"]), "");
    contains(&site.run(&["conduct", "clean"]).stderr, &["There is no worktree of a ticket."]);
}
