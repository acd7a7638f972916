//! The caller of a request, and the tools of its connection.

use app::Author;
use http::request::Parts;
use operations::ToolSelection;
use rmcp::RoleServer;
use rmcp::model::{Implementation, ProtocolVersion};
use rmcp::service::RequestContext;
use serde_json::Value;
use tracing::Span;

use crate::limits::AUTHOR_CHARS;

/// The front that changes made here are recorded under.
const FRONT: &str = "mcp";

/// The tools of this request's connection: over HTTP the query of its address chooses them.
pub(crate) fn selection(context: &RequestContext<RoleServer>, otherwise: ToolSelection) -> ToolSelection {
    let parts = context.extensions.get::<Parts>();
    let chosen = parts.and_then(|parts| parts.extensions.get::<ToolSelection>());
    chosen.copied().unwrap_or(otherwise)
}

/// The span of the HTTP request that brought this one. The server puts it into the request's extensions.
pub(crate) fn span(context: &RequestContext<RoleServer>) -> Option<&Span> {
    context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get())
}

/// The `traceparent` of the client, which the request carries itself.
pub(crate) fn traceparent(context: &RequestContext<RoleServer>) -> Option<&str> {
    context.meta.0.get("traceparent").and_then(Value::as_str)
}

/// True for a request of the stateless era, which carries its own protocol version.
pub fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The author of a change: the user for whom the client acts, and the client program as it
/// introduced itself.
pub(crate) fn author(context: &RequestContext<RoleServer>, user: Option<&str>) -> Author {
    // A stateless request names its client itself; its handshake is a placeholder.
    let client = if context.meta.protocol_version().is_some() {
        context.meta.client_info()
    } else {
        context.peer.peer_info().map(|info| info.client_info.clone())
    };
    let client = client.map(|client| described(&client)).filter(|client| !client.is_empty());
    let who = match (user, client) {
        (Some(user), Some(client)) => format!("{user} with {client}"),
        (Some(user), None) => user.to_owned(),
        (None, client) => client.unwrap_or_else(|| FRONT.to_owned()),
    };
    Author::new(who, FRONT)
}

fn described(client: &Implementation) -> String {
    let text = format!("{} {}", client.name.trim(), client.version.trim());
    let clean = text.chars().filter(|c| !c.is_control()).take(AUTHOR_CHARS);
    clean.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_described_in_one_short_line() {
        let check = |name: &str, version: &str, who: &str| {
            assert_eq!(described(&Implementation::new(name, version)), who);
        };
        check("claude-code", "1.2", "claude-code 1.2");
        check("claude-code", "", "claude-code");
        check("", "", "");
        check("two\nlines\u{7}", "1", "twolines 1");
        assert_eq!(described(&Implementation::new("x".repeat(500), "1")).len(), AUTHOR_CHARS);
    }
}
