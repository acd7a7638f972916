use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::*;

fn start(script: &str) -> Guarded {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut server = Command::new("sh");
    server.args(["-c", script]).env("GREETING", "hello");
    Guarded::start(&server, "KILL", directory, None).expect("a started server")
}

/// Waits until the server has printed its process id.
fn process_id(server: &mut Guarded) -> String {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let text = server.log_tail();
        if !text.is_empty() {
            return text;
        }
        assert!(Instant::now() < deadline, "the server printed nothing");
        thread::sleep(Duration::from_millis(10));
    }
}

fn runs(process_id: &str) -> bool {
    let status = Command::new("kill").args(["-0", process_id]).stderr(Stdio::null()).status();
    status.expect("kill runs").success()
}

#[test]
fn a_dropped_server_is_stopped_and_removed() {
    let mut server = start("echo $$; exec sleep 600");
    let directory: PathBuf = server.directory().to_path_buf();
    let process_id = process_id(&mut server);
    assert!(runs(&process_id) && directory.exists());

    drop(server);

    assert!(!runs(&process_id), "the server survived");
    assert!(!directory.exists(), "the directory survived");
}

#[test]
fn a_panic_stops_the_server_too() {
    let mut server = start("echo $$; exec sleep 600");
    let process_id = process_id(&mut server);

    let outcome = catch_unwind(AssertUnwindSafe(move || {
        let _server = server;
        panic!("as a test would");
    }));

    assert!(outcome.is_err());
    assert!(!runs(&process_id), "the server survived");
}

#[test]
fn an_early_end_is_noticed_and_its_words_are_kept() {
    let mut server = start("echo $GREETING; exit 3");
    let deadline = Instant::now() + Duration::from_secs(10);
    let status = loop {
        if let Some(status) = server.ended().expect("a status") {
            break status;
        }
        assert!(Instant::now() < deadline, "the server did not end");
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(3));
    assert!(server.log_tail().starts_with("hello"));
    assert!(!server.directory().exists(), "the directory survived");
}
