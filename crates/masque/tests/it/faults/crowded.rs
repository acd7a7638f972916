//! More clients than the system has descriptors for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use super::{PATIENCE, ask, until};
use crate::home::Home;
use crate::wire::Server;

/// A server under a limit, as the shell writes it.
fn start(home: &Home, limit: &str) -> Server {
    let plain = home.command();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit}; exec \"$@\""), "sh"]).arg(plain.get_program()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(home.path(""));
    Server::start_command(command, &[])
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A stream of a session's events, or the refusal.
fn watch(server: &Server, session: &str) -> Result<BufReader<TcpStream>, TcpStream> {
    let mut stream = connect(server);
    let token = &server.token;
    let head =
        format!("GET {session}/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    match line.starts_with("HTTP/1.1 200") {
        true => Ok(reader),
        false => {
            assert!(line.starts_with("HTTP/1.1 503"), "{line}");
            Err(stream)
        }
    }
}

#[test]
fn no_accepted_stream_is_lost_and_the_others_are_refused() {
    let home = Home::new();
    let server = start(&home, "ulimit -n 200");
    let created = ask(&server, "POST", "/api/sessions", "", &json!({ "persona": "mentor" }));
    assert_eq!(created.status, 201, "{created:?}");
    let session = format!("/api/sessions/{}", created.body["id"].as_str().unwrap());
    let mut streams = Vec::new();
    let mut refused = Vec::new();
    for _ in 0..120 {
        match watch(&server, &session) {
            Ok(stream) => streams.push(stream),
            Err(stream) => refused.push(stream),
        }
    }
    assert!(streams.len() >= 20 && refused.len() >= 20, "{} and {}", streams.len(), refused.len());
    drop(refused);

    // Idle connections take the last places. The next client gets a complete refusal.
    let mut idle: Vec<TcpStream> = Vec::new();
    let crowded = loop {
        idle.push(connect(&server));
        let answer = ask(&server, "GET", "/api/library/persona/mentor", "", &Value::Null);
        if answer.status == 503 {
            break answer;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(idle.len() < 200, "there is no limit");
    };
    crowded.is_temporary("overloaded", false);
    assert!(crowded.head.contains("connection: close"), "{crowded:?}");
    drop(idle);

    let changed = until(
        |answer| answer.status == 200,
        || ask(&server, "PATCH", &format!("{session}/mode"), "", &json!({ "mode": "plan" })),
    );
    assert_eq!(changed.body["mode"], "plan");
    for (place, stream) in streams.iter_mut().enumerate() {
        let mut line = String::new();
        while !line.starts_with("event: mode_changed") {
            line.clear();
            assert!(stream.read_line(&mut line).unwrap() > 0, "stream {place} was lost");
        }
    }
}

/// The soft limit is often too low; the server raises it.
#[cfg(target_os = "linux")]
#[test]
fn the_soft_limit_is_raised() {
    let home = Home::new();
    let server = start(&home, "ulimit -Sn 200 && ulimit -Hn 5000");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.running.id())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<&str> = files.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers, ["5000", "5000"], "{files}");
}
