use app::Change;
use axum::body::Body;
use futures::StreamExt as _;
use persona::{Code, Kind, Name};
use serde_json::{Value, json};

use super::log::LoggedChange;
use super::*;

fn change(number: usize) -> Change {
    let name = Name::parse(&format!("p{number}")).expect("a name");
    Change::Entity { kind: Kind::Persona, name, listed: true }
}

/// A log of four with some changes in it.
fn log(changes: usize) -> Arc<ChangeLog> {
    let log = ChangeLog::new(0xabc, 4);
    (1..=changes).for_each(|number| log.note(&change(number)));
    Arc::new(log)
}

fn shown(entries: &[LoggedChange]) -> Vec<String> {
    entries.iter().map(|entry| format!("{} {}", entry.place, entry.event)).collect()
}

fn begins(changes: usize, last: Option<&str>, expected: &[&str]) {
    assert_eq!(shown(&log(changes).begin(last)), expected, "{last:?} after {changes}");
}

#[test]
fn a_stream_begins_where_its_client_left_off() {
    begins(0, None, &["0 problems"]);
    begins(3, None, &["3 problems"]);
    begins(3, Some(""), &["3 problems"]);
    begins(3, Some("0000000000000abc-1"), &["1 problems"]);
    begins(3, Some("0000000000000abc-0"), &["0 problems"]);
    begins(6, Some("0000000000000abc-2"), &["2 problems"]);
    begins(6, Some("0000000000000abc-6"), &["6 problems"]);
}

#[test]
fn an_id_that_is_unknown_or_too_old_means_everything() {
    let everything = &["6 everything", "6 problems"];
    for id in [
        "0000000000000abc-1",
        "0000000000000abc-7",
        "0000000000000abd-6",
        "0000000000000abc-",
        "0000000000000abc--1",
        "nonsense",
        "6",
        "-",
        "0000000000000abc-99999999999999999999999",
    ] {
        begins(6, Some(id), everything);
    }
}

#[test]
fn ids_parse_again() {
    let log = log(3);
    assert_eq!(shown(&log.begin(Some(&log.id(2)))), ["2 problems"]);
}

#[test]
fn recent_events_after_a_place_are_kept() {
    let log = log(6);
    assert_eq!(shown(&log.after(6)), [""; 0]);
    assert_eq!(shown(&log.after(4)), ["5 change", "6 change"]);
    assert_eq!(shown(&log.after(2)).len(), 4);
    assert_eq!(shown(&log.after(1)), ["6 everything", "6 problems"]);
    assert_eq!(&*log.after(5)[0].data, r#"{"kind":"persona","listed":true,"name":"p6"}"#);
}

#[test]
fn problems_are_logged_only_when_they_change() {
    let log = log(0);
    log.note_problems(|| "one".to_owned());
    log.note_problems(|| "one".to_owned());
    log.note_problems(|| "two".to_owned());
    assert_eq!(shown(&log.after(0)), ["1 problems", "2 problems"]);
    assert_eq!(&*log.begin(None)[0].data, "two");
}

#[test]
fn a_problem_has_its_position() {
    let whole =
        app::Problem::of_file(std::path::Path::new("a/personas.toml"), Code::FileTooLarge, "too large", None);
    let placed = app::Problem {
        line: 2,
        column: 5,
        source_line: "x = ?".to_owned(),
        hint: Some("mend it".to_owned()),
        entry: Some((Kind::Part, "calm".to_owned())),
        level: app::ProblemLevel::Warning,
        ..whole.clone()
    };
    let described: Value = serde_json::from_str(&problems::described(&[whole, placed])).expect("JSON");
    let whole = json!({
        "level": "error", "path": "a/personas.toml", "cause": "file_too_large", "message": "too large",
        "line": 0, "column": 0, "source_line": "", "hint": null,
    });
    let placed = json!({
        "level": "warning", "path": "a/personas.toml", "cause": "file_too_large", "message": "too large",
        "line": 2, "column": 5, "source_line": "x = ?", "hint": "mend it",
        "entry": { "kind": "part", "name": "calm" },
    });
    assert_eq!(described, json!({ "problems": [whole, placed] }));
    let many =
        vec![app::Problem::of_file(std::path::Path::new("p"), Code::InvalidDocument, "wrong", None); 300];
    let described: Value = serde_json::from_str(&problems::described(&many)).expect("JSON");
    assert_eq!(
        (described["problems"].as_array().map(Vec::len), &described["left_out"]),
        (Some(256), &44.into())
    );
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_shown_lossily() {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(b"a\xff/personas.toml"));
    let described =
        problems::described(&[app::Problem::of_file(path, Code::FileTooLarge, "too large", None)]);
    assert!(described.contains("a\u{fffd}/personas.toml") && described.contains("too large"), "{described}");
}

/// The pieces of a stream as they are sent.
fn sent(
    log: &Arc<ChangeLog>,
    last: Option<&str>,
    stopping: &CancellationToken,
) -> axum::body::BodyDataStream {
    let response = answer(Arc::clone(log), last, stopping.clone(), None, Duration::from_millis(20));
    let body: Body = response.into_body();
    body.into_data_stream()
}

async fn next(stream: &mut axum::body::BodyDataStream) -> String {
    let bytes = stream.next().await.expect("a piece").expect("no failure");
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[tokio::test]
async fn a_silent_stream_sends_comments() {
    let (log, stopping) = (log(1), CancellationToken::new());
    let mut stream = sent(&log, None, &stopping);
    assert!(next(&mut stream).await.contains("event: problems"));
    assert_eq!(next(&mut stream).await, ": still here\n\n");
    assert_eq!(next(&mut stream).await, ": still here\n\n");
    log.note(&change(2));
    let event = next(&mut stream).await;
    assert!(event.contains("id: 0000000000000abc-2\nevent: change\ndata: {"), "{event}");
    assert!(!event.contains("retry"), "{event}");
    stopping.cancel();
    while let Some(piece) = stream.next().await {
        assert_eq!(piece.expect("no failure"), ": still here\n\n");
    }
}

#[tokio::test]
async fn a_stream_that_is_too_slow_looks_at_everything() {
    let (log, stopping) = (log(0), CancellationToken::new());
    let mut stream = sent(&log, None, &stopping);
    let first = next(&mut stream).await;
    assert!(first.contains("retry: 2000"), "{first}");
    (1..=9).for_each(|number| log.note(&change(number)));
    let event = next(&mut stream).await;
    assert!(event.contains("id: 0000000000000abc-9\nevent: everything\ndata: {}\n"), "{event}");
    let event = next(&mut stream).await;
    assert!(event.contains("event: problems"), "{event}");
    log.note(&change(10));
    let event = next(&mut stream).await;
    assert!(event.contains("id: 0000000000000abc-10\nevent: change"), "{event}");
}
