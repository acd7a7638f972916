//! What a browser gets: the page, or how to build it, and the documentation of the API.

use crate::client::open;
use crate::running::start;

const HTML: &[(&str, &str)] = &[("accept", "text/html,*/*;q=0.8")];

/// The test runs with and without a built page.
#[tokio::test]
async fn every_place_of_the_page_is_one_document() {
    let running = start().await;
    let root = open(running.port, "GET", "/", HTML, None).await;
    let (status, kind) = (root.status, root.header("content-type").map(str::to_owned));
    assert_eq!(kind.as_deref(), Some("text/html; charset=utf-8"));
    let document = root.text().await;
    if status == 503 {
        assert!(document.contains("npm run build"), "{document}");
    } else {
        assert_eq!(status, 200);
    }
    for place in ["/personas/mentor", "/sessions/0193"] {
        let answer = open(running.port, "GET", place, HTML, None).await;
        assert_eq!(answer.status, status, "{place}");
        assert_eq!(answer.text().await, document, "{place}");
    }
    let head = open(running.port, "HEAD", "/", HTML, None).await;
    assert_eq!((head.status, head.text().await.as_str()), (status, ""));
    assert_eq!(open(running.port, "GET", "/assets/nowhere.js", HTML, None).await.status, 404);
    for (method, path) in [("POST", "/personas/mentor"), ("GET", "/api/nowhere"), ("GET", "/mcpx/../api")] {
        let body = (method == "POST").then_some("{}");
        let answer = open(running.port, method, path, &[("accept", "application/json")], body).await;
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{method} {path}");
    }
}

#[tokio::test]
async fn the_api_is_documented_without_scripts() {
    let running = start().await;
    let answer = open(running.port, "GET", "/api/docs", HTML, None).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let tag = answer.header("etag").expect("a tag").to_owned();
    let policy = answer.header("content-security-policy").expect("a policy").to_owned();
    assert!(policy.contains("style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    let page = answer.text().await;
    assert!(page.contains("GET /api/personas/{name}") && page.contains("Bearer $MASQUE_TOKEN"), "{page}");
    assert!(!page.contains("<script") && !page.contains(" style=\""), "{page}");
    let again = open(running.port, "GET", "/api/docs", &[("if-none-match", &tag)], None).await;
    assert_eq!((again.status, again.text().await.as_str()), (304, ""));
}
