//! Remedies in the words of HTTP: fields of a request, and requests.

use app::Remedy;

/// A remedy as a caller of the API can follow it.
pub(crate) fn remedy(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::ListSessions => "see GET /api/sessions".to_owned(),
        Remedy::ReadPlan { session } => format!("read it again with GET /api/sessions/{session}"),
        Remedy::TellEditor { persona } => {
            format!("send it to POST /api/persona-agent/chat with personaId {:?}", persona.as_str())
        }
        Remedy::LeaveOutScope => "leave out scope".to_owned(),
        Remedy::OpenProject | Remedy::ServeProject => "start the server with --project".to_owned(),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests;
