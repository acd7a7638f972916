//! A manifest's hints: the operations that load the rest of a persona.

use app::outputs::Manifest;
use persona::ManifestTokens;

use crate::{Front, Http, find};

/// The operations that load contents, and when to call them.
const HINTS: [(&str, &str, &str); 4] = [
    ("get_agent_part", "part", "load full content of a specific part"),
    ("get_agent_trait", "trait", "load instruction for a specific trait"),
    ("get_agent_skill", "skill", "load skill content"),
    ("get_agent_guardrail", "guardrail", "load guardrail content"),
];

/// The operation that loads a whole persona for the fewest tokens.
const WHOLE: &str = "get_agent_persona";

/// Fills in the hints in the caller's terms: tools of its connection, or requests.
pub fn add_hints(manifest: &mut Manifest, front: Front) {
    let spelled = HINTS.into_iter().filter_map(|(name, kind, when)| {
        let call = match front {
            Front::Mcp(selection) => selection.contains(name).then(|| format!("{name}(name)")),
            Front::Http => request(name, kind),
        };
        Some((call?, when.to_owned()))
    });
    let whole = match front {
        Front::Mcp(selection) => {
            selection.contains(WHOLE).then(|| (format!("{WHOLE}(name, compiled: true)"), "detail: false"))
        }
        Front::Http => request(WHOLE, "").map(|get| (get + "?compiled=true", "detail=false")),
    };
    let ManifestTokens { detail, summary, .. } = manifest.tokens;
    let whole = whole.map(|(call, short)| {
        (call, format!("load all of it as one prompt: {detail} tokens, {summary} with {short}"))
    });
    manifest.on_demand_tools = spelled.chain(whole).collect();
}

/// The request of an operation, or of the one that does the same for every kind.
fn request(name: &str, kind: &str) -> Option<String> {
    let operation = find(name)?;
    let operation = match operation.http {
        Http::Absent(crate::Absence::Through(other)) => find(other)?,
        _ => operation,
    };
    let route = operation.http.routes().next()?;
    Some(format!("{} {}", route.method.as_str(), route.path().replace("{kind}", kind)))
}
