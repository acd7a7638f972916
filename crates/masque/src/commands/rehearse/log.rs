//! Prints the requests of a rehearsal as they arrive.

use std::pin::pin;
use std::time::Duration;

use rehearsal::{Recorded, Rehearsal};
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::output::{Output, Style};

/// The interval of checks for new requests.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Prints every request until `end`, including the last ones.
pub(super) async fn until(
    end: impl Future<Output = ()>,
    rehearsal: &Rehearsal,
    output: &mut Output,
) -> Result<()> {
    let mut end = pin!(end);
    let mut position = 0;
    loop {
        let is_over = tokio::select! {
            () = &mut end => true,
            () = tokio::time::sleep(CHECK_INTERVAL) => false,
        };
        let (requests, next) = rehearsal.requests_since(position);
        requests.iter().try_for_each(|request| print(request, output))?;
        position = next;
        if is_over {
            return Ok(());
        }
    }
}

fn print(request: &Recorded, output: &mut Output) -> Result<()> {
    let Recorded { method, path, query, body, reply_line, .. } = request;
    if output.is_json() {
        let line = json!({
            "method": method, "path": path, "query": query, "body": body, "reply_line": reply_line,
        });
        output.json_text(&line.to_string())?;
        output.json_text("\n")?;
        return output.flush();
    }
    let query = query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    let answered = match reply_line {
        Some(0) => " (no reply of the script matches)".to_owned(),
        Some(line) => format!(" (answered by line {line})"),
        None => String::new(),
    };
    let line = output.styled(Style::Name, format!("{method} {path}{query}"));
    let answered = output.styled(Style::Faint, answered);
    output.styled_line(&format!("{line}{answered}"))?;
    if !body.is_null() {
        let text = serde_json::to_string_pretty(body).map_err(|error| Failure::json(&error))?;
        output.line(text)?;
    }
    output.flush()
}
