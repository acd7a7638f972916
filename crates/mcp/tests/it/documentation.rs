//! docs/mcp.md names every tool with its description and exactly its parameters.

use std::collections::BTreeSet;

use mcp::ToolSelection;
use serde_json::Value;

#[test]
fn the_documentation_has_every_tool_and_every_parameter() {
    let text = include_str!("../../../../docs/mcp.md");
    for (name, schema) in mcp::schema_text(ToolSelection::default()) {
        let schema: Value = serde_json::from_str(&schema).expect("JSON");
        let row = text.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/mcp.md does not name {name}"));
        let cells: Vec<&str> = row.split(" | ").collect();
        let described = schema["description"].as_str().expect("a description");
        assert!(row.contains(described), "docs/mcp.md describes {name} otherwise: {described}");
        let documented: BTreeSet<&str> =
            cells[1].split(", ").map(|cell| cell.trim_matches(['`', '?', ' '])).collect();
        let properties = schema["inputSchema"]["properties"].as_object().expect("parameters");
        let real: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(documented, real, "{name}");
    }
}
