use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH};

use super::*;

/// A page of three files, one of them compressed.
fn site(name: &str) -> Option<PageFile> {
    let content = match name {
        "index.html" => "<!doctype html>",
        "favicon.svg" => "<svg/>",
        "assets/app-1a2b.js" => "run()",
        "assets/app-1a2b.js.br" => "br",
        "assets/app-1a2b.js.gz" => "gz",
        ".stamp" => "secret",
        _ => return None,
    };
    Some(PageFile { content: Bytes::from_static(content.as_bytes()), tag: format!("{:x}", content.len()) })
}

async fn get(path: &str, headers: &[(http::HeaderName, &'static str)]) -> Option<(u16, HeaderMap, String)> {
    let headers = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
    let response = answer_from(&site, path, &headers.collect(), true)?;
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    Some((parts.status.as_u16(), parts.headers, String::from_utf8(body.to_vec()).expect("text")))
}

#[tokio::test]
async fn every_path_is_a_place_of_the_page() {
    for path in ["/", "/index.html", "/personas/mentor", "/.stamp", "/a/../b", "//x"] {
        let (status, headers, body) = get(path, &[]).await.expect("the page");
        assert_eq!((status, body.as_str()), (200, "<!doctype html>"), "{path}");
        assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(headers[CACHE_CONTROL], "no-cache");
    }
}

#[tokio::test]
async fn files_have_their_types_and_times() {
    let (_, headers, body) = get("/assets/app-1a2b.js", &[]).await.expect("a file");
    assert_eq!(
        (body.as_str(), &headers[CONTENT_TYPE]),
        ("run()", &HeaderValue::from_static("text/javascript; charset=utf-8"))
    );
    assert_eq!(headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
    let (_, headers, _) = get("/favicon.svg", &[]).await.expect("a file");
    assert_eq!(
        (&headers[CONTENT_TYPE], &headers[CACHE_CONTROL]),
        (&HeaderValue::from_static("image/svg+xml"), &HeaderValue::from_static("no-cache"))
    );
    // A page of an older version asks for files that are gone.
    assert!(get("/assets/app-0000.js", &[]).await.is_none());
    assert!(get("/assets/app-1a2b.js.br", &[]).await.is_none());
}

#[tokio::test]
async fn a_file_comes_compressed_to_clients_that_can_read_it() {
    for (accepted, encoding, content) in [
        ("gzip, deflate, br", Some("br"), "br"),
        ("gzip", Some("gzip"), "gz"),
        ("br;q=0, GZIP;q=0.5", Some("gzip"), "gz"),
        ("identity", None, "run()"),
    ] {
        let (_, headers, body) =
            get("/assets/app-1a2b.js", &[(ACCEPT_ENCODING, accepted)]).await.expect("a file");
        let found = headers.get(CONTENT_ENCODING).map(|value| value.to_str().expect("text"));
        assert_eq!((found, body.as_str()), (encoding, content), "{accepted}");
        assert_eq!(headers[VARY], "accept-encoding");
    }
    let (_, headers, _) = get("/", &[(ACCEPT_ENCODING, "br")]).await.expect("the page");
    assert!(!headers.contains_key(CONTENT_ENCODING));
}

#[tokio::test]
async fn a_current_copy_is_not_sent_again() {
    let (_, headers, _) = get("/", &[]).await.expect("the page");
    assert_eq!(headers[ETAG], "\"f\"");
    let (status, headers, body) = get("/", &[(IF_NONE_MATCH, "\"a\", W/\"f\"")]).await.expect("the page");
    assert_eq!((status, body.as_str()), (304, ""));
    assert!(!headers.contains_key(CONTENT_LENGTH));
    let (status, ..) = get("/", &[(IF_NONE_MATCH, "\"f-br\"")]).await.expect("the page");
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_program_without_a_page_says_how_to_build_it() {
    let response = answer_from(&|_| None, "/", &HeaderMap::new(), true).expect("an answer");
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    let body = String::from_utf8(body.to_vec()).expect("text");
    assert!(body.contains("npm run build") && body.contains("cargo xtask serve"), "{body}");
    assert!(answer_from(&|_| None, "/", &HeaderMap::new(), false).is_none(), "a program gets an error");
}
