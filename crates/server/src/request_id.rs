//! The id of a request: in its answer, and in every line that is logged meanwhile.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

use crate::limits::REQUEST_ID_CHARS;

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The client's own id, or a new one.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// Takes the client's id if it is short and of visible ASCII characters. Any other could forge lines of
    /// a log.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        match headers.get(X_REQUEST_ID).filter(|given| is_usable(given.as_bytes())) {
            Some(given) => Self(given.clone()),
            None => Self::new(),
        }
    }

    fn new() -> Self {
        let mut text = Uuid::encode_buffer();
        let text = Uuid::now_v7().hyphenated().encode_lower(&mut text);
        // A UUID has the characters of a header.
        Self(HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("none")))
    }

    pub(crate) fn value(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or_default())
    }
}

fn is_usable(text: &[u8]) -> bool {
    (1..=REQUEST_ID_CHARS).contains(&text.len()) && text.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[u8]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(given).expect("a value"));
        RequestId::of(&headers).to_string()
    }

    #[test]
    fn the_clients_id_is_kept() {
        let longest = "x".repeat(REQUEST_ID_CHARS);
        for given in ["a", "8e03978e-40d5-43dd-bc93-6894a57f9324", "Root=1-67891233;x=y", &longest] {
            assert_eq!(of(given.as_bytes()), given);
        }
    }

    #[test]
    fn an_id_that_could_forge_a_line_is_replaced() {
        let longer = "x".repeat(REQUEST_ID_CHARS + 1);
        for given in ["", "a b", "a\tb", &longer, "é"] {
            let made = of(given.as_bytes());
            assert!(Uuid::parse_str(&made).is_ok(), "{given:?}: {made}");
        }
        assert_ne!(of(b""), of(b""));
    }
}
