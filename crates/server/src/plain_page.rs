//! Small pages that the server writes itself, without scripts.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};

use crate::secure_headers;

/// The style of all these pages, in both colour schemes.
const STYLE: &str = include_str!("plain_page/style.css");

/// The policy of every answer, and our style.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!("{}; style-src 'sha256-{hash}'", secure_headers::POLICY);
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static(secure_headers::POLICY))
});

/// A page.
#[derive(Debug)]
pub(crate) struct PlainPage<'a> {
    pub(crate) status: StatusCode,
    pub(crate) title: &'a str,
    /// HTML. Text in it is escaped.
    pub(crate) body: &'a str,
}

impl PlainPage<'_> {
    /// The whole document.
    pub(crate) fn html(&self) -> String {
        let Self { title, body, .. } = self;
        let title = escaped(title);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
        )
    }
}

/// Answers with a document of [`PlainPage::html`].
pub(crate) fn answer(status: StatusCode, html: impl Into<Body>) -> Response {
    let mut response = Response::new(html.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

impl IntoResponse for PlainPage<'_> {
    fn into_response(self) -> Response {
        answer(self.status, self.html())
    }
}

/// Text as part of HTML, also within quotes.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(
            escaped("<a href='x' on=\"y\">&</a>"),
            "&lt;a href=&#39;x&#39; on=&quot;y&quot;&gt;&amp;&lt;/a&gt;"
        );
    }

    #[test]
    fn the_policy_allows_our_style_and_nothing_inline() {
        let page = PlainPage { status: StatusCode::OK, title: "<b>", body: "<p>hi</p>\n" };
        let html = page.html();
        assert!(html.contains("<title>&lt;b&gt;</title>") && html.contains(STYLE), "{html}");
        let response = page.into_response();
        let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(policy.starts_with(secure_headers::POLICY), "{policy}");
        assert!(policy.contains("style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    }
}
