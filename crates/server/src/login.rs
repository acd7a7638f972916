//! How a browser gets its cookie: the address that `masque serve` prints has the token once.

use axum::response::{IntoResponse as _, Response};
use http::header::{ACCEPT, CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

use crate::access::{Access, COOKIE_NAME};
use crate::plain_page::{PlainPage, escaped};

/// The field of an address that has the token.
const FIELD: &str = "token";

/// The token in the query of an address.
pub(crate) fn token_in(uri: &Uri) -> Option<&str> {
    pairs(uri).find_map(|(name, value)| (name == FIELD).then_some(value))
}

fn pairs(uri: &Uri) -> impl Iterator<Item = (&str, &str)> {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// True if the client of a request shows pages.
pub(crate) fn wants_page(method: &Method, headers: &HeaderMap) -> bool {
    let is_read = method == Method::GET || method == Method::HEAD;
    let accepts = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| value.contains("text/html") || value.contains("*/*"))
    };
    is_read && headers.get_all(ACCEPT).iter().any(accepts)
}

/// Moves the right token into a cookie and drops it from the address.
pub(crate) fn redirect(access: &Access, uri: &Uri, sent: &str) -> Response {
    if !access.is_token(sent.as_bytes()) {
        return page(uri);
    }
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    if let Ok(location) = HeaderValue::try_from(without_token(uri)) {
        headers.insert(LOCATION, location);
    }
    if !access.is_open()
        && let Ok(mut cookie) =
            HeaderValue::try_from(format!("{COOKIE_NAME}={sent}; HttpOnly; SameSite=Strict; Path=/"))
    {
        cookie.set_sensitive(true);
        headers.insert(SET_COOKIE, cookie);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The path and the rest of the query. Two slashes at its beginning would lead to another site.
fn without_token(uri: &Uri) -> String {
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    let rest: Vec<String> = pairs(uri)
        .filter(|(name, _)| *name != FIELD)
        .map(|(name, value)| if value.is_empty() { name.to_owned() } else { format!("{name}={value}") })
        .collect();
    if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) }
}

/// Says where the address with the token is.
pub(crate) fn page(uri: &Uri) -> Response {
    let here = escaped(&without_token(uri));
    let body = format!(
        "<h1>Masque needs a token</h1>\n\
         <p>Open the address that <code>masque serve</code> printed when it started. It ends with \
         <code>/?token=…</code>, and this browser then remembers the token.</p>\n\
         <p>The token is also in the file <code>masque/token</code> of your data directory. \
         <code>masque serve</code> prints its path.</p>\n\
         <p>Did a link on another page bring you here? <a href=\"{here}\">Try again</a>.</p>\n"
    );
    PlainPage { status: StatusCode::UNAUTHORIZED, title: "Masque needs a token", body: &body }.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_loses_the_token_and_nothing_else() {
        for (address, left) in [
            ("/?token=x", "/"),
            ("/?token", "/"),
            ("/personas/mentor?tab=tests&token=x&q=a%20b", "/personas/mentor?tab=tests&q=a%20b"),
            ("/?tokens=x&flag", "/?tokens=x&flag"),
            ("//evil.example/?token=x", "/evil.example/"),
            ("///evil.example?token=x", "/evil.example"),
        ] {
            assert_eq!(without_token(&address.parse().expect("an address")), left, "{address}");
        }
    }

    #[test]
    fn a_wrong_token_sets_no_cookie() {
        let token = crate::access::Token::generate();
        let uri: Uri = "/?token=wrong".parse().expect("an address");
        let response = redirect(&Access::with_token(&token), &uri, "wrong");
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert!(!response.headers().contains_key(SET_COOKIE) && !response.headers().contains_key(LOCATION));
    }

    #[test]
    fn an_open_server_keeps_no_token() {
        let uri: Uri = "/?token=x".parse().expect("an address");
        let response = redirect(&Access::open(), &uri, "x");
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert!(!response.headers().contains_key(SET_COOKIE));
    }

    #[test]
    fn a_page_is_for_browsers() {
        let wants = |method: Method, accept: Option<&'static str>| {
            let headers = accept.map(|accept| (ACCEPT, HeaderValue::from_static(accept)));
            wants_page(&method, &headers.into_iter().collect())
        };
        assert!(wants(Method::GET, Some("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")));
        assert!(wants(Method::HEAD, Some("*/*")));
        assert!(!wants(Method::GET, Some("application/json")));
        assert!(!wants(Method::GET, None));
        assert!(!wants(Method::POST, Some("text/html")));
    }
}
