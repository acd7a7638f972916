//! Events as JSON lines.

use agent::{Entry, Event, Session, Turn, TurnBody};
use app::running::Reported;
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::output::Output;

/// The first line: the session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    r#type: &'static str,
    session_id: String,
    persona: &'a str,
    mode: &'static str,
}

/// An event with its event id. An `id` of its own is that of a turn.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    event_id: String,
    #[serde(flatten)]
    event: &'a Event,
}

pub(super) fn print_event(reported: &Reported, output: &mut Output) -> Result<()> {
    line(&Line { event_id: reported.id.to_string(), event: &reported.event }, output)
}

pub(crate) fn print_session_line(session: &Session, output: &mut Output) -> Result<()> {
    let opened = Opened {
        r#type: "session",
        session_id: session.id.to_string(),
        persona: session.persona.as_str(),
        mode: session.mode.as_str(),
    };
    line(&opened, output)
}

/// Prints the greeting that opened a session: on standard error, or as an event with `--json`.
pub(crate) fn print_greeting(turns: &[Turn], output: &mut Output) -> Result<()> {
    for (place, turn) in (1..).zip(turns) {
        if output.is_json() {
            let event = Event::from(&Entry::Turn(turn.clone()));
            line(&Line { event_id: i64::to_string(&place), event: &event }, output)?;
        } else if let TurnBody::AssistantText { content } = &turn.body {
            output.advise(content)?;
        }
    }
    Ok(())
}

/// Writes and flushes a line, so that the reader can act on it.
fn line<T: Serialize>(value: &T, output: &mut Output) -> Result<()> {
    let text = serde_json::to_string(value).map_err(|error| Failure::json(&error))?;
    output.json_text(&text)?;
    output.json_text("\n")?;
    output.flush()
}
