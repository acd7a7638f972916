//! The page: `web/dist`, embedded into the program.
//!
//! A release build has the files in it; a debug build reads them from the disk. Names under `assets/` have a
//! hash of their content, so browsers keep them. Every path that is no file is a place within the page.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::plain_page::PlainPage;

mod media_type;
use media_type::media_type;

#[derive(rust_embed::Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Embedded;

const INDEX: &str = "index.html";
/// Files whose names change with their content.
const HASHED: &str = "assets/";
/// Bytes of a file's hash that make its tag.
const TAG_BYTES: usize = 8;

/// The compressed forms that a build may leave beside a file, the smaller first.
const ENCODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// A file of the page.
#[derive(Debug, Clone)]
struct PageFile {
    content: Bytes,
    /// Of its content.
    tag: String,
}

/// Answers with a file of the page, or with the page itself if `is_place` is true: then every path is a
/// place within it. `None` if there is no such file.
pub(crate) fn answer(path: &str, headers: &HeaderMap, is_place: bool) -> Option<Response> {
    answer_from(&embedded, path, headers, is_place)
}

fn embedded(name: &str) -> Option<PageFile> {
    let file = Embedded::get(name)?;
    let hash = file.metadata.sha256_hash();
    let tag = hash[..TAG_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    let content = match file.data {
        Cow::Borrowed(content) => Bytes::from_static(content),
        Cow::Owned(content) => Bytes::from(content),
    };
    Some(PageFile { content, tag })
}

fn answer_from(
    find: &dyn Fn(&str) -> Option<PageFile>,
    path: &str,
    headers: &HeaderMap,
    is_place: bool,
) -> Option<Response> {
    let name = path.trim_start_matches('/');
    let found = if is_servable(name) { find(name).map(|file| (name, file)) } else { None };
    match found {
        Some((name, file)) => Some(file_answer(find, name, file, headers)),
        None if !is_place || name.starts_with(HASHED) => None,
        None => Some(match find(INDEX) {
            Some(index) => file_answer(find, INDEX, index, headers),
            None => not_built(),
        }),
    }
}

/// False for names that are no part of the page: hidden files, and compressed forms.
fn is_servable(name: &str) -> bool {
    let is_hidden = name.split('/').any(|segment| segment.is_empty() || segment.starts_with('.'));
    let is_compressed = ENCODINGS.iter().any(|(_, suffix)| name.ends_with(suffix));
    !is_hidden && !is_compressed
}

fn file_answer(
    find: &dyn Fn(&str) -> Option<PageFile>,
    name: &str,
    file: PageFile,
    headers: &HeaderMap,
) -> Response {
    let compressed = ENCODINGS
        .iter()
        .filter(|(encoding, _)| accepts(headers, encoding))
        .find_map(|(encoding, suffix)| Some((*encoding, find(&format!("{name}{suffix}"))?)));
    let (encoding, content) = match compressed {
        Some((encoding, smaller)) => (Some(encoding), smaller.content),
        None => (None, file.content),
    };
    let tag = match encoding {
        Some(encoding) => format!("\"{}-{encoding}\"", file.tag),
        None => format!("\"{}\"", file.tag),
    };
    let is_current = headers.get(IF_NONE_MATCH).is_some_and(|given| has_tag(given, &tag));
    let mut response = match is_current {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Response::new(Body::from(content)),
    };
    let caching = match name.starts_with(HASHED) {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let answer = response.headers_mut();
    answer.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    answer.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        answer.insert(ETAG, tag);
    }
    if !is_current {
        answer.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
        if let Some(encoding) = encoding {
            answer.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
    }
    response
}

fn has_tag(given: &HeaderValue, tag: &str) -> bool {
    let given = given.to_str().unwrap_or_default();
    given.split(',').map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}

/// True if the client names the encoding, unless with the weight 0.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case(encoding) && !is_refused
    })
}

/// Says how to build the page.
fn not_built() -> Response {
    let body = "<h1>This program has no page</h1>\n\
                <p>It was built without the files of <code>web</code>. <code>cargo xtask serve</code> builds \
                the page and runs the server with it. For a release:</p>\n\
                <pre><code>cd web\nnpm ci\nnpm run build\ncd ..\ncargo build --release -p masque</code></pre>\n\
                <p>The API works without the page: <a href=\"/api/docs\">its documentation</a>.</p>\n";
    let title = "Masque was built without its page";
    PlainPage { status: StatusCode::SERVICE_UNAVAILABLE, title, body }.into_response()
}

#[cfg(test)]
mod tests;
