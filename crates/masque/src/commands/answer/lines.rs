//! Events as lines of JSON.

use agent::{Event, Session};
use app::running::Reported;
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::output::Output;

/// The first line: which session it is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    r#type: &'static str,
    session_id: String,
    persona: &'a str,
    mode: &'static str,
}

/// An event with its place; its own `id`, where it has one, is that of a turn.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    event_id: String,
    #[serde(flatten)]
    event: &'a Event,
}

pub(super) fn event(told: &Reported, output: &mut Output) -> Result<()> {
    line(&Line { event_id: told.id.to_string(), event: &told.event }, output)
}

pub(crate) fn opened(session: &Session, output: &mut Output) -> Result<()> {
    let opened = Opened {
        r#type: "session",
        session_id: session.id.to_string(),
        persona: session.persona.as_str(),
        mode: session.mode.as_str(),
    };
    line(&opened, output)
}

/// At once, so that whoever reads can act on it.
fn line<T: Serialize>(value: &T, output: &mut Output) -> Result<()> {
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::broken(format!("cannot write JSON: {error}")))?;
    output.json_text(&text)?;
    output.json_text("\n")?;
    output.flush()
}
