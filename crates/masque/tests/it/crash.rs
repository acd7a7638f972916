//! `kill -9` during writes: every acknowledged write survives, and no write is half done.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use app::{Library, OpenOptions};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use testkit::Database;

use crate::home::Home;
use crate::wire::{Client, PATIENCE, Running, Server, start_mcp};

mod deeds;
use deeds::{Deed, Log, check};

const KILLS: u64 = 50;
/// How long after its first acknowledgement a writer may live.
const LONGEST_LIFE: Duration = Duration::from_millis(60);
/// Runs differ in timing anyway; a seed keeps at least the plan the same.
const SEED: u64 = 0x6d61_7371_7565;

#[test]
fn a_process_killed_while_writing_loses_nothing_acknowledged() {
    let (home, database) = (Home::new(), Database::sqlite());
    let mut plan = StdRng::seed_from_u64(SEED);
    let mut logs = Vec::new();
    for kill in 0..KILLS {
        let (process, client) = start_mcp(&home, &database.location);
        let log = write_until_killed(process, vec![Box::new(client)], kill, &mut plan);
        // No other process has the file open: the next one has to recover it.
        in_fresh_library(&database, async |library| check(library, &log).await);
        logs.extend(log);
    }
    check_in_the_end(&database, &logs);
}

#[test]
fn a_server_killed_under_several_writers_loses_nothing_acknowledged() {
    let (home, database) = (Home::new(), Database::sqlite());
    let mut plan = StdRng::seed_from_u64(SEED + 1);
    let mut logs = Vec::new();
    // A process that survives every kill, with the file open all the time.
    let (_survivor, mut reader) = start_mcp(&home, &database.location);
    for kill in 0..KILLS {
        let server = Server::start(&home, &database.location);
        let clients = (0..3).map(|_| Box::new(server.connect()) as Box<dyn Client>).collect();
        let log = write_until_killed(server.running, clients, kill, &mut plan);
        in_fresh_library(&database, async |library| check(library, &log).await);
        for deed in log.iter().filter_map(|log| log.acknowledged.last()) {
            deed.seen_by(&mut reader);
        }
        logs.extend(log);
    }
    check_in_the_end(&database, &logs);
}

#[test]
fn a_first_start_that_is_killed_leaves_a_file_that_opens() {
    let home = Home::new();
    let mut plan = StdRng::seed_from_u64(SEED + 2);
    for _ in 0..20 {
        let database = Database::sqlite();
        let mut command = home.command();
        command.args(["list", "--db", &database.location]).stdout(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(plan.random_range(Duration::ZERO..LONGEST_LIFE / 2));
        child.kill().unwrap();
        child.wait().unwrap();
        let listed = home.json(&["list", "personas", "--db", &database.location]);
        assert!(listed["items"].as_array().is_some_and(|items| !items.is_empty()), "{listed}");
        in_fresh_library(&database, async |library| library.ping().await.unwrap());
    }
}

/// Lets every client write in a loop, kills the process some time after the first
/// acknowledgement, and returns the writes of each client.
fn write_until_killed(
    mut process: Running,
    clients: Vec<Box<dyn Client>>,
    kill: u64,
    plan: &mut StdRng,
) -> Vec<Log> {
    let life = plan.random_range(Duration::ZERO..LONGEST_LIFE);
    let (sender, acknowledged) = channel();
    std::thread::scope(|scope| {
        let start = |(at, client): (usize, Box<dyn Client>)| {
            let (sender, writer) = (sender.clone(), format!("w-{kill}-{at}"));
            scope.spawn(move || write(client, writer, &sender))
        };
        let writers: Vec<_> = clients.into_iter().enumerate().map(start).collect();
        acknowledged.recv_timeout(PATIENCE).expect("a first acknowledgement");
        std::thread::sleep(life);
        process.kill();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    })
}

/// Writes until the server is gone.
fn write(mut client: Box<dyn Client>, writer: String, acknowledged: &Sender<()>) -> Log {
    let mut log = Log { writer, ..Log::default() };
    for number in 0.. {
        let deed = Deed::next(&log.writer, number);
        let (tool, arguments) = deed.request();
        match client.call(tool, arguments) {
            Ok(answer) => drop(answer.unwrap_or_else(|refusal| panic!("{deed:?}: {refusal}"))),
            Err(_) => {
                log.in_flight = Some(deed);
                break;
            }
        }
        log.acknowledged.push(deed);
        let _ = acknowledged.send(());
    }
    log
}

fn in_fresh_library(database: &Database, test: impl AsyncFnOnce(&Library)) {
    block_on(async {
        let options = OpenOptions { create: false, ..OpenOptions::database(&database.location) };
        let library = Library::open(options).await.unwrap();
        test(&library).await;
        library.close().await;
    });
}

/// After all kills, every write of all rounds is there and the file is sound.
fn check_in_the_end(database: &Database, logs: &[Log]) {
    in_fresh_library(database, async |library| check(library, logs).await);
    block_on(async {
        assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"]);
        let dangling = database.texts("PRAGMA foreign_key_check").await;
        assert!(dangling.is_empty(), "rows that refer to nothing, in {dangling:?}");
    });
    let acknowledged: usize = logs.iter().map(|log| log.acknowledged.len()).sum();
    eprintln!("{acknowledged} acknowledged writes survived {KILLS} kills");
}

fn block_on(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
}
