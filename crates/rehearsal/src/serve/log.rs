//! The log of requests to a rehearsal, without keys.

use std::collections::VecDeque;
use std::time::Duration;

use http::HeaderMap;
use serde_json::Value;

use crate::limits;

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    /// The query string, with keys hidden.
    pub query: Option<String>,
    /// In their order, names in lower case; the values of keys are hidden.
    pub headers: Vec<(String, String)>,
    /// The body as JSON; one that is none, as a text.
    pub body: Value,
    /// When it came, counted from the start of the rehearsal.
    pub at: Duration,
    /// The line of the script whose reply answered; zero is the answer for want of a reply.
    pub reply_line: Option<usize>,
}

impl Recorded {
    /// The value of a header; keys are there, but hidden.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

const HIDDEN: &str = "[hidden]";

/// True if a header or parameter holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "cookie", "key", "token", "secret", "credential"].iter().any(|word| name.contains(word))
}

pub(super) fn headers_without_secrets(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = headers.iter().map(|(name, value)| {
        let value = if is_secret(name.as_str()) {
            HIDDEN.to_owned()
        } else {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        (name.as_str().to_owned(), value)
    });
    shown.collect()
}

pub(crate) fn query_without_secrets(query: &str) -> String {
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    });
    shown.collect::<Vec<_>>().join("&")
}

/// The newest requests, bounded by number and size.
#[derive(Debug, Default)]
pub(super) struct RequestLog {
    requests: VecDeque<(usize, Recorded)>,
    bytes: usize,
    /// How many were added, kept or not.
    added: u64,
}

impl RequestLog {
    pub(super) fn add(&mut self, request: Recorded, bytes: usize) {
        self.requests.push_back((bytes, request));
        self.bytes += bytes;
        self.added += 1;
        while self.requests.len() > limits::RECORDED_REQUESTS || self.bytes > limits::RECORDED_BYTES {
            let Some((bytes, _)) = self.requests.pop_front() else { break };
            self.bytes -= bytes;
        }
    }

    pub(super) fn all(&self) -> Vec<Recorded> {
        self.requests.iter().map(|(_, request)| request.clone()).collect()
    }

    /// Those that were added after so many, as far as they are kept, and how many were added.
    pub(super) fn since(&self, position: u64) -> (Vec<Recorded>, u64) {
        let forgotten = self.added - self.requests.len() as u64;
        let skipped = usize::try_from(position.saturating_sub(forgotten)).unwrap_or(usize::MAX);
        let new = self.requests.iter().skip(skipped).map(|(_, request)| request.clone());
        (new.collect(), self.added)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: &str) -> Recorded {
        Recorded {
            method: "POST".to_owned(),
            path: "/v1/messages".to_owned(),
            query: None,
            headers: Vec::new(),
            body: body.into(),
            at: Duration::ZERO,
            reply_line: None,
        }
    }

    #[test]
    fn old_requests_are_forgotten_by_number() {
        let mut log = RequestLog::default();
        for number in 0..limits::RECORDED_REQUESTS + 3 {
            log.add(request(&number.to_string()), 1);
        }
        let kept = log.all();
        assert_eq!((kept.len(), kept[0].body.as_str()), (limits::RECORDED_REQUESTS, Some("3")));
        assert_eq!(log.bytes, limits::RECORDED_REQUESTS);
        let all = limits::RECORDED_REQUESTS as u64 + 3;
        let (new, position) = log.since(all - 2);
        assert_eq!((new.len(), position), (2, all));
        assert_eq!(log.since(all), (Vec::new(), all));
        assert_eq!(log.since(0).0.len(), limits::RECORDED_REQUESTS, "what is forgotten is not there");
    }

    #[test]
    fn old_requests_are_forgotten_by_size() {
        let mut log = RequestLog::default();
        for number in 0..5 {
            log.add(request(&number.to_string()), limits::RECORDED_BYTES / 2);
        }
        let kept: Vec<_> = log.all().into_iter().map(|request| request.body).collect();
        assert_eq!(kept, ["3", "4"]);
    }

    #[test]
    fn keys_are_hidden_in_headers_and_in_queries() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer sk-1"),
            ("x-api-key", "sk-2"),
            ("x-goog-api-key", "sk-3"),
            ("anthropic-version", "2023-06-01"),
        ] {
            headers.insert(name, value.parse().expect("a value"));
        }
        let shown = headers_without_secrets(&headers);
        let hidden = shown.iter().filter(|(_, value)| value == HIDDEN).count();
        assert_eq!(hidden, 3);
        assert!(shown.contains(&("anthropic-version".to_owned(), "2023-06-01".to_owned())));
        assert_eq!(query_without_secrets("alt=sse&key=sk-4"), "alt=sse&key=[hidden]");
    }
}
