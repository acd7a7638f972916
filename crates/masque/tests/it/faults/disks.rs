//! SQLite files on a full disk, and files that another program has locked.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{ask, get, put};
use crate::home::Home;
use crate::wire::{Client as _, Server};

/// A small file system of its own.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with a loud line, where the system does not let us mount one.
    fn mount(path: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(&path).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(path));
        }
        eprintln!("!!! no file system can be mounted here: the test of a full disk is SKIPPED");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_loses_no_answered_write() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(home.path("disk")) else { return };
    let database = disk.0.join("masque.db").display().to_string();
    let server = Server::start(&home, &database);
    let filler = disk.0.join("filler");
    std::fs::write(&filler, vec![b'x'; 1024 * 1024]).unwrap();
    let content = "x".repeat(60_000);
    let mut stored = 0;
    let refused = loop {
        let answer = put(&server, &format!("p{stored}"), &content);
        if answer.status != 201 {
            break answer;
        }
        stored += 1;
        assert!(stored < 100, "the disk never fills up");
    };
    assert_eq!((refused.status, refused.code()), (507, "database_full"), "{refused:?}");
    assert_eq!(refused.body["may_have_happened"], false, "{refused:?}");
    assert!(stored > 0);

    // The same error on MCP.
    let mut mcp = server.connect();
    let arguments = json!({ "name": "full", "part_type": "tone", "content": content });
    let reply =
        mcp.request("tools/call", json!({ "name": "create_agent_part", "arguments": arguments })).unwrap();
    let error = &reply["result"]["_meta"]["masque/error"];
    assert_eq!(
        (&error["code"], &error["may_have_happened"]),
        (&json!("database_full"), &json!(false)),
        "{reply}"
    );

    for name in 0..stored {
        assert_eq!(
            get(&server, &format!("p{name}")).body["content"],
            content.as_str(),
            "p{name} was answered"
        );
    }
    assert_eq!(get(&server, &format!("p{stored}")).status, 404, "it was refused");
    std::fs::remove_file(filler).unwrap();
    assert_eq!(put(&server, "later", &content).status, 201);
    drop(server);
}

/// The same for a project's personas.toml, whose history is elsewhere.
#[test]
fn a_full_disk_of_a_project_loses_no_answered_write() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(home.path("disk")) else { return };
    let file = disk.0.join("personas.toml");
    std::fs::write(&file, "").unwrap();
    let database = testkit::Database::sqlite();
    let project = disk.0.display().to_string();
    let server = Server::start_with(&home, &["--db", &database.location, "--project", &project]);
    let mut body = super::part(&"x".repeat(60_000));
    body["scope"] = json!("project");
    let mut stored = 0;
    let refused = loop {
        let answer = ask(&server, "PUT", &format!("/api/library/part/p{stored}"), "", &body);
        if answer.status != 201 {
            break answer;
        }
        stored += 1;
        assert!(stored < 100, "the disk never fills up");
    };
    assert_eq!((refused.status, refused.code()), (507, "file_full"), "{refused:?}");
    assert_eq!(refused.body["may_have_happened"], false, "{refused:?}");
    assert_eq!(refused.body["remedies"], json!([{ "action": "make_room" }]), "{refused:?}");
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(detail.contains("personas.toml") && !detail.contains(".personas-"), "{detail}");
    assert!(stored > 0);
    for name in 0..stored {
        assert_eq!(get(&server, &format!("p{name}")).status, 200, "p{name} was answered");
    }
    assert_eq!(get(&server, &format!("p{stored}")).status, 404, "it was refused");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("[parts.p").count(), stored);
    let left = std::fs::read_dir(&disk.0).unwrap().count();
    assert_eq!(left, 1, "nothing is left beside it");
    drop(server);
}

#[test]
fn a_locked_file_is_answered_after_the_wait_for_it() {
    let home = Home::new();
    let database = testkit::Database::sqlite();
    let server = Server::start(&home, &database.location);
    assert_eq!(put(&server, "calm", "one").status, 201);
    let lock = database.lock();
    put(&server, "calm", "two").is_temporary("database_busy", false);
    assert_eq!(get(&server, "calm").body["content"], "one", "readers do not wait");
    drop(lock);
    let done = ask(&server, "PUT", "/api/library/part/calm", "", &super::part("three"));
    assert_eq!((done.status, &done.body["revision"]), (200, &Value::from(2)), "{done:?}");
}
