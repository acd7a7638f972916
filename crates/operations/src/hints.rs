//! A manifest's hints: the operations that load the rest of a persona.

use app::outputs::Manifest;

use crate::{Front, Http, find};

/// The operations that load contents, and when to call them.
const HINTS: [(&str, &str, &str); 5] = [
    ("get_agent_part", "part", "load full content of a specific part"),
    ("get_agent_trait", "trait", "load instruction for a specific trait"),
    ("get_agent_skill", "skill", "load skill content"),
    ("get_agent_guardrail", "guardrail", "load guardrail content"),
    ("compile_persona", "", "load pre-merged compiled_summary if full context needed"),
];

/// Fills in the hints in the caller's terms: tools of its connection, or requests.
pub fn add_hints(manifest: &mut Manifest, front: Front) {
    let spelled = HINTS.into_iter().filter_map(|(name, kind, when)| {
        let call = match front {
            Front::Mcp(selection) => selection.contains(name).then(|| format!("{name}(name)")),
            Front::Http if kind.is_empty() => {
                request("get_agent_persona", kind).map(|get| get + "?compiled=true")
            }
            Front::Http => request(name, kind),
        };
        Some((call?, when.to_owned()))
    });
    manifest.on_demand_tools = spelled.collect();
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
