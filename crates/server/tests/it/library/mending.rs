//! A file with a mistake: every answer says so until it is mended, and nothing is written to it.

use serde_json::json;
use tokio::time::{Duration, sleep, timeout};

use crate::client::{ask, code, open};
use crate::running::{PATIENCE, Running, start_with_project};

const GOOD: &str = "[personas.guide]\nsummary = \"You guide.\"\n";

/// The header of an answer, which is well otherwise.
async fn told(running: &Running, path: &str) -> Option<String> {
    let opened = open(running.port, "GET", path, &[], None).await;
    assert_eq!(opened.status, 200, "{path}: {}", opened.head);
    opened.header("masque-problem").map(str::to_owned)
}

async fn saved(running: &Running, text: &str, told_then: Option<&str>) {
    std::fs::write(running.project_file(), text).expect("a file");
    let seen = async {
        while told(running, "/api/personas/guide").await.as_deref() != told_then {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, seen).await.unwrap_or_else(|_| panic!("{told_then:?} is not told of {text:?}"));
}

#[tokio::test]
async fn every_answer_reports_an_error_in_a_file() {
    let running = start_with_project(GOOD).await;
    let reads = [
        "/api/personas/guide",
        "/api/personas/mentor/manifest",
        "/api/library/persona",
        "/api/library/persona/guide",
        "/api/library/persona/guide/history",
        "/api/lint",
    ];
    for path in reads {
        assert_eq!(told(&running, path).await, None, "{path}");
    }
    let said = "project personas.toml:3:12: not valid toml: unclosed table, expected `]`";
    saved(&running, &format!("{GOOD}[personas.x\n"), Some(said)).await;
    for path in reads {
        assert_eq!(told(&running, path).await.as_deref(), Some(said), "{path}");
    }
    // A refusal has it too. The request is well: it is the file that is in its way.
    let body = json!({ "entity": { "summary": "Other." }, "scope": "project" }).to_string();
    let opened = open(running.port, "PUT", "/api/library/persona/guide", &[], Some(&body)).await;
    assert_eq!((opened.status, opened.header("masque-problem")), (409, Some(said)), "{}", opened.head);
    let problem = opened.json().await;
    assert_eq!((code(&problem), &problem["subject"]["place"]["line"]), ("file_has_errors", &json!(3)));
    let (status, answer) = ask(running.port, "GET", "/api/personas/guide", None).await;
    assert_eq!((status, &answer["summary"]), (200, &json!("You guide.")));
    saved(&running, GOOD, None).await;
    let (status, answer) =
        ask(running.port, "PUT", "/api/library/persona/guide", serde_json::from_str(&body).ok().as_ref())
            .await;
    assert_eq!(status, 200, "{answer}");
}

/// A header holds a line of plain text, whatever the file says.
#[tokio::test]
async fn errors_are_plain_ascii() {
    let running = start_with_project(GOOD).await;
    let bad = |at: usize| format!("[personas.p{at}]\ntraits = \"\u{fc}\\n\u{fc}\"\n");
    let text: String = std::iter::once(GOOD.to_owned()).chain((0..5).map(bad)).collect();
    std::fs::write(running.project_file(), text).expect("a file");
    let seen = async {
        loop {
            let opened = open(running.port, "GET", "/api/personas/guide", &[], None).await;
            if opened.header("masque-problem").is_some() {
                return opened.head;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let head = timeout(PATIENCE, seen).await.expect("in time");
    let told: Vec<&str> = head.lines().filter_map(|line| line.strip_prefix("masque-problem: ")).collect();
    assert_eq!((told.len(), told.last()), (4, Some(&"2 more")), "{head}");
    assert!(told[0].starts_with("project personas.toml:4:10: ") && head.is_ascii(), "{head}");
}
