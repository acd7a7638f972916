//! From where a viewer wants to go on.

use agent::Session;
use app::inputs::parse;
use app::running::EventId;
use http::{HeaderMap, Uri};
use serde::Deserialize;

use crate::asked::{query, shown};
use crate::events::LAST_EVENT_ID;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The header's value, for clients that cannot send one with their first request.
    #[serde(default)]
    after: Option<String>,
}

/// The place after which events are told. The header comes from a client that was cut off, and
/// knows better than the address with which it once began.
pub(super) fn of(headers: &HeaderMap, uri: &Uri) -> Result<Option<EventId>, Problem> {
    let asked: Asked = parse(&query(uri)?).map_err(Problem::invalid)?;
    let last = headers.get(LAST_EVENT_ID).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
    let given = |text: &String| !text.trim().is_empty();
    match (last.filter(given), asked.after.filter(given)) {
        (Some(id), _) => understood("Last-Event-ID", &id).map(Some),
        (None, Some(id)) => understood("after", &id).map(Some),
        (None, None) => Ok(None),
    }
}

/// A place that the session has not reached is another session's, or made up: whoever waited there
/// would miss what happens until then.
pub(super) fn check(after: EventId, session: &Session) -> Result<(), Problem> {
    let last = session.last_seq;
    if after.seq <= last {
        return Ok(());
    }
    Err(Problem::invalid(format!(
        "no event {after} was told yet: the last of session {} is {last}; go on after that one, or send none for \
         what is new",
        session.id
    )))
}

fn understood(name: &str, id: &str) -> Result<EventId, Problem> {
    let place = id.trim().parse().ok().filter(|place: &EventId| place.seq >= 0);
    place.ok_or_else(|| {
        Problem::invalid(format!(
            "{name}: {:?} is no id of an event; send one as it came, such as 12 or 12.3, or none for what is new",
            shown(id)
        ))
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn asked(header: Option<&str>, uri: &str) -> Result<Option<EventId>, String> {
        let mut headers = HeaderMap::new();
        if let Some(header) = header {
            headers.insert(LAST_EVENT_ID, HeaderValue::from_bytes(header.as_bytes()).expect("a value"));
        }
        of(&headers, &uri.parse().expect("an address")).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn a_place_comes_from_the_header_or_the_address() {
        let place = |seq, delta| Ok(Some(EventId { seq, delta }));
        assert_eq!(asked(None, "/e"), Ok(None));
        assert_eq!(asked(Some(" "), "/e?after="), Ok(None));
        assert_eq!(asked(Some("12"), "/e"), place(12, 0));
        assert_eq!(asked(Some("12.3"), "/e?after=4"), place(12, 3));
        assert_eq!(asked(None, "/e?after=4.1"), place(4, 1));
        assert_eq!(asked(None, "/e?after=0"), place(0, 0));
    }

    #[test]
    fn what_is_no_place_is_told() {
        for id in ["x", "-1", "1.-1", "1.2.3", "99999999999999999999", "1.99999999999", "é"] {
            let refused = asked(Some(id), "/e").expect_err("no place");
            assert!(refused.contains("Last-Event-ID") && refused.contains("12.3"), "{id}: {refused}");
        }
        assert!(asked(None, "/e?after=x").expect_err("no place").contains("after: "));
        assert!(asked(None, "/e?aftr=1").expect_err("unknown").contains("did you mean"));
        assert!(asked(None, "/e?after=1&after=2").expect_err("twice").contains("twice"));
    }
}
