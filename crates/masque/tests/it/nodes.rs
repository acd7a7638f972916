//! Several processes on one library: each sees the others' writes at its next read, and no change
//! is lost.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::Database;

use crate::home::Home;
use crate::wire::{Client, PATIENCE, Server, start_mcp};

mod listeners;

mod proxy;
pub(crate) use proxy::{Proxy, Then};

/// Every read of a SQLite file checks for changes, so the next read sees a write.
const AT_ONCE: Duration = Duration::ZERO;
/// On PostgreSQL, a notification has to arrive first.
const SOON: Duration = Duration::from_secs(1);
/// A heartbeat detects a silently dead connection within ten seconds. A slow machine gets twice that.
const AFTER_A_HEARTBEAT: Duration = Duration::from_secs(20);

#[test]
fn two_processes_on_one_file_see_each_others_writes() {
    let (home, database) = (Home::new(), Database::sqlite());
    let (_process, mut mcp) = start_mcp(&home, &database.location);
    let server = Server::start(&home, &database.location);
    let mut http = server.connect();
    see_all_of_each_other(&mut mcp, &mut http, AT_ONCE);
    see_all_of_each_other(&mut http, &mut mcp, AT_ONCE);

    // A third process, for one command.
    make(&mut mcp, "thirds");
    get(&mut http, "thirds");
    home.ok(&["update", "part", "thirds-tone", "--content", "From the shell.", "--db", &database.location]);
    sees(&mut mcp, AT_ONCE, "the shell's write", |mcp| tone(mcp, "thirds") == "From the shell.");
    sees(&mut http, AT_ONCE, "the shell's write", |http| tone(http, "thirds") == "From the shell.");
}

#[tokio::test]
async fn two_servers_on_one_postgres_see_each_others_writes() {
    let Some(database) = testkit::postgres().await else { return };
    let home = Home::new();
    let servers = [Server::start(&home, &database.location), Server::start(&home, &database.location)];
    let [mut one, mut other] = servers.each_ref().map(Server::connect);
    see_all_of_each_other(&mut one, &mut other, SOON);
    see_all_of_each_other(&mut other, &mut one, SOON);
    drop(servers);
    database.remove().await;
}

#[tokio::test]
async fn a_cut_listening_connection_hides_no_write() {
    let Some(database) = testkit::postgres().await else { return };
    let home = Home::new();
    let servers = [Server::start(&home, &database.location), Server::start(&home, &database.location)];
    let [mut one, mut other] = servers.each_ref().map(Server::connect);
    make(&mut one, "kept");
    sees(&mut other, SOON, "a new persona", |other| tone(other, "kept") == "Warm.");
    for cut in 0..5 {
        listeners::are_there(&database, 2).await;
        assert_eq!(listeners::cut(&database).await, 2, "one connection listens for each server");
        take_turns(&mut one, &mut other, SOON, &format!("right after cut {cut}"));
    }
    listeners::are_there(&database, 2).await;
    take_turns(&mut one, &mut other, SOON, "listening again");
    drop(servers);
    database.remove().await;
}

#[tokio::test]
async fn nothing_cached_is_served_without_a_listener() {
    let Some(database) = testkit::postgres().await else { return };
    let home = Home::new();
    let proxy = Proxy::to(&database.location);
    let servers = [Server::start(&home, &proxy.location), Server::start(&home, &proxy.location)];
    let [mut one, mut other] = servers.each_ref().map(Server::connect);
    make(&mut one, "kept");
    sees(&mut other, SOON, "a new persona", |other| tone(other, "kept") == "Warm.");
    proxy.bar_listeners();
    listeners::are_there(&database, 0).await;
    take_turns(&mut one, &mut other, SOON, "until both noticed");
    for turn in 0..10 {
        take_turns(&mut one, &mut other, AT_ONCE, &format!("without a listener, turn {turn}"));
    }
    proxy.let_listeners_back();
    listeners::are_there(&database, 2).await;
    take_turns(&mut one, &mut other, SOON, "listening again");
    drop(servers);
    database.remove().await;
}

#[tokio::test]
async fn a_dead_listening_connection_is_detected() {
    let Some(database) = testkit::postgres().await else { return };
    let home = Home::new();
    let proxy = Proxy::to(&database.location);
    let near = Server::start(&home, &database.location);
    let far = Server::start(&home, &proxy.location);
    let (mut writer, mut reader) = (near.connect(), far.connect());
    make(&mut writer, "kept");
    sees(&mut reader, SOON, "a new persona", |reader| tone(reader, "kept") == "Warm.");
    // Both servers have seen the write, so no notification is pending when the wire goes dead.
    take_turn(&mut writer, &mut reader, SOON, "Said over a good wire.");
    assert_eq!(proxy.silence_listeners(), 1);
    take_turn(&mut writer, &mut reader, AFTER_A_HEARTBEAT, "Said into a dead wire.");
    assert!(proxy.swallowed_bytes() > 0, "the wire was not dead");
    take_turns(&mut writer, &mut reader, SOON, "over a new wire");
    drop((near, far));
    database.remove().await;
}

#[tokio::test]
async fn concurrent_increments_are_all_counted() {
    const INCREMENTS: u64 = 15;
    testkit::on_each_engine(async |database| {
        let home = Home::new();
        let servers = [Server::start(&home, &database.location), Server::start(&home, &database.location)];
        let mut client = servers[0].connect();
        let counter = json!({ "name": "counter", "part_type": "context", "content": "0" });
        client.ask("create_agent_part", counter);
        let conflicts: u64 = std::thread::scope(|scope| {
            // Two writers on each node.
            let clients = servers.iter().chain(&servers).map(Server::connect);
            let writers: Vec<_> = clients
                .map(|mut client| {
                    scope.spawn(move || (0..INCREMENTS).map(|_| increment(&mut client)).sum::<u64>())
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).sum()
        });
        let counted = client.ask("get_agent_part", json!({ "name": "counter" }));
        assert_eq!(counted["content"], (4 * INCREMENTS).to_string(), "after {conflicts} conflicts");
        assert!(conflicts > 0, "the writers never met, so nothing was shown");
    })
    .await;
}

#[tokio::test]
async fn concurrent_links_are_all_kept() {
    const LINKS: usize = 12;
    testkit::on_each_engine(async |database| {
        let home = Home::new();
        let servers = [Server::start(&home, &database.location), Server::start(&home, &database.location)];
        let mut client = servers[0].connect();
        make(&mut client, "crowded");
        std::thread::scope(|scope| {
            for (node, server) in servers.iter().enumerate() {
                let mut client = server.connect();
                scope.spawn(move || {
                    (0..LINKS).for_each(|at| link(&mut client, &format!("trait-{node}-{at}")));
                });
            }
        });
        for server in &servers {
            sees(&mut server.connect(), SOON, "every link", |client| {
                get(client, "crowded")["traits"].as_array().map(Vec::len) == Some(2 * LINKS)
            });
        }
    })
    .await;
}

#[tokio::test]
async fn subscribers_hear_of_other_processes_writes() {
    testkit::on_each_engine(async |database| {
        let home = Home::new();
        let (_process, mut mcp) = start_mcp(&home, &database.location);
        let server = Server::start(&home, &database.location);
        let mut http = server.connect();
        make(&mut http, "watched");
        let uri = "persona://watched";
        let reply = mcp.request("resources/subscribe", json!({ "uri": uri })).unwrap();
        assert!(reply["result"].is_object(), "{reply}");
        http.ask("update_agent_part", json!({ "name": "watched-tone", "content": "Cold." }));
        mcp.hear_of(uri);
        assert_eq!(tone(&mut mcp, "watched"), "Cold.");
    })
    .await;
}

/// Creates a persona with a part.
fn make(client: &mut dyn Client, name: &str) {
    let part = json!({ "name": format!("{name}-tone"), "part_type": "tone", "content": "Warm." });
    client.ask("create_agent_persona", json!({ "name": name, "parts": [part] }));
}

fn get(client: &mut dyn Client, name: &str) -> Value {
    client.ask("get_agent_persona", json!({ "name": name, "detail": true }))
}

fn tone(client: &mut dyn Client, name: &str) -> String {
    match client.call("get_agent_persona", json!({ "name": name, "detail": true })).unwrap() {
        Ok(loaded) => loaded["parts"][0]["content"].as_str().unwrap_or_default().to_owned(),
        Err(refusal) => refusal,
    }
}

/// Asserts that a client sees something: at its next read, or within a bound.
#[track_caller]
fn sees<C: Client + ?Sized>(client: &mut C, bound: Duration, what: &str, seen: impl Fn(&mut C) -> bool) {
    let deadline = Instant::now() + bound;
    while !seen(client) {
        assert!(Instant::now() < deadline, "{what} was not seen within {bound:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Each server changes the persona "kept" while both have it cached, and the other sees the change.
#[track_caller]
fn take_turns(one: &mut dyn Client, other: &mut dyn Client, bound: Duration, when: &str) {
    take_turn(one, other, bound, &format!("{when}, there"));
    take_turn(other, one, bound, &format!("{when}, back"));
}

#[track_caller]
fn take_turn(writer: &mut dyn Client, reader: &mut dyn Client, bound: Duration, content: &str) {
    get(writer, "kept");
    get(reader, "kept");
    writer.ask("update_agent_part", json!({ "name": "kept-tone", "content": content }));
    assert_eq!(tone(writer, "kept"), content, "the writer sees its own write");
    sees(reader, bound, content, |reader| tone(reader, "kept") == content);
}

/// One server makes every kind of change. The other, with the persona cached, sees each.
#[track_caller]
fn see_all_of_each_other(writer: &mut dyn Client, reader: &mut dyn Client, bound: Duration) {
    let persona = |fields: Value| {
        let mut arguments = json!({ "persona": "seen" });
        arguments.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        arguments
    };
    assert!(tone(reader, "seen").contains("no persona"), "an absence may be remembered too");
    make(writer, "seen");
    sees(reader, bound, "a new persona", |reader| tone(reader, "seen") == "Warm.");
    for turn in 0..10 {
        let content = format!("Turn {turn}.");
        writer.ask("update_agent_part", json!({ "name": "seen-tone", "content": content }));
        sees(reader, bound, &content, |reader| tone(reader, "seen") == content);
    }
    writer.ask("add_persona_trait", persona(json!({ "trait": "patient" })));
    sees(reader, bound, "a link", |reader| get(reader, "seen")["traits"][0]["name"] == "patient");
    writer.ask("assign_persona_arc", persona(json!({ "arc": "mentors-path" })));
    sees(reader, bound, "an arc", |reader| get(reader, "seen")["arc"]["position"] == 1);
    // Stages and compiled text are state: they change without a revision.
    writer.ask("advance_persona_stage", persona(json!({})));
    sees(reader, bound, "a stage", |reader| get(reader, "seen")["arc"]["position"] == 2);
    writer.ask("compile_persona", json!({ "name": "seen" }));
    sees(reader, bound, "compiled text", |reader| get(reader, "seen")["compiled_stale"] == false);
    writer.ask("update_agent_persona", json!({ "name": "seen", "new_name": "renamed" }));
    sees(reader, bound, "the old name's end", |reader| tone(reader, "seen").contains("no persona"));
    get(reader, "renamed");
    writer.ask("delete_agent_persona", json!({ "name": "renamed" }));
    sees(reader, bound, "a persona's end", |reader| tone(reader, "renamed").contains("no persona"));
    writer.ask("delete_agent_part", json!({ "name": "seen-tone" }));
}

/// Adds one to the counter and retries on a conflict. Returns the number of conflicts.
fn increment(client: &mut dyn Client) -> u64 {
    let deadline = Instant::now() + PATIENCE;
    for conflicts in 0.. {
        let held = client.ask("get_agent_part", json!({ "name": "counter" }));
        let next = held["content"].as_str().unwrap().parse::<u64>().unwrap() + 1;
        let change =
            json!({ "name": "counter", "content": next.to_string(), "if_revision": held["revision"] });
        match client.call("update_agent_part", change).unwrap() {
            Ok(_) => return conflicts,
            Err(refusal) => assert!(refusal.contains("is at revision"), "{refusal}"),
        }
        assert!(Instant::now() < deadline, "{conflicts} conflicts and no end");
    }
    unreachable!("the counter never ends")
}

/// Creates a trait and links it, without `if_revision`.
fn link(client: &mut dyn Client, name: &str) {
    client.ask(
        "create_agent_trait",
        json!({ "name": name, "trait_type": "social", "instruction": "Be there." }),
    );
    client.ask("add_persona_trait", json!({ "persona": "crowded", "trait": name }));
}
