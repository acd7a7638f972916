//! Rejects requests of foreign pages and of foreign names that resolve to this machine.

use std::fmt;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};
use persona::{AsReport, Code, Remedy};

/// The reason why a request does not count as coming from this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotLoopback {
    #[error("the Host {0} is not this machine")]
    Host(Shown),
    #[error("the request has no Host, or several")]
    NoHost,
    #[error("the Origin {0} is not this machine; pages of other sites cannot use this server")]
    Origin(Shown),
}

impl AsReport for NotLoopback {
    fn code(&self) -> Code {
        match self {
            Self::Host(_) | Self::NoHost => Code::ForeignHost,
            Self::Origin(_) => Code::ForeignOrigin,
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Host(_) | Self::NoHost => vec![Remedy::UseLoopback],
            Self::Origin(_) => Vec::new(),
        }
    }
}

/// A header's value, shortened for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown(String);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

fn shown(value: &[u8]) -> Shown {
    Shown(String::from_utf8_lossy(value).chars().take(80).collect())
}

/// Checks that a request is meant for this machine and made by a page of this machine, if by a
/// page at all. Without this, any web page could talk to the server, and a foreign name that
/// resolves to 127.0.0.1 could read its answers.
pub fn check_loopback(headers: &HeaderMap, uri: &Uri) -> Result<(), NotLoopback> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next(), uri.authority()) {
        (Some(host), None, _) => {
            let authority = Authority::try_from(host.as_bytes()).ok();
            if !authority.is_some_and(|authority| is_loopback(&authority)) {
                return Err(NotLoopback::Host(shown(host.as_bytes())));
            }
        }
        (None, _, Some(authority)) => {
            if !is_loopback(authority) {
                return Err(NotLoopback::Host(shown(authority.as_str().as_bytes())));
            }
        }
        _ => return Err(NotLoopback::NoHost),
    }
    match headers.get_all(ORIGIN).iter().find(|origin| !is_loopback_origin(origin.as_bytes())) {
        None => Ok(()),
        Some(origin) => Err(NotLoopback::Origin(shown(origin.as_bytes()))),
    }
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    // "user@127.0.0.1" has a host of this machine, but no honest client sends it.
    let bare = !authority.as_str().contains('@');
    bare && (host == "127.0.0.1" || host == "[::1]" || host.eq_ignore_ascii_case("localhost"))
}

fn is_loopback_origin(origin: &[u8]) -> bool {
    let Ok(uri) = Uri::try_from(origin) else { return false };
    let web = matches!(uri.scheme_str(), Some("http" | "https"));
    web && uri.path() == "/" && uri.query().is_none() && uri.authority().is_some_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(host: Option<&str>, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        if let Some(host) = host {
            headers.insert(HOST, HeaderValue::from_str(host).expect("a value"));
        }
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).expect("a value"));
        }
        check_loopback(&headers, &Uri::from_static("/mcp")).is_ok()
    }

    #[test]
    fn this_machine_may() {
        for host in ["127.0.0.1", "127.0.0.1:4747", "localhost", "LocalHost:80", "[::1]", "[::1]:4747"] {
            assert!(check(Some(host), None), "{host}");
        }
        for origin in ["http://localhost:3000", "http://127.0.0.1:4747", "https://[::1]", "http://localhost"]
        {
            assert!(check(Some("localhost"), Some(origin)), "{origin}");
        }
    }

    #[test]
    fn foreign_hosts_and_origins_are_rejected() {
        for host in [
            "evil.example.com",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "0.0.0.0",
            "",
            "user@127.0.0.1",
            "::1",
            "localhost/x",
        ] {
            assert!(!check(Some(host), None), "{host}");
        }
        assert!(!check(None, None));
        for origin in [
            "null",
            "http://evil.example.com",
            "http://localhost.evil.example",
            "file://",
            "localhost",
            "ftp://localhost",
            "http://user@localhost",
            "http://localhost/path",
            "",
        ] {
            assert!(!check(Some("localhost"), Some(origin)), "{origin}");
        }
    }

    #[test]
    fn one_host_and_every_origin_counts() {
        let mut headers = HeaderMap::new();
        headers.append(HOST, HeaderValue::from_static("localhost"));
        headers.append(ORIGIN, HeaderValue::from_static("http://localhost"));
        headers.append(ORIGIN, HeaderValue::from_static("http://evil.example"));
        assert!(matches!(check_loopback(&headers, &Uri::from_static("/")), Err(NotLoopback::Origin(_))));
        headers.remove(ORIGIN);
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(check_loopback(&headers, &Uri::from_static("/")), Err(NotLoopback::NoHost));
    }
}
